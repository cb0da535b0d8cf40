//! Jepsen's histories: maps in EDN or in JSON, and its log.
//!
//! An operation is a map with the keys `:process`, `:type`, `:f` and `:value`; `:time`, `:index`, `:error` and `:key`
//! are optional, and all other keys are ignored. So is a tag before a map, which Jepsen's records have.

use std::io::BufRead;

use super::Value;
use super::data::{Grammar, Next, Reader};
use super::error::{HistoryError, Place};
use super::event::{Event, EventKind, Name};
use super::source::{Lines, Scanner};
use crate::Time;

/// The `:error` of a `:fail` that is an answer: the service compared, found another value, and changed nothing. Any
/// other `:fail` is read as an operation that did not happen.
pub(super) const DID_NOT_MATCH: &str = "did-not-match";

/// The function that receives each event as soon as it is read.
pub(super) type Sink<'a> = dyn FnMut(Event) -> Result<(), HistoryError> + 'a;

/// Reads the operations of a history, which is a sequence of maps or one list (a vector, or in EDN also a list) of
/// maps.
///
/// Operations are passed on one by one, so that the text is never in memory as a whole.
pub(super) fn read_maps(from: impl BufRead, grammar: Grammar, sink: &mut Sink<'_>) -> Result<(), HistoryError> {
    let mut reader = Reader::new(Scanner::new(from, Place { line: 1, column: 1 }), grammar);
    reader.scanner.begin();
    // The bracket that closes the list; `None` for a sequence of maps, which the end of the input ends.
    let list = match reader.start()? {
        Some(open @ (b'[' | b'(')) if open == b'[' || grammar == Grammar::Edn => {
            reader.scanner.next()?;
            Some(if open == b'[' { b']' } else { b')' })
        }
        _ => None,
    };
    let mut index = None;
    let mut is_first = true;
    loop {
        if list.is_some() && grammar == Grammar::Json && !is_first {
            reader.scanner.begin();
            // A comma, or the end of the list.
            if reader.start()? == Some(b',') {
                reader.scanner.next()?;
                if reader.start()? == Some(b']') {
                    return Err(reader
                        .scanner
                        .place()
                        .error("a value is missing", "leave out the comma before the end"));
                }
            } else if !matches!(reader.start()?, Some(b']') | None) {
                return Err(reader.scanner.place().error("`,` is missing", "write it here, as JSON has it"));
            }
        }
        is_first = false;
        match reader.next(list)? {
            Next::Value(place, value) => {
                if let Some(event) = event(place, &value, &mut index)? {
                    sink(event)?;
                }
            }
            Next::Closed => break,
            Next::End if list.is_some() => return Err(reader.cut()),
            Next::End => return Ok(()),
        }
    }
    match reader.next(None)? {
        Next::End | Next::Closed => Ok(()),
        Next::Value(place, _) => {
            Err(place.error("a value comes after the list", "a history is one list, or maps without one"))
        }
    }
}

/// Returns the event that a map describes; `None` if its process is not a client.
fn event(place: Place, value: &Value, index: &mut Option<i64>) -> Result<Option<Event>, HistoryError> {
    const FORM: &str = "an operation is a map as {:process 0, :type :invoke, :f :read, :value nil}";
    if !matches!(value, Value::Map { .. }) {
        return Err(place.error(format!("{} is no operation", value.shown()), FORM));
    }
    let must = |name: &str| {
        let missing = || place.error(format!("the operation has no :{name}"), FORM);
        value.field(name).ok_or_else(missing)
    };
    if let Some(given) = value.field("index") {
        let Some(number) = given.integer() else {
            return Err(place.error(format!(":index is {}", given.shown()), "give an integer, or leave it out"));
        };
        if let Some(before) = index.filter(|before| *before >= number) {
            return Err(place.error(
                format!(":index {number} comes after :index {before}"),
                "the order of a history is that of its operations: sort them by :index",
            ));
        }
        *index = Some(number);
    }
    let (process, kind) = (must("process")?, must("type")?);
    let Some(process) = client(place, process)? else { return Ok(None) };
    let kind = kind_of(place, kind, value.field("error"))?;
    let name = must("f")?;
    let Some(name) = name.name() else {
        return Err(place.error(format!(":f is {}", name.shown()), "give the name of the operation, as :read"));
    };
    let time = match value.field("time") {
        None | Some(Value::Nil) => None,
        Some(time) => match time.integer().map(u64::try_from) {
            Some(Ok(nanos)) => Some(Time::from_nanos(nanos)),
            _ => {
                let message = format!(":time is {}", time.shown());
                return Err(place.error(message, "give nanoseconds since the start of the test, or leave it out"));
            }
        },
    };
    Ok(Some(Event {
        place,
        process,
        kind,
        name: Some(Name::keyword(name)),
        key: value.field("key").cloned(),
        value: value.field("value").cloned(),
        time,
    }))
}

