//! The simulation of a client and a server on a network that loses and duplicates packets.
//!
//! This is a template to change. The protocol is in [`protocol`]: that file is the specification,
//! of which mutants are made. The rest is here: what a test case is, how components and network are
//! put together, what must hold in the end (the oracle), and a criterion.
//!
//! To make it yours, put your own messages and components into the protocol's file, or, if they are
//! in a crate of their own, name its files in Cargo.toml:
//!
//! ```toml
//! [package.metadata.simutant.systems.%NAME%.dependencies]
//! your-protocol = ["src/*.rs"]
//! ```
//!
//! Then go through this file from top to bottom: the fields of the test case, the ranges that they
//! are drawn from, `configure`, and the criteria.
//!
//! `implementations/%NAME%-python.toml` says how test cases run on a real implementation.

pub mod protocol;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_sim_core::trace::{Action, TraceEvent};
use simutant_sim_core::{
    CheckFailure, Link, Probability, Random, Returned, Simulation, VirtualDuration,
};
use simutant_system::{BlackBoxCriterion, Domain, InvalidTestCase, Lengths, Probabilities, System};

use self::protocol::{PORT, SumMessage, TIMEOUT};

/// How many amounts the client has.
const COUNTS: Lengths = Lengths(1..=8);

/// How large they are.
const AMOUNTS: RangeInclusive<u64> = 0..=100;

/// How long packets are on their way, in nanoseconds: an answer may well come after the client has asked again.
const LATENCIES_NS: RangeInclusive<u64> = 0..=80_000_000;

/// How likely a packet is lost, and how likely it is duplicated.
const PROBABILITIES: Probabilities = Probabilities::up_to(0.3);

/// How often a client must ask before it gives up. The oracle has a number of its own: mutants change the protocol's.
const TRIES_MIN: usize = 5;

/// The system: its name, and what the rest of Simutant knows of it.
#[derive(Debug, Clone, Copy)]
pub struct %TYPE%;

/// A test case: all that a run depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// What the client has added up: from 1 to 8 amounts of at most 100.
    pub amounts: Vec<u64>,
    /// How long every packet is on its way, in nanoseconds: at most 80 ms.
    pub latency_ns: u64,
    /// The probability that a packet is lost: at most 0.3.
    pub drop: Probability,
    /// The probability that a packet which is not lost arrives twice: at most 0.3.
    pub duplicate: Probability,
    /// Fixes which packets are lost and duplicated.
    pub seed: u64,
}

impl System for %TYPE% {
    const NAME: &'static str = "%NAME%";

    // How many test cases a study has by default.
    const UNIVERSE: usize = 1_000;

    type TestCase = TestCase;
    type Message = SumMessage;

    // Draws a test case. Small values and zeros should be drawn often: special cases are there.
    fn sample(random: &mut Random) -> TestCase {
        let amounts = (0..COUNTS.draw(random))
            .map(|_| AMOUNTS.draw(random))
            .collect();
        let latency_ns = LATENCIES_NS.draw(random);
        // One network in three loses nothing, so that the oracle is strict for many cases.
        let is_reliable = random.uniform(0..3_u8) == 0;
        let drop = if is_reliable {
            Probability::ZERO
        } else {
            PROBABILITIES.draw(random)
        };
        let duplicate = PROBABILITIES.draw(random);
        TestCase {
            amounts,
            latency_ns,
            drop,
            duplicate,
            seed: random.bits(),
        }
    }

