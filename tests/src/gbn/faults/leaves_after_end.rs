//! The receiver leaves as soon as it has acknowledged the end mark.
//!
//! It has the whole file and has said so: its work looks done. But the last acknowledgement may be lost, and then
//! nobody is there to repeat it, and the sender never learns that it succeeded. Shows when that one packet is lost.

use crate::gbn::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct LeavesAfterEnd;

impl Behaviour for LeavesAfterEnd {
    fn stays(&self, _repeated: u32) -> bool {
        false
    }
}
