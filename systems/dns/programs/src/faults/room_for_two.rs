//! A set of records has room for two.
//!
//! The rest is dropped. Hosts in trials had one address, or two. Shows with three addresses, servers or mail exchanges
//! of one name, when they come out of the cache.

use crate::behaviour::Behaviour;
use crate::message::Record;

#[derive(Debug)]
pub(super) struct RoomForTwo;

impl Behaviour for RoomForTwo {
    fn kept(&self, _known: &[Record], mut found: Vec<Record>) -> Vec<Record> {
        found.truncate(2);
        found
    }
}
