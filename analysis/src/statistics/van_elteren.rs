//! Whether values of one sample tend to be higher than those of another of the same stratum: van Elteren's test (1960).
//!
//! In the analysis the strata are the sizes of suites, so that a criterion gets no credit for asking for more test cases.

use serde::{Deserialize, Serialize};

use super::Alternative;
use super::ranks::Ranks;

/// The values of both samples in one stratum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stratum {
    /// Those of the first sample.
    pub a: Vec<f64>,
    /// Those of the second.
    pub b: Vec<f64>,
}

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VanElteren {
    /// The statistic, standard normal without an effect; above 0 if the first sample tends to be higher.
    pub z: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// A12 within strata, on average: that of a stratum weighs `n1 n2 / (n1 + n2 + 1)`.
    pub effect: f64,
    /// How many strata have values of both samples.
    pub strata: usize,
    /// How many values the first sample has in these.
    pub count_a: usize,
    /// How many the second has.
    pub count_b: usize,
}

/// Tests within strata: `z = sum(w (R - E R)) / sqrt(sum(w^2 Var R))` with the rank sums `R` of the first sample in each stratum and the
/// weights `w = 1 / (n1 + n2 + 1)`, which are best where the effect is the same in each; corrected for ties, not for continuity.
///
/// Strata with one sample alone have no part. `None` if that is all of them, or if the values of no stratum vary.
pub fn van_elteren(strata: &[Stratum]) -> Option<VanElteren> {
    let (mut deviation, mut variance, mut wins, mut pairs) = (0.0, 0.0, 0.0, 0.0);
    let (mut shared, mut count_a, mut count_b) = (0, 0, 0);
    for stratum in strata {
        let Some(ranks) = Ranks::of(&stratum.a, &stratum.b) else { continue };
        let own_pairs = stratum.a.len() as f64 * stratum.b.len() as f64;
        let weight = 1.0 / (stratum.a.len() + stratum.b.len() + 1) as f64;
        deviation += weight * (ranks.u - own_pairs / 2.0);
        variance += weight.powi(2) * ranks.variance(stratum.a.len(), stratum.b.len());
        wins += weight * ranks.u;
        pairs += weight * own_pairs;
        shared += 1;
        count_a += stratum.a.len();
        count_b += stratum.b.len();
    }
    if variance <= 0.0 {
        return None;
    }
    let p = Alternative::TwoSided.normal_p(deviation, variance.sqrt(), 0.0);
    Some(VanElteren { z: deviation / variance.sqrt(), p, effect: wins / pairs, strata: shared, count_a, count_b })
}
