//! There are four sequence numbers for a window of four packets.
//!
//! Two bits number four packets, so four packets may be in flight: but then the receiver cannot tell a window that is
//! sent again from the next one, nor the sender an acknowledgement of all from one of nothing. Go-back-n needs one
//! number more than the window has packets (Kurose and Ross set it as an exercise). Shows when several acknowledgements
//! in a row are lost.

use crate::gbn::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct FourSequenceNumbers;

impl Behaviour for FourSequenceNumbers {
    fn sequence_numbers(&self) -> u64 {
        4
    }

    fn window_max(&self) -> u32 {
        4
    }
}
