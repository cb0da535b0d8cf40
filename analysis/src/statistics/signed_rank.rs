//! Whether differences lie above or below 0: Wilcoxon's signed-rank test (1945), with Pratt's treatment of zeros
//! (1959).

use serde::{Deserialize, Serialize};

use super::ranks::{midranks, tie_term};
use super::{Alternative, Method};

/// Up to this many differences other than 0 the exact distribution is used.
const EXACT_MAX: usize = 50;

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SignedRank {
    /// The sum of the ranks of the differences above 0, all ranks being those of the absolute values, zeros included.
    pub rank_sum: f64,
    /// The p-value.
    pub p: f64,
    /// How it came about.
    pub method: Method,
}

/// Tests whether `differences` are symmetric about 0: exactly if they are few, otherwise by the normal approximation.
///
/// Zeros take the lowest ranks, and then no part (Pratt), so that many of them weigh against an effect. `None` if there
/// is no difference other than 0.
pub fn signed_rank(differences: &[f64], alternative: Alternative) -> Option<SignedRank> {
    let is_small = differences.iter().filter(|difference| **difference != 0.0).count() <= EXACT_MAX;
    let test = if is_small { signed_rank_exact } else { signed_rank_asymptotic };
    test(differences, alternative)
}

/// Tests by `z = (|W - E| - 1/2) / sigma` with `E = (n (n + 1) - z (z + 1)) / 4` and `sigma^2 = (n (n + 1) (2 n + 1) -
/// z (z + 1) (2 z + 1)) / 24 - sum(t^3 - t) / 48`, where `z` of the `n` differences are 0 and `t` are the sizes of
/// groups of equal absolute values above 0 (Cureton 1967): corrected for ties, for zeros and for continuity.
///
/// `None` as for [`signed_rank`].
pub fn signed_rank_asymptotic(differences: &[f64], alternative: Alternative) -> Option<SignedRank> {
    let ranks = Signed::of(differences)?;
    let sums = |count: f64| [count * (count + 1.0), count * (count + 1.0) * (2.0 * count + 1.0)];
    let ([all, all_squares], [zeros, zero_squares]) = (sums(differences.len() as f64), sums(ranks.zeros as f64));
    let variance = (all_squares - zero_squares) / 24.0 - ranks.ties / 48.0;
    let p = alternative.normal_p(ranks.above - (all - zeros) / 4.0, variance.sqrt(), 0.5);
    Some(SignedRank { rank_sum: ranks.above, p, method: Method::Asymptotic })
}

/// Tests by the distribution of the rank sum over all `2^m` signs of the `m` differences other than 0, ties and all. It
/// is symmetric.
///
/// The ways are counted rank by rank, never listed: cost O(m n^2). `None` as for [`signed_rank`].
pub fn signed_rank_exact(differences: &[f64], alternative: Alternative) -> Option<SignedRank> {
    let ranks = Signed::of(differences)?;
    // Ranks are halves, so everything is counted twice.
    let twice = |rank: f64| (2.0 * rank) as usize;
    let mut ways = vec![1.0];
    for &rank in &ranks.of_others {
        let rank = twice(rank);
        let mut next = vec![0.0; ways.len() + rank];
        for (sum, way) in ways.iter().enumerate() {
            next[sum] += way / 2.0;
            next[sum + rank] += way / 2.0;
        }
        ways = next;
    }
    let found = twice(ranks.above);
    let at_most: f64 = ways[..=found].iter().sum();
    let at_least: f64 = ways[found..].iter().sum();
    Some(SignedRank { rank_sum: ranks.above, p: alternative.exact_p(at_most, at_least), method: Method::Exact })
}

/// The ranks of differences.
struct Signed {
    above: f64,
    of_others: Vec<f64>,
    zeros: usize,
    ties: f64,
}

impl Signed {
    fn of(differences: &[f64]) -> Option<Self> {
        let absolute: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
        let (ranks, groups) = midranks(&absolute);
        let zeros = absolute.iter().filter(|value| **value == 0.0).count();
        if zeros == differences.len() {
            return None;
        }
        let with = |is_kept: fn(f64) -> bool| {
            let kept = ranks.iter().zip(differences).filter(move |(_, difference)| is_kept(**difference));
            kept.map(|(rank, _)| *rank).collect::<Vec<f64>>()
        };
        Some(Self {
            above: with(|difference| difference > 0.0).iter().sum(),
            of_others: with(|difference| difference != 0.0),
            zeros,
            ties: tie_term(&groups[usize::from(zeros > 0)..]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_alone_decide_nothing() {
        for test in [signed_rank, signed_rank_exact, signed_rank_asymptotic] {
            assert_eq!(test(&[], Alternative::TwoSided), None);
            assert_eq!(test(&[0.0, -0.0], Alternative::Greater), None);
        }
    }

    #[test]
    fn few_differences_are_tested_exactly() {
        let method = |count| {
            let differences: Vec<f64> = (0..=count).map(f64::from).collect();
            signed_rank(&differences, Alternative::TwoSided).expect("they vary").method
        };
        assert_eq!((method(50), method(51)), (Method::Exact, Method::Asymptotic));
    }
}
