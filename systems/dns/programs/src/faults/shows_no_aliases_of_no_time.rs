//! Aliases with a time to live of 0 are followed, and left out of the answer.
//!
//! The answer is put together from the cache, in which such records have no place; they are good for the transaction in
//! progress all the same (RFC 1035, section 3.2.1). Shows with an alias that has such a time to
//! live, or less than a second left of it.

use crate::behaviour::Behaviour;
use crate::message::Record;

#[derive(Debug)]
pub(super) struct ShowsNoAliasesOfNoTime;

impl Behaviour for ShowsNoAliasesOfNoTime {
    fn shows_alias(&self, alias: &Record, _rcode: u8) -> bool {
        alias.ttl > 0
    }
}
