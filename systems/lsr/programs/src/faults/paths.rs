//! Mistakes with costs, the search for paths, and when it is made.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::behaviour::Behaviour;
use crate::network::Network;
use crate::packet::RouterNumber;
use crate::paths::{Paths, Step};
use crate::router::Router;

/// A path stays as it was found first: routers are marked when they are found, and not when they are settled.
///
/// Seen in: graphhopper/graphhopper issue 182, what has a predecessor is taken for done.
#[derive(Debug)]
pub(super) struct SettlesWhatIsFound;

impl Behaviour for SettlesWhatIsFound {
    fn is_cheaper(&self, _found: u32, known: Option<u32>) -> bool {
        known.is_none()
    }
}

/// The search takes the router with the lowest number next, and not the nearest.
///
/// Seen in: scala-graph/scala-graph issue 9, routers visited in another order than that of their distances.
#[derive(Debug)]
pub(super) struct LowestNumberFirst;

impl Behaviour for LowestNumberFirst {
    fn settles_before(&self, _one: u32, _other: u32) -> bool {
        false
    }
}

/// Routers that are to be settled are kept in a map by their cost, where a second one of a cost takes the place of the
/// first.
///
/// Seen in: pszufe/OpenStreetMapX.jl pull request 54, a queue whose keys were the distances.
#[derive(Debug)]
pub(super) struct OneRouterForEachCost;

impl Behaviour for OneRouterForEachCost {
    fn other_paths(&self, network: &Network, source: RouterNumber) -> Option<Paths> {
        let mut paths = Paths::from([(source, Step { cost: 0, previous: source })]);
        let mut open = BTreeMap::from([(0, source)]);
        while let Some((cost, router)) = open.pop_first() {
            for link in network.links(router) {
                let found = cost + u32::from(link.cost);
                if paths.get(&link.to).is_none_or(|known| found < known.cost) {
                    paths.insert(link.to, Step { cost: found, previous: router });
                    open.insert(found, link.to);
                }
            }
        }
        Some(paths)
    }
}

/// Each link adds one to what it costs.
///
/// Seen in: FRRouting/frr pull request 16056, metrics to which more was added than the links cost.
#[derive(Debug)]
pub(super) struct AddsOneForEachLink;

impl Behaviour for AddsOneForEachLink {
    fn distance(&self, so_far: u32, link: u16) -> u32 {
        so_far + u32::from(link) + 1
    }
}

/// A link costs three at most: the field has two bits.
///
/// Seen in: batfish/batfish pull request 2843, costs of IS-IS above 63, which narrow metrics clip.
#[derive(Debug)]
pub(super) struct CostsThreeAtMost;

impl Behaviour for CostsThreeAtMost {
    fn distance(&self, so_far: u32, link: u16) -> u32 {
        so_far + u32::from(link.min(3))
    }
}

/// A path stays in the table for good, also when there is a cheaper one. Shows where the dearer one is known first.
///
/// Seen in: FRRouting/frr issue 19470, a link that is not used when a lower metric becomes available.
#[derive(Debug)]
pub(super) struct KeepsTheFirstPath;

impl Behaviour for KeepsTheFirstPath {
    fn new_paths(&self, router: &Router, _origin: RouterNumber, found: Paths) -> Paths {
        found.into_iter().chain(router.paths.clone()).collect()
    }
}

/// News of a router changes the paths to it and to its neighbours, and not those that go on from there.
///
/// Seen in: holo-routing/holo pull request 128, routes computed anew without the tree below them.
#[derive(Debug)]
pub(super) struct ComputesAroundTheNews;

impl Behaviour for ComputesAroundTheNews {
    fn new_paths(&self, router: &Router, origin: RouterNumber, found: Paths) -> Paths {
        let is_near = |to: RouterNumber| to == origin || router.network.links(origin).any(|link| link.to == to);
        let near = found.into_iter().filter(|(to, _)| is_near(*to));
        router.paths.clone().into_iter().chain(near).collect()
    }
}

/// Paths are not computed within a millisecond of the last time, and what was heard meanwhile waits for the next news.
///
/// Seen in: FRRouting/frr pull request 6385, computations that throttles hold back.
#[derive(Debug)]
pub(super) struct ComputesTooSeldom;

impl Behaviour for ComputesTooSeldom {
    fn computes(&self, router: &Router, _origin: RouterNumber) -> bool {
        router.computed_at.is_none_or(|last| router.now.saturating_sub(last) >= Duration::from_millis(1))
    }
}

/// Paths are computed when a router hears of itself or of a neighbour, and not when it hears of one that is farther away.
///
/// Seen in: FRRouting/frr issue 7926, LSAs that come after the last computation.
#[derive(Debug)]
pub(super) struct ComputesForNeighbours;

impl Behaviour for ComputesForNeighbours {
    fn computes(&self, router: &Router, origin: RouterNumber) -> bool {
        origin == router.number || router.is_up(origin)
    }
}
