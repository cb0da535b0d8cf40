//! Checks as things happen: observations come one at a time, and the states that are possible are kept.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::search::parts;
use crate::specification::tries;
use crate::{Explored, Footprint, Limit, Session, Specification};

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
/// Calls of [unknown end](Online::unknown) that may have changed something stay under way for ever, and each of them is
/// one more that may have taken effect before the next answer. A service that loses many answers makes the frontier large.
/// Those that change nothing, as their [footprint](Specification::footprint) says, are forgotten.
pub struct Online<S: Specification> {
    frontier: Vec<Possible<S>>,
    /// The calls under way, and those that are over and stand behind one that is not.
    calls: BTreeMap<CallNumber, Observed<S>>,
    invoked: u64,
    /// The last call of each session that was answered, if those of a session take effect in their order.
    latest: Option<BTreeMap<Session, CallNumber>>,
    budget: OnlineBudget,
    /// What ran out, if something did: nothing is known since.
    exhausted: Option<Limit>,
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
    /// Whether nobody will know what became of it, and it does not matter.
    is_lost: bool,
}

impl<S: Specification> Observed<S> {
    fn is_under_way(&self) -> bool {
        self.response.is_none() && !self.is_lost
    }
}

/// A way in which the service may have done what was observed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Possible<S> {
    /// The state before what matters yet.
    base: S,
    /// The calls that took effect from there on, each with the state after it.
    since: Vec<(CallNumber, S)>,
}

impl<S> Possible<S> {
    /// Returns the state after all calls that took effect.
    fn state(&self) -> &S {
        self.since.last().map_or(&self.base, |(_, state)| state)
    }

    /// Returns the place of a call among those that took effect.
    fn place(&self, number: CallNumber) -> Option<usize> {
        self.since.iter().position(|(call, _)| *call == number)
    }
}

impl<S: Specification> Online<S> {
    /// Returns a check that begins at an initial state.
    pub fn new(initial: S, budget: OnlineBudget) -> Self {
        let frontier = vec![Possible { base: initial, since: Vec::new() }];
        let (calls, explored) = (BTreeMap::new(), Explored::default());
        Self { frontier, calls, invoked: 0, latest: None, budget, exhausted: None, explored }
    }

    /// Demands that calls of a session take effect in the order in which they begin, as [`Order::sessions`](crate::Order) does:
    /// requests on a connection that do not wait for answers.
    #[must_use]
    pub fn in_session_order(self) -> Self {
        Self { latest: Some(BTreeMap::new()), ..self }
    }

    /// Observes that a session begins a call.
    pub fn invoked(&mut self, session: Session, operation: S::Operation) -> CallNumber {
        let number = CallNumber(self.invoked);
        self.invoked += 1;
        self.calls.insert(number, Observed { session, operation, response: None, is_lost: false });
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
            .filter(|call| call.is_under_way())
            .ok_or(OnlineError::NotUnderWay { call: number })?;
        call.response = Some(response);
        let session = call.session;
        if self.exhausted.is_none() {
            self.exhausted = self.advance(number).err();
        }
        self.check_known(number)?;
        if let Some(latest) = &mut self.latest {
            let last = latest.entry(session).or_insert(number);
            *last = number.max(*last);
        }
        self.fold();
        if self.frontier.is_empty() { Err(OnlineError::Impossible { call: number }) } else { Ok(()) }
    }

    /// Checks that something is known at the end of a call.
    fn check_known(&self, number: CallNumber) -> Result<(), OnlineError> {
        self.exhausted.map_or(Ok(()), |limit| Err(OnlineError::Undecided { call: number, limit }))
    }

    /// Makes the frontier that of after the answer to a call.
    fn advance(&mut self, number: CallNumber) -> Result<(), Limit> {
        let mut meter = Meter { budget: self.budget, steps: 0, kept: Vec::new() };
        let related = self.related(number);
        // What took effect before the call, and what after it has to be gone through again with what the answer says.
        let mut again = Distinct::default();
        for mut possible in std::mem::take(&mut self.frontier) {
            if let Some(place) = possible.place(number) {
                let rest: Vec<CallNumber> = possible.since.drain(place..).map(|(call, _)| call).collect();
                again.insert((possible, rest));
            } else {
                self.explain(possible, number, &related, &mut meter)?;
            }
        }
        for (possible, rest) in again.elements {
            self.replay(possible, &rest, &mut meter)?;
        }
        self.explored.steps += meter.steps;
        self.explored.configurations += meter.kept.len() as u64;
        self.frontier = meter.kept;
        Ok(())
    }

