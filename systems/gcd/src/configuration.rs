//! The configuration of the service: test cases, their domain, and the oracle.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_sim_core::{CheckFailure, Link, Probability, Random, Returned, Simulation, VirtualDuration, VirtualTime};
use simutant_system::{Domain, InvalidTestCase, Lengths, Probabilities};

use super::{GcdMessage, NoResponse, client, server};

/// The greatest number that a client asks for. By subtraction, two numbers up to `n` take at most `n` steps.
pub(super) const NUMBER_MAX: u32 = 8;

/// The most clients.
pub(super) const REQUESTS_MAX: usize = 6;

/// The largest cache.
pub(super) const CACHE_SIZE_MAX: usize = 10;

/// The largest cache that is drawn: small enough that some clients find it full.
const CACHE_SIZE_SAMPLED_MAX: usize = 4;

/// The slowest network. With it, the 8 subtractions of 100 ms and both ways take 1.2 s: less than the 1.5 s that a
/// client waits in all.
pub(super) const LATENCY_MAX: VirtualDuration = VirtualDuration::from_millis(200);

/// The least time from one client's start to the next one's: by then, the server is done with the client before, even
/// if only the last of its requests (sent after 1 s, on its way for 0.2 s, computed in 0.8 s) arrived.
const START_GAP_MIN: VirtualDuration = VirtualDuration::from_secs(2);

/// The longest time between two clients' starts that is drawn.
const START_GAP_SAMPLED_MAX: VirtualDuration = VirtualDuration::from_secs(5);

/// The greatest probability of a loss, and of a duplication.
pub(super) const PROBABILITY_MAX: f64 = 0.20;

const REQUESTS: Lengths = Lengths(1..=REQUESTS_MAX);
const NUMBERS: RangeInclusive<u32> = 1..=NUMBER_MAX;
const CACHE_SIZES: RangeInclusive<usize> = 1..=CACHE_SIZE_MAX;
const LATENCIES: RangeInclusive<VirtualDuration> = VirtualDuration::ZERO..=LATENCY_MAX;
const PROBABILITIES: Probabilities = Probabilities::up_to(PROBABILITY_MAX);

const SERVER_PORT: u16 = 1_234;

/// An input vector of the service.
///
/// Clients are so far apart that each finds the server idle: on a network that loses nothing, every client must get its
/// answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// What each client asks for, and when: from 1 to 6 of them.
    pub requests: Vec<ClientRequest>,
    /// How many results the server remembers: from 1 to 10.
    pub cache_size: usize,
    /// How long every packet is on its way, in nanoseconds: at most 200 ms.
    #[serde(rename = "latency_ns")]
    pub latency: VirtualDuration,
    /// The probability that a packet is lost: at most 0.2.
    pub drop: Probability,
    /// The probability that a packet which is not lost arrives twice: at most 0.2.
    pub duplicate: Probability,
    /// Fixes which packets are lost and duplicated.
    pub seed: u64,
}

/// What one client asks for, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientRequest {
    /// One number: from 1 to 8.
    pub a: u32,
    /// The other number: from 1 to 8.
    pub b: u32,
    /// When the client starts, in nanoseconds: at least 2 s after the client before.
    #[serde(rename = "start_ns")]
    pub start: VirtualTime,
}

impl TestCase {
    /// Two clients with different numbers (`ClientPairTest_A` of Rutherford, PhD thesis, figure 3.5).
    pub fn client_pair_a() -> Self {
        Self::reliable(10, &[(3, 5), (2, 4)])
    }

    /// Two clients with the same numbers in the same order (`ClientPairTest_B`).
    pub fn client_pair_b() -> Self {
        Self::reliable(10, &[(3, 5), (3, 5)])
    }

    /// Two clients with the same numbers in different orders (`ClientPairTest_C`).
    pub fn client_pair_c() -> Self {
        Self::reliable(10, &[(3, 5), (5, 3)])
    }

    /// Three clients and a cache of one result (`CacheTest` of Rutherford, PhD thesis, figure B.5, with a latency of
    /// 0.1 s).
    pub fn cache_test() -> Self {
        Self::reliable(1, &[(3, 5), (5, 3), (2, 4)])
    }

