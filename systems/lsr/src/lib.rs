//! Link-state routing: routers that tell each other their links, and forward messages along the shortest paths.
//!
//! The configuration is that of Rutherford, PhD thesis, section 4.1.2. A [`router`](router()) greets its neighbours,
//! announces the links over which it was greeted, and floods what others announce, so that every router knows the whole
//! network; Dijkstra's algorithm makes a forwarding table of that. [`client`](client())s publish messages, to which the
//! routers on the way add the costs of the links.
//!
//! A run passes if every router delivered the messages for it, each once and at the cost of the shortest path,
//! and no assertion of a router was broken. The network neither loses nor duplicates packets, as in the thesis; other
//! than there, it takes a time of its own for each, and routers do not start at once, so announcements overtake each
//! other.

mod client;
mod configuration;
mod criteria;
mod dijkstra;
mod forwarding;
mod inbox;
mod link_state;
mod messages;
mod router;
#[cfg(feature = "testbed")]
#[expect(clippy::disallowed_methods, reason = "real programs take real time")]
pub mod testbed;
mod topology;

use simutant_sim_core::{Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System};

pub use client::client;
pub use configuration::{CLIENT_GAP, RouterPair, TestCase};
pub use inbox::Inbox;
pub use messages::{Announcement, Hello, Link, LsrMessage, Publication, RouterId};
pub use router::{Neighbour, router};
pub use topology::Topology;

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct Lsr;

impl System for Lsr {
    const NAME: &'static str = "lsr";

    /// A thousand for each topology.
    const UNIVERSE: usize = 7_000;

    type TestCase = TestCase;
    type Message = LsrMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        case.reseed(random)
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn configure(case: &TestCase) -> Simulation<LsrMessage> {
        configuration::configure(case)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![criteria::quartet(), criteria::pair_50()]
    }
}

#[cfg(test)]
mod tests;
