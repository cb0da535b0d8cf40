//! Formulas: what a specification has to have done, as a question to a solver.
//!
//! A formula is satisfiable if and only if the specification explains the history: an independent judge of what
//! [`check`](crate::check()) says, by the second approach of Banzai (2018, 3.4). The search is faster and takes longer
//! histories, so nothing needs a solver. A [`Solver`] asks one that is installed.
//!
//! Calls have positions, all different; states lie between the positions. The source writes the rules of one
//! service as formulas. Here a step is ordinary Rust, so [`formula`] tries the calls on the states that they reach,
//! gives the states numbers, and writes a table for each call: from which state to which, where the answer agrees. No
//! hint is used but [`Specification::footprint`], and that one where a [`Scope`] leaves calls out by what they change.
//!
//! ```
//! use simutant_oracle::specifications::{Register, register::{Operation, Response}};
//! use simutant_oracle::{Order, Recorder, Session, Time, smt};
//!
//! let recorder = Recorder::new();
//! let write = recorder.invoke(Session(1), Operation::Write(7), Time::from_nanos(0));
//! let read = recorder.invoke(Session(2), Operation::Read, Time::from_nanos(5));
//! recorder.returned(read, Response::Value(None), Time::from_nanos(9))?;
//! recorder.returned(write, Response::Done, Time::from_nanos(20))?;
//!
//! let text = smt::formula(&recorder.history(), &Register::default(), &Order::linearizability(), 100)?;
//! assert!(text.ends_with("(check-sat)\n"));
//! // Write it to a file: `z3 FILE` and `cvc5 FILE` answer `sat`.
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod solver;
mod text;

use std::collections::BTreeMap;
use std::fmt::Debug;

pub use solver::{Satisfiable, Solver, SolverError};

use crate::check::{self, questions};
use crate::open::Script;
use crate::search::{Placed, Role, States};
use crate::{Call, History, Open, Order, Scope, Session, Specification};
pub(crate) use text::Words;

/// A history's calls reach more states than a formula may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "calls at the first {positions} positions reach more than {states_max} states; raise the bound, or take a shorter history"
)]
pub struct TooManyStates {
    /// How many there may be.
    pub states_max: usize,
    /// How many of the first positions have calls that reach more.
    pub positions: usize,
}

/// Returns the SMT-LIB 2 text whose answer is `sat` if and only if a specification explains a history, from an initial
/// state.
///
/// The text is a script of its own, of logic `QF_BV`, with one `(check-sat)` at its end. Put `(reset)` between several
/// texts for one run of a solver. `t_N` is the position of the call at place N of the history, `e_N` says whether a
/// call of unknown end has an effect, and `s_P` is the state before position P.
///
/// Cost: each call is tried on at most `states_max` states; the text has a line for each call and each of its
/// positions, and a word for each entry of a call's table.
///
/// ```
/// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
/// use simutant_oracle::{Order, Recorder, Session, Time, smt};
///
/// let recorder = Recorder::new();
/// for number in 0..3 {
///     recorder.observed(Session(1), Operation::Write(number), Response::Done, Time::ZERO);
/// }
/// let history = recorder.history();
/// let text = smt::formula(&history, &Register::default(), &Order::none(), 100)?;
/// assert!(text.contains("QF_BV") && text.contains("(check-sat)"));
/// // The register has no value or one of three.
/// assert!(smt::formula(&history, &Register::default(), &Order::none(), 3).is_err());
/// # Ok::<(), smt::TooManyStates>(())
/// ```
///
/// # Errors
/// [`TooManyStates`] if the states that the calls reach are more than `states_max`. A call is tried at all positions
/// that the order leaves to it, whatever came before, so these states can be more than those that a search visits.
pub fn formula<S>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    states_max: usize,
) -> Result<String, TooManyStates>
where
    S: Specification + Debug,
    S::Operation: Debug,
    S::Response: Debug,
{
    let mut formulas = formulas(history, initial, order, Scope::History, states_max);
    formulas.next().expect("a whole history is one question")
}

