//! Tests of the whole system, and of each side left alone.

use std::collections::BTreeSet;

use simutant_sim_core::network::{Effect, Occurrences, Rule};
use simutant_sim_core::trace::Action;
use simutant_sim_core::{Limits, Network, Probability, Report, VirtualTime};
use simutant_system::testing::check_reseeding;
use simutant_system::universe;

use super::configuration::LATENCY;
use super::receiver::{LINGER, PATIENCE};
use super::sender::{GOODBYES, TIMEOUT, TRIES_MAX};
use super::*;

const RULES: [AcknowledgementRule; 2] = [AcknowledgementRule::NextExpected, AcknowledgementRule::LastReceived];

fn case(bytes: u64, drop: f64, duplicate: f64) -> TestCase {
    let probability = |value| Probability::new(value).expect("it is one");
    TestCase { bytes, drop: probability(drop), duplicate: probability(duplicate), seed: 1 }
}

#[track_caller]
fn check_passes<S: System<TestCase = TestCase>>(case: &TestCase) {
    assert_eq!(S::validate(case), Ok(()));
    let report = S::configure(case).run();
    assert!(report.ended.passed(), "{}, {case:?}: {}", S::NAME, report.ended);
}

#[test]
fn two_thousand_sampled_cases_pass() {
    for index in 0..2_000 {
        check_passes::<Gbn>(&universe::<Gbn>(42, index));
        check_passes::<GbnLastAck>(&universe::<GbnLastAck>(42, index));
    }
}

#[test]
fn the_corners_of_the_domain_pass() {
    let segment = u64::from(SEGMENT_BYTES);
    let lengths = [1, segment - 1, segment, segment + 1, 2 * segment, 3 * segment, 4 * segment, SMALL_BYTES_MAX];
    for bytes in lengths.into_iter().chain([BYTES_MAX - 1, BYTES_MAX]) {
        for (drop, duplicate) in [(0.0, 0.0), (0.2, 0.0), (0.0, 0.2), (0.2, 0.2)] {
            for seed in 0..50 {
                let case = TestCase { seed, ..case(bytes, drop, duplicate) };
                check_passes::<Gbn>(&case);
                check_passes::<GbnLastAck>(&case);
            }
        }
    }
}

#[test]
fn both_rules_have_the_same_inputs() {
    assert!((0..100).all(|index| universe::<Gbn>(1, index) == universe::<GbnLastAck>(1, index)));
}

/// Returns what is sent of a kind.
fn sent(mut simulation: Simulation<TransferMessage>, kind: &str) -> Vec<String> {
    simulation.record_trace();
    let trace = simulation.run().trace.expect("it was asked for");
    let messages = trace.iter().filter_map(|event| match &event.action {
        Action::Sent(packet) if packet.kind == kind => Some(packet.message.clone()),
        _ => None,
    });
    messages.collect()
}

#[test]
fn without_loss_every_packet_is_sent_once() {
    let count = |kind| sent(Gbn::configure(&case(BYTES_MAX, 0.0, 0.0)), kind);
    let segments = count("DAT");
    assert_eq!(segments.len(), 240);
    assert_eq!(segments.iter().collect::<BTreeSet<_>>().len(), 240);
    // The receiver answers the first goodbye, too, and hears no other.
    assert_eq!([count("END").len(), count("ACK").len(), count("BYE").len()], [1, 242, GOODBYES as usize]);
}

#[test]
fn the_goodbye_ends_the_transfer_and_the_receiver_does_not_linger() {
    let report = Gbn::configure(&case(1, 0.0, 0.0)).run();
    assert!(report.ended_at < VirtualTime::ZERO + LINGER, "it took until {}", report.ended_at);
}

