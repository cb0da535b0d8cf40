//! Times of calls, and the order of what happens at one time.

use std::fmt;

use serde::{Deserialize, Serialize};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// An instant: nanoseconds since an origin that all calls of a history share.
///
/// In a simulation that is the virtual time, and among real programs one clock of the machine. In serde it is the
/// number of nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(u64);

impl Time {
    /// The origin.
    pub const ZERO: Self = Self(0);
    /// The last instant that there is, 584 years after the origin.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the instant `nanos` nanoseconds after the origin.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the origin.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }
}

/// When a call was invoked, or ended: a time, and, where the recorder knows it, the place among all events of the run.
///
/// A clock is coarse and virtual time stands still while components act, so times alone do not tell whether an end or
/// an invocation of the same instant came first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Moment {
    /// When.
    pub time: Time,
    /// How many invocations and ends of the run were before; `None` if the order within the instant is unknown.
    pub event: Option<u64>,
}

impl Moment {
    /// Returns whether the moment is known to be before another one: at an earlier time, or at the same time and
    /// earlier among the events.
    ///
    /// ```
    /// use simutant_oracle::{Moment, Time};
    ///
    /// let at = |nanos, event| Moment { time: Time::from_nanos(nanos), event };
    /// assert!(at(1, None).is_before(at(2, None)));
    /// // Within an instant the events decide, if they are known.
    /// assert!(at(2, Some(4)).is_before(at(2, Some(5))));
    /// assert!(!at(2, None).is_before(at(2, Some(5))));
    /// ```
    pub fn is_before(self, other: Self) -> bool {
        let by_event = || Some(self.event? < other.event?);
        self.time < other.time || (self.time == other.time && by_event().unwrap_or_default())
    }
}

impl From<Time> for Moment {
    fn from(time: Time) -> Self {
        Self { time, event: None }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.time.fmt(formatter)?;
        self.event.map_or(Ok(()), |event| write!(formatter, ", event {event}"))
    }
}

/// In seconds, with as many decimals as are needed: `1.25 s`.
impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:09}", self.0 % NANOS_PER_SEC);
        let (whole, digits) = (self.0 / NANOS_PER_SEC, digits.trim_end_matches('0'));
        if digits.is_empty() { write!(formatter, "{whole} s") } else { write!(formatter, "{whole}.{digits} s") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_seconds() {
        #[track_caller]
        fn check(nanos: u64, expect: &str) {
            assert_eq!(Time::from_nanos(nanos).to_string(), expect);
        }
        check(0, "0 s");
        check(1_250_000_000, "1.25 s");
        check(1, "0.000000001 s");
        check(100_000_000_000, "100 s");
        check(u64::MAX, "18446744073.709551615 s");
    }

    #[test]
    fn moments_of_an_instant_are_in_order_only_where_both_have_an_event() {
        let moment = |time, event| Moment { time: Time::from_nanos(time), event };
        let moments = [0, 1].map(|time| [None, Some(3), Some(4)].map(|event| moment(time, event))).concat();
        for one in &moments {
            for other in &moments {
                let is_before =
                    one.time < other.time || (one.time == other.time && (one.event, other.event) == (Some(3), Some(4)));
                assert_eq!(one.is_before(*other), is_before, "{one:?}, {other:?}");
            }
        }
    }
}
