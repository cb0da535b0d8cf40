//! Events of files, and the calls that pairs of them are.

use std::collections::BTreeMap;

use super::error::{HistoryError, Place};
use super::vocabulary::{Answered, Misfit, Said, Vocabulary};
use super::{Doubt, Parsed, ParsedBy, Value};
use crate::history::key;
use crate::{Call, End, EndsTooEarly, History, Moment, Session, Time};

/// What happened to a process at a line of a file.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) place: Place,
    pub(super) process: u64,
    pub(super) kind: EventKind,
    /// The name of the operation; an end may do without.
    pub(super) name: Option<Name>,
    pub(super) key: Option<Value>,
    /// The value, if the event says one.
    pub(super) value: Option<Value>,
    pub(super) time: Option<Time>,
}

/// The name of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// As vocabularies know it.
    pub(super) known: Box<str>,
    /// As messages show it: the word of the file.
    pub(super) shown: Box<str>,
}

impl Name {
    /// Returns the name that a keyword of Jepsen's is, without its colon.
    pub(super) fn keyword(name: &str) -> Self {
        Self { known: name.into(), shown: Value::word(&format!(":{name}")).shown().into() }
    }
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
    /// It has no effect. Whether it was taken is not said, unless the value is an error in place of what was asked for.
    Failed,
    /// Nobody knows.
    Unknown,
}

/// Events that become calls. A process has one call at a time.
#[derive(Debug)]
pub(super) struct Pairing<S: Vocabulary> {
    calls: Vec<Call<S::Operation, S::Response>>,
    /// Where each call is in the file.
    places: Vec<Place>,
    /// The call of each process that has one.
    open: BTreeMap<u64, Begun>,
    doubts: Vec<Doubt<S::Response>>,
    events: u64,
    /// Whether calls of a drain begin at one event, and end at one: how many they are is known only at the end.
    share_events: bool,
    /// The latest time so far.
    time: Time,
}

/// A call that is under way.
#[derive(Debug)]
struct Begun {
    number: usize,
    name: Name,
    subject: Subject,
    /// Whether the value is that of the answer, as the operation asks with none.
    is_answer: bool,
    /// Of a drain, the name of the operation that takes one value.
    drains: Option<&'static str>,
}

/// What a call is about.
#[derive(Debug)]
struct Subject {
    key: Option<Value>,
    /// Whether the key and the value are one value in the file, `[key value]`.
    is_pair: bool,
    value: Value,
}

impl<S: Vocabulary> Pairing<S> {
    pub(super) const fn new() -> Self {
        Self {
            calls: Vec::new(),
            places: Vec::new(),
            open: BTreeMap::new(),
            doubts: Vec::new(),
            events: 0,
            share_events: false,
            time: Time::ZERO,
        }
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
        if let Some(open) = self.open.get(&process) {
            let before = self.places[open.number].line;
            return Err(place.error(
                format!("process {process} begins a call while its call of line {before} is not over"),
                "a process has one call at a time: end the other one before, or give this one another process",
            ));
        }
        let subject = subject::<S>(place, &name, key, value.unwrap_or(Value::Nil))?;
        let drain = S::DRAIN.filter(|[drain, _]| *name.known == **drain);
        let (operation, is_answer) = match drain {
            // It begins as the first of its calls.
            Some([_, one]) => (taking::<S>(place, one, &subject)?, subject.value != Value::Nil),
            None => operation::<S>(place, &name, &subject)?,
        };
        let number = self.calls.len();
        self.open.insert(process, Begun { number, name, subject, is_answer, drains: drain.map(|[_, one]| one) });
        self.places.push(place);
        self.calls.push(Call::new(Session(process), operation, invoked, End::Unknown));
        Ok(())
    }

