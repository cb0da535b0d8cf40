//! Whether any of several samples tends to be higher than the others: the test of Kruskal and Wallis (1952).

use serde::{Deserialize, Serialize};

use super::chi_squared_tail;
use super::ranks::{midranks, tie_term};

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct KruskalWallis {
    /// The statistic, corrected for ties.
    pub h: f64,
    /// Degrees of freedom: the number of samples less one.
    pub freedom: usize,
    /// The p-value, by the chi-squared distribution.
    pub p: f64,
}

/// Tests whether all `samples` are drawn from one distribution:
/// `H = (12 / (N (N + 1)) sum(R_i^2 / n_i) - 3 (N + 1)) / (1 - sum(t^3 - t) / (N^3 - N))`.
///
/// `None` if there are fewer than two samples, if one is empty, or if all values are equal.
pub fn kruskal_wallis(samples: &[&[f64]]) -> Option<KruskalWallis> {
    if samples.len() < 2 || samples.iter().any(|sample| sample.is_empty()) {
        return None;
    }
    let (ranks, groups) = midranks(&samples.concat());
    if groups.len() < 2 {
        return None;
    }
    let count = ranks.len() as f64;
    let centre = (count + 1.0) / 2.0;
    let (mut between, mut start) = (0.0, 0);
    for sample in samples {
        let own = &ranks[start..start + sample.len()];
        let size = sample.len() as f64;
        // The squares of deviations from the mean rank lose fewer digits than the difference of large numbers in the
        // formula.
        between += size * (own.iter().sum::<f64>() / size - centre).powi(2);
        start += sample.len();
    }
    let h = 12.0 / (count * (count + 1.0)) * between / (1.0 - tie_term(&groups) / (count.powi(3) - count));
    let freedom = samples.len() - 1;
    Some(KruskalWallis { h, freedom, p: chi_squared_tail(h, freedom as f64) })
}
