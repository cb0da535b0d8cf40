//! Queues whose values are distinct.
//!
//! A value comes before another one if its put ended before the other's was invoked, or its take did. A queue explains
//! the calls if and only if that has no circle: then puts and takes can be in one order of the values, each as early as
//! its invocation and those before it allow. So a value that nothing comes before is taken away, again and again.
//!
//! A take that found nothing needs a gap in which no value must be there. Any such gap divides the values into those
//! whose puts ended before, which can be gone by then, and the others, which can come later. What comes before what
//! does not change by that.

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
    // Event `e` is at 2e, and gap `g`, which is before event `g`, at 2g - 1.
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

/// Returns an order of values that agrees with that of their puts and with that of their takes.
fn order(puts: &[Span], takes: &[Span]) -> Option<Vec<usize>> {
    let mut sides = [Side::new(puts), Side::new(takes)];
    let mut is_gone = vec![false; puts.len()];
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

/// The puts, or the takes: of which values there is none before.
struct Side<'s> {
    spans: &'s [Span],
    by_start: std::iter::Peekable<std::vec::IntoIter<usize>>,
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

    /// Tells of each value whose call was invoked before the first of those that are left ended.
    fn advance(&mut self, is_gone: &[bool], mut tell: impl FnMut(usize)) {
        while self.by_end.next_if(|&value| is_gone[value]).is_some() {}
        let Some(&first) = self.by_end.peek() else { return };
        let end = self.spans[first].end;
        while let Some(value) = self.by_start.next_if(|&value| self.spans[value].start < end) {
            tell(value);
        }
    }
}
