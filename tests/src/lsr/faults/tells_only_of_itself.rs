//! A neighbour that has just come up is told of the router's own links, and not of those of others.
//!
//! "I tell my neighbours of my links, and pass on what I hear" is the whole algorithm, as long as all start together.
//! Who comes later has missed what was passed on before. Shows when a router is late, and nothing that it missed is
//! said again.

use crate::lsr::behaviour::Behaviour;
use crate::lsr::packet::{LinkState, RouterNumber};

#[derive(Debug)]
pub(super) struct TellsOnlyOfItself;

impl Behaviour for TellsOnlyOfItself {
    fn catches_up(&self, state: &LinkState, own_number: RouterNumber) -> bool {
        state.origin == own_number
    }
}
