//! Acknowledgements by the number of the packet that was taken last.

use super::{Acknowledgement, SEQUENCE_NUMBERS};

/// Returns the acknowledgement of a receiver that expects packet `expected` next: the last one that it has is the one
/// before. As long as it has none, it says the number before the first, which is no news: number 0 would be.
pub(super) fn acknowledgement(expected: u32) -> Acknowledgement {
    if expected == 0 {
        return Acknowledgement { sequence: SEQUENCE_NUMBERS - 1 };
    }
    Acknowledgement { sequence: (expected - 1) % SEQUENCE_NUMBERS }
}

/// Returns how many packets from `base` on the receiver has.
pub(super) fn news(ack: Acknowledgement, base: u32) -> u32 {
    (ack.sequence + 1 + SEQUENCE_NUMBERS - base % SEQUENCE_NUMBERS) % SEQUENCE_NUMBERS
}
