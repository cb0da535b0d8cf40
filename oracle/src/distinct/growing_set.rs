//! Sets that are read as a whole, from which nothing is removed, and to which each value is added once.
//!
//! What is read only grows, so the reads have an order: by size. Between two of them come the additions of what the
//! second has and the first has not, and after all of them the additions that none has seen. What is left is whether
//! each block of calls can take effect after all blocks before it, as early as the invocations allow.

use std::collections::{BTreeMap, BTreeSet};

use super::Timeline;
use crate::specifications::set::{Operation, Response};
use crate::{Answer, Call, End};

/// Returns whether a set explains calls, from an initial state, or `None` if there are calls of other kinds, or a value
/// is added twice.
pub(crate) fn growing_set<'c, V: Ord>(
    initial: impl ExactSizeIterator<Item = &'c V>,
    calls: &[&'c Call<Operation<V>, Response<V>>],
) -> Option<Answer> {
    let initial: BTreeSet<&V> = initial.collect();
    let mut additions: BTreeMap<&V, usize> = BTreeMap::new();
    let mut reads: Vec<(&BTreeSet<V>, usize)> = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        match (&call.operation, &call.end) {
            (_, End::DidNotHappen { .. }) | (Operation::Read, End::Unknown) => {}
            (Operation::Read, End::Returned { response: Response::Values(values), .. }) => reads.push((values, place)),
            (
                Operation::Add(value),
                End::Unknown | End::Returned { response: Response::Done | Response::Is(true), .. },
            ) => {
                if initial.contains(value) || additions.insert(value, place).is_some() {
                    return None;
                }
            }
            _ => return None,
        }
    }
    reads.sort_by_key(|(values, _)| values.len());
    let timeline = Timeline::new(calls, 0);
    Some(timeline.answer(|cut| explain(&timeline, &initial, &additions, &reads, cut)))
}

/// Returns an order of the calls that ended by a cut, if there is one, with those that must come before them.
fn explain<V: Ord>(
    timeline: &Timeline,
    initial: &BTreeSet<&V>,
    additions: &BTreeMap<&V, usize>,
    reads: &[(&BTreeSet<V>, usize)],
    cut: usize,
) -> Option<Vec<usize>> {
    let mut order: Vec<(usize, usize)> = Vec::new();
    // The first gap in which what comes next can take effect.
    let mut gap = 0;
    let mut place = |order: &mut Vec<(usize, usize)>, block: &mut dyn Iterator<Item = usize>| {
        let begin = order.len();
        for call in block {
            let span = timeline.at(call, cut)?;
            let at = gap.max(span.start + 1);
            if at > span.end {
                return None;
            }
            order.push((at, call));
        }
        order[begin..].sort_unstable();
        gap = order.last().map_or(gap, |&(at, _)| at);
        Some(())
    };
    let ended: Vec<&(&BTreeSet<V>, usize)> = reads.iter().filter(|(_, read)| timeline.has_ended(*read, cut)).collect();
    let mut seen: Option<&BTreeSet<V>> = None;
    for same in ended.chunk_by(|(one, _), (other, _)| one.len() == other.len()) {
        let values = same[0].0;
        let is_grown = match seen {
            None => initial.iter().all(|value| values.contains(*value)),
            Some(seen) => seen.is_subset(values),
        };
        if !is_grown || same.iter().any(|(other, _)| *other != values) {
            return None;
        }
        let is_new = |value: &&V| seen.map_or_else(|| !initial.contains(*value), |seen| !seen.contains(*value));
        let new = values.iter().filter(is_new).map(|value| additions.get(value).copied());
        place(&mut order, &mut new.collect::<Option<Vec<_>>>()?.into_iter())?;
        place(&mut order, &mut same.iter().map(|(_, read)| *read))?;
        seen = Some(values);
    }
    let is_unseen = |value: &V| seen.is_none_or(|seen| !seen.contains(value));
    let unseen = additions.iter().filter(|(value, addition)| is_unseen(value) && timeline.has_ended(**addition, cut));
    place(&mut order, &mut unseen.map(|(_, addition)| *addition))?;
    Some(order.into_iter().map(|(_, call)| call).collect())
}
