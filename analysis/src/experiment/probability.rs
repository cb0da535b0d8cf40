//! How likely each implementation fails on each test case, as far as repetitions tell.

use serde::{Deserialize, Serialize};
use simutant_outcomes::Subject;

use crate::statistics::{Interval, wilson};

/// The probability that each test case of the universe passes on one implementation.
pub(super) type Missing = Vec<f64>;

/// A test case that fails on an implementation in some repetitions, or in all.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Failing {
    /// The test case's place in the universe.
    pub case: usize,
    /// In how many repetitions it failed.
    pub failed: usize,
    /// The probability of failing: the share of the repetitions.
    pub probability: f64,
    /// What that lies in, at the level `1 - alpha` (Wilson).
    pub interval: Interval,
}

/// Returns how often a test case failed on `subject`.
fn failed(subject: &Subject, case: usize) -> usize {
    subject.repetitions().filter(|failed| failed.contains(case)).count()
}

/// Returns the probability that each test case passes, by the share of the repetitions.
pub(super) fn missing(subject: &Subject) -> Missing {
    let repetitions = subject.repetitions().count() as f64;
    (0..subject.failed.len()).map(|case| 1.0 - failed(subject, case) as f64 / repetitions).collect()
}

/// Returns the test cases that failed at least once.
pub(super) fn failing(subject: &Subject, alpha: f64) -> Vec<Failing> {
    let of = subject.repetitions().count();
    let one = |case: usize| {
        let failed = failed(subject, case);
        (failed > 0).then(|| Failing {
            case,
            failed,
            probability: failed as f64 / of as f64,
            interval: wilson(failed, of, 1.0 - alpha).expect("there is a repetition"),
        })
    };
    (0..subject.failed.len()).filter_map(one).collect()
}