    // Draws anew what is chance, and no part of what a real program is given. A study finds out by this how likely a
    // test case kills a mutant.
    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase {
            seed: random.bits(),
            ..case.clone()
        }
    }

    // Refuses what is not in the domain: people write test cases, too.
    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        COUNTS.check("amounts", &case.amounts.len())?;
        for (index, amount) in case.amounts.iter().enumerate() {
            AMOUNTS.check(format!("amounts[{}]", index), amount)?;
        }
        LATENCIES_NS.check("latency_ns", &case.latency_ns)?;
        PROBABILITIES.check("drop", &case.drop)?;
        PROBABILITIES.check("duplicate", &case.duplicate)
    }

    // Puts components and network together, and says what must hold.
    fn configure(case: &TestCase) -> Simulation<SumMessage> {
        let mut simulation = Simulation::new(case.seed);
        simulation.network(Link {
            drop: case.drop.into(),
            duplicate: case.duplicate,
            ..Link::constant(VirtualDuration::from_nanos(case.latency_ns))
        });
        simulation.add("server", protocol::server);
        let server = simulation.address("server", PORT);
        let amounts = case.amounts.clone();
        let sum: u64 = amounts.iter().sum();
        let client = simulation.add("client", |context| {
            protocol::client(context, server, amounts)
        });
        if case.drop == Probability::ZERO {
            client.expecting(Some(sum));
        } else {
            let returned = client.returned();
            simulation.check_trace(
                "the client was told the right sum, or asked often for nothing",
                move |trace| check_sum(&returned, sum, trace),
            );
        }
        simulation
    }

    // What the test cases themselves should cover, besides the code of the specification.
    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![sizes_and_losses()]
    }
}

/// The oracle of networks that lose packets. Safety must hold on them, too, and a client must not give up early: that
/// only the trace shows.
fn check_sum(
    returned: &Returned<Option<u64>>,
    sum: u64,
    trace: &[TraceEvent],
) -> Result<(), CheckFailure> {
    match returned.get().as_deref() {
        Some(None) => check_tries(trace),
        Some(Some(told)) if *told == sum => Ok(()),
        Some(Some(told)) => Err(CheckFailure::new(format!(
            "the sum was {}, but {} is right",
            told, sum
        ))),
        None => Err(CheckFailure::new("the client did not return")),
    }
}

/// Checks that what the client asked last it asked often enough.
fn check_tries(trace: &[TraceEvent]) -> Result<(), CheckFailure> {
    let asked = trace.iter().filter_map(|event| match &event.action {
        Action::Sent(packet) if packet.kind == "ADD" => Some(&packet.message),
        _ => None,
    });
    let asked: Vec<&String> = asked.collect();
    let tries = asked
        .iter()
        .rev()
        .take_while(|message| asked.last() == Some(message))
        .count();
    if tries < TRIES_MIN {
        return Err(CheckFailure::new(format!(
            "the client gave up after {} tries, and {} are asked for",
            tries, TRIES_MIN
        )));
    }
    Ok(())
}

/// Partitions of what a test case says, each field apart from the others.
fn sizes_and_losses() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "one amount",
        "two to four amounts",
        "more than four amounts",
        "answers within the timeout",
        "answers after the timeout",
        "nothing lost",
        "something lost",
        "something duplicated",
    ];
    BlackBoxCriterion {
        name: "sizes-and-losses",
        requirements: requirements.iter().map(|label| label.to_string()).collect(),
        quotas: Vec::new(),
        covered: |case| {
            let count = case.amounts.len();
            let both_ways = 2 * case.latency_ns;
            let holds = [
                count == 1,
                (2..=4).contains(&count),
                count > 4,
                both_ways <= TIMEOUT.as_nanos(),
                both_ways > TIMEOUT.as_nanos(),
                case.drop == Probability::ZERO,
                case.drop != Probability::ZERO,
                case.duplicate != Probability::ZERO,
            ];
            (0..holds.len())
                .filter(|requirement| holds[*requirement])
                .collect()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_cases_are_valid_and_pass() {
        for index in 0..500 {
            let case = simutant_system::universe::<%TYPE%>(1, index);
            assert_eq!(%TYPE%::validate(&case), Ok(()));
            let ended = %TYPE%::configure(&case).run().ended;
            assert!(ended.passed(), "{:?}: {}", case, ended);
        }
    }

    #[test]
    fn a_case_outside_the_domain_is_refused_by_name() {
        let mut case = simutant_system::universe::<%TYPE%>(1, 0);
        case.amounts.clear();
        let refused = %TYPE%::validate(&case)
            .expect_err("there are no amounts")
            .to_string();
        assert_eq!(
            refused,
            "amounts is a list of 0: it must be a list of 1 to 8"
        );
    }
}
