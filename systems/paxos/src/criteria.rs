//! What test cases are like: two criteria that look at nothing else.

use std::collections::BTreeSet;

use simutant_quorum_calls::majority;
use simutant_sim_core::Probability;
use simutant_system::{BlackBoxCriterion, met_requirements};

use crate::TestCase;

/// Who proposes, and when.
pub(crate) fn proposals() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "one replica",
        "an even number of replicas",
        "three replicas",
        "five replicas",
        "one client",
        "several clients",
        "two clients within 50 ms",
        "two clients more than 200 ms apart",
        "fewer decrees than clients",
        "a decree for each of several clients",
    ];
    BlackBoxCriterion {
        name: "proposals",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let at = &case.clients_at_ms;
            let apart = |is_it: fn(u64) -> bool| {
                at.iter().enumerate().any(|(place, one)| at[..place].iter().any(|other| is_it(one.abs_diff(*other))))
            };
            let met = [
                case.replicas == 1,
                case.replicas.is_multiple_of(2),
                case.replicas == 3,
                case.replicas == 5,
                at.len() == 1,
                at.len() > 1,
                apart(|ms| ms <= 50),
                apart(|ms| ms > 200),
                case.decrees < at.len(),
                at.len() > 1 && case.decrees == at.len(),
            ];
            met_requirements(&met)
        },
    }
}

/// What replicas and network suffer.
pub(crate) fn faults() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "no replica crashes",
        "the first leader crashes",
        "another one crashes",
        "several crash",
        "a minority is cut off",
        "a majority is cut off",
        "the first leader is cut off",
        "packets overtake each other",
        "packets are held back",
        "nothing is lost",
        "something is lost",
        "something is damaged",
    ];
    BlackBoxCriterion {
        name: "faults",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let crashed: BTreeSet<usize> = case.crashes.iter().map(|crash| crash.component).collect();
            let quorum = majority(case.replicas);
            let cut_off =
                |is_it: &dyn Fn(&BTreeSet<usize>) -> bool| case.partitions.iter().any(|it| is_it(&it.components));
            let met = [
                crashed.is_empty(),
                crashed.contains(&0),
                crashed.iter().any(|replica| *replica > 0),
                crashed.len() > 1,
                cut_off(&|replicas| case.replicas - replicas.len() >= quorum),
                cut_off(&|replicas| case.replicas - replicas.len() < quorum),
                cut_off(&|replicas| replicas.contains(&0)),
                case.jitter_ms > 0,
                !case.holds.is_empty(),
                case.drop == Probability::ZERO,
                case.drop != Probability::ZERO,
                case.corrupt != Probability::ZERO,
            ];
            met_requirements(&met)
        },
    }
}
