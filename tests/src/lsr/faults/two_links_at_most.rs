//! A message is given up after two links.
//!
//! A limit keeps messages from going round for ever, and two was enough for the three routers of the first trial. Shows on paths
//! with three links.

use crate::lsr::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct TwoLinksAtMost;

impl Behaviour for TwoLinksAtMost {
    fn hops_max(&self) -> u8 {
        2
    }
}
