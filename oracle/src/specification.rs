//! Specifications: what a service may answer, and what a step tells of itself so that a search can be short.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::FixedState;

use crate::open::Script;
use crate::{Answer, Call, Open, Session};

/// A service: a value is its state, and [`step`](Specification::step) takes one operation.
///
/// A step is ordinary Rust. What it leaves open it asks of [`Open`]: a search tries every choice, a simulation draws
/// one.
///
/// ```
/// use simutant_oracle::{Footprint, Open, Session, Specification};
///
/// /// A counter that answers with its value after the addition.
/// #[derive(Debug, Clone, PartialEq, Eq, Hash)]
/// struct Counter(i64);
///
/// impl Specification for Counter {
///     type Operation = i64;
///     type Response = i64;
///
///     fn step(&mut self, _: Session, added: &i64, _: &mut Open<'_>) -> i64 {
///         self.0 += added;
///         self.0
///     }
/// }
///
/// let mut counter = Counter(3);
/// assert_eq!(counter.step(Session(1), &4, &mut Open::first()), 7);
/// ```
///
/// # Hints
///
/// The methods that are marked as hints make a search shorter and its account of memory exact. A hint that is wrong
/// makes verdicts wrong: [`hints::check`](crate::hints::check) holds them against brute force, in a test.
pub trait Specification: Clone + Eq + Hash {
    /// The operations that clients ask for.
    type Operation;
    /// The answers of the service.
    type Response: PartialEq;

    /// Takes an operation of a session, and returns the answer. The state changes to the one after.
    ///
    /// The same state, operation and choices give the same answer and the same state.
    fn step(&mut self, session: Session, operation: &Self::Operation, open: &mut Open<'_>) -> Self::Response;

    /// Returns whether what a client observed is the answer that a step gave.
    ///
    /// The state is the one after the step. An answer with an [`Unknown`](crate::Unknown) value asks the state, which
    /// may learn the value from what was observed.
    fn agrees(
        &mut self,
        _operation: &Self::Operation,
        expected: &Self::Response,
        observed: &Self::Response,
        _open: &mut Open<'_>,
    ) -> bool {
        expected == observed
    }

    /// Returns whether a client can observe an answer; explanations name no other one.
    fn is_observable(_response: &Self::Response) -> bool {
        true
    }

    /// Returns why the specification would not have given an answer, in words, for explanations. The state is the one
    /// before the step; `expected` is an answer that it would have given.
    fn reason(
        &self,
        _session: Session,
        _operation: &Self::Operation,
        _expected: &Self::Response,
        _observed: &Self::Response,
    ) -> Option<String> {
        None
    }

    /// Hint: returns which regions of the state an operation looks at and changes.
    ///
    /// `response` is what the client observed: an operation that is known to have changed nothing, as a comparison
    /// that did not match, reads alone. It is `None` for a call whose end is unknown.
    fn footprint(_operation: &Self::Operation, _response: Option<&Self::Response>) -> Footprint {
        Footprint::everything()
    }

    /// Hint: returns whether it matters to an operation whose session takes it.
    fn depends_on_session(_operation: &Self::Operation) -> bool {
        true
    }

    /// Hint: returns whether two operations do the same to every state, and answer the same.
    ///
    /// Calls whose ends are unknown and whose operations are the same are tried once where they could be tried each.
    fn is_same(_one: &Self::Operation, _other: &Self::Operation) -> bool {
        false
    }

    /// Hint: returns whether an operation overwrites all that it writes: what is in those regions afterwards does not
    /// depend on the state before, and neither does whether it is answered so. `response` is what the client observed.
    ///
    /// Of calls that overwrite the same regions one after the other nobody sees any but the last, which spares a search
    /// most of their orders.
    fn overwrites(_operation: &Self::Operation, _response: Option<&Self::Response>) -> bool {
        false
    }

    /// Hint: returns whether an operation only adds to the state, as one that appends does.
    ///
    /// Where nothing else can come before a read, [`may_grow_into`](Specification::may_grow_into) says early that its
    /// answer is out of reach.
    fn grows(_operation: &Self::Operation) -> bool {
        false
    }

    /// Hint: returns whether operations that only add to the state can lead to one in which an operation that changes
    /// nothing is answered so.
    fn may_grow_into(&self, _operation: &Self::Operation, _observed: &Self::Response) -> bool {
        true
    }

    /// Hint: returns whether some calls are linearizable from this state, where there is a faster answer than that of a
    /// search; `None` if the search has to decide. [`hints::check`](crate::hints::check) does not look at it.
    ///
    /// The calls are in the order of invocation, and the answer names them by their places among them.
    fn fast_path(&self, _calls: &[&Call<Self::Operation, Self::Response>]) -> Option<Answer> {
        None
    }

    /// Hint: returns calls that no order of real time explains from this state, whatever became of the others that may
    /// have happened, where few calls show that without a search. A call whose end is not known may have an effect, or none, at any time from its
    /// invocation on; so do those that are not named.
    ///
    /// A check asks for them when a search has not decided soon; they are the core of its explanation. Its budget ends
    /// before, and not while they are looked for, so that should take little longer than to sort the calls. The calls are in
    /// the order of invocation, and are named by their places among them. [`hints::check`](crate::hints::check) does not
    /// look at it.
    fn contradiction(&self, _calls: &[&Call<Self::Operation, Self::Response>]) -> Option<Vec<usize>> {
        None
    }

    /// Hint: returns how many bytes the state has besides its own size, for budgets of memory.
    ///
    /// What is kept is a clone, so the lengths of lists count, and not what they have room for. It is asked before, so
    /// what is shared with states that are kept already, as by an `Arc` that others have, counts for nothing.
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// Returns the outcomes of a step: each answer that agrees with what a client observed, if that is known, with the
/// state after it. There is one for each combination of choices, in their order, as long as the iterator is asked.
///
/// ```
/// use simutant_oracle::specifications::{Lease, lock::{Operation, Response}};
/// use simutant_oracle::{Open, Session, Specification, outcomes};
///
/// let mut lease = Lease::default();
/// lease.step(Session(1), &Operation::Acquire, &mut Open::first());
/// // Another session gets the lease if it has run out by now.
/// let answers: Vec<Response> =
///     outcomes(&lease, Session(2), &Operation::Acquire, None).map(|(response, _)| response).collect();
/// assert_eq!(answers, [Response::Refused, Response::Granted { fence: Some(2) }]);
/// ```
pub fn outcomes<'a, S: Specification>(
    state: &'a S,
    session: Session,
    operation: &'a S::Operation,
    observed: Option<&'a S::Response>,
) -> impl Iterator<Item = (S::Response, S)> + 'a {
    tries(state, session, operation, observed).flatten()
}

