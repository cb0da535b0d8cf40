//! Virtual time: whole nanoseconds, so that neither an instant nor an order depends on floating-point arithmetic.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use serde::{Deserialize, Serialize};
use simutant_random::Scale;

const NANOS_PER_MICRO: u64 = 1_000;
const NANOS_PER_MILLI: u64 = 1_000_000;
const NANOS_PER_SEC: u64 = 1_000_000_000;

/// An instant of virtual time: nanoseconds since the start of the run.
///
/// The operators saturate, at zero and at [`VirtualTime::MAX`] (584 years): an instant that far away is never reached,
/// and a specification needs no error path for it. [`VirtualTime::checked_add`] says so instead. In serde it is the
/// number of nanoseconds.
///
/// ```
/// use simutant_sim_core::{VirtualDuration, VirtualTime};
///
/// let deadline = VirtualTime::from_millis(1_500) + VirtualDuration::from_micros(250);
/// assert_eq!(deadline.to_string(), "1.50025 s");
/// assert_eq!(deadline - VirtualTime::from_secs(1), VirtualDuration::from_micros(500_250));
/// // Subtraction saturates: an instant that is still to come is no time ago.
/// assert_eq!(VirtualTime::ZERO.since(deadline), VirtualDuration::ZERO);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VirtualTime(u64);

/// A span of virtual time in nanoseconds.
///
/// The operators saturate as those of [`VirtualTime`] do. In serde it is the number of nanoseconds.
///
/// ```
/// use simutant_sim_core::VirtualDuration;
///
/// let timeout = VirtualDuration::from_millis(20);
/// // Exponential backoff: the fourth wait is eight times the first.
/// let waits: Vec<_> = (0..4).map(|attempt| timeout * (1 << attempt)).collect();
/// assert_eq!(waits[3], VirtualDuration::from_millis(160));
/// let total = waits.iter().fold(VirtualDuration::ZERO, |sum, wait| sum + *wait);
/// assert_eq!(total.to_string(), "300 ms");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct VirtualDuration(u64);

impl VirtualTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// The last instant that there is.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the instant `micros` microseconds after the start, at most [`VirtualTime::MAX`].
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(NANOS_PER_MICRO))
    }

    /// Returns the instant `millis` milliseconds after the start, at most [`VirtualTime::MAX`].
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(NANOS_PER_MILLI))
    }

    /// Returns the instant `secs` seconds after the start, at most [`VirtualTime::MAX`].
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(NANOS_PER_SEC))
    }

    /// Returns the nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time that has passed since `earlier`; zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> VirtualDuration {
        VirtualDuration(self.0.saturating_sub(earlier.0))
    }

    /// Returns the instant `duration` later, or `None` after [`VirtualTime::MAX`].
    ///
    /// ```
    /// use simutant_sim_core::{VirtualDuration, VirtualTime};
    ///
    /// let (late, second) = (VirtualTime::MAX, VirtualDuration::from_secs(1));
    /// assert_eq!(late.checked_add(second), None);
    /// // The operator saturates instead.
    /// assert_eq!(late + second, VirtualTime::MAX);
    /// ```
    pub const fn checked_add(self, duration: VirtualDuration) -> Option<Self> {
        match self.0.checked_add(duration.0) {
            Some(nanos) => Some(Self(nanos)),
            None => None,
        }
    }
}

impl VirtualDuration {
    /// No time.
    pub const ZERO: Self = Self(0);
    /// The longest span that there is.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns a span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns a span of `micros` microseconds, at most [`VirtualDuration::MAX`].
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(NANOS_PER_MICRO))
    }

    /// Returns a span of `millis` milliseconds, at most [`VirtualDuration::MAX`].
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(NANOS_PER_MILLI))
    }

    /// Returns a span of `secs` seconds, at most [`VirtualDuration::MAX`].
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(NANOS_PER_SEC))
    }

    /// Returns the span in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns both spans together, or `None` if that is more than [`VirtualDuration::MAX`].
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(nanos) => Some(Self(nanos)),
            None => None,
        }
    }
}

impl Add<VirtualDuration> for VirtualTime {
    type Output = Self;

    fn add(self, duration: VirtualDuration) -> Self {
        Self(self.0.saturating_add(duration.0))
    }
}

impl AddAssign<VirtualDuration> for VirtualTime {
    fn add_assign(&mut self, duration: VirtualDuration) {
        *self = *self + duration;
    }
}

