//! Histories of simulations: what components do, at the virtual time.

use serde::Serialize;
use simutant_oracle::{Budget, CallId, Check, History, Misuse, Recorder, Session, Specification, Time};
use simutant_outcomes::{Finding, Inconclusive, Verdict};
use simutant_sim_core::{CheckFailure, Message, RunClock, Simulation, VirtualTime};

/// How many steps of the specification the check of a run takes at most: a second or so, and the same on every machine.
const STEPS: u64 = 1 << 20;

/// Records the history of a simulation: operations `O` with responses `R`, each at the virtual time, and those of
/// one instant in their order. Clones share one history.
///
/// ```
/// use simutant_oracle::{Session, Time};
/// use simutant_sim_core::{CheckFailure, Message, Simulation, VirtualDuration};
/// use simutant_system::Observer;
/// # #[derive(Debug, Clone, Hash)]
/// # enum NoMessage {}
/// # impl Message for NoMessage {
/// #     fn kind(&self) -> &'static str {
/// #         match *self {}
/// #     }
/// # }
///
/// let mut simulation = Simulation::<NoMessage>::new(1);
/// let observer = Observer::new(&simulation);
/// let observed = observer.clone();
/// simulation.add("client", |context| async move {
///     let call = observed.invoke(Session(1), "get");
///     context.sleep(VirtualDuration::from_nanos(5)).await;
///     observed.returned(call, 7)
/// });
/// simulation.check("the client has one answer, after a while", move || {
///     let history = observer.recorder().finished().map_err(|misuse| CheckFailure::new(misuse.to_string()))?;
///     match history.calls() {
///         [call] if call.end.at().is_some_and(|end| end.time == Time::from_nanos(5)) => Ok(()),
///         calls => Err(CheckFailure::new(format!("{calls:?}"))),
///     }
/// });
/// assert!(simulation.run().ended.passed());
/// ```
#[derive(Debug)]
pub struct Observer<O, R> {
    recorder: Recorder<O, R>,
    clock: Option<RunClock>,
}

impl<O, R> Observer<O, R> {
    /// Returns an observer of a simulation, with a history of its own.
    pub fn new<M: Message>(simulation: &Simulation<M>) -> Self {
        Self { recorder: Recorder::in_order(), clock: Some(simulation.clock()) }
    }

    /// Returns an observer of what has no times: all that it records is at the origin, in its order.
    pub fn without_clock() -> Self {
        Self { recorder: Recorder::in_order(), clock: None }
    }

    /// Records what is invoked and returns in this instant.
    pub fn observed(&self, session: Session, operation: O, response: R) {
        self.recorder.observed(session, operation, response, self.now());
    }

    /// Records that a session begins a call now.
    pub fn invoke(&self, session: Session, operation: O) -> CallId {
        self.recorder.invoke(session, operation, self.now())
    }

    /// Records that a call returns now.
    ///
    /// # Errors
    /// [`Misuse`] names the call.
    pub fn returned(&self, call: CallId, response: R) -> Result<(), Misuse> {
        self.recorder.returned(call, response, self.now())
    }

    /// Records that nobody will know what became of a call. A call without an end is the same, but can still end.
    ///
    /// # Errors
    /// [`Misuse`] names the call.
    pub fn unknown(&self, call: CallId) -> Result<(), Misuse> {
        self.recorder.unknown(call)
    }

    /// Records that it is known now that a call has no effect.
    ///
    /// # Errors
    /// [`Misuse`] names the call.
    pub fn did_not_happen(&self, call: CallId) -> Result<(), Misuse> {
        self.recorder.did_not_happen(call, self.now())
    }

    /// Returns what has the history.
    pub fn recorder(&self) -> &Recorder<O, R> {
        &self.recorder
    }

