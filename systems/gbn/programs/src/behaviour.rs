//! The decisions of the protocol, each in a function of its own.
//!
//! The functions as they stand here are right. A fault is a [`Behaviour`] that gets one of them wrong.

use super::packet::SEGMENT_BYTES;

/// Where a sender is. Numbers count packets from 0; the last packet is the end mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// The oldest packet that is not acknowledged.
    pub base: u32,
    /// The packet to be sent next; a timeout sets it back to `base`.
    pub next: u32,
    /// One past the last packet that was ever sent.
    pub sent: u32,
    /// How many packets there are.
    pub packets: u32,
    /// How many packets may be in flight.
    pub window: u32,
    /// How often packets were sent, those that were sent again included.
    pub transmissions: u32,
    /// How many acknowledgements told nothing new.
    pub repeated_acknowledgements: u32,
    /// How often the timer has run out since the last acknowledgement of something new.
    pub timeouts_in_a_row: u32,
    /// How often the timer has run out since the start.
    pub timeouts_in_all: u32,
}

/// A packet that a receiver gets, and where the receiver is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The packet's number on the wire.
    pub sequence: u32,
    /// Whether it is an end mark.
    pub is_end: bool,
    /// The packet that is expected next, counted from 0.
    pub expected: u32,
    /// How many packets have arrived, this one included.
    pub arrived: u32,
    /// Whether the end mark was taken before.
    pub is_after_end: bool,
}

/// What a sender and a receiver decide in each situation.
pub trait Behaviour: std::fmt::Debug + Sync {
    /// Returns how many sequence numbers there are: packet n carries n modulo this.
    ///
    /// It must be larger than the largest window, or else a packet that is sent again looks like a new one.
    fn sequence_numbers(&self) -> u64 {
        1 << 32
    }

    /// Sender: returns how many packets may be in flight at most.
    fn window_max(&self) -> u32 {
        32
    }

    /// Sender: returns how many packets are kept for being sent again; it must not be less than the largest window.
    fn packets_kept(&self) -> u32 {
        self.window_max()
    }

    /// Sender: returns how many segments a file of `bytes` bytes has.
    fn segments(&self, bytes: usize) -> usize {
        bytes.div_ceil(SEGMENT_BYTES)
    }

    /// Sender: returns the bytes of a segment that is sent for the first time; the last one may be short.
    fn segment(&self, file: &[u8], number: u32) -> Vec<u8> {
        let start = number as usize * SEGMENT_BYTES;
        let end = file.len().min(start + SEGMENT_BYTES);
        file[start..end].to_vec()
    }

    /// Sender: returns whether the next packet may be sent now.
    fn may_send(&self, progress: &Progress) -> bool {
        progress.next < progress.packets && progress.next < progress.base + progress.window
    }

    /// Sender: returns whether a timer is started with the packet that was just sent, if none runs.
    fn starts_timer(&self, _progress: &Progress) -> bool {
        true
    }

    /// Sender: returns whether the timer starts anew with an acknowledgement of something new: if packets are in flight.
    fn restarts_timer(&self, progress: &Progress) -> bool {
        progress.base < progress.next
    }

    /// Sender: returns the new base after an acknowledgement of everything before `next_expected`, or `None` if that
    /// tells nothing new.
    ///
    /// It may be for packets that were sent before the last timeout and have not been sent again since.
    fn acknowledged(&self, progress: &Progress, next_expected: u32) -> Option<u32> {
        (progress.base < next_expected && next_expected <= progress.sent).then_some(next_expected)
    }

    /// Sender: returns whether to give up after a timeout. Silence ends a transfer, not a count of tries.
    fn gives_up(&self, _progress: &Progress) -> bool {
        false
    }

    /// Sender: returns whether the transfer is over: everything is acknowledged, the end mark too.
    fn is_over(&self, progress: &Progress) -> bool {
        progress.base == progress.packets
    }

    /// Sender: returns how often to say goodbye. If all are lost the receiver waits in vain for some time, but nothing
    /// is wrong.
    fn goodbyes(&self) -> usize {
        8
    }

    /// Receiver: returns the number to start with, given that of the first packet that arrives.
    fn first_expected(&self, _first_arrived: u32) -> u32 {
        0
    }

    /// Receiver: returns what is expected after a packet that came before the end mark, or `None` if it is not taken.
    fn takes(&self, arrival: &Arrival) -> Option<u32> {
        let is_expected = u64::from(arrival.sequence) == u64::from(arrival.expected) % self.sequence_numbers();
        is_expected.then(|| arrival.expected + 1)
    }

    /// Receiver: returns the packet that an answer names as the one that is expected next, or `None` for no answer.
    /// `next_expected` is what is expected now that the packet was taken or not.
    fn answers(&self, _arrival: &Arrival, next_expected: u32) -> Option<u32> {
        Some(next_expected)
    }

    /// Receiver: returns whether to stay after the end mark, having repeated the last acknowledgement so often.
    fn stays(&self, _repeated: u32) -> bool {
        true
    }

    /// Receiver: returns whether a silence after the end mark is a failure, since the sender has said no goodbye.
    fn needs_goodbye(&self) -> bool {
        false
    }
}

/// The protocol as it should be.
#[derive(Debug)]
pub struct Correct;

impl Behaviour for Correct {}
