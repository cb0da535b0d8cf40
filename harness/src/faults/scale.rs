//! How virtual time becomes real time.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use simutant_sim_core::{VirtualDuration, VirtualTime};

/// The real duration of a second of virtual time, in seconds: above 0.
///
/// ```
/// use std::time::Duration;
/// use simutant_harness::TimeScale;
/// use simutant_sim_core::{VirtualDuration, VirtualTime};
///
/// let slow: TimeScale = serde_json::from_str("4.0")?;
/// assert_eq!(slow.real(VirtualDuration::from_millis(50)), Duration::from_millis(200));
/// assert_eq!(slow.virtual_time(Duration::from_secs(2)), VirtualTime::from_millis(500));
/// let error = TimeScale::new(0.0).expect_err("no fault would wait for anything");
/// assert_eq!(error.to_string(), "the time scale is 0: it must be above 0 and at most 1000000");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct TimeScale(f64);

/// A number that is no time scale.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("the time scale is {0}: it must be above 0 and at most 1000000")]
pub struct InvalidTimeScale(pub f64);

impl TimeScale {
    /// A second takes a second.
    pub const REAL: Self = Self(1.0);

    /// Returns the scale at which a second of virtual time takes so many seconds.
    ///
    /// # Errors
    /// [`InvalidTimeScale`] if it is not above 0, or above a million.
    pub fn new(seconds: f64) -> Result<Self, InvalidTimeScale> {
        if seconds > 0.0 && seconds <= 1e6 { Ok(Self(seconds)) } else { Err(InvalidTimeScale(seconds)) }
    }

    /// Returns how long a virtual duration takes; the longest that there is if it is longer.
    pub fn real(self, duration: VirtualDuration) -> Duration {
        let nanos = duration.as_nanos();
        // A product with 1 would lose the last digits of long durations.
        if self == Self::REAL {
            return Duration::from_nanos(nanos);
        }
        Duration::try_from_secs_f64(nanos as f64 / 1e9 * self.0).unwrap_or(Duration::MAX)
    }

    /// Returns when something happens, from the beginning on.
    pub fn moment(self, at: VirtualTime) -> Duration {
        self.real(at - VirtualTime::ZERO)
    }

    /// Returns the virtual time after so much real time.
    pub fn virtual_time(self, elapsed: Duration) -> VirtualTime {
        let nanos = if self == Self::REAL { elapsed.as_nanos() } else { (elapsed.as_nanos() as f64 / self.0) as u128 };
        VirtualTime::from_nanos(nanos.try_into().unwrap_or(u64::MAX))
    }
}

impl Default for TimeScale {
    fn default() -> Self {
        Self::REAL
    }
}

impl TryFrom<f64> for TimeScale {
    type Error = InvalidTimeScale;

    fn try_from(seconds: f64) -> Result<Self, InvalidTimeScale> {
        Self::new(seconds)
    }
}

impl From<TimeScale> for f64 {
    fn from(scale: TimeScale) -> Self {
        scale.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_stretches_virtual_time_and_back() {
        for seconds in [1.0, 0.5, 3.0, 0.01] {
            let scale = TimeScale::new(seconds).expect("above 0");
            let real = scale.moment(VirtualTime::from_millis(400));
            assert!((real.as_secs_f64() - 0.4 * seconds).abs() < 1e-6, "{real:?}");
            let back = scale.virtual_time(real).as_nanos().abs_diff(400_000_000);
            assert!(back < 1_000, "{back}");
        }
        assert_eq!(TimeScale::REAL.moment(VirtualTime::MAX), Duration::from_nanos(u64::MAX));
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(TimeScale::new(wrong).is_err(), "{wrong}");
            assert!(serde_json::from_value::<TimeScale>(serde_json::json!(wrong)).is_err(), "{wrong}");
        }
    }
}
