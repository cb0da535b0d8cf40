//! What a random suite of a given size scores: a closed form, where the thesis draws random suites.

use serde::{Deserialize, Serialize};
use simutant_outcomes::BitSet;

use crate::missing::missing_of_random;

/// Mean and standard deviation of a distribution that is known, not sampled.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// The expected value.
    pub mean: f64,
    /// The standard deviation.
    pub sd: f64,
}

/// The score of a suite of `n` different test cases drawn at random from a universe of `N`, for any `n`.
///
/// A mutant that `k` test cases kill survives such a suite with the hypergeometric probability
/// `q(k) = C(N - k, n) / C(N, n)`. The expected score is the mean of `1 - q(k)` over the mutants. Two mutants both
/// survive if none of the test cases that kill either is drawn, so their covariance is `q(|K u K'|) - q(k) q(k')`.
/// Only counts of unions are kept: how many mutants have `k` kills, how many pairs have a union of that size.
#[derive(Debug, Clone)]
pub struct RandomBaseline {
    universe: usize,
    mutants: usize,
    /// `with_kills[k]`: how many mutants are killed by `k` test cases.
    with_kills: Vec<u64>,
    /// `with_union[k]`: how many ordered pairs of mutants, each with itself too, are killed by `k` test cases together.
    with_union: Vec<u64>,
    /// The moments by size, where test cases kill with probabilities; empty where they do so for certain.
    by_size: Vec<Moments>,
}