impl Sub<VirtualDuration> for VirtualTime {
    type Output = Self;

    fn sub(self, duration: VirtualDuration) -> Self {
        Self(self.0.saturating_sub(duration.0))
    }
}

impl Sub for VirtualTime {
    type Output = VirtualDuration;

    fn sub(self, earlier: Self) -> VirtualDuration {
        self.since(earlier)
    }
}

impl Add for VirtualDuration {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for VirtualDuration {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for VirtualDuration {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Scale for VirtualDuration {
    /// Returns the product, rounded to the nanosecond.
    fn scaled(self, factor: f64) -> Self {
        // The conversion to an integer saturates.
        Self((factor * self.0 as f64).round() as u64)
    }
}

impl Mul<u64> for VirtualDuration {
    type Output = Self;

    fn mul(self, factor: u64) -> Self {
        Self(self.0.saturating_mul(factor))
    }
}

/// Rounds down. Panics on division by zero, as integers do.
impl Div<u64> for VirtualDuration {
    type Output = Self;

    fn div(self, divisor: u64) -> Self {
        Self(self.0 / divisor)
    }
}

/// In seconds, with as many decimals as are needed: `0 s`, `1.25 s`, `0.000000001 s`.
impl fmt::Display for VirtualTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_in_unit(formatter, self.0, NANOS_PER_SEC, "s")
    }
}

/// In the largest unit of which it has at least one, with as many decimals as are needed: `1.5 ms`, `20 s`.
impl fmt::Display for VirtualDuration {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 | NANOS_PER_SEC.. => write_in_unit(formatter, self.0, NANOS_PER_SEC, "s"),
            NANOS_PER_MILLI.. => write_in_unit(formatter, self.0, NANOS_PER_MILLI, "ms"),
            NANOS_PER_MICRO.. => write_in_unit(formatter, self.0, NANOS_PER_MICRO, "us"),
            nanos => write!(formatter, "{nanos} ns"),
        }
    }
}

fn write_in_unit(formatter: &mut fmt::Formatter<'_>, nanos: u64, nanos_per_unit: u64, unit: &str) -> fmt::Result {
    let (whole, fraction) = (nanos / nanos_per_unit, nanos % nanos_per_unit);
    let decimals = nanos_per_unit.ilog10() as usize;
    let digits = format!("{fraction:0decimals$}");
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() { write!(formatter, "{whole} {unit}") } else { write!(formatter, "{whole}.{digits} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: impl fmt::Display, expect: &str) {
        assert_eq!(value.to_string(), expect);
    }

    #[test]
    fn a_time_is_shown_in_seconds() {
        check(VirtualTime::ZERO, "0 s");
        check(VirtualTime::from_millis(1_250), "1.25 s");
        check(VirtualTime::from_nanos(1), "0.000000001 s");
        check(VirtualTime::from_secs(100), "100 s");
    }

    #[test]
    fn a_duration_is_shown_in_the_largest_unit_that_fits() {
        check(VirtualDuration::ZERO, "0 s");
        check(VirtualDuration::from_nanos(999), "999 ns");
        check(VirtualDuration::from_nanos(1_500), "1.5 us");
        check(VirtualDuration::from_micros(20_050), "20.05 ms");
        check(VirtualDuration::from_millis(60_000), "60 s");
    }

    #[test]
    fn operators_saturate_and_checked_ones_tell() {
        assert_eq!(VirtualTime::MAX + VirtualDuration::from_nanos(1), VirtualTime::MAX);
        assert_eq!(VirtualTime::MAX.checked_add(VirtualDuration::from_nanos(1)), None);
        assert_eq!(VirtualTime::ZERO - VirtualDuration::from_secs(1), VirtualTime::ZERO);
        assert_eq!(VirtualTime::from_secs(1) - VirtualTime::from_secs(3), VirtualDuration::ZERO);
        assert_eq!(VirtualTime::from_secs(3) - VirtualTime::from_secs(1), VirtualDuration::from_secs(2));
        assert_eq!(VirtualDuration::from_secs(u64::MAX), VirtualDuration::MAX);
        assert_eq!(VirtualDuration::MAX * 2, VirtualDuration::MAX);
        assert_eq!(VirtualDuration::MAX.checked_add(VirtualDuration::from_nanos(1)), None);
        assert_eq!(VirtualDuration::from_secs(3) / 2, VirtualDuration::from_millis(1_500));
    }
}
