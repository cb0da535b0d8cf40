//! Prioritised test cases: an order in which any beginning is a good suite.

use std::cmp::Reverse;

use simutant_outcomes::CaseOutcome;

use super::cover::Cover;
use super::greedy::{Queue, next};

/// Returns `among` in an order: each test case is the one that brings most after those before it; when no test case brings more, those
/// that are left begin anew, as if none were before them ("additional", Rothermel, Untch, Chu and Harrold, "Prioritizing test cases for
/// regression testing", IEEE TSE 27, 2001). Test cases that cover nothing come last.
///
/// Equal ones go by the number of their events, then by their own. Cost O(n log n) gains for each round at worst.
pub(crate) fn prioritise(cover: &mut Cover<'_>, cases: &[CaseOutcome], among: &[usize]) -> Vec<usize> {
    let urgency = |case: usize, gain: usize| (gain, Reverse(cases[case].events), Reverse(case));
    let mut left: Vec<usize> = among.to_vec();
    let mut order = Vec::with_capacity(among.len());
    while !left.is_empty() {
        cover.clear();
        let mut queue: Queue<_> = left.iter().map(|&case| (case, urgency(case, cover.gain(case)))).collect();
        let before = order.len();
        while let Some(case) = next(&mut queue, cover, urgency) {
            if cover.take(case) == 0 {
                queue.push(case, urgency(case, 0));
                break;
            }
            order.push(case);
        }
        left = queue.into_vec();
        if order.len() == before {
            left.sort_by_key(|&case| (cases[case].events, case));
            order.append(&mut left);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::tests::{any_criterion, check_adequate, criterion_of, runs};
    use proptest::prelude::*;

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

    proptest! {
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
