//! Stacks whose values are distinct.
//!
//! A value whose put and take overlap can come and go at one instant, whatever is on the stack. Each other one must be
//! there from the end of its put to the start of its take. Where some value must be there, the stack is not empty, so
//! one value lies below all others from the first of these gaps to the last: its put was invoked before any put of
//! these values ended, and its take ended after all their takes were invoked. Any such value will do, as all that
//! happens between can happen above it. Without it, the gaps in which some value must be there fall into pieces, and
//! each is a smaller stack. Where no value must be there, the stack can be empty: a take that found nothing needs such
//! a gap.

use std::cmp::Reverse;

use super::containers::{Stay, Stays};
use super::tournament::{Coverage, Tournament};

/// A value goes before those whose puts ended before its own was invoked.
pub(super) const fn ages(_: usize, stay: &Stay) -> (usize, usize) {
    (stay.put.end, stay.put.start)
}

/// What is left to be done.
enum Task {
    /// Explain the values that must be there in these gaps, from the first to the last: in each there is one.
    Explain(usize, usize),
    /// A value goes in a gap.
    Goes { gap: usize, take: usize },
    /// A take finds nothing in a gap.
    FindsNothing { gap: usize, take: usize },
}

/// Returns an order of the calls, if a stack explains them.
///
/// Cost: O(n log n).
pub(super) fn explain(stays: &Stays) -> Option<Vec<usize>> {
    let covered = stays.covered();
    let nothings = stays.gaps_of_nothing(&covered)?;
    let mut pieces = Pieces::new(stays);
    let mut tasks: Vec<(usize, Task)> =
        covered.into_iter().map(|(first, last)| (first, Task::Explain(first, last))).collect();
    tasks.extend(nothings.into_iter().map(|(gap, take)| (gap, Task::FindsNothing { gap, take })));
    // The last is done first. No value must be there where a take finds nothing, so no two begin in one gap.
    tasks.sort_by_key(|&(gap, _)| Reverse(gap));
    let mut tasks: Vec<Task> = tasks.into_iter().map(|(_, task)| task).collect();

    let mut order: Vec<(usize, usize)> = Vec::new();
    while let Some(task) = tasks.pop() {
        match task {
            Task::Goes { gap, take } | Task::FindsNothing { gap, take } => order.push((gap, take)),
            Task::Explain(first, last) => {
                let lowest = pieces.lowest(first, last)?;
                order.extend(lowest.put_call.map(|put| (first - 1, put)));
                let take = lowest.take_call.filter(|_| last < stays.length);
                tasks.extend(take.map(|take| Task::Goes { gap: last + 1, take }));
                tasks.extend(
                    pieces.within(first, last).into_iter().rev().map(|(first, last)| Task::Explain(first, last)),
                );
            }
        }
    }
    for stay in stays.stays.iter().filter(|stay| !stay.must_stay() && stay.take.start < stays.length) {
        let gap = stay.take.start + 1;
        order.extend(stay.put_call.into_iter().chain(stay.take_call).map(|call| (gap, call)));
    }
    // Stable: calls of a gap are in order.
    order.sort_by_key(|&(gap, _)| gap);
    Some(order.into_iter().map(|(_, place)| place).collect())
}

/// The values that must be on the stack in some gap, as far as they have not been explained.
struct Pieces {
    /// In the order in which their puts end.
    stays: Vec<Stay>,
    /// How many must be there in each gap.
    coverage: Coverage,
    /// Of values whose puts may be invoked too late: the starts of the puts.
    late: Tournament<Reverse<usize>>,
    /// Of values whose puts are early enough to be the lowest of their piece: the ends of the takes.
    early: Tournament<usize>,
}

impl Pieces {
    fn new(all: &Stays) -> Self {
        let mut stays: Vec<Stay> = all.stays.iter().copied().filter(Stay::must_stay).collect();
        stays.sort_by_key(|stay| stay.put.end);
        let mut coverage = Coverage::new(all.length + 1);
        let mut late = Tournament::new(stays.len());
        for (number, stay) in stays.iter().enumerate() {
            coverage.add(stay.put.end + 1, stay.take.start, 1);
            late.set(number, Some(Reverse(stay.put.start)));
        }
        let early = Tournament::new(stays.len());
        Self { stays, coverage, late, early }
    }

    /// Takes away a value that can lie below all others of a piece, and returns it, or `None` if there is none.
    fn lowest(&mut self, first: usize, last: usize) -> Option<Stay> {
        let numbers = self.stays.partition_point(|stay| stay.put.end + 1 < first)
            ..self.stays.partition_point(|stay| stay.put.end < last);
        while let Some((Reverse(start), number)) = self.late.best(numbers.clone()) {
            // The piece begins when the first put of its values ends.
            if start + 1 >= first {
                break;
            }
            self.late.set(number, None);
            self.early.set(number, Some(self.stays[number].take.end));
        }
        let (end, number) = self.early.best(numbers)?;
        if end <= last {
            return None;
        }
        self.early.set(number, None);
        let stay = self.stays[number];
        self.coverage.add(stay.put.end + 1, stay.take.start, -1);
        Some(stay)
    }

    /// Returns the pieces that are left of one.
    fn within(&self, first: usize, last: usize) -> Vec<(usize, usize)> {
        let mut pieces = Vec::new();
        let mut from = first;
        while from <= last {
            let hole = self.coverage.hole(from, last).unwrap_or(last + 1);
            if from < hole {
                pieces.push((from, hole - 1));
            }
            from = hole + 1;
        }
        pieces
    }
}
