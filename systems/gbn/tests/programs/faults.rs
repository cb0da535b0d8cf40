//! Each faulty implementation fails on inputs that show its fault, and passes on one that does not.
//!
//! A fault shows where certain packets are lost. The seeds are such that they are; but which packet is the n-th depends
//! a little on the scheduler, so of three runs one must fail. For the same reason one of three runs must pass on the
//! other input: a stall of a busy machine, longer than a program's patience, is no fault. If the generator of random
//! numbers changes, other seeds have to be found: run a fault on many seeds, and take some that fail.

use crate::{GENTLE, Input, implementation, run};

/// How often the harmless input is tried; one pass is enough.
const HARMLESS_ATTEMPTS: usize = 3;

/// Checks that `udp-FAULT` passes on `harmless` in one of some attempts, and fails on one of `harmful`, there always
/// for a reason that says `expect`.
#[track_caller]
fn check(fault: &str, harmless: Input, harmful: [Input; 3], expect: &str) {
    let mut inputs = vec![harmless; HARMLESS_ATTEMPTS];
    inputs.extend(harmful);
    let report = run(&implementation(&format!("udp-{fault}")), &inputs);
    let (harmless_results, harmful_results) = report.results.split_at(HARMLESS_ATTEMPTS);
    assert!(harmless_results.iter().any(|result| result.verdict.passes()), "{fault}: {harmless_results:#?}");
    let mut failures = 0;
    for result in harmful_results {
        let Some(reason) = result.verdict.finding() else { continue };
        failures += 1;
        assert!(reason.to_string().contains(expect), "{fault}: {result:#?}");
    }
    assert!(failures > 0, "{fault} passes on all of {harmful:?}");
}

/// Returns three inputs that differ in their seeds at most.
fn with_seeds(bytes: u64, drop: f64, duplicate: f64, seeds: [u64; 3]) -> [Input; 3] {
    seeds.map(|seed| (bytes, drop, duplicate, seed))
}

#[test]
fn counting_all_timeouts_fails_on_large_files_and_bad_networks() {
    check("counts-all-timeouts", GENTLE, with_seeds(335_760, 0.2, 0.2, [0, 1, 2]), "sender ended with exit code 1");
}

#[test]
fn an_unacknowledged_end_fails_when_the_end_mark_is_lost() {
    check("ends-unacknowledged", GENTLE, with_seeds(1_000, 0.2, 0.2, [2, 8, 12]), "receiver ended with exit code 1");
}

#[test]
fn filling_the_first_window_fails_on_small_files() {
    let harmless = (20_000, 0.0, 0.0, 1);
    check("fills-first-window", harmless, with_seeds(1_000, 0.0, 0.0, [0, 1, 2]), "sender ended with exit code 101");
}

#[test]
fn four_sequence_numbers_fail_when_acknowledgements_are_lost_in_a_row() {
    check("four-sequence-numbers", GENTLE, with_seeds(9_793, 0.2, 0.0, [79, 84, 158]), "the output");
}

#[test]
fn four_timeouts_are_too_few_for_large_files_and_bad_networks() {
    let harmful = with_seeds(335_760, 0.2, 0.2, [0, 1, 3]);
    check("gives-up-after-four-timeouts", GENTLE, harmful, "sender ended with exit code 1");
}

#[test]
fn keeping_sixteen_packets_fails_when_the_window_is_large() {
    check("keeps-sixteen-packets", GENTLE, with_seeds(335_760, 0.03, 0.1, [0, 1, 2]), "the output differs");
}

#[test]
fn learning_the_first_number_fails_when_the_first_packet_is_lost() {
    check("learns-first-number", GENTLE, with_seeds(9_000, 0.2, 0.0, [6, 8, 18]), "the output");
}

#[test]
fn leaving_after_the_end_fails_when_the_last_acknowledgement_is_lost() {
    check("leaves-after-end", GENTLE, with_seeds(1_000, 0.2, 0.0, [9, 13, 16]), "sender ended with exit code 1");
}

#[test]
fn refusing_early_acknowledgements_fails_when_all_in_flight_are_lost() {
    let harmful = with_seeds(335_760, 0.2, 0.2, [0, 1, 2]);
    check("refuses-early-acknowledgements", GENTLE, harmful, "sender ended with exit code 1");
}

#[test]
fn repeating_the_last_acknowledgement_once_fails_when_both_are_lost() {
    check("repeats-last-ack-once", GENTLE, with_seeds(1_000, 0.2, 0.0, [3, 10, 63]), "sender ended with exit code 1");
}

#[test]
fn every_fault_has_its_implementation_file() {
    for (fault, _) in simutant_gbn_programs::faults::ALL {
        let implementation = implementation(&format!("udp-{fault}"));
        for side in implementation.sides {
            assert!(side.command.ends_with(&["--fault".into(), fault.into()]), "{fault}: {side:?}");
        }
    }
}
