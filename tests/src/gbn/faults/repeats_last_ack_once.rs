//! The receiver repeats its last acknowledgement once, and then leaves.
//!
//! Who has seen the last acknowledgement get lost adds a second chance, and the failure is hardly ever seen again. But
//! the second may be lost like the first. Shows when it is.

use crate::gbn::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct RepeatsLastAckOnce;

impl Behaviour for RepeatsLastAckOnce {
    fn stays(&self, repeated: u32) -> bool {
        repeated == 0
    }
}
