//! What every model of the engine benchmark shares: the task, its random numbers, the clock, the result.
//!
//! Each engine is a program of its own, which does one task and prints one line of JSON:
//!
//! ```text
//! simutant hold 1000 10 2000000 1
//!          |    |    |  |       seed
//!          |    |    |  units that are asked for
//!          |    |    timeout of a receive in milliseconds (ping only)
//!          |    components, or pairs of them
//!          workload
//! ```
//!
//! # Workloads
//!
//! - **hold**: `n` components that sleep for exponentially distributed times with a mean of one second. A unit is a
//!   wake-up. The run goes on for as long as `units` wake-ups take on average.
//! - **ping**: `n` pairs of components that throw one datagram to and fro. It is 0.5 to 1.5 ms on its way, each time
//!   equally likely, and every receive is under a timeout that never comes. A unit is a delivery. The run goes on for
//!   as long as `units` deliveries take on average.
//! - **ping-lossy**: ping over a network that loses one datagram of a hundred, for the same virtual time; who threw
//!   first throws again after a timeout.
//! - **mm1**: one component hands `units` customers to another through a queue, 0.9 of them a second; the other serves
//!   one after the other, 1 s each on average, both exponentially distributed. A unit is a customer. They stay for 10 s
//!   on average.
//!
//! Nothing is judged here: what `cargo xtask bench engine` reads, it checks against these numbers.

use std::cell::Cell;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The shortest time that a datagram is on its way.
pub const LATENCY_MIN_NS: u64 = 500_000;
/// The longest time that a datagram is on its way.
pub const LATENCY_MAX_NS: u64 = 1_500_000;
/// The probability of a loss in [`Workload::PingLossy`].
pub const DROP: f64 = 0.01;
/// Customers a second.
pub const ARRIVAL_RATE: f64 = 0.9;
const SECOND_NS: f64 = 1e9;
const LATENCY_MEAN_NS: u64 = 1_000_000;

/// What a program is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The workload.
    pub workload: Workload,
    /// How many components, or pairs of them.
    pub n: u32,
    /// The timeout of a receive.
    pub timeout_ns: u64,
    /// How many units are asked for.
    pub units: u64,
    /// What fixes the random numbers.
    pub seed: u64,
}

/// What is simulated; the [crate's page](crate) says it in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Components that sleep.
    Hold,
    /// Pairs that throw a datagram to and fro.
    Ping,
    /// The same, with loss.
    PingLossy,
    /// Customers, a queue, and a server.
    Mm1,
}

/// What a model did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// User and system time of the loop.
    pub cpu: Duration,
    /// How many units were done.
    pub units: u64,
    /// How many receives timed out.
    pub timeouts: u64,
    /// Where the virtual clock stood at the end.
    pub virtual_ns: u64,
    /// The mean time that a customer stayed, if there were customers.
    pub stay_ns: Option<f64>,
}

impl Task {
    /// Returns the instant at which hold and ping end.
    pub fn horizon_ns(self) -> u64 {
        let unit_ns = match self.workload {
            Workload::Hold => SECOND_NS as u64,
            Workload::Ping | Workload::PingLossy => LATENCY_MEAN_NS,
            Workload::Mm1 => panic!("mm1 ends when the last customer leaves"),
        };
        self.units * unit_ns / u64::from(self.n)
    }
}

/// Reads the task from the command line, does it, and prints what came of it; `model` returns `None` for what its
/// engine cannot express.
pub fn run(model: impl FnOnce(Task) -> Option<Outcome>) -> ExitCode {
    let Some(task) = parse(std::env::args().skip(1)) else {
        complain("usage: ENGINE hold|ping|ping-lossy|mm1 N TIMEOUT_MS UNITS SEED");
        return ExitCode::from(2);
    };
    let Some(outcome) = model(task) else {
        complain("this engine has no model of this workload");
        return ExitCode::from(3);
    };
    let Outcome { cpu, units, timeouts, virtual_ns, stay_ns } = outcome;
    let cpu_ns = cpu.as_nanos();
    let virtual_s = virtual_ns as f64 / SECOND_NS;
    let stay_s = stay_ns.map_or_else(|| "null".to_owned(), |stay_ns| (stay_ns / SECOND_NS).to_string());
    let rss_bytes = peak_memory().map_or_else(|| "null".to_owned(), |bytes| bytes.to_string());
    #[expect(clippy::print_stdout, reason = "this is the program's result")]
    {
        println!(
            r#"{{"cpu_ns":{cpu_ns},"units":{units},"timeouts":{timeouts},"virtual_s":{virtual_s},"stay_s":{stay_s},"rss_bytes":{rss_bytes}}}"#
        );
    }
    ExitCode::SUCCESS
}

