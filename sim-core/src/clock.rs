//! Clocks that are wrong, and components that are slow.

use serde::{Deserialize, Serialize};

use crate::{VirtualDuration, VirtualTime};

const BILLION: i64 = 1_000_000_000;

/// The clock of a component: how far it is off, and how fast it goes.
///
/// A component sees its own clock only: [`Context::now`](crate::Context::now) reads it, and its pauses and timeouts
/// last as long as the clock says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// What the clock shows when the run begins, in nanoseconds. For a clock that is late, let the others be early.
    #[serde(default)]
    pub offset_ns: u64,
    /// How many nanoseconds the clock gains in a second: 50,000 are the 50 parts per million of a bad quartz. More than
    /// -1,000,000,000, with which it would stand still.
    #[serde(default)]
    pub drift_ns_per_s: i64,
}

impl Clock {
    /// Whether the clock is right.
    pub(crate) fn is_true(self) -> bool {
        self == Self::default()
    }

    /// Whether it goes on at all.
    pub(crate) fn is_valid(self) -> bool {
        self.drift_ns_per_s > -BILLION && self.drift_ns_per_s <= 1_000 * BILLION
    }

    /// Returns what the clock shows at a time.
    pub(crate) fn read(self, now: VirtualTime) -> VirtualTime {
        let rate = u128::from((BILLION + self.drift_ns_per_s).unsigned_abs());
        let shown = u128::from(now.as_nanos()) * rate / u128::from(BILLION.unsigned_abs()) + u128::from(self.offset_ns);
        VirtualTime::from_nanos(u64::try_from(shown).unwrap_or(u64::MAX))
    }

    /// Returns how long it takes until the clock has gone on by `duration`: rounded up, so that it really has.
    pub(crate) fn until_passed(self, duration: VirtualDuration) -> VirtualDuration {
        let rate = u128::from((BILLION + self.drift_ns_per_s).unsigned_abs());
        let lasts = (u128::from(duration.as_nanos()) * u128::from(BILLION.unsigned_abs())).div_ceil(rate);
        VirtualDuration::from_nanos(u64::try_from(lasts).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_gains_shows_more_and_waits_less() {
        let clock = Clock { offset_ns: 5, drift_ns_per_s: 250_000_000 };
        assert_eq!(clock.read(VirtualTime::from_nanos(3)).as_nanos(), 8);
        assert_eq!(clock.read(VirtualTime::from_nanos(100)).as_nanos(), 130);
        assert_eq!(clock.until_passed(VirtualDuration::from_nanos(125)).as_nanos(), 100);
        assert_eq!(clock.until_passed(VirtualDuration::from_nanos(1)).as_nanos(), 1);
        assert_eq!(clock.until_passed(VirtualDuration::MAX).as_nanos(), u64::MAX / 5 * 4);
    }

    #[test]
    fn after_the_wait_the_clock_has_gone_on_by_the_duration() {
        for drift_ns_per_s in [-999_999_999, -50_000, 0, 7, 50_000, 1_000_000_000_000] {
            let clock = Clock { offset_ns: 17, drift_ns_per_s };
            assert!(clock.is_valid());
            for nanos in [0, 1, 999, 1_000_000_007] {
                let start = VirtualTime::from_nanos(123_456_789);
                let duration = VirtualDuration::from_nanos(nanos);
                let end = start + clock.until_passed(duration);
                assert!(clock.read(end).as_nanos() >= clock.read(start).as_nanos() + nanos, "{clock:?} {nanos}");
            }
        }
        assert!(!Clock { offset_ns: 0, drift_ns_per_s: -1_000_000_000 }.is_valid());
    }
}
