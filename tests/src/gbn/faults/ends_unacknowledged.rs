//! The sender is content when all data is acknowledged, and does not wait until the end mark is.
//!
//! The data is what the transfer is about, so its acknowledgement looks like the end of the work. The end mark is
//! reliable only if it is sent again like everything else. Shows when the end mark is lost, or still waits for room
//! in the window.

use crate::gbn::behaviour::{Behaviour, Progress};

#[derive(Debug)]
pub(super) struct EndsUnacknowledged;

impl Behaviour for EndsUnacknowledged {
    fn is_over(&self, progress: &Progress) -> bool {
        let data_packets = progress.packets - 1;
        progress.base >= data_packets
    }
}
