//! The thesis's test, and beside it what does not need its assumptions: a rank test and an effect size.
//!
//! The expected values of the tests were computed with Python 3 and scipy 1.17.1; the snippet stands with them.

use serde::{Deserialize, Serialize};
use statrs::function::erf::erfc;

/// What a sample looks like.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many values there are, at least 1.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// The sample standard deviation (divisor `count - 1`), `None` for one value; exactly 0 if all values are equal.
    pub sd: Option<f64>,
    /// The least value.
    pub min: f64,
    /// The middle value, or the mean of the two in the middle.
    pub median: f64,
    /// The greatest value.
    pub max: f64,
}

impl Summary {
    /// Returns the summary of `values`, `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        // Equal values are treated apart, since rounding would give them a deviation that a test divides by.
        let mean = if min == max { min } else { sorted.iter().sum::<f64>() / count as f64 };
        let sd = (count > 1).then(|| {
            let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
            (squares / (count - 1) as f64).sqrt()
        });
        let median = f64::midpoint(sorted[(count - 1) / 2], sorted[count / 2]);
        Some(Self { count, mean, sd, min, median, max })
    }

    /// Returns `mean ± standard error`'s second part, `None` if the values do not vary or there is only one.
    pub fn standard_error(&self) -> Option<f64> {
        self.sd.filter(|sd| *sd > 0.0).map(|sd| sd / (self.count as f64).sqrt())
    }
}

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

/// Returns the probability that a standard normal variable is at least `z`.
pub fn upper_tail(z: f64) -> f64 {
    0.5 * erfc(z / std::f64::consts::SQRT_2)
}

/// Returns the probability that a value of `a` is higher than one of `b`, equal ones counting half: the effect size of
/// Vargha and Delaney (2000), 0.5 for no effect. `None` if one of them is empty.
///
/// Cost O(n log n).
pub fn a12(a: &[f64], b: &[f64]) -> Option<f64> {
    let ranks = Ranks::of(a, b)?;
    Some(ranks.u / (a.len() as f64 * b.len() as f64))
}

/// Returns the one-sided p-value of the Mann-Whitney test that `a` tends to be higher than `b`: normal approximation,
/// corrected for ties and for continuity.
///
/// It asks about ranks alone, so it also answers where one sample does not vary at all. `None` if one of them is empty
/// or all values of both are equal.
pub fn rank_sum(a: &[f64], b: &[f64]) -> Option<f64> {
    let ranks = Ranks::of(a, b)?;
    let (count_a, count_b) = (a.len() as f64, b.len() as f64);
    let count = count_a + count_b;
    let tie_term = ranks.ties / (count * (count - 1.0));
    let variance = count_a * count_b / 12.0 * (count + 1.0 - tie_term);
    if variance <= 0.0 {
        return None;
    }
    Some(upper_tail((ranks.u - count_a * count_b / 2.0 - 0.5) / variance.sqrt()))
}

/// The rank sum of the first of two samples.
struct Ranks {
    /// Mann-Whitney's `U` of the first sample.
    u: f64,
    /// The sum of `t^3 - t` over the groups of equal values, `t` being the size of a group.
    ties: f64,
}

impl Ranks {
    fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let mut values: Vec<(f64, bool)> =
            a.iter().map(|&value| (value, true)).chain(b.iter().map(|&value| (value, false))).collect();
        values.sort_by(|left, right| left.0.total_cmp(&right.0));
        let (mut rank_sum, mut ties, mut before) = (0.0, 0.0, 0);
        for group in values.chunk_by(|left, right| left.0 == right.0) {
            let size = group.len() as f64;
            let of_a = group.iter().filter(|(_, is_a)| *is_a).count() as f64;
            rank_sum += of_a * (before as f64 + (size + 1.0) / 2.0);
            ties += size.powi(3) - size;
            before += group.len();
        }
        let count_a = a.len() as f64;
        Some(Self { u: rank_sum - count_a * (count_a + 1.0) / 2.0, ties })
    }
}

