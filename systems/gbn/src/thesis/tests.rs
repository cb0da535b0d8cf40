//! Tests of the whole system.

use std::collections::BTreeSet;

use simutant_sim_core::{Ended, Limits, Probability};
use simutant_system::universe;

use super::*;

fn case(bytes: u64, drop: f64, duplicate: f64) -> TestCase {
    let probability = |value| Probability::new(value).expect("it is one");
    TestCase { bytes, drop: probability(drop), duplicate: probability(duplicate), seed: 1 }
}

#[test]
fn two_thousand_sampled_cases_pass() {
    for index in 0..2_000 {
        let case = universe::<GbnThesis>(42, index);
        assert_eq!(GbnThesis::validate(&case), Ok(()));
        let report = GbnThesis::configure(&case).run();
        assert!(report.ended.passed(), "case {index}, {case:?}: {}", report.ended);
    }
}

#[test]
fn the_corners_of_the_domain_pass() {
    let segment = u64::from(SEGMENT_BYTES);
    for bytes in [1, segment - 1, segment, segment + 1, 2 * segment, BYTES_MAX - 1, BYTES_MAX] {
        for (drop, duplicate) in [(0.0, 0.0), (0.2, 0.0), (0.0, 0.2), (0.2, 0.2)] {
            let case = case(bytes, drop, duplicate);
            let report = GbnThesis::configure(&case).run();
            assert!(report.ended.passed(), "{case:?}: {}", report.ended);
        }
    }
}

#[test]
fn without_loss_every_segment_is_sent_once() {
    let mut simulation = GbnThesis::configure(&case(BYTES_MAX, 0.0, 0.0));
    simulation.record_trace();
    let trace = simulation.run().trace.expect("it was asked for");
    let sent = trace.iter().filter_map(|event| match &event.action {
        simutant_sim_core::trace::Action::Sent(packet) if packet.kind == "DAT" => Some(packet.message.clone()),
        _ => None,
    });
    let sent: Vec<String> = sent.collect();
    assert_eq!(sent.len(), 240);
    assert_eq!(sent.iter().collect::<BTreeSet<_>>().len(), 240);
}

#[test]
fn a_network_that_loses_everything_ends_in_the_limit() {
    let mut simulation = GbnThesis::configure(&case(1, 1.0, 0.0));
    simulation.limits(Limits { events: 1_000, ..Limits::default() });
    let ended = simulation.run().ended;
    assert!(matches!(ended, Ended::NotTerminated(_)), "{ended}");
}

#[test]
fn test_cases_outside_the_domain_are_refused_by_name() {
    #[track_caller]
    fn check(case: TestCase, expect: &str) {
        assert_eq!(GbnThesis::validate(&case).expect_err("it is outside").to_string(), expect);
    }
    check(case(0, 0.0, 0.0), "bytes is 0: it must be from 1 to 335760");
    check(case(335_761, 0.0, 0.0), "bytes is 335761: it must be from 1 to 335760");
    check(case(1, 0.25, 0.0), "drop is 0.25: it must be from 0 to 0.2");
    check(case(1, 0.0, 1.0), "duplicate is 1: it must be from 0 to 0.2");
}

#[test]
fn a_test_case_is_json_and_back() {
    let case = universe::<GbnThesis>(42, 7);
    let json = serde_json::to_string(&case).expect("it is plain data");
    assert_eq!(serde_json::from_str::<TestCase>(&json).expect("it was just written"), case);
}

#[test]
fn universes_are_those_that_gbn_had() {
    let json = |index| serde_json::to_string(&universe::<GbnThesis>(1, index)).expect("it is plain data");
    assert_eq!(json(0), r#"{"bytes":207759,"drop":0.0432,"duplicate":0.0207,"seed":7613084825153696823}"#);
    assert_eq!(json(877), r#"{"bytes":254889,"drop":0.1654,"duplicate":0.1131,"seed":8413552561342916982}"#);
}
