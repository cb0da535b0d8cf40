//! Records and identifiers, which are what they are for ever.

use std::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{answer, shorter};
use crate::distinct::Timeline;
use crate::specifications::{ids, log};
use crate::{Call, End};

/// Returns calls that were given an identifier which was given before.
pub(crate) fn given_twice<V: Eq + Hash>(
    given: &[V],
    calls: &[&Call<ids::Operation, ids::Response<V>>],
) -> Option<Vec<usize>> {
    let mut first: HashMap<&V, Option<usize>, FixedState> = HashMap::with_hasher(FixedState::with_seed(0));
    first.extend(given.iter().map(|id| (id, None)));
    let mut found = None;
    for (place, call) in calls.iter().enumerate() {
        if let Some(ids::Response::Id(id)) = answer(call) {
            if let Some(&before) = first.get(id) {
                found = shorter(found, Some(before.into_iter().chain([place]).collect()));
            } else {
                first.insert(id, Some(place));
            }
        }
    }
    found
}

/// Returns a call that read a record which nobody can have appended by then, or two calls that were told of different
/// records at one offset.
pub(crate) fn records<'c, V: Eq + Hash + 'c>(
    initial: impl Iterator<Item = &'c V>,
    calls: &[&'c Call<log::Operation<V>, log::Response<V>>],
) -> Option<Vec<usize>> {
    let timeline = Timeline::new(calls, 1);
    // When each record was first appended.
    let mut starts: HashMap<&V, usize, FixedState> = HashMap::with_hasher(FixedState::with_seed(0));
    starts.extend(initial.map(|record| (record, 0)));
    for (place, call) in calls.iter().enumerate() {
        if let (log::Operation::Append(record), false) = (&call.operation, matches!(call.end, End::DidNotHappen { .. }))
        {
            let start = timeline.spans[place].start;
            starts.entry(record).and_modify(|first| *first = start.min(*first)).or_insert(start);
        }
    }
    let mut appended: HashMap<u64, usize, FixedState> = HashMap::with_hasher(FixedState::with_seed(0));
    let mut at: HashMap<u64, (&V, usize), FixedState> = HashMap::with_hasher(FixedState::with_seed(0));
    let mut found = None;
    for (place, call) in calls.iter().enumerate() {
        let told: Vec<(u64, &V)> = match (&call.operation, answer(call)) {
            (log::Operation::Append(record), Some(log::Response::Appended { offset: Some(offset) })) => {
                vec![(*offset, record)]
            }
            (log::Operation::Read { .. }, Some(log::Response::Records(records))) => {
                records.iter().map(|(offset, record)| (*offset, record)).collect()
            }
            _ => Vec::new(),
        };
        if let Some(log::Response::Appended { offset: Some(offset) }) = answer(call)
            && let Some(other) = appended.insert(*offset, place)
        {
            found = shorter(found, Some(vec![other, place]));
        }
        let mut last = match call.operation {
            log::Operation::Read { from } => from.checked_sub(1),
            log::Operation::Append(_) => None,
        };
        for (offset, record) in told {
            let is_known = starts.get(record).is_some_and(|&start| start < timeline.spans[place].end);
            let other = at.entry(offset).or_insert((record, place));
            // Offsets grow.
            if !is_known || last.replace(offset).is_some_and(|last| last >= offset) {
                found = shorter(found, Some(vec![place]));
            } else if other.0 != record {
                found = shorter(found, Some(vec![other.1, place]));
            }
        }
    }
    found
}
