//! Paxos of processes that Simutant kills and starts again, over networks that delay, lose and part.
//!
//! Ten faults have a test case here where they show, unless the timing slips. The others need packets that overtake each other;
//! the tests of the programs' logic search for such orders.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use simutant_harness::{CaseResult, Implementation, RunOptions, TestReport, run_suite};
use simutant_outcomes::{Suite, SuiteCase};
use simutant_paxos::testbed::TESTBEDS;
use simutant_paxos::{Paxos, TestCase};
use simutant_sim_core::Probability;
use simutant_system::{Hold, Outage, Separation, universe};

/// How many test cases of the universe right programs are given.
const FIRST: usize = 16;

/// How much later faults begin in the test cases of programs with a fault, in the first round of them: clients propose a little
/// before their time, as they are there before the network begins.
const LATER_MS: [u64; 8] = [0, 6, 12, 16, 20, 24, 28, 32];

/// How much later they begin in each further round: a machine that is busy does all a little later.
const ROUND_MS: u64 = 10;

/// How many rounds there are at most. One test case that fails shows the fault, and right programs fail none.
const ROUNDS: u64 = 6;

/// How long a test case may take: the longest of right programs take 4 s, on a machine that has nothing else to do.
const TIMEOUT: Duration = Duration::from_secs(40);

/// How long one may take for programs that never end.
const SHORT_TIMEOUT: Duration = Duration::from_secs(6);

fn implementation(name: &str) -> Implementation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    TESTBEDS.find(name, &[folder]).expect("the implementation is there")
}

/// Runs test cases on an implementation. They mostly wait, so several run at once.
fn run(name: &str, cases: &[TestCase], timeout: Duration) -> TestReport {
    run_on(&implementation(name), cases, timeout)
}

fn run_on(implementation: &Implementation, cases: &[TestCase], timeout: Duration) -> TestReport {
    let case = |(place, case): (usize, &TestCase)| {
        SuiteCase::new(place.to_string(), serde_json::to_value(case).expect("a test case is plain data"))
    };
    let suite = Suite::of_cases("paxos", "of tests", 1, cases.iter().enumerate().map(case));
    let options = RunOptions {
        jobs: 8.try_into().expect("8 is not 0"),
        timeout,
        ..RunOptions::new(Path::new(env!("CARGO_TARGET_TMPDIR")).join("implementations"))
    };
    run_suite(&suite, implementation, &options, &mut |_| {}).expect("the suite runs")
}

/// Checks that `paxos-FAULT` fails on a test case, or on one of those that differ a little, for a reason that says `expect`.
#[track_caller]
fn check_fails(fault: &str, case: impl Fn(u64) -> TestCase, expect: &str) {
    for round in 0..ROUNDS {
        let cases: Vec<TestCase> = LATER_MS.map(|later_ms| case(ROUND_MS * round + later_ms)).into();
        let report = run(&format!("paxos-{fault}"), &cases, SHORT_TIMEOUT);
        let finding = |result: &CaseResult| result.verdict.finding().map(ToString::to_string);
        if report.failures().filter_map(finding).any(|finding| finding.contains(expect)) {
            return;
        }
    }
    panic!("no test case of {ROUNDS} rounds fails for a reason that says {expect}");
}

/// Three replicas, where packets take so long.
fn case(clients_at_ms: &[u64], latency_ms: u64) -> TestCase {
    TestCase {
        replicas: 3,
        clients_at_ms: clients_at_ms.to_vec(),
        latency_ms,
        jitter_ms: 0,
        drop: Probability::ZERO,
        crashes: Vec::new(),
        partitions: Vec::new(),
        seed: 1,
        holds: Vec::new(),
        corrupt: Probability::ZERO,
        decrees: 1,
    }
}

/// A test case where a replica crashes.
fn with_crash(component: usize, at_ms: u64, for_ms: u64, case: TestCase) -> TestCase {
    TestCase { crashes: vec![Outage { component, at_ms, for_ms }], ..case }
}

fn cut_off(replica: usize, at_ms: u64, for_ms: u64) -> Separation {
    Separation { components: BTreeSet::from([replica]), at_ms, for_ms }
}

/// A test case where the first leader is cut off with votes of all, of which nobody else knows, and the next one has got another
/// value first.
///
/// Packets take 30 ms, so that promises for value 1 are there at 190 ms, and votes at 250 ms. Value 1 is sent again to replica
/// 1 when that has value 2.
fn after_votes(later_ms: u64) -> TestCase {
    let partitions = vec![cut_off(1, 105, 45), cut_off(0, 238 + later_ms, 1_500)];
    TestCase { partitions, ..case(&[100, 200], 30) }
}

