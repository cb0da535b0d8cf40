//! Whether values of one sample tend to be higher than those of another: the test of Mann and Whitney (1947).

use serde::{Deserialize, Serialize};

use super::ranks::Ranks;
use super::{Alternative, Method};

/// With this many values in one of the samples or fewer, the exact distribution is used.
const EXACT_BELOW: usize = 20;

/// The exact distribution is not used for more values than this together, since it costs their square.
const EXACT_TOGETHER_MAX: usize = 120;

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MannWhitney {
    /// `U` of the first sample: the pairs in which its value is higher, equals counting half.
    pub u: f64,
    /// The p-value.
    pub p: f64,
    /// How it came about.
    pub method: Method,
}

/// Tests `a` against `b`: exactly if one of them is small, otherwise by the normal approximation.
///
/// It asks about ranks alone, so it also answers where one sample does not vary at all. `None` if one of them is empty
/// or all values of both are equal.
pub fn mann_whitney(a: &[f64], b: &[f64], alternative: Alternative) -> Option<MannWhitney> {
    let is_small = a.len().min(b.len()) < EXACT_BELOW && a.len() + b.len() <= EXACT_TOGETHER_MAX;
    let test = if is_small { mann_whitney_exact } else { mann_whitney_asymptotic };
    test(a, b, alternative)
}

/// Tests `a` against `b` by `z = (|U - n1 n2 / 2| - 1/2) / sigma` with `sigma^2 = n1 n2 / 12 * ((N + 1) - sum(t^3 - t)
/// / (N (N - 1)))`, `t` being the sizes of groups of equal values: corrected for ties and for continuity.
///
/// `None` as for [`mann_whitney`].
pub fn mann_whitney_asymptotic(a: &[f64], b: &[f64], alternative: Alternative) -> Option<MannWhitney> {
    let ranks = Ranks::of(a, b)?;
    let sd = ranks.variance(a.len(), b.len()).sqrt();
    let difference = ranks.u - a.len() as f64 * b.len() as f64 / 2.0;
    let p = (sd > 0.0).then(|| alternative.normal_p(difference, sd, 0.5))?;
    Some(MannWhitney { u: ranks.u, p, method: Method::Asymptotic })
}

/// Tests `a` against `b` by the distribution of `U` over all `C(n1 + n2, n1)` ways to deal the values, ties and all:
/// the conditional permutation test (Streitberg and Röhmel 1986). A two-sided p-value is twice the smaller side.
///
/// The ways are counted group by group of equal values, never listed: cost O(n^2 (n1 + n2)^2), n being the smaller of
/// both. `None` as for [`mann_whitney`].
pub fn mann_whitney_exact(a: &[f64], b: &[f64], alternative: Alternative) -> Option<MannWhitney> {
    if a.len() > b.len() {
        let mirrored = mann_whitney_exact(b, a, alternative.mirrored())?;
        return Some(MannWhitney { u: a.len() as f64 * b.len() as f64 - mirrored.u, ..mirrored });
    }
    let ranks = Ranks::of(a, b)?;
    if ranks.groups.len() < 2 {
        return None;
    }
    let (distribution, found) = distribution(&ranks.groups, a.len());
    let at_most: f64 = distribution[..=found].iter().sum();
    let at_least: f64 = distribution[found..].iter().sum();
    Some(MannWhitney { u: ranks.u, p: alternative.exact_p(at_most, at_least), method: Method::Exact })
}

/// Returns the probability of each sum of twice the ranks of the `count_a` values that fall to the first sample, and
/// the sum that was found.
pub(super) fn distribution(groups: &[(usize, usize)], count_a: usize) -> (Vec<f64>, usize) {
    let together: usize = groups.iter().map(|(size, _)| size).sum();
    // The highest ranks are below `together + 1`, so twice their sum is below this.
    let width = 2 * count_a * (together + 1) + 1;
    // `ways[taken][sum]`, as probabilities: those that the values so far fall so.
    let mut ways = vec![vec![0.0; width]; count_a + 1];
    ways[0][0] = 1.0;
    let (mut before, mut found) = (0, 0);
    for &(size, of_a) in groups {
        // Twice the rank that the group shares.
        let rank = 2 * before + size + 1;
        found += of_a * rank;
        // A value after `before` others falls to the first sample with a probability that depends on how many of those
        // did; equal values are dealt one after the other, each adding the same rank.
        for dealt in before..before + size {
            let left = (together - dealt) as f64;
            for taken in (0..=count_a.min(dealt)).rev() {
                let to_a = (count_a - taken) as f64 / left;
                let (lower, upper) = ways.split_at_mut(taken + 1);
                let here = &mut lower[taken];
                if let Some(next) = upper.first_mut() {
                    for sum in 0..width - rank {
                        next[sum + rank] += here[sum] * to_a;
                    }
                }
                here.iter_mut().for_each(|way| *way *= 1.0 - to_a);
            }
        }
        before += size;
    }
    (ways.swap_remove(count_a), found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_of_nothing_or_of_equals_decide_nothing() {
        for test in [mann_whitney, mann_whitney_exact, mann_whitney_asymptotic] {
            assert_eq!(test(&[], &[1.0], Alternative::Greater), None);
            assert_eq!(test(&[1.0], &[], Alternative::TwoSided), None);
            assert_eq!(test(&[0.5; 3], &[0.5; 9], Alternative::Less), None);
        }
    }

    #[test]
    fn small_samples_are_tested_exactly() {
        let method = |count| {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            mann_whitney(&values, &values, Alternative::TwoSided).expect("they vary").method
        };
        assert_eq!((method(19), method(20)), (Method::Exact, Method::Asymptotic));
    }
}
