//! How long an end of a stream waits for an acknowledgement before it sends again (RFC 6298).

use crate::VirtualDuration;

/// The timeout before anything is known of the way (RFC 6298, section 2.1).
pub(crate) const INITIAL: VirtualDuration = VirtualDuration::from_secs(1);
/// Linux's minimum. The RFC asks for a second, and nobody does it.
const MIN: VirtualDuration = VirtualDuration::from_millis(200);
/// Back-off goes no further (RFC 6298, section 2.5).
const MAX: VirtualDuration = VirtualDuration::from_secs(60);

/// The retransmission timeout, which follows the round trips that were measured, and doubles as long as nothing is
/// acknowledged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RoundTrip {
    /// The smoothed round trip and its mean deviation, once there is one.
    smoothed: Option<(VirtualDuration, VirtualDuration)>,
    /// How often the timeout was doubled.
    doublings: u32,
}

impl RoundTrip {
    pub(crate) const UNKNOWN: Self = Self { smoothed: None, doublings: 0 };

    /// Takes in a round trip of something that was sent once: of what was sent twice nobody knows which copy was
    /// acknowledged (Karn and Partridge 1987).
    pub(crate) fn measured(&mut self, round_trip: VirtualDuration) {
        self.smoothed = Some(match self.smoothed {
            None => (round_trip, round_trip / 2),
            Some((smoothed, deviation)) => {
                // The differences saturate at zero, so that one of the two is the distance.
                let distance = (smoothed - round_trip) + (round_trip - smoothed);
                ((smoothed * 7 + round_trip) / 8, (deviation * 3 + distance) / 4)
            }
        });
    }

    /// Returns the timeout.
    pub(crate) fn timeout(&self) -> VirtualDuration {
        let base = match self.smoothed {
            None => INITIAL,
            Some((smoothed, deviation)) => (smoothed + deviation * 4).max(MIN),
        };
        doubled(base, self.doublings).min(MAX)
    }

    /// Doubles the timeout: nothing came in time.
    pub(crate) fn back_off(&mut self) {
        self.doublings = self.doublings.saturating_add(1);
    }

    /// Ends the doubling: something was acknowledged. The RFC waits for the next measurement with that; Linux does not.
    pub(crate) fn progressed(&mut self) {
        self.doublings = 0;
    }
}

/// Returns a duration doubled so many times, or as long as there is.
pub(crate) fn doubled(duration: VirtualDuration, times: u32) -> VirtualDuration {
    duration * 1_u64.checked_shl(times).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> VirtualDuration {
        VirtualDuration::from_millis(millis)
    }

    #[test]
    fn the_timeout_follows_the_round_trips() {
        let mut round_trip = RoundTrip::UNKNOWN;
        assert_eq!(round_trip.timeout(), INITIAL);
        round_trip.measured(ms(400));
        assert_eq!(round_trip.timeout(), ms(400 + 4 * 200));
        round_trip.measured(ms(480));
        assert_eq!(round_trip.timeout(), ms(410 + 4 * 170));
        (0..200).for_each(|_| round_trip.measured(ms(10)));
        assert_eq!(round_trip.timeout(), MIN);
    }

    #[test]
    fn it_doubles_up_to_a_maximum_until_something_is_acknowledged() {
        let mut round_trip = RoundTrip::UNKNOWN;
        round_trip.back_off();
        round_trip.back_off();
        assert_eq!(round_trip.timeout(), ms(4_000));
        (0..100).for_each(|_| round_trip.back_off());
        assert_eq!(round_trip.timeout(), MAX);
        round_trip.progressed();
        assert_eq!(round_trip.timeout(), INITIAL);
    }
}
