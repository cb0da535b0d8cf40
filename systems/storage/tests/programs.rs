//! The storage of processes that Simutant kills and starts again, over networks that delay, lose and part what they send.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use simutant_harness::{CaseResult, Implementation, RunOptions, TestReport, run_suite};
use simutant_outcomes::{Suite, SuiteCase};
use simutant_sim_core::Probability;
use simutant_storage::protocol::Reads;
use simutant_storage::testbed::TESTBEDS;
use simutant_storage::{Step, Storage, TestCase};
use simutant_storage_programs::faults;
use simutant_system::universe;

/// How long a test case may take: those of which pieces are lost again and again take 10 s.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How often test cases are tried until a mistake shows.
const ROUNDS: usize = 5;

fn implementation(name: &str) -> Implementation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there")
}

/// Runs test cases on an implementation. They mostly wait, so several run at once.
fn run(name: &str, cases: impl IntoIterator<Item = TestCase>) -> TestReport {
    run_on(&implementation(name), cases)
}

fn run_on(implementation: &Implementation, cases: impl IntoIterator<Item = TestCase>) -> TestReport {
    let case = |(place, case): (usize, TestCase)| {
        let case = serde_json::to_value(case).expect("a test case is plain data");
        SuiteCase::new(place.to_string(), case)
    };
    let cases = cases.into_iter().enumerate().map(case);
    let suite = Suite::of_cases("storage", "of the universe", 1, cases);
    let options = RunOptions {
        jobs: 12.try_into().expect("12 is not 0"),
        timeout: TIMEOUT,
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    };
    run_suite(&suite, implementation, &options, &mut |_| {}).expect("the suite runs")
}

#[test]
fn programs_that_keep_to_the_protocol_pass_and_suffer_all_faults() {
    let report = run("storage", (0..24).map(of_universe));
    let wrong: Vec<_> = report.failures().collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(report.results.iter().all(|result| result.not_injected.is_empty()), "{report:#?}");
}

#[test]
fn a_client_that_leaves_out_its_calls_fails() {
    let mut implementation = implementation("storage");
    let client = implementation.sides.iter_mut().find(|side| side.name == "client").expect("there are clients");
    client.command = ["sh", "-c", "echo ready"].map(String::from).into();
    let report = run_on(&implementation, [of_universe(0)]);
    let finding = report.failures().find_map(|result| result.verdict.finding()).expect("it fails");
    assert!(finding.to_string().contains("session 1 made the calls []"), "{finding}");
}

fn of_universe(index: usize) -> TestCase {
    universe::<Storage>(1, index)
}

/// Returns three servers, and clients at these distances, which make these steps; readers write back.
fn atomic(clients: [(&[Step], [u64; 3]); 4]) -> TestCase {
    TestCase {
        servers: 3,
        reads: Reads::Atomic,
        distances_ms: clients.iter().map(|(_, distances)| distances.to_vec()).collect(),
        clients: clients.iter().map(|(steps, _)| steps.to_vec()).collect(),
        jitter_ms: 0,
        drop: Probability::ZERO,
        crashes: Vec::new(),
        partitions: Vec::new(),
        holds: Vec::new(),
        corrupt: Probability::ZERO,
        seed: 1,
        outcomes: BTreeSet::new(),
    }
}

/// Checks that `storage-FAULT` fails on one of these test cases, for a reason that says `expect`. Where it fails depends on
/// moments, so a busy machine may pass all of them: they are tried some times.
#[track_caller]
fn check_fails(fault: &str, cases: impl IntoIterator<Item = TestCase>, expect: &str) {
    let cases: Vec<TestCase> = cases.into_iter().collect();
    let finding = |result: &CaseResult| result.verdict.finding().map(ToString::to_string);
    let fails = |_| {
        let report = run(&format!("storage-{fault}"), cases.iter().cloned());
        report.failures().filter_map(finding).any(|finding| finding.contains(expect))
    };
    assert!((0..ROUNDS).any(fails), "in {ROUNDS} rounds, no test case fails for a reason that says {expect}");
}

#[test]
fn the_smallest_timestamp_of_a_majority_is_not_what_was_written_last() {
    check_fails("reads-lowest", [6, 7, 17, 27].map(of_universe), "may have read");
}

#[test]
fn a_write_that_is_over_before_a_quorum_has_it_is_found() {
    check_fails("quorum-of-less", [27, 37, 46, 55].map(of_universe), "may have read");
}

#[test]
fn a_write_that_counts_what_was_sent_is_found() {
    check_fails("counts-without-acknowledgement", [1, 4, 12, 17].map(of_universe), "may have read");
}

#[test]
fn a_server_that_forgets_in_a_crash_is_found() {
    check_fails("forgets-in-a-crash", [37, 66, 68, 110].map(of_universe), "nothing");
}

/// The inversion: the monitor of a regular register does not see it. A write reaches the first server long before the others;
/// one reader asks that server, and then another one asks the others.
#[test]
fn an_atomic_read_that_does_not_write_back_is_found() {
    let (read, pause) = (Step::Read, Step::Pause);
    let case = atomic([
        (&[Step::Write(1)], [1, 80, 80]),
        (&[pause(10), read, read, read, read], [1, 1, 80]),
        (&[pause(20), read, pause(5), read, pause(5), read, pause(5), read], [80, 1, 1]),
        (&[pause(1)], [1, 1, 1]),
    ]);
    assert!(run("storage", [case.clone()]).failures().next().is_none());
    check_fails("skips-write-back", vec![case; 4], "no order of the calls");
}

/// A router makes values of many digits others.
#[test]
fn damaged_lines_that_are_trusted_are_found() {
    let client = |writer: u32| {
        let write = |place| if place % 2 == 0 { Step::Write(900_000_000 + 10 * writer + place) } else { Step::Read };
        (0..10).map(write).collect::<Vec<_>>()
    };
    let clients = [1, 2, 3, 4].map(client);
    let case = atomic(clients.each_ref().map(|steps| (&steps[..], [1; 3])));
    let case = TestCase { corrupt: Probability::new(0.05).expect("it is one"), ..case };
    let cases = (0..8).map(|seed| TestCase { seed, ..case.clone() });
    assert!(run("storage", cases.clone()).failures().next().is_none());
    check_fails("trusts-damaged-lines", cases, "no order of the calls");
}

/// Two writers ask for the largest timestamp at the same time, and their writes come to the servers in different orders.
#[test]
fn two_writers_with_the_same_number_are_found() {
    let (read, pause) = (Step::Read, Step::Pause(100));
    let reads = [pause, pause, pause, read, read, read, read];
    let case = atomic([
        (&[Step::Write(1)], [40, 60, 80]),
        (&[Step::Write(2)], [80, 60, 40]),
        (&reads, [1, 1, 80]),
        (&reads, [80, 1, 1]),
    ]);
    assert!(run("storage", [case.clone()]).failures().next().is_none());
    check_fails("ignores-writers", vec![case; 4], "no order of the calls");
}

#[test]
fn every_fault_has_its_implementation_file() {
    for (fault, _) in faults::ALL {
        for side in implementation(&format!("storage-{fault}")).sides {
            assert!(side.command.ends_with(&["--fault".into(), fault.into()]), "{fault}: {side:?}");
        }
    }
}
