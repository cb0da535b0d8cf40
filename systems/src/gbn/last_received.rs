//! Acknowledgements by the number of the packet that was taken last.

use super::{Ack, SEQUENCE_NUMBERS};

/// Returns the acknowledgement of a receiver that expects packet `expected` next: the last one that it has is the one
/// before. As long as it has none, that is the last of the sequence numbers, and no news.
pub(super) fn acknowledgement(expected: u32) -> Ack {
    Ack { sequence: expected.wrapping_sub(1) % SEQUENCE_NUMBERS }
}

/// Returns how many packets from `base` on the receiver has.
pub(super) fn news(ack: Ack, base: u32) -> u32 {
    (ack.sequence + 1 + SEQUENCE_NUMBERS - base % SEQUENCE_NUMBERS) % SEQUENCE_NUMBERS
}
