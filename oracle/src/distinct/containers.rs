//! What queues, stacks and priority queues whose values are distinct have in common.

use std::cmp::Reverse;
use std::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::tournament::Tournament;
use super::{Span, Timeline};
use crate::specifications::containers::{Operation, Response};
use crate::{Answer, Call, End};

/// The calls on a container, by its values.
pub(crate) struct Contents<'c, V> {
    timeline: Timeline,
    values: Vec<Value<'c, V>>,
    /// Takes, each with the number of the value that was taken.
    takes: Vec<(usize, usize)>,
    /// Takes that found nothing.
    found_nothing: Vec<usize>,
    /// Takes of which nobody knows what they took, if they did.
    unknown_takes: Vec<usize>,
}

struct Value<'c, V> {
    value: &'c V,
    put: Option<Put>,
}

#[derive(Debug, Clone, Copy)]
enum Put {
    /// The value is there at first: which one it is, in order.
    Initial(usize),
    Call(usize),
}

/// A value in the container, from its put to its take.
///
/// The put ends by the end of the take, and the take starts by the start of the put. A value that stays is taken after
/// all: between the events [`Timeline::length`] and the one after it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stay {
    pub(super) put: Span,
    pub(super) take: Span,
    pub(super) put_call: Option<usize>,
    pub(super) take_call: Option<usize>,
}

impl Stay {
    /// Returns whether the value must be there in some gap; if not, it can come and go at one instant, in the gap after
    /// the start of its take.
    pub(super) const fn must_stay(&self) -> bool {
        self.put.end < self.take.start
    }

    /// Returns whether nobody is known to have taken the value.
    const fn is_left(&self, length: usize) -> bool {
        self.take.end > length
    }

    /// Lets the value be taken after an event.
    fn take_from(&mut self, start: usize) {
        self.take.start = start.min(self.take.start).max(self.put.start);
    }
}

/// What a monitor of containers explains.
#[derive(Debug)]
pub(super) struct Stays {
    /// In the order of the values.
    pub(super) stays: Vec<Stay>,
    /// Takes that found nothing, with their numbers.
    pub(super) found_nothing: Vec<(Span, usize)>,
    /// The event after all.
    pub(super) length: usize,
}

/// What may be assumed of takes that may have taken any value, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnknownTakes {
    /// They took the values that must be gone by some event.
    Needed,
    /// Every value that nobody is known to have taken may have been taken by one, from the first invocation on.
    Any,
}

impl<'c, V: Eq + Hash> Contents<'c, V> {
    /// Returns calls by values, or `None` if a value is put twice or an answer does not belong to its operation.
    pub(crate) fn new(
        initial: impl ExactSizeIterator<Item = &'c V>,
        calls: &[&'c Call<Operation<V>, Response<V>>],
    ) -> Option<Self> {
        let mut numbers: HashMap<&V, usize, FixedState> = HashMap::with_hasher(FixedState::with_seed(0));
        let mut contents = Self {
            timeline: Timeline::new(calls, 2 * initial.len()),
            values: Vec::new(),
            takes: Vec::new(),
            found_nothing: Vec::new(),
            unknown_takes: Vec::new(),
        };
        let mut number = |values: &mut Vec<Value<'c, V>>, value| {
            *numbers.entry(value).or_insert_with(|| {
                values.push(Value { value, put: None });
                values.len() - 1
            })
        };
        for (nth, value) in initial.enumerate() {
            let number = number(&mut contents.values, value);
            contents.values[number].put_once(Put::Initial(nth))?;
        }
        for (place, call) in calls.iter().enumerate() {
            match (&call.operation, &call.end) {
                (_, End::DidNotHappen { .. }) => {}
                (Operation::Put(value), End::Unknown | End::Returned { response: Response::Done, .. }) => {
                    let number = number(&mut contents.values, value);
                    contents.values[number].put_once(Put::Call(place))?;
                }
                (Operation::Take, End::Unknown) => contents.unknown_takes.push(place),
                (Operation::Take, End::Returned { response: Response::Value(None), .. }) => {
                    contents.found_nothing.push(place);
                }
                (Operation::Take, End::Returned { response: Response::Value(Some(value)), .. }) => {
                    contents.takes.push((number(&mut contents.values, value), place));
                }
                _ => return None,
            }
        }
        Some(contents)
    }

    /// Puts the values in order.
    pub(crate) fn sort(&mut self)
    where
        V: Ord,
    {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by_key(|&number| self.values[number].value);
        let mut numbers = vec![0; order.len()];
        for (number, &before) in order.iter().enumerate() {
            numbers[before] = number;
        }
        self.values.sort_by_key(|value| value.value);
        for (number, _) in &mut self.takes {
            *number = numbers[*number];
        }
    }

