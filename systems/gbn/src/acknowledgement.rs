//! The two rules of what an acknowledgement says. A transfer has one of them.

use super::{Acknowledgement, last_received, next_expected};

/// What the sequence number in an acknowledgement is.
///
/// `expected` and `base` count packets from 0 on and do not begin again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcknowledgementRule {
    /// The number of the packet that the receiver expects next.
    NextExpected,
    /// The number of the last packet that the receiver has taken.
    LastReceived,
}

impl AcknowledgementRule {
    /// Returns the acknowledgement of a receiver that expects packet `expected` next.
    pub(super) fn acknowledgement(self, expected: u32) -> Acknowledgement {
        match self {
            Self::NextExpected => next_expected::acknowledgement(expected),
            Self::LastReceived => last_received::acknowledgement(expected),
        }
    }

    /// Returns how many packets from `base` on the receiver has, by its acknowledgement.
    pub(super) fn news(self, ack: Acknowledgement, base: u32) -> u32 {
        match self {
            Self::NextExpected => next_expected::news(ack, base),
            Self::LastReceived => last_received::news(ack, base),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::SEQUENCE_NUMBERS;

    proptest! {
        /// Sender and receiver mean the same by a number, wherever the numbers begin again.
        #[test]
        fn an_acknowledgement_tells_the_sender_what_the_receiver_has(
            base in 0_u32..1_000,
            received in 0..SEQUENCE_NUMBERS,
        ) {
            for rule in [AcknowledgementRule::NextExpected, AcknowledgementRule::LastReceived] {
                let ack = rule.acknowledgement(base + received);
                prop_assert!(ack.sequence < SEQUENCE_NUMBERS, "{rule:?}: {ack:?}");
                prop_assert_eq!(rule.news(ack, base), received, "{:?}", rule);
            }
        }
    }

    #[test]
    fn before_anything_has_arrived_number_0_is_expected_and_none_is_received() {
        assert_eq!(AcknowledgementRule::NextExpected.acknowledgement(0), Acknowledgement { sequence: 0 });
        assert_eq!(
            AcknowledgementRule::LastReceived.acknowledgement(0),
            Acknowledgement { sequence: SEQUENCE_NUMBERS - 1 }
        );
    }
}