impl RandomBaseline {
    /// Prepares the formula for mutants with these rows of the kill matrix; cost O(rows^2 * cases / 64).
    ///
    /// # Panics
    /// If a row is longer than `universe`.
    pub fn new<'a>(rows: impl IntoIterator<Item = &'a BitSet>, universe: usize) -> Self {
        let rows: Vec<&BitSet> = rows.into_iter().collect();
        let mut with_kills = vec![0; universe + 1];
        let mut with_union = vec![0; universe + 1];
        for (index, row) in rows.iter().enumerate() {
            let kills = row.count_ones(..);
            with_kills[kills] += 1;
            with_union[kills] += 1;
            for other in &rows[..index] {
                with_union[row.union_count(other)] += 2;
            }
        }
        Self { universe, mutants: rows.len(), with_kills, with_union, by_size: Vec::new() }
    }

    /// Prepares sizes up to `size_max` for mutants of which `missing` has the probability that each test case does not
    /// kill it: the score of a suite is then the expected share of the mutants. As in [`RandomBaseline::new`], with the
    /// means of products of probabilities in the place of `q`; cost O(rows^2 * cases * size_max).
    pub(crate) fn of_probabilities(missing: &[Vec<f64>], universe: usize, size_max: usize) -> Self {
        let mut by_size = vec![Moments { mean: 0.0, sd: 0.0 }; size_max + 1];
        let count = missing.len() as f64;
        let mut add = |missing: &[f64], to: fn(&mut Moments) -> &mut f64, weight: f64| {
            let survivals = missing_of_random(missing, size_max);
            by_size.iter_mut().zip(survivals).for_each(|(moments, survival)| *to(moments) += weight * survival);
        };
        for (index, row) in missing.iter().enumerate() {
            add(row, |moments| &mut moments.mean, 1.0 / count);
            for other in &missing[..=index] {
                let both: Vec<f64> = row.iter().zip(other).map(|(one, other)| one * other).collect();
                let ordered_pairs = if std::ptr::eq(row, other) { 1.0 } else { 2.0 };
                add(&both, |moments| &mut moments.sd, ordered_pairs / (count * count));
            }
        }
        for Moments { mean, sd } in &mut by_size {
            *sd = (*sd - *mean * *mean).max(0.0).sqrt();
            *mean = 1.0 - *mean;
        }
        Self { universe, mutants: missing.len(), with_kills: Vec::new(), with_union: Vec::new(), by_size }
    }

    /// Returns the moments of the score of `size` random test cases, `None` if there is no mutant.
    ///
    /// Cost O(universe * size).
    ///
    /// # Panics
    /// If `size` is more than the universe has, or was prepared.
    pub fn at(&self, size: usize) -> Option<Moments> {
        assert!(size <= self.universe, "{size} test cases cannot be drawn from {}", self.universe);
        if self.mutants == 0 {
            return None;
        }
        if !self.by_size.is_empty() {
            return Some(self.by_size[size]);
        }
        let expected = |counts: &[u64]| -> f64 {
            let kept = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            kept.map(|(kills, &count)| count as f64 * Self::survival(self.universe, kills, size)).sum()
        };
        let mutants = self.mutants as f64;
        let surviving = expected(&self.with_kills) / mutants;
        let variance = expected(&self.with_union) / (mutants * mutants) - surviving * surviving;
        // Rounding can leave a tiny negative difference where the score cannot vary.
        Some(Moments { mean: 1.0 - surviving, sd: variance.max(0.0).sqrt() })
    }

    /// Returns the mean score of so many random test cases, between two sizes by interpolation: that of suites of which some
    /// have one test case more than others, so that this is their mean size. `None` if there is no mutant.
    ///
    /// # Panics
    /// As [`RandomBaseline::at`].
    pub(crate) fn mean_between(&self, size: f64) -> Option<f64> {
        let [below, above] = [size.floor(), size.ceil()].map(|size| self.at(size as usize));
        let (below, above) = (below?.mean, above?.mean);
        Some(below + size.fract() * (above - below))
    }

    /// Returns the probability that none of `kills` test cases of a universe is among `size` drawn from it.
    ///
    /// `C(N - k, n) / C(N, n)` as a product of `min(n, k)` ratios: exact but for rounding, where a difference of
    /// logarithms of binomials of large numbers would cancel.
    pub(crate) fn survival(universe: usize, kills: usize, size: usize) -> f64 {
        let (fewer, more) = (kills.min(size), kills.max(size));
        if more + fewer > universe {
            return 0.0;
        }
        (0..fewer).map(|drawn| (universe - more - drawn) as f64 / (universe - drawn) as f64).product()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_synthetic::from_kills;

    /// Compares the closed form with the enumeration of all suites of each size.
    #[track_caller]
    fn check(rows: &[&str]) {
        let kills = from_kills(rows).kills;
        let universe = rows[0].len();
        let baseline = RandomBaseline::new(&kills, universe);
        for size in 0..=universe {
            let scores: Vec<f64> = (0..1_u32 << universe)
                .filter(|suite| suite.count_ones() as usize == size)
                .map(|suite| {
                    let is_killed = |row: &&BitSet| row.ones().any(|case| suite >> case & 1 == 1);
                    kills.iter().filter(is_killed).count() as f64 / kills.len() as f64
                })
                .collect();
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / scores.len() as f64;
            let found = baseline.at(size).expect("there are mutants");
            assert!((found.mean - mean).abs() < 1e-12, "size {size}: {found:?}, enumerated mean {mean}");
            assert!((found.sd.powi(2) - variance).abs() < 1e-12, "size {size}: {found:?}, variance {variance}");
        }
    }

    #[test]
    fn the_closed_form_agrees_with_the_enumeration_of_all_suites() {
        check(&["k......."]);
        check(&["k.......", "kk......", "..kkkk..", ".....k.k", "kkkkkkkk"]);
        check(&["k.k.k.k.k.", ".k.k.k.k.k", "kkk.......", "kkk.......", ".......k.."]);
    }

    /// `1 - comb(2500 - k, n) / comb(2500, n)` with Python's exact integers:
    /// `from math import comb; from fractions import Fraction`
    /// `print(float(1 - Fraction(comb(2500 - 3, 20), comb(2500, 20))))` and so on.
    #[test]
    fn large_universes_keep_their_precision() {
        let check_one = |kills: usize, size: usize, expect: f64| {
            let mut row = BitSet::with_capacity(2500);
            row.insert_range(..kills);
            let found = RandomBaseline::new([&row], 2500).at(size).expect("there is a mutant").mean;
            assert!((found - expect).abs() < 1e-13, "{found} is not {expect}");
        };
        check_one(3, 20, 0.023_817_965_296_607_034);
        check_one(1249, 7, 0.992_209_427_520_903);
        check_one(40, 200, 0.965_358_286_460_185_8);
    }

    #[test]
    fn probabilities_agree_with_the_enumeration_of_all_suites() {
        let missing = [[0.5, 1.0, 0.0, 1.0, 0.9, 1.0], [1.0, 0.25, 1.0, 1.0, 0.9, 1.0], [1.0; 6]].map(Vec::from);
        let baseline = RandomBaseline::of_probabilities(&missing, 6, 6);
        for size in 0..=6 {
            let suites = (0..1_u32 << 6).filter(|suite| suite.count_ones() as usize == size);
            let score = |suite: u32| {
                let survival = |row: &Vec<f64>| {
                    (0..6).filter(|case| suite >> case & 1 == 1).map(|case| row[case]).product::<f64>()
                };
                1.0 - missing.iter().map(survival).sum::<f64>() / 3.0
            };
            let scores: Vec<f64> = suites.map(score).collect();
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / scores.len() as f64;
            let found = baseline.at(size).expect("there are mutants");
            assert!((found.mean - mean).abs() < 1e-12, "size {size}: {found:?}, enumerated mean {mean}");
            assert!((found.sd.powi(2) - variance).abs() < 1e-12, "size {size}: {found:?}, variance {variance}");
        }
    }

    #[test]
    fn without_mutants_there_is_no_score() {
        assert_eq!(RandomBaseline::new([], 5).at(3), None);
    }
}
