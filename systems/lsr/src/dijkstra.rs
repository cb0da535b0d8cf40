//! Dijkstra's algorithm: the shortest paths from one router to all others.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use priority_queue::PriorityQueue;

use super::RouterId;
use super::link_state::Database;

/// The end of a shortest path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    /// What the whole path costs.
    pub(super) cost: u32,
    /// The router before the last one; the first one itself if that is the whole path.
    pub(super) previous: RouterId,
}

/// Routers that a path is known to, the cheapest first. The hasher is one without a random key.
type Frontier = PriorityQueue<RouterId, Reverse<u32>, BuildHasherDefault<DefaultHasher>>;

/// Returns the shortest path from `source` to each router that can be reached (Dijkstra, "A note on two problems in
/// connexion with graphs", Numerische Mathematik 1, 1959). Of two paths with one cost it is the one that was found
/// first.
pub(super) fn shortest_paths(database: &Database, source: RouterId) -> BTreeMap<RouterId, Hop> {
    let mut settled = BTreeMap::new();
    let mut previous = BTreeMap::from([(source, source)]);
    let mut frontier = Frontier::with_default_hasher();
    frontier.push(source, Reverse(0));
    while let Some((router, Reverse(cost))) = frontier.pop() {
        assert!(
            settled.values().all(|hop: &Hop| hop.cost <= cost),
            "{router} at {cost} comes after one that is farther"
        );
        settled.insert(router, Hop { cost, previous: previous[&router] });
        for link in database.links(router) {
            if settled.contains_key(&link.to) {
                continue;
            }
            let through = Reverse(cost + link.cost);
            let known = frontier.push_increase(link.to, through);
            // A path that is no shorter than the known one comes back itself.
            if known.is_none_or(|known| known < through) {
                previous.insert(link.to, router);
            }
        }
    }
    settled
}
