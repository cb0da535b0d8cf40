//! The cheapest paths from a router to all others: Dijkstra's algorithm.

use std::collections::{BTreeMap, BTreeSet};

use super::behaviour::Behaviour;
use super::network::Network;
use super::packet::RouterNumber;

/// The paths from one router, by the routers that they lead to. The router itself is among them.
pub type Paths = BTreeMap<RouterNumber, Step>;

/// The last step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What the whole path costs.
    pub cost: u32,
    /// The router before the last one; the first one itself if that is all there is.
    pub previous: RouterNumber,
}

/// Returns the cheapest paths from `source`, as far as `behaviour` decides rightly.
pub fn cheapest_paths(behaviour: &dyn Behaviour, network: &Network, source: RouterNumber) -> Paths {
    let mut reached = Paths::from([(source, Step { cost: 0, previous: source })]);
    let mut settled = BTreeSet::new();
    while let Some((router, cost)) = next_to_settle(behaviour, &reached, &settled) {
        settled.insert(router);
        for link in network.links(router).filter(|link| !settled.contains(&link.to)) {
            let found = behaviour.distance(cost, link.cost);
            let known = reached.get(&link.to).copied();
            let is_cheaper = behaviour.is_cheaper(found, known.map(|step| step.cost));
            let known = known.unwrap_or(Step { cost: found, previous: router });
            let cost = if is_cheaper { found } else { known.cost };
            let previous = if behaviour.is_predecessor(is_cheaper) { router } else { known.previous };
            reached.insert(link.to, Step { cost, previous });
        }
    }
    reached
}

fn next_to_settle(
    behaviour: &dyn Behaviour,
    reached: &Paths,
    settled: &BTreeSet<RouterNumber>,
) -> Option<(RouterNumber, u32)> {
    let open =
        reached.iter().filter(|(router, _)| !settled.contains(router)).map(|(router, step)| (*router, step.cost));
    open.reduce(|first, other| if behaviour.settles_before(other.1, first.1) { other } else { first })
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::*;

    #[track_caller]
    fn check(network: &Network, source: RouterNumber, expect: &[(RouterNumber, u32, RouterNumber)]) {
        let paths = cheapest_paths(&Correct, network, source);
        let found: Vec<_> = paths.into_iter().map(|(router, step)| (router, step.cost, step.previous)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn the_way_round_is_taken_where_it_is_cheaper() {
        let network = Network::of(&[(1, 2, 1), (2, 3, 2), (3, 1, 5)]);
        check(&network, 1, &[(1, 0, 1), (2, 1, 1), (3, 3, 2)]);
        check(&network, 3, &[(1, 3, 2), (2, 2, 3), (3, 0, 3)]);
    }

    #[test]
    fn a_path_gives_way_again_and_again_to_cheaper_ones() {
        let network =
            Network::of(&[(1, 5, 20), (1, 4, 9), (4, 5, 7), (1, 3, 4), (3, 5, 8), (1, 2, 1), (2, 3, 1), (2, 4, 2)]);
        check(&network, 1, &[(1, 0, 1), (2, 1, 1), (3, 2, 2), (4, 3, 2), (5, 10, 3)]);
    }

    #[test]
    fn who_cannot_be_reached_has_no_path() {
        let network = Network::of(&[(1, 2, 1), (3, 4, 1)]);
        check(&network, 2, &[(1, 1, 2), (2, 0, 2)]);
        check(&Network::default(), 7, &[(7, 0, 7)]);
    }
}