    /// Adds a check of the end state: whether the specification, from an initial state, explains what clients saw
    /// (linearizability). A history that cannot be decided within a million steps makes the run inconclusive.
    ///
    /// ```
    /// use simutant_oracle::Session;
    /// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
    /// use simutant_sim_core::{Message, Simulation};
    /// use simutant_system::Observer;
    /// # #[derive(Debug, Clone, Hash)]
    /// # enum NoMessage {}
    /// # impl Message for NoMessage {
    /// #     fn kind(&self) -> &'static str {
    /// #         match *self {}
    /// #     }
    /// # }
    ///
    /// let mut simulation = Simulation::<NoMessage>::new(1);
    /// let observer = Observer::new(&simulation);
    /// let observed = observer.clone();
    /// simulation.add("client", |_| async move {
    ///     observed.observed(Session(1), Operation::Write(1), Response::Done);
    ///     observed.observed(Session(1), Operation::Read, Response::Value(None));
    /// });
    /// observer.check(&mut simulation, "the store is linearizable", Register::default());
    /// let ended = simulation.run().ended.to_string();
    /// assert!(ended.contains("the register has the value 1, so the answer is `value 1`"), "{ended}");
    /// ```
    pub fn check<M, S>(&self, simulation: &mut Simulation<M>, name: &str, initial: S)
    where
        M: Message,
        S: Specification<Operation = O, Response = R> + 'static,
        O: Clone + Serialize + 'static,
        R: Clone + Serialize + 'static,
    {
        let budget = Budget { steps: Some(STEPS), ..Budget::default() };
        self.check_by(simulation, name, initial, Check { budget, ..Check::default() });
    }

    /// Adds the same check, made otherwise: with another order, or another budget.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
    /// use simutant_oracle::{Check, Order, Session};
    /// use simutant_sim_core::{Message, Simulation};
    /// use simutant_system::Observer;
    /// # #[derive(Debug, Clone, Hash)]
    /// # enum NoMessage {}
    /// # impl Message for NoMessage {
    /// #     fn kind(&self) -> &'static str {
    /// #         match *self {}
    /// #     }
    /// # }
    ///
    /// let passes = |order: Order| {
    ///     let mut simulation = Simulation::<NoMessage>::new(1);
    ///     let observer = Observer::new(&simulation);
    ///     let observed = observer.clone();
    ///     simulation.add("clients", |_| async move {
    ///         observed.observed(Session(1), Operation::Write(1), Response::Done);
    ///         // A replica that is behind answers another client.
    ///         observed.observed(Session(2), Operation::Read, Response::Value(None));
    ///     });
    ///     let check = Check { order, ..Check::default() };
    ///     observer.check_by(&mut simulation, "the store is consistent", Register::default(), check);
    ///     simulation.run().ended.passed()
    /// };
    /// assert_eq!((passes(Order::sequential()), passes(Order::linearizability())), (true, false));
    /// ```
    pub fn check_by<M, S>(&self, simulation: &mut Simulation<M>, name: &str, initial: S, check: Check<'static>)
    where
        M: Message,
        S: Specification<Operation = O, Response = R> + 'static,
        O: Clone + Serialize + 'static,
        R: Clone + Serialize + 'static,
    {
        self.check_with(simulation, name, initial, move |_| check);
    }

    /// Adds the same check, made as the history asks for: with an order of its calls.
    pub fn check_with<M, S>(
        &self,
        simulation: &mut Simulation<M>,
        name: &str,
        initial: S,
        check: impl FnOnce(&History<O, R>) -> Check<'static> + 'static,
    ) where
        M: Message,
        S: Specification<Operation = O, Response = R> + 'static,
        O: Clone + Serialize + 'static,
        R: Clone + Serialize + 'static,
    {
        let recorder = self.recorder.clone();
        simulation.check(name, move || {
            let history = recorder.finished().map_err(|misuse| CheckFailure::new(misuse.to_string()))?;
            checked(check(&history).verdict(&history, &initial))
        });
    }

    fn now(&self) -> Time {
        self.clock.as_ref().map_or(Time::ZERO, |clock| history_time(clock.now()))
    }
}

impl<O, R> Clone for Observer<O, R> {
    fn clone(&self) -> Self {
        Self { recorder: self.recorder.clone(), clock: self.clock.clone() }
    }
}

/// Returns a verdict as checks of simulations have it.
///
/// # Errors
/// [`CheckFailure`] if it is no pass.
pub fn checked(verdict: Verdict) -> Result<(), CheckFailure> {
    match verdict {
        Verdict::Pass => Ok(()),
        Verdict::Fail(finding) => Err(CheckFailure::new(finding.summary)),
        Verdict::Inconclusive(inconclusive) => Err(CheckFailure::inconclusive(inconclusive.reason)),
    }
}

/// Returns what a check of a simulation says as a verdict on programs; a failure is a finding of this kind.
///
/// ```
/// use simutant_sim_core::CheckFailure;
/// use simutant_system::verdict_of;
///
/// assert!(verdict_of(Ok(()), "stale-read").passes());
/// let verdict = verdict_of(Err(CheckFailure::new("x was 1, not 2")), "stale-read");
/// assert_eq!(verdict.finding().map(|finding| finding.kind.as_str()), Some("stale-read"));
/// ```
pub fn verdict_of(checked: Result<(), CheckFailure>, kind: &str) -> Verdict {
    match checked {
        Ok(()) => Verdict::Pass,
        Err(failure) if failure.is_undecided() => Verdict::Inconclusive(Inconclusive { reason: failure.to_string() }),
        Err(failure) => Verdict::Fail(Finding::wrong_result(kind, failure.to_string())),
    }
}

/// Returns a virtual time as histories have it.
pub fn history_time(time: VirtualTime) -> Time {
    Time::from_nanos(time.as_nanos())
}

#[cfg(test)]
mod tests {
    use simutant_oracle::specifications::Register;
    use simutant_oracle::specifications::register::{Operation, Response};
    use simutant_oracle::{End, Moment, Order};
    use simutant_sim_core::{Clock, ClockFault, Ended, Faults, VirtualDuration};

