//! What happens by chance: how often, and that it is coupled.

use proptest::prelude::*;

use super::*;
use crate::trace::DropReason;

const PACKETS: usize = 100_000;

/// Checks that a count is within four standard deviations of the binomial distribution.
#[track_caller]
fn check_share(count: usize, of: usize, expect: f64) {
    let share = count as f64 / of as f64;
    let tolerance = 4.0 * (expect * (1.0 - expect) / of as f64).sqrt();
    assert!((share - expect).abs() <= tolerance, "{share}, not {expect} within {tolerance}");
}

fn arrivals(fates: &[Fate]) -> Vec<Arrival> {
    let of_fate = |fate: &Fate| match *fate {
        Fate::Dropped(_) => vec![],
        Fate::Delivered(arrival) => vec![arrival],
        Fate::Duplicated(arrival, copy) => vec![arrival, copy],
    };
    fates.iter().flat_map(of_fate).collect()
}

#[test]
fn every_misfortune_is_as_frequent_as_its_probability() {
    for share in [0.0, 0.001, 0.2, 0.5, 0.97, 1.0] {
        let link = Link {
            drop: probability(share / 2.0).into(),
            duplicate: probability(share),
            reorder: Some(Reorder { probability: probability(share), hold: Latency::Constant(MILLI * 7) }),
            corrupt: probability(share),
            ..Link::constant(MILLI * 2)
        };
        let fates = Run::new(link).send_many(PACKETS);
        let dropped = fates.iter().filter(|fate| matches!(fate, Fate::Dropped(DropReason::Loss))).count();
        let duplicated = fates.iter().filter(|fate| matches!(fate, Fate::Duplicated(..))).count();
        check_share(dropped, PACKETS, share / 2.0);
        check_share(duplicated, PACKETS - dropped, share);
        let arrivals = arrivals(&fates);
        check_share(arrivals.iter().filter(|arrival| arrival.is_corrupted).count(), arrivals.len(), share);
        let held_back = arrivals.iter().filter(|arrival| arrival.after == MILLI * 9).count();
        check_share(held_back, arrivals.len(), share);
        assert_eq!(held_back + arrivals.iter().filter(|arrival| arrival.after == MILLI * 2).count(), arrivals.len());
    }
}

#[test]
fn misfortunes_are_independent_of_each_other() {
    let link = Link {
        drop: probability(0.5).into(),
        duplicate: probability(0.5),
        corrupt: probability(0.5),
        ..Link::default()
    };
    let run = &mut Run::new(link);
    let mut counts = [0; 16];
    for _ in 0..PACKETS {
        let packet = run.packet("ab", "DAT", 0);
        let decision = run.state.decide(&packet);
        let [first, second] = decision.copies;
        let bits = [decision.lost_on.is_some(), decision.is_duplicated, first.is_corrupted, second.is_corrupted];
        counts[bits.iter().fold(0, |number, bit| number * 2 + usize::from(*bit))] += 1;
    }
    // Chi-square with 15 degrees of freedom: 37.7 is exceeded with a probability of 0.001.
    let expect = PACKETS as f64 / 16.0;
    let chi_square: f64 = counts.iter().map(|count| (f64::from(*count) - expect).powi(2) / expect).sum();
    assert!(chi_square < 37.7, "{counts:?}: {chi_square}");
}

#[test]
fn copies_draw_latencies_of_their_own() {
    let latency = Latency::Uniform { min: VirtualDuration::ZERO, max: MILLI * 1_000 };
    let link = Link { latency, duplicate: Probability::ONE, ..Link::default() };
    for fate in Run::new(link).send_many(100) {
        let Fate::Duplicated(first, second) = fate else { panic!("every packet is duplicated") };
        assert_ne!(first.after, second.after);
    }
}

#[test]
fn jitter_is_added_to_the_latency() {
    let jitter = Latency::Uniform { min: VirtualDuration::ZERO, max: MILLI };
    let link = Link { jitter: Some(jitter), ..Link::constant(MILLI * 5) };
    let fates = Run::new(link).send_many(1_000);
    let mut after: Vec<_> = arrivals(&fates).iter().map(|arrival| arrival.after).collect();
    after.sort_unstable();
    assert!(after[0] >= MILLI * 5 && after[999] <= MILLI * 6, "{} {}", after[0], after[999]);
    assert!(after[999] - after[0] > MILLI / 10 * 9);
}