/// Returns a network without chance in which these packets are lost: the sender's or the receiver's, of a kind or of
/// all kinds, each of them or some.
fn losing(lost: &[(&str, Option<&str>, Occurrences)]) -> Network {
    let rule = |&(from, kind, occurrences): &(&str, Option<&str>, Occurrences)| Rule {
        from: Some(from.into()),
        kind: kind.map(Into::into),
        occurrences,
        ..Rule::of(Effect::Drop)
    };
    Network { rules: lost.iter().map(rule).collect(), ..Network::constant(LATENCY) }
}

/// Runs a transfer to its end, and returns the report, in which nobody waits.
#[track_caller]
fn run_to_end(bytes: u64, network: Network, rule: AcknowledgementRule) -> Report {
    let mut simulation = configuration::transfer(bytes, network, rule, 1);
    simulation.limits(Limits { events: 100_000, ..Limits::default() });
    let report = simulation.run();
    assert_eq!(report.waiting, [], "somebody waits for ever");
    report
}

/// Exhausts what can be lost of the first packets of both sides, in a transfer of three segments and the end mark.
#[test]
fn whatever_is_lost_of_the_first_packets_the_transfer_passed() {
    const PACKETS: u32 = 6;
    for lost in 0_u32..1 << (2 * PACKETS) {
        let packets = (0..2 * PACKETS).filter(|place| lost >> place & 1 == 1).map(|place| {
            let from = if place < PACKETS { "sender" } else { "receiver" };
            (from, None, Occurrences::Only(u64::from(place % PACKETS) + 1))
        });
        let network = losing(&packets.collect::<Vec<_>>());
        for rule in RULES {
            let report = run_to_end(3 * u64::from(SEGMENT_BYTES), network.clone(), rule);
            assert!(report.ended.passed(), "{rule:?} without {lost:b}: {}", report.ended);
        }
    }
}

#[test]
fn an_end_mark_or_its_acknowledgement_may_be_lost_all_but_the_last_time() {
    let tries = u64::from(TRIES_MAX);
    // The segment has an acknowledgement of its own.
    for (from, kind, first, all) in [("sender", "END", 1, tries), ("receiver", "ACK", 2, tries + 1)] {
        let lost = |last| {
            let only = (first..=last).map(|number| (from, Some(kind), Occurrences::Only(number)));
            losing(&only.collect::<Vec<_>>())
        };
        for rule in RULES {
            assert!(run_to_end(1, lost(all - 1), rule).ended.passed());
            let ended = run_to_end(1, lost(all), rule).ended.to_string();
            assert!(ended.contains("sender returned Err(GaveUp)"), "{ended}");
        }
    }
}

#[test]
fn without_any_goodbye_the_receiver_leaves_after_a_silence() {
    for rule in RULES {
        let report = run_to_end(1, losing(&[("sender", Some("BYE"), Occurrences::All)]), rule);
        assert!(report.ended.passed(), "{}", report.ended);
        assert_eq!(report.ended_at, VirtualTime::ZERO + LATENCY + LINGER);
        let goodbyes = u64::from(GOODBYES);
        let report = run_to_end(1, losing(&[("sender", Some("BYE"), Occurrences::First(goodbyes - 1))]), rule);
        assert_eq!(report.ended_at, VirtualTime::ZERO + LATENCY * 4);
    }
}

#[test]
fn a_network_that_loses_everything_lets_both_sides_give_up() {
    for rule in RULES {
        let report = run_to_end(100_000, losing(&[("sender", None, Occurrences::All)]), rule);
        assert_eq!(report.ended_at, VirtualTime::ZERO + PATIENCE);
        let ended = report.ended.to_string();
        assert!(ended.contains("sender returned Err(GaveUp) at 0.6 s"), "{ended}");
    }
}

