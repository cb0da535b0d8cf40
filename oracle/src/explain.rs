//! Explanations of a history that the specification cannot have made.

use std::collections::BTreeMap;

use crate::check::Calls;
use crate::search::{Found, Role, Search, Tactics};
use crate::{Answer, Budget, Call, Check, End, Explored, History, Session, Specification, Strategy, outcomes};

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
    /// Answers to `stuck` that the specification would have given, one for each that differs.
    pub allowed: Vec<Allowed<S::Response>>,
    /// A small part of the history that is impossible, whatever the answers to all other calls were. It is smallest in
    /// the sense that nothing of it can be left out by itself, as far as the budget allowed to find out.
    pub core: Vec<Known>,
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

/// What has to be known of a call.
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
    /// The check is made anew many times, each within the budget. To find the core takes as many checks as the history
    /// has calls, about.
    pub fn explain<S: Specification>(
        &self,
        history: &History<S::Operation, S::Response>,
        initial: &S,
    ) -> Option<Explanation<S>>
    where
        S::Response: Clone,
    {
        // What can be said before a call is what a search went through.
        let check = Check { order: self.order.clone(), strategy: Strategy::JustInTime, has_fast_paths: false, ..*self };
        let calls: Calls<'_, S> = history.calls().iter().enumerate().collect();
        let checked = check.whole(calls.clone(), initial, |_, call| Role::of(&call.end));
        let Answer::Impossible { stuck, .. } = checked.answer else { return None };
        let calls = check.part_with::<S>(calls, stuck);

        // A search that foresees where a state leads is stuck before the answer that people see to be wrong.
        let limited = check.limited(checked.explored.steps);
        let unforeseeing = Tactics { foresees: false, ..check.strategy.tactics() };
        let seen = limited.whole_by(unforeseeing, calls.clone(), initial, |_, call| Role::of(&call.end));
        let (tactics, stuck) = match seen.answer {
            Answer::Impossible { stuck, .. } => (unforeseeing, stuck),
            Answer::Possible { .. } | Answer::Undecided { .. } => (check.strategy.tactics(), stuck),
        };
        let (maximal, maximal_count) = check.maximal(tactics, &calls, initial, stuck);
        let call = &history.calls()[stuck];
        let allowed = call.end.response().map_or_else(Vec::new, |observed| allowed(&maximal, call, observed));
        let core = Shrinking { check: &check, calls: &calls, initial, steps: checked.explored.steps }.core();
        Some(Explanation { stuck, maximal, maximal_count, allowed, core })
    }

    /// Returns a check that may take some times the steps that another one took, and no more than this one.
    fn limited(&self, taken: u64) -> Self {
        /// How many times the steps of the other one.
        const TIMES: u64 = 8;
        /// What a check may take in any case.
        const STEPS_MIN: u64 = 10_000;
        let steps = self.budget.steps.unwrap_or(u64::MAX).min(taken.saturating_mul(TIMES).max(STEPS_MIN));
        Check { order: self.order.clone(), budget: Budget { steps: Some(steps), ..self.budget }, ..*self }
    }

    /// Returns what can be said of all calls that ended before `stuck`.
    fn maximal<S: Specification>(
        &self,
        tactics: Tactics,
        calls: &Calls<'_, S>,
        initial: &S,
        stuck: usize,
    ) -> (Vec<Maximal<S>>, u64) {
        let Some(problem) = self.problem::<S>(calls, |_, call| Role::of(&call.end)) else { return (Vec::new(), 0) };
        let mut search = Search::new(&problem, initial, tactics);
        let found = search.run(initial, u64::MAX, &self.budget, Explored::default());
        // The budget may stop this search where it did not stop the one before; what was found by then counts.
        debug_assert!(match found {
            Some(Found::Nowhere { stuck: at, .. }) => problem.place(at) == stuck,
            found => matches!(found, Some(Found::Stopped(_))),
        });
        let (ends, count) = search.dead_ends();
        let mut maximal: Vec<Maximal<S>> = Vec::new();
        for (state, end) in ends {
            let order = problem.places(&end.order);
            // Two orders of the same calls to the same state say the same.
            let is_known = maximal.iter().any(|known| known.state == *state && is_permutation(&known.order, &order));
            if !is_known {
                maximal.push(Maximal { order, state: state.clone() });
            }
        }
        (maximal, count)
    }
}

fn is_permutation(one: &[usize], other: &[usize]) -> bool {
    let sorted = |calls: &[usize]| {
        let mut calls = calls.to_vec();
        calls.sort_unstable();
        calls
    };
    one.len() == other.len() && sorted(one) == sorted(other)
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
            if !allowed.iter().any(|known| known.response == response) {
                let reason = state.reason(call.session, &call.operation, &response, observed);
                allowed.push(Allowed { response, reason, after });
            }
        }
    }
    allowed
}

/// The search for a small part of a history that is impossible.
///
/// To leave a call out is to forget its end, as if nobody knew what became of it. That can only make more possible, so
/// what is impossible with calls left out shows by itself that the history is.
struct Shrinking<'c, 'h, S: Specification> {
    check: &'c Check<'c>,
    calls: &'c Calls<'h, S>,
    initial: &'c S,
    /// What the check of the whole history took.
    steps: u64,
}

impl<S: Specification> Shrinking<'_, '_, S> {
    fn core(&self) -> Vec<Known> {
        let answered = self.calls.iter().filter(|(_, call)| call.end.response().is_some());
        let mut known: BTreeMap<usize, What> = answered.clone().map(|&(place, _)| (place, What::Answer)).collect();
        // Whole sessions first, then halves of what is left, quarters, and so on to single calls.
        let mut sessions: BTreeMap<Session, Vec<usize>> = BTreeMap::new();
        answered.for_each(|&(place, call)| sessions.entry(call.session).or_default().push(place));
        sessions.values().for_each(|session| self.forget(&mut known, session));
        let mut size = known.len().div_ceil(2);
        while size > 0 {
            let places: Vec<usize> = known.keys().copied().collect();
            places.chunks(size).for_each(|chunk| self.forget(&mut known, chunk));
            size = if size == 1 { 0 } else { size.div_ceil(2) };
        }
        for place in known.keys().copied().collect::<Vec<_>>() {
            let mut fewer = known.clone();
            fewer.insert(place, What::Ended);
            if self.is_impossible(&fewer) {
                known = fewer;
            }
        }
        known.into_iter().map(|(call, what)| Known { call, what }).collect()
    }

    /// Forgets the ends of calls, if the rest is still impossible.
    fn forget(&self, known: &mut BTreeMap<usize, What>, places: &[usize]) {
        let mut fewer = known.clone();
        fewer.retain(|place, _| !places.contains(place));
        if fewer.len() < known.len() && self.is_impossible(&fewer) {
            *known = fewer;
        }
    }

    fn is_impossible(&self, known: &BTreeMap<usize, What>) -> bool {
        // Calls whose ends are forgotten may be anywhere, and what is not decided soon is kept.
        let check = self.check.limited(self.steps);
        let role = |place: usize, call: &Call<S::Operation, S::Response>| match (&call.end, known.get(&place)) {
            (End::DidNotHappen { .. }, _) => Role::Absent,
            (_, Some(What::Answer)) => Role::Demanded { is_compared: true },
            (_, Some(What::Ended)) => Role::Demanded { is_compared: false },
            (_, None) => Role::Doubtful,
        };
        matches!(check.whole(self.calls.clone(), self.initial, role).answer, Answer::Impossible { .. })
    }
}
