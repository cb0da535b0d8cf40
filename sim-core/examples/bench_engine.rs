//! What components cost over a bare event loop.
//!
//! Each workload runs on std's `BinaryHeap` without components, and then on the engine, one right after the other and
//! nine times; the ratio of the shortest times is printed, since on a shared machine nothing else is comparable. Making the
//! components is not part of the time. Run it with
//! `cargo run --release --package simutant-sim-core --example bench_engine`.
//!
//! - *hold*: components that pause for random times, a thousand or a hundred thousand of them; the unit is a pause.
//! - *ping*: two components that send a message to and fro, every receive under a timeout that never fires; the unit is a
//!   message. The bare loop leaves its dead timers in the heap until they come up.
//! - *trace off*: ping on the engine against ping with a recorded trace, to show that the trace is only paid for on demand.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use simutant_sim_core::{
    Address, Context, Latency, Limits, Link, Message, Network, Random, Simulation, Verdict, VirtualDuration,
};

const REPETITIONS: u64 = 7;
const PAUSES: u64 = 2_000_000;
const MESSAGES: u64 = 2_000_000;
const RECORDED_MESSAGES: u64 = 200_000;
const LATENCY_MIN_NS: u64 = 500_000;
const LATENCY_MAX_NS: u64 = 1_500_000;
const TIMEOUT_NS: u64 = 10_000_000;

fn main() {
    for count in [1_000, 100_000] {
        report(&format!("hold {count:>7}"), PAUSES, |seed| bare_hold(seed, count), |seed| engine_hold(seed, count));
    }
    report("ping        ", MESSAGES, bare_ping, |seed| engine_ping(seed, MESSAGES, false));
    report(
        "trace v none",
        RECORDED_MESSAGES,
        |seed| engine_ping(seed, RECORDED_MESSAGES, false),
        |seed| engine_ping(seed, RECORDED_MESSAGES, true),
    );
}

/// Prints the time of a unit in both, and the ratio.
fn report(name: &str, units: u64, bare: impl Fn(u64) -> Duration, engine: impl Fn(u64) -> Duration) {
    let (mut bare_time, mut engine_time) = (Duration::MAX, Duration::MAX);
    for seed in 1..=REPETITIONS {
        bare_time = bare_time.min(bare(seed));
        engine_time = engine_time.min(engine(seed));
    }
    let nanos = |time: Duration| time.as_secs_f64() * 1e9 / units as f64;
    let (bare, engine) = (nanos(bare_time), nanos(engine_time));
    println!("{name}  base {bare:6.1} ns  engine {engine:6.1} ns  ratio {:.2}", engine / bare);
}

fn time<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = run();
    (result, start.elapsed())
}

/// An exponentially distributed time with a mean of one second.
fn exponential_ns(random: &mut Random) -> u64 {
    (-(1.0 - random.unit()).ln() * 1e9) as u64
}

fn bare_hold(seed: u64, count: u32) -> Duration {
    let mut random = Random::from_seed(seed);
    let mut heap = BinaryHeap::new();
    let mut sequence = 0_u64;
    for component in 0..count {
        heap.push(Reverse((exponential_ns(&mut random), sequence, component)));
        sequence += 1;
    }
    let ((), duration) = time(|| {
        for _ in 0..PAUSES {
            let Reverse((now, _, component)) = heap.pop().expect("every component waits");
            heap.push(Reverse((now + exponential_ns(&mut random), sequence, component)));
            sequence += 1;
        }
    });
    black_box(heap);
    duration
}

fn engine_hold(seed: u64, count: u32) -> Duration {
    let mut simulation = Simulation::<Ball>::new(seed);
    // Beside the pauses there is a start of each component.
    simulation.limits(Limits { events: PAUSES + u64::from(count), ..Limits::default() });
    for component in 0..count {
        simulation.add(&component.to_string(), |mut context| async move {
            loop {
                let wait = VirtualDuration::from_nanos(exponential_ns(context.random()));
                context.pause(wait).await;
            }
        });
    }
    let (report, duration) = time(|| simulation.run());
    assert!(matches!(report.verdict, Verdict::NotTerminated(_)), "{}", report.verdict);
    duration
}

#[derive(Debug, Clone, Hash)]
struct Ball(u64);

impl Message for Ball {
    fn kind(&self) -> &'static str {
        "BALL"
    }
}

fn bare_ping(seed: u64) -> Duration {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum Event {
        Arrival { player: usize, ball: u64 },
        Timeout { player: usize, receive: u64 },
    }
    let mut random = Random::from_seed(seed);
    let mut heap = BinaryHeap::new();
    let mut receives = [0_u64; 2];
    let mut sequence = 0_u64;
    let mut push = |heap: &mut BinaryHeap<_>, time: u64, event: Event| {
        heap.push(Reverse((time, sequence, event)));
        sequence += 1;
    };
    push(&mut heap, random.uniform(LATENCY_MIN_NS..=LATENCY_MAX_NS), Event::Arrival { player: 0, ball: 1 });
    let ((), duration) = time(|| {
        while let Some(Reverse((now, _, event))) = heap.pop() {
            match event {
                Event::Arrival { player, ball } => {
                    receives[player] += 1;
                    if ball == MESSAGES {
                        break;
                    }
                    let arrival = now + random.uniform(LATENCY_MIN_NS..=LATENCY_MAX_NS);
                    push(&mut heap, arrival, Event::Arrival { player: 1 - player, ball: ball + 1 });
                    push(&mut heap, now + TIMEOUT_NS, Event::Timeout { player, receive: receives[player] });
                }
                Event::Timeout { player, receive } => assert!(receive < receives[player], "no timeout is due"),
            }
        }
    });
    assert_eq!(receives.iter().sum::<u64>(), MESSAGES);
    duration
}

fn engine_ping(seed: u64, messages: u64, is_recorded: bool) -> Duration {
    let mut simulation = Simulation::new(seed);
    let (min, max) = (VirtualDuration::from_nanos(LATENCY_MIN_NS), VirtualDuration::from_nanos(LATENCY_MAX_NS));
    simulation.network(Network::from(Link { latency: Latency::Uniform { min, max }, ..Link::default() }));
    if is_recorded {
        simulation.record_trace();
    }
    let (first, second) = (simulation.address("first", 1), simulation.address("second", 1));
    simulation.add("first", move |context| player(context, second, Some(Ball(1)), messages));
    simulation.add("second", move |context| player(context, first, None, messages));
    let (report, duration) = time(|| simulation.run());
    assert!(report.verdict.is_reasonable(), "{}", report.verdict);
    black_box(report);
    duration
}

async fn player(context: Context<Ball>, other: Address, served: Option<Ball>, messages: u64) {
    let mut channel = context.channel_at(1);
    if let Some(ball) = served {
        channel.send(other, ball);
    }
    while let Ok(delivery) = channel.recv_timeout(VirtualDuration::from_nanos(TIMEOUT_NS)).await {
        if delivery.message.0 == messages {
            break;
        }
        channel.send(other, Ball(delivery.message.0 + 1));
    }
}
