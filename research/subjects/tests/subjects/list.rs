//! Lists with iterators.

use std::collections::{LinkedList, VecDeque};

use simutant_models::{Bandit, CoverageGuided, Limits, Strategy, Uniform, Walker, Weighted, shrink};
use simutant_subjects::list::{self, Mistake, Store};

use crate::{at_once, first_failure, made, names, summary};

fn walker(strategy: impl Strategy + 'static) -> Walker {
    let limits = Limits { transitions: 300, ..Limits::default() };
    Walker::new().with_strategy(strategy).with_limits(limits)
}

/// Takes walks by all strategies; returns how many transitions each has taken, of how many.
fn passes<S: Store>() -> [(usize, usize); 4] {
    let (others, by_weights) = (30, 100);
    let walkers = [
        (walker(Uniform), others),
        (walker(Weighted), by_weights),
        (walker(CoverageGuided::default()), others),
        (walker(Bandit::default()), others),
    ];
    walkers.map(|(mut walker, tests)| {
        let failing = first_failure(&mut walker, || list::instance::<S>(Mistake::None), tests);
        assert_eq!(failing.as_ref().map(summary), None);
        walker.coverage().transitions()
    })
}

#[test]
fn right_lists_pass_and_all_transitions_are_taken() {
    let [vec, deque, list] = [passes::<Vec<u32>>(), passes::<VecDeque<u32>>(), passes::<LinkedList<u32>>()];
    // By weights; other strategies take longer.
    assert_eq!((vec[1], deque[1]), ((47, 47), (56, 56)));
    assert_eq!(deque, list);
}

fn is_found<S: Store>(mistake: Mistake) -> Option<(String, Vec<String>)> {
    let mut walker = walker(Weighted);
    let mut instance = || list::instance::<S>(mistake);
    let failing = first_failure(&mut walker, instance, 1_000)?;
    assert_eq!(at_once(walker.replay(made(&mut instance), &failing)), failing);
    let small = at_once(shrink(&mut walker, || made(&mut instance), &failing));
    assert!(small.taken.len() <= failing.taken.len());
    Some((summary(&small).to_owned(), names(&walker, &small)))
}

#[test]
fn mistakes_are_found_in_all_lists_that_can_have_them() {
    for mistake in Mistake::ALL {
        let found =
            [is_found::<Vec<u32>>(mistake), is_found::<VecDeque<u32>>(mistake), is_found::<LinkedList<u32>>(mistake)];
        let is_of_ends = mistake == Mistake::RemoveLastTakesFirst;
        assert_eq!(found.map(|found| found.is_some()), [!is_of_ends, true, true], "{mistake:?}");
    }
}

#[test]
fn shrunk_failures_have_what_the_mistake_needs() {
    let small = |mistake| is_found::<LinkedList<u32>>(mistake).expect("it is found").1;
    for (mistake, needed, most) in [
        (Mistake::RemoveSkips, &["next", "remove"][..], 6),
        (Mistake::AddKeepsLast, &["list iterator", "add"], 7),
        (Mistake::PreviousForgets, &["list iterator", "next", "previous"], 6),
        (Mistake::ClearIsNotCounted, &["clear"], 5),
        (Mistake::RemoveLastTakesFirst, &["remove last"], 5),
    ] {
        let names = small(mistake);
        assert!(needed.iter().all(|name| names.iter().any(|taken| taken == name)), "{mistake:?}: {names:?}");
        assert!(names.len() <= most, "{mistake:?}: {names:?}");
    }
}
