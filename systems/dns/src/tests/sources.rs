//! What a source that learns is worth on a system in which some things are rare.

use std::collections::BTreeSet;

use crate::Dns;
use simutant_system::{BlackBoxCriterion, Coverage, InputSource, System, Universe};

/// Returns what a test case covers of all criteria that need no instrumented code.
fn covered<S: System>(case: &S::TestCase) -> Coverage {
    let mut simulation = S::configure(case);
    simulation.record_trace();
    let trace = simulation.run().trace.expect("it was asked for");
    let mut coverage = Coverage::default();
    for BlackBoxCriterion { name, covered, .. } in S::criteria() {
        covered(case).iter().for_each(|requirement| coverage.insert(name, &requirement.to_string()));
    }
    for criterion in S::trace_criteria() {
        criterion.covered(&trace).labels().for_each(|label| coverage.insert(criterion.name, label));
    }
    coverage
}

#[test]
fn guided_test_cases_cover_more_than_uniform_ones_and_than_those_without_feedback() {
    // Requirements that 100 test cases cover, with three seeds.
    let covered_by = |source, feeds_back: bool| -> usize {
        let of_seed = |seed| {
            let mut universe = Universe::<Dns>::new(source, seed, 100);
            let mut seen = BTreeSet::new();
            for index in 0..100 {
                let coverage = covered::<Dns>(&universe.case(index));
                seen.extend(coverage.features());
                universe.learn(&if feeds_back { coverage } else { Coverage::default() });
            }
            seen.len()
        };
        (1..=3).map(of_seed).sum()
    };
    let guided = covered_by(InputSource::Guided, true);
    let others = [covered_by(InputSource::Uniform, true), covered_by(InputSource::Guided, false)];
    assert!(others.iter().all(|&other| guided > other + 10), "{guided}, {others:?}");
}