    /// Returns a test case with a client every five seconds and a network that takes 0.1 s and loses nothing.
    fn reliable(cache_size: usize, numbers: &[(u32, u32)]) -> Self {
        let starts = (0..).map(|index| VirtualTime::from_secs(5 * index));
        Self {
            requests: numbers.iter().zip(starts).map(|(&(a, b), start)| ClientRequest { a, b, start }).collect(),
            cache_size,
            latency: VirtualDuration::from_millis(100),
            drop: Probability::ZERO,
            duplicate: Probability::ZERO,
            seed: 0,
        }
    }

    pub(super) fn sample(random: &mut Random) -> Self {
        let mut start = VirtualTime::ZERO;
        let requests = (0..REQUESTS.draw(random)).map(|_| {
            let request = ClientRequest { a: NUMBERS.draw(random), b: NUMBERS.draw(random), start };
            start += (START_GAP_MIN..=START_GAP_SAMPLED_MAX).draw(random);
            request
        });
        let requests = requests.collect();
        let cache_size = random.uniform(1..=CACHE_SIZE_SAMPLED_MAX);
        let latency = LATENCIES.draw(random);
        // One network in four loses nothing, so that the oracle is strict for many cases.
        let is_reliable = random.uniform(0..4_u8) == 0;
        let drop = if is_reliable { Probability::ZERO } else { PROBABILITIES.draw(random) };
        let duplicate = PROBABILITIES.draw(random);
        Self { requests, cache_size, latency, drop, duplicate, seed: random.bits() }
    }

    pub(super) fn validate(&self) -> Result<(), InvalidTestCase> {
        REQUESTS.check("requests", &self.requests.len())?;
        let mut start_min = VirtualTime::ZERO;
        for (index, request) in self.requests.iter().enumerate() {
            let field = |name| format!("requests[{index}].{name}");
            NUMBERS.check(field("a"), &request.a)?;
            NUMBERS.check(field("b"), &request.b)?;
            if request.start < start_min {
                let allowed = format!("at least {}, in nanoseconds", start_min.as_nanos());
                return Err(InvalidTestCase::new(field("start_ns"), request.start.as_nanos(), allowed));
            }
            start_min = request.start + START_GAP_MIN;
        }
        CACHE_SIZES.check("cache_size", &self.cache_size)?;
        LATENCIES.check("latency_ns", &self.latency)?;
        PROBABILITIES.check("drop", &self.drop)?;
        PROBABILITIES.check("duplicate", &self.duplicate)
    }
}

pub(super) fn configure(case: &TestCase) -> Simulation<GcdMessage> {
    let &TestCase { ref requests, cache_size, latency, drop, duplicate, seed } = case;
    let mut simulation = Simulation::new(seed);
    simulation.network(Link { drop: drop.into(), duplicate, ..Link::constant(latency) });
    simulation.add("server", |context| server(context, SERVER_PORT, cache_size));
    let to = simulation.address("server", SERVER_PORT);
    for (index, &ClientRequest { a, b, start }) in requests.iter().enumerate() {
        let name = format!("c{}", index + 1);
        let gcd = greatest_common_divisor(a, b);
        let client = simulation.add(&name, |context| client(context, to, a, b)).starting_at(start);
        if drop == Probability::ZERO {
            client.expecting(Ok(gcd));
        } else {
            let returned = client.returned();
            simulation.check(&format!("{name} got the right answer or none"), move || check_answer(&returned, gcd));
        }
    }
    simulation
}

fn check_answer(returned: &Returned<Result<u32, NoResponse>>, gcd: u32) -> Result<(), CheckFailure> {
    match returned.get().as_deref() {
        Some(&Ok(answer)) if answer == gcd => Ok(()),
        Some(Err(NoResponse)) => Ok(()),
        Some(Ok(answer)) => Err(CheckFailure::new(format!("the answer was {answer}, but {gcd} is right"))),
        None => Err(CheckFailure::new("the client did not return")),
    }
}

/// Euclid's algorithm by division, so that the oracle is not what it judges.
pub(super) fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
