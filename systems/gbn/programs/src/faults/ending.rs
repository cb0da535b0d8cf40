//! Mistakes with the end mark, its acknowledgement, and how the two sides part.

use crate::behaviour::{Arrival, Behaviour, Correct, Progress};

/// The sender is content when all data is acknowledged, and does not wait until the end mark is.
///
/// The data is what the transfer is about, so its acknowledgement looks like the end of the work. The end mark is
/// reliable only if it is sent again like everything else. Shows when the end mark is lost, or still waits for room
/// in the window. Seen in: a go-back-n for a course, whose `END` is sent once (memmit1994/UDP-Go-Back-N, `server.py`).
#[derive(Debug)]
pub(super) struct EndsUnacknowledged;

impl Behaviour for EndsUnacknowledged {
    fn is_over(&self, progress: &Progress) -> bool {
        let data_packets = progress.packets - 1;
        progress.base >= data_packets
    }
}

/// The receiver leaves as soon as it has acknowledged the end mark.
///
/// It has the whole file and has said so: its work looks done. But the last acknowledgement may be lost, and then
/// nobody is there to repeat it, and the sender never learns that it succeeded. Shows when that one packet is lost. Seen
/// in: tftpy (msoulier/tftpy#137), a TFTP in Rust (connorkuehl/tftp#56) and node-tftp (gagle/node-tftp#29).
#[derive(Debug)]
pub(super) struct LeavesAfterEnd;

impl Behaviour for LeavesAfterEnd {
    fn stays(&self, _repeated: u32) -> bool {
        false
    }
}

/// The receiver repeats its last acknowledgement once, and then leaves.
///
/// Who has seen the last acknowledgement get lost adds a second chance, and the failure is hardly ever seen again. But
/// the second may be lost like the first. Shows when it is.
#[derive(Debug)]
pub(super) struct RepeatsLastAckOnce;

impl Behaviour for RepeatsLastAckOnce {
    fn stays(&self, repeated: u32) -> bool {
        repeated == 0
    }
}

/// The receiver answers end marks after the end, but no data.
///
/// The last state of the transfer knows one packet, the one that led to it. Shows when the sender has data to send
/// again, since it has no acknowledgement of that either, and no room for the end mark. Seen in: MPTCP in Linux, whose
/// last state answers without what acknowledges data (multipath-tcp/mptcp_net-next#181); Zephyr
/// (zephyrproject-rtos/zephyr#35289).
#[derive(Debug)]
pub(super) struct AnswersEndMarksOnly;

impl Behaviour for AnswersEndMarksOnly {
    fn answers(&self, arrival: &Arrival, next_expected: u32) -> Option<u32> {
        (!arrival.is_after_end || arrival.is_end).then_some(next_expected)
    }
}

/// The sender sends the end mark twice, and then leaves content.
///
/// Who has seen it get lost sends it a second time. Shows when both are. Seen in: pydiode, whose receiver hung when all
/// of a few end marks were lost (ClarkuCSCI/pydiode#39).
#[derive(Debug)]
pub(super) struct SendsEndMarkTwice;

impl Behaviour for SendsEndMarkTwice {
    fn is_over(&self, progress: &Progress) -> bool {
        let is_end_alone = progress.base + 1 == progress.packets;
        Correct.is_over(progress) || (is_end_alone && progress.timeouts_in_a_row > 0)
    }
}

/// The sender takes any acknowledgement for that of the end mark, once all data is acknowledged.
///
/// What else could it be for? A copy of the last one of data. Shows when the network doubles that, or the receiver
/// repeats it, and the end mark is lost. Seen in: seqs, where the acknowledgement of data may stand for that of the
/// packet that closes (soypat/seqs#22).
#[derive(Debug)]
pub(super) struct TakesAnyAckForLast;

impl Behaviour for TakesAnyAckForLast {
    fn acknowledged(&self, progress: &Progress, next_expected: u32) -> Option<u32> {
        let waits_for_last = progress.base + 1 == progress.packets && progress.sent == progress.packets;
        if waits_for_last { Some(progress.packets) } else { Correct.acknowledged(progress, next_expected) }
    }
}

/// The receiver fails without a goodbye, which the sender says once.
///
/// Both sides close, as TCP's do. The last message of all cannot be acknowledged, so nobody may depend on it. Shows when
/// the goodbye is lost. Seen in: pydiode, whose receiver waits for an end that does not come (ClarkuCSCI/pydiode#39);
/// uTP for the Portal network, where a peer that leaves early is an error after all has arrived (ethereum/utp#103).
#[derive(Debug)]
pub(super) struct NeedsGoodbye;

impl Behaviour for NeedsGoodbye {
    fn goodbyes(&self) -> usize {
        1
    }

    fn needs_goodbye(&self) -> bool {
        true
    }
}

/// The receiver takes the end mark one packet early.
///
/// The end mark has the number after the last segment's, and `<=` forgives the wrong one. Shows when the last segment is
/// lost and the end mark arrives. Seen in: smoltcp (smoltcp-rs/smoltcp#111), PcapPlusPlus (seladb/PcapPlusPlus#1979) and
/// Demikernel (microsoft/demikernel#924), which took the end before data that was missing.
#[derive(Debug)]
pub(super) struct TakesEndMarkEarly;

impl Behaviour for TakesEndMarkEarly {
    fn takes(&self, arrival: &Arrival) -> Option<u32> {
        let is_near = arrival.is_end && arrival.sequence <= arrival.expected + 1;
        if is_near { Some(arrival.sequence + 1) } else { Correct.takes(arrival) }
    }
}

/// The receiver takes an end mark if as many packets have arrived as there should be.
///
/// It counts what arrives, and copies count twice. Shows when as many packets arrived again as are missing before the
/// end mark. Seen in: MLSP, a streaming protocol that counts the packets of a frame
/// (bmegli/minimal-latency-streaming-protocol#8).
#[derive(Debug)]
pub(super) struct CountsArrivals;

impl Behaviour for CountsArrivals {
    fn takes(&self, arrival: &Arrival) -> Option<u32> {
        let is_complete = arrival.is_end && arrival.arrived == arrival.sequence + 1;
        if is_complete { Some(arrival.sequence + 1) } else { Correct.takes(arrival) }
    }
}
