//! Mistakes with acknowledgements: which are believed, and which are sent.

use crate::behaviour::{Arrival, Behaviour, Correct, Progress};

/// The sender refuses acknowledgements of packets that it has not sent since its last timeout.
///
/// "Nobody can acknowledge what was not sent" is a sensible check, but after going back the counter of what was sent
/// has gone back too, while the receiver has not. If it already has everything that is sent again, the sender refuses
/// every answer. Shows when the acknowledgements of all packets in flight are lost. Seen in: NuttX,
/// for which "it's normal for a retransmission to be acked before sent" was news (apache/nuttx#4159).
#[derive(Debug)]
pub(super) struct RefusesEarlyAcknowledgements;

impl Behaviour for RefusesEarlyAcknowledgements {
    fn acknowledged(&self, progress: &Progress, next_expected: u32) -> Option<u32> {
        (progress.base < next_expected && next_expected <= progress.next).then_some(next_expected)
    }
}

/// There are sixty-four sequence numbers, and the sender sees that they begin again by number 0 alone.
///
/// An acknowledgement is new if its number is greater, or if it is 0. But the one with 0 may be lost, and the next one
/// may carry 3. Shows when that is so. Seen in: calimero, which expected 256 after 255
/// (calimero-project/calimero-core#18); the firmware of WPILib's XRP (wpilibsuite/xrp-wpilib-firmware#42).
#[derive(Debug)]
pub(super) struct BeginsAgainAtZeroOnly;

impl Behaviour for BeginsAgainAtZeroOnly {
    fn sequence_numbers(&self) -> u64 {
        64
    }

    fn acknowledged(&self, progress: &Progress, next_expected: u32) -> Option<u32> {
        let (number, base_number) = (next_expected % 64, progress.base % 64);
        Correct.acknowledged(progress, next_expected).filter(|_| number == 0 || number > base_number)
    }
}

/// There are sixty-four sequence numbers, and the sender takes number 0 for none.
///
/// `if ack` is false for 0 as for nothing. The next acknowledgement mends it, if one comes: with a window of one packet
/// none does. Shows when the numbers begin again in such a window, or where the transfer ends. Seen in: tftpy, which
/// asserted that block numbers are positive (msoulier/tftpy#36); libjitsi, whose filter did not match packets with
/// number 0 (jitsi/libjitsi#462).
#[derive(Debug)]
pub(super) struct TakesZeroForNothing;

impl Behaviour for TakesZeroForNothing {
    fn sequence_numbers(&self) -> u64 {
        64
    }

    fn acknowledged(&self, progress: &Progress, next_expected: u32) -> Option<u32> {
        Correct.acknowledged(progress, next_expected).filter(|base| base % 64 != 0)
    }
}

/// The receiver answers the last two packets that it took again, and nothing older.
///
/// The last one may come again, and for safety the one before: what is older was left behind long ago. With a window it
/// was not. Shows when three acknowledgements in a row are lost. Seen in: tftpy, where an older block was to be ignored
/// (msoulier/tftpy#58); the simulation of RDMA networks, which did nothing with old packets and stood still
/// (bobzhuyb/ns3-rdma#8); nim-eth (status-im/nim-eth#462).
#[derive(Debug)]
pub(super) struct AnswersLastTwoPackets;

impl Behaviour for AnswersLastTwoPackets {
    fn answers(&self, arrival: &Arrival, next_expected: u32) -> Option<u32> {
        (arrival.sequence + 2 >= arrival.expected).then_some(next_expected)
    }
}

/// There are eight sequence numbers for a window of seven packets, and the sender takes those that are four or more
/// ahead for old ones.
///
/// Numbers that begin again are compared by their difference, of which one half is ahead and the other behind: that asks
/// for a window of half the numbers. Shows when the acknowledgements of four packets in a row are lost. Seen in: picoTCP,
/// whose comparison was wrong "around 0x7fxxxxxx" (tass-belgium/picotcp#118); utp (carllerche/utp#5).
#[derive(Debug)]
pub(super) struct TakesFarAcksForOld;

impl Behaviour for TakesFarAcksForOld {
    fn sequence_numbers(&self) -> u64 {
        8
    }

    fn window_max(&self) -> u32 {
        7
    }

    fn acknowledged(&self, progress: &Progress, next_expected: u32) -> Option<u32> {
        Correct.acknowledged(progress, next_expected).filter(|base| base - progress.base < 4)
    }
}

/// The sender counts repeated acknowledgements in a byte with a sign.
///
/// Three of them are a sign of a loss, and nobody thinks of 128. Shows with large files on networks that lose and double
/// much. Seen in: smoltcp, which panicked with "attempt to add with overflow" at just this counter
/// (smoltcp-rs/smoltcp#224).
#[derive(Debug)]
pub(super) struct CountsRepeatedAcks;

impl Behaviour for CountsRepeatedAcks {
    fn acknowledged(&self, progress: &Progress, next_expected: u32) -> Option<u32> {
        assert!(progress.repeated_acknowledgements < 128, "attempt to add with overflow");
        Correct.acknowledged(progress, next_expected)
    }
}
