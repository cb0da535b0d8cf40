//! Cells: parts of a state that have one value at a time.
//!
//! A call *needs* the value that a cell has just before it, and *leaves* the one that it has just after it. A call that
//! leaves a value which it does not need *makes* it; one that needs a value and leaves another one *takes* it. Then
//!
//! - a value that is needed was made, by a call that was invoked by then, and after the last call that is known to have
//!   left another value before;
//! - a value is taken at most as often as it was made by then;
//! - a value that is made once is there from the first end to the last invocation of calls that saw it: no other value
//!   is there in between, and nobody has taken it before (Gibbons and Korach, 1997, where all values are made once).

use std::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::shorter;
use crate::Call;
use crate::distinct::{Span, Timeline};

/// The calls on cells.
pub(crate) struct Cells<K, V> {
    numbers: HashMap<K, usize, FixedState>,
    cells: Vec<Cell<V>>,
}

struct Cell<V> {
    /// Values by their numbers; the first is there at first.
    values: HashMap<V, usize, FixedState>,
    touches: Vec<Touch>,
}

/// What a call does to a cell.
#[derive(Debug, Clone, Copy)]
struct Touch {
    call: usize,
    needs: Option<usize>,
    leaves: Option<usize>,
    known: Known,
}

/// What is known of what a call leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    /// It is there just after the call.
    Left,
    /// It may be.
    Perhaps,
    /// It is not, or was there before: only the answer says so.
    Denied,
}

/// The span of a call, and the call; the value that is there at first has none.
#[derive(Debug, Clone, Copy)]
struct Seen {
    span: Span,
    call: Option<usize>,
}

/// How many events come before those of the calls: the one at which the first value is there.
const BEFORE: usize = 1;

impl<K: Eq + Hash, V: Eq + Hash> Cells<K, V> {
    pub(crate) fn new() -> Self {
        Self { numbers: HashMap::with_hasher(FixedState::with_seed(0)), cells: Vec::new() }
    }

    fn cell(&mut self, key: K, initial: impl FnOnce() -> V) -> &mut Cell<V> {
        let next = self.cells.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            let mut values = HashMap::with_hasher(FixedState::with_seed(0));
            values.insert(initial(), 0);
            self.cells.push(Cell { values, touches: Vec::new() });
        }
        &mut self.cells[number]
    }

    /// Notes what a call that returned needs and leaves. `initial` is the value that the cell has at first.
    pub(crate) fn returned(
        &mut self,
        call: usize,
        key: K,
        initial: impl FnOnce() -> V,
        (needs, leaves): (Option<V>, Option<V>),
    ) {
        let cell = self.cell(key, initial);
        let (needs, leaves) = (needs.map(|value| cell.number(value)), leaves.map(|value| cell.number(value)));
        cell.touches.push(Touch { call, needs, leaves, known: Known::Left });
    }

    /// Notes what a call does not leave, or does not make, and could if nobody knew its answer.
    pub(crate) fn denies(&mut self, call: usize, key: K, initial: impl FnOnce() -> V, leaves: V) {
        let cell = self.cell(key, initial);
        let leaves = Some(cell.number(leaves));
        cell.touches.push(Touch { call, needs: None, leaves, known: Known::Denied });
    }

    /// Notes what a call leaves if it happened, and changed something.
    pub(crate) fn may_leave(&mut self, call: usize, key: K, initial: impl FnOnce() -> V, leaves: V) {
        let cell = self.cell(key, initial);
        let leaves = Some(cell.number(leaves));
        cell.touches.push(Touch { call, needs: None, leaves, known: Known::Perhaps });
    }

    /// Returns the fewest calls that contradict each other.
    pub(crate) fn contradiction<O, R>(&self, calls: &[&Call<O, R>]) -> Option<Vec<usize>> {
        let timeline = Timeline::new(calls, BEFORE);
        self.cells.iter().map(|cell| cell.contradiction(&timeline)).fold(None, shorter)
    }
}

impl<V: Eq + Hash> Cell<V> {
    fn number(&mut self, value: V) -> usize {
        let next = self.values.len();
        *self.values.entry(value).or_insert(next)
    }

