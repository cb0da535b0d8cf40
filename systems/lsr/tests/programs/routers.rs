//! Link-state routing: the correct implementation passes, and each faulty one fails on inputs that show its fault.
//!
//! The order in which packets arrive is decided by the test case, but for the little that the machine adds to it: so of
//! the inputs for faults that depend on it one must fail.

use std::path::Path;

use serde_json::{Value, json};
use simutant_harness::{CaseResult, Implementation, TestReport, run_suite};
use simutant_outcomes::{Suite, SuiteCase};

use crate::{implementation, options};

/// An input: topology, pairs of source and destination, seed.
pub(crate) type Input<'a> = (&'a str, &'a [(u8, u8)], u64);

fn case(&(topology, messages, seed): &Input<'_>) -> Value {
    let messages: Vec<Value> = messages.iter().map(|(from, to)| json!({ "from": from, "to": to })).collect();
    json!({ "topology": topology, "messages": messages, "seed": seed })
}

/// Returns the inputs as a suite; their names are their places.
pub(crate) fn routes(inputs: &[Input<'_>]) -> Suite {
    let cases = inputs.iter().enumerate().map(|(index, input)| SuiteCase::new(index.to_string(), case(input)));
    Suite::of_cases("lsr", "by hand", 0, cases)
}

fn run(implementation: &Implementation, inputs: &[Input<'_>]) -> TestReport {
    run_suite(&routes(inputs), implementation, &options(), &mut |_| {}).expect("the suite runs")
}

/// Checks that `lsr-FAULT` passes on `harmless` in one of two attempts, and fails on at least one of `harmful`, there
/// always for a reason that says `expect`.
#[track_caller]
fn check(fault: &str, harmless: Input<'_>, harmful: &[Input<'_>], expect: &str) {
    let inputs: Vec<Input<'_>> = [harmless; 2].iter().chain(harmful).copied().collect();
    let report = run(&implementation(&format!("lsr-{fault}")), &inputs);
    let (harmless, harmful) = report.results.split_at(2);
    assert!(harmless.iter().any(|result| result.verdict.passes()), "{fault}: {harmless:#?}");
    let failures: Vec<&CaseResult> = harmful.iter().filter(|result| !result.verdict.passes()).collect();
    assert!(!failures.is_empty(), "{fault} passes on all of them");
    for result in failures {
        let reason = result.verdict.finding().expect("it did not pass");
        assert!(reason.to_string().contains(expect), "{fault}: {result:#?}");
    }
}

#[test]
fn correct_routers_deliver_every_message_on_every_topology() {
    let all_ways: Vec<(u8, u8)> = (1..=4).flat_map(|from| (1..=4).map(move |to| (from, to))).collect();
    let (first, second) = all_ways.split_at(8);
    let mut inputs: Vec<Input<'_>> = Vec::new();
    for seed in [0, 1] {
        inputs.extend([("duo", &[(1, 2), (2, 1), (1, 1), (2, 2)][..], seed), ("3-line", &[(1, 3), (3, 1)], seed)]);
        inputs.push(("3-cycle", &[(1, 3), (3, 1), (2, 3), (1, 3), (1, 1), (3, 2)], seed));
        for topology in ["4-line", "4-star", "4-cycle", "4-mesh"] {
            inputs.extend([(topology, first, seed), (topology, second, seed)]);
        }
    }
    inputs.push(("4-mesh", &[], 2));
    let report = run(&implementation("lsr"), &inputs);
    let failures: Vec<_> = report.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(report.results.iter().all(|result| result.network.forward.received >= 4), "{report:#?}");
}

const QUIET: Input<'_> = ("duo", &[(1, 2)], 0);

#[test]
fn the_fewest_links_are_not_the_cheapest_path() {
    check(
        "counts-links",
        QUIET,
        &[("3-cycle", &[(1, 3)], 1)],
        "router-3: message 1 came at a cost of 5, the shortest path costs 3",
    );
}

#[test]
fn the_farthest_router_first_is_wrong_in_a_circle() {
    check("farthest-first", QUIET, &[("4-cycle", &[(2, 4)], 1)], "router-4: message 1 came at a cost of 5");
}

#[test]
fn the_last_predecessor_is_not_the_best_one() {
    check("keeps-last-predecessor", QUIET, &[("3-cycle", &[(2, 3)], 1)], "router-3: message 1 was not delivered");
}

#[test]
fn one_step_back_is_too_few_on_a_long_path() {
    check(
        "one-step-back",
        ("4-line", &[(1, 3)], 1),
        &[("4-line", &[(1, 4)], 1)],
        "router-4: message 1 was not delivered",
    );
}

#[test]
fn the_cheapest_link_leads_to_a_dearer_path() {
    check("takes-cheapest-link", QUIET, &[("4-cycle", &[(2, 3)], 1)], "router-3: message 1 came at a cost of 5");
}

#[test]
fn two_rounds_are_too_few_against_the_order_of_the_links() {
    check("two-rounds", ("4-line", &[(1, 4)], 1), &[("4-line", &[(4, 1)], 1)], "router-1: message 1 was not delivered");
}

#[test]
fn a_second_message_of_a_pair_is_not_passed_on() {
    let harmful = ("3-line", &[(1, 3), (3, 1), (1, 3)][..], 1);
    // Which of two that are alike comes first, and which is missed, is up to the machine if it is busy.
    check("remembers-pairs", ("3-line", &[(1, 3), (3, 1)], 1), &[harmful], "router-3: message");
}

#[test]
fn the_fifth_message_finds_no_room() {
    let five = [(1, 1), (2, 1), (3, 1), (2, 1), (1, 1)];
    check("room-for-four-messages", ("3-line", &five[..4], 1), &[("3-line", &five, 1)], "router-1: message");
}

#[test]
fn numbers_that_are_four_apart_are_taken_for_one() {
    let five = [(1, 2), (1, 3), (2, 3), (3, 1), (1, 2)];
    check("two-bit-numbers", ("3-line", &five[..4], 1), &[("3-line", &five, 1)], "router-2: message");
}

/// Returns an input for each of many seeds, in which every router has a message for every other one that is far away.
fn in_many_orders() -> Vec<Input<'static>> {
    (0..12).map(|seed| ("4-line", &[(1, 4), (4, 1), (1, 3), (3, 1), (2, 4), (4, 2)][..], seed)).collect()
}

#[test]
fn a_link_that_comes_up_soon_after_another_is_never_heard_of() {
    check("announces-too-seldom", QUIET, &in_many_orders(), "was not delivered");
}

#[test]
fn what_is_overtaken_comes_from_its_origin_too() {
    check("believes-the-origin", QUIET, &in_many_orders(), "was not delivered");
}

#[test]
fn who_is_late_must_be_told_of_all() {
    check("tells-only-of-itself", QUIET, &in_many_orders(), "was not delivered");
}

#[test]
fn every_fault_has_its_implementation_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("implementations");
    let files = Implementation::available(&[folder]).into_iter().filter(|name| name.starts_with("lsr-")).count();
    assert_eq!(files, simutant_lsr_programs::faults::ALL.len());
    for (fault, _) in simutant_lsr_programs::faults::ALL {
        let implementation = implementation(&format!("lsr-{fault}"));
        assert!(implementation.sides[0].command.ends_with(&["--fault".into(), fault.into()]), "{fault}");
    }
}
