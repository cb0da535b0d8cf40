//! The correct implementation passes on inputs that ask a lot of it.

use simutant_harness::run_suite;
use simutant_outcomes::Suite;

use crate::{Input, implementation, options, run, suite};

#[test]
fn correct_go_back_n_passes_on_inputs_at_the_edges_of_the_domain() {
    let mut inputs: Vec<Input> = Vec::new();
    for seed in 0..4 {
        inputs.push((335_760, 0.2, 0.2, seed));
        inputs.push((1, 0.2, 0.2, seed));
        inputs.push((1_399, 0.2, 0.0, seed));
    }
    inputs.extend([(335_760, 0.0, 0.0, 1), (335_759, 0.0, 0.2, 1), (335_760, 0.03, 0.2, 1), (2_798, 0.1, 0.1, 1)]);
    inputs.extend([(1, 0.0, 0.0, 1), (1_398, 0.2, 0.2, 1), (1_400, 0.2, 0.2, 1), (44_768, 0.2, 0.2, 1)]);
    let report = run(&implementation("udp"), &inputs);
    let failures: Vec<_> = report.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(report.results.len(), inputs.len());

    let worst = report.results[0].network;
    for direction in [worst.forward, worst.back] {
        assert!(direction.received >= 240, "{worst:?}");
        assert!(direction.dropped > 0, "{worst:?}");
        assert!(direction.duplicated > 0, "{worst:?}");
    }
}

#[test]
fn suites_of_all_systems_of_go_back_n_run_on_the_same_programs() {
    for system in ["gbn-last-ack", "gbn-thesis"] {
        let suite = Suite { system: system.into(), ..suite(&[(20_000, 0.1, 0.1, 1)]) };
        let report = run_suite(&suite, &implementation("udp"), &options(), &mut |_| {}).expect("the suite runs");
        assert_eq!((report.failures().count(), report.system.as_str()), (0, system));
    }
}

#[test]
fn results_come_as_they_are_made_and_are_reported_in_the_order_of_the_suite() {
    let inputs: Vec<Input> = (0..12).map(|seed| (1 + 20_000 * (seed % 3), 0.1, 0.1, seed)).collect();
    let mut seen = Vec::new();
    let report = run_suite(&suite(&inputs), &implementation("udp"), &options(), &mut |result| {
        seen.push(result.name.clone());
    })
    .expect("the suite runs");
    let names: Vec<String> = (0..12).map(|index| index.to_string()).collect();
    assert_eq!(report.results.iter().map(|result| result.name.clone()).collect::<Vec<_>>(), names);
    assert!(report.results.iter().all(|result| result.verdict.passes()), "{report:#?}");
    seen.sort_by_key(|name| name.parse::<usize>().expect("names are numbers"));
    assert_eq!(seen, names);
}
