//! Explanations of a history that the specification cannot have made.

mod core;

use std::cmp::Ordering;

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use self::core::Shrinking;
use crate::check::Calls;
use crate::search::{Found, Role, Search, Tactics};
use crate::{Answer, Budget, Call, Check, Explored, History, RevisionConflict, Specification, Strategy, outcomes};

/// Why a specification cannot have done what clients saw.
#[derive(Debug, Clone)]
pub struct Explanation<S: Specification> {
    /// The call whose answer fits nothing: all calls that ended before it can be explained together, and not it with
    /// them. A place in the history, as all numbers of calls here.
    pub stuck: usize,
    /// All that can be said of the calls before it: each an explanation that `stuck` cannot be added to.
    pub maximal: Vec<Maximal<S>>,
    /// How many such explanations there are; more than `maximal` has if there are many.
    pub maximal_count: u64,
    /// Answers to `stuck` that the specification would have given, one for each that differs, without what was observed.
    pub allowed: Vec<Allowed<S::Response>>,
    /// A small part of the history that is impossible, whatever the answers to all other calls were. It is smallest in
    /// the sense that nothing of it can be left out by itself, as far as the budget allowed to find out.
    pub core: Vec<Known>,
    /// Whether the history would be possible without the order of its revisions, and which of them contradict the rest.
    pub revisions: Option<RevisionConflict>,
}

/// An explanation of a part of a history that nothing can be added to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maximal<S> {
    /// The calls in their order.
    pub order: Vec<usize>,
    /// The state of the service after them. Where calls are checked apart, of the part that the history is stuck in.
    pub state: S,
}

/// An answer that a specification would have given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed<R> {
    /// The answer.
    pub response: R,
    /// Why it and not what was observed, in the words of the specification.
    pub reason: Option<String>,
    /// The first explanation in `maximal` that leads to it.
    pub after: usize,
}

/// A call of which something has to be known for a history to be impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Known {
    /// The call.
    pub call: usize,
    /// What has to be known of it.
    pub what: What,
}

/// The knowledge of a call that an explanation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// That it took effect by its end, whatever it was answered.
    Ended,
    /// What it was answered.
    Answer,
}

