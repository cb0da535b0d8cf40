//! Two-phase commit of processes that Simutant kills and starts again, over networks that delay and lose what they
//! send.

use std::path::Path;
use std::time::Duration;

use simutant_harness::{Implementation, RunOptions, TestReport, run_suite};
use simutant_outcomes::{Suite, SuiteCase};
use simutant_system::universe;
use simutant_two_phase_commit::TwoPhaseCommit;
use simutant_two_phase_commit::testbed::TESTBEDS;
use simutant_two_phase_commit_programs::faults;

/// The test cases of the universe that right programs are given.
const FIRST: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// How long a test case may take: the longest, of which pieces are lost again and again, take 6 s.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How long one may take for a coordinator that never ends: several times what those take for one that does.
const SHORT_TIMEOUT: Duration = Duration::from_secs(4);

fn implementation(name: &str) -> Implementation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there")
}

/// Runs test cases of the universe on an implementation. They mostly wait, so several run at once.
fn run(name: &str, indices: &[usize], timeout: Duration) -> TestReport {
    let case = |(place, &index): (usize, &usize)| {
        let case = serde_json::to_value(universe::<TwoPhaseCommit>(1, index)).expect("a test case is plain data");
        SuiteCase::new(format!("{place}: {index}"), case)
    };
    let cases = indices.iter().enumerate().map(case);
    let suite = Suite::of_cases("two-phase-commit", "of the universe", 1, cases);
    let options = RunOptions {
        jobs: 8.try_into().expect("8 is not 0"),
        timeout,
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    };
    run_suite(&suite, &implementation(name), &options, &mut |_| {}).expect("the suite runs")
}

#[track_caller]
fn check_passes(name: &str) {
    let report = run(name, &FIRST, TIMEOUT);
    let wrong: Vec<_> = report.results.iter().filter(|result| !result.verdict.passes()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(report.results.iter().all(|result| result.not_injected.is_empty()), "{report:#?}");
}

/// Checks that `two-phase-commit-tcp-FAULT` fails on one of these test cases, for a reason that says `expect`. Where it
/// fails depends on moments, so a busy machine may pass one.
#[track_caller]
fn check_fails(fault: &str, indices: [usize; 3], expect: &str) {
    let report = run(&format!("two-phase-commit-tcp-{fault}"), &indices, SHORT_TIMEOUT);
    let failure = report.failures().next().expect("the mistake shows");
    let finding = failure.verdict.finding().expect("it failed").to_string();
    assert!(finding.contains(expect), "{finding}");
}

#[test]
fn processes_that_keep_to_the_protocol_pass() {
    check_passes("two-phase-commit-python");
}

#[test]
fn a_participant_that_applies_a_decision_again_is_found() {
    assert!(run("two-phase-commit-applies-again", &FIRST, TIMEOUT).failures().next().is_some());
}

#[test]
fn programs_over_tcp_that_keep_to_the_protocol_pass() {
    check_passes("two-phase-commit-tcp");
}

#[test]
fn applying_again_over_tcp_fails_where_all_are_told_again() {
    check_fails("applies-again", [0, 19, 33], " did [");
}

#[test]
fn a_majority_over_tcp_fails_where_few_vote_no() {
    check_fails("decides-by-majority", [0, 13, 19], "ended with exit code 1");
}

#[test]
fn forgetting_decisions_over_tcp_fails_where_the_coordinator_crashes_in_time() {
    check_fails("forgets-decisions", [0, 33, 33], " was decided");
}

#[test]
fn silence_for_a_yes_over_tcp_fails_where_a_worker_is_down_for_long() {
    check_fails("silence-is-yes", [17, 32, 34], "ended with exit code 1");
}

#[test]
fn telling_the_no_voters_only_over_tcp_fails_where_votes_are_mixed() {
    check_fails("tells-no-voters-only", [0, 13, 19], "still running");
}

#[test]
fn every_fault_over_tcp_has_its_implementation_file() {
    for (fault, _) in faults::ALL {
        for side in implementation(&format!("two-phase-commit-tcp-{fault}")).sides {
            assert!(side.command.ends_with(&["--fault".into(), fault.into()]), "{fault}: {side:?}");
        }
    }
}
