//! The receiver takes the first packet that arrives for the first packet of the file.
//!
//! TCP's receiver learns the first sequence number from the sender, so it looks right to learn it here too: but what
//! arrives first need not be what was sent first. Shows when the very first packet is lost and a later one of the
//! first window is not.

use crate::gbn::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct LearnsFirstNumber;

impl Behaviour for LearnsFirstNumber {
    fn first_expected(&self, first_arrived: u32) -> u32 {
        first_arrived
    }
}
