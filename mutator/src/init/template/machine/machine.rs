//! What clients do: a state machine. It drives the simulated server, and the real one.
//!
//! A test case has a walk of it for each client: which transition is taken next, and what is chosen
//! in it. The machine records what clients see; whether that is right is judged afterwards.

use std::fmt;
use std::time::Duration;

use simutant_models::{Machine, Step, Stop, skip, transition};
use simutant_oracle::{Recorder, Session, Time};

use super::protocol::{Operation, Response};

/// The service, as a client has it: the simulated one, or a real one.
pub trait Service: 'static {
    /// Asks for something.
    fn ask(&mut self, operation: Operation) -> impl Future<Output = Result<Response, NoAnswer>>;

    /// What time it is, by one clock for all clients.
    fn now(&self) -> Time;
}

/// No answer came: nobody knows whether what was asked for was done.
#[derive(Debug)]
pub struct NoAnswer;

impl fmt::Display for NoAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("no answer came")
    }
}

impl std::error::Error for NoAnswer {}

/// What a client knows.
#[derive(Debug)]
pub struct Client<S> {
    service: S,
    session: Session,
    /// What all clients have seen.
    history: Recorder<Operation, Response>,
    /// The value that the client read or wrote last.
    known: Option<u32>,
}

impl<S: Service> Client<S> {
    /// Returns a client of a service, with a session of its own.
    pub fn new(service: S, session: Session, history: Recorder<Operation, Response>) -> Self {
        Self {
            service,
            session,
            history,
            known: None,
        }
    }

    async fn ask(&mut self, operation: Operation) -> Result<Response, Stop> {
        let (session, now) = (self.session, self.service.now());
        let call = self.history.invoke(session, operation.clone(), now);
        // A call without an end in the history is one that may or may not have been done.
        let response = self.service.ask(operation).await?;
        let now = self.service.now();
        self.history.returned(call, response.clone(), now)?;
        Ok(response)
    }
}

/// The machine: transitions `FROM -> TO`, each with what is done then.
pub fn client<S: Service>() -> Machine<Client<S>> {
    let read = async |client: &mut Client<S>, step: &mut Step<'_>| {
        let response = client.ask(Operation::Read).await?;
        if let Response::Value(value) = &response {
            client.known = *value;
        }
        let is_value = matches!(response, Response::Value(_));
        step.assert(is_value, "a read is answered by a value")
    };
    let write = async |client: &mut Client<S>, step: &mut Step<'_>| {
        let value = step.choose(1..=3);
        client.ask(Operation::Write(value)).await?;
        client.known = Some(value);
        Ok(())
    };
    let compare_and_set = async |client: &mut Client<S>, step: &mut Step<'_>| {
        // Without a value to compare with, another transition is taken.
        step.require(client.known.is_some())?;
        let from = client.known.unwrap_or_default();
        let to = step.choose(1..=3);
        let operation = Operation::CompareAndSet { from, to };
        let is_set = client.ask(operation).await? == Response::Compared(true);
        client.known = is_set.then_some(to);
        Ok(())
    };
    let wait = async |_: &mut Client<S>, step: &mut Step<'_>| {
        let milliseconds = step.choose(1..=100);
        step.stay(Duration::from_millis(u64::from(milliseconds)));
        Ok(())
    };
    // A client without an answer stops: what it asked for may still be done.
    let calls = [
        transition("open -> open", read).label("read").weight(3.0),
        transition("open -> open", write).label("write").weight(2.0),
        transition("open -> open", compare_and_set)
            .label("compare and set")
            .weight(2.0),
    ];
    let calls = calls.map(|call| call.catches("NoAnswer", "cut off", |NoAnswer| true));
    let others = [
        transition("open -> open", wait).label("wait"),
        skip("open -> closed").label("close").weight(0.5),
    ];
    let states = ["open", "cut off", "closed"];
    Machine::new("client", states, calls.into_iter().chain(others))
        .unwrap_or_else(|mistake| panic!("{}", mistake))
}
