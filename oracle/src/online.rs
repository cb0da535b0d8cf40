//! Checks as things happen: observations come one at a time, and the states that are possible are kept.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::open::Script;
use crate::search::parts;
use crate::{Explored, Footprint, Limit, Open, Session, Specification};

/// A check of linearizability that is told what clients see while they see it.
///
/// After each observation it has every state that the service can be in, together with the calls under way that must
/// have taken effect for it. When there is none, the service is wrong, at that observation.
///
/// ```
/// use simutant_oracle::specifications::Register;
/// use simutant_oracle::specifications::register::{Operation, Response};
/// use simutant_oracle::{Online, OnlineBudget, Session};
///
/// let mut online = Online::new(Register::default(), OnlineBudget::default());
/// let write = online.invoked(Session(1), Operation::Write(7));
/// let read = online.invoked(Session(2), Operation::Read);
/// online.returned(read, Response::Value(Some(7)))?;
/// // The write has taken effect, though nobody has answered it.
/// assert_eq!(online.states().collect::<Vec<_>>(), [&Register(Some(7))]);
///
/// let again = online.invoked(Session(2), Operation::Read);
/// assert!(online.returned(again, Response::Value(None)).is_err());
/// # Ok::<(), simutant_oracle::OnlineError>(())
/// ```
///
/// Calls of unknown end stay under way for ever, and each of them is one more that may have taken effect before the
/// next answer. A service that loses many answers makes the frontier large.
pub struct Online<S: Specification> {
    frontier: Vec<Possible<S>>,
    /// The calls under way, and those that are over and stand behind one that is not.
    calls: BTreeMap<CallNumber, Observed<S>>,
    invoked: u64,
    budget: OnlineBudget,
    explored: Explored,
}

/// Limits of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnlineBudget {
    /// Steps of the specification for one observation.
    pub steps: u64,
    /// Possibilities that are kept.
    pub possibilities: usize,
}

/// A million steps and a hundred thousand possibilities.
impl Default for OnlineBudget {
    fn default() -> Self {
        Self { steps: 1_000_000, possibilities: 100_000 }
    }
}

/// The number of a call, from 0 in the order of invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallNumber(u64);

/// Why an observation leads no further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OnlineError {
    /// The specification cannot have done this.
    #[error("call {} cannot have ended so, after all that was observed before", .call.0)]
    Impossible {
        /// The call whose end was observed.
        call: CallNumber,
    },
    /// The budget ran out, and nothing is known from here on.
    #[error("{limit} ran out at the end of call {}: check the recorded history as a whole", .call.0)]
    Undecided {
        /// The call whose end was observed.
        call: CallNumber,
        /// What ran out.
        limit: Limit,
    },
    /// The call is not under way: end each call once.
    #[error("call {} is not under way; end each call once", .call.0)]
    NotUnderWay {
        /// The call.
        call: CallNumber,
    },
}

struct Observed<S: Specification> {
    session: Session,
    operation: S::Operation,
    /// What it was answered, once it was.
    response: Option<S::Response>,
}

/// A way in which the service may have done what was observed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Possible<S> {
    /// The state before the first call that took effect and has not been answered.
    base: S,
    /// The calls that took effect from there on, and what was chosen in each.
    since: Vec<(CallNumber, Script)>,
    /// The state after them.
    state: S,
}

impl<S: Specification> Online<S> {
    /// Returns a check that begins at an initial state.
    pub fn new(initial: S, budget: OnlineBudget) -> Self {
        let frontier = vec![Possible { base: initial.clone(), since: Vec::new(), state: initial }];
        Self { frontier, calls: BTreeMap::new(), invoked: 0, budget, explored: Explored::default() }
    }

    /// Observes that a session begins a call.
    pub fn invoked(&mut self, session: Session, operation: S::Operation) -> CallNumber {
        let number = CallNumber(self.invoked);
        self.invoked += 1;
        self.calls.insert(number, Observed { session, operation, response: None });
        number
    }

