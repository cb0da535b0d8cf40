//! A service that computes greatest common divisors: Rutherford, PhD thesis, appendix B.
//!
//! A [`client`](client()) sends two numbers to a [`server`](server()), and again if no answer comes in time. The server
//! computes by subtraction, which takes time, and remembers the results that were used last.
//!
//! A run passes if every client is told the greatest common divisor and the server keeps its cache small. A
//! client may be told nothing only if the network loses packets.

mod client;
mod configuration;
mod criteria;
mod messages;
mod server;

use simutant_sim_core::{Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System};

pub use client::{NoResponse, client};
pub use configuration::{ClientRequest, TestCase};
pub use messages::{GcdMessage, Request, Response};
pub use server::server;

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct Gcd;

impl System for Gcd {
    const NAME: &'static str = "gcd";

    type TestCase = TestCase;
    type Message = GcdMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn configure(case: &TestCase) -> Simulation<GcdMessage> {
        configuration::configure(case)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![criteria::request_relations(), criteria::environment()]
    }
}

#[cfg(test)]
mod tests;
