//! Suites under a budget: what covers most with so many events of the simulation.

use std::cmp::{Ordering, Reverse};

use simutant_outcomes::CaseOutcome;

use super::cover::Cover;
use super::greedy::{Queue, next};

/// What a test case brings for what it costs; equal ones go to the cheaper, then to the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PerCost {
    gain: usize,
    cost: u64,
    case: usize,
}

impl Ord for PerCost {
    fn cmp(&self, other: &Self) -> Ordering {
        // Fractions, without dividing: 64 bits times 64 bits.
        let rate = |own: &Self, other: &Self| own.gain as u128 * u128::from(other.cost);
        rate(self, other).cmp(&rate(other, self)).then(other.cost.cmp(&self.cost)).then(other.case.cmp(&self.case))
    }
}

impl PartialOrd for PerCost {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns a suite whose runs have at most `budget` events together, in the order in which its test cases were taken.
///
/// It covers at least `(1 - 1/e) / 2`, 31.6 %, of what the best such suite does, and mostly far more: the better of two
/// suites, one that takes what brings most for its cost as long as something fits, one that takes what brings most
/// (Khuller, Moss and Naor, "The budgeted maximum coverage problem", Information Processing Letters 70, 1999; Leskovec
/// et al., "Cost-effective outbreak detection in networks", KDD 2007). It stops when no test case that fits brings
/// more. A run without events costs as much as one with one.
pub(crate) fn budgeted(cover: &mut Cover<'_>, cases: &[CaseOutcome], budget: u64) -> Vec<usize> {
    let cost = |case: usize| cases[case].events.max(1);
    let per_cost = fill(cover, cases.len(), (budget, &cost), |case, gain| PerCost { gain, cost: cost(case), case });
    let reached = cover.progress();
    let by_gain = fill(cover, cases.len(), (budget, &cost), |case, gain| (gain, Reverse(cost(case)), Reverse(case)));
    if cover.progress() > reached { by_gain } else { per_cost }
}

/// Takes the most urgent test case that fits until none brings more.
fn fill<P: Ord>(
    cover: &mut Cover<'_>,
    cases: usize,
    (budget, cost): (u64, &dyn Fn(usize) -> u64),
    urgency: impl Fn(usize, usize) -> P,
) -> Vec<usize> {
    cover.clear();
    let fitting = (0..cases).filter(|&case| cost(case) <= budget);
    let mut queue: Queue<P> = fitting.map(|case| (case, urgency(case, cover.gain(case)))).collect();
    let (mut suite, mut left) = (Vec::new(), budget);
    while let Some(case) = next(&mut queue, cover, &urgency) {
        // What does not fit now never will.
        if cost(case) > left {
            continue;
        }
        if cover.take(case) == 0 {
            break;
        }
        left -= cost(case);
        suite.push(case);
    }
    suite
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::tests::{any_criterion, criterion_of, progress, runs};
    use proptest::prelude::*;
    use simutant_outcomes::Criterion;

    fn best(criterion: &Criterion, events: &[u64], budget: u64) -> usize {
        let subsets = 0..1_u32 << events.len();
        let suites = subsets.map(|subset| (0..events.len()).filter(|case| subset >> case & 1 == 1).collect::<Vec<_>>());
        let fits = |suite: &Vec<usize>| suite.iter().map(|&case| events[case].max(1)).sum::<u64>() <= budget;
        suites.filter(fits).map(|suite| progress(criterion, &suite)).max().expect("the empty suite fits")
    }

    proptest! {
        #[test]
        fn the_guarantee_holds_and_the_budget_is_kept(
            criterion in any_criterion(9, 10),
            events in proptest::collection::vec(0..12_u64, 9),
            budget in 0..40_u64,
        ) {
            let events = &events[..criterion.covered.len()];
            let mut cover = Cover::new(&criterion);
            let suite = budgeted(&mut cover, &runs(events), budget);
            prop_assert!(suite.iter().map(|&case| events[case].max(1)).sum::<u64>() <= budget);
            let (found, best) = (progress(&criterion, &suite), best(&criterion, events, budget));
            let guaranteed = 0.5 * (1.0 - (-1.0_f64).exp()) * best as f64;
            prop_assert!(found as f64 >= guaranteed && found <= best, "{} of {}", found, best);
        }
    }

    #[test]
    fn one_costly_test_case_can_be_worth_more_than_many_cheap_ones() {
        let mut rows = vec![vec![false; 10]; 2];
        rows[0][..9].fill(true);
        rows[1][9] = true;
        let criterion = criterion_of(&rows, Vec::new());
        // By cost alone the second comes first, and the first does not fit any more.
        assert_eq!(budgeted(&mut Cover::new(&criterion), &runs(&[100, 1]), 100), [0]);
        assert_eq!(budgeted(&mut Cover::new(&criterion), &runs(&[100, 1]), 101), [1, 0]);
        assert_eq!(budgeted(&mut Cover::new(&criterion), &runs(&[100, 1]), 0), [0; 0]);
    }
}
