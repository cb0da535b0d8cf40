//! Whether two shares differ within strata: the test of Cochran (1954) and of Mantel and Haenszel (1959).

use serde::{Deserialize, Serialize};

use super::chi_squared_tail;

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CochranMantelHaenszel {
    /// The statistic, chi-squared with one degree of freedom, without a correction for continuity.
    pub statistic: f64,
    /// The p-value.
    pub p: f64,
    /// The odds ratio of all strata, `sum(a d / n) / sum(b c / n)`; `None` if that is divided by 0.
    pub odds_ratio: Option<f64>,
}

/// Tests tables `[[a, b], [c, d]]`, one a stratum, in which `a` of `a + b` succeeded in one group and `c` of `c + d` in
/// the other: `(sum(a - E a))^2 / sum(Var a)` with the hypergeometric moments of each table.
///
/// Strata with a margin of 0 have no part. `None` if that is all of them.
pub fn cochran_mantel_haenszel(strata: &[[[usize; 2]; 2]]) -> Option<CochranMantelHaenszel> {
    let (mut deviation, mut variance, mut with, mut against) = (0.0, 0.0, 0.0, 0.0);
    for stratum in strata {
        let [[a, b], [c, d]] = stratum.map(|row| row.map(|count| count as f64));
        let count = a + b + c + d;
        let margins = (a + b) * (c + d) * (a + c) * (b + d);
        if margins > 0.0 {
            deviation += a - (a + b) * (a + c) / count;
            variance += margins / (count * count * (count - 1.0));
            with += a * d / count;
            against += b * c / count;
        }
    }
    let statistic = (variance > 0.0).then(|| deviation * deviation / variance)?;
    let odds_ratio = (against > 0.0).then(|| with / against);
    Some(CochranMantelHaenszel { statistic, p: chi_squared_tail(statistic, 1.0), odds_ratio })
}
