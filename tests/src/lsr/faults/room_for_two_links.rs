//! A link state has room for two links.
//!
//! The routers were tried in a row and in a circle, where none has more than two neighbours, and the packet has two fields.
//! Shows on topologies in which a router has three.

use crate::lsr::behaviour::Behaviour;
use crate::lsr::packet::LinkTo;

#[derive(Debug)]
pub(super) struct RoomForTwoLinks;

impl Behaviour for RoomForTwoLinks {
    fn links_told<'a>(&self, links: &'a [LinkTo]) -> &'a [LinkTo] {
        &links[..links.len().min(2)]
    }
}
