//! Mistakes with the window, what is kept for it, and the numbers that must be more than it has packets.

use crate::behaviour::{Behaviour, Progress};

/// The sender fills its first window without asking whether the file has that many packets.
///
/// The first window is often sent in a loop of its own before the main loop, and the check for the end of the file is
/// only in the main loop. Shows with files of a few segments. Seen in: a selective repeat for a course, which works with
/// large files only (dulalsaurab/Reliable-data-transfer-using-UDP#1).
#[derive(Debug)]
pub(super) struct FillsFirstWindow;

impl Behaviour for FillsFirstWindow {
    fn may_send(&self, progress: &Progress) -> bool {
        let first_window = progress.base == 0;
        (first_window || progress.next < progress.packets) && progress.next < progress.base + progress.window
    }
}

/// The sender goes back and sends a whole window again without asking whether the file has that many packets.
///
/// As in [`FillsFirstWindow`], but in the loop of the timeout. Shows when a packet among the last ones is lost and the
/// window is larger than what is left. Seen in: SRT, whose loop over what is sent again went past the last block
/// (Haivision/srt#2005).
#[derive(Debug)]
pub(super) struct FillsWindowAgain;

impl Behaviour for FillsWindowAgain {
    fn may_send(&self, progress: &Progress) -> bool {
        let goes_back = progress.timeouts_in_a_row > 0;
        (goes_back || progress.next < progress.packets) && progress.next < progress.base + progress.window
    }
}

/// There are four sequence numbers for a window of four packets.
///
/// Two bits number four packets, so four packets may be in flight: but then the receiver cannot tell a window that is
/// sent again from the next one, nor the sender an acknowledgement of all from one of nothing. Go-back-n needs one
/// number more than the window has packets (Kurose and Ross set it as an exercise). Shows when several acknowledgements
/// in a row are lost.
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

/// The sender keeps sixteen packets for being sent again, although its window may grow to thirty-two.
///
/// The buffer had the window's size when the window was fixed; then the window was made to grow. A packet is sent
/// again with the content of one sixteen further on. Shows when the network is good until the window is large, and
/// then loses a packet. Seen in: Nyx OS, which kept one segment and replaced it by the next (nyxos-dev/nyx-os#60).
#[derive(Debug)]
pub(super) struct KeepsSixteenPackets;

impl Behaviour for KeepsSixteenPackets {
    fn packets_kept(&self) -> u32 {
        16
    }
}

/// The sender lets one packet more go than the window has, and than it keeps.
///
/// `<=` for `<`. As the window grows to what is kept and no further, the packet more takes the place of the oldest one.
/// Shows when the window has grown to its limit and its first packet is lost. Seen in: a go-back-n for the course CSCI
/// 5273 (winniez/CSCI5273-go-back-n, `GBNclient.c`); enet, whose sender used one window more than its receiver
/// (lsalzman/enet#143).
#[derive(Debug)]
pub(super) struct OnePacketMore;

impl Behaviour for OnePacketMore {
    fn may_send(&self, progress: &Progress) -> bool {
        progress.next < progress.packets && progress.next <= progress.base + progress.window
    }
}

/// The sender's window grows without a limit, beyond the thirty-two packets that are kept.
///
/// Each window that arrives is a reason for a larger one, and nobody thinks of a network that is good for long. Shows
/// when it then loses a packet. Seen in: a go-back-n for a course, whose window grows with each acknowledgement
/// (memmit1994/UDP-Go-Back-N, `server.py`); libxlio, whose window grew to 1 GiB (Mellanox/libxlio#644).
#[derive(Debug)]
pub(super) struct GrowsWithoutLimit;

impl Behaviour for GrowsWithoutLimit {
    fn window_max(&self) -> u32 {
        u32::MAX
    }

    fn packets_kept(&self) -> u32 {
        32
    }
}
