//! Whether the score that chooses a suite says anything about the score that judges it.
//!
//! Boosting rests on this. Choosing the best of many by the mutants that also judge would always look good.

use std::cmp::Ordering;

use super::{Faults, PairedScores};
use crate::random::NamedStream;
use crate::statistics::{Alternative, Kendall, binomial_test, kendall_tau_b, partial_tau};
use crate::suites::AdequateSuite;
use serde::{Deserialize, Serialize};

/// How many of the suites are at the top: one in this number.
const TOP_OF: usize = 10;

/// What a suite's score on the choosing mutants says about its score on the judging ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Foresight {
    /// The rank correlation of the two scores over the criterion's suites; `None` if one of them does not vary.
    pub correlation: Option<Kendall>,
    /// What is left of it when the size of a suite is held fixed; `None` if there is no correlation, or if the size
    /// decides a score. If all suites have one size, this is the correlation itself.
    pub correlation_at_size: Option<f64>,
    /// The suites with the highest scores on the choosing mutants against random ones; `None` if all score the same
    /// there.
    pub top: Option<TopSuites>,
}

/// The tenth of a criterion's suites that scores highest on the choosing mutants, with all that score the same as the
/// last of them, each against one random suite of its size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TopSuites {
    /// How many suites.
    pub suites: usize,
    /// How many of them score higher on the judging mutants than the random suite.
    pub better: usize,
    /// How many score lower.
    pub worse: usize,
    /// The share that scores higher, equals counting half: how often such a suite beats a random one of its size.
    pub beats_random: f64,
    /// The same share of all suites of the criterion: what choosing is to be held against.
    pub all_beat_random: f64,
    /// The p-value that the top suites are not more often better than worse, by the exact binomial test; `None` if none
    /// is either.
    pub p: Option<f64>,
}

/// Compares the two scores of each suite, and each suite with a random one of its size.
pub(super) fn foresight(
    name: &str,
    suites: &[AdequateSuite],
    scores: &PairedScores,
    judges: Faults<'_>,
    seed: u64,
) -> Foresight {
    let PairedScores { choosing, judging: judged } = scores;
    let sizes: Vec<f64> = suites.iter().map(|suite| suite.cases.len() as f64).collect();
    let correlation = kendall_tau_b(choosing, judged);
    let correlation_at_size = correlation.and_then(|correlation| {
        // A size that all share cannot be held fixed any more than it is.
        let Some(with_size) = kendall_tau_b(choosing, &sizes) else { return Some(correlation.tau) };
        partial_tau(correlation.tau, with_size.tau, kendall_tau_b(judged, &sizes)?.tau)
    });
    let mut stream = NamedStream::new(seed, &format!("random suites beside those of {name}"));
    let against_random: Vec<Ordering> = suites
        .iter()
        .zip(judged)
        .map(|(suite, judged)| {
            let cases: Vec<usize> = stream.permutation(judges.cases()).take(suite.cases.len()).collect();
            judged.total_cmp(&judges.score(&cases).expect("there are judges"))
        })
        .collect();
    let top = top(choosing).map(|top| {
        let count = |order| top.iter().filter(|&&suite| against_random[suite] == order).count();
        let (better, worse) = (count(Ordering::Greater), count(Ordering::Less));
        TopSuites {
            suites: top.len(),
            better,
            worse,
            beats_random: share_above(top.iter().map(|&suite| against_random[suite])),
            all_beat_random: share_above(against_random.iter().copied()),
            p: (better + worse > 0).then(|| binomial_test(better, better + worse, 0.5, Alternative::Greater)),
        }
    });
    Foresight { correlation, correlation_at_size, top }
}

/// The share that is greater, equals counting half.
fn share_above(orders: impl ExactSizeIterator<Item = Ordering>) -> f64 {
    let count = orders.len();
    let halves: usize = orders
        .map(|order| match order {
            Ordering::Greater => 2,
            Ordering::Equal => 1,
            Ordering::Less => 0,
        })
        .sum();
    halves as f64 / (2 * count) as f64
}

/// Returns the indices of the highest tenth, with all that equal the last of them; `None` if all are equal.
fn top(choosing: &[f64]) -> Option<Vec<usize>> {
    let mut sorted = choosing.to_vec();
    sorted.sort_unstable_by(|one, other| other.total_cmp(one));
    if sorted.first() == sorted.last() {
        return None;
    }
    let least = sorted[choosing.len().div_ceil(TOP_OF) - 1];
    Some((0..choosing.len()).filter(|&suite| choosing[suite] >= least).collect())
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::BitSet;

    use super::*;
    use crate::boosting::Kills;
    use crate::kills::KillsByCase;
    use simutant_synthetic::from_kills;

    #[test]
    fn the_top_is_a_tenth_with_what_equals_it() {
        assert_eq!(top(&[]), None);
        assert_eq!(top(&[3.0; 3]), None);
        assert_eq!(top(&[1.0, 3.0, 2.0]), Some(vec![1]));
        assert_eq!(top(&[1.0, 3.0, 3.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), Some(vec![1, 2]));
    }

    /// Suites of one test case each, of which every second one kills the mutant that chooses; `judge` says which kill
    /// the one that judges.
    #[track_caller]
    fn check(judge: &str, expect: impl FnOnce(Foresight)) {
        let (choose, judge) = ("k.".repeat(100), judge.repeat(50));
        let outcomes = from_kills(&[&choose, &judge]);
        let suites: Vec<AdequateSuite> = (0..200)
            .map(|case| AdequateSuite {
                cases: vec![case],
                considered: 1,
                events_considered: 1,
                events_selected: 1,
                killed: 0,
                dominators_killed: 0,
            })
            .collect();
        let kills = KillsByCase::new(&outcomes);
        let (choosing, judging) = (BitSet::from_iter([0]), BitSet::from_iter([1]));
        let (by, judges) = (
            Faults { kills: Kills::Certain(&kills), counted: &choosing },
            Faults { kills: Kills::Certain(&kills), counted: &judging },
        );
        let scores = PairedScores::of(&suites, by, judges).expect("there are judges");
        expect(foresight("c", &suites, &scores, judges, 1));
    }

    #[test]
    fn scores_that_agree_foresee_and_scores_that_do_not_do_not() {
        check("k.k.", |found| {
            assert_eq!(found.correlation.map(|correlation| correlation.tau), Some(1.0));
            assert_eq!(found.correlation_at_size, Some(1.0), "all suites have one size");
            let top = found.top.expect("the scores vary");
            // A random case is as good in half of the draws, worse in the other half.
            assert_eq!((top.suites, top.worse), (100, 0));
            assert!((top.beats_random - 0.75).abs() < 0.1 && (top.all_beat_random - 0.5).abs() < 0.1, "{top:?}");
            assert!(top.p.is_some_and(|p| p < 1e-9), "{top:?}");
        });
        check("kk..", |found| {
            assert!(found.correlation.expect("both vary").tau.abs() < 1e-12);
            let top = found.top.expect("the scores vary");
            assert!((top.beats_random - 0.5).abs() < 0.1 && top.p.is_some_and(|p| p > 0.01), "{top:?}");
        });
        check("....", |found| {
            assert_eq!((found.correlation, found.correlation_at_size), (None, None));
            let top = found.top.expect("the choosing scores vary");
            assert_eq!((top.better, top.worse, top.p, top.beats_random), (0, 0, None, 0.5));
        });
    }
}
