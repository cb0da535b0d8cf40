//! Whether values of one sample tend to be higher than those of another, without the assumption that both are spread
//! alike: the test of Brunner and Munzel (2000).

use serde::{Deserialize, Serialize};

use super::ranks::midranks;
use super::{Alternative, student_tail};

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BrunnerMunzel {
    /// The statistic; above 0 if the first sample tends to be higher.
    pub statistic: f64,
    /// Degrees of freedom of Student's distribution, by Satterthwaite's approximation.
    pub freedom: f64,
    /// The p-value.
    pub p: f64,
}

/// Tests `a` against `b`: `W = n1 n2 (mean rank of a - that of b) / ((n1 + n2) sqrt(n1 S1 + n2 S2))`, where `S` is the
/// variance of a value's rank among all minus its rank within its own sample.
///
/// `None` if a sample has fewer than two values, or if the samples do not overlap, or all values are equal: then the
/// variance is 0.
pub fn brunner_munzel(a: &[f64], b: &[f64], alternative: Alternative) -> Option<BrunnerMunzel> {
    if a.len() < 2 || b.len() < 2 {
        return None;
    }
    let ranks = midranks(&[a, b].concat()).0;
    let (ranks_a, ranks_b) = ranks.split_at(a.len());
    let mean = |ranks: &[f64]| ranks.iter().sum::<f64>() / ranks.len() as f64;
    let variance = |among_all: &[f64], own: &[f64]| {
        let placements: Vec<f64> = among_all.iter().zip(midranks(own).0).map(|(all, own)| all - own).collect();
        let centre = mean(&placements);
        placements.iter().map(|placement| (placement - centre).powi(2)).sum::<f64>() / (own.len() - 1) as f64
    };
    let (count_a, count_b) = (a.len() as f64, b.len() as f64);
    let (part_a, part_b) = (count_a * variance(ranks_a, a), count_b * variance(ranks_b, b));
    let both = part_a + part_b;
    if both <= 0.0 {
        return None;
    }
    let statistic = count_a * count_b * (mean(ranks_a) - mean(ranks_b)) / ((count_a + count_b) * both.sqrt());
    let freedom = both.powi(2) / (part_a.powi(2) / (count_a - 1.0) + part_b.powi(2) / (count_b - 1.0));
    let p = match alternative {
        Alternative::Greater => student_tail(statistic, freedom),
        Alternative::Less => student_tail(-statistic, freedom),
        Alternative::TwoSided => (2.0 * student_tail(statistic.abs(), freedom)).min(1.0),
    };
    Some(BrunnerMunzel { statistic, freedom, p })
}
