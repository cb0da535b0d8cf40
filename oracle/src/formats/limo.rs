//! Histories of LiMo, the linearizability monitor of Abdulla et al. (PLDI 2025): `.hist`.
//!
//! `# @object atomic-stack`, and then a line for each event: `[1] call push 3`, `[1] return`. The value of what takes
//! or reads stands at its return, or already at its call. Other lines that begin with `#` are comments.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::Value;
use super::error::{HistoryError, Place};
use super::event::{Event, EventKind};
use super::jepsen::Sink;
use super::source::Lines;

/// What the line of the object begins with.
pub(super) const OBJECT: &str = "# @object";

const OBJECTS: [&str; 6] = ["stack", "atomic-stack", "queue", "atomic-queue", "register", "registers"];

/// The names of operations, and Jepsen's for them; the last two are those of Violin.
const NAMES: [(&str, &str); 8] = [
    ("push", "push"),
    ("pop", "pop"),
    ("enq", "enqueue"),
    ("deq", "dequeue"),
    ("write", "write"),
    ("read", "read"),
    ("add", "enqueue"),
    ("remove", "dequeue"),
];

const FORM: &str = "an event is `[1] call push 3` or `[1] return`";

pub(super) fn read(from: impl BufRead, sink: &mut Sink<'_>) -> Result<(), HistoryError> {
    let mut lines = Lines::new(from);
    let mut has_object = false;
    // The values of what takes or reads, where they stand at the call.
    let mut early: BTreeMap<u64, Value> = BTreeMap::new();
    while let Some((line, text)) = lines.next()? {
        let place = Place { line, column: 1 };
        let text = std::str::from_utf8(text).map_err(|_| place.error("the line is not UTF-8", FORM))?;
        let column = text.len() - text.trim_start().len() + 1;
        let (place, text) = (Place { line, column }, text.trim());
        if let Some(object) = text.strip_prefix(OBJECT) {
            let object = object.split_whitespace().next().unwrap_or_default();
            if has_object || !OBJECTS.contains(&object) {
                let message = if has_object { "a history has one object" } else { "the object is not known" };
                return Err(place.error(message, format!("one line names the object: {}", OBJECTS.join(", "))));
            }
            has_object = true;
        } else if text.is_empty() || text.starts_with('#') {
        } else if has_object {
            sink(event(place, text, &mut early)?)?;
        } else {
            return Err(place.error("no line says what the object is", format!("begin with `{OBJECT} atomic-queue`")));
        }
    }
    Ok(())
}

fn event(place: Place, text: &str, early: &mut BTreeMap<u64, Value>) -> Result<Event, HistoryError> {
    let form = |message: &str| place.error(message, FORM);
    let (thread, rest) = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .ok_or_else(|| form("the line does not begin with a thread in brackets"))?;
    let process = thread.parse().map_err(|_| form("the thread is not a number"))?;
    let rest = rest.trim_start();
    let event = |kind, name: Option<&str>, value| Event {
        place,
        process,
        kind,
        name: name.map(Into::into),
        key: None,
        value,
        time: None,
    };
    if let Some(given) = word_of(rest, "return") {
        let given = value(place, given)?;
        let value = match (early.remove(&process), given) {
            (Some(early), Value::Nil) => early,
            (Some(early), given) if early != given => {
                return Err(form(&format!("the call has the value {early}, and the return has {given}")));
            }
            (_, given) => given,
        };
        return Ok(event(EventKind::Done, None, value));
    }
    let call = word_of(rest, "call").ok_or_else(|| form("the event is neither a call nor a return"))?.trim_start();
    let (name, argument) = call.split_at(call.find(|end: char| !end.is_ascii_alphabetic()).unwrap_or(call.len()));
    let lower = name.to_ascii_lowercase();
    let Some((_, name)) = NAMES.iter().find(|(known, _)| *known == lower) else {
        let known: Vec<&str> = NAMES.iter().map(|(known, _)| *known).collect();
        return Err(place.error("the operation is not known", format!("operations are {}", known.join(", "))));
    };
    let argument = value(place, argument)?;
    if matches!(*name, "pop" | "dequeue" | "read") {
        if argument != Value::Nil {
            early.insert(process, argument);
        }
        return Ok(event(EventKind::Invoked, Some(name), Value::Nil));
    }
    Ok(event(EventKind::Invoked, Some(name), argument))
}

/// Returns what follows a word at the beginning of a text.
fn word_of<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.strip_prefix(word).filter(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
}

/// Returns the value of a word, which may be in parentheses; none, and `empty`, are no value.
fn value(place: Place, text: &str) -> Result<Value, HistoryError> {
    let text = text.trim();
    let word = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(text).trim();
    if !word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(place.error(format!("{} is no value", Value::text(word).shown()), "a value is a word or a number"));
    }
    Ok(match word {
        "" | "empty" | "Empty" => Value::Nil,
        word => word.parse().map_or_else(|_| Value::text(word), Value::Integer),
    })
}
