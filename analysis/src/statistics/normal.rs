//! The test of the thesis.

use serde::{Deserialize, Serialize};

use super::{Summary, upper_tail};

/// The test of section 4.2 of the thesis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ZTest {
    /// The test statistic.
    pub z: f64,
    /// The probability of a statistic at least as high if the alternative does not hold.
    pub p: f64,
}

/// Tests whether `a` is higher than `mean_b` on average: `z = (mean_a - mean_b) / (sd_a / sqrt(n))`, `p = 1 - Phi(z)`.
///
/// Like the thesis, this takes `mean_b` as known and only `a` as uncertain. `None` if the values of `a` do not vary:
/// then the statistic is not defined.
pub fn z_test(a: &Summary, mean_b: f64) -> Option<ZTest> {
    let z = (a.mean - mean_b) / a.standard_error()?;
    Some(ZTest { z, p: upper_tail(z) })
}
