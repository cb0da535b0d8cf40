//! Whether one of two suites kills more of the same mutants: McNemar's test (1947), exactly.

use super::{Alternative, binomial_test};

/// Returns the two-sided p-value when the first alone succeeded on `first_only` subjects and the second alone on
/// `second_only`: those on which both did the same say nothing, the others fall to either with probability 1/2.
///
/// 1 if they never differed.
pub fn mcnemar_exact(first_only: usize, second_only: usize) -> f64 {
    binomial_test(first_only, first_only + second_only, 0.5, Alternative::TwoSided)
}