    /// Returns whether a queue explains the calls.
    pub(crate) fn queue(&self) -> Option<Answer> {
        self.answer(super::queue::explain, super::queue::ages)
    }

    /// Returns whether a stack explains the calls.
    pub(crate) fn stack(&self) -> Option<Answer> {
        self.answer(super::stack::explain, super::stack::ages)
    }

    /// Returns whether a queue by priority explains the calls; the values are in order.
    pub(crate) fn priority_queue(&self) -> Option<Answer> {
        self.answer(super::priority_queue::explain, super::priority_queue::ages)
    }

    /// Returns whether a queue without an order explains the calls.
    pub(crate) fn unordered_queue(&self) -> Option<Answer> {
        self.answer(super::unordered_queue::explain, super::unordered_queue::ages)
    }

    /// Returns the answer of a monitor, or `None` if it depends on what unknown takes took.
    fn answer(&self, explain: impl Fn(&Stays) -> Option<Vec<usize>>, ages: Ages) -> Option<Answer> {
        let timeline = &self.timeline;
        let needed = |cut| self.stays(cut, UnknownTakes::Needed, ages).and_then(|stays| explain(&stays));
        if let Some(order) = needed(timeline.length) {
            return Some(Answer::Possible { order });
        }
        if self.unknown_takes.is_empty() {
            return Some(timeline.impossible(needed, needed));
        }
        // What cannot be explained with more than is possible cannot be explained.
        let any = |cut| self.stays(cut, UnknownTakes::Any, ages).and_then(|stays| explain(&stays));
        any(timeline.length).is_none().then(|| timeline.impossible(any, needed))
    }

    /// Returns the values that must be explained at a cut, or `None` if one was taken that was not there, or was not
    /// taken though it had to be.
    fn stays(&self, cut: usize, unknown: UnknownTakes, ages: Ages) -> Option<Stays> {
        let timeline = &self.timeline;
        let takes = self.takes_at(cut)?;
        let mut stays = Vec::with_capacity(self.values.len());
        for (value, take_call) in self.values.iter().zip(takes) {
            let is_taken = take_call.is_some_and(|take| timeline.has_ended(take, cut));
            let (put, is_put, put_call) = match value.put {
                None => (None, false, None),
                Some(Put::Initial(nth)) => (Some(Span { start: 2 * nth, end: 2 * nth + 1 }), true, None),
                Some(Put::Call(put)) => (timeline.at(put, cut), timeline.has_ended(put, cut), Some(put)),
            };
            if !is_put && !is_taken {
                continue;
            }
            let (mut put, mut take) = (put?, timeline.never());
            if let Some(call) = take_call {
                take.start = timeline.spans[call].start;
                // If it is under way, it may take the value, and need not.
                take.end = if is_taken { timeline.spans[call].end } else { take.end };
            }
            if take.end < put.start {
                return None;
            }
            put.end = put.end.min(take.end);
            take.start = take.start.max(put.start);
            stays.push(Stay { put, take, put_call, take_call });
        }
        let found_nothing = self.found_nothing.iter().filter(|&&place| timeline.has_ended(place, cut));
        let found_nothing = found_nothing.map(|&place| (timeline.spans[place], place)).collect();
        let mut stays = Stays { stays, found_nothing, length: timeline.length };
        let unknown_takes = self.unknown_takes.iter().map(|&place| (timeline.spans[place].start, place));
        let unknown_takes: Vec<(usize, usize)> = unknown_takes.filter(|&(start, _)| start < cut).collect();
        if let Some(&(first, _)) = unknown_takes.first() {
            let assigned = stays.assigned(&unknown_takes, ages)?;
            match unknown {
                UnknownTakes::Needed => {
                    for (number, start, place) in assigned {
                        stays.stays[number].take_from(start);
                        stays.stays[number].take_call = Some(place);
                    }
                }
                UnknownTakes::Any => {
                    let length = stays.length;
                    stays.stays.iter_mut().filter(|stay| stay.is_left(length)).for_each(|stay| stay.take_from(first));
                }
            }
        }
        Some(stays)
    }

    /// Returns which call takes each value at a cut, or `None` if one was taken twice.
    fn takes_at(&self, cut: usize) -> Option<Vec<Option<usize>>> {
        let timeline = &self.timeline;
        let mut takes: Vec<Option<usize>> = vec![None; self.values.len()];
        for &(number, place) in self.takes.iter().filter(|&&(_, place)| timeline.at(place, cut).is_some()) {
            let take = &mut takes[number];
            // One that is still under way may not have taken it. Of several the first can do what the others can.
            match take.map(|other| timeline.has_ended(other, cut)) {
                None => *take = Some(place),
                Some(other_ended) if timeline.has_ended(place, cut) => {
                    if other_ended {
                        return None;
                    }
                    *take = Some(place);
                }
                Some(_) => {}
            }
        }
        Some(takes)
    }
}

