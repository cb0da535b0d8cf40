//! The storage of processes that Simutant kills and starts again, over networks that delay, lose and part what they send.

use std::path::Path;
use std::time::Duration;

use simutant_harness::{Implementation, RunOptions, TestReport, run_suite};
use simutant_outcomes::{Suite, SuiteCase};
use simutant_storage::Storage;
use simutant_storage::testbed::TESTBEDS;
use simutant_storage_programs::faults;
use simutant_system::universe;

/// How long a test case may take: those of which pieces are lost again and again take 10 s.
const TIMEOUT: Duration = Duration::from_secs(60);

fn implementation(name: &str) -> Implementation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there")
}

/// Runs test cases of the universe on an implementation. They mostly wait, so several run at once.
fn run(name: &str, indices: impl IntoIterator<Item = usize>) -> TestReport {
    let case = |(place, index): (usize, usize)| {
        let case = serde_json::to_value(universe::<Storage>(1, index)).expect("a test case is plain data");
        SuiteCase::new(format!("{place}: {index}"), case)
    };
    let cases = indices.into_iter().enumerate().map(case);
    let suite = Suite::of_cases("storage", "of the universe", 1, cases);
    let options = RunOptions {
        jobs: 12.try_into().expect("12 is not 0"),
        timeout: TIMEOUT,
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    };
    run_suite(&suite, &implementation(name), &options, &mut |_| {}).expect("the suite runs")
}

#[test]
fn programs_that_keep_to_the_protocol_pass_and_suffer_all_faults() {
    let report = run("storage", 0..24);
    let wrong: Vec<_> = report.results.iter().filter(|result| !result.verdict.passes()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(report.results.iter().all(|result| result.not_injected.is_empty()), "{report:#?}");
}

/// Checks that `storage-FAULT` fails on one of these test cases, for a reason that says `expect`. Where it fails depends on
/// moments, so a busy machine may pass one.
#[track_caller]
fn check_fails(fault: &str, indices: &[usize], expect: &str) {
    let report = run(&format!("storage-{fault}"), indices.iter().copied());
    let failure = report.failures().next().expect("the mistake shows");
    let finding = failure.verdict.finding().expect("it failed").to_string();
    assert!(finding.contains(expect), "{finding}");
}
