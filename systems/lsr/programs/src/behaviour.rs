//! The decisions of the protocol, each in a function of its own.
//!
//! The functions as they stand here are right. A fault is a [`Behaviour`] that gets one of them wrong; what it may look at
//! is the [`Router`] that decides.

use std::time::Duration;

use super::network::Network;
use super::packet::{LinkState, LinkTo, Message, RouterNumber};
use super::paths::Paths;
use super::router::Router;

/// What a router decides in each situation.
pub trait Behaviour: std::fmt::Debug + Sync {
    /// Returns whether a neighbour's first greeting is answered. It may have come before the neighbour could hear the first
    /// one from here.
    fn answers(&self, _router: &Router) -> bool {
        true
    }

    /// Returns whether a link state of a neighbour that has not greeted brings the link to it up, as a greeting does.
    fn takes_news_for_greeting(&self) -> bool {
        false
    }

    /// Returns what a neighbour that has just come up is told of the network. It may have missed all of it.
    fn missed<'a>(&self, router: &'a Router, _neighbour: RouterNumber) -> Vec<&'a LinkState> {
        router.network.states().collect()
    }

    /// Returns whether to tell all routers of a link that has come up, given the time since the last link did.
    fn announces(&self, _since_last: Option<Duration>) -> bool {
        true
    }

    /// Returns the number of the next link state: one more than that of the last.
    fn next_number(&self, router: &Router) -> u32 {
        router.sequence + 1
    }

    /// Returns those links that fit into a link state: all that are up.
    fn links_told(&self, router: &Router) -> Vec<LinkTo> {
        router.up.clone()
    }

    /// Does what a router does when it hears of itself: nothing, since what others say of it is old.
    fn hears_of_itself(&self, _router: &mut Router, _state: &LinkState) {}

    /// Returns whether a link state that came from the neighbour `from` is newer than what is known of its origin, and so is
    /// passed on.
    fn is_news(&self, router: &Router, state: &LinkState, _from: RouterNumber) -> bool {
        router.network.sequence(state.origin).is_none_or(|known| state.sequence > known)
    }

    /// Returns whether a link state that came from the neighbour `from` is stored in the place of what is known of its
    /// origin. One that was sent before may come after.
    fn stores(&self, router: &Router, state: &LinkState, from: RouterNumber) -> bool {
        self.is_news(router, state, from)
    }

    /// Returns whether news from one neighbour is passed on to another one that is up.
    fn passes_on(&self, _router: &Router, _state: &LinkState, from: RouterNumber, to: RouterNumber) -> bool {
        from != to
    }

    /// Returns how many packets may be sent about one that came.
    fn packets_max(&self) -> usize {
        usize::MAX
    }

    /// Returns whether the paths are computed anew after a link state of `origin` was stored.
    fn computes(&self, _router: &Router, _origin: RouterNumber) -> bool {
        true
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

    /// Returns the paths that are used from now on, after those that were `found` because of a link state of `origin`.
    fn new_paths(&self, _router: &Router, _origin: RouterNumber, found: Paths) -> Paths {
        found
    }

    /// Returns the neighbour that messages for `destination`, which is another router that there is a path to, are sent
    /// to: the first router on the path.
    fn next_hop(&self, router: &Router, destination: RouterNumber) -> RouterNumber {
        let mut next = destination;
        while router.paths[&next].previous != router.number {
            next = router.paths[&next].previous;
        }
        next
    }

    /// Returns whether a message that came from a neighbour, or from a client, is taken.
    fn admits(&self, _router: &Router, _message: &Message, _from: Option<RouterNumber>) -> bool {
        true
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

/// The protocol as it should be.
#[derive(Debug)]
pub struct Correct;

impl Behaviour for Correct {}