/// Returns the p-values corrected for their number by Holm's method (1979), in the same order: what is below alpha
/// then is a family in which even one false claim has a probability below alpha.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    let mut corrected = vec![0.0; p_values.len()];
    let mut highest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        highest = highest.max(((p_values.len() - rank) as f64 * p_values[index]).min(1.0));
        corrected[index] = highest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 6] = [0.2, 0.4, 0.4, 0.6, 0.9, 0.5];
    const B: [f64; 5] = [0.1, 0.4, 0.3, 0.3, 0.2];

    #[track_caller]
    fn check(found: impl Into<Option<f64>>, expect: f64) {
        let found = found.into().expect("the value is defined");
        // The complementary error function of `statrs` is good to about ten digits.
        assert!((found - expect).abs() <= 1e-10 * expect.abs(), "{found} is not {expect}");
    }

    /// `from statistics import mean, stdev; print(mean(a), stdev(a))`
    #[test]
    fn the_summary_agrees_with_python() {
        let summary = Summary::of(&A).expect("there are values");
        check(summary.mean, 0.5);
        check(summary.sd, 0.236_643_191_323_984_65);
        check(summary.median, 0.45);
        assert_eq!((summary.count, summary.min, summary.max), (6, 0.2, 0.9));
    }

    #[test]
    fn equal_values_have_no_deviation() {
        let summary = Summary::of(&[0.1; 200]).expect("there are values");
        assert_eq!((summary.mean, summary.sd), (0.1, Some(0.0)));
        assert_eq!(z_test(&summary, 0.05), None);
        assert_eq!(Summary::of(&[0.3]).expect("there is a value").sd, None);
        assert_eq!(Summary::of(&[]), None);
    }

    /// `z = (mean(a) - mean(b)) / (stdev(a) / len(a) ** 0.5); print(z, scipy.stats.norm.sf(z))`
    #[test]
    fn the_test_of_the_thesis_agrees_with_python() {
        let test = z_test(&Summary::of(&A).expect("there are values"), 0.26).expect("the values vary");
        check(test.z, 2.484_236_013_632_475);
        check(test.p, 0.006_491_486_465_025_066);
    }

    /// `print(scipy.stats.norm.sf(z))`
    #[test]
    fn the_upper_tail_agrees_with_scipy_far_out_too() {
        check(upper_tail(0.0), 0.5);
        check(upper_tail(1.644_853_626_951_472_2), 0.05);
        check(upper_tail(-1.0), 0.841_344_746_068_542_9);
        assert!((upper_tail(8.0) / 6.220_960_574_271_74e-16 - 1.0).abs() < 1e-9);
    }

    /// `scipy.stats.mannwhitneyu(a, b, alternative="greater", method="asymptotic")`; A12 is its U / (6 * 5).
    #[test]
    fn the_rank_test_agrees_with_scipy() {
        check(rank_sum(&A, &B), 0.032_073_309_367_202_19);
        check(rank_sum(&B, &A), 0.979_138_644_965_228_3);
        check(rank_sum(&[1.0; 5], &[0.5; 5]), 0.001_988_375_854_894_325_6);
        check(a12(&A, &B), 25.5 / 30.0);
        check(a12(&B, &A), 4.5 / 30.0);
    }

    #[test]
    fn ranks_of_nothing_or_of_equals_decide_nothing() {
        assert_eq!(rank_sum(&[], &B), None);
        assert_eq!(a12(&A, &[]), None);
        assert_eq!(rank_sum(&[0.5; 3], &[0.5; 9]), None);
        assert_eq!(a12(&[0.5; 3], &[0.5; 9]), Some(0.5));
    }

    /// By hand: 0.01 * 3, then 0.02 * 2, then 0.03 * 1, none below the one before.
    #[test]
    fn holm_multiplies_by_what_is_left() {
        let corrected = holm(&[0.03, 0.01, 0.02]);
        for (found, expect) in corrected.into_iter().zip([0.04, 0.03, 0.04]) {
            check(found, expect);
        }
        assert_eq!(holm(&[0.9, 0.8]), [1.0, 1.0]);
        assert_eq!(holm(&[]), [] as [f64; 0]);
    }
}