/// Returns a text as that of [`formula`] for each question that a scope asks of a history: the specification explains the
/// history if and only if the answer to all of them is `sat`.
///
/// Where calls are explained by themselves, there is one for each call that returned, so a large history has large texts.
/// They are written as the iterator is asked. Besides the cost of each: all pairs of calls, and once all triples.
///
/// ```
/// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
/// use simutant_oracle::{Compared, Filter, Order, Recorder, Scope, Session, Time, smt};
///
/// let recorder = Recorder::new();
/// for (number, operation, response) in
///     [(0, Operation::Write(7), Response::Done), (1, Operation::Read, Response::Value(Some(7)))]
/// {
///     recorder.observed(Session(1), operation, response, Time::from_nanos(number));
/// }
/// let scope = Scope::EachCall { compared: Compared::All, filter: Filter::Reads };
/// let history = recorder.history();
/// let texts: Vec<String> =
///     smt::formulas(&history, &Register::default(), &Order::sequential(), scope, 100).collect::<Result<_, _>>()?;
/// assert_eq!(texts.len(), 2);
/// // The first text is about the write, and the read changes nothing.
/// assert!(texts[0].contains("(declare-const t_0 Position)") && !texts[0].contains("t_1"));
/// # Ok::<(), smt::TooManyStates>(())
/// ```
pub fn formulas<'a, S>(
    history: &'a History<S::Operation, S::Response>,
    initial: &'a S,
    order: &'a Order,
    scope: Scope,
    states_max: usize,
) -> impl Iterator<Item = Result<String, TooManyStates>> + 'a
where
    S: Specification + Debug,
    S::Operation: Debug,
    S::Response: Debug,
{
    let words = Words::<S> {
        state: |state| Some(format!("{state:?}")),
        operation: |operation| format!("{operation:?}"),
        response: |response| format!("{response:?}"),
    };
    formulas_in(words, history, initial, order, scope, states_max)
}

/// The same, in words of the caller's.
pub(crate) fn formulas_in<'a, S: Specification>(
    words: Words<S>,
    history: &'a History<S::Operation, S::Response>,
    initial: &'a S,
    order: &'a Order,
    scope: Scope,
    states_max: usize,
) -> impl Iterator<Item = Result<String, TooManyStates>> + 'a {
    let calls: Vec<Placed<'a, _, _>> = history.calls().iter().enumerate().collect();
    let asked: Vec<check::Question> = questions::<S>(&calls, order, scope).collect();
    asked.into_iter().map(move |check::Question { order, roles }| {
        let kept: Vec<Placed<'a, _, _>> = calls.iter().copied().filter(|call| roles[call.0] != Role::Absent).collect();
        let question = ask(&calls, &kept, &order, &roles, &words);
        let reached = if question.is_cyclic {
            Reached::default()
        } else {
            question.explore(&kept, initial, states_max, &words)?
        };
        Ok(text::write(&question, &reached, &order))
    })
}

/// What a formula asks: the calls that may have had an effect, and what orders them.
///
/// Each call has a position. One without an effect has a position, too, changes nothing there, and is not ordered.
struct Question {
    calls: Vec<Asked>,
    /// How many of the calls had an effect for certain.
    certain: usize,
    /// Pairs of calls, as numbers in `calls`: if both had an effect, the first one's came first. What follows from
    /// others is left out.
    ordered: Vec<(usize, usize)>,
    /// Whether a call that had an effect comes before itself.
    is_cyclic: bool,
}

/// A call that may have had an effect.
struct Asked {
    /// Its place in the history.
    place: usize,
    /// Its session, its operation, and how it ended.
    words: String,
    role: Role,
    /// The first and the last position at which it may have an effect.
    window: (usize, usize),
}

impl Asked {
    /// Returns whether it had an effect for certain.
    const fn is_certain(&self) -> bool {
        matches!(self.role, Role::Demanded { .. })
    }

    /// Returns whether what it precedes has no effect without it.
    const fn is_waited_for(&self) -> bool {
        matches!(self.role, Role::Optional { .. })
    }

    /// Returns whether it may have an effect at a position.
    const fn fits(&self, position: usize) -> bool {
        self.window.0 <= position && position <= self.window.1
    }
}

