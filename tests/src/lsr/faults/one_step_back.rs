//! The table has the router before the destination, where it should have the first one on the path.
//!
//! Dijkstra's algorithm gives the predecessor of each router, and one step back from the destination is the next
//! router, as long as paths have two links. Shows on paths with three.

use crate::lsr::behaviour::Behaviour;
use crate::lsr::packet::{LinkTo, RouterNumber};
use crate::lsr::paths::Paths;

#[derive(Debug)]
pub(super) struct OneStepBack;

impl Behaviour for OneStepBack {
    fn next_hop(
        &self,
        paths: &Paths,
        own_number: RouterNumber,
        destination: RouterNumber,
        _up: &[LinkTo],
    ) -> RouterNumber {
        let previous = paths[&destination].previous;
        if previous == own_number { destination } else { previous }
    }
}
