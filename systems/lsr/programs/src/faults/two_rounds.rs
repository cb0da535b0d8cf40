//! The cheapest paths are sought by Bellman and Ford's algorithm, which goes through all links twice.
//!
//! It takes as many rounds as there are routers, less one, since a round need not find more than one link of a path.
//! For the three routers of the first trial that is two; and with the links in a good order, two are enough for longer
//! paths as well. Shows on a path with three links against that order.

use crate::behaviour::Behaviour;
use crate::network::Network;
use crate::packet::RouterNumber;
use crate::paths::{Paths, Step};

#[derive(Debug)]
pub(super) struct TwoRounds;

impl Behaviour for TwoRounds {
    fn other_paths(&self, network: &Network, source: RouterNumber) -> Option<Paths> {
        let mut paths = Paths::from([(source, Step { cost: 0, previous: source })]);
        for _round in 0..2 {
            for from in network.states().map(|state| state.origin) {
                let Some(&Step { cost, .. }) = paths.get(&from) else { continue };
                for link in network.links(from) {
                    let found = cost + u32::from(link.cost);
                    if paths.get(&link.to).is_none_or(|known| found < known.cost) {
                        paths.insert(link.to, Step { cost: found, previous: from });
                    }
                }
            }
        }
        Some(paths)
    }
}
