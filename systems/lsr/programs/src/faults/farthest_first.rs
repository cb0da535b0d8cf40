//! Dijkstra's algorithm takes the farthest router next, where it should take the nearest.
//!
//! The heap of Rust's standard library, like that of C++, gives the greatest element first, and whoever forgets to turn
//! the order round has a search that finds a path to every router. It is the cheapest one where there is no other.
//! Shows on routers in a circle or a mesh.

use crate::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct FarthestFirst;

impl Behaviour for FarthestFirst {
    fn settles_before(&self, one: u32, other: u32) -> bool {
        one > other
    }
}