#[test]
fn right_programs_pass() {
    let mut cases: Vec<TestCase> = (0..FIRST).map(|index| universe::<Paxos>(1, index)).collect();
    cases.extend(LATER_MS.map(after_votes));
    cases.extend(LATER_MS.map(after_a_power_failure));
    cases.extend(LATER_MS.map(before_the_second_commit));
    cases.extend(LATER_MS.map(without_the_first_commit));
    cases.extend([with_a_second_leader(), with_a_crash_at_first(), with_a_follower_down(), case(&[0, 100], 1)]);
    let report = run("paxos", &cases, TIMEOUT);
    let wrong: Vec<_> = report.results.iter().filter(|result| !result.verdict.passes()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(report.results.iter().all(|result| result.not_injected.is_empty()), "{report:#?}");
}

#[test]
fn a_client_that_does_not_propose_fails() {
    let mut implementation = implementation("paxos");
    let client = implementation.sides.iter_mut().find(|side| side.name == "client").expect("there are clients");
    let second = ["sh", "-c", r#"[ "$0" = 2 ] && echo ready || exec "$@""#, "{number}"].map(String::from);
    client.command.splice(0..0, second);
    let report = run_on(&implementation, &[case(&[0, 0], 1)], TIMEOUT);
    let finding = report.failures().find_map(|result| result.verdict.finding()).expect("it fails");
    assert!(finding.to_string().contains("session 2 made the calls []"), "{finding}");
}

#[test]
fn clients_of_the_last_leader_wait_in_vain() {
    check_fails("answers-nobody", |_| with_a_crash_at_first(), "still running");
}

#[test]
fn a_replica_that_missed_the_commit_does_not_ask() {
    check_fails("detects-as-leader-only", |_| with_crash(2, 50, 500, case(&[100], 1)), "2 of 3 have learned decree 1");
}

#[test]
fn nobody_leads_after_a_crash_of_another_one() {
    check_fails("elects-another-leader", |_| with_a_follower_down(), "still running");
}

#[test]
fn a_leader_that_is_back_decides_again() {
    check_fails(
        "leads-after-failing",
        |_| with_crash(0, 200, 100, case(&[0, 400], 1)),
        "no order of the calls explains",
    );
}

#[test]
fn a_second_client_waits_in_vain() {
    check_fails("one-request", |_| case(&[0, 100], 1), "still running");
}

/// A test case where nobody hears of the first leader from a moment on, and others crash 75 ms later.
fn with_a_leader_held_back(at_ms: u64, crashing: &[usize], case: TestCase) -> TestCase {
    let from_leader = |to: &str| Hold { from: "replica-0".into(), to: to.into(), at_ms, for_ms: 1_500 };
    let crash = |&component| Outage { component, at_ms: at_ms + 75, for_ms: 50 };
    TestCase {
        holds: ["replica-1", "replica-2"].map(from_leader).into(),
        crashes: crashing.iter().map(crash).collect(),
        ..case
    }
}

/// A test case where only the first leader knows that its value is decided, and both others crash after their votes. The next
/// leader has the other client's value in half of them.
///
/// Packets take 30 ms: requests to accept leave at 190 ms, votes at 220 ms, and commits at 250 ms.
fn after_a_power_failure(later_ms: u64) -> TestCase {
    with_a_leader_held_back(205 + later_ms, &[1, 2], case(&[100, 200], 30))
}

/// A test case where only the first leader knows what is decided for the second decree, and the next leader, which crashes
/// before, has the third client's value in half of them.
///
/// Requests to accept that value leave at 330 ms, and commits at 390 ms.
fn before_the_second_commit(later_ms: u64) -> TestCase {
    let two_decrees = TestCase { decrees: 2, ..case(&[0, 300, 350], 30) };
    with_a_leader_held_back(345 + later_ms, &[1], two_decrees)
}

/// A test case where a replica is there again before the second decree is told, and has not asked for the first.
///
/// It is told at 720 ms, and an answer takes 60 ms.
fn without_the_first_commit(later_ms: u64) -> TestCase {
    with_crash(2, 0, 660 + later_ms, TestCase { decrees: 2, ..case(&[0, 600], 30) })
}

/// A test case where the first leader is down when the client proposes.
fn with_a_crash_at_first() -> TestCase {
    with_crash(0, 80, 2_000, case(&[100], 1))
}

/// A test case where another replica was down before the client proposes.
fn with_a_follower_down() -> TestCase {
    with_crash(1, 50, 500, case(&[600], 1))
}

/// A test case where the next leader knows the first decree, and has both clients' values.
fn with_a_second_leader() -> TestCase {
    with_crash(0, 150, 2_000, TestCase { decrees: 2, ..case(&[0, 400], 1) })
}

#[test]
fn acceptors_that_crash_after_their_votes_forget_them() {
    check_fails("forgets-promises", after_a_power_failure, "no order of the calls explains");
}

#[test]
fn votes_for_the_second_decree_are_not_told() {
    check_fails("promises-first-decree", before_the_second_commit, "no order of the calls explains");
}

#[test]
fn the_second_decree_is_taken_for_the_first() {
    check_fails("learns-with-gaps", without_the_first_commit, "no order of the calls explains");
}

#[test]
fn a_value_is_decided_twice() {
    check_fails("repeats-values", |_| with_a_second_leader(), "no order of the calls explains");
}

#[test]
fn a_leader_that_takes_over_decides_on_its_own_value() {
    check_fails("takes-own-value", after_votes, "no order of the calls explains");
}
