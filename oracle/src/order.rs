//! Orders: what may be assumed of the order in which a service took calls.

use crate::revisions::happened;
use crate::{Call, Mode};

/// The order in which a service took calls, as far as clients can know it.
///
/// What is not ordered may have happened in either order. Orders add up:
/// `Order { sessions: true, ..Order::linearizability() }` is both.
///
/// ```
/// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
/// use simutant_oracle::{Budget, Order, Recorder, Session, Time, check};
///
/// let recorder = Recorder::new();
/// recorder.observed(Session(1), Operation::Write(7), Response::Done, Time::from_nanos(0));
/// // Another session reads what was before: late, and in the order of each session all the same.
/// recorder.observed(Session(2), Operation::Read, Response::Value(None), Time::from_nanos(5));
/// let history = recorder.history();
/// let explains = |order| check(&history, &Register::default(), &order, Budget::default()).is_possible();
/// assert!(explains(Order::sequential()));
/// assert!(!explains(Order::linearizability()));
/// assert!(!explains(Order { sessions: true, ..Order::linearizability() }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// A call that ended before another one was invoked was taken before it.
    pub real_time: bool,
    /// Calls of a session were taken in the order of their invocations.
    pub sessions: bool,
    /// Synchronous calls, of all sessions, were taken in the order of their invocations.
    pub synchronous: bool,
    /// A call with a smaller revision was taken before one with a larger revision, if both returned.
    pub revisions: bool,
    /// Further pairs of calls, by their places in the history: the first was taken before the second.
    pub pairs: Vec<(usize, usize)>,
}

impl Order {
    /// Nothing is known of the order: any permutation of the calls may be an explanation.
    pub const fn none() -> Self {
        Self { real_time: false, sessions: false, synchronous: false, revisions: false, pairs: Vec::new() }
    }

    /// Linearizability (Herlihy and Wing, 1990): each call takes effect at some instant between its invocation and its
    /// end.
    pub fn linearizability() -> Self {
        Self { real_time: true, ..Self::none() }
    }

    /// Sequential consistency (Lamport, 1979): the calls of each session take effect in their order.
    pub fn sequential() -> Self {
        Self { sessions: true, ..Self::none() }
    }

    /// Ordered sequential consistency (Lev-Ari et al., "Composing ordered sequential consistency", 2017), where clients
    /// make synchronous calls one at a time (Banzai, 2018, 3.1.1 and 3.2.3): the calls of each session take effect in
    /// their order, and so do the synchronous calls of all sessions.
    pub fn ordered_sequential() -> Self {
        Self { sessions: true, synchronous: true, ..Self::none() }
    }

    /// A partial order of pairs of calls, by their places in the history.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
    /// use simutant_oracle::{Budget, Order, Recorder, Session, Time, check};
    ///
    /// let recorder = Recorder::new();
    /// recorder.observed(Session(1), Operation::Write(1), Response::Done, Time::ZERO);
    /// recorder.observed(Session(2), Operation::Write(2), Response::Done, Time::ZERO);
    /// recorder.observed(Session(3), Operation::Read, Response::Value(Some(1)), Time::ZERO);
    /// let explains = |pairs: &[(usize, usize)]| {
    ///     let order = Order::partial(pairs.to_vec());
    ///     check(&recorder.history(), &Register::default(), &order, Budget::default()).is_possible()
    /// };
    /// assert!(explains(&[(0, 2), (1, 2)]));
    /// // The first write before the second one, and that before the read.
    /// assert!(!explains(&[(0, 1), (1, 2)]));
    /// ```
    pub fn partial(pairs: Vec<(usize, usize)>) -> Self {
        Self { pairs, ..Self::none() }
    }

    /// Returns whether one call was taken before another one, for a reason that is the two calls' own. Both come with
    /// their number among the calls in the order of invocation, and their place in the history.
    pub(crate) fn puts<O, R>(
        &self,
        (one_number, one_place, one): (usize, usize, &Call<O, R>),
        (other_number, other_place, other): (usize, usize, &Call<O, R>),
    ) -> bool {
        let is_synchronous = |call: &Call<O, R>| call.mode == Mode::Synchronous;
        let is_earlier = one_number < other_number;
        let revision = |call: &Call<O, R>| call.revision.filter(|_| happened(call));
        (self.real_time && one.precedes(other))
            || (self.sessions && is_earlier && one.session == other.session)
            || (self.synchronous && is_earlier && is_synchronous(one) && is_synchronous(other))
            || (self.revisions && revision(one).zip(revision(other)).is_some_and(|(one, other)| one < other))
            || self.pairs.contains(&(one_place, other_place))
    }

    /// Returns the same order, with the pairs that follow from its pairs by calls which may not have happened: what comes
    /// before such a call comes before what follows it all the same. `doubtful` are the places of these calls.
    pub(crate) fn closed_over(&self, doubtful: &mut dyn Iterator<Item = usize>) -> Self {
        let mut order = self.clone();
        for place in doubtful.filter(|_| !self.pairs.is_empty()) {
            let before: Vec<usize> = order.pairs.iter().filter(|pair| pair.1 == place).map(|pair| pair.0).collect();
            let after: Vec<usize> = order.pairs.iter().filter(|pair| pair.0 == place).map(|pair| pair.1).collect();
            order.pairs.extend(before.iter().flat_map(|&one| after.iter().map(move |&other| (one, other))));
        }
        order
    }

    /// Returns whether the reasons of two pairs of calls make one for the calls at both ends: that of one kind does.
    pub(crate) const fn is_transitive(&self) -> bool {
        let kinds = self.real_time as u8 + self.sessions as u8 + self.synchronous as u8 + self.revisions as u8;
        kinds <= 1 && self.pairs.is_empty()
    }

    /// The same order, and that of the revisions which the service gave.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
    /// use simutant_oracle::{Budget, Order, Recorder, Revision, Session, Time, check};
    ///
    /// let recorder = Recorder::new();
    /// // Three calls at once; the service says in which order it took them.
    /// for (operation, response, revision) in [
    ///     (Operation::Write(1), Response::Done, 5),
    ///     (Operation::Write(2), Response::Done, 4),
    ///     (Operation::Read, Response::Value(Some(2)), 6),
    /// ] {
    ///     let call = recorder.invoke(Session(revision), operation, Time::ZERO);
    ///     recorder.revision(call, Revision(revision))?;
    ///     recorder.returned(call, response, Time::from_nanos(9))?;
    /// }
    /// let history = recorder.history();
    /// let explains = |order| check(&history, &Register::default(), &order, Budget::default()).is_possible();
    /// assert!(explains(Order::linearizability()));
    /// assert!(!explains(Order::linearizability().with_revisions()));
    /// # Ok::<(), simutant_oracle::Misuse>(())
    /// ```
    #[must_use]
    pub const fn with_revisions(mut self) -> Self {
        self.revisions = true;
        self
    }
}

/// Linearizability.
impl Default for Order {
    fn default() -> Self {
        Self::linearizability()
    }
}