    /// Observes the answer to a call.
    ///
    /// # Errors
    /// [`OnlineError`] says whether the answer is impossible, or it is not known.
    pub fn returned(&mut self, number: CallNumber, response: S::Response) -> Result<(), OnlineError> {
        let call = self
            .calls
            .get_mut(&number)
            .filter(|call| call.response.is_none())
            .ok_or(OnlineError::NotUnderWay { call: number })?;
        call.response = Some(response);
        let mut meter = Meter { budget: self.budget, steps: 0, kept: Vec::new() };
        let related = self.related(number);
        for possible in std::mem::take(&mut self.frontier) {
            self.explain(possible, number, &related, &mut meter)
                .map_err(|limit| OnlineError::Undecided { call: number, limit })?;
        }
        self.explored.steps += meter.steps;
        self.explored.configurations += meter.kept.len() as u64;
        self.frontier = meter.kept;
        self.fold();
        if self.frontier.is_empty() { Err(OnlineError::Impossible { call: number }) } else { Ok(()) }
    }

    /// Observes that a call had no effect.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
    /// use simutant_oracle::{Online, OnlineBudget, OnlineError, Session};
    ///
    /// let mut online = Online::new(Register::default(), OnlineBudget::default());
    /// let write = online.invoked(Session(1), Operation::Write(7));
    /// let read = online.invoked(Session(2), Operation::Read);
    /// online.returned(read, Response::Value(Some(7)))?;
    /// // Somebody has read what the service says that it refused.
    /// assert_eq!(online.did_not_happen(write), Err(OnlineError::Impossible { call: write }));
    /// # Ok::<(), OnlineError>(())
    /// ```
    ///
    /// # Errors
    /// [`OnlineError`] if it must have had one.
    pub fn did_not_happen(&mut self, number: CallNumber) -> Result<(), OnlineError> {
        if self.calls.get(&number).is_none_or(|call| call.response.is_some()) {
            return Err(OnlineError::NotUnderWay { call: number });
        }
        self.frontier.retain(|possible| possible.since.iter().all(|(call, _)| *call != number));
        self.calls.remove(&number);
        if self.frontier.is_empty() { Err(OnlineError::Impossible { call: number }) } else { Ok(()) }
    }

    /// Returns the states that the service can be in. One may come more than once, for other reasons.
    pub fn states(&self) -> impl Iterator<Item = &S> {
        self.frontier.iter().map(|possible| &possible.state)
    }

    /// Returns what the check has done so far.
    pub const fn explored(&self) -> Explored {
        self.explored
    }

    /// Returns the calls under way that can matter to another one: those that share a region of the state with it,
    /// maybe through others.
    fn related(&self, number: CallNumber) -> Vec<CallNumber> {
        let numbers: Vec<CallNumber> = self.calls.keys().copied().collect();
        let footprint = |call: &Observed<S>| S::footprint(&call.operation, call.response.as_ref());
        let footprints: Vec<Footprint> = self.calls.values().map(footprint).collect();
        let parts = parts(&footprints, &mut std::iter::empty());
        let part = numbers.iter().position(|other| *other == number).map(|place| parts[place]);
        // Reads, too: nobody knows yet which state answers them.
        let is_related =
            |(place, other): (usize, &CallNumber)| Some(parts[place]) == part && self.calls[other].response.is_none();
        numbers.iter().enumerate().filter(|&found| is_related(found)).map(|(_, other)| *other).collect()
    }

    /// Adds to what is kept all that a possibility can become with the answer to a call.
    fn explain(
        &self,
        possible: Possible<S>,
        number: CallNumber,
        related: &[CallNumber],
        meter: &mut Meter<S>,
    ) -> Result<(), Limit> {
        if possible.since.iter().any(|(call, _)| *call == number) {
            // It took effect before, and now it is known whether it can have been so.
            let start = Possible { base: possible.base.clone(), since: Vec::new(), state: possible.base };
            return self.replay(start, &possible.since, meter);
        }
        // Sequences of calls under way that end in this one.
        let mut sequences = Distinct::default();
        sequences.insert(possible);
        let mut at = 0;
        while let Some(possible) = sequences.elements.get(at).cloned() {
            at += 1;
            for next in self.after(&possible, number, Script::default(), meter)? {
                meter.keep(next)?;
            }
            for &other in related.iter().filter(|&&other| possible.since.iter().all(|(call, _)| *call != other)) {
                for next in self.after(&possible, other, Script::default(), meter)? {
                    sequences.insert(next);
                }
            }
        }
        Ok(())
    }

