//! The clock of the machine.

use rustix::time::{ClockId, clock_gettime};

/// Returns the nanoseconds of `CLOCK_MONOTONIC`, which all processes of the machine can compare.
///
/// [`std::time::Instant`] has the same clock, and does not tell its number.
pub fn monotonic_nanos() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).expect("the clock starts at 0");
    let nanos = u64::try_from(now.tv_nsec).expect("a part of a second");
    seconds * 1_000_000_000 + nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_goes_back() {
        let first = monotonic_nanos();
        assert!(0 < first && first <= monotonic_nanos());
    }
}
