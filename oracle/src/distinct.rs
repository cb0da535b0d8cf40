//! Fast paths: linearizability of registers and containers whose values are distinct, in log-linear time.
//!
//! Where each value is written, added or put at most once, an answer names the call that it depends on, and there is
//! little left to search (Gibbons and Korach, 1997, "Testing shared memories"). What remains is about intervals:
//!
//! | specification | what decides |
//! | --- | --- |
//! | register | the zones of the values (Gibbons and Korach, 1997) |
//! | set | where the earliest removal and the latest addition of a value leave those who did not see it |
//! | unordered queue | whether there is an instant for each answer "it is empty" |
//! | set that is read as a whole, and only added to | whether the reads grow, and additions fit between them |
//! | queue | which value can be the first to come and the first to go, again and again |
//! | stack | which value can lie below all others for as long as the stack is not empty, again and again |
//! | priority queue | the first instant at which no larger value must be there, from the largest value down |
//!
//! The last three take away a value that can be explained by itself and leave a smaller history (Lee and Mathur, 2025,
//! "Efficient decrease-and-conquer linearizability monitoring"). That an answer "it is empty" stands by itself, and
//! needs an instant at which no value must be there, is known of queues (Henzinger, Sezgin and Vafeiadis, 2013,
//! "Aspect-oriented linearizability proofs"); it holds for all three.
//!
//! A fast path makes an order that explains the calls. Where a value repeats, or an operation is not one that it knows,
//! it declines, and the search decides.

mod containers;
mod growing_set;
mod priority_queue;
mod queue;
mod register;
mod set;
mod stack;
#[cfg(test)]
mod tests;
mod tournament;
mod unordered_queue;

pub(crate) use containers::Contents;
pub(crate) use growing_set::growing_set;
pub(crate) use register::register;
pub(crate) use set::set;

use crate::history::key;
use crate::{Answer, Call};

/// How many bytes a fast path takes for each call, with its share of all tables.
pub(crate) const BYTES_PER_CALL: usize = 512;

/// The invocations and ends of calls in a row, those that have no order in one that agrees with all that have.
///
/// Before event `g` is gap `g`: a call takes effect in a gap, after the event of its invocation and before that of its
/// end.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) spans: Vec<Span>,
    /// The events at which calls end, and the calls, in order.
    ends: Vec<(usize, usize)>,
    /// How many events there are, which is an event after all of them.
    length: usize,
}

/// A call as an interval: the event of its invocation and that of its end. Those whose end is unknown end at
/// [`Timeline::length`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Timeline {
    /// Returns the timeline of some calls, which are in the order of invocation, after `before` events.
    pub(crate) fn new<O, R>(calls: &[&Call<O, R>], before: usize) -> Self {
        // At one time: invocations whose place among the events is unknown, as no end precedes them; events by their
        // place, and of one place the invocations first; ends whose place is unknown, as they precede nothing.
        let invocations = calls.iter().enumerate().map(|(number, call)| {
            let (time, event) = key(call.invoked);
            ((time, u8::from(event.is_some()), event, false), number)
        });
        let ends = calls.iter().enumerate().filter_map(|(number, call)| {
            let (time, event) = key(call.end.at().filter(|_| call.end.response().is_some())?);
            Some(((time, 1 + u8::from(event.is_none()), event, true), number))
        });
        let mut events: Vec<_> = invocations.chain(ends).collect();
        events.sort_unstable();
        let length = before + events.len();
        let mut spans = vec![Span { start: length, end: length }; calls.len()];
        let mut ends = Vec::new();
        for (event, ((.., is_end), number)) in (before..).zip(events) {
            if is_end {
                spans[number].end = event;
                ends.push((event, number));
            } else {
                spans[number].start = event;
            }
        }
        Self { spans, ends, length }
    }

    /// Returns what is known of a call at a cut, if it was invoked by then: a call that ends later ends after all.
    fn at(&self, call: usize, cut: usize) -> Option<Span> {
        let span = self.spans[call];
        let end = if span.end <= cut { span.end } else { self.length };
        (span.start < cut).then_some(Span { end, ..span })
    }

    /// Returns whether a call has ended at a cut.
    fn has_ended(&self, call: usize, cut: usize) -> bool {
        self.spans[call].end <= cut && self.spans[call].end < self.length
    }

    /// Returns the span of what need not take effect: it can after all events.
    const fn never(&self) -> Span {
        Span { start: self.length, end: self.length + 1 }
    }

    /// Returns the answer of a monitor: of what returns an order that explains all calls that ended by a cut, if there
    /// is one. Calls that end later may be part of it.
    fn answer(&self, monitor: impl Fn(usize) -> Option<Vec<usize>>) -> Answer {
        match monitor(self.length) {
            Some(order) => Answer::Possible { order },
            None => self.impossible(&monitor, &monitor),
        }
    }

    /// Returns the answer about calls of which a monitor explains no more than a part: `stuck` ends at the first cut
    /// that cannot be explained. The longest part is the longest that another monitor explains, which explains no more.
    fn impossible(
        &self,
        monitor: impl Fn(usize) -> Option<Vec<usize>>,
        stricter: impl Fn(usize) -> Option<Vec<usize>>,
    ) -> Answer {
        // What cannot be explained does not become explicable by what comes later.
        let explained = self.ends.partition_point(|&(cut, _)| monitor(cut).is_some());
        let (_, stuck) = self.ends[explained.min(self.ends.len() - 1)];
        let longest = |explained: usize| {
            explained.checked_sub(1).map_or_else(|| Some(Vec::new()), |last| stricter(self.ends[last].0))
        };
        let longest = longest(explained).or_else(|| {
            let explained = self.ends[..explained].partition_point(|&(cut, _)| stricter(cut).is_some());
            longest(explained)
        });
        Answer::Impossible { longest: longest.unwrap_or_default(), stuck }
    }
}