    fn contradiction(&self, timeline: &Timeline) -> Option<Vec<usize>> {
        let span = |touch: &Touch| timeline.spans[touch.call];
        let seen = |touch: &Touch| Seen { span: span(touch), call: Some(touch.call) };
        let mut of_values: Vec<OfValue> = std::iter::repeat_with(OfValue::default).take(self.values.len()).collect();
        of_values[0].makers.push(Seen { span: Span { start: 0, end: 0 }, call: None });
        for touch in &self.touches {
            match (touch.needs, touch.leaves) {
                (_, Some(leaves)) if touch.known == Known::Denied => of_values[leaves].deniers.push(seen(touch)),
                (needs, Some(leaves)) if needs != Some(leaves) => of_values[leaves].makers.push(seen(touch)),
                _ => {}
            }
            if touch.known != Known::Left {
                continue;
            }
            if let Some(needs) = touch.needs {
                of_values[needs].needers.push(seen(touch));
                if touch.leaves != Some(needs) {
                    of_values[needs].takers.push(seen(touch));
                }
            }
            if let Some(leaves) = touch.leaves {
                of_values[leaves].leavers.push(seen(touch));
            }
        }
        of_values.iter_mut().for_each(OfValue::sort);
        let taken = of_values.iter().map(OfValue::taken_too_often).fold(None, shorter);
        let gone = of_values.iter().map(OfValue::seen_after_taken).fold(None, shorter);
        [self.out_of_nowhere(timeline, &of_values), self.between(timeline, &of_values), taken, gone]
            .into_iter()
            .fold(None, shorter)
    }

    /// Finds a value that is needed and was not made, or not since another one was left.
    fn out_of_nowhere(&self, timeline: &Timeline, of_values: &[OfValue]) -> Option<Vec<usize>> {
        let certain = || self.touches.iter().filter(|touch| touch.known == Known::Left);
        let mut needers: Vec<(Span, usize, usize)> =
            certain().filter_map(|touch| Some((timeline.spans[touch.call], touch.call, touch.needs?))).collect();
        needers.sort_unstable_by_key(|&(span, ..)| span.start);
        let mut leavers: Vec<(Span, usize, usize)> =
            certain().filter_map(|touch| Some((timeline.spans[touch.call], touch.call, touch.leaves?))).collect();
        leavers.sort_unstable_by_key(|&(span, ..)| span.end);
        let mut leavers = leavers.into_iter().peekable();
        // The last to start of those that ended, and the last that left another value than that one.
        let mut last: [Option<(usize, usize, usize)>; 2] = [None; 2];
        // The first with the fewest calls, which are named at the end: there may be as many of each as there are calls.
        let mut fewest: Option<(usize, Nowhere)> = None;
        for (span, call, value) in needers {
            while let Some((leaver, call, left)) = leavers.next_if(|(leaver, ..)| leaver.end < span.start) {
                let new = Some((leaver.start, call, left));
                match last {
                    [Some((_, _, known)), _] if known == left => last[0] = last[0].max(new),
                    [first, _] if new > first => last = [new, first],
                    [_, second] => last[1] = second.max(new),
                }
            }
            let other = last.into_iter().flatten().find(|&(.., left)| left != value);
            let of_value = &of_values[value];
            let makers = of_value.makers.partition_point(|maker| maker.span.start < span.end);
            let is_late = |(start, ..): (usize, usize, usize)| of_value.last_end(makers) > Some(start);
            if makers == 0 || other.is_some_and(|other| !is_late(other)) {
                let overwritten = other.filter(|_| makers > 0).map(|(_, call, _)| call);
                let count = makers + usize::from(overwritten.is_some()) + of_value.denied_until(span.end).len();
                if fewest.as_ref().is_none_or(|(fewest, _)| count < *fewest) {
                    fewest = Some((count, Nowhere { call, overwritten, value, makers, end: span.end }));
                }
            }
        }
        fewest.map(|(_, Nowhere { call, overwritten, value, makers, end })| {
            let of_value = &of_values[value];
            let makers = of_value.makers[..makers].iter().chain(of_value.denied_until(end));
            std::iter::once(call).chain(overwritten).chain(makers.filter_map(|seen| seen.call)).collect()
        })
    }

