//! A neighbour that has just come up is told of the router's own links, and not of those of others.
//!
//! "I tell my neighbours of my links, and pass on what I hear" is the whole algorithm, as long as all start together.
//! Who comes later has missed what was passed on before. Shows when a router is late, and nothing that it missed is
//! said again.

use crate::behaviour::Behaviour;
use crate::packet::{LinkState, RouterNumber};
use crate::router::Router;

#[derive(Debug)]
pub(super) struct TellsOnlyOfItself;

impl Behaviour for TellsOnlyOfItself {
    fn missed<'a>(&self, router: &'a Router, _neighbour: RouterNumber) -> Vec<&'a LinkState> {
        router.network.states().filter(|state| state.origin == router.number).collect()
    }
}
