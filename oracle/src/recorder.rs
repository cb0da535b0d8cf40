//! The recorder: what clients write a history with.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::history::key;
use crate::{Call, End, History, Mode, Moment, Revision, Session, Time};

/// Records the calls of a run, of operations `O` with responses `R`. Clones share one history: each client has one.
///
/// A call that nobody ends is [`End::Unknown`], so a client that crashes or gives up has nothing to do. Clients may be
/// components of a simulation or threads, and one that panics harms no other.
///
/// A recorder that is used as things happen, as in a simulation, keeps their order within an instant
/// ([`Recorder::in_order`]). Among threads a lock is no clock: of two that read the same time, the one that records
/// first need not have been first, so [`Recorder::new`] keeps times alone.
///
/// What cannot be recorded is a [`Misuse`]. It changes nothing of the history, and [`Recorder::misuse`] keeps the first
/// one, since a client is often no place to handle it: what judges the history can ask there.
#[derive(Debug)]
pub struct Recorder<O, R> {
    recorded: Arc<Mutex<Recorded<O, R>>>,
}

/// The name of a call, for its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallId {
    /// How many calls were recorded before.
    number: u64,
    session: Session,
    invoked: Moment,
}

/// A call that cannot end so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// The call has ended already; end each call once.
    #[error("{call} has ended already, {}; end each call once", shown(*.ended))]
    EndedTwice {
        /// The call.
        call: CallId,
        /// When it ended; `None` if as unknown.
        ended: Option<Moment>,
    },
    /// The call would end before it was invoked; take both times from one clock.
    #[error("{call} cannot end at {at}, before its invocation; take both times from one clock")]
    EndsTooEarly {
        /// The call.
        call: CallId,
        /// When it would end.
        at: Moment,
    },
    /// The call is another recorder's; end a call at the recorder, or at a clone of the one, that it was invoked at.
    #[error("{call} is not of this recorder; end a call where it was invoked")]
    NoSuchCall {
        /// The call.
        call: CallId,
    },
}

/// What clones of a recorder share.
#[derive(Debug)]
struct Recorded<O, R> {
    history: History<O, R>,
    /// What is known of each call besides, in the order of the history.
    entries: Vec<Entry>,
    /// How many invocations and ends were recorded, if they come in the order in which they happen.
    events: Option<u64>,
    misuse: Option<Misuse>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    number: u64,
    /// Whether nobody has ended the call.
    is_open: bool,
}

impl<O, R> Recorder<O, R> {
    /// Returns a recorder with a history of its own, whose calls are in the order of their times alone.
    pub fn new() -> Self {
        Self::with_events(None)
    }

    /// Returns a recorder with a history of its own, to which all is told as it happens: of an end and an invocation of
    /// one instant, what was recorded first came first.
    ///
    /// ```
    /// use simutant_oracle::{Recorder, Session, Time};
    ///
    /// let precedes = |recorder: Recorder<&str, ()>| {
    ///     // Both calls are at the instant 3.
    ///     recorder.observed(Session(1), "put", (), Time::from_nanos(3));
    ///     recorder.observed(Session(2), "get", (), Time::from_nanos(3));
    ///     recorder.with(|history| history.calls()[0].precedes(&history.calls()[1]))
    /// };
    /// assert!(precedes(Recorder::in_order()));
    /// assert!(!precedes(Recorder::new()));
    /// ```
    pub fn in_order() -> Self {
        Self::with_events(Some(0))
    }

    fn with_events(events: Option<u64>) -> Self {
        let recorded = Recorded { history: History::new(), entries: Vec::new(), events, misuse: None };
        Self { recorded: Arc::new(Mutex::new(recorded)) }
    }

    /// Records that a session begins a call at a time. Calls may be recorded in another order than they are invoked in.
    pub fn invoke(&self, session: Session, operation: O, at: Time) -> CallId {
        let mut recorded = self.lock();
        let invoked = recorded.moment(at);
        recorded.insert(Call::new(session, operation, invoked, End::Unknown), true)
    }

    /// Records that a session begins a call at a time, and does not wait for the answer before it goes on.
    pub fn invoke_asynchronous(&self, session: Session, operation: O, at: Time) -> CallId {
        let mut recorded = self.lock();
        let invoked = recorded.moment(at);
        let call = Call::new(session, operation, invoked, End::Unknown);
        recorded.insert(Call { mode: Mode::Asynchronous, ..call }, true)
    }

    /// Records at which place of its order the service says that it took the operation of a call. It can be told before
    /// and after the end.
    ///
    /// # Errors
    /// [`Misuse`] names the call.
    pub fn revision(&self, call: CallId, revision: Revision) -> Result<(), Misuse> {
        self.lock().revision(call, revision)
    }

