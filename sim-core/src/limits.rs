//! Limits: what ends a run that does not end by itself.

use std::fmt;

use crate::VirtualTime;

/// Limits of a run. A run that would exceed one is [`Ended::NotTerminated`](crate::Ended::NotTerminated).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most events that are handled: starts, timers, arrivals, scheduled faults and partitions, and wakes within an
    /// instant.
    pub events: u64,
    /// The last instant at which events are handled.
    pub virtual_time: VirtualTime,
}

/// A hundred million events (some ten seconds of computing), and any virtual time.
impl Default for Limits {
    fn default() -> Self {
        Self { events: 100_000_000, virtual_time: VirtualTime::MAX }
    }
}

/// The limit that ended a run, although more was to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitReached {
    /// [`Limits::events`] were handled.
    Events {
        /// The limit.
        limit: u64,
        /// When the last of them happened.
        at: VirtualTime,
    },
    /// The next event is after [`Limits::virtual_time`].
    VirtualTime {
        /// The limit.
        limit: VirtualTime,
        /// When the next event would have happened.
        next: VirtualTime,
    },
}

impl fmt::Display for LimitReached {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Events { limit, at } => {
                write!(formatter, "the limit of {limit} events was used up at {at}, and more was to happen")
            }
            Self::VirtualTime { limit, next } => {
                write!(formatter, "the limit of virtual time, {limit}, was reached, and more was to happen at {next}")
            }
        }
    }
}
