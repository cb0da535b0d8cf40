//! Two-phase commit of processes that Simutant kills and starts again, over a network that loses datagrams.

use std::path::Path;
use std::time::Duration;

use simutant_harness::{Implementation, RunOptions, TestReport, Testbeds, run_suite};
use simutant_outcomes::{Suite, SuiteCase};
use simutant_system::universe;
use simutant_two_phase_commit::TwoPhaseCommit;

/// How many test cases of the universe each implementation is given.
const CASES: usize = 16;

/// Runs the first test cases of the universe on an implementation. They mostly wait, so several run at once.
fn run(name: &str) -> TestReport {
    let case = |index| {
        let case = serde_json::to_value(universe::<TwoPhaseCommit>(1, index)).expect("a test case is plain data");
        SuiteCase::new(index.to_string(), case)
    };
    let suite = Suite::of_cases("two-phase-commit", "the first of the universe", 1, (0..CASES).map(case));
    let options = RunOptions {
        jobs: 8.try_into().expect("8 is not 0"),
        timeout: Duration::from_secs(60),
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    let implementation: Implementation = Testbeds::NONE.find(name, &[folder]).expect("the implementation is there");
    run_suite(&suite, &implementation, &options, &mut |_| {}).expect("the suite runs")
}

#[test]
fn processes_that_keep_to_the_protocol_pass() {
    let report = run("two-phase-commit-python");
    let wrong: Vec<_> = report.results.iter().filter(|result| !result.verdict.passes()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_participant_that_applies_a_decision_again_is_found() {
    assert!(run("two-phase-commit-applies-again").failures().next().is_some());
}
