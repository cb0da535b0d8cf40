//! The table has the router before the destination, where it should have the first one on the path.
//!
//! Dijkstra's algorithm gives the predecessor of each router, and one step back from the destination is the next
//! router, as long as paths have two links. Shows on paths with three.

use crate::behaviour::Behaviour;
use crate::packet::RouterNumber;
use crate::router::Router;

#[derive(Debug)]
pub(super) struct OneStepBack;

impl Behaviour for OneStepBack {
    fn next_hop(&self, router: &Router, destination: RouterNumber) -> RouterNumber {
        let previous = router.paths[&destination].previous;
        if previous == router.number { destination } else { previous }
    }
}