    /// Takes the calls of a possibility once more, with all answers that are known by now.
    fn replay(&self, start: Possible<S>, since: &[(CallNumber, Script)], meter: &mut Meter<S>) -> Result<(), Limit> {
        let Some(((number, script), rest)) = since.split_first() else { return meter.keep(start) };
        for next in self.after(&start, *number, script.clone(), meter)? {
            self.replay(next, rest, meter)?;
        }
        Ok(())
    }

    /// Returns what a possibility becomes with one more call, for all choices that begin with those of a script.
    fn after(
        &self,
        possible: &Possible<S>,
        number: CallNumber,
        chosen: Script,
        meter: &mut Meter<S>,
    ) -> Result<Vec<Possible<S>>, Limit> {
        let Observed { session, operation, response } = &self.calls[&number];
        let mut after = Vec::new();
        let mut script = chosen.clone();
        loop {
            meter.steps += 1;
            if meter.steps > meter.budget.steps {
                return Err(Limit::Steps);
            }
            let mut state = possible.state.clone();
            let mut open = Open::enumerated(&mut script);
            let expected = state.step(*session, operation, &mut open);
            let agrees =
                response.as_ref().is_none_or(|observed| state.agrees(operation, &expected, observed, &mut open));
            if agrees {
                let mut since = possible.since.clone();
                since.push((number, script.clone()));
                after.push(Possible { base: possible.base.clone(), since, state });
            }
            if !script.advance() || !script.begins_with(&chosen) {
                return Ok(after);
            }
        }
    }

    /// Moves the base of each possibility over the calls at its beginning that have been answered, and forgets calls
    /// that stand behind no other one.
    fn fold(&mut self) {
        let calls = &self.calls;
        for possible in &mut self.frontier {
            let answered = possible.since.iter().take_while(|(call, _)| calls[call].response.is_some()).count();
            if answered == possible.since.len() {
                possible.base.clone_from(&possible.state);
                possible.since.clear();
                continue;
            }
            for (call, mut script) in possible.since.drain(..answered).collect::<Vec<_>>() {
                let Observed { session, operation, response } = &calls[&call];
                let mut open = Open::enumerated(&mut script);
                let expected = possible.base.step(*session, operation, &mut open);
                if let Some(observed) = response {
                    possible.base.agrees(operation, &expected, observed, &mut open);
                }
            }
        }
        let mut distinct = Distinct::default();
        self.frontier.drain(..).for_each(|possible| distinct.insert(possible));
        self.frontier = distinct.elements;
        let frontier = &self.frontier;
        let is_used =
            |number: &CallNumber| frontier.iter().any(|possible| possible.since.iter().any(|(call, _)| call == number));
        self.calls.retain(|number, call| call.response.is_none() || is_used(number));
    }
}

impl<S: Specification> fmt::Debug for Online<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (possibilities, calls) = (self.frontier.len(), self.calls.len());
        write!(formatter, "Online {{ possibilities: {possibilities}, calls: {calls}, explored: {:?} }}", self.explored)
    }
}

/// Elements in the order in which they came, each once.
struct Distinct<T> {
    elements: Vec<T>,
    table: HashTable<usize>,
    hasher: FixedState,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { elements: Vec::new(), table: HashTable::new(), hasher: FixedState::with_seed(0) }
    }
}

impl<T: Eq + Hash> Distinct<T> {
    fn insert(&mut self, element: T) {
        let Self { elements, table, hasher } = self;
        let hash = hasher.hash_one(&element);
        let entry = table.entry(hash, |&at| elements[at] == element, |&at| hasher.hash_one(&elements[at]));
        if let Entry::Vacant(vacant) = entry {
            vacant.insert(elements.len());
            elements.push(element);
        }
    }
}

/// What an observation has taken, and what it left.
struct Meter<S> {
    budget: OnlineBudget,
    steps: u64,
    kept: Vec<Possible<S>>,
}

impl<S> Meter<S> {
    fn keep(&mut self, possible: Possible<S>) -> Result<(), Limit> {
        if self.kept.len() == self.budget.possibilities {
            return Err(Limit::Bytes);
        }
        self.kept.push(possible);
        Ok(())
    }
}
