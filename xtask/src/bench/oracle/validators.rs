//! The specification of HTTP servers as a validator, beside one that is written by hand: ratio and table.

use serde::{Deserialize, Serialize};

use crate::bench::table::aligned;

/// What `validators` prints.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
pub(super) struct Validated {
    exchanges: u64,
    by_hand_seconds: f64,
    simutant_seconds: f64,
    changed: u64,
    rejected: u64,
}

impl Validated {
    /// Returns the time of the specification to that of the validator by hand.
    pub(super) fn ratio(&self) -> f64 {
        self.simutant_seconds / self.by_hand_seconds
    }
}

pub(super) fn table(validated: &Validated) -> String {
    let Validated { exchanges, by_hand_seconds, simutant_seconds, changed, rejected } = validated;
    let row = |validator: &str, seconds: f64| {
        let ns = 1e9 * seconds / *exchanges as f64;
        vec![validator.to_owned(), format!("{ns:.0}"), format!("{:.1}", seconds / by_hand_seconds)]
    };
    let header = ["validator of HTTP", "ns an exchange", "time, to by hand"].map(str::to_owned).to_vec();
    let rows = [header, row("by hand", *by_hand_seconds), row("simutant", *simutant_seconds)];
    format!(
        "{}\nOf {changed} traces with a changed answer both reject {rejected}, each at the same exchange.\n",
        aligned(&rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_has_nanoseconds_and_a_ratio() {
        let [by_hand_seconds, simutant_seconds] = [0.0005, 0.002];
        let validated = Validated { exchanges: 1_000, by_hand_seconds, simutant_seconds, changed: 9, rejected: 7 };
        let table = table(&validated);
        assert!(table.contains("| simutant          |           2000 |              4.0 |"), "{table}");
        assert!(table.ends_with("\nOf 9 traces with a changed answer both reject 7, each at the same exchange.\n"));
        assert_eq!(validated.ratio(), 4.0);
    }
}