/// Returns what is asked of `kept`, the calls that have a role.
fn ask<S: Specification>(
    all: &[Placed<'_, S::Operation, S::Response>],
    kept: &[Placed<'_, S::Operation, S::Response>],
    order: &Order,
    roles: &[Role],
    words: &Words<S>,
) -> Question {
    let doubtful = all.iter().filter(|(_, call)| call.end.response().is_none());
    let order = order.closed_over(&mut doubtful.map(|&(place, _)| place));
    let mut calls = Vec::new();
    let mut before = Vec::new();
    for &(place, call) in kept {
        let role = roles[place];
        let end = match call.end.response() {
            Some(response) if role.is_compared() => (words.response)(response),
            Some(response) => format!("{}, not compared", (words.response)(response)),
            None => "unknown".to_owned(),
        };
        let words = format!("{}: {}, end: {end}", call.session, (words.operation)(&call.operation));
        calls.push(Asked { place, words, role, window: (0, 0) });
        let puts =
            |&(other, other_call): &Placed<'_, _, _>| order.puts((place, place, call), (other, other, other_call));
        before.push(kept.iter().map(puts).collect());
    }
    Question::new(calls, &before)
}

impl Question {
    /// Returns the question of calls of which some, by their places in `calls`, come before others.
    fn new(mut calls: Vec<Asked>, before: &[Vec<bool>]) -> Self {
        let certain: Vec<bool> = calls.iter().map(Asked::is_certain).collect();
        let closed = closed(before, &certain);
        let count = calls.len();
        let certain_where = |is: &dyn Fn(usize) -> bool| (0..count).filter(|&one| certain[one] && is(one)).count();
        for (number, call) in calls.iter_mut().enumerate() {
            let earlier = certain_where(&|one| closed[one][number]);
            let later = certain_where(&|other| closed[number][other]);
            call.window = (earlier, (count - 1).saturating_sub(later));
        }
        let follows = |one: usize, other: usize| {
            (0..count).any(|by| certain[by] && ![one, other].contains(&by) && closed[one][by] && closed[by][other])
        };
        let pairs = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
        let ordered =
            pairs.filter(|&(one, other)| one != other && before[one][other] && !follows(one, other)).collect();
        let is_cyclic = certain_where(&|call| closed[call][call]) > 0;
        Self { certain: certain_where(&|_| true), calls, ordered, is_cyclic }
    }

    /// Returns which states the calls reach, position by position.
    fn explore<S: Specification>(
        &self,
        calls: &[Placed<'_, S::Operation, S::Response>],
        initial: &S,
        states_max: usize,
        words: &Words<S>,
    ) -> Result<Reached, TooManyStates> {
        let mut states = States::new();
        let mut tables = vec![BTreeMap::new(); calls.len()];
        let mut layer = vec![states.number(initial, |_| 0)];
        for position in 0..self.calls.len() {
            // The last positions may be those of calls without an effect.
            let mut next = if position < self.certain { Vec::new() } else { layer.clone() };
            for ((asked, (_, call)), table) in self.calls.iter().zip(calls).zip(&mut tables) {
                if !asked.fits(position) {
                    continue;
                }
                for &before in &layer {
                    let response = call.end.response().filter(|_| asked.role.is_compared());
                    let after = table.entry(before).or_insert_with(|| step(&mut states, before, call, response));
                    next.extend(after.iter());
                    if states.len() > states_max {
                        return Err(TooManyStates { states_max, positions: position + 1 });
                    }
                }
            }
            next.sort_unstable();
            next.dedup();
            layer = next;
        }
        let states = (0..).take(states.len()).map(|number| (words.state)(states.get(number))).collect();
        Ok(Reached { states, tables })
    }
}

/// The states that calls reach, and how.
#[derive(Default)]
struct Reached {
    /// The words for each state; the initial one is the first.
    states: Vec<Option<String>>,
    /// By call: the states after it, by the state before it.
    tables: Vec<BTreeMap<u32, Vec<u32>>>,
}

/// Returns the states after a call that had an effect, where its answer agrees with the one that is compared.
fn step<S: Specification>(
    states: &mut States<S>,
    before: u32,
    call: &Call<S::Operation, S::Response>,
    response: Option<&S::Response>,
) -> Vec<u32> {
    let (session, operation): (Session, _) = (call.session, &call.operation);
    let mut after = Vec::new();
    let mut script = Script::default();
    loop {
        let mut state = states.get(before).clone();
        let mut open = Open::enumerated(&mut script);
        let expected = state.step(session, operation, &mut open);
        if response.is_none_or(|observed| state.agrees(operation, &expected, observed, &mut open)) {
            after.push(states.number(&state, |_| 0));
        }
        if !script.advance() {
            after.sort_unstable();
            after.dedup();
            return after;
        }
    }
}

/// Returns a relation with all that follows from it by calls that had an effect for certain.
fn closed(before: &[Vec<bool>], certain: &[bool]) -> Vec<Vec<bool>> {
    let mut closed = before.to_vec();
    for by in (0..before.len()).filter(|&by| certain[by]) {
        let after = closed[by].clone();
        for row in closed.iter_mut().filter(|row| row[by]) {
            row.iter_mut().zip(&after).for_each(|(is, also)| *is |= also);
        }
    }
    closed
}