/// Returns the number of a client's process; `None` for the nemesis, whose operations are faults.
fn client(place: Place, process: &Value) -> Result<Option<u64>, HistoryError> {
    match process {
        Value::Integer(number) if *number >= 0 => Ok(Some(number.unsigned_abs())),
        nemesis if nemesis.name() == Some("nemesis") => Ok(None),
        other => {
            Err(place
                .error(format!("the process is {}", other.shown()), "a process is a number from 0 on, or :nemesis"))
        }
    }
}

fn kind_of(place: Place, kind: &Value, error: Option<&Value>) -> Result<EventKind, HistoryError> {
    match kind.name() {
        Some("invoke") => Ok(EventKind::Invoked),
        Some("ok") => Ok(EventKind::Done),
        Some("info") => Ok(EventKind::Unknown),
        Some("fail") if error.and_then(Value::name) == Some(DID_NOT_MATCH) => Ok(EventKind::Refused),
        Some("fail") => Ok(EventKind::DidNotHappen),
        _ => Err(place.error(format!("the type is {}", kind.shown()), "a type is :invoke, :ok, :fail or :info")),
    }
}

/// What a line of the log has before its operation.
pub(super) const LOG_PREFIX: &str = "jepsen.util - ";

/// What a line of the log is, for messages.
const LOG_FORM: &str = "a line is `INFO  jepsen.util - 0 :invoke :read nil`, or begins with the process";

/// The value, or the error, of a call that has no answer.
const TIMED_OUT: &str = "timed-out";

/// Reads a log: a line for each event, with the process, the type, the name, the value, and an error.
pub(super) fn read_log(from: impl BufRead, sink: &mut Sink<'_>) -> Result<(), HistoryError> {
    let mut lines = Lines::new(from);
    while let Some((line, text)) = lines.next()? {
        if text.trim_ascii().is_empty() {
            continue;
        }
        let prefix = LOG_PREFIX.as_bytes();
        let start = match text.windows(prefix.len()).position(|window| window == prefix) {
            Some(start) => start + prefix.len(),
            None if begins_with_process(text) => 0,
            None => return Err(Place { line, column: 1 }.error("the line is no operation", LOG_FORM)),
        };
        if let Some(event) = log_event(Place { line, column: start + 1 }, &text[start..])? {
            sink(event)?;
        }
    }
    Ok(())
}

/// Returns whether a line of a log begins with a process.
pub(super) fn begins_with_process(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    line.starts_with(b":nemesis") || (digits > 0 && line[digits..].trim_ascii_start().starts_with(b":"))
}

/// Returns the event of a line of a log; `None` if it is no client's.
fn log_event(place: Place, text: &[u8]) -> Result<Option<Event>, HistoryError> {
    let mut reader = Reader::new(Scanner::new(text, place), Grammar::Edn);
    let mut word = || match reader.next(None)? {
        Next::Value(at, value) => Ok((at, value)),
        Next::Closed | Next::End => Err(place.error("the line ends before the operation does", LOG_FORM)),
    };
    let (_, process) = word()?;
    // Whatever the nemesis says is no value.
    let Some(process) = client(place, &process)? else { return Ok(None) };
    let ((_, kind), (_, name)) = (word()?, word()?);
    let kind = kind_of(place, &kind, None)?;
    let name = match name.name() {
        Some(name) => Name::keyword(name),
        None => return Err(place.error(format!("the name is {}", name.shown()), LOG_FORM)),
    };
    let event = |kind, value| Some(Event { place, process, kind, name: Some(name), key: None, value, time: None });
    if matches!(kind, EventKind::Invoked | EventKind::Done) {
        let (_, value) = word()?;
        return match reader.next(None)? {
            Next::Value(at, _) => {
                let cure =
                    "the value is one word, list or map, and only what failed or is unknown has an error behind it";
                Err(at.error("the line goes on behind its value", cure))
            }
            Next::Closed | Next::End => Ok(event(kind, Some(value))),
        };
    }
    // What comes now is the value, and an error of any words; or, in older logs, the error in place of the value.
    let rest = reader.scanner.rest();
    let value = match reader.next(None) {
        Ok(Next::Value(_, value)) => Some(value),
        Ok(Next::Closed | Next::End) => return Err(place.error("the line ends before the operation does", LOG_FORM)),
        Err(_) => None,
    };
    let error = if value.is_some() { reader.scanner.rest() } else { rest };
    Ok(event(failure(kind, value.as_ref(), error.trim_ascii()), value))
}

/// Returns how a call of a log ended that has no answer.
fn failure(kind: EventKind, value: Option<&Value>, error: &[u8]) -> EventKind {
    let says = |word: &str| {
        value.and_then(Value::name) == Some(word) || error.strip_prefix(b":").unwrap_or(error) == word.as_bytes()
    };
    match kind {
        EventKind::DidNotHappen if says(DID_NOT_MATCH) => EventKind::Refused,
        // Who times out does not know, whatever the type says.
        EventKind::DidNotHappen if says(TIMED_OUT) => EventKind::Unknown,
        EventKind::DidNotHappen if error.is_empty() => EventKind::Failed,
        kind => kind,
    }
}
