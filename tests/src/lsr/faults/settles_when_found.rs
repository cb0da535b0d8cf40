//! Dijkstra's algorithm settles a router when it finds a path to it, and not when it comes to it.
//!
//! A router is marked as it is put in the queue, as a breadth-first search does, so a cheaper path that is found later is not
//! looked at. Shows where the first path that is found is not the cheapest.

use crate::lsr::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct SettlesWhenFound;

impl Behaviour for SettlesWhenFound {
    fn is_cheaper(&self, _found: u32, known: Option<u32>) -> bool {
        known.is_none()
    }
}