    fn end(&mut self, event: Event, at: Moment) -> Result<(), HistoryError> {
        let Event { place, process, kind, name, key, value, .. } = event;
        let Some(begun) = self.open.remove(&process) else {
            return Err(place.error(
                format!("process {process} ends a call that it did not begin"),
                "an invocation of the same process comes before: was the beginning of the file cut off?",
            ));
        };
        let call = &mut self.calls[begun.number];
        if let Some(name) = name.filter(|name| name.known != begun.name.known) {
            return Err(place.error(
                format!(
                    "process {process} ends {}, and began {} at line {}",
                    name.shown, begun.name.shown, self.places[begun.number].line
                ),
                "an end has the name of its invocation",
            ));
        }
        // One that failed took nothing.
        if let Some(one) = begun.drains.filter(|_| matches!(kind, EventKind::Done | EventKind::Unknown)) {
            return self.drained(&begun, one, Event { place, process, kind, name: None, key, value, time: None }, at);
        }
        let refusal = || S::refusal(&call.operation);
        call.end = match kind {
            EventKind::Invoked | EventKind::Unknown => End::Unknown,
            EventKind::DidNotHappen => End::DidNotHappen { at },
            EventKind::Refused => match refusal() {
                Some(response) => End::Returned { at, response },
                None => End::DidNotHappen { at },
            },
            EventKind::Failed => {
                let refusal = refusal().filter(|_| value.is_none_or(|value| begun.subject.is_echo(&value)));
                self.doubts.extend(refusal.map(|refusal| Doubt { call: begun.number, line: place.line, refusal }));
                End::DidNotHappen { at }
            }
            EventKind::Done => {
                let value = begun.answer::<S>(place, key, value)?;
                let answer = Answered { value: &value, asked: &begun.subject.value };
                let response = response::<S>(place, &begun.name, &call.operation, &answer)?;
                End::Returned { at, response }
            }
        };
        Ok(())
    }

    /// Takes the end of a drain: calls that took its values, one after the other, and one that found nothing. If there
    /// were other events since it began, nobody knows which of the calls were before them.
    fn drained(&mut self, begun: &Begun, one: &str, event: Event, at: Moment) -> Result<(), HistoryError> {
        let Event { place, process, kind, key, value, .. } = event;
        if kind != EventKind::Done {
            return Err(place.error(
                format!("{} has no end that says what it took", begun.name.shown),
                "end it with `:ok` and the values that it took",
            ));
        }
        let value = begun.answer::<S>(place, key, value)?;
        let nothing = Value::Nil;
        let taken = match &value {
            Value::Nil => Vec::new(),
            values => values.members().ok_or_else(|| {
                let message = format!("{} of {} does not answer with {}", begun.name.shown, S::NAME, value.shown());
                place.error(message, "answer with a list of the values that it took")
            })?,
        };
        let invoked = self.calls[begun.number].invoked;
        let is_alone = invoked.event.is_some_and(|event| event + 2 == self.events);
        self.share_events |= !is_alone;
        let mut begins = invoked;
        for (nth, value) in taken.into_iter().chain([&nothing]).enumerate() {
            let operation = taking::<S>(place, one, &begun.subject)?;
            let answer = Answered { value, asked: &nothing };
            let response = response::<S>(place, &begun.name, &operation, &answer)?;
            let mut ends = at;
            if is_alone {
                // The end of this call, and the invocation of the next one.
                ends.event = begins.event.map(|event| event + 1);
            }
            let end = End::Returned { at: ends, response };
            if nth == 0 {
                self.calls[begun.number].end = end;
            } else {
                self.places.push(place);
                self.calls.push(Call::new(Session(process), operation, begins, end));
            }
            if is_alone {
                begins = Moment { event: ends.event.map(|event| event + 1), ..at };
                self.events = begins.event.unwrap_or(self.events);
            }
        }
        Ok(())
    }

    /// Takes a whole call of a file without processes: each is of a session of its own.
    pub(super) fn whole(
        &mut self,
        place: Place,
        name: &Name,
        [asked, answer]: [Value; 2],
        [invoked, ended]: [Time; 2],
    ) -> Result<(), HistoryError> {
        let subject = subject::<S>(place, name, None, asked)?;
        let (operation, _) = operation::<S>(place, name, &subject)?;
        let answer = Answered { value: &answer, asked: &subject.value };
        let response = response::<S>(place, name, &operation, &answer)?;
        let session = Session(self.calls.len() as u64);
        let end = End::Returned { at: ended.into(), response };
        self.calls.push(Call::new(session, operation, invoked.into(), end));
        self.places.push(place);
        Ok(())
    }

