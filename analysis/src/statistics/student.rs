//! Whether a mean is a given one: Student's test (1908).

use serde::{Deserialize, Serialize};

use super::{Summary, student_tail};

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TTest {
    /// The statistic; above 0 if the values are higher on average.
    pub t: f64,
    /// The two-sided p-value.
    pub p: f64,
}

/// Tests whether the mean of `values` is `known`: `t = (mean - known) / (sd / sqrt(n))`, of Student's distribution with
/// `n - 1` degrees of freedom.
///
/// Unlike a test of ranks it asks for no symmetry, but for enough values that their mean is about normal. `None` if the
/// values do not vary.
pub fn t_test(values: &Summary, known: f64) -> Option<TTest> {
    let t = (values.mean - known) / values.standard_error()?;
    let p = 2.0 * student_tail(t.abs(), (values.count - 1) as f64);
    Some(TTest { t, p: p.min(1.0) })
}
