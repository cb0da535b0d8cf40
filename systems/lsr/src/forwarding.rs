//! The forwarding table: where a message goes next.

use std::collections::BTreeMap;

use super::RouterId;
use super::dijkstra::{Hop, shortest_paths};
use super::link_state::Database;

/// Where a router sends messages, by the router that they are for.
#[derive(Debug)]
pub(super) struct ForwardingTable {
    routes: BTreeMap<RouterId, Route>,
}

#[derive(Debug, Clone, Copy)]
struct Route {
    /// The neighbour on the shortest path.
    next: RouterId,
    /// What the path costs.
    cost: u32,
}

impl ForwardingTable {
    /// Returns the table of `router` for the network that the database knows.
    pub(super) fn new(database: &Database, router: RouterId) -> Self {
        let paths = shortest_paths(database, router);
        let routes = paths.iter().map(|(&destination, &Hop { cost, .. })| {
            let mut next = destination;
            while paths[&next].previous != router {
                next = paths[&next].previous;
            }
            (destination, Route { next, cost })
        });
        Self { routes: routes.collect() }
    }

    /// Returns the neighbour that a message for `destination` is sent to.
    pub(super) fn next(&self, destination: RouterId) -> RouterId {
        self.route(destination).next
    }

    /// Returns what it costs to send a message to `destination`.
    pub(super) fn cost(&self, destination: RouterId) -> u32 {
        self.route(destination).cost
    }

    fn route(&self, destination: RouterId) -> Route {
        assert!(self.routes.contains_key(&destination), "there is no way to {destination}");
        self.routes[&destination]
    }
}