/// Returns the outcome of a step for each combination of choices; `None` for one that does not agree.
pub(crate) fn tries<'a, S: Specification>(
    state: &'a S,
    session: Session,
    operation: &'a S::Operation,
    observed: Option<&'a S::Response>,
) -> impl Iterator<Item = Option<(S::Response, S)>> + 'a {
    let mut script = Some(Script::default());
    std::iter::from_fn(move || {
        let choices = script.as_mut()?;
        let mut after = state.clone();
        let mut open = Open::enumerated(choices);
        let response = after.step(session, operation, &mut open);
        let agrees = observed.is_none_or(|observed| after.agrees(operation, &response, observed, &mut open));
        if !choices.advance() {
            script = None;
        }
        Some(agrees.then_some((response, after)))
    })
}

/// The regions of a state that an operation looks at, and those that it may change.
///
/// A region is a part of the state that has a name of its own, as a key of a store has: a number, mostly made by
/// [`Region::of`]. Coarser regions make a search longer, never wrong, except where an operation
/// [overwrites](Specification::overwrites): it must replace all that lies in the regions that it writes.
///
/// ```
/// use simutant_oracle::{Footprint, Region, Regions};
///
/// // A set that answers with its size, and not with whether an element is new.
/// let size = Region::of("size");
/// let add = |element: &str| Footprint::writes(Region::of(element)).and_updates(Regions::One(size));
/// assert!(!add("a").conflicts(&add("b")), "both orders end in the same set");
/// assert!(add("a").conflicts(&add("a")), "one of them finds it there");
/// assert!(add("a").conflicts(&Footprint::reads(size)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footprint {
    /// What the answer, or the change, depends on. How an update changes its region may depend on that region, too.
    pub reads: Regions,
    /// What may be changed.
    pub writes: Regions,
    /// What may be changed by an update that commutes with every other update of the region: after both, the region is
    /// the same, whichever came first. An increment is one, and so is an addition to a set.
    pub updates: Regions,
}

/// A set of regions of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Regions {
    /// No region.
    None,
    /// One region.
    One(Region),
    /// Some regions.
    Some(Vec<Region>),
    /// All regions, those that nobody names among them.
    All,
}

/// A part of a state that has a name of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region(pub u64);

impl Region {
    /// Returns the region that a key names.
    pub fn of(key: &(impl Hash + ?Sized)) -> Self {
        Self(FixedState::with_seed(0).hash_one(key))
    }
}

impl Footprint {
    /// Returns the footprint of an operation that looks at some regions, and may change some, without updates.
    pub const fn new(reads: Regions, writes: Regions) -> Self {
        Self { reads, writes, updates: Regions::None }
    }

    /// Returns the same footprint with these updates.
    #[must_use]
    pub fn and_updates(self, updates: Regions) -> Self {
        Self { updates, ..self }
    }

