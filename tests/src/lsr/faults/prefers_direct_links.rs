//! A message for a neighbour goes to it directly.
//!
//! It looks as if nothing could be shorter, so the table is asked only for routers that are farther away. Shows where
//! a link costs more than the way round.

use crate::lsr::behaviour::{Behaviour, Correct};
use crate::lsr::packet::{LinkTo, RouterNumber};
use crate::lsr::paths::Paths;

#[derive(Debug)]
pub(super) struct PrefersDirectLinks;

impl Behaviour for PrefersDirectLinks {
    fn next_hop(
        &self,
        paths: &Paths,
        own_number: RouterNumber,
        destination: RouterNumber,
        up: &[LinkTo],
    ) -> RouterNumber {
        let is_neighbour = up.iter().any(|link| link.to == destination);
        if is_neighbour { destination } else { Correct.next_hop(paths, own_number, destination, up) }
    }
}
