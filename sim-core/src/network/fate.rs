//! Packets, what chance decides about them, and what becomes of them.

use crate::message::ComponentId;
use crate::trace::DropReason;
use crate::{Probability, VirtualDuration, VirtualTime};

/// A packet, as the network sees it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PacketInfo {
    /// Fixes, with the network's seed, everything that is random about the packet.
    pub(crate) draw: u64,
    pub(crate) source: ComponentId,
    pub(crate) destination: ComponentId,
    pub(crate) kind: &'static str,
    pub(crate) bytes: u32,
    /// When it is sent: now.
    pub(crate) at: VirtualTime,
}

/// The fate of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is lost.
    Dropped(DropReason),
    /// It arrives once.
    Delivered(Arrival),
    /// It arrives twice: the packet, and a copy.
    Duplicated(Arrival, Arrival),
}

/// How a copy of a packet arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// How long after its sending.
    pub after: VirtualDuration,
    /// Whether some of its bits were changed.
    pub is_corrupted: bool,
}

/// What chance decides about a packet, before rules, partitions and queues: plain data, which can be recorded, replayed
/// and overridden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The number of the link of its path that loses the packet: 0, unless the network forwards packets.
    pub(crate) lost_on: Option<u32>,
    pub(crate) is_duplicated: bool,
    /// What becomes of the packet, and of its copy; both are decided whether the packet is lost, duplicated or not.
    pub(crate) copies: [Passage; 2],
}

/// What becomes of a copy of a packet: on a link, or on all links of its path together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Passage {
    /// How long it is on its way, jitter included.
    pub(crate) latency: VirtualDuration,
    /// Whether it is held back on top of that.
    pub(crate) is_held_back: bool,
    /// For how long, if it is.
    pub(crate) hold: VirtualDuration,
    pub(crate) is_corrupted: bool,
}

impl Passage {
    /// Adds what becomes of the copy on the next link of its path.
    pub(super) fn extend(&mut self, next: Self) {
        self.latency += next.latency;
        self.is_corrupted |= next.is_corrupted;
        // The hold is that of the links that hold the copy back; as long as none does, that of those which might.
        match (self.is_held_back, next.is_held_back) {
            (false, true) => self.hold = next.hold,
            (true, false) => {}
            (false, false) | (true, true) => self.hold += next.hold,
        }
        self.is_held_back |= next.is_held_back;
    }

    /// Returns how long the copy takes in all.
    pub(super) fn duration(&self) -> VirtualDuration {
        if self.is_held_back { self.latency + self.hold } else { self.latency }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks for how long a copy is held back, if the links of its path hold it back as given, and if they may.
    #[track_caller]
    fn check(links: [(bool, u64); 3], expect: (bool, u64)) {
        let mut path = Passage::default();
        for (is_held_back, nanos) in links {
            path.extend(Passage { is_held_back, hold: VirtualDuration::from_nanos(nanos), ..Passage::default() });
        }
        assert_eq!((path.is_held_back, path.hold.as_nanos()), expect);
        assert_eq!(path.duration().as_nanos(), if expect.0 { expect.1 } else { 0 });
    }

    #[test]
    fn the_hold_of_a_path_is_that_of_the_links_that_hold_back_or_of_all_that_could() {
        check([(false, 1), (false, 2), (false, 4)], (false, 7));
        check([(false, 1), (true, 2), (false, 4)], (true, 2));
        check([(true, 1), (false, 2), (true, 4)], (true, 5));
    }
}

/// What of a [`Decision`] chance could have decided otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Open {
    /// The number of the first link of the path that may lose the packet, if it may be lost and may get through.
    pub(crate) lossy_link: Option<u32>,
    pub(crate) duplicate: bool,
    pub(crate) latency: bool,
    pub(crate) reorder: bool,
    pub(crate) corrupt: bool,
}

/// Whether something can happen on some link of a path, and can fail to happen on all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Possible {
    can_happen: bool,
    can_fail: bool,
}

impl Possible {
    pub(super) const NO: Self = Self { can_happen: false, can_fail: true };

    pub(super) fn extend(&mut self, probability: Probability) {
        self.can_happen |= probability != Probability::ZERO;
        self.can_fail &= probability != Probability::ONE;
    }

    pub(super) fn is_open(self) -> bool {
        self.can_happen && self.can_fail
    }
}
