//! Histories of simulations: what components do, at the virtual time.

use simutant_oracle::{CallId, Misuse, Recorder, Session, Time};
use simutant_sim_core::{Message, RunClock, Simulation, VirtualTime};

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

    fn now(&self) -> Time {
        self.clock.as_ref().map_or(Time::ZERO, |clock| history_time(clock.now()))
    }
}

impl<O, R> Clone for Observer<O, R> {
    fn clone(&self) -> Self {
        Self { recorder: self.recorder.clone(), clock: self.clock.clone() }
    }
}

/// Returns a virtual time as histories have it.
pub fn history_time(time: VirtualTime) -> Time {
    Time::from_nanos(time.as_nanos())
}

#[cfg(test)]
mod tests {
    use simutant_oracle::{End, Moment};
    use simutant_sim_core::{Clock, ClockFault, Faults, VirtualDuration};

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

    #[test]
    fn without_a_clock_all_is_at_the_origin_in_its_order() {
        let observer = Observer::without_clock();
        ['b', 'a', 'c'].into_iter().for_each(|operation| observer.observed(Session(0), operation, ()));
        let history = observer.recorder().history();
        assert!(history.calls().iter().map(|call| call.operation).eq(['b', 'a', 'c']));
        assert!(history.calls().iter().all(|call| call.invoked.time == Time::ZERO));
    }
}
