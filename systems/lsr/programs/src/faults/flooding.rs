//! Mistakes with what is told to all routers, and how it is passed on.

use crate::behaviour::{Behaviour, Correct};
use crate::packet::{LinkState, LinkTo, RouterNumber};
use crate::paths::cheapest_paths;
use crate::router::Router;

/// A link state has room for two links.
///
/// Seen in: FRRouting/frr issue 1559, a greatest size of an LSA; pull request 1341 divides those of many links.
#[derive(Debug)]
pub(super) struct RoomForTwoLinks;

impl Behaviour for RoomForTwoLinks {
    fn links_told(&self, router: &Router) -> Vec<LinkTo> {
        router.up.iter().copied().take(2).collect()
    }
}

/// Two links of one cost are taken for the same link twice, and told once.
///
/// Seen in: OLSR/OONF issue 68, neighbours with one link-local address that were taken for one.
#[derive(Debug)]
pub(super) struct OneLinkForEachCost;

impl Behaviour for OneLinkForEachCost {
    fn links_told(&self, router: &Router) -> Vec<LinkTo> {
        let is_first =
            |&(place, link): &(usize, &LinkTo)| router.up[..place].iter().all(|other| other.cost != link.cost);
        router.up.iter().enumerate().filter(is_first).map(|(_, link)| *link).collect()
    }
}

/// The n-th link that came up is told with the cost of the n-th that was configured. Shows where neighbours greet in another
/// order.
///
/// Seen in: eclipse-zenoh/zenoh pull request 390, links told by places in a list that differs from the receiver's.
#[derive(Debug)]
pub(super) struct CostsByPlace;

impl Behaviour for CostsByPlace {
    fn links_told(&self, router: &Router) -> Vec<LinkTo> {
        let cost = |(link, neighbour): (&LinkTo, &crate::Neighbour)| LinkTo { cost: neighbour.cost, ..*link };
        router.up.iter().zip(&router.neighbours).map(cost).collect()
    }
}

/// The loop over the neighbours ends at the one that the news came from, where it should go on.
///
/// Seen in: FRRouting/frr pull request 3304, the interface that the news came from, which was left out at the wrong place.
#[derive(Debug)]
pub(super) struct EndsAtTheSender;

impl Behaviour for EndsAtTheSender {
    fn passes_on(&self, router: &Router, _state: &LinkState, from: RouterNumber, to: RouterNumber) -> bool {
        router.up.iter().map(|link| link.to).take_while(|before| *before != from).any(|before| before == to)
    }
}

/// The neighbour left out is the n-th that came up, if the news came from router n.
///
/// Seen in: OLSR/OONF issue 68, an interface found by what is not its own.
#[derive(Debug)]
pub(super) struct SkipsByPlace;

impl Behaviour for SkipsByPlace {
    fn passes_on(&self, router: &Router, _state: &LinkState, from: RouterNumber, to: RouterNumber) -> bool {
        router.up.iter().position(|link| link.to == to) != usize::from(from).checked_sub(1)
    }
}

/// A router passes news on only if its origin sent it: news that another router passed on goes no further.
///
/// Seen in: eclipse-zenoh/zenoh pull request 390, link states that go one link.
#[derive(Debug)]
pub(super) struct PassesOnFromTheOrigin;

impl Behaviour for PassesOnFromTheOrigin {
    fn passes_on(&self, router: &Router, state: &LinkState, from: RouterNumber, to: RouterNumber) -> bool {
        from == state.origin && Correct.passes_on(router, state, from, to)
    }
}

/// News is passed on to one neighbour: the first one marks it as sent.
///
/// Seen in: FRRouting/frr pull request 1536, a mark of what has been pushed that served for two.
#[derive(Debug)]
pub(super) struct PassesOnToOne;

impl Behaviour for PassesOnToOne {
    fn passes_on(&self, router: &Router, _state: &LinkState, from: RouterNumber, to: RouterNumber) -> bool {
        router.up.iter().map(|link| link.to).find(|other| *other != from) == Some(to)
    }
}

/// News is passed on if it changes the router's own paths, as in a distance-vector protocol.
///
/// Seen in: FRRouting/frr issue 7926, neighbours that lacked what had come after the last computation.
#[derive(Debug)]
pub(super) struct PassesOnWhatChangesPaths;

impl Behaviour for PassesOnWhatChangesPaths {
    fn passes_on(&self, router: &Router, state: &LinkState, from: RouterNumber, to: RouterNumber) -> bool {
        let mut network = router.network.clone();
        network.store(state.clone());
        cheapest_paths(self, &network, router.number) != router.paths && Correct.passes_on(router, state, from, to)
    }
}

/// News counts if it comes from the neighbour that messages for its origin go to, so that it does not come round.
///
/// Seen in: meshcore-dev/MeshCore pull request 1272, loops of a flood that are told by the way that it came.
#[derive(Debug)]
pub(super) struct HearsOnTheWayBack;

impl Behaviour for HearsOnTheWayBack {
    fn is_news(&self, router: &Router, state: &LinkState, from: RouterNumber) -> bool {
        let has_path = state.origin != router.number && router.paths.contains_key(&state.origin);
        let is_on_it = !has_path || self.next_hop(router, state.origin) == from;
        is_on_it && Correct.is_news(router, state, from)
    }
}

/// Not more than five packets are sent about one that came; the sixth finds no room in the queue.
///
/// Seen in: FRRouting/frr pull request 4010, what is left of a packet counted wrongly while link states are sent.
#[derive(Debug)]
pub(super) struct SendsFivePackets;

impl Behaviour for SendsFivePackets {
    fn packets_max(&self) -> usize {
        5
    }
}