    /// Records the response to a call.
    ///
    /// # Errors
    /// [`Misuse`] names the call.
    pub fn returned(&self, call: CallId, response: R, at: Time) -> Result<(), Misuse> {
        let mut recorded = self.lock();
        let at = recorded.moment(at);
        recorded.end(call, End::Returned { at, response })
    }

    /// Records that nobody will know what became of a call. A call without an end is the same, but can still end.
    ///
    /// # Errors
    /// [`Misuse`] names the call.
    pub fn unknown(&self, call: CallId) -> Result<(), Misuse> {
        self.lock().end(call, End::Unknown)
    }

    /// Records that the operation of a call has no effect, as was known at a time.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
    /// use simutant_oracle::{Check, Recorder, Session, Time};
    ///
    /// let explains = |is_refused| -> Result<bool, simutant_oracle::Misuse> {
    ///     let recorder = Recorder::new();
    ///     let write = recorder.invoke(Session(1), Operation::Write(7), Time::from_nanos(0));
    ///     if is_refused {
    ///         recorder.did_not_happen(write, Time::from_nanos(2))?;
    ///     }
    ///     recorder.observed(Session(2), Operation::Read, Response::Value(Some(7)), Time::from_nanos(5));
    ///     Ok(Check::default().run(&recorder.history(), &Register::default()).is_possible())
    /// };
    /// // A write of which nobody heard may have an effect; one that was refused has none.
    /// assert_eq!((explains(false), explains(true)), (Ok(true), Ok(false)));
    /// ```
    ///
    /// # Errors
    /// [`Misuse`] names the call.
    pub fn did_not_happen(&self, call: CallId, at: Time) -> Result<(), Misuse> {
        let mut recorded = self.lock();
        let at = recorded.moment(at);
        recorded.end(call, End::DidNotHappen { at })
    }

    /// Records a call that begins and ends in one instant, as what a component does to something of its own.
    pub fn observed(&self, session: Session, operation: O, response: R, at: Time) {
        let mut recorded = self.lock();
        let invoked = recorded.moment(at);
        let end = End::Returned { at: recorded.moment(at), response };
        recorded.insert(Call::new(session, operation, invoked, end), false);
    }

    /// Returns the history so far.
    pub fn history(&self) -> History<O, R>
    where
        O: Clone,
        R: Clone,
    {
        self.with(History::clone)
    }

    /// Returns the history, for who judges it.
    ///
    /// ```
    /// use simutant_oracle::{Misuse, Recorder, Session, Time};
    ///
    /// let recorder = Recorder::new();
    /// let call = recorder.invoke(Session(1), "get", Time::from_nanos(1));
    /// recorder.returned(call, 7, Time::from_nanos(2))?;
    /// assert!(recorder.finished().is_ok());
    /// // A client that passes over the mistake is found out at the end.
    /// _ = recorder.returned(call, 8, Time::from_nanos(3));
    /// assert!(matches!(recorder.finished(), Err(Misuse::EndedTwice { .. })));
    /// # Ok::<(), Misuse>(())
    /// ```
    ///
    /// # Errors
    /// The first [`Misuse`]: the history lacks an end that was recorded, and may look better than what happened.
    pub fn finished(&self) -> Result<History<O, R>, Misuse>
    where
        O: Clone,
        R: Clone,
    {
        let recorded = self.lock();
        recorded.misuse.map_or_else(|| Ok(recorded.history.clone()), Err)
    }

    /// Returns what `look` makes of the history so far, without a copy of it.
    ///
    /// Others wait meanwhile, so `look` must not use this recorder: it would wait for itself.
    pub fn with<T>(&self, look: impl FnOnce(&History<O, R>) -> T) -> T {
        look(&self.lock().history)
    }

    /// Returns the first end that was refused, if one was. The history has the call without that end.
    pub fn misuse(&self) -> Option<Misuse> {
        self.lock().misuse
    }

    /// A thread that panicked has left a history that is whole: nothing between two changes of it calls code of others.
    fn lock(&self) -> MutexGuard<'_, Recorded<O, R>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<O, R> Recorded<O, R> {
    /// Returns the moment of the next event.
    fn moment(&mut self, time: Time) -> Moment {
        let event = self.events;
        self.events = event.map(|events| events + 1);
        Moment { time, event }
    }

    fn insert(&mut self, call: Call<O, R>, is_open: bool) -> CallId {
        let id = CallId { number: self.entries.len() as u64, session: call.session, invoked: call.invoked };
        let place = self.history.insert(call);
        self.entries.insert(place, Entry { number: id.number, is_open });
        id
    }

