//! The search for a small part of a history that is impossible.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::{Known, What};
use crate::check::Calls;
use crate::history::end_key;
use crate::search::{Placed, Role, Tactics};
use crate::{Answer, Budget, Call, Check, End, Moment, Session, Specification};

/// How many times the steps of the check of the whole history those may take that explain why it fails.
const TIMES: u64 = 8;

/// What these may take in any case.
const STEPS_MIN: u64 = 1 << 20;

/// How many checks that are not decided use all of it up.
const SHARES: u64 = 4;

/// With so many calls a step counts for one more: what a search keeps is counted call by call.
const CALLS_PER_STEP: u64 = 1 << 10;

/// How many calls before the one that fits nothing are tried first, and how many times as many next.
const WINDOW: usize = 8;

/// The search for a small part of a history that is impossible.
///
/// To leave a call out is to forget its end, as if nobody knew what became of it. That can only make more possible, so
/// what is impossible with calls left out shows by itself that the history is.
pub(super) struct Shrinking<'c, 'h, S: Specification> {
    check: &'c Check<'c>,
    calls: &'c Calls<'h, S>,
    initial: &'c S,
    /// What one check may take, in steps.
    share: u64,
    /// What all checks may still take, in steps; a call that a check looks at counts for one.
    left: Cell<u64>,
}

/// Returns the steps that further checks may take, after one that took some.
pub(super) fn steps_max(budget: &Budget<'_>, taken: u64) -> u64 {
    budget.steps.unwrap_or(u64::MAX).min(taken.saturating_mul(TIMES).max(STEPS_MIN))
}

/// What one check of few calls that contradict each other may take: they are few without it.
const STEPS_OF_FEW: u64 = 1 << 14;

/// What is known of calls, by their places.
type Ends = BTreeMap<usize, What>;