/// Any link without memory.
fn any_link() -> impl Strategy<Value = Link> {
    let share = || prop_oneof![Just(Probability::ZERO), (0.0..=1.0).prop_map(probability), Just(Probability::ONE)];
    let latency = || {
        prop_oneof![
            (0..10_000_u64).prop_map(|nanos| Latency::Constant(VirtualDuration::from_nanos(nanos))),
            (0..1_000_u64, 0..1_000_u64).prop_map(|(min, more)| {
                let (min, max) = (VirtualDuration::from_nanos(min), VirtualDuration::from_nanos(min + more));
                Latency::Uniform { min, max }
            }),
            Just(Latency::Exponential { mean: MILLI, max: None }),
        ]
    };
    let reorder = (share(), latency()).prop_map(|(probability, hold)| Reorder { probability, hold });
    (latency(), proptest::option::of(latency()), share(), share(), proptest::option::of(reorder), share()).prop_map(
        |(latency, jitter, drop, duplicate, reorder, corrupt)| Link {
            latency,
            jitter,
            drop: drop.into(),
            duplicate,
            reorder,
            corrupt,
            bandwidth: None,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_way_decides_as_the_general_one(link in any_link()) {
        let link = Link { jitter: None, reorder: None, corrupt: Probability::ZERO, ..link };
        let never = Rule { kind: Some("NONE".to_owned()), ..Rule::of(Effect::Drop) };
        let general = Network { rules: vec![never], ..link.clone().into() };
        prop_assert_eq!(Run::new(link).send_many(200), Run::new(general).send_many(200));
    }

    #[test]
    fn what_is_lost_is_also_lost_with_a_greater_probability_and_nothing_else_changes(
        link in any_link(),
        shares in (0.0..=1.0_f64, 0.0..=1.0_f64),
    ) {
        let (low, high) = (shares.0.min(shares.1), shares.0.max(shares.1));
        let with_drop = |share| Link { drop: probability(share).into(), ..link.clone() };
        let (few, many) = (Run::new(with_drop(low)).send_many(200), Run::new(with_drop(high)).send_many(200));
        for (few, many) in few.into_iter().zip(many) {
            prop_assert!(few == many || many == Fate::Dropped(DropReason::Loss), "{:?}, {:?}", few, many);
        }
    }

    #[test]
    fn one_misfortune_changes_no_other(link in any_link(), share in 0.0..=1.0) {
        let share = probability(share);
        let decide = |link: &Link| {
            let mut run = Run::new(link.clone());
            let packets: Vec<_> = (0..100).map(|_| run.packet("ab", "DAT", 0)).collect();
            packets.iter().map(|packet| run.state.decide(packet)).collect::<Vec<_>>()
        };
        let reorder = Some(Reorder { probability: share, hold: Latency::Constant(MILLI) });
        let others = [
            Link { duplicate: share, ..link.clone() },
            Link { corrupt: share, ..link.clone() },
            Link { reorder, ..link.clone() },
            Link { latency: Latency::Constant(MILLI), ..link.clone() },
        ];
        let decided = decide(&link);
        for (index, other) in others.iter().enumerate() {
            for (mut expect, mut other) in decided.clone().into_iter().zip(decide(other)) {
                // Makes equal what was to change.
                for decision in [&mut expect, &mut other] {
                    decision.is_duplicated &= index != 0;
                    for copy in &mut decision.copies {
                        copy.is_corrupted &= index != 1;
                        copy.is_held_back &= index != 2;
                        if index == 2 {
                            copy.hold = VirtualDuration::ZERO;
                        }
                        if index == 3 {
                            copy.latency = VirtualDuration::ZERO;
                        }
                    }
                }
                prop_assert_eq!(expect, other);
            }
        }
    }
}

#[test]
fn duplicates_and_corruptions_are_kept_with_greater_probabilities() {
    let link = |share| Link { duplicate: probability(share), corrupt: probability(share), ..Link::default() };
    let (few, many) = (Run::new(link(0.2)).send_many(10_000), Run::new(link(0.3)).send_many(10_000));
    let twice = |fate: &Fate| matches!(fate, Fate::Duplicated(..));
    let corrupted = |fate: &Fate| arrivals(&[*fate])[0].is_corrupted;
    assert!(few.iter().zip(&many).all(|(few, many)| !twice(few) || twice(many)));
    assert!(few.iter().zip(&many).all(|(few, many)| !corrupted(few) || corrupted(many)));
    assert!(few.iter().filter(|fate| twice(fate)).count() < many.iter().filter(|fate| twice(fate)).count());
}

#[test]
fn a_fate_depends_on_the_seed_and_the_number_alone() {
    let link = Link { drop: probability(0.5).into(), ..Link::default() };
    let in_order = Run::new(link.clone()).send_many(1_000);
    let mut run = Run::new(link.clone());
    for number in (0..1_000).rev() {
        run.next_draw = number;
        run.now = VirtualTime::from_nanos(number);
        assert_eq!(run.send("dc", "ACK", 7), in_order[number as usize]);
    }
    let mut other_seed = Run::new(link);
    other_seed.state = NetworkState::new(&Network::default(), &[], 8).expect("it is valid");
    assert_ne!(other_seed.send_many(1_000), in_order);
}

#[test]
fn fates_without_a_simulation_are_those_of_its_packets() {
    let chain = GilbertElliott {
        good_to_bad: probability(0.1),
        bad_to_good: probability(0.3),
        drop_good: Probability::ZERO,
        drop_bad: Probability::ONE,
    };
    let bandwidth = Bandwidth { bits_per_second: 8_000_000, queue_packets_max: Some(20) };
    let link = Link { drop: Loss::GilbertElliott(chain), bandwidth: Some(bandwidth), ..Link::default() };
    let names = ["a", "b"].map(str::to_owned);
    let state = NetworkState::new(&link.clone().into(), &names, network_seed(5)).expect("it is valid");
    let mut run = Run { state, next_draw: first_draw("a"), now: VirtualTime::ZERO };
    let mut fates = Fates::new(&link, 5, "a").expect("it is valid");
    let drawn: Vec<Fate> = (0..100).map(|_| fates.draw(VirtualTime::ZERO, 100)).collect();
    assert_eq!(drawn, run.send_many(100));
    assert!(drawn.contains(&Fate::Dropped(DropReason::Loss)));
    assert!(drawn.contains(&Fate::Dropped(DropReason::QueueFull)));
}

#[test]
fn corruption_has_draws_of_its_own_for_each_packet_and_copy() {
    let run = Run::new(Network::default());
    let bits = |number, copy| run.state.corruption_seed(number, copy);
    assert_eq!(bits(1, 0), bits(1, 0));
    assert_ne!(bits(1, 0), bits(1, 1));
    assert_ne!(bits(1, 0), bits(2, 0));
}
