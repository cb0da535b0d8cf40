//! Go-back-n as the thesis has it: a transfer that has neither an opening nor an end.
//!
//! This is the system whose figures stand beside those of the thesis; what people build is `gbn`.
//!
//! The protocol is that of Kurose and Ross, *Computer Networking*, section 3.4.3, with a window that grows and shrinks;
//! the configuration is that of Rutherford, PhD thesis, section 4.1.1. A [`sender`](sender()) cuts a file into
//! segments, keeps a window of them on their way, and sends all of them again when the oldest is not acknowledged in
//! time. A [`receiver`](receiver()) appends the segment that comes next, discards every other one, and acknowledges
//! what it has.
//!
//! A run passes if the sender returns with all bytes acknowledged, the receiver's file then is the sender's, and
//! no assertion of either was broken. Nobody gives up: a transfer that does not end runs into the limits of the
//! simulation.

mod configuration;
mod criteria;
mod messages;
mod receiver;
mod sender;

use simutant_sim_core::{Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System};

pub use crate::file::File;
pub use configuration::{BYTES_MAX, PROBABILITY_MAX, TestCase};
pub use messages::{Ack, Dat, GbnMessage, SEGMENT_BYTES, SEQUENCE_NUMBERS};
pub use receiver::receiver;
pub use sender::sender;

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct GbnThesis;

impl System for GbnThesis {
    const NAME: &'static str = "gbn-thesis";

    /// Its universes are those that `gbn` had when it was this system.
    const STREAM: &'static str = "gbn";

    type TestCase = TestCase;
    type Message = GbnMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn configure(case: &TestCase) -> Simulation<GbnMessage> {
        configuration::configure(case)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![criteria::ip_1(), criteria::ip_2()]
    }
}

#[cfg(test)]
mod tests;
