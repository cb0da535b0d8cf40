//! Histories: the calls of a run in the order of their invocations.

use crate::{Call, Moment, Session, Time};

/// All calls of a run, of operations `O` with responses `R`, in the order of invocation. Calls of one instant are in
/// the order of their events, or, without events, in the order in which they were recorded, which then says nothing.
///
/// No call ends before it was invoked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct History<O, R> {
    calls: Vec<Call<O, R>>,
}

/// A call ends before it was invoked: the two times come from different clocks, or were swapped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "call {number} (of {session}, invoked at {invoked}) ends at {ended}, before its invocation; take both times from one clock"
)]
pub struct EndsTooEarly {
    /// The call's number in the list, from 0.
    pub number: usize,
    /// What made it.
    pub session: Session,
    /// When it was invoked.
    pub invoked: Moment,
    /// When it ends.
    pub ended: Moment,
}

impl<O, R> History<O, R> {
    /// Returns a history without calls.
    pub const fn new() -> Self {
        Self { calls: Vec::new() }
    }

    /// Returns the history of these calls, which may come in any order.
    ///
    /// ```
    /// use simutant_oracle::{Call, End, History, Session, Time};
    ///
    /// let call = |session, from, to| {
    ///     let at = Time::from_nanos(to).into();
    ///     Call::new(Session(session), "get", Time::from_nanos(from).into(), End::Returned { at, response: 7 })
    /// };
    /// let history = History::from_calls(vec![call(1, 30, 40), call(2, 10, 20)])?;
    /// assert_eq!(history.calls()[0].session, Session(2));
    /// let error = History::from_calls(vec![call(1, 30, 20)]).expect_err("its times are swapped");
    /// assert_eq!(error.number, 0);
    /// # Ok::<(), simutant_oracle::EndsTooEarly>(())
    /// ```
    ///
    /// # Errors
    /// [`EndsTooEarly`] names the first call that ends before it was invoked.
    pub fn from_calls(calls: Vec<Call<O, R>>) -> Result<Self, EndsTooEarly> {
        for (number, call) in calls.iter().enumerate() {
            let Call { session, invoked, ref end, .. } = *call;
            if let Some(ended) = end.at().filter(|_| call.ends_too_early()) {
                return Err(EndsTooEarly { number, session, invoked, ended });
            }
        }
        // Calls of one instant without events stay in their order.
        let mut order: Vec<_> = calls.iter().map(|call| key(call.invoked)).zip(0..).collect();
        order.sort_unstable();
        let mut calls: Vec<Option<Call<O, R>>> = calls.into_iter().map(Some).collect();
        Ok(Self { calls: order.into_iter().filter_map(|(_, number)| calls[number].take()).collect() })
    }

    /// Returns the calls in the order of invocation.
    pub fn calls(&self) -> &[Call<O, R>] {
        &self.calls
    }

    /// Returns the calls in the order of invocation, for others to keep.
    pub fn into_calls(self) -> Vec<Call<O, R>> {
        self.calls
    }

    /// Returns the calls of a session in the order of invocation.
    pub fn of(&self, session: Session) -> impl Iterator<Item = &Call<O, R>> {
        self.calls.iter().filter(move |call| call.session == session)
    }

    /// Adds a call after all that were invoked by then, and returns its place.
    pub(crate) fn insert(&mut self, call: Call<O, R>) -> usize {
        let place = self.calls.partition_point(|other| key(other.invoked) <= key(call.invoked));
        self.calls.insert(place, call);
        place
    }

    /// Returns the call at a place.
    pub(crate) fn call_mut(&mut self, place: usize) -> Option<&mut Call<O, R>> {
        self.calls.get_mut(place)
    }
}

/// Returns what calls are sorted by: an order that every known one is part of.
pub(crate) const fn key(moment: Moment) -> (Time, Option<u64>) {
    (moment.time, moment.event)
}

/// Returns what ends are sorted by, so that the calls whose ends are before a moment come first: of one time, ends whose
/// place among the events is not known come last.
pub(crate) const fn end_key(moment: Moment) -> (Time, bool, Option<u64>) {
    (moment.time, moment.event.is_none(), moment.event)
}

impl<O, R> Default for History<O, R> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::End;

    fn call(operation: usize, invoked: u64, ended: u64) -> Call<usize, ()> {
        let at = |nanos| Moment::from(Time::from_nanos(nanos));
        let end = End::Returned { at: at(ended), response: () };
        Call::new(Session(operation as u64 % 3), operation, at(invoked), end)
    }

    #[test]
    fn a_call_that_ends_too_early_is_refused_by_its_number() {
        let refused = History::from_calls(vec![call(0, 5, 5), call(1, 5_000_000, 4)]).expect_err("it ends too early");
        assert_eq!(
            refused.to_string(),
            "call 1 (of session 1, invoked at 0.005 s) ends at 0.000000004 s, before its invocation; take both times from one clock"
        );
    }

    proptest! {
        #[test]
        fn calls_are_in_the_order_of_invocation_and_those_of_an_instant_in_their_own(
            times in prop::collection::vec(0..5_u64, 0..12),
        ) {
            let calls: Vec<_> = times.iter().enumerate().map(|(number, &time)| call(number, time, 9)).collect();
            let history = History::from_calls(calls.clone()).expect("all end later");
            prop_assert_eq!(history.calls().len(), calls.len());
            prop_assert!(history.calls().is_sorted_by_key(|call| (call.invoked.time, call.operation)));

            let mut inserted = History::new();
            for call in calls {
                let (place, operation) = (inserted.insert(call.clone()), call.operation);
                prop_assert_eq!(inserted.calls()[place].operation, operation);
            }
            prop_assert_eq!(&inserted, &history);
            let of_one: Vec<usize> = history.of(Session(1)).map(|call| call.operation).collect();
            let expect: Vec<usize> =
                history.calls().iter().map(|call| call.operation).filter(|operation| operation % 3 == 1).collect();
            prop_assert_eq!(of_one, expect);
        }
    }
}