    fn revision(&mut self, id: CallId, revision: Revision) -> Result<(), Misuse> {
        let Some(call) = self.place(id).and_then(|place| self.history.call_mut(place)) else {
            let misuse = Misuse::NoSuchCall { call: id };
            self.misuse.get_or_insert(misuse);
            return Err(misuse);
        };
        call.revision = Some(revision);
        Ok(())
    }

    fn end(&mut self, id: CallId, end: End<R>) -> Result<(), Misuse> {
        let ended = self.try_end(id, end);
        if let Err(misuse) = ended {
            self.misuse.get_or_insert(misuse);
        }
        ended
    }

    fn try_end(&mut self, id: CallId, end: End<R>) -> Result<(), Misuse> {
        let (place, call) = self
            .place(id)
            .and_then(|place| Some((place, self.history.call_mut(place)?)))
            .ok_or(Misuse::NoSuchCall { call: id })?;
        if !self.entries[place].is_open {
            return Err(Misuse::EndedTwice { call: id, ended: call.end.at() });
        }
        if let Some(at) = end.at().filter(|at| at.is_before(id.invoked)) {
            return Err(Misuse::EndsTooEarly { call: id, at });
        }
        call.end = end;
        self.entries[place].is_open = false;
        Ok(())
    }

    /// Returns the place of a call in the history. Calls of one instant are in the order of their numbers.
    fn place(&self, id: CallId) -> Option<usize> {
        let calls = self.history.calls();
        let first = calls.partition_point(|call| key(call.invoked) < key(id.invoked));
        let end = calls.partition_point(|call| key(call.invoked) <= key(id.invoked));
        let within = self.entries[first..end].binary_search_by_key(&id.number, |entry| entry.number).ok()?;
        let place = first + within;
        (calls[place].session == id.session).then_some(place)
    }
}

impl<O, R> Clone for Recorder<O, R> {
    fn clone(&self) -> Self {
        Self { recorded: self.recorded.clone() }
    }
}

impl<O, R> Default for Recorder<O, R> {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, session, invoked } = self;
        write!(formatter, "call {number} (of {session}, invoked at {invoked})")
    }
}

