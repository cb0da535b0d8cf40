//! Black-box criteria of link-state routing: what of the network a suite uses (Rutherford, PhD thesis, section 4.4).

use simutant_system::{BlackBoxCriterion, Quota};

use super::{RouterPair, TestCase, Topology};

/// Each of the topologies with four routers.
pub(super) fn quartet() -> BlackBoxCriterion<TestCase> {
    BlackBoxCriterion {
        name: "Quartet",
        requirements: quartets().map(|topology| topology.to_string()).collect(),
        quotas: Vec::new(),
        covered: |case| quartets().position(|topology| topology == case.topology).into_iter().collect(),
    }
}

/// Each of the topologies, and half of the pairs of routers of all topologies together that a message can go between.
///
/// A pair has a direction, and two different routers: a message that is delivered where it was published takes no path.
pub(super) fn pair_50() -> BlackBoxCriterion<TestCase> {
    let topologies = Topology::ALL.map(|topology| topology.to_string());
    let used = pairs().map(|(topology, RouterPair { from, to })| format!("{topology} from {from} to {to}"));
    let pairs_first = topologies.len();
    let requirements: Vec<String> = topologies.into_iter().chain(used).collect();
    let pairs_min = (requirements.len() - pairs_first).div_ceil(2);
    BlackBoxCriterion {
        name: "Pair-50",
        quotas: vec![Quota { requirements: pairs_first..requirements.len(), covered_min: pairs_min }],
        requirements,
        covered: |case| {
            let topology = Topology::ALL.iter().position(|&topology| topology == case.topology);
            let used = |(topology, pair)| topology == case.topology && case.messages.contains(&pair);
            let pairs = pairs().enumerate().filter(|&(_, pair)| used(pair));
            topology.into_iter().chain(pairs.map(|(index, _)| Topology::ALL.len() + index)).collect()
        },
    }
}

/// Returns the topologies with four routers.
fn quartets() -> impl Iterator<Item = Topology> {
    Topology::ALL.into_iter().filter(|topology| topology.router_count() == 4)
}

/// Returns the pairs of different routers of each topology.
fn pairs() -> impl Iterator<Item = (Topology, RouterPair)> {
    Topology::ALL.into_iter().flat_map(|topology| {
        let count = topology.router_count();
        (1..=count).flat_map(move |from| {
            let others = (1..=count).filter(move |&to| to != from);
            others.map(move |to| (topology, RouterPair { from, to }))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(criterion: BlackBoxCriterion<TestCase>, topology: Topology, messages: &[(u8, u8)], expect: &[&str]) {
        let messages = messages.iter().map(|&(from, to)| RouterPair { from, to }).collect();
        let covered = (criterion.covered)(&TestCase { topology, messages, starts_ns: None, seed: 0 });
        assert!(covered.is_sorted(), "{covered:?}");
        assert_eq!(covered.into_iter().map(|index| &criterion.requirements[index]).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn quartet_asks_for_the_four_topologies_with_four_routers() {
        assert_eq!(quartet().requirements, ["4-line", "4-star", "4-cycle", "4-mesh"]);
        check(quartet(), Topology::Star4, &[(1, 2)], &["4-star"]);
        check(quartet(), Topology::Mesh4, &[], &["4-mesh"]);
        check(quartet(), Topology::Cycle3, &[(1, 2)], &[]);
    }

    #[test]
    fn pair_50_asks_for_seven_topologies_and_31_of_62_pairs() {
        let criterion = pair_50();
        assert_eq!(criterion.requirements.len(), 7 + 2 + 2 * 6 + 4 * 12);
        assert_eq!(criterion.quotas, [Quota { requirements: 7..69, covered_min: 31 }]);
        check(pair_50(), Topology::Duo, &[], &["duo"]);
        check(pair_50(), Topology::Duo, &[(2, 1), (1, 1), (2, 1)], &["duo", "duo from 2 to 1"]);
        let expect = ["4-mesh", "4-mesh from 1 to 2", "4-mesh from 4 to 3"];
        check(pair_50(), Topology::Mesh4, &[(4, 3), (2, 2), (1, 2)], &expect);
    }
}
