//! Contradictions: few calls that no order explains, whatever became of all others, which show without a search.
//!
//! | specification | what contradicts itself |
//! | --- | --- |
//! | register, key-value store, set, mutex | [cells](cells): a value out of nowhere, or before anybody wrote it; one that was overwritten or taken; one that is there between two others |
//! | queue, stack, priority queue | a value that is taken more often than it was put; of a queue, two that overtake each other; nothing found while there is something |
//! | counter | more, or less, than was added by then; of a counter that only grows, less than before |
//! | lease | a number that is granted twice, that is too large, or that comes after a larger one |
//! | unique ids | one that is given twice |
//! | log | a record out of nowhere, two at one offset |
//! | bank | money that comes out of nothing, or is lost; another account |
//!
//! To leave a call out is to forget its end, as if nobody knew what became of it. So a call that is not named may have
//! happened, or not, at any time from its invocation on. A call that did not happen stays without effect.

pub(crate) mod cells;
mod containers;
mod numbers;
mod records;
mod texts;

pub(crate) use containers::{queue, taken_too_often};
pub(crate) use numbers::{counter, fences};
pub(crate) use records::{given_twice, records};
pub(crate) use texts::Texts;

use crate::Call;

/// Returns the calls of the shorter list.
fn shorter(one: Option<Vec<usize>>, other: Option<Vec<usize>>) -> Option<Vec<usize>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.len() < one.len() { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// Returns the answer of a call that returned.
fn answer<O, R>(call: &Call<O, R>) -> Option<&R> {
    call.end.response()
}
