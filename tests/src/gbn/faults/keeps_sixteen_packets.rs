//! The sender keeps sixteen packets for being sent again, although its window may grow to thirty-two.
//!
//! The buffer had the window's size when the window was fixed; then the window was made to grow. A packet is sent
//! again with the content of one sixteen further on. Shows when the network is good until the window is large, and
//! then loses a packet.

use crate::gbn::behaviour::Behaviour;

#[derive(Debug)]
pub(super) struct KeepsSixteenPackets;

impl Behaviour for KeepsSixteenPackets {
    fn packets_kept(&self) -> u32 {
        16
    }
}
