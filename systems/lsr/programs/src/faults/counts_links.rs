//! The router takes the path with the fewest links, whatever they cost.
//!
//! A breadth-first search is shorter to write than Dijkstra's algorithm, and is the same as long as all links cost one.
//! Shows where the cheapest path is not the one with the fewest links.

use crate::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct CountsLinks;

impl Behaviour for CountsLinks {
    fn distance(&self, so_far: u32, _link: u16) -> u32 {
        so_far + 1
    }
}
