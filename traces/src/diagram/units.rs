//! Times on an axis: one unit for all, three decimals.

use simutant_sim_core::VirtualTime;

/// The unit of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Its symbol.
    pub(crate) symbol: &'static str,
    nanos: u64,
}

impl Unit {
    /// Returns the unit for times up to `end`.
    pub(crate) fn for_times_to(end: VirtualTime) -> Self {
        match end.as_nanos() {
            0..10_000_000 => Self { symbol: "µs", nanos: 1_000 },
            10_000_000..10_000_000_000 => Self { symbol: "ms", nanos: 1_000_000 },
            _ => Self { symbol: "s", nanos: 1_000_000_000 },
        }
    }

    /// Returns a time with three decimals, rounded down so that what comes later never has a smaller number.
    pub(crate) fn label(self, at: VirtualTime) -> String {
        let thousandths = at.as_nanos() / (self.nanos / 1_000);
        format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(end: u64, at: u64, expect: &str) {
        let unit = Unit::for_times_to(VirtualTime::from_nanos(end));
        assert_eq!(format!("{} {}", unit.label(VirtualTime::from_nanos(at)), unit.symbol), expect);
    }

    #[test]
    fn labels_are_short() {
        check(9_999_999, 1_234_567, "1234.567 µs");
        check(10_000_000, 1_234_567, "1.234 ms");
        check(u64::MAX, 1_999_999, "0.001 s");
        check(u64::MAX, u64::MAX, "18446744073.709 s");
    }
}
