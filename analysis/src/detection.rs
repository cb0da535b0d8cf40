//! How often the suites of a criterion kill each mutant, and how often random suites of the same sizes would: which
//! faults a criterion finds, and which it misses.
//!
//! The share is the probabilistic coupling of Chen et al. (ASE 2020): the probability that a suite kills the mutant,
//! given that it is adequate.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, MutantNumber};

use crate::baseline::RandomBaseline;
use crate::statistics::{Alternative, Interval, benjamini_hochberg, binomial_test, wilson};
use crate::suites::AdequateSuite;

/// How often a criterion's suites kill one mutant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// The mutant.
    pub mutant: MutantNumber,
    /// How many of the suites kill it.
    pub suites: usize,
    /// What the probability of a suite lies in (Wilson).
    pub interval: Interval,
    /// The probability of a random suite, on average over the sizes of the criterion's suites.
    pub random: f64,
    /// The two-sided p-value that both are the same, by the exact binomial test, corrected by the method of Benjamini
    /// and Hochberg for the number of mutants. Suites of different sizes vary less than the binomial distribution does,
    /// so that it errs upwards.
    pub p: f64,
}

impl Detection {
    /// Returns whether the `count` suites of the criterion kill the mutant significantly more often than random ones,
    /// or less often; `None` if neither.
    pub fn is_more_often(&self, count: usize, alpha: f64) -> Option<bool> {
        (self.p < alpha).then_some(self.suites as f64 > self.random * count as f64)
    }
}

/// Returns the detections of the `analysed` mutants by `suites`. `killed` has the mutants that each suite kills,
/// `kills` how many test cases kill each mutant.
pub(crate) fn detections(
    suites: &[AdequateSuite],
    killed: &[BitSet],
    analysed: &BitSet,
    kills: &[BitSet],
    level: f64,
) -> Vec<Detection> {
    let Some(universe) = kills.first().map(BitSet::len).filter(|_| !suites.is_empty()) else { return Vec::new() };
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    suites.iter().for_each(|suite| *sizes.entry(suite.cases.len()).or_default() += 1);
    let random = |kills: usize| {
        let survives =
            |(&size, &count): (&usize, &usize)| count as f64 * RandomBaseline::survival(universe, kills, size);
        // Rounding can leave a probability a little below 0.
        (1.0 - sizes.iter().map(survives).sum::<f64>() / suites.len() as f64).clamp(0.0, 1.0)
    };
    // Many mutants are killed by as many test cases, and as many suites, as others.
    let mut known: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    let mut found: Vec<Detection> = analysed
        .ones()
        .map(|mutant| {
            let found = killed.iter().filter(|killed| killed.contains(mutant)).count();
            let kills = kills[mutant].count_ones(..);
            let (random, p) = *known.entry((kills, found)).or_insert_with(|| {
                let random = random(kills);
                (random, binomial_test(found, suites.len(), random, Alternative::TwoSided))
            });
            let interval = wilson(found, suites.len(), level).expect("there are suites");
            Detection { mutant: mutant as MutantNumber, suites: found, interval, random, p }
        })
        .collect();
    let corrected = benjamini_hochberg(&found.iter().map(|detection| detection.p).collect::<Vec<_>>());
    found.iter_mut().zip(corrected).for_each(|(detection, p)| detection.p = p);
    found
}

/// Returns how many of `detections` are significantly more often than at random, and how many less often.
pub fn screened(detections: &[Detection], suites: usize, alpha: f64) -> (usize, usize) {
    let count = |more| detections.iter().filter(|found| found.is_more_often(suites, alpha) == Some(more)).count();
    (count(true), count(false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kills::KillsByCase;
    use simutant_synthetic::from_kills;

    #[test]
    fn a_mutant_is_found_more_often_than_at_random_or_less_often() {
        // Suites of one of ten test cases: they always find mutant 0, never mutant 1, and mutant 2 as often as a random
        // one.
        let outcomes = from_kills(&["k.........", ".kkkk.....", "k........."]);
        let suite = |case| AdequateSuite {
            cases: vec![case],
            considered: 1,
            events_considered: 1,
            events_selected: 1,
            killed: 0,
            dominators_killed: 0,
        };
        let suites: Vec<AdequateSuite> = vec![suite(0); 40];
        let kills = KillsByCase::new(&outcomes);
        let killed: Vec<BitSet> = suites.iter().map(|suite| kills.of_suite(&suite.cases)).collect();
        let analysed: BitSet = (0..3).collect();
        let found = detections(&suites, &killed, &analysed, &outcomes.kills, 0.95);
        assert_eq!(found.iter().map(|found| found.suites).collect::<Vec<_>>(), [40, 0, 40]);
        assert!((found[0].random - 0.1).abs() < 1e-12 && (found[1].random - 0.4).abs() < 1e-12);
        // Never in 40 with 0.4 each is the less probable side; the other one begins at 33.
        assert!(found[1].p >= 0.6_f64.powi(40) && found[1].p < 3.0 * 0.6_f64.powi(40), "{}", found[1].p);
        assert_eq!(screened(&found, 40, 0.05), (2, 1));
        assert_eq!(found[0].is_more_often(40, 0.05), Some(true));
        assert!(found[1].interval.lower == 0.0 && found[1].interval.upper < 0.1);
    }

    #[test]
    fn nothing_drawn_or_nothing_analysed_finds_nothing() {
        assert_eq!(detections(&[], &[], &BitSet::new(), &[], 0.95), []);
        assert_eq!(screened(&[], 0, 0.05), (0, 0));
    }
}