    /// Returns the history of all calls, and what is in doubt. Calls without an end are unknown.
    pub(super) fn finish(mut self) -> Result<ParsedBy<S>, HistoryError> {
        if let Some(drain) = self.open.values().find(|begun| begun.drains.is_some()) {
            let cure = "end it with `:ok` and the values that it took";
            return Err(self.places[drain.number].error(format!("{} has no end", drain.name.shown), cure));
        }
        if self.share_events {
            number_events(&mut self.calls);
        }
        let (places, mut doubts) = (self.places, self.doubts);
        // The calls of a drain are made at its end, and calls that were invoked later stand before them by then.
        let mut order: Vec<_> = self.calls.iter().map(|call| key(call.invoked)).zip(0..).collect();
        order.sort_unstable();
        let mut places_of = vec![0; order.len()];
        for (place, (_, number)) in order.into_iter().enumerate() {
            places_of[number] = place;
        }
        doubts.iter_mut().for_each(|doubt| doubt.call = places_of[doubt.call]);
        let history = History::from_calls(self.calls).map_err(|EndsTooEarly { number, invoked, ended, .. }| {
            let message = format!(
                "the call ends at {}, before its invocation at {}",
                ended.time.as_nanos(),
                invoked.time.as_nanos()
            );
            places[number].error(message, "take both times from one clock")
        })?;
        Ok(Parsed { history, doubts })
    }
}

/// Gives each invocation and each end a number of its own. Those that share one come one after the other: all these
/// invocations, and all these ends, have the same events before and after them as the one that they share.
fn number_events<O, R>(calls: &mut [Call<O, R>]) {
    let both = |(number, call): (usize, &Call<O, R>)| {
        let end = call.end.at().map(|at| (at.event, number, true));
        [Some((call.invoked.event, number, false)), end].into_iter().flatten()
    };
    let mut events: Vec<(Option<u64>, usize, bool)> = calls.iter().enumerate().flat_map(both).collect();
    events.sort_unstable();
    for (event, (_, number, is_end)) in (0..).zip(events) {
        let call = &mut calls[number];
        match &mut call.end {
            End::Returned { at, .. } | End::DidNotHappen { at } if is_end => at.event = Some(event),
            _ => call.invoked.event = Some(event),
        }
    }
}

impl Subject {
    /// Returns whether a value says no more than the invocation.
    fn is_echo(&self, value: &Value) -> bool {
        let is_pair = || self.key.as_ref().zip(value.pair()).is_some_and(|(key, pair)| pair == (key, &self.value));
        *value == Value::Nil || *value == self.value || (self.is_pair && is_pair())
    }
}

impl Begun {
    /// Returns the value of the answer, without its key.
    fn answer<S: Vocabulary>(
        &self,
        place: Place,
        key: Option<Value>,
        value: Option<Value>,
    ) -> Result<Value, HistoryError> {
        let Self { name, subject, is_answer, .. } = self;
        let refused = |value: &Value, cure: &str| {
            let message = format!("{} of {} does not answer with {}", name.shown, S::NAME, value.shown());
            place.error(message, cure)
        };
        let value = match (&subject.key, value) {
            (None, value) => value,
            // An answer that says nothing says nothing of the key.
            (Some(_), None) => None,
            (Some(_), Some(Value::Nil)) if key.is_none() && subject.is_pair && subject.value != Value::Nil => None,
            (Some(asked), Some(value)) => {
                let is_asked = |key: &Value| key == asked || key.as_text() == asked.as_text();
                let value = match (key, value) {
                    (Some(key), value) if is_asked(&key) => Ok(value),
                    (None, value) if !subject.is_pair => Ok(value),
                    (None, value) => value.into_pair().and_then(|(key, inner)| {
                        if is_asked(&key) { Ok(inner) } else { Err(Value::List(vec![key, inner])) }
                    }),
                    (Some(_), value) => Err(value),
                };
                Some(value.map_err(|value| refused(&value, "answer with the key of the invocation, as that has it"))?)
            }
        };
        match value {
            None if *is_answer => Ok(subject.value.clone()),
            Some(value) if *is_answer && value != subject.value => {
                let asked = &subject.value;
                Err(refused(&value, &format!("the invocation has the value {} already", asked.shown())))
            }
            value => Ok(value.unwrap_or(Value::Nil)),
        }
    }
}

