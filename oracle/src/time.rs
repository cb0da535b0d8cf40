//! Times of calls.

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
}