    /// Returns the answers to a call under way that are possible now, each once; none if that takes more than the budget.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
    /// use simutant_oracle::{Online, OnlineBudget, Session};
    ///
    /// let mut online = Online::new(Register::default(), OnlineBudget::default());
    /// online.invoked(Session(1), Operation::Write(7));
    /// let read = online.invoked(Session(2), Operation::Read);
    /// assert_eq!(online.answers(read), [Response::Value(None), Response::Value(Some(7))]);
    /// ```
    pub fn answers(&self, number: CallNumber) -> Vec<S::Response> {
        let Some(Observed { session, operation, .. }) = self.calls.get(&number) else { return Vec::new() };
        let related = self.related(number);
        let mut meter = Meter { budget: self.budget, steps: 0, kept: Vec::new() };
        let mut befores: Distinct<S> = Distinct::default();
        for possible in &self.frontier {
            let before = match possible.place(number) {
                Some(0) => possible.base.clone(),
                Some(place) => possible.since[place - 1].1.clone(),
                None => {
                    let Ok(sequences) = self.sequences(possible.clone(), number, &related, &mut meter) else {
                        return Vec::new();
                    };
                    let may_follow = sequences.iter().filter(|possible| self.may_follow(possible, number));
                    may_follow.for_each(|possible| befores.insert(possible.state().clone()));
                    continue;
                }
            };
            befores.insert(before);
        }
        let mut answers = Vec::new();
        for state in &befores.elements {
            for (answer, _) in tries(state, *session, operation, None).flatten() {
                if !answers.contains(&answer) {
                    answers.push(answer);
                }
            }
        }
        answers
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
        if self.calls.get(&number).is_none_or(|call| !call.is_under_way()) {
            return Err(OnlineError::NotUnderWay { call: number });
        }
        self.check_known(number)?;
        self.frontier.retain(|possible| possible.place(number).is_none());
        self.calls.remove(&number);
        if self.frontier.is_empty() { Err(OnlineError::Impossible { call: number }) } else { Ok(()) }
    }

    /// Observes that nobody will know what became of a call. One that may have changed something stays under way.
    ///
    /// # Errors
    /// [`OnlineError::NotUnderWay`] if the call has ended.
    pub fn unknown(&mut self, number: CallNumber) -> Result<(), OnlineError> {
        let call = self.calls.get_mut(&number).filter(|call| call.is_under_way());
        let call = call.ok_or(OnlineError::NotUnderWay { call: number })?;
        call.is_lost = S::footprint(&call.operation, None).is_read();
        self.fold();
        Ok(())
    }

    /// Returns the states that the service can be in. One may come more than once, for other reasons.
    pub fn states(&self) -> impl Iterator<Item = &S> {
        self.frontier.iter().map(Possible::state)
    }

    /// Returns what the check has done so far.
    pub const fn explored(&self) -> Explored {
        self.explored
    }

    /// Returns the calls under way that can matter to another one: those that share a region of the state with it, or a
    /// session if those have an order, maybe through others.
    fn related(&self, number: CallNumber) -> Vec<CallNumber> {
        if !self.calls.values().any(Observed::is_under_way) {
            return Vec::new();
        }
        let numbers: Vec<CallNumber> = self.calls.keys().copied().collect();
        let footprint = |call: &Observed<S>| S::footprint(&call.operation, call.response.as_ref());
        let footprints: Vec<Footprint> = self.calls.values().map(footprint).collect();
        let mut last_of = BTreeMap::new();
        let chained = self.calls.values().enumerate().filter(|_| self.latest.is_some());
        let mut edges = chained.filter_map(|(place, call)| Some((last_of.insert(call.session, place)?, place)));
        let parts = parts(&footprints, &mut edges);
        let part = numbers.iter().position(|other| *other == number).map(|place| parts[place]);
        // Reads, too: nobody knows yet which state answers them.
        let is_related =
            |(place, other): (usize, &CallNumber)| Some(parts[place]) == part && self.calls[other].is_under_way();
        numbers.iter().enumerate().filter(|&found| is_related(found)).map(|(_, other)| *other).collect()
    }

