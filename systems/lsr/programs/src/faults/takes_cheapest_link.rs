//! The search goes on over the cheapest link, and does not add what the path to it costs.
//!
//! That is Prim's algorithm for a spanning tree, which differs from Dijkstra's in one sum, and is found a page away.
//! Shows where the cheapest links together are dearer than one that is not as cheap.

use crate::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct TakesCheapestLink;

impl Behaviour for TakesCheapestLink {
    fn distance(&self, _so_far: u32, link: u16) -> u32 {
        u32::from(link)
    }
}
