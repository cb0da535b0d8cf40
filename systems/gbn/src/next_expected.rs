//! Acknowledgements by the number of the packet that is expected next.

use super::{Acknowledgement, SEQUENCE_NUMBERS};

/// Returns the acknowledgement of a receiver that expects packet `expected` next: it has all packets before, whatever
/// else was lost.
pub(super) fn acknowledgement(expected: u32) -> Acknowledgement {
    Acknowledgement { sequence: expected % SEQUENCE_NUMBERS }
}

/// Returns how many packets from `base` on the receiver has.
pub(super) fn news(ack: Acknowledgement, base: u32) -> u32 {
    (ack.sequence + SEQUENCE_NUMBERS - base % SEQUENCE_NUMBERS) % SEQUENCE_NUMBERS
}
