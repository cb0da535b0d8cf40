//! The sender refuses acknowledgements of packets that it has not sent since its last timeout.
//!
//! "Nobody can acknowledge what was not sent" is a sensible check, but after going back the counter of what was sent
//! has gone back too, while the receiver has not. If it already has everything that is sent again, the sender refuses
//! every answer. Shows when the acknowledgements of all packets in flight are lost.

use crate::gbn::behaviour::{Behaviour, Progress};

#[derive(Debug)]
pub(super) struct RefusesEarlyAcknowledgements;

impl Behaviour for RefusesEarlyAcknowledgements {
    fn acknowledges(&self, progress: &Progress, next_expected: u32) -> bool {
        progress.base < next_expected && next_expected <= progress.next
    }
}
