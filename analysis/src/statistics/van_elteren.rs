//! Whether values of one sample tend to be higher than those of another of the same stratum: van Elteren's test (1960).
//!
//! In the analysis the strata are the sizes of suites, so that a criterion gets no credit for asking for more test
//! cases.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Alternative;
use super::mann_whitney::distribution;
use super::ranks::Ranks;

/// The exact distribution is not used for more values than this together, since there are too many ways to deal them.
const EXACT_TOGETHER_MAX: usize = 40;

/// The statistic of the exact test has at most so many values.
const SUMS_MAX: usize = 5_000;

/// What the statistic of the exact test is counted in.
const UNIT: f64 = 1e-12;

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

/// Tests within strata: exactly if there are few values, otherwise by the normal approximation.
///
/// Strata with one sample alone have no part. `None` if that is all of them, or if the values of no stratum vary.
pub fn van_elteren(strata: &[Stratum]) -> Option<VanElteren> {
    let asymptotic = van_elteren_asymptotic(strata)?;
    if asymptotic.count_a + asymptotic.count_b > EXACT_TOGETHER_MAX {
        return Some(asymptotic);
    }
    Some(VanElteren { p: exact_p(strata).unwrap_or(asymptotic.p), ..asymptotic })
}

/// Tests within strata: `z = sum(w (R - E R)) / sqrt(sum(w^2 Var R))` with the rank sums `R` of the first sample in
/// each stratum and the weights `w = 1 / (n1 + n2 + 1)`, which are best where the effect is the same in each; corrected
/// for ties, not for continuity.
///
/// `None` as for [`van_elteren`].
pub fn van_elteren_asymptotic(strata: &[Stratum]) -> Option<VanElteren> {
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

/// Returns the two-sided p-value by the distribution of the statistic over all ways to deal the values of each stratum,
/// ties and all; `None` if the statistic can have too many values.
fn exact_p(strata: &[Stratum]) -> Option<f64> {
    // The probability of each sum so far. Sums are whole numbers of a small unit: equal ones would differ by rounding.
    let mut ways = BTreeMap::from([(0_i64, 1.0)]);
    let mut found = 0;
    for stratum in strata {
        // The fewer values are dealt; their rank sum falls as that of the others rises.
        let (few, many, sign) = match stratum.a.len() <= stratum.b.len() {
            true => (&stratum.a, &stratum.b, 1),
            false => (&stratum.b, &stratum.a, -1),
        };
        let Some(ranks) = Ranks::of(few, many) else { continue };
        let weight = 1.0 / (few.len() + many.len() + 1) as f64;
        let in_units = |twice_ranks: usize| sign * (weight * twice_ranks as f64 / UNIT).round() as i64;
        let (distribution, twice_ranks) = distribution(&ranks.groups, few.len());
        let mut sums: BTreeMap<i64, f64> = BTreeMap::new();
        for (twice_ranks, more) in distribution.iter().enumerate().filter(|(_, probability)| **probability > 0.0) {
            let added = in_units(twice_ranks);
            for (sum, probability) in &ways {
                *sums.entry(sum + added).or_insert(0.0) += probability * more;
            }
            if sums.len() > SUMS_MAX {
                return None;
            }
        }
        ways = sums;
        found += in_units(twice_ranks);
    }
    // Sums of other parts that are as large may be off by what was rounded.
    let margin = strata.len() as i64;
    let at_most = ways.range(..=found + margin).map(|(_, probability)| probability).sum();
    let at_least = ways.range(found - margin..).map(|(_, probability)| probability).sum();
    Some(Alternative::TwoSided.exact_p(at_most, at_least))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests by listing all ways to deal the values.
    fn by_listing(strata: &[Stratum]) -> f64 {
        let mut sums = vec![0.0];
        let mut found = 0.0;
        for Stratum { a, b } in strata {
            let values: Vec<f64> = a.iter().chain(b).copied().collect();
            let weight = 1.0 / (values.len() + 1) as f64;
            let wins = |is_a: u32| {
                let of = |side: bool| (0..values.len()).filter(move |&at| (is_a >> at & 1 == 1) == side);
                let won = |one: usize, other: usize| match values[one].total_cmp(&values[other]) {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                };
                weight * of(true).flat_map(|one| of(false).map(move |other| won(one, other))).sum::<f64>()
            };
            let deals = (0..1_u32 << values.len()).filter(|is_a| is_a.count_ones() as usize == a.len());
            let dealt: Vec<f64> = deals.map(wins).collect();
            found += wins((1 << a.len()) - 1);
            sums = sums.iter().flat_map(|sum| dealt.iter().map(move |more| sum + more)).collect();
        }
        let share =
            |holds: &dyn Fn(f64) -> bool| sums.iter().filter(|sum| holds(**sum)).count() as f64 / sums.len() as f64;
        let smaller = share(&|sum| sum <= found + 1e-9).min(share(&|sum| sum >= found - 1e-9));
        (2.0 * smaller).min(1.0)
    }

    #[track_caller]
    fn check(strata: &[(&[f64], &[f64])], expect: Option<f64>) {
        let strata: Vec<Stratum> = strata.iter().map(|(a, b)| Stratum { a: a.to_vec(), b: b.to_vec() }).collect();
        let p = van_elteren(&strata).expect("values vary").p;
        assert!((p - by_listing(&strata)).abs() < 1e-12, "{p} and {}", by_listing(&strata));
        assert!(expect.is_none_or(|expect| (p - expect).abs() < 1e-12), "{p}");
    }

    #[test]
    fn few_values_are_tested_exactly() {
        check(&[(&[4.0, 5.0, 6.0], &[1.0, 2.0, 3.0])], Some(0.1));
        check(&[(&[2.0][..], &[1.0][..]); 4], Some(0.125));
        check(&[(&[3.0, 4.0][..], &[1.0, 2.0][..]); 2], Some(2.0 / 36.0));
        check(&[(&[3.0, 1.0], &[1.0, 2.0]), (&[5.0, 5.0], &[1.0]), (&[], &[7.0])], None);
        check(&[(&[3.0, 8.0, 2.0], &[1.0]), (&[0.0], &[1.0, 4.0])], None);
        check(&[(&[3.0, 1.0, 2.0], &[1.0, 2.0]), (&[0.0, 9.0, 9.0], &[1.0, 4.0]), (&[2.0], &[2.0, 1.0])], None);
    }

    #[test]
    fn both_ways_come_to_the_same_with_many_values() {
        let values = |from: u32, count| (from..from + count).map(|number| f64::from(number * 7 % 31)).collect();
        let strata: Vec<Stratum> = (0..2).map(|at| Stratum { a: values(at, 9), b: values(at + 60, 11) }).collect();
        let exact = exact_p(&strata).expect("few sums");
        let asymptotic = van_elteren_asymptotic(&strata).expect("values vary").p;
        assert!((exact - asymptotic).abs() < 0.02, "{exact} and {asymptotic}");
    }
}
