//! Greedy suites: each test case is the one that brings most after those before it.

use std::cmp::Reverse;
use std::hash::{BuildHasherDefault, DefaultHasher};

use priority_queue::PriorityQueue;
use simutant_outcomes::CaseOutcome;

use super::cover::Cover;

/// Test cases, the most urgent first. The hasher is one without a random key.
pub(crate) type Queue<P> = PriorityQueue<usize, P, BuildHasherDefault<DefaultHasher>>;

/// The order of candidates: what brings more, then what has fewer events, then what was drawn first.
type Urgency = (usize, Reverse<u64>, Reverse<usize>);

/// Returns an adequate suite, in the order in which its test cases were taken: at most `1 + 1/2 + ... + 1/n` times as
/// large as the smallest one, `n` being the most that a test case covers (Chvátal, "A greedy heuristic for the
/// set-covering problem", Mathematics of Operations Research 4, 1979; Wolsey, Combinatorica 2, 1982, where there are
/// quotas).
pub(crate) fn greedy(cover: &mut Cover<'_>, cases: &[CaseOutcome]) -> Vec<usize> {
    cover.clear();
    let urgency = |case: usize, gain: usize| -> Urgency { (gain, Reverse(cases[case].events), Reverse(case)) };
    let mut queue: Queue<Urgency> = (0..cases.len()).map(|case| (case, urgency(case, cover.gain(case)))).collect();
    let mut suite = Vec::new();
    while !cover.is_met() {
        let case = next(&mut queue, cover, urgency).expect("what the universe covers, a test case that is left covers");
        cover.take(case);
        suite.push(case);
    }
    suite
}

/// Takes from `queue` the test case that is the most urgent now, `None` if none is left.
///
/// Lazily (Minoux, "Accelerated greedy algorithms for maximizing submodular set functions", 1978): a gain only shrinks
/// as the suite grows, so that the first in the queue is the best of all once its own gain is up to date. Those behind
/// it are seldom looked at.
pub(crate) fn next<P: Ord>(
    queue: &mut Queue<P>,
    cover: &mut Cover<'_>,
    urgency: impl Fn(usize, usize) -> P,
) -> Option<usize> {
    loop {
        let (&case, known) = queue.peek()?;
        let now = urgency(case, cover.gain(case));
        if now == *known {
            queue.pop();
            return Some(case);
        }
        assert!(now < *known, "a gain never grows");
        queue.change_priority(&case, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::tests::{any_criterion, check_adequate, criterion_of, runs};
    use proptest::prelude::*;
    use simutant_outcomes::Criterion;

    /// The definition: all candidates are looked at for each place.
    fn by_definition(criterion: &Criterion, cases: &[CaseOutcome]) -> Vec<usize> {
        let mut cover = Cover::new(criterion);
        let mut suite = Vec::new();
        while !cover.is_met() {
            let best =
                (0..cases.len()).max_by_key(|&case| (cover.gain(case), Reverse(cases[case].events), Reverse(case)));
            let best = best.expect("there are test cases");
            cover.take(best);
            suite.push(best);
        }
        suite
    }

    proptest! {
        #[test]
        fn lazy_is_greedy_and_greedy_is_adequate(criterion in any_criterion(40, 20), events in proptest::collection::vec(1..5_u64, 40)) {
            let cases = runs(&events[..criterion.covered.len()]);
            let suite = greedy(&mut Cover::new(&criterion), &cases);
            prop_assert_eq!(&suite, &by_definition(&criterion, &cases));
            check_adequate(&criterion, &suite);
        }
    }

    #[test]
    fn equals_go_to_fewer_events_then_to_the_first() {
        let criterion = criterion_of(&vec![vec![true]; 4], Vec::new());
        assert_eq!(greedy(&mut Cover::new(&criterion), &runs(&[9, 5, 5, 7])), [1]);
    }

    #[test]
    fn what_nothing_covers_needs_no_suite() {
        let criterion = criterion_of(&vec![vec![false]; 2], Vec::new());
        assert_eq!(greedy(&mut Cover::new(&criterion), &runs(&[1, 1])), [0; 0]);
    }
}
