//! Checks answers when they arrive, by the parts of the service: what becomes of one part does not depend on others.

use std::collections::BTreeMap;

use simutant_oracle::{
    Answer, Budget, CallNumber, Check, Limit, Online, OnlineBudget, OnlineError, Order, Recorder, Session, Time,
};

use crate::service::HttpService;

/// How much an observation may cost before the check waits for the end, when it is cheaper.
const BUDGET: OnlineBudget = OnlineBudget { steps: 20_000, possibilities: 1_000 };

/// A check of what clients see while they see it. Where too much is possible at a time, it waits for the end, when every
/// answer is known.
#[derive(Debug)]
pub struct Watch<S: HttpService> {
    initial: S,
    asked: usize,
    parts: BTreeMap<String, Part<S>>,
}

/// A request that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingRequest {
    part: String,
    /// Its place among all requests.
    number: usize,
    call: Option<CallNumber>,
}

/// An answer that the specification cannot have given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrong {
    /// The place of the request among all of them, in the order in which they were asked.
    pub request: usize,
}

/// Why a check has ended without saying that all answers are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsure {
    /// An answer is wrong.
    Wrong(Wrong),
    /// The check ran out of this.
    Exhausted(Limit),
}

#[derive(Debug)]
struct Part<S: HttpService> {
    /// `None` once too much was possible.
    online: Option<Online<S>>,
    events: Vec<Event<S>>,
}

#[derive(Debug)]
struct Event<S: HttpService> {
    /// The place of the request among all requests.
    request: usize,
    kind: EventKind<S>,
}

#[derive(Debug)]
enum EventKind<S: HttpService> {
    Asked(Session, S::Operation),
    Answered(S::Response),
}

impl<S: HttpService> Watch<S> {
    /// Returns the check of a service that begins in a state.
    pub const fn new(initial: S) -> Self {
        Self { initial, asked: 0, parts: BTreeMap::new() }
    }

    /// Observes that a request is sent.
    pub fn asked(&mut self, session: Session, operation: S::Operation) -> PendingRequest {
        let (number, name) = (self.asked, S::part(&operation));
        self.asked += 1;
        let online = || Online::new(self.initial.clone(), BUDGET).in_session_order();
        let new = || Part { online: Some(online()), events: Vec::new() };
        let part = self.parts.entry(name.clone()).or_insert_with(new);
        let call = part.online.as_mut().map(|online| online.invoked(session, operation.clone()));
        part.events.push(Event { request: number, kind: EventKind::Asked(session, operation) });
        PendingRequest { part: name, number, call }
    }

    /// Observes an answer.
    ///
    /// # Errors
    /// [`Wrong`] if it is impossible.
    pub fn answered(&mut self, asked: &PendingRequest, response: S::Response) -> Result<(), Wrong> {
        let PendingRequest { number, call, .. } = *asked;
        let part = self.part(asked);
        part.events.push(Event { request: number, kind: EventKind::Answered(response.clone()) });
        let Some((online, call)) = part.online.as_mut().zip(call) else { return Ok(()) };
        match online.returned(call, response) {
            Ok(()) => Ok(()),
            Err(OnlineError::Impossible { .. }) => Err(Wrong { request: number }),
            Err(_) => {
                part.online = None;
                Ok(())
            }
        }
    }

    /// Observes that a request will not be answered: it may have been performed, or not.
    pub fn lost(&mut self, asked: &PendingRequest) {
        let call = asked.call;
        if let Some((online, call)) = self.part(asked).online.as_mut().zip(call) {
            // It has not been answered, so it is under way.
            _ = online.unknown(call);
        }
    }

    /// Returns how many states the part can be in that a request is about; `None` if they are too many.
    pub fn states(&self, asked: &PendingRequest) -> Option<usize> {
        self.parts[&asked.part].online.as_ref().map(|online| online.states().count())
    }

    /// Returns the answers to a request that are possible now; none where they are too many to be followed.
    pub fn allowed(&self, asked: &PendingRequest) -> Vec<S::Response> {
        let online = self.parts[&asked.part].online.as_ref();
        online.zip(asked.call).map(|(online, call)| online.answers(call)).unwrap_or_default()
    }

    /// Returns whether all answers are possible, also where that was not known when they arrived. `steps` is how many steps of
    /// the specification that may take for each part.
    ///
    /// # Errors
    /// [`Unsure`] says why not.
    pub fn finish(&self, steps: u64) -> Result<(), Unsure> {
        let later = self.parts.values().filter(|part| part.online.is_none());
        later.map(|part| part.finish(steps, &self.initial)).find(Result::is_err).unwrap_or(Ok(()))
    }

    fn part(&mut self, asked: &PendingRequest) -> &mut Part<S> {
        self.parts.get_mut(&asked.part).expect("it was asked for")
    }
}

impl<S: HttpService> Part<S> {
    fn finish(&self, steps: u64, initial: &S) -> Result<(), Unsure> {
        match self.check(self.events.len(), steps, initial) {
            Answer::Possible { .. } => return Ok(()),
            Answer::Impossible { .. } => {}
            Answer::Undecided { limit } => return Err(Unsure::Exhausted(limit)),
        }
        // Up to some event all was possible: the first answer is wrong after which it is not.
        let (mut possible, mut impossible) = (0, self.events.len());
        while impossible - possible > 1 {
            let middle = possible.midpoint(impossible);
            match self.check(middle, steps, initial) {
                Answer::Impossible { .. } => impossible = middle,
                _ => possible = middle,
            }
        }
        Err(Unsure::Wrong(Wrong { request: self.events[impossible - 1].request }))
    }

    /// Checks the first events.
    fn check(&self, count: usize, steps: u64, initial: &S) -> Answer {
        let recorder = Recorder::in_order();
        let mut calls = BTreeMap::new();
        for Event { request, kind } in &self.events[..count] {
            match kind {
                EventKind::Asked(session, operation) => {
                    calls.insert(*request, recorder.invoke_asynchronous(*session, operation.clone(), Time::ZERO));
                }
                EventKind::Answered(response) => {
                    // Each request is answered once.
                    _ = recorder.returned(calls[request], response.clone(), Time::ZERO);
                }
            }
        }
        let order = Order { sessions: true, ..Order::linearizability() };
        let budget = Budget { steps: Some(steps), ..Budget::default() };
        Check { order, budget, ..Check::default() }.run(&recorder.history(), initial).answer
    }
}