impl Check<'_> {
    /// Returns why a specification cannot have done what clients saw, or `None` if it can have done it, or that is not
    /// known. The history is explained as a whole; a scope of [`Check::scope`] is not looked at.
    ///
    /// The check is made anew many times. All of that together takes at most the steps of the budget, and, besides the
    /// first check, some dozen times the steps of that one; its memory is the budget's at any time. What is not found
    /// out by then is left open: the core is larger than it need be, or `maximal` is empty. No clock is asked, unless
    /// the budget does, so that two runs explain the same.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
    /// use simutant_oracle::{Check, Recorder, Session, Time};
    ///
    /// let recorder = Recorder::new();
    /// let calls = [
    ///     (Operation::Write(1), Response::Done),
    ///     (Operation::Read, Response::Value(Some(1))),
    ///     (Operation::Write(2), Response::Done),
    ///     (Operation::Read, Response::Value(Some(1))),
    /// ];
    /// for (time, (operation, response)) in (0..).zip(calls) {
    ///     recorder.observed(Session(1), operation, response, Time::from_nanos(time));
    /// }
    /// let explanation = Check::default().explain(&recorder.history(), &Register::default()).expect("it is stale");
    /// assert_eq!(explanation.stuck, 3);
    /// assert_eq!(explanation.allowed[0].response, Response::Value(Some(2)));
    /// // The first read is no part of what is impossible.
    /// assert!(explanation.core.iter().all(|known| known.call != 1));
    /// ```
    pub fn explain<S: Specification>(
        &self,
        history: &History<S::Operation, S::Response>,
        initial: &S,
    ) -> Option<Explanation<S>>
    where
        S::Operation: Clone,
        S::Response: Clone,
    {
        let mut check = Check { order: self.order.clone(), strategy: Strategy::JustInTime, ..*self };
        let calls: Calls<'_, S> = history.calls().iter().enumerate().collect();
        let checked = check.whole(calls.clone(), initial, &|_, call| Role::of(&call.end));
        let Answer::Impossible { stuck, .. } = checked.answer else { return None };
        check.spend(checked.explored.steps);
        // What can be said before a call is what a search went through.
        let has_fast_paths = std::mem::take(&mut check.has_fast_paths) && check.is_linearizability();
        let is_possible_without_revisions =
            check.is_possible_without_revisions(&calls, initial, checked.explored.steps);
        let calls = check.part_with::<S>(calls, stuck);

        // A search that foresees where a state leads is stuck before the answer that people see to be wrong, and one that
        // hides what is overwritten does not see all states.
        let unforeseeing = Tactics { foresees: false, hides: false, ..check.strategy.tactics() };
        let searched = [unforeseeing, check.strategy.tactics()].into_iter().find_map(|tactics| {
            let limited = check.limited(calls.len(), checked.explored.steps);
            let seen = limited.whole_by(tactics, calls.clone(), initial, &|_, call| Role::of(&call.end));
            check.spend(seen.explored.steps);
            match seen.answer {
                Answer::Impossible { stuck, .. } => Some((tactics, stuck)),
                Answer::Possible { .. } | Answer::Undecided { .. } => None,
            }
        });
        let (maximal, maximal_count, steps) =
            searched.map_or_else(Default::default, |(tactics, stuck)| check.maximal(tactics, &calls, initial, stuck));
        check.spend(steps);
        let stuck = searched.map_or(stuck, |(_, stuck)| stuck);
        let call = &history.calls()[stuck];
        let allowed = call.end.response().map_or_else(Vec::new, |observed| allowed(&maximal, call, observed));
        let contradiction = if has_fast_paths { check.contradiction(&calls, initial) } else { None };
        let shrinking = Shrinking::new(&check, &calls, initial, checked.explored.steps);
        let core = match contradiction {
            Some(contradiction) => shrinking.core_of(&contradiction),
            None => shrinking.core(stuck),
        };
        let revisions = is_possible_without_revisions.then(|| RevisionConflict {
            calls: check.order.contradicting_revisions(history).or_else(|| conflict_of(&core, history)),
        });
        Some(Explanation { stuck, maximal, maximal_count, allowed, core, revisions })
    }

    /// Takes steps off the budget.
    fn spend(&mut self, steps: u64) {
        self.budget.steps = self.budget.steps.map(|budget| budget.saturating_sub(steps));
    }

    /// Returns whether there is an order of revisions, and the history is possible without it. `taken` is what the check
    /// took.
    fn is_possible_without_revisions<S: Specification>(
        &mut self,
        calls: &Calls<'_, S>,
        initial: &S,
        taken: u64,
    ) -> bool {
        if !self.order.revisions {
            return false;
        }
        let mut check = Check { order: self.order.without_revisions(), ..self.clone() };
        check.budget.steps = Some(core::steps_max(&self.budget, taken));
        let checked = check.whole(calls.clone(), initial, &|_, call| Role::of(&call.end));
        self.spend(checked.explored.steps);
        checked.is_possible()
    }

    /// Returns a check of so many calls that may take some times the steps that another one took, and no more than this
    /// one.
    fn limited(&self, calls: usize, taken: u64) -> Self {
        /// How many times the steps of the other one.
        const TIMES: u64 = 2;
        /// What a check may take in any case, and for each call.
        const STEPS_MIN: u64 = 10_000;
        const STEPS_PER_CALL: u64 = 16;
        let steps = taken.saturating_mul(TIMES).max(STEPS_MIN).max(STEPS_PER_CALL * calls as u64);
        let steps = self.budget.steps.unwrap_or(u64::MAX).min(steps);
        Check { order: self.order.clone(), budget: Budget { steps: Some(steps), ..self.budget }, ..*self }
    }

    /// Returns what can be said of all calls that ended before `stuck`, how many explanations there are, and the steps
    /// that it took.
    fn maximal<S: Specification>(
        &self,
        tactics: Tactics,
        calls: &Calls<'_, S>,
        initial: &S,
        stuck: usize,
    ) -> (Vec<Maximal<S>>, u64, u64) {
        let Some(problem) = self.problem::<S>(calls, &|_, call| Role::of(&call.end)) else { return (Vec::new(), 0, 0) };
        let mut search = Search::new(&problem, initial, tactics);
        search.keep_dead_ends_at(stuck);
        let found = search.run(initial, u64::MAX, &self.budget, Explored::default());
        // The budget may stop this search where it did not stop the one before; what was found by then counts.
        debug_assert!(match found {
            Some(Found::Nowhere { stuck: at, .. }) => problem.place(at) == stuck,
            found => matches!(found, Some(Found::Stopped(_))),
        });
        let (ends, count) = search.dead_ends();
        let mut maximal: Vec<Maximal<S>> = Vec::new();
        let mut known: HashSet<(&S, Vec<u32>), FixedState> = HashSet::default();
        for (state, end) in ends {
            // Two orders of the same calls to the same state say the same.
            let mut calls = end.order.clone();
            calls.sort_unstable();
            if known.insert((state, calls)) {
                maximal.push(Maximal { order: problem.places(&end.order), state: state.clone() });
            }
        }
        drop(known);
        let steps = search.explored().steps;
        (maximal, count, steps)
    }
}

/// Returns the two calls of a core that has no others: their revisions alone contradict their answers. The one with the
/// larger revision is the first.
fn conflict_of<O, R>(core: &[Known], history: &History<O, R>) -> Option<(usize, usize)> {
    let &[one, other] = core else { return None };
    let revision = |known: Known| history.calls().get(known.call).and_then(|call| call.revision);
    match revision(one)?.cmp(&revision(other)?) {
        Ordering::Greater => Some((one.call, other.call)),
        Ordering::Less => Some((other.call, one.call)),
        Ordering::Equal => None,
    }
}

/// Returns what a specification would have answered to a call after each explanation.
fn allowed<S: Specification>(
    maximal: &[Maximal<S>],
    call: &Call<S::Operation, S::Response>,
    observed: &S::Response,
) -> Vec<Allowed<S::Response>> {
    let mut allowed: Vec<Allowed<S::Response>> = Vec::new();
    for (after, Maximal { state, .. }) in maximal.iter().enumerate() {
        for (response, _) in outcomes(state, call.session, &call.operation, None) {
            // What was observed can only be an answer that a part of the order forbids, or that says not all there is to
            // know.
            if S::is_observable(&response)
                && response != *observed
                && !allowed.iter().any(|known| known.response == response)
            {
                let reason = state.reason(call.session, &call.operation, &response, observed);
                allowed.push(Allowed { response, reason, after });
            }
        }
    }
    allowed
}