fn complain(text: &str) {
    #[expect(clippy::print_stderr, reason = "there is no other way to complain")]
    {
        eprintln!("{text}");
    }
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Task> {
    let workload = match arguments.next()?.as_str() {
        "hold" => Workload::Hold,
        "ping" => Workload::Ping,
        "ping-lossy" => Workload::PingLossy,
        "mm1" => Workload::Mm1,
        _ => return None,
    };
    let n = arguments.next()?.parse().ok().filter(|&n| n > 0)?;
    let timeout_ms: u64 = arguments.next()?.parse().ok()?;
    let units = arguments.next()?.parse().ok()?;
    let seed = arguments.next()?.parse().ok()?;
    arguments.next().is_none().then_some(Task { workload, n, timeout_ns: timeout_ms * 1_000_000, units, seed })
}

/// Returns what `body` returns, and the user and system time of this process that it took.
pub fn timed<T>(body: impl FnOnce() -> T) -> (T, Duration) {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).expect("a second has 1e9 nanoseconds"))
    };
    let start = now();
    let result = body();
    (result, now() - start)
}

/// Returns the most memory that this process had, in bytes; `None` where the system has no `/proc`.
///
/// `getrusage` would not do: what it says begins with the memory of the process that started this one.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// A counter that components of one thread share.
#[derive(Debug, Clone, Default)]
pub struct Counter(Rc<Cell<u64>>);

impl Counter {
    /// Adds to the counter.
    pub fn add(&self, count: u64) {
        self.0.set(self.0.get() + count);
    }

    /// Returns the sum.
    pub fn get(&self) -> u64 {
        self.0.get()
    }
}

/// xoshiro256++ (Blackman and Vigna), seeded through SplitMix64: what all models draw from but Simutant's, whose own
/// streams are the same generator.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "nexosim", derive(serde::Serialize, serde::Deserialize))]
pub struct Random([u64; 4]);

impl Random {
    /// Returns the stream of a seed.
    pub fn new(mut seed: u64) -> Self {
        Self(std::array::from_fn(|_| {
            seed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        }))
    }

    /// Returns one of many streams, for engines whose components cannot share one.
    pub fn stream(seed: u64, index: u64) -> Self {
        Self::new(Self::new(seed).bits() ^ index.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    #[inline]
    fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// Returns a number in `[0, 1)`.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Returns an exponentially distributed time with a mean of `mean_s` seconds.
    #[inline]
    pub fn exponential_ns(&mut self, mean_s: f64) -> u64 {
        exponential_ns(self.unit(), mean_s)
    }

    /// Returns how long a datagram is on its way.
    #[inline]
    pub fn latency_ns(&mut self) -> u64 {
        let count = u128::from(LATENCY_MAX_NS - LATENCY_MIN_NS + 1);
        LATENCY_MIN_NS + ((u128::from(self.bits()) * count) >> 64) as u64
    }
}

/// Returns the exponentially distributed time that a number in `[0, 1)` stands for.
#[inline]
pub fn exponential_ns(unit: f64, mean_s: f64) -> u64 {
    (-(1.0 - unit).ln() * mean_s * SECOND_NS) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xoshiro_draws_the_published_numbers() {
        // The first numbers of the reference implementation, as rand_xoshiro's own test has them.
        let mut random = Random([1, 2, 3, 4]);
        let drawn: [u64; 4] = std::array::from_fn(|_| random.bits());
        assert_eq!(drawn, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn times_have_their_means() {
        let mut random = Random::new(1);
        let mut mean = |draw: fn(&mut Random) -> u64| (0..100_000).map(|_| draw(&mut random) as f64).sum::<f64>() / 1e5;
        let exponential = mean(|random| random.exponential_ns(1.0));
        assert!((exponential / 1e9 - 1.0).abs() < 4.0 / 1e5_f64.sqrt(), "{exponential}");
        let latency = mean(|random| random.latency_ns());
        assert!((latency / 1e6 - 1.0).abs() < 4.0 * 0.289 / 1e5_f64.sqrt(), "{latency}");
    }

    #[test]
    fn a_task_is_read_whole_or_not_at_all() {
        let parse = |line: &str| parse(line.split(' ').map(str::to_owned));
        let task = Task { workload: Workload::PingLossy, n: 3, timeout_ns: 10_000_000, units: 9, seed: 5 };
        assert_eq!(parse("ping-lossy 3 10 9 5"), Some(task));
        for line in ["ping 3 10 9", "ping 3 10 9 5 7", "pong 3 10 9 5", "ping 0 10 9 5", "ping 3 x 9 5"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
