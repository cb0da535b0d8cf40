//! Mistakes with the first packets of a transfer.

use crate::behaviour::{Arrival, Behaviour, Correct, Progress};

/// The receiver takes the first packet that arrives for the first packet of the file.
///
/// TCP's receiver learns the first sequence number from the sender, so it looks right to learn it here too: but what
/// arrives first need not be what was sent first. Shows when the very first packet is lost and a later one of the
/// first window is not.
#[derive(Debug)]
pub(super) struct LearnsFirstNumber;

impl Behaviour for LearnsFirstNumber {
    fn first_expected(&self, first_arrived: u32) -> u32 {
        first_arrived
    }
}

/// The receiver acknowledges packet 0 before it has arrived.
///
/// What was received last is a number that is 0 at the start, as if packet 0 had been received. Shows when the first
/// packet is lost and a later one is answered. Seen in: QUIC's loss recovery, where the largest acknowledged packet was
/// initialised to 0, a packet number (quicwg/base-drafts#2611).
#[derive(Debug)]
pub(super) struct AcknowledgesPacketZero;

impl Behaviour for AcknowledgesPacketZero {
    fn answers(&self, _arrival: &Arrival, next_expected: u32) -> Option<u32> {
        let last_received = next_expected.saturating_sub(1);
        Some(last_received + 1)
    }
}

/// The sender gives up when the second try to open the transfer times out.
///
/// A receiver that does not answer two calls is not there. But two calls may be lost. Shows when two tries to open are,
/// with their answers. Seen in: enet, whose connection packet was sent once (lsalzman/enet#14); ethereum/utp#104, where
/// three attempts to connect were too few.
#[derive(Debug)]
pub(super) struct OpensTwice;

impl Behaviour for OpensTwice {
    fn gives_up(&self, progress: &Progress) -> bool {
        progress.base == 0 && progress.timeouts_in_a_row >= 2
    }
}

/// The receiver begins anew with packet 0 until packet 1 has come.
///
/// Packet 0 opens the transfer, and the state after it is still that of the opening. But packet 0 may arrive twice. Shows
/// when it does, before packet 1. Seen in: an exercise of Peterson and Davie's *Computer Networks* ("duplication of the
/// first packet should not duplicate the connection"); mtcp, which counted each copy of the opening packet
/// (mtcp-stack/mtcp#79).
#[derive(Debug)]
pub(super) struct BeginsAnew;

impl Behaviour for BeginsAnew {
    fn takes(&self, arrival: &Arrival) -> Option<u32> {
        let opens = arrival.sequence == 0 && arrival.expected <= 1;
        if opens { Some(1) } else { Correct.takes(arrival) }
    }
}
