//! The decisions of the protocol, each in a function of its own.
//!
//! The functions as they stand here are right. A fault is a [`Behaviour`] that gets one of them wrong.

use std::time::Duration;

use super::network::Network;
use super::packet::{LinkState, LinkTo, Message, RouterNumber};
use super::paths::Paths;

/// What a router decides in each situation.
pub trait Behaviour: std::fmt::Debug + Sync {
    /// Returns whether to tell all routers of a link that has come up, given the time since the last link did.
    fn announces(&self, _since_last: Option<Duration>) -> bool {
        true
    }

    /// Returns those links that fit into a link state: all.
    fn links_told<'a>(&self, links: &'a [LinkTo]) -> &'a [LinkTo] {
        links
    }

    /// Returns whether a neighbour that has just come up is told what is known of `state.origin`. It may have missed
    /// it.
    fn catches_up(&self, _state: &LinkState, _own_number: RouterNumber) -> bool {
        true
    }

    /// Returns whether a link state that came from the neighbour `from` is stored in the place of what is known of its
    /// origin. One that was sent before may come after.
    fn stores(&self, state: &LinkState, known: Option<u32>, _from: RouterNumber) -> bool {
        is_news(state.sequence, known)
    }

    /// Returns the paths to all routers, if they are computed otherwise than by
    /// [`cheapest_paths`](super::cheapest_paths).
    fn other_paths(&self, _network: &Network, _source: RouterNumber) -> Option<Paths> {
        None
    }

    /// Returns whether a router at the cost `one` is settled before one at the cost `other`: if it is nearer.
    fn settles_before(&self, one: u32, other: u32) -> bool {
        one < other
    }

    /// Returns what a path costs that goes on over one more link.
    fn distance(&self, so_far: u32, link: u16) -> u32 {
        so_far + u32::from(link)
    }

    /// Returns whether a path that was found takes the place of the one that is known.
    fn is_cheaper(&self, found: u32, known: Option<u32>) -> bool {
        known.is_none_or(|known| found < known)
    }

    /// Returns whether the router from which a path was found becomes the one before the last of the path that is
    /// known.
    fn is_predecessor(&self, is_cheaper: bool) -> bool {
        is_cheaper
    }

    /// Returns the neighbour that messages for `destination`, which is another router that there is a path to, are sent
    /// to: the first router on the path.
    fn next_hop(
        &self,
        paths: &Paths,
        own_number: RouterNumber,
        destination: RouterNumber,
        _up: &[LinkTo],
    ) -> RouterNumber {
        let mut next = destination;
        while paths[&next].previous != own_number {
            next = paths[&next].previous;
        }
        next
    }

    /// Returns the most links that a message goes through before it is given up.
    fn hops_max(&self) -> u8 {
        16
    }

    /// Returns whether a message for another router, which came from a third one, is one of those that were `passed_on`
    /// before. Nothing doubles messages, so none is.
    fn is_repetition(&self, _message: &Message, _passed_on: &[Message]) -> bool {
        false
    }

    /// Returns whether a message that has come to its destination is one of those that were `delivered` before: UDP may
    /// double it.
    fn is_doubled(&self, message: &Message, delivered: &[Message]) -> bool {
        delivered.iter().any(|other| other.number == message.number)
    }

    /// Returns how many messages a router has room for.
    fn room(&self) -> usize {
        usize::MAX
    }
}

/// Returns whether a link state is newer than what is known of its origin.
pub(super) fn is_news(sequence: u32, known: Option<u32>) -> bool {
    known.is_none_or(|known| sequence > known)
}

/// The protocol as it should be.
#[derive(Debug)]
pub struct Correct;

impl Behaviour for Correct {}
