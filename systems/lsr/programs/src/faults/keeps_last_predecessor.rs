//! Dijkstra's algorithm notes the router from which it looks, also where that has found no cheaper path.
//!
//! The line stands below the condition, and not within it. Costs come out right, and so does every path that is found
//! once; where a second one is found, the table sends messages along it. Shows on routers in a circle or a mesh.

use crate::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct KeepsLastPredecessor;

impl Behaviour for KeepsLastPredecessor {
    fn is_predecessor(&self, _is_cheaper: bool) -> bool {
        true
    }
}