fn shown(ended: Option<Moment>) -> String {
    ended.map_or_else(|| "as unknown".to_owned(), |at| format!("at {at}"))
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use proptest::prelude::*;

    use super::*;

    const fn ns(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn a_call_that_nobody_ends_is_unknown_and_each_other_one_ends_as_it_was_said() {
        let recorder = Recorder::new();
        let calls = [1, 2, 3, 4].map(|session| recorder.invoke(Session(session), "put", ns(session)));
        recorder.clone().returned(calls[0], "done", ns(9)).expect("it is open");
        recorder.unknown(calls[1]).expect("it is open");
        recorder.did_not_happen(calls[2], ns(3)).expect("it is open");
        recorder.observed(Session(5), "get", "none", ns(2));
        let history = recorder.history();
        let ends: Vec<_> = history.calls().iter().map(|call| (call.session.0, call.end.clone())).collect();
        let expect = [
            (1, End::Returned { at: ns(9).into(), response: "done" }),
            (2, End::Unknown),
            (5, End::Returned { at: ns(2).into(), response: "none" }),
            (3, End::DidNotHappen { at: ns(3).into() }),
            (4, End::Unknown),
        ];
        assert_eq!(ends, expect);
        assert_eq!(recorder.with(|history| history.calls().len()), 5);
        assert_eq!(recorder.misuse(), None);
    }

    #[test]
    fn misuse_names_the_call_changes_nothing_and_is_kept() {
        let recorder = Recorder::new();
        let first = recorder.invoke(Session(3), 'a', ns(5));
        let second = recorder.invoke(Session(4), 'b', ns(6));
        let other = Recorder::<_, ()>::new();
        other.observed(Session(3), 'a', (), ns(1));
        let foreign = other.invoke(Session(3), 'a', ns(6));
        recorder.returned(first, (), ns(7)).expect("it is open");
        recorder.unknown(second).expect("it is open");
        let before = recorder.history();
        #[track_caller]
        fn check(refused: Result<(), Misuse>, expect: &str) {
            assert_eq!(refused.expect_err("it is misuse").to_string(), expect);
        }
        let twice =
            "call 0 (of session 3, invoked at 0.000000005 s) has ended already, at 0.000000007 s; end each call once";
        check(recorder.did_not_happen(first, ns(8)), twice);
        check(
            recorder.returned(second, (), ns(8)),
            "call 1 (of session 4, invoked at 0.000000006 s) has ended already, as unknown; end each call once",
        );
        // The recorder has a call of this number and instant, of another session.
        check(
            recorder.unknown(foreign),
            "call 1 (of session 3, invoked at 0.000000006 s) is not of this recorder; end a call where it was invoked",
        );
        check(
            other.returned(foreign, (), ns(5)),
            "call 1 (of session 3, invoked at 0.000000006 s) cannot end at 0.000000005 s, before its invocation; \
             take both times from one clock",
        );
        assert_eq!(recorder.history(), before);
        assert_eq!(recorder.misuse().map(|misuse| misuse.to_string()).as_deref(), Some(twice));
        // What was refused can still end.
        other.returned(foreign, (), ns(6)).expect("it is open");
        other.history().of(Session(3)).for_each(|call| assert!(call.end.response().is_some()));
        let observed_again = CallId { number: 0, session: Session(3), invoked: ns(1).into() };
        assert!(matches!(other.unknown(observed_again), Err(Misuse::EndedTwice { .. })));
    }

    #[test]
    fn threads_share_a_recorder_and_one_that_panics_harms_no_other() {
        const CALLS: u64 = 200;
        let recorder: Recorder<u64, u64> = Recorder::new();
        let panicked = catch_unwind(AssertUnwindSafe(|| recorder.with(|_| panic!("a client crashed"))));
        assert!(panicked.is_err());
        #[expect(clippy::disallowed_methods, reason = "real clients are threads")]
        std::thread::scope(|scope| {
            for session in 0..4 {
                let recorder = recorder.clone();
                scope.spawn(move || {
                    for number in 0..CALLS {
                        let call = recorder.invoke(Session(session), number, ns(number));
                        recorder.returned(call, number, ns(number + 1)).expect("it is open");
                    }
                });
            }
        });
        let history = recorder.history();
        assert_eq!(history.calls().len() as u64, 4 * CALLS);
        for session in 0..4 {
            let numbers = history.of(Session(session)).map(|call| (call.operation, call.end.response().copied()));
            assert!(numbers.eq((0..CALLS).map(|number| (number, Some(number)))));
        }
    }

    /// All at one time: a recorder in order knows what preceded what, and one without knows nothing.
    #[test]
    fn the_order_within_an_instant_is_kept_by_a_recorder_in_order_alone() {
        for recorder in [Recorder::in_order(), Recorder::new()] {
            let first = recorder.invoke(Session(1), 'a', ns(5));
            let second = recorder.invoke(Session(2), 'b', ns(5));
            recorder.returned(first, (), ns(5)).expect("it is open");
            recorder.invoke(Session(1), 'c', ns(5));
            recorder.returned(second, (), ns(5)).expect("it is open");
            recorder.observed(Session(2), 'd', (), ns(5));
            let calls = recorder.history().into_calls();
            let precede = |one: &Call<char, ()>| {
                let of_one =
                    |other: &Call<_, _>| one.precedes(other).then(|| format!("{}{}", one.operation, other.operation));
                calls.iter().filter_map(of_one).collect::<Vec<_>>()
            };
            let known = calls.iter().flat_map(precede).collect::<Vec<_>>();
            let is_in_order = calls[0].invoked.event.is_some();
            assert_eq!(known, if is_in_order { vec!["ac", "ad", "bd"] } else { vec![] });
        }
    }

    proptest! {
        /// Each call ends as it was said, in whatever order calls are recorded and end.
        #[test]
        fn ends_go_to_their_calls(
            calls in prop::collection::vec((0..4_u64, 0..5_u64, any::<bool>(), any::<u32>()), 0..16),
            is_in_order: bool,
        ) {
            let recorder = if is_in_order { Recorder::in_order() } else { Recorder::new() };
            let mut open: Vec<_> = calls
                .iter()
                .enumerate()
                .map(|(number, &(session, invoked, ends, order))| {
                    (order, number, ends, recorder.invoke(Session(session), number, ns(invoked)))
                })
                .collect();
            open.sort_by_key(|&(order, number, ..)| (order, number));
            for &(_, number, ends, id) in &open {
                if ends {
                    recorder.returned(id, number, ns(9)).expect("it is open");
                }
            }
            let history = recorder.history();
            prop_assert_eq!(history.calls().len(), calls.len());
            prop_assert!(history.calls().is_sorted_by_key(|call| (call.invoked.time, call.operation)));
            for call in history.calls() {
                let (session, invoked, ends, _) = calls[call.operation];
                prop_assert_eq!((call.session.0, call.invoked.time), (session, ns(invoked)));
                prop_assert_eq!(call.end.response(), ends.then_some(&call.operation));
            }
        }
    }
}
