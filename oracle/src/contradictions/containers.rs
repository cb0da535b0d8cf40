//! What is put into a container and taken out of it.

use std::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::shorter;
use crate::distinct::{Span, Timeline};
use crate::specifications::containers::{Operation, Response};
use crate::{Call, End};

/// Returns the first of some calls that end, if they are more than those that were made for them by then. `starts` and
/// the ends of `ended` are in order.
pub(super) fn too_many(starts: &[usize], ended: &[(usize, usize)]) -> Option<Vec<usize>> {
    let made = |end: usize| starts.partition_point(|&start| start < end);
    let nth = ended.iter().enumerate().position(|(nth, &(end, _))| made(end) <= nth)?;
    Some(ended[..=nth].iter().map(|&(_, call)| call).collect())
}

/// The calls on a value.
#[derive(Default)]
struct Value {
    /// Those that are there at first start before all.
    puts: Vec<(Span, Option<usize>)>,
    takes: Vec<(Span, usize)>,
}

/// How many events come before those of the calls.
const BEFORE: usize = 1;

/// The calls on a container by their values, in the order in which these come, and the takes that found nothing.
struct Values {
    values: Vec<Value>,
    found_nothing: Vec<(Span, usize)>,
}

impl Values {
    fn new<'c, V: Eq + Hash>(
        initial: impl Iterator<Item = &'c V>,
        calls: &[&'c Call<Operation<V>, Response<V>>],
    ) -> Self {
        let timeline = Timeline::new(calls, BEFORE);
        let mut numbers: HashMap<&V, usize, FixedState> = HashMap::with_hasher(FixedState::with_seed(0));
        let mut all = Self { values: Vec::new(), found_nothing: Vec::new() };
        let mut of = |values: &mut Vec<Value>, value| {
            let number = *numbers.entry(value).or_insert(values.len());
            if number == values.len() {
                values.push(Value::default());
            }
            number
        };
        for value in initial {
            let number = of(&mut all.values, value);
            all.values[number].puts.push((Span { start: 0, end: 0 }, None));
        }
        for (place, call) in calls.iter().enumerate() {
            let span = timeline.spans[place];
            match (&call.operation, &call.end) {
                (_, End::DidNotHappen { .. }) => {}
                (Operation::Put(value), _) => {
                    let number = of(&mut all.values, value);
                    all.values[number].puts.push((span, Some(place)));
                }
                (Operation::Take, End::Returned { response: Response::Value(Some(value)), .. }) => {
                    let number = of(&mut all.values, value);
                    all.values[number].takes.push((span, place));
                }
                (Operation::Take, End::Returned { response: Response::Value(None), .. }) => {
                    all.found_nothing.push((span, place));
                }
                (Operation::Take, _) => {}
            }
        }
        all
    }

    /// Returns the values that were put once and taken once: when, and by which calls.
    fn once(&self) -> Vec<Once> {
        let once = |value: &Value| match (&value.puts[..], &value.takes[..]) {
            (&[(put, put_call)], &[(take, take_call)]) => Some(Once { put, put_call, take, take_call }),
            _ => None,
        };
        self.values.iter().filter_map(once).collect()
    }
}

#[derive(Clone, Copy)]
struct Once {
    put: Span,
    put_call: Option<usize>,
    take: Span,
    take_call: usize,
}

/// Returns takes of a value that are more than its puts, or a take that found nothing while a value must be there.
pub(crate) fn taken_too_often<'c, V: Eq + Hash>(
    initial: impl Iterator<Item = &'c V>,
    calls: &[&'c Call<Operation<V>, Response<V>>],
) -> Option<Vec<usize>> {
    let values = Values::new(initial, calls);
    let too_many = values.values.iter().map(|value| {
        let mut starts: Vec<usize> = value.puts.iter().map(|(put, _)| put.start).collect();
        starts.sort_unstable();
        let mut ends: Vec<(usize, usize)> = value.takes.iter().map(|&(take, call)| (take.end, call)).collect();
        ends.sort_unstable();
        too_many(&starts, &ends)
    });
    shorter(too_many.fold(None, shorter), found_nothing(&values))
}

fn found_nothing(values: &Values) -> Option<Vec<usize>> {
    let mut once = values.once();
    once.sort_by_key(|once| once.put.end);
    let mut nothing = values.found_nothing.clone();
    nothing.sort_by_key(|(span, _)| span.start);
    let mut once = once.into_iter().peekable();
    // Of the values that were put by then the one that is taken last.
    let mut last: Option<Once> = None;
    for (span, call) in nothing {
        while let Some(next) = once.next_if(|once| once.put.end < span.start) {
            last = last.filter(|last| last.take.start > next.take.start).or(Some(next));
        }
        if let Some(last) = last.filter(|last| last.take.start > span.end) {
            return Some(last.put_call.into_iter().chain([call, last.take_call]).collect());
        }
    }
    None
}

/// Returns what contradicts itself in a queue: also two values of which the second to come was the first to go.
pub(crate) fn queue<'c, V: Eq + Hash>(
    initial: impl Iterator<Item = &'c V>,
    calls: &[&'c Call<Operation<V>, Response<V>>],
) -> Option<Vec<usize>> {
    let values = Values::new(initial, calls);
    let mut by_end = values.once();
    // Those that are there at first have an order of their own, which is not looked at.
    by_end.sort_by_key(|once| once.put.end);
    let mut by_start = by_end.clone();
    by_start.sort_by_key(|once| once.put.start);
    let mut by_end = by_end.into_iter().peekable();
    let mut last: Option<Once> = None;
    for second in by_start {
        while let Some(next) = by_end.next_if(|once| once.put.end < second.put.start) {
            last = last.filter(|last| last.take.start > next.take.start).or(Some(next));
        }
        if let Some(first) = last.filter(|first| first.take.start > second.take.end) {
            // Of the second put only the invocation matters, which is known of a call that is not named, too.
            return Some(first.put_call.into_iter().chain([second.take_call, first.take_call]).collect());
        }
    }
    None
}
