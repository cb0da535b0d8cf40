//! Whether any of several treatments tends to be higher on the same blocks: Friedman's test (1937), and Nemenyi's
//! critical difference.

use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

use super::ranks::{midranks, tie_term};
use super::{chi_squared_tail, upper_tail};

/// The outcome of a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Friedman {
    /// The statistic, corrected for ties.
    pub q: f64,
    /// Degrees of freedom: the number of treatments less one.
    pub freedom: usize,
    /// The p-value, by the chi-squared distribution.
    pub p: f64,
    /// The mean rank of each treatment over the blocks; the highest values have the highest ranks.
    pub mean_ranks: Vec<f64>,
}

/// Tests whether all treatments are alike, when `blocks[b][j]` is the value of treatment `j` on block `b`:
/// `Q = (12 / (b k (k + 1)) sum(R_j^2) - 3 b (k + 1)) / (1 - sum(t^3 - t) / (b (k^3 - k)))`.
///
/// `None` if there are no blocks or fewer than two treatments, or if each block has equal values.
///
/// # Panics
/// If the blocks have different lengths.
pub fn friedman(blocks: &[Vec<f64>]) -> Option<Friedman> {
    let treatments = blocks.first()?.len();
    if treatments < 2 {
        return None;
    }
    let (mut rank_sums, mut ties) = (vec![0.0; treatments], 0.0);
    for block in blocks {
        assert_eq!(block.len(), treatments, "every block has every treatment");
        let (ranks, groups) = midranks(block);
        rank_sums.iter_mut().zip(ranks).for_each(|(sum, rank)| *sum += rank);
        ties += tie_term(&groups);
    }
    let (count, k) = (blocks.len() as f64, treatments as f64);
    let correction = 1.0 - ties / (count * (k.powi(3) - k));
    if correction <= 0.0 {
        return None;
    }
    let centre = count * (k + 1.0) / 2.0;
    let squares: f64 = rank_sums.iter().map(|sum| (sum - centre).powi(2)).sum();
    let q = 12.0 / (count * k * (k + 1.0)) * squares / correction;
    let freedom = treatments - 1;
    let mean_ranks = rank_sums.into_iter().map(|sum| sum / count).collect();
    Some(Friedman { q, freedom, p: chi_squared_tail(q, freedom as f64), mean_ranks })
}

/// Returns by how much the mean ranks of two of `treatments` must differ over `blocks` to be significant at `alpha`,
/// all pairs taken together: `q / sqrt(2) * sqrt(k (k + 1) / (6 b))` with the quantile `q` of the studentized range
/// (Nemenyi 1963; Demšar 2006).
///
/// `None` without blocks, or with fewer than two treatments.
pub fn nemenyi_difference(treatments: usize, blocks: usize, alpha: f64) -> Option<f64> {
    if treatments < 2 || blocks == 0 {
        return None;
    }
    let (k, count) = (treatments as f64, blocks as f64);
    Some(studentized_range_quantile(treatments, 1.0 - alpha) * (k * (k + 1.0) / (12.0 * count)).sqrt())
}

/// Returns what the range of `count` independent standard normal variables is at most with probability `p`: the
/// quantile of the studentized range for infinite degrees of freedom.
///
/// # Panics
/// If `count` is below 2 or `p` is not between 0 and 1.
pub fn studentized_range_quantile(count: usize, p: f64) -> f64 {
    assert!(count >= 2, "{count} variables have no range");
    assert!(p > 0.0 && p < 1.0, "{p} is not a probability between 0 and 1");
    let (mut below, mut above) = (0.0, 1.0);
    while range_at_most(count, above) < p {
        above *= 2.0;
    }
    // Each step halves the distance; after these it is that of neighbouring numbers.
    for _ in 0..60 {
        let middle = f64::midpoint(below, above);
        let side = if range_at_most(count, middle) < p { &mut below } else { &mut above };
        *side = middle;
    }
    f64::midpoint(below, above)
}

/// `P(range <= q) = k * integral of phi(z) (Phi(z) - Phi(z - q))^(k - 1)`, `z` being the greatest of the variables.
///
/// The trapezoidal rule over the whole line is exact to the last digits for functions as smooth as this one.
fn range_at_most(count: usize, q: f64) -> f64 {
    const STEP: f64 = 1.0 / 16.0;
    let sum: f64 = (-144..=144)
        .map(|step| {
            let z = f64::from(step) * STEP;
            (-z * z / 2.0).exp() * (upper_tail(z - q) - upper_tail(z)).powi(count as i32 - 1)
        })
        .sum();
    count as f64 * sum * STEP / TAU.sqrt()
}
