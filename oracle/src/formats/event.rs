//! Events of files, and the calls that pairs of them are.

use std::collections::BTreeMap;

use super::Value;
use super::error::{HistoryError, Place};
use super::vocabulary::{Answered, Misfit, Said, Vocabulary};
use crate::{Call, End, EndsTooEarly, History, Moment, Session, Time};

/// What happened to a process at a line of a file.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) place: Place,
    pub(super) process: u64,
    pub(super) kind: EventKind,
    /// The name of the operation; an end may do without.
    pub(super) name: Option<Box<str>>,
    pub(super) key: Option<Value>,
    pub(super) value: Value,
    pub(super) time: Option<Time>,
}

/// What an event says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    /// It begins.
    Invoked,
    /// It was done, and the value is the answer.
    Done,
    /// It was taken, and changed nothing.
    Refused,
    /// It has no effect.
    DidNotHappen,
    /// Nobody knows.
    Unknown,
}

/// Events that become calls. A process has one call at a time.
#[derive(Debug)]
pub(super) struct Pairing<S: Vocabulary> {
    calls: Vec<Call<S::Operation, S::Response>>,
    /// Where each call is in the file.
    places: Vec<Place>,
    /// The call of each process that has one, its name, and the value that it was invoked with.
    open: BTreeMap<u64, (usize, Box<str>, Value)>,
    events: u64,
    /// The latest time so far.
    time: Time,
}

impl<S: Vocabulary> Pairing<S> {
    pub(super) const fn new() -> Self {
        Self { calls: Vec::new(), places: Vec::new(), open: BTreeMap::new(), events: 0, time: Time::ZERO }
    }

    /// Takes the next event. The order of events is that in which they are taken: one whose time is earlier than that
    /// of an event before has the same time.
    pub(super) fn take(&mut self, event: Event) -> Result<(), HistoryError> {
        self.time = self.time.max(event.time.unwrap_or(self.time));
        let moment = Moment { time: self.time, event: Some(self.events) };
        self.events += 1;
        if event.kind == EventKind::Invoked { self.invoke(event, moment) } else { self.end(event, moment) }
    }

    fn invoke(&mut self, event: Event, invoked: Moment) -> Result<(), HistoryError> {
        let Event { place, process, name, key, value, .. } = event;
        let name =
            name.ok_or_else(|| place.error("the invocation has no name", "say which operation was asked for"))?;
        if let Some((open, ..)) = self.open.get(&process) {
            let before = self.places[*open].line;
            return Err(place.error(
                format!("process {process} begins a call while its call of line {before} is not over"),
                "a process has one call at a time: end the other one before, or give this one another process",
            ));
        }
        let said = Said { name: &name, key: key.as_ref(), value: &value };
        let operation = operation::<S>(place, &said)?;
        self.open.insert(process, (self.calls.len(), name, value));
        self.places.push(place);
        self.calls.push(Call::new(Session(process), operation, invoked, End::Unknown));
        Ok(())
    }

    fn end(&mut self, event: Event, at: Moment) -> Result<(), HistoryError> {
        let Event { place, process, kind, name, key, value, .. } = event;
        let Some((number, asked_name, asked)) = self.open.remove(&process) else {
            return Err(place.error(
                format!("process {process} ends a call that it did not begin"),
                "an invocation of the same process comes before: was the beginning of the file cut off?",
            ));
        };
        let call = &mut self.calls[number];
        if let Some(name) = name.filter(|name| *name != asked_name) {
            return Err(place.error(
                format!(
                    "process {process} ends {}, and began {} at line {}",
                    named(&name),
                    named(&asked_name),
                    self.places[number].line
                ),
                "an end has the name of its invocation",
            ));
        }
        call.end = match kind {
            EventKind::Invoked | EventKind::Unknown => End::Unknown,
            EventKind::DidNotHappen => End::DidNotHappen { at },
            EventKind::Refused => match S::refusal(&call.operation) {
                Some(response) => End::Returned { at, response },
                None => End::DidNotHappen { at },
            },
            EventKind::Done => {
                let answer = Answered { key: key.as_ref(), value: &value, asked: &asked };
                let response = response::<S>(place, &asked_name, &call.operation, &answer)?;
                End::Returned { at, response }
            }
        };
        Ok(())
    }

    /// Takes a whole call of a file without processes: each is of a session of its own.
    pub(super) fn whole(
        &mut self,
        place: Place,
        said: &Said<'_>,
        answer: &Value,
        [invoked, ended]: [Time; 2],
    ) -> Result<(), HistoryError> {
        let operation = operation::<S>(place, said)?;
        let answer = Answered { key: None, value: answer, asked: said.value };
        let response = response::<S>(place, said.name, &operation, &answer)?;
        let session = Session(self.calls.len() as u64);
        let end = End::Returned { at: ended.into(), response };
        self.calls.push(Call::new(session, operation, invoked.into(), end));
        self.places.push(place);
        Ok(())
    }

    /// Returns the history of all calls. Those without an end are unknown.
    pub(super) fn history(self) -> Result<History<S::Operation, S::Response>, HistoryError> {
        let places = self.places;
        History::from_calls(self.calls).map_err(|EndsTooEarly { number, invoked, ended, .. }| {
            let message = format!(
                "the call ends at {}, before its invocation at {}",
                ended.time.as_nanos(),
                invoked.time.as_nanos()
            );
            places[number].error(message, "take both times from one clock")
        })
    }
}

fn operation<S: Vocabulary>(place: Place, said: &Said<'_>) -> Result<S::Operation, HistoryError> {
    if let Some(key) = said.key.filter(|_| !S::HAS_KEYS) {
        let message = format!("{} has no keys, and {} has the key {}", S::NAME, named(said.name), key.shown());
        return Err(place.error(message, "choose a specification with keys, as a key-value store"));
    }
    S::operation(said).map_err(|misfit| match misfit {
        Misfit::Name => {
            let known: Vec<String> = S::OPERATIONS.iter().map(|name| format!(":{name}")).collect();
            place.error(
                format!("{} has no operation {}", S::NAME, named(said.name)),
                format!("it has {}; rename the operation, or choose another specification", known.join(", ")),
            )
        }
        Misfit::Value { cure } => {
            place.error(format!("{} of {} does not ask with {}", named(said.name), S::NAME, said.value.shown()), cure)
        }
    })
}

fn response<S: Vocabulary>(
    place: Place,
    name: &str,
    operation: &S::Operation,
    answer: &Answered<'_>,
) -> Result<S::Response, HistoryError> {
    S::response(operation, answer).map_err(|misfit| {
        let message = format!("{} of {} does not answer with {}", named(name), S::NAME, answer.value.shown());
        match misfit {
            Misfit::Value { cure } => place.error(message, cure),
            Misfit::Name => place.error(message, "choose another specification"),
        }
    })
}

fn named(name: &str) -> String {
    Value::word(&format!(":{name}")).shown()
}