impl<'c, 'h, S: Specification> Shrinking<'c, 'h, S>
where
    S::Operation: Clone,
    S::Response: Clone,
{
    pub(super) fn new(check: &'c Check<'c>, calls: &'c Calls<'h, S>, initial: &'c S, steps: u64) -> Self {
        let steps = steps_max(&check.budget, steps);
        Self { check, calls, initial, share: steps.div_ceil(SHARES), left: Cell::new(steps) }
    }

    /// Returns a small part that is impossible, of a history in which `stuck` fits nothing that ended before it.
    pub(super) fn core(&self, stuck: usize) -> Vec<Known> {
        let answered = || self.calls.iter().filter(|(_, call)| call.end.response().is_some());
        let mut known: Ends = answered().map(|&(place, _)| (place, What::Answer)).collect();
        self.forget_around(&mut known, stuck);
        self.forget_sessions(&mut known);
        self.shrink(known)
    }

    /// Returns what is impossible of a few calls that are so together.
    pub(super) fn core_of(mut self, calls: &[Placed<'h, S::Operation, S::Response>]) -> Vec<Known> {
        self.share = self.share.min(STEPS_OF_FEW);
        self.shrink(calls.iter().map(|&(place, _)| (place, What::Answer)).collect())
    }

    fn forget_sessions(&self, known: &mut Ends) {
        let mut sessions: BTreeMap<Session, Vec<usize>> = BTreeMap::new();
        let kept = self.calls.iter().filter(|(place, _)| known.contains_key(place));
        kept.for_each(|&(place, call)| sessions.entry(call.session).or_default().push(place));
        sessions.values().for_each(|session| _ = self.forget(known, session));
    }

    /// Returns what is impossible of what is known, which is.
    fn shrink(&self, mut known: Ends) -> Vec<Known> {
        // Halves of what is left, quarters, and so on to single calls.
        let mut size = known.len().div_ceil(2);
        while size > 0 && self.goes_on() {
            let places: Vec<usize> = known.keys().copied().collect();
            places.chunks(size).for_each(|chunk| _ = self.forget(&mut known, chunk));
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        for place in known.keys().copied().collect::<Vec<_>>() {
            if !self.goes_on() {
                break;
            }
            let mut fewer = known.clone();
            fewer.insert(place, What::Ended);
            if self.is_impossible(&fewer) {
                known = fewer;
            }
        }
        known.into_iter().map(|(call, what)| Known { call, what }).collect()
    }

    /// Forgets what ended after the call that fits nothing, what changes nothing, and what ended long before it.
    fn forget_around(&self, known: &mut Ends, stuck: usize) {
        let mut by_end: Vec<_> =
            self.calls.iter().filter_map(|&(place, call)| Some((end_key(call.end.at()?), place))).collect();
        by_end.retain(|(_, place)| known.contains_key(place));
        by_end.sort_unstable();
        let mut by_end: Vec<usize> = by_end.into_iter().map(|(_, place)| place).collect();
        let Some(at) = by_end.iter().position(|&place| place == stuck) else { return };
        self.forget(known, &by_end[at + 1..]);
        by_end.truncate(at);
        let mut window = WINDOW;
        while window < by_end.len() && self.goes_on() {
            if self.forget(known, &by_end[..by_end.len() - window]) {
                return;
            }
            window *= WINDOW;
        }
    }

    /// Forgets the ends of calls, if the rest is still impossible.
    fn forget(&self, known: &mut Ends, places: &[usize]) -> bool {
        if !self.goes_on() {
            return false;
        }
        let mut fewer = known.clone();
        places.iter().for_each(|place| _ = fewer.remove(place));
        let is_forgotten = fewer.len() < known.len() && self.is_impossible(&fewer);
        if is_forgotten {
            *known = fewer;
        }
        is_forgotten
    }

    fn goes_on(&self) -> bool {
        self.left.get() > 0 && !self.check.budget.stop.is_some_and(|stop| stop())
    }

    /// Returns whether what is known is impossible, whatever else happened.
    fn is_impossible(&self, known: &Ends) -> bool {
        if known.is_empty() {
            return false;
        }
        // What is not decided soon is kept.
        let mut check = self.check.clone();
        let cost = 1 + self.calls.len() as u64 / CALLS_PER_STEP;
        check.budget.steps = Some(self.left.get().min(self.share) / cost);
        // A call whose end is forgotten may be anywhere. Breadth first, what few of them reach comes first, and what
        // more of them reach is no better.
        let tactics = Tactics { breadth_first: true, ..check.strategy.tactics() };
        let last = self.last_end(known);
        // What comes after all that is known does not matter.
        let is_late =
            |call: &Call<_, _>| last.is_some_and(|last| self.check.order.real_time && last.is_before(call.invoked));
        let checked = if known.values().all(|&what| what == What::Answer) {
            // An ordinary history, of which a specification may know without a search.
            check.has_fast_paths = true;
            let forget = |&(place, call): &Placed<'_, S::Operation, S::Response>| {
                let end = match &call.end {
                    end if known.contains_key(&place) => end.clone(),
                    End::DidNotHappen { at } => End::DidNotHappen { at: *at },
                    _ if is_late(call) => End::DidNotHappen { at: call.invoked },
                    _ => End::Unknown,
                };
                Call { operation: call.operation.clone(), end, ..*call }
            };
            let forgotten: Vec<_> = self.calls.iter().map(forget).collect();
            let calls: Calls<'_, S> =
                self.calls.iter().zip(&forgotten).map(|(&(place, _), call)| (place, call)).collect();
            if check.is_linearizability() && check.contradiction(&calls, self.initial).is_some() {
                self.left.set(self.left.get().saturating_sub(calls.len() as u64));
                return true;
            }
            check.whole_by(tactics, calls, self.initial, &|_, call| Role::of(&call.end))
        } else {
            let role = |place: usize, call: &Call<S::Operation, S::Response>| match (&call.end, known.get(&place)) {
                (End::DidNotHappen { .. }, _) => Role::Absent,
                (_, Some(What::Answer)) => Role::Demanded { is_compared: true },
                (_, Some(What::Ended)) => Role::Demanded { is_compared: false },
                (_, None) if is_late(call) => Role::Absent,
                (_, None) => Role::Doubtful,
            };
            check.whole_by(tactics, self.calls.clone(), self.initial, &role)
        };
        let taken = checked.explored.steps.saturating_mul(cost).saturating_add(self.calls.len() as u64);
        self.left.set(self.left.get().saturating_sub(taken));
        matches!(checked.answer, Answer::Impossible { .. })
    }

    /// Returns the end of the call that ended last of those that are known.
    fn last_end(&self, known: &Ends) -> Option<Moment> {
        let ends = self.calls.iter().filter(|(place, _)| known.contains_key(place));
        ends.filter_map(|(_, call)| call.end.at()).max_by_key(|&at| end_key(at))
    }
}
