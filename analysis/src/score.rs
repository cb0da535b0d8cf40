//! Scores with their counts, and shares as text.

use serde::{Deserialize, Serialize};

/// How many of a set of mutants are killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// How many are killed.
    pub killed: usize,
    /// How many there are.
    pub of: usize,
}

impl Score {
    /// Returns the share that is killed, `None` for 0 of 0.
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.killed as f64 / self.of as f64)
    }

    /// Returns whether this percentage is killed, or more; never for 0 of 0.
    pub fn is_at_least(self, percent: f64) -> bool {
        // Without a division, 29 of 100 are 29 %.
        self.of > 0 && 100.0 * self.killed as f64 >= percent * self.of as f64
    }
}

impl std::fmt::Display for Score {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.value() {
            Some(value) => write!(formatter, "{} ({} of {})", percent(value), self.killed, self.of),
            None => formatter.write_str("none (0 of 0)"),
        }
    }
}

/// Returns `share` as a percentage with one decimal; what is not the whole is never shown as 100 %, what is not
/// nothing never as 0 %.
pub fn percent(share: f64) -> String {
    let tenths = (share * 1000.0).round();
    if share < 1.0 && tenths >= 1000.0 {
        return "> 99.9 %".into();
    }
    if share > 0.0 && tenths <= 0.0 {
        return "< 0.1 %".into();
    }
    format!("{:.1} %", tenths / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(killed: usize, of: usize, expect: &str) {
        assert_eq!(Score { killed, of }.to_string(), expect);
    }

    #[test]
    fn a_score_is_shown_with_its_counts() {
        check(3, 5, "60.0 % (3 of 5)");
        check(4, 5, "80.0 % (4 of 5)");
        check(5, 5, "100.0 % (5 of 5)");
        check(0, 5, "0.0 % (0 of 5)");
    }

    #[test]
    fn nothing_of_nothing_is_no_score() {
        check(0, 0, "none (0 of 0)");
        assert!(!Score { killed: 0, of: 0 }.is_at_least(0.0));
    }

    #[test]
    fn a_score_is_held_against_a_percentage_exactly() {
        for killed in 0..=100 {
            let score = Score { killed, of: 100 };
            assert!(score.is_at_least(killed as f64) && !score.is_at_least(killed as f64 + 0.001), "{score}");
        }
        assert!(!Score { killed: 9999, of: 10_000 }.is_at_least(100.0));
    }

    #[test]
    fn rounding_never_reaches_the_ends() {
        check(9999, 10_000, "> 99.9 % (9999 of 10000)");
        check(1, 10_000, "< 0.1 % (1 of 10000)");
        check(999, 1000, "99.9 % (999 of 1000)");
    }
}
