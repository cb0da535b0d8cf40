//! What can be scheduled, in the 64 bits that the event queue keeps of it.

use crate::message::ComponentId;
use crate::waker::TaskKey;

/// Something that is to happen. What it is about is kept elsewhere, under the index that it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A timer of a task of this run.
    Timer(TaskKey),
    /// A timer of someone between a task and the future that waits: an index into the kernel's foreign wakers.
    ForeignTimer(u32),
    /// A packet arrives: an index into the kernel's packets.
    Arrival(u32),
    /// A component starts.
    Start(ComponentId),
    /// A fault or a change of the network comes: an index into the run's schedule of changes.
    Change(u32),
    /// A paused component goes on.
    Resume(ComponentId),
    /// A stream has something to do by itself: an index into the ends of streams.
    Stream(u32),
    /// A segment of a stream arrives: an index into the segments on their way.
    Segment(u32),
}

const KIND_SHIFT: u32 = TaskKey::BITS;
const VALUE_MASK: u64 = (1 << KIND_SHIFT) - 1;

impl Event {
    #[inline]
    pub(crate) fn to_payload(self) -> u64 {
        let (kind, value) = match self {
            Self::Timer(task_key) => (0, task_key.to_bits()),
            Self::Arrival(index) => (1, u64::from(index)),
            Self::ForeignTimer(index) => (2, u64::from(index)),
            Self::Start(component) => (3, u64::from(component.0)),
            Self::Change(index) => (4, u64::from(index)),
            Self::Resume(component) => (5, u64::from(component.0)),
            Self::Stream(index) => (6, u64::from(index)),
            Self::Segment(index) => (7, u64::from(index)),
        };
        (kind << KIND_SHIFT) | value
    }

    #[inline]
    pub(crate) fn from_payload(payload: u64) -> Self {
        // The two kinds that nearly all events are of come first, so that no table is looked up for them.
        let value = payload & VALUE_MASK;
        if payload >> KIND_SHIFT == 0 {
            return Self::Timer(TaskKey::from_bits(value));
        }
        if payload >> KIND_SHIFT == 1 {
            return Self::Arrival(value as u32);
        }
        Self::rare_from_payload(payload)
    }

    #[cold]
    fn rare_from_payload(payload: u64) -> Self {
        let value = payload & VALUE_MASK;
        match payload >> KIND_SHIFT {
            2 => Self::ForeignTimer(value as u32),
            3 => Self::Start(ComponentId(value as u32)),
            4 => Self::Change(value as u32),
            5 => Self::Resume(ComponentId(value as u32)),
            6 => Self::Stream(value as u32),
            7 => Self::Segment(value as u32),
            kind => unreachable!("no event is of kind {kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_comes_back() {
        let component = ComponentId(u32::MAX);
        let events = [
            Event::Timer(TaskKey::new(7)),
            Event::ForeignTimer(1),
            Event::Arrival(u32::MAX),
            Event::Start(component),
            Event::Change(3),
            Event::Resume(component),
            Event::Stream(4),
            Event::Segment(5),
        ];
        events.into_iter().for_each(|event| assert_eq!(Event::from_payload(event.to_payload()), event));
    }
}