impl<V> Value<'_, V> {
    /// Notes the put, or returns `None` if there is one already.
    fn put_once(&mut self, put: Put) -> Option<()> {
        self.put.replace(put).is_none().then_some(())
    }
}

/// Which values must go before which other ones, if they are there when the other's take is invoked: those whose second
/// number is larger than the first number of the other. Both are of a value, which comes with its place in the order.
pub(super) type Ages = fn(usize, &Stay) -> (usize, usize);

impl Stays {
    /// Returns which values unknown takes must have taken: their numbers, and which takes, which come with their starts
    /// and in order. The first to start takes what must go first. `None` if they are too few or too late.
    fn assigned(&self, unknown: &[(usize, usize)], ages: Ages) -> Option<Vec<(usize, usize, usize)>> {
        // What takes values, and what finds none, before which others must have gone: all values are older than
        // nothing.
        let mut takes: Vec<(Span, usize)> = self.found_nothing.iter().map(|&(span, _)| (span, 0)).collect();
        let mut left: Vec<(usize, usize)> = Vec::new();
        for (number, stay) in self.stays.iter().enumerate() {
            let (age, limit) = ages(number, stay);
            if stay.is_left(self.length) {
                left.push((limit, number));
            } else if stay.take.end < self.length {
                takes.push((stay.take, age + 1));
            }
        }
        takes.sort_unstable_by_key(|(span, _)| span.start);
        left.sort_unstable();
        let mut by_age: Vec<usize> = (0..takes.len()).collect();
        by_age.sort_by_key(|&take| takes[take].1);
        let mut by_age = by_age.into_iter().peekable();
        let mut first_end = Tournament::new(takes.len());
        let mut needs: Vec<(usize, usize)> = Vec::new();
        for (limit, number) in left {
            while let Some(take) = by_age.next_if(|&take| takes[take].1 < limit + 1) {
                first_end.set(take, Some(Reverse(takes[take].0.end)));
            }
            let put_end = self.stays[number].put.end;
            let later = takes.partition_point(|(span, _)| span.start < put_end)..takes.len();
            // A take that is under way may be early enough.
            let is_needed = |&(Reverse(end), _): &(Reverse<usize>, usize)| end < self.stays[number].take.start;
            needs.extend(first_end.best(later).filter(is_needed).map(|(Reverse(end), _)| (end, number)));
        }
        needs.sort_unstable();
        let is_late = |(&(end, _), &(start, _)): (&(usize, usize), &(usize, usize))| end < start;
        if needs.len() > unknown.len() || needs.iter().zip(unknown).any(is_late) {
            return None;
        }
        Some(needs.into_iter().zip(unknown).map(|((_, number), &(start, place))| (number, start, place)).collect())
    }

    /// Returns the gaps in which some value must be there, as ranges that neither overlap nor touch, by first and last
    /// gap.
    pub(super) fn covered(&self) -> Vec<(usize, usize)> {
        let must_stay = self.stays.iter().filter(|stay| stay.must_stay());
        let mut ranges: Vec<(usize, usize)> = must_stay.map(|stay| (stay.put.end + 1, stay.take.start)).collect();
        ranges.sort_unstable();
        let mut covered: Vec<(usize, usize)> = Vec::new();
        for (first, last) in ranges {
            match covered.last_mut() {
                Some((_, until)) if first <= *until + 1 => *until = last.max(*until),
                _ => covered.push((first, last)),
            }
        }
        covered
    }

    /// Returns the takes that found nothing, each with a gap of its own call in which nothing must be there, or `None`
    /// if one has no such gap.
    pub(super) fn gaps_of_nothing(&self, covered: &[(usize, usize)]) -> Option<Vec<(usize, usize)>> {
        let gap_of = |&(span, place): &(Span, usize)| {
            let first = span.start + 1;
            let range = covered.partition_point(|&(_, last)| last < first);
            let gap = match covered.get(range) {
                Some(&(from, last)) if from <= first => last + 1,
                _ => first,
            };
            (gap <= span.end).then_some((gap, place))
        };
        let mut gaps = self.found_nothing.iter().map(gap_of).collect::<Option<Vec<_>>>()?;
        gaps.sort_unstable();
        Some(gaps)
    }
}
