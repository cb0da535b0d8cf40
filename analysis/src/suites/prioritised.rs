//! Prioritised test cases: an order in which any beginning is a good suite.

use std::cmp::Reverse;

use simutant_outcomes::{BitSet, CaseOutcome};

use super::cover::Cover;
use super::greedy::Queue;

/// Returns `among` in an order: each test case is the one that brings most after those before it; when no test case
/// brings more, those that are left begin anew, as if none were before them ("additional", Rothermel, Untch, Chu and
/// Harrold, "Prioritizing test cases for regression testing", IEEE TSE 27, 2001). Test cases that cover nothing come
/// last.
///
/// Equal ones go by the number of their events, then by their own. What a test case brings alone is known from the
/// start and never less than what it brings later, so that a round looks only at those that can be next.
pub(crate) fn prioritise(cover: &mut Cover<'_>, cases: &[CaseOutcome], among: &[usize]) -> Vec<usize> {
    let urgency = |case: usize, gain: usize| (gain, Reverse(cases[case].events), Reverse(case));
    cover.clear();
    let mut left: Vec<_> = among.iter().map(|&case| (urgency(case, cover.gain(case)), case)).collect();
    left.sort_unstable_by_key(|&(alone, _)| Reverse(alone));
    let mut order = Vec::with_capacity(among.len());
    let mut coverers = Coverers::new(cover, among);
    while !left.is_empty() {
        let reachable = coverers.progress(cover);
        if reachable == 0 {
            order.extend(left.drain(..).map(|(_, case)| case));
            break;
        }
        let mut taken = BitSet::with_capacity(cases.len());
        let mut queue: Queue<_> = Queue::with_default_hasher();
        let mut looked_at = 0;
        cover.clear();
        while cover.progress() < reachable {
            while let Some(&(alone, case)) = left.get(looked_at)
                && queue.peek().is_none_or(|(_, known)| alone > *known)
            {
                queue.push(case, urgency(case, cover.gain(case)));
                looked_at += 1;
            }
            let (&case, &known) = queue.peek().expect("a test case that is left brings more");
            let now = urgency(case, cover.gain(case));
            if now < known {
                queue.change_priority(&case, now);
                continue;
            }
            queue.pop();
            cover.take(case);
            coverers.remove(cover, case);
            taken.insert(case);
            order.push(case);
        }
        left.retain(|(_, case)| !taken.contains(*case));
    }
    order
}

/// How many of the test cases that are left cover each requirement.
struct Coverers(Vec<usize>);

impl Coverers {
    fn new(cover: &Cover<'_>, among: &[usize]) -> Self {
        let criterion = cover.criterion();
        let mut counts = vec![0; criterion.requirements.len()];
        among.iter().flat_map(|&case| criterion.covered[case].ones()).for_each(|requirement| counts[requirement] += 1);
        Self(counts)
    }

    fn remove(&mut self, cover: &Cover<'_>, case: usize) {
        cover.criterion().covered[case].ones().for_each(|requirement| self.0[requirement] -= 1);
    }

    /// Returns the progress of all that are left together.
    fn progress(&self, cover: &Cover<'_>) -> usize {
        let mut covered = BitSet::with_capacity(self.0.len());
        covered.extend((0..self.0.len()).filter(|&requirement| self.0[requirement] > 0));
        cover.criterion().progress(&covered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::tests::{any_criterion, check_adequate, criterion_of, runs};
    use proptest::prelude::*;
    use simutant_outcomes::Criterion;

    /// Shape `cases x requirements`.
    #[track_caller]
    fn check(rows: &[&str], events: &[u64], expect: &[usize]) {
        let rows: Vec<Vec<bool>> = rows.iter().map(|row| row.chars().map(|mark| mark == 'x').collect()).collect();
        let criterion = criterion_of(&rows, Vec::new());
        let among: Vec<usize> = (0..rows.len()).collect();
        assert_eq!(prioritise(&mut Cover::new(&criterion), &runs(events), &among), expect);
    }

    #[test]
    fn each_brings_most_after_those_before_it_and_rounds_begin_anew() {
        check(&["xx..", "xxx.", "...x", "..xx", "...."], &[1; 5], &[1, 2, 0, 3, 4]);
    }

    #[test]
    fn equals_go_to_fewer_events_then_to_the_first() {
        check(&["x", "x", "x", ".", "."], &[5, 3, 3, 2, 1], &[1, 2, 0, 4, 3]);
    }

    /// The definition: all that are left are looked at for each place.
    fn by_definition(criterion: &Criterion, cases: &[CaseOutcome]) -> Vec<usize> {
        let mut cover = Cover::new(criterion);
        let mut left: Vec<usize> = (0..cases.len()).collect();
        let mut order = Vec::new();
        while !left.is_empty() {
            let key =
                |cover: &mut Cover<'_>, case: usize| (cover.gain(case), Reverse(cases[case].events), Reverse(case));
            let place = (0..left.len()).max_by_key(|&place| key(&mut cover, left[place])).expect("some are left");
            if cover.gain(left[place]) == 0 && cover.progress() > 0 {
                cover.clear();
                continue;
            }
            cover.take(left[place]);
            order.push(left.remove(place));
        }
        order
    }

    proptest! {
        #[test]
        fn it_is_the_order_of_the_definition(criterion in any_criterion(20, 10), events in proptest::collection::vec(1..4_u64, 20)) {
            let cases = runs(&events[..criterion.covered.len()]);
            let among: Vec<usize> = (0..cases.len()).collect();
            prop_assert_eq!(prioritise(&mut Cover::new(&criterion), &cases, &among), by_definition(&criterion, &cases));
        }

        #[test]
        fn every_test_case_comes_once_and_the_first_round_is_the_greedy_suite(criterion in any_criterion(30, 12)) {
            let cases = runs(&vec![1; criterion.covered.len()]);
            let among: Vec<usize> = (0..cases.len()).collect();
            let order = prioritise(&mut Cover::new(&criterion), &cases, &among);
            let greedy = crate::suites::greedy::greedy(&mut Cover::new(&criterion), &cases);
            prop_assert_eq!(&order[..greedy.len()], &greedy[..]);
            check_adequate(&criterion, &order[..greedy.len()]);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, among);
        }
    }
}