    use super::*;

    #[derive(Debug, Clone, Hash)]
    enum NoMessage {}

    impl Message for NoMessage {
        fn kind(&self) -> &'static str {
            match *self {}
        }
    }

    /// A component whose clock is wrong is observed at the right time.
    #[test]
    fn calls_have_the_virtual_time_of_the_run() {
        let mut simulation = Simulation::<NoMessage>::new(1);
        let clock = Clock { offset_ns: 1_000, drift_ns_per_s: 0 };
        let clocks = vec![ClockFault { component: "client".to_owned(), clock }];
        simulation.faults(Faults { clocks, ..Faults::default() });
        let observer = Observer::new(&simulation);
        let observed = observer.clone();
        simulation.add("client", |context| async move {
            observed.observed(Session(1), 'a', context.now().as_nanos());
            let refused = observed.invoke(Session(1), 'b');
            context.sleep(VirtualDuration::from_nanos(7)).await;
            observed.did_not_happen(refused)
        });
        assert!(simulation.run().ended.passed());
        let ends: Vec<_> = observer.recorder().history().into_calls().into_iter().map(|call| call.end).collect();
        // The invocations are events 0 and 2.
        let at = |nanos, event| Moment { time: Time::from_nanos(nanos), event: Some(event) };
        assert_eq!(ends, [End::Returned { at: at(0, 1), response: 1_000 }, End::DidNotHappen { at: at(7, 3) }]);
    }

    /// Two clients, of which one still sees what the other has overwritten, and how that ends.
    fn stale(check: Check<'static>) -> Ended {
        let mut simulation = Simulation::<NoMessage>::new(1);
        let observer = Observer::new(&simulation);
        let observed = observer.clone();
        simulation.add("clients", |_| async move {
            for (session, operation, response) in [
                (1, Operation::Write(1), Response::Done),
                (1, Operation::Write(2), Response::Done),
                (2, Operation::Read, Response::Value(Some(1))),
            ] {
                observed.observed(Session(session), operation, response);
            }
        });
        observer.check_by(&mut simulation, "the register is as specified", Register::default(), check);
        simulation.run().ended
    }

    #[test]
    fn a_run_passes_fails_or_is_inconclusive_by_its_history() {
        let ended = stale(Check::default());
        assert!(matches!(ended, Ended::Failed(_)), "{ended}");
        assert!(ended.to_string().contains("session 2 asked for `read` and was answered `value 1`"), "{ended}");
        assert!(stale(Check { order: Order::sequential(), ..Check::default() }).passed());
        let budget = Budget { steps: Some(1), ..Budget::default() };
        // What needs no search needs no steps either.
        let searched = Check { budget, has_fast_paths: false, ..Check::default() };
        assert!(matches!(stale(searched), Ended::Inconclusive(_)));
    }

    #[test]
    fn without_a_clock_all_is_at_the_origin_in_its_order() {
        let observer = Observer::without_clock();
        ['b', 'a', 'c'].into_iter().for_each(|operation| observer.observed(Session(0), operation, ()));
        let history = observer.recorder().history();
        assert!(history.calls().iter().map(|call| call.operation).eq(['b', 'a', 'c']));
        assert!(history.calls().iter().all(|call| call.invoked.time == Time::ZERO));
    }
}