    /// Adds to what is kept all that a possibility can become in which a call takes effect now, after others that are under
    /// way.
    fn explain(
        &self,
        possible: Possible<S>,
        number: CallNumber,
        related: &[CallNumber],
        meter: &mut Meter<S>,
    ) -> Result<(), Limit> {
        if !self.may_follow(&possible, number) {
            return Ok(());
        }
        if related.is_empty() {
            return self.after(&possible, number, meter)?.into_iter().try_for_each(|next| meter.keep(next));
        }
        for possible in self.sequences(possible, number, related, meter)? {
            if self.may_follow(&possible, number) {
                for next in self.after(&possible, number, meter)? {
                    meter.keep(next)?;
                }
            }
        }
        Ok(())
    }

    /// Returns what a possibility becomes when some calls under way take effect, in any order, before another one does.
    fn sequences(
        &self,
        possible: Possible<S>,
        number: CallNumber,
        related: &[CallNumber],
        meter: &mut Meter<S>,
    ) -> Result<Vec<Possible<S>>, Limit> {
        let mut sequences = Distinct::default();
        sequences.insert(possible);
        let mut at = 0;
        while let Some(possible) = sequences.elements.get(at).cloned() {
            at += 1;
            let may_follow = |other: &&CallNumber| {
                **other != number && possible.place(**other).is_none() && self.may_follow(&possible, **other)
            };
            for &other in related.iter().filter(may_follow) {
                for next in self.after(&possible, other, meter)? {
                    sequences.insert(next);
                }
            }
        }
        Ok(sequences.elements)
    }

    /// Returns whether a call can take effect now: where sessions have an order, no later call of its session has done so.
    fn may_follow(&self, possible: &Possible<S>, number: CallNumber) -> bool {
        let Some(latest) = &self.latest else { return true };
        let session = self.calls[&number].session;
        let is_later = |call: CallNumber| call > number && self.calls[&call].session == session;
        latest.get(&session).is_none_or(|call| *call < number)
            && !possible.since.iter().any(|(call, _)| is_later(*call))
    }

    /// Goes through calls once more, with all answers that are known by now. What they choose is open again: a call that was
    /// asked whether a tag is the one that it names may know it now, and ask for something else.
    fn replay(&self, start: Possible<S>, rest: &[CallNumber], meter: &mut Meter<S>) -> Result<(), Limit> {
        let Some((&number, rest)) = rest.split_first() else { return meter.keep(start) };
        for next in self.after(&start, number, meter)? {
            self.replay(next, rest, meter)?;
        }
        Ok(())
    }

    /// Returns what a possibility becomes when a call takes effect, whatever is chosen.
    fn after(
        &self,
        possible: &Possible<S>,
        number: CallNumber,
        meter: &mut Meter<S>,
    ) -> Result<Vec<Possible<S>>, Limit> {
        let Observed { session, operation, response, .. } = &self.calls[&number];
        let mut states = Distinct::default();
        for outcome in tries(possible.state(), *session, operation, response.as_ref()) {
            meter.steps += 1;
            if meter.steps > meter.budget.steps {
                return Err(Limit::Steps);
            }
            if let Some((_, state)) = outcome {
                states.insert(state);
            }
        }
        let next = |state| {
            let mut since = possible.since.clone();
            since.push((number, state));
            Possible { base: possible.base.clone(), since }
        };
        Ok(states.elements.into_iter().map(next).collect())
    }

    /// Moves the base of each possibility over the calls at its beginning that have been answered, and forgets calls
    /// that stand behind no other one.
    fn fold(&mut self) {
        let calls = &self.calls;
        let mut distinct = Distinct::default();
        for mut possible in self.frontier.drain(..) {
            let over = possible.since.iter().take_while(|(call, _)| !calls[call].is_under_way()).count();
            if let Some((_, state)) = possible.since.drain(..over).next_back() {
                possible.base = state;
            }
            distinct.insert(possible);
        }
        self.frontier = distinct.elements;
        let frontier = &self.frontier;
        self.calls.retain(|number, call| {
            call.is_under_way() || frontier.iter().any(|possible| possible.place(*number).is_some())
        });
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