    /// Returns the footprint of an operation that may look at all, and change all.
    pub const fn everything() -> Self {
        Self::new(Regions::All, Regions::All)
    }

    /// Returns the footprint of an operation that looks at all and changes nothing.
    pub const fn reads_everything() -> Self {
        Self::new(Regions::All, Regions::None)
    }

    /// Returns the footprint of an operation that looks at one region and changes nothing.
    pub const fn reads(region: Region) -> Self {
        Self::new(Regions::One(region), Regions::None)
    }

    /// Returns the footprint of an operation that may look at one region, and change it.
    pub const fn writes(region: Region) -> Self {
        Self::new(Regions::One(region), Regions::One(region))
    }

    /// Returns whether the operation changes no state.
    pub const fn is_read(&self) -> bool {
        matches!((&self.writes, &self.updates), (Regions::None, Regions::None))
    }

    /// Returns all regions that the operation looks at or may change, or `None` if that is all of the state.
    pub(crate) fn touches(&self) -> Option<impl Iterator<Item = Region>> {
        let [reads, writes, updates] = [&self.reads, &self.writes, &self.updates].map(Regions::listed);
        Some(reads?.iter().chain(writes?).chain(updates?).copied())
    }

    /// Returns whether the operation may change what the answer to the other one, or its change, depends on.
    pub fn affects(&self, other: &Self) -> bool {
        self.writes.meets(&other.reads) || self.updates.meets(&other.reads)
    }

    /// Returns whether it may matter which of the operations comes first: to an answer, or to the state after both.
    ///
    /// Operations that do not conflict commute: both orders give the same answers and end in the same state.
    pub fn conflicts(&self, other: &Self) -> bool {
        self.affects(other)
            || other.affects(self)
            || self.writes.meets(&other.writes)
            || self.writes.meets(&other.updates)
            || self.updates.meets(&other.writes)
    }
}

impl Regions {
    /// Returns the regions, or `None` if that is all of the state.
    pub(crate) fn listed(&self) -> Option<&[Region]> {
        match self {
            Self::None => Some(&[]),
            Self::One(region) => Some(std::slice::from_ref(region)),
            Self::Some(regions) => Some(regions),
            Self::All => None,
        }
    }

    /// Returns the regions of both sets.
    ///
    /// ```
    /// use simutant_oracle::{Region, Regions};
    ///
    /// let [x, y] = ["x", "y"].map(|key| Regions::One(Region::of(&key)));
    /// let both = x.union(&y);
    /// assert!(both.meets(&x) && both.meets(&y));
    /// assert_eq!(both.union(&Regions::All), Regions::All);
    /// ```
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        match (self.listed(), other.listed()) {
            (Some([]), Some([])) => Self::None,
            (Some(one), Some(other)) => Self::Some([one, other].concat()),
            _ => Self::All,
        }
    }

    /// Returns whether two sets have a region in common.
    pub fn meets(&self, other: &Self) -> bool {
        match (self.listed(), other.listed()) {
            (Some([]), _) | (_, Some([])) => false,
            (None, _) | (_, None) => true,
            (Some(one), Some(other)) => one.iter().any(|region| other.contains(region)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn footprints_conflict_where_one_changes_what_the_other_touches() {
        #[track_caller]
        fn check(one: &Footprint, other: &Footprint, expect: bool) {
            assert_eq!(one.conflicts(other), expect, "{one:?}, {other:?}");
            assert_eq!(other.conflicts(one), expect, "{other:?}, {one:?}");
        }
        let [a, b] = ["a", "b"].map(Region::of);
        check(&Footprint::reads(a), &Footprint::reads(a), false);
        check(&Footprint::reads(a), &Footprint::writes(a), true);
        check(&Footprint::writes(a), &Footprint::writes(a), true);
        check(&Footprint::writes(a), &Footprint::writes(b), false);
        check(&Footprint::reads_everything(), &Footprint::reads(a), false);
        check(&Footprint::reads_everything(), &Footprint::writes(a), true);
        check(&Footprint::everything(), &Footprint::reads(b), true);
        let both = Footprint::new(Regions::Some(vec![a, b]), Regions::One(b));
        check(&both, &Footprint::reads(a), false);
        check(&both, &Footprint::writes(a), true);
        check(&both, &Footprint::reads(b), true);
        let update = |region| Footprint::new(Regions::None, Regions::None).and_updates(Regions::One(region));
        assert!(!update(a).is_read());
        check(&update(a), &update(a), false);
        check(&update(a), &Footprint::reads(a), true);
        check(&update(a), &Footprint::new(Regions::None, Regions::One(a)), true);
        check(&update(a), &Footprint::writes(b), false);
        check(&update(a), &Footprint::everything(), true);
    }
}
