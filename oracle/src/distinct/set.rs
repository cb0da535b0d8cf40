//! Sets whose values are added at most once.
//!
//! Values do not depend on each other. One is absent, then present from its addition on, then absent from its removal
//! on; each other call saw it present, or absent. The later the addition and the earlier the removal, the better for
//! those who saw it absent; those who saw it present bound both.

use std::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{Span, Timeline};
use crate::specifications::set::{Operation, Response};
use crate::{Answer, Call, End};

/// The calls on one value, each list in the order of invocation.
#[derive(Debug, Default)]
struct Value {
    /// Whether it is in the set at first.
    is_initial: bool,
    addition: Option<usize>,
    /// Removals that are known to have removed it.
    removals: Vec<usize>,
    /// Removals that may have removed it, or found it absent.
    perhaps_removals: Vec<usize>,
    /// Those who saw it present.
    saw_present: Vec<usize>,
    /// Those who saw it absent.
    saw_absent: Vec<usize>,
}

/// Returns whether a set explains calls, from an initial state, or `None` if a value is added twice or all values are
/// read.
pub(crate) fn set<'c, V: Eq + Hash>(
    initial: impl Iterator<Item = &'c V>,
    calls: &[&'c Call<Operation<V>, Response<V>>],
) -> Option<Answer> {
    let mut numbers: HashMap<&V, usize, FixedState> = HashMap::with_hasher(FixedState::with_seed(0));
    let mut values: Vec<Value> = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        if matches!(call.end, End::DidNotHappen { .. }) {
            continue;
        }
        let (Operation::Add(key) | Operation::Remove(key) | Operation::Contains(key)) = &call.operation else {
            return None;
        };
        let number = *numbers.entry(key).or_insert(values.len());
        if number == values.len() {
            values.push(Value::default());
        }
        let value = &mut values[number];
        match (&call.operation, call.end.response()) {
            (Operation::Contains(_), None) => {}
            (Operation::Contains(_), Some(Response::Is(true))) | (Operation::Add(_), Some(Response::Is(false))) => {
                value.saw_present.push(place);
            }
            (Operation::Contains(_) | Operation::Remove(_), Some(Response::Is(false))) => value.saw_absent.push(place),
            (Operation::Remove(_), Some(Response::Is(true))) => value.removals.push(place),
            (Operation::Remove(_), Some(Response::Done) | None) => value.perhaps_removals.push(place),
            (Operation::Add(_), Some(Response::Is(true) | Response::Done) | None) if value.addition.is_none() => {
                value.addition = Some(place);
            }
            _ => return None,
        }
    }
    for value in initial {
        if let Some(&number) = numbers.get(value) {
            values[number].is_initial = true;
        }
    }
    if values.iter().any(|value| value.is_initial && value.addition.is_some()) {
        return None;
    }
    let timeline = Timeline::new(calls, 2);
    Some(timeline.answer(|cut| {
        let mut order = Vec::new();
        for value in &values {
            value.explain(&timeline, cut, &mut order)?;
        }
        order.sort_unstable();
        Some(order.into_iter().map(|(.., place)| place).collect())
    }))
}

/// The part that a call has in the history of its value: calls of one gap are in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    SeesItAbsent,
    Adds,
    SeesItPresent,
    Removes,
    SeesItAbsentAgain,
}

impl Value {
    /// Adds the calls that ended by a cut, with the gaps in which they take effect, or returns `None` if they cannot.
    fn explain(&self, timeline: &Timeline, cut: usize, order: &mut Vec<(usize, Part, usize)>) -> Option<()> {
        let ended = |calls: &[usize]| -> Vec<usize> {
            calls.iter().copied().filter(|&call| timeline.has_ended(call, cut)).collect()
        };
        let saw_present = ended(&self.saw_present);
        let mut saw_absent = ended(&self.saw_absent);
        let removals = ended(&self.removals);
        let addition = if self.is_initial {
            Some(Span { start: 0, end: 1 })
        } else {
            let is_seen = !saw_present.is_empty() || !removals.is_empty();
            let is_demanded = |&addition: &usize| is_seen || timeline.has_ended(addition, cut);
            self.addition.filter(is_demanded).and_then(|addition| timeline.at(addition, cut))
        };
        let Some(addition) = addition else {
            saw_absent.extend(ended(&self.perhaps_removals));
            order.extend(saw_absent.iter().map(|&call| (timeline.spans[call].start + 1, Part::SeesItAbsent, call)));
            return (saw_present.is_empty() && removals.is_empty()).then_some(());
        };

        // When it must be present: those who saw it so bound both ends.
        let spans = |calls: &[usize]| -> Vec<Span> { calls.iter().map(|&call| timeline.spans[call]).collect() };
        let present = spans(&saw_present);
        let present_end = present.iter().map(|span| span.end).min().unwrap_or(timeline.length);
        let present_start = present.iter().map(|span| span.start).max().unwrap_or_default();
        if present_end < addition.start {
            return None;
        }
        let may_remove = |removal: &Span| removal.end > addition.start && removal.end > present_start;
        let perhaps = ended(&self.perhaps_removals);
        let removal = match removals.as_slice() {
            [removal] => Some(*removal),
            [] => {
                // The first that may be it: any later one that may, too, can find the value absent after that.
                let candidates = self.perhaps_removals.iter().chain(&self.removals).copied();
                candidates
                    .filter(|&call| timeline.at(call, cut).is_some_and(|span| may_remove(&span)))
                    .min_by_key(|&call| timeline.spans[call].start)
            }
            _ => return None,
        };
        saw_absent.extend(perhaps.into_iter().filter(|&call| Some(call) != removal));
        let removed = removal.and_then(|call| timeline.at(call, cut)).unwrap_or(timeline.never());
        if !may_remove(&removed) {
            return None;
        }

        let added_last = addition.end.min(present_end);
        let removed_first = removed.start.max(present_start);
        let (added, gone) = if removed_first < added_last {
            // It comes and goes at one instant.
            let instant = removed_first.max(addition.start) + 1;
            (instant, instant)
        } else {
            (added_last, removed_first + 1)
        };
        order.extend(self.addition.map(|call| (added, Part::Adds, call)));
        let start = |call: usize| timeline.spans[call].start;
        order.extend(saw_present.iter().map(|&call| (added.max(start(call) + 1), Part::SeesItPresent, call)));
        order.extend(removal.map(|call| (gone, Part::Removes, call)));
        for call in saw_absent {
            let span = timeline.spans[call];
            if span.start < added {
                order.push((span.start + 1, Part::SeesItAbsent, call));
            } else if span.end >= gone {
                order.push((gone.max(span.start + 1), Part::SeesItAbsentAgain, call));
            } else {
                return None;
            }
        }
        Some(())
    }
}
