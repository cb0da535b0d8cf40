//! The router computes its paths again only when it hears of a router for the first time.
//!
//! Most link states that come in are no news, and computing paths is the dearest thing that a router does, so somebody looks
//! whether the network has grown. A link that comes up later between routers which are known goes unnoticed. Shows
//! when the last thing that a router hears is such a link.

use crate::lsr::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct RecomputesForNewRouters;

impl Behaviour for RecomputesForNewRouters {
    fn recomputes(&self, origin_was_known: bool) -> bool {
        !origin_was_known
    }
}
