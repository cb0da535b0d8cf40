//! What a neighbour says of itself is stored in any case, though it may be older than what is known.
//!
//! Sequence numbers are there since link states come on different ways, so it seems that what comes straight from its
//! origin cannot be old. But two packets on one link may overtake each other, too. Shows when they do, and nothing
//! newer follows.

use crate::behaviour::{Behaviour, Correct};
use crate::packet::{LinkState, RouterNumber};
use crate::router::Router;

#[derive(Debug)]
pub(super) struct BelievesTheOrigin;

impl Behaviour for BelievesTheOrigin {
    fn stores(&self, router: &Router, state: &LinkState, from: RouterNumber) -> bool {
        state.origin == from || Correct.stores(router, state, from)
    }
}
