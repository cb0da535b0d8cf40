//! The smallest adequate suites: a set cover problem that is reduced first, and then searched.

mod problem;
mod search;

use simutant_outcomes::CaseOutcome;

use super::cover::Cover;
use super::greedy::greedy;
use problem::Problem;

/// How many nodes a search may have. It is a count and not a time, so that every machine finds the same.
pub(crate) const NODES_MAX: u64 = 200_000;

/// A small suite, and how small one can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Minimum {
    /// The suite: what brings most after those before it comes first.
    pub(crate) cases: Vec<usize>,
    /// No adequate suite is smaller than this; the suite is a smallest one if it has this size.
    pub(crate) size_min: usize,
}

/// Returns the smallest adequate suite, or the smallest that a search of `nodes_max` nodes finds, with a lower bound.
///
/// Requirements that others imply, test cases that others replace and test cases that alone cover something are settled
/// first, until nothing changes; kill matrices seldom leave more than a few dozen rows of several hundred. What is left
/// is searched by branch and bound, beginning with the greedy suite. Quotas are kept.
pub(crate) fn minimum(cover: &mut Cover<'_>, cases: &[CaseOutcome], nodes_max: u64) -> Minimum {
    let greedy = greedy(cover, cases);
    let mut problem = Problem::new(cover.criterion(), cases);
    problem.reduce();
    let essential = problem.essential().to_vec();
    let found = search::search(&problem, greedy.len() - essential.len(), nodes_max);
    let size_min = essential.len() + found.size_min;
    let chosen = match found.cases {
        Some(searched) => essential.into_iter().chain(searched).collect(),
        None => greedy,
    };
    assert!(size_min <= chosen.len(), "no suite is smaller than {size_min}, and this one has {}", chosen.len());
    Minimum { cases: super::prioritised::prioritise(cover, cases, &chosen), size_min }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::tests::{any_criterion, check_adequate, criterion_of, progress, runs};
    use proptest::prelude::*;
    use simutant_outcomes::{Criterion, Quota};

    /// The size of the smallest adequate suite, by looking at all.
    fn by_enumeration(criterion: &Criterion) -> usize {
        let cases = criterion.covered.len();
        let target = Cover::new(criterion).target();
        let is_adequate = |subset: &u32| {
            let suite: Vec<usize> = (0..cases).filter(|case| subset >> case & 1 == 1).collect();
            progress(criterion, &suite) == target
        };
        let adequate = (0..1_u32 << cases).filter(is_adequate);
        adequate.map(|subset| subset.count_ones() as usize).min().expect("the universe is adequate")
    }

    #[track_caller]
    fn check(criterion: &Criterion) {
        let cases = runs(&vec![1; criterion.covered.len()]);
        let mut cover = Cover::new(criterion);
        let found = minimum(&mut cover, &cases, NODES_MAX);
        assert_eq!(
            (found.cases.len(), found.size_min),
            (by_enumeration(criterion), found.cases.len()),
            "{criterion:?}"
        );
        check_adequate(criterion, &found.cases);
        assert!(found.cases.len() <= greedy(&mut cover, &cases).len());
    }

    /// All of 4 test cases x 3 requirements, without quotas and with some.
    #[test]
    fn every_small_matrix_agrees_with_enumeration() {
        let quota = |requirements, covered_min| Quota { requirements, covered_min };
        let quotas = [
            vec![],
            vec![quota(0..3, 2)],
            vec![quota(0..3, 1)],
            vec![quota(1..3, 1)],
            vec![quota(0..1, 1), quota(1..3, 1)],
            vec![quota(0..2, 0)],
        ];
        for code in 0..1_u32 << 12 {
            let rows: Vec<Vec<bool>> = (0..4)
                .map(|case| (0..3).map(|requirement| code >> (3 * case + requirement) & 1 == 1).collect())
                .collect();
            for quotas in &quotas {
                check(&criterion_of(&rows, quotas.clone()));
            }
        }
    }

    proptest! {
        #[test]
        fn larger_matrices_agree_with_enumeration(criterion in any_criterion(10, 14)) {
            check(&criterion);
        }
    }

    /// Greedy takes the middle one first and needs three; the two others are enough.
    #[test]
    fn it_is_smaller_than_greedy_where_greedy_errs() {
        let rows = ["xxx...", "...xxx", ".xxxx."];
        let rows: Vec<Vec<bool>> = rows.iter().map(|row| row.chars().map(|mark| mark == 'x').collect()).collect();
        let criterion = criterion_of(&rows, Vec::new());
        let cases = runs(&[1; 3]);
        let mut cover = Cover::new(&criterion);
        assert_eq!(greedy(&mut cover, &cases), [2, 0, 1]);
        assert_eq!(minimum(&mut cover, &cases, NODES_MAX), Minimum { cases: vec![0, 1], size_min: 2 });
    }

    /// Each of 31 test cases covers three neighbours on a ring and one far away, so that nothing can be reduced.
    #[test]
    fn a_search_that_ends_early_says_how_small_a_suite_can_be() {
        let ring = |size: usize| -> Criterion {
            let rows: Vec<Vec<bool>> = (0..size)
                .map(|case| {
                    (0..size).map(|element| (element + size - case) % size < 3 || element * 7 % size == case).collect()
                })
                .collect();
            criterion_of(&rows, Vec::new())
        };
        let criterion = ring(31);
        let cases = runs(&[1; 31]);
        let exact = minimum(&mut Cover::new(&criterion), &cases, NODES_MAX);
        assert_eq!(exact.size_min, exact.cases.len());
        let cut = minimum(&mut Cover::new(&criterion), &cases, 3);
        assert!(cut.size_min < cut.cases.len(), "three nodes prove nothing: {cut:?}");
        assert!(cut.size_min <= exact.size_min && exact.cases.len() <= cut.cases.len());
        check_adequate(&criterion, &cut.cases);
    }
}
