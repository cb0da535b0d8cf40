//! Tests of the whole system, and of each side left alone.

use std::collections::BTreeSet;

use simutant_sim_core::trace::{Action, Trace};
use simutant_sim_core::{Limits, Link, Probability, VirtualDuration, VirtualTime, universe};

use super::sender::{GOODBYES, TIMEOUT, TRIES_MAX};
use super::receiver::{LINGER, PATIENCE};
use super::*;

const RULES: [AcknowledgementRule; 2] = [AcknowledgementRule::NextExpected, AcknowledgementRule::LastReceived];

fn case(bytes: u64, drop: f64, duplicate: f64) -> TestCase {
    let probability = |value| Probability::new(value).expect("it is one");
    TestCase { bytes, drop: probability(drop), duplicate: probability(duplicate), seed: 1 }
}

#[track_caller]
fn check_reasonable<S: System<TestCase = TestCase>>(case: &TestCase) {
    assert_eq!(S::validate(case), Ok(()));
    let report = S::configure(case).run();
    assert!(report.verdict.is_reasonable(), "{}, {case:?}: {}", S::NAME, report.verdict);
}

#[test]
fn two_thousand_sampled_cases_are_reasonable() {
    for index in 0..2_000 {
        check_reasonable::<Gbn>(&universe::<Gbn>(42, index));
        check_reasonable::<GbnLastAck>(&universe::<GbnLastAck>(42, index));
    }
}

#[test]
fn the_corners_of_the_domain_are_reasonable() {
    let segment = u64::from(SEGMENT_BYTES);
    let lengths = [1, segment - 1, segment, segment + 1, 2 * segment, 3 * segment, 4 * segment, SMALL_BYTES_MAX];
    for bytes in lengths.into_iter().chain([BYTES_MAX - 1, BYTES_MAX]) {
        for (drop, duplicate) in [(0.0, 0.0), (0.2, 0.0), (0.0, 0.2), (0.2, 0.2)] {
            for seed in 0..50 {
                let case = TestCase { seed, ..case(bytes, drop, duplicate) };
                check_reasonable::<Gbn>(&case);
                check_reasonable::<GbnLastAck>(&case);
            }
        }
    }
}

#[test]
fn both_rules_have_the_same_inputs() {
    assert!((0..100).all(|index| universe::<Gbn>(1, index) == universe::<GbnLastAck>(1, index)));
}

/// Returns what was sent of a kind, and the trace.
fn sent(mut simulation: Simulation<GbnMessage>, kind: &str) -> (Vec<String>, Trace) {
    simulation.record_trace();
    let trace = simulation.run().trace.expect("it was asked for");
    let messages = trace.iter().filter_map(|event| match &event.action {
        Action::Sent(packet) if packet.kind == kind => Some(packet.message.clone()),
        _ => None,
    });
    (messages.collect(), trace)
}

#[test]
fn without_loss_every_packet_is_sent_once() {
    let count = |kind| sent(Gbn::configure(&case(BYTES_MAX, 0.0, 0.0)), kind).0;
    let segments = count("DAT");
    assert_eq!(segments.len(), 240);
    assert_eq!(segments.iter().collect::<BTreeSet<_>>().len(), 240);
    assert_eq!([count("END").len(), count("ACK").len(), count("BYE").len()], [1, 241, GOODBYES as usize]);
}

#[test]
fn the_goodbye_ends_the_transfer_and_the_receiver_does_not_linger() {
    let report = Gbn::configure(&case(1, 0.0, 0.0)).run();
    assert!(report.ended_at < VirtualTime::ZERO + LINGER, "it took until {}", report.ended_at);
}

/// Runs a transfer over a network that loses everything from a sender, from a receiver, or from both.
#[track_caller]
fn check_ends(simulation: &mut Simulation<GbnMessage>, at: VirtualTime) -> String {
    simulation.limits(Limits { events: 10_000, ..Limits::default() });
    let report = std::mem::replace(simulation, Simulation::new(0)).run();
    assert_eq!(report.ended_at, at);
    assert_eq!(report.waiting, []);
    report.verdict.to_string()
}

#[test]
fn a_network_that_loses_everything_lets_both_sides_give_up() {
    for rule in RULES {
        let mut simulation = configuration::configure(&case(100_000, 1.0, 0.0), rule);
        let verdict = check_ends(&mut simulation, VirtualTime::ZERO + PATIENCE);
        assert!(verdict.contains("Err(Silence)"), "{verdict}");
    }
}

#[test]
fn a_sender_alone_gives_up_after_its_tries() {
    for rule in RULES {
        let mut simulation = Simulation::new(1);
        simulation.network(Link::constant(VirtualDuration::from_millis(1)));
        let nobody = simulation.address("receiver", 1);
        simulation.add("receiver", |_| async {});
        simulation.add("sender", move |context| sender(context, nobody, 100_000, rule)).expecting(Err(GaveUp));
        let verdict = check_ends(&mut simulation, VirtualTime::ZERO + TIMEOUT * u64::from(TRIES_MAX));
        assert_eq!(verdict, "reasonable");
    }
}
