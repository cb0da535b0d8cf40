//! Queues whose values are distinct.
//!
//! A queue takes values in the order of their puts. So value `a` must precede value `b` if the put of `a` ended before
//! that of `b` was invoked, or the take of `a` ended before that of `b` was invoked. A queue explains the calls if and
//! only if this relation is acyclic. A cycle allows no order of the values. Without one, a topological order of the
//! values is an order for both the puts and the takes: each call takes effect as early as its invocation and the calls
//! of values before it allow, which is never after its end.
//!
//! A take that found nothing needs a gap in which no value must be there. Any such gap divides the values into those
//! whose puts ended before, which can be gone by then, and the others, which can come later. That adds no cycle: as no
//! value must be there in the gap, no pair of the relation leads from the others back to the first.

use super::Span;
use super::containers::{Stay, Stays};

/// A value goes before those whose puts were invoked after the end of its own.
pub(super) const fn ages(_: usize, stay: &Stay) -> (usize, usize) {
    (usize::MAX / 2 - stay.put.start, usize::MAX / 2 - stay.put.end)
}

/// Returns an order of the calls, if a queue explains them.
///
/// Cost: O(n log n).
pub(super) fn explain(stays: &Stays) -> Option<Vec<usize>> {
    let nothings = stays.gaps_of_nothing(&stays.covered())?;
    // Event `e` is at 2e, and gap `g`, which is before event `g`, at 2g - 1. The gap of a take that found nothing cuts
    // the time line. Spans are clipped to the cuts, so that values on the left of one precede those on its right.
    let mut cuts: Vec<usize> = nothings.iter().map(|&(gap, _)| 2 * gap - 1).collect();
    cuts.dedup();
    let (mut puts, mut takes) = (Vec::new(), Vec::new());
    for stay in &stays.stays {
        let mut put = Span { start: 2 * stay.put.start, end: 2 * stay.put.end };
        let mut take = Span { start: 2 * stay.take.start, end: 2 * stay.take.end };
        let later = cuts.partition_point(|&cut| cut < put.end);
        if let Some(&cut) = later.checked_sub(1).and_then(|before| cuts.get(before)) {
            put.start = put.start.max(cut);
            take.start = take.start.max(cut);
        }
        if let Some(&cut) = cuts.get(later) {
            take.end = take.end.min(cut);
        }
        puts.push(put);
        takes.push(take);
    }
    let values = order(&puts, &takes)?;

    let mut order: Vec<((usize, usize, bool), usize)> =
        nothings.iter().map(|&(gap, place)| ((2 * gap - 1, 0, false), place)).collect();
    let (mut put_at, mut take_at) = (0, 0);
    for (nth, value) in values.into_iter().enumerate() {
        let stay = &stays.stays[value];
        put_at = puts[value].start.max(put_at);
        take_at = takes[value].start.max(put_at).max(take_at);
        order.extend(stay.put_call.map(|call| ((put_at, nth + 1, false), call)));
        order
            .extend(stay.take_call.filter(|_| take_at < 2 * stays.length).map(|call| ((take_at, nth + 1, true), call)));
    }
    order.sort_unstable();
    Some(order.into_iter().map(|(_, place)| place).collect())
}

/// Returns a topological order of the values by the relation above, or `None` if it has a cycle.
///
/// This is Kahn's algorithm (1962): remove a value that no remaining value precedes, until none is left. If all that
/// remain are preceded, each by another one that remains, they contain a cycle. The relation may have O(n^2) pairs,
/// which are never listed: on one side, puts or takes, no remaining value precedes `b` if and only if `b` was invoked
/// before the first remaining end. That end only grows as values are removed, so two sorted lists and a pointer into
/// each suffice.
fn order(puts: &[Span], takes: &[Span]) -> Option<Vec<usize>> {
    let mut sides = [Side::new(puts), Side::new(takes)];
    let mut is_gone = vec![false; puts.len()];
    // On how many of the two sides no remaining value precedes this one.
    let mut free_on = vec![0; puts.len()];
    let mut free = Vec::new();
    let mut order = Vec::with_capacity(puts.len());
    loop {
        for side in &mut sides {
            side.advance(&is_gone, |value| {
                free_on[value] += 1;
                if free_on[value] == 2 {
                    free.push(value);
                }
            });
        }
        let Some(value) = free.pop() else { break };
        is_gone[value] = true;
        order.push(value);
    }
    (order.len() == puts.len()).then_some(order)
}

/// The spans of all puts or of all takes, to find the values that no remaining value precedes.
struct Side<'s> {
    /// The span of each value.
    spans: &'s [Span],
    /// Values that have not been told of, by the starts of their spans.
    by_start: std::iter::Peekable<std::vec::IntoIter<usize>>,
    /// Values by the ends of their spans; removed ones are skipped where they come first.
    by_end: std::iter::Peekable<std::vec::IntoIter<usize>>,
}

impl<'s> Side<'s> {
    fn new(spans: &'s [Span]) -> Self {
        let sorted = |key: &dyn Fn(&Span) -> usize| {
            let mut values: Vec<usize> = (0..spans.len()).collect();
            values.sort_by_key(|&value| key(&spans[value]));
            values.into_iter().peekable()
        };
        Self { spans, by_start: sorted(&|span| span.start), by_end: sorted(&|span| span.end) }
    }

    /// Calls `tell` once for each value that no remaining value precedes any more: its call was invoked before the
    /// first remaining end.
    fn advance(&mut self, is_gone: &[bool], mut tell: impl FnMut(usize)) {
        while self.by_end.next_if(|&value| is_gone[value]).is_some() {}
        let Some(&first) = self.by_end.peek() else { return };
        let end = self.spans[first].end;
        while let Some(value) = self.by_start.next_if(|&value| self.spans[value].start < end) {
            tell(value);
        }
    }
}
