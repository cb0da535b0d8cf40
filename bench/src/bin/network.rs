//! What it costs to decide the fate of a packet, for networks of one link.
//!
//! The time of a packet is that of the fastest of nine runs. Run it with
//! `cargo run --release --manifest-path bench/Cargo.toml --bin network`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use simutant_sim_core::network::{Bandwidth, Fate, Fates, GilbertElliott, Reorder};
use simutant_sim_core::{Latency, Link, Loss, Probability, VirtualDuration, VirtualTime};

const REPETITIONS: u64 = 9;
const PACKETS: u64 = 2_000_000;
const MILLI: VirtualDuration = VirtualDuration::from_millis(1);

fn main() {
    let probability = |value| Probability::new(value).expect("a probability");
    let constant = Link::constant(MILLI);
    let uniform = Link { latency: Latency::Uniform { min: MILLI / 2, max: MILLI * 2 }, ..Link::default() };
    let lossy = Link { drop: probability(0.1).into(), duplicate: probability(0.1), ..uniform.clone() };
    let chain = GilbertElliott {
        good_to_bad: probability(0.01),
        bad_to_good: probability(0.2),
        drop_good: Probability::ZERO,
        drop_bad: Probability::ONE,
    };
    let reorder = Some(Reorder { probability: probability(0.1), hold: Latency::Constant(MILLI) });
    let links = [
        ("constant", constant.clone()),
        ("uniform", uniform),
        ("uniform, drop, duplicate", lossy.clone()),
        ("exponential", Link { latency: Latency::Exponential { mean: MILLI, max: None }, ..Link::default() }),
        (
            "normal",
            Link {
                latency: Latency::Normal { mean: MILLI, standard_deviation: MILLI / 10, max: None },
                ..Link::default()
            },
        ),
        ("Pareto", Link { latency: Latency::Pareto { min: MILLI, shape: 1.5, max: None }, ..Link::default() }),
        ("drop, duplicate, reorder, corrupt", Link { reorder, corrupt: probability(0.1), ..lossy }),
        ("Gilbert-Elliott", Link { drop: Loss::GilbertElliott(chain), ..constant.clone() }),
        (
            "bandwidth",
            Link {
                bandwidth: Some(Bandwidth { bits_per_second: 1_000_000_000, queue_packets_max: Some(100) }),
                ..constant
            },
        ),
    ];
    for (name, link) in links {
        let fastest = (1..=REPETITIONS).map(|seed| time(&link, seed)).min().expect("there are runs");
        println!("{name:<34} {:6.1} ns", fastest.as_secs_f64() * 1e9 / PACKETS as f64);
    }
}

/// Returns how long it takes to decide the fates of all packets, of which one is sent each microsecond.
fn time(link: &Link, seed: u64) -> Duration {
    let mut fates = Fates::new(link, seed, "source").expect("the link is valid");
    let start = Instant::now();
    let mut sum = VirtualDuration::ZERO;
    for number in 0..PACKETS {
        match fates.draw(VirtualTime::from_micros(number), black_box(125)) {
            Fate::Dropped(_) => {}
            Fate::Delivered(arrival) | Fate::Duplicated(arrival, _) => sum += arrival.after,
        }
    }
    black_box(sum);
    start.elapsed()
}