    /// Finds a value that is there while one that is made once must be.
    fn between(&self, timeline: &Timeline, of_values: &[OfValue]) -> Option<Vec<usize>> {
        let mut zones: Vec<(usize, usize, usize, Seen, Seen)> = Vec::new();
        for (value, of_value) in of_values.iter().enumerate() {
            if let Some((first, last)) = of_value.zone() {
                zones.push((first.span.end, last.span.start, value, first, last));
            }
        }
        zones.sort_unstable_by_key(|&(start, end, value, ..)| (start, end, value));
        // The calls of a zone, and those that say that they have not made the value a second time.
        let denied = |zone: usize| {
            let (.., value, _, last) = zones[zone];
            of_values[value].denied_until(last.span.end)
        };
        let calls = |zone: usize| {
            let (.., first, last) = zones[zone];
            [first, last].iter().chain(denied(zone)).filter_map(|seen| seen.call).collect::<Vec<_>>()
        };
        for second in 1..zones.len() {
            if zones[second].0 < zones[second - 1].1 {
                return Some([calls(second - 1), calls(second)].concat());
            }
        }
        // The first with the fewest calls, which are named at the end.
        let mut fewest: Option<(usize, usize, usize)> = None;
        for touch in self.touches.iter().filter(|touch| touch.known == Known::Left) {
            let span = timeline.spans[touch.call];
            let Some(zone) = zones.partition_point(|&(start, ..)| start < span.start).checked_sub(1) else { continue };
            let (_, end, value, ..) = zones[zone];
            if span.end < end && [touch.needs, touch.leaves].into_iter().flatten().any(|shown| shown != value) {
                let count = denied(zone).len();
                if fewest.is_none_or(|(fewest, ..)| count < fewest) {
                    fewest = Some((count, zone, touch.call));
                }
            }
        }
        fewest.map(|(_, zone, call)| [calls(zone), vec![call]].concat())
    }
}

/// A value out of nowhere.
struct Nowhere {
    /// Who needs it.
    call: usize,
    /// Who left another value after all that made it.
    overwritten: Option<usize>,
    value: usize,
    /// How many of its makers may have made it by then.
    makers: usize,
    /// When who needs it ends.
    end: usize,
}

/// The calls that have to do with a value.
#[derive(Debug, Default)]
struct OfValue {
    /// In the order of their starts.
    makers: Vec<Seen>,
    /// The latest end of so many makers, and one more.
    ends: Vec<usize>,
    /// Known not to make it, by their answers alone, in the order of their starts.
    deniers: Vec<Seen>,
    /// Known to need it.
    needers: Vec<Seen>,
    /// Known to leave it.
    leavers: Vec<Seen>,
    /// Known to take it, in the order of their ends.
    takers: Vec<Seen>,
}

impl OfValue {
    fn sort(&mut self) {
        self.makers.sort_by_key(|maker| maker.span.start);
        self.deniers.sort_by_key(|denier| denier.span.start);
        self.takers.sort_by_key(|taker| taker.span.end);
        let mut last = 0;
        for maker in &self.makers {
            last = last.max(maker.span.end);
            self.ends.push(last);
        }
    }

    /// Returns the latest end of the first makers.
    fn last_end(&self, makers: usize) -> Option<usize> {
        self.ends.get(makers.checked_sub(1)?).copied()
    }

    /// Returns who would be makers before an event, were it not for their answers.
    fn denied_until(&self, end: usize) -> &[Seen] {
        &self.deniers[..self.deniers.partition_point(|denier| denier.span.start < end)]
    }

    fn taken_too_often(&self) -> Option<Vec<usize>> {
        let starts: Vec<usize> = self.makers.iter().map(|maker| maker.span.start).collect();
        let ends: Vec<(usize, usize)> =
            self.takers.iter().filter_map(|taker| Some((taker.span.end, taker.call?))).collect();
        let taken = super::containers::too_many(&starts, &ends)?;
        let (end, _) = ends[taken.len() - 1];
        Some(taken.into_iter().chain(self.denied_until(end).iter().filter_map(|denier| denier.call)).collect())
    }

    /// Finds who needs the value after it was taken, if it was made once.
    fn seen_after_taken(&self) -> Option<Vec<usize>> {
        let first = self.takers.first().filter(|_| self.makers.len() == 1)?;
        let after = self.needers.iter().find(|needer| needer.span.start > first.span.end)?;
        let denied = self.denied_until(after.span.end);
        Some([first, after].into_iter().chain(denied).filter_map(|seen| seen.call).collect())
    }

    /// Returns who was the first to end of those who saw the value, and the last to start, if it is made once and must
    /// be there in between.
    fn zone(&self) -> Option<(Seen, Seen)> {
        let [maker] = self.makers[..] else { return None };
        let initial = Some(maker).filter(|maker| maker.call.is_none());
        let seen = self.needers.iter().chain(&self.leavers).copied().chain(initial);
        let first = seen.min_by_key(|seen| seen.span.end)?;
        let last = self.needers.iter().copied().max_by_key(|seen| seen.span.start)?;
        (first.span.end < last.span.start).then_some((first, last))
    }
}
