//! Queues without an order whose values are distinct.
//!
//! Values do not depend on each other, so a value that must be there for a while comes as late and goes as early as it
//! can. What is left is that a take that found nothing needs a gap in which no value must be there.

use super::containers::{Stay, Stays};

/// Values go before takes that found nothing, and before nothing else.
pub(super) const fn ages(_: usize, _: &Stay) -> (usize, usize) {
    (0, 0)
}

/// Returns an order of the calls, if a queue without an order explains them.
///
/// Cost: O(n log n).
pub(super) fn explain(stays: &Stays) -> Option<Vec<usize>> {
    /// The order within a gap: what must stay goes, others come and go, what found nothing, and what must stay comes.
    const GOES: usize = 0;
    const FOUND_NOTHING: usize = 2;
    const COMES: usize = 3;
    let nothings = stays.gaps_of_nothing(&stays.covered())?;
    let mut order: Vec<((usize, usize, usize), usize)> =
        nothings.into_iter().map(|(gap, call)| ((gap, FOUND_NOTHING, 0), call)).collect();
    for (number, stay) in stays.stays.iter().enumerate() {
        let gone = stay.take.start + 1;
        // What need not stay comes and goes at one instant: its put before its take.
        let (put, take) = if stay.must_stay() {
            ((stay.put.end, COMES, 0), (gone, GOES, 0))
        } else {
            ((gone, 1, 2 * number), (gone, 1, 2 * number + 1))
        };
        order.extend(stay.put_call.map(|call| (put, call)));
        order.extend(stay.take_call.filter(|_| gone <= stays.length).map(|call| (take, call)));
    }
    order.sort_unstable();
    Some(order.into_iter().map(|(_, call)| call).collect())
}
