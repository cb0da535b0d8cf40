//! The decisions of the protocol, each in a function of its own.
//!
//! The functions as they stand here are right. A fault is a [`Behaviour`] that gets one of them wrong.

/// Where a sender is. Numbers count packets from 0; the last packet is the end mark.
#[derive(Debug, Clone, PartialEq, Eq)]
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
}

/// How often a sender's timer has run out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// Since the last acknowledgement of something new.
    pub in_a_row: u32,
    /// Since the start.
    pub in_all: u32,
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

    /// Sender: returns whether the next packet may be sent now.
    fn may_send(&self, progress: &Progress) -> bool {
        progress.next < progress.packets && progress.next < progress.base + progress.window
    }

    /// Sender: returns whether an acknowledgement of everything before `next_expected` tells something new.
    ///
    /// It may be for packets that were sent before the last timeout and have not been sent again since.
    fn acknowledges(&self, progress: &Progress, next_expected: u32) -> bool {
        progress.base < next_expected && next_expected <= progress.sent
    }

    /// Sender: returns whether to give up after a timeout. Silence ends a transfer, not a count of tries.
    fn gives_up(&self, _timeouts: &Timeouts) -> bool {
        false
    }

    /// Sender: returns whether the transfer is over: everything is acknowledged, the end mark too.
    fn is_over(&self, progress: &Progress) -> bool {
        progress.base == progress.packets
    }

    /// Receiver: returns the number to start with, given that of the first packet that arrives.
    fn first_expected(&self, _first_arrived: u32) -> u32 {
        0
    }

    /// Receiver: returns whether to stay after the end mark, having repeated the last acknowledgement so often.
    fn stays(&self, _repeated: u32) -> bool {
        true
    }
}

/// The protocol as it should be.
#[derive(Debug)]
pub struct Correct;

impl Behaviour for Correct {}
