//! The sender fills its first window without asking whether the file has that many packets.
//!
//! The first window is often sent in a loop of its own before the main loop, and the check for the end of the file is
//! only in the main loop. Shows with files of a few segments.

use crate::gbn::behaviour::{Behaviour, Progress};

#[derive(Debug)]
pub(super) struct FillsFirstWindow;

impl Behaviour for FillsFirstWindow {
    fn may_send(&self, progress: &Progress) -> bool {
        let first_window = progress.base == 0;
        (first_window || progress.next < progress.packets) && progress.next < progress.base + progress.window
    }
}
