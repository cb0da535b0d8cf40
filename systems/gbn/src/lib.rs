//! Go-back-n: the transfer of a file over a network that loses and duplicates packets, from its opening to its end.
//!
//! The protocol is that of Kurose and Ross, *Computer Networking*, section 3.4.3, as people build it: with a window
//! that grows and shrinks, a packet that opens the transfer, an end mark that closes it, and a limit to how long each
//! side waits for the other. A [`sender`](sender()) cuts a file into segments, keeps a window of packets on their way,
//! and sends all of them again when the oldest is not acknowledged in time. The packet after the last segment is the
//! end mark. A [`receiver`](receiver()) waits for packet 0, takes the packet that comes next, discards every other one,
//! and acknowledges what it has.
//!
//! How the two part: the receiver stays after the end mark and repeats its last acknowledgement, since that may have
//! been lost. The sender, once it has it, says goodbye several times, and one goodbye that arrives lets the receiver
//! leave. Without one it leaves after a silence in which the sender would have tried again many times.
//!
//! What an acknowledgement says is one of two [rules](AcknowledgementRule): the number that is expected next in the
//! system [`Gbn`], the number that was received last in [`GbnLastAck`]. All else is the same.
//!
//! A run passes if both sides return, the sender with all bytes acknowledged and the receiver with all bytes
//! received, the receiver's file then is the sender's, and no assertion of either was broken. Who gives up returns an
//! error, and that is never right within the domain: with its losses, forty tries in a row fail with a probability
//! below 10⁻¹⁷.

mod acknowledgement;
mod configuration;
mod criteria;
mod file;
mod last_received;
mod messages;
mod next_expected;
mod receiver;
mod segments;
mod sender;
#[cfg(feature = "testbed")]
pub mod testbed;
pub mod thesis;
mod window;

use simutant_sim_core::{Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System};

pub use acknowledgement::AcknowledgementRule;
pub use configuration::{BYTES_MAX, PROBABILITY_MAX, SMALL_BYTES_MAX, TestCase};
pub use file::File;
pub use messages::{Acknowledgement, Dat, End, SEGMENT_BYTES, SEQUENCE_NUMBERS, TransferMessage};
pub use receiver::receiver;
pub use sender::sender;

/// The sender gave up: the receiver does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GaveUp;

/// The receiver gave up before all of the file had arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SenderGone {
    /// The sender has said nothing for long.
    Silence,
    /// The sender has said goodbye.
    Goodbye,
}

/// The system with acknowledgements of the number that is expected next.
#[derive(Debug, Clone, Copy)]
pub struct Gbn;

impl System for Gbn {
    const NAME: &'static str = "gbn";

    type TestCase = TestCase;
    type Message = TransferMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn configure(case: &TestCase) -> Simulation<TransferMessage> {
        configuration::configure(case, AcknowledgementRule::NextExpected)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![criteria::ip_1(), criteria::ip_2()]
    }
}

/// The system with acknowledgements of the number that was received last.
#[derive(Debug, Clone, Copy)]
pub struct GbnLastAck;

impl System for GbnLastAck {
    const NAME: &'static str = "gbn-last-ack";

    /// The same inputs on both rules.
    const STREAM: &'static str = Gbn::NAME;

    type TestCase = TestCase;
    type Message = TransferMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn configure(case: &TestCase) -> Simulation<TransferMessage> {
        configuration::configure(case, AcknowledgementRule::LastReceived)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        Gbn::criteria()
    }
}

#[cfg(test)]
mod tests;