/// Runs one side of a transfer of 100 000 bytes, which is expected to give up at a time; the other side is gone from
/// 30 ms on, which is in the middle, or never there.
#[track_caller]
fn check_alone(side: &str, is_there_first: bool, at: VirtualTime) {
    for rule in RULES {
        let mut simulation = Simulation::new(1);
        let other = if side == "sender" { "receiver" } else { "sender" };
        let gone = Rule {
            from: Some(other.into()),
            since: VirtualTime::ZERO + LATENCY * if is_there_first { 4 } else { 0 },
            ..Rule::of(Effect::Drop)
        };
        simulation.network(Network { rules: vec![gone], ..Network::constant(LATENCY) });
        let to = simulation.address("receiver", 1);
        let file = File::new(&simulation);
        let receiver = simulation.add("receiver", move |context| receiver(context, 1, file, 100_000, rule));
        if side == "receiver" {
            receiver.expecting(Err(SenderGone::Silence));
        }
        let sender = simulation.add("sender", move |context| sender(context, to, 100_000, rule));
        if side == "sender" {
            sender.expecting(Err(GaveUp));
        }
        simulation.record_trace();
        let report = simulation.run();
        assert!(report.ended.passed(), "{}", report.ended);
        let trace = report.trace.expect("it was asked for");
        let returned =
            trace.iter().find(|event| matches!(&event.action, Action::Returned { component, .. } if component == side));
        assert_eq!(returned.expect("it has returned").at, at, "{side}, {rule:?}");
    }
}

#[test]
fn a_sender_alone_gives_up_after_its_tries() {
    let tries = TIMEOUT * u64::from(TRIES_MAX);
    check_alone("sender", false, VirtualTime::ZERO + tries);
    // The last acknowledgement was sent when the receiver had the second window.
    check_alone("sender", true, VirtualTime::ZERO + LATENCY * 4 + tries);
}

#[test]
fn a_receiver_alone_gives_up_after_its_patience() {
    check_alone("receiver", false, VirtualTime::ZERO + PATIENCE);
    check_alone("receiver", true, VirtualTime::ZERO + LATENCY * 3 + PATIENCE);
}

#[test]
fn a_file_without_bytes_is_an_end_mark_alone() {
    for rule in RULES {
        let report = run_to_end(0, losing(&[("sender", Some("END"), Occurrences::First(1))]), rule);
        assert!(report.ended.passed(), "{}", report.ended);
    }
}

#[test]
fn a_sender_that_leaves_too_early_is_noticed() {
    for rule in RULES {
        let mut simulation = Simulation::new(1);
        simulation.network(Network::constant(LATENCY));
        let to = simulation.address("receiver", 1);
        let file = File::new(&simulation);
        simulation
            .add("receiver", move |context| receiver(context, 1, file, 1, rule))
            .expecting(Err(SenderGone::Goodbye));
        simulation.add("sender", move |context| async move {
            let channel = context.channel();
            channel.send(to, Dat { sequence: 0, offset: 0, length: 1 });
            channel.send(to, TransferMessage::Bye);
        });
        assert_eq!(simulation.run().ended.to_string(), "passed");
    }
}

#[test]
fn test_cases_outside_the_domain_are_refused_by_name() {
    #[track_caller]
    fn check(case: TestCase, expect: &str) {
        assert_eq!(Gbn::validate(&case).expect_err("it is outside").to_string(), expect);
    }
    check(case(0, 0.0, 0.0), "bytes is 0: it must be from 1 to 335760");
    check(case(335_761, 0.0, 0.0), "bytes is 335761: it must be from 1 to 335760");
    check(case(1, 0.25, 0.0), "drop is 0.25: it must be from 0 to 0.2");
    check(case(1, 0.0, 1.0), "duplicate is 1: it must be from 0 to 0.2");
}

#[test]
fn a_test_case_is_json_and_back() {
    let case = universe::<Gbn>(42, 7);
    let json = serde_json::to_string(&case).expect("it is plain data");
    assert_eq!(serde_json::from_str::<TestCase>(&json).expect("it was just written"), case);
}

#[test]
fn its_chance_is_its_seed() {
    check_reseeding::<Gbn>(|case| case.seed = 0);
    check_reseeding::<GbnLastAck>(|case| case.seed = 0);
    check_reseeding::<thesis::GbnThesis>(|case| case.seed = 0);
}