/// Returns what an invocation is about.
fn subject<S: Vocabulary>(
    place: Place,
    name: &Name,
    key: Option<Value>,
    value: Value,
) -> Result<Subject, HistoryError> {
    if !S::OPERATIONS.contains(&&*name.known) {
        return Err(unknown_name::<S>(place, name));
    }
    match (key, S::HAS_KEYS) {
        (None, false) => Ok(Subject { key: None, is_pair: false, value }),
        (Some(key), false) => {
            let message = format!("{} has no keys, and {} has the key {}", S::NAME, name.shown, key.shown());
            Err(place.error(message, KEYS))
        }
        (Some(key), true) => keyed(place, key, false, value),
        (None, true) => match value.into_pair() {
            Ok((key, value)) => keyed(place, key, true, value),
            Err(value) => {
                let message = format!("{} of {} does not ask with {}", name.shown, S::NAME, value.shown());
                Err(place.error(message, "give the key beside the value, or give `[key value]`"))
            }
        },
    }
}

fn keyed(place: Place, key: Value, is_pair: bool, value: Value) -> Result<Subject, HistoryError> {
    if key.as_text().is_none() {
        return Err(place.error(format!("the key is {}", key.shown()), "a key is a text, an integer or a keyword"));
    }
    Ok(Subject { key: Some(key), is_pair, value })
}

/// Returns the operation that is asked for, and whether the value is that of its answer.
fn operation<S: Vocabulary>(
    place: Place,
    name: &Name,
    Subject { key, value, .. }: &Subject,
) -> Result<(S::Operation, bool), HistoryError> {
    let asked = |value| S::operation(&Said { name: &name.known, key: key.as_ref(), value });
    let cure = match asked(value) {
        Ok(operation) => return Ok((operation, false)),
        Err(Misfit::Name) => return Err(unknown_name::<S>(place, name)),
        Err(Misfit::NoValue) => {
            let nothing = Value::Nil;
            let answers = |operation: &S::Operation| S::response(operation, &Answered { value, asked: &nothing });
            match asked(&nothing) {
                Ok(operation) if answers(&operation).is_ok() => return Ok((operation, true)),
                _ => "give `nil`, since the operation asks with no value",
            }
        }
        Err(Misfit::Value { cure }) => cure,
    };
    let message = format!("{} of {} does not ask with {}", name.shown, S::NAME, value.shown());
    let is_keyed = !S::HAS_KEYS && value.pair().is_some();
    Err(place.error(message, if is_keyed { format!("{cure}; if that is `[key value]`, {KEYS}") } else { cure.into() }))
}

/// What is to be done with a file that has keys.
const KEYS: &str = "choose a specification with keys: `key-value-store`, or check with `--keyed`, which gives each key a service of its own";

/// Returns the operation that takes one value of those that a drain takes.
fn taking<S: Vocabulary>(place: Place, one: &str, subject: &Subject) -> Result<S::Operation, HistoryError> {
    let subject = Subject { key: subject.key.clone(), is_pair: subject.is_pair, value: Value::Nil };
    operation::<S>(place, &Name::keyword(one), &subject).map(|(operation, _)| operation)
}

fn unknown_name<S: Vocabulary>(place: Place, name: &Name) -> HistoryError {
    let known: Vec<String> = S::OPERATIONS.iter().map(|name| format!(":{name}")).collect();
    place.error(
        format!("{} has no operation {}", S::NAME, name.shown),
        format!("it has {}; rename the operation, or choose another specification", known.join(", ")),
    )
}

fn response<S: Vocabulary>(
    place: Place,
    name: &Name,
    operation: &S::Operation,
    answer: &Answered<'_>,
) -> Result<S::Response, HistoryError> {
    S::response(operation, answer).map_err(|misfit| {
        let message = format!("{} of {} does not answer with {}", name.shown, S::NAME, answer.value.shown());
        match misfit {
            Misfit::Value { cure } => place.error(message, cure),
            Misfit::Name => place.error(message, "choose another specification"),
            Misfit::NoValue => place.error(message, "answer with `nil`"),
        }
    })
}
