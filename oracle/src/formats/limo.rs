//! Histories of LiMo, the linearizability monitor of Abdulla et al. (PLDI 2025), and of Violin (Emmi, Enea and Hamza,
//! PLDI 2015), which has the same form: `.hist`.
//!
//! `# @object atomic-stack`, and then a line for each event: `[1] call push 3`, `[1] return`. The value of what takes
//! or reads stands at its return, or already at its call. Other lines that begin with `#` are comments.

use std::io::BufRead;

use super::error::{HistoryError, Place};
use super::event::{Event, EventKind, Name};
use super::jepsen::Sink;
use super::source::Lines;
use super::vocabulary::Vocabulary;
use super::{Value, containers};

/// What the line of the object begins with.
pub(super) const OBJECT: &str = "# @object";

/// An object, and what its operations are called.
struct Object {
    /// What LiMo and Violin call it.
    names: &'static [&'static str],
    container: &'static str,
    /// The words of files, and the name that vocabularies have for them.
    operations: &'static [(&'static [&'static str], &'static str)],
}

/// The object decides what a word means: `remove` takes from a stack what was put last, and from a queue what was put
/// first.
const OBJECTS: [Object; 4] = [
    Object {
        names: &["atomic-stack", "stack"],
        container: containers::STACK,
        operations: &[(PUTS, "push"), (TAKES, "pop")],
    },
    Object {
        names: &["atomic-queue", "queue"],
        container: containers::QUEUE,
        operations: &[(PUTS, "enqueue"), (TAKES, "dequeue")],
    },
    Object {
        names: &["atomic-register", "register", "registers"],
        container: containers::REGISTER,
        operations: &[(&["write"], "write"), (&["read"], "read")],
    },
    Object {
        names: &["atomic-set", "set"],
        container: containers::SET,
        operations: &[
            (&["add", "insert"], "add"),
            (&["remove", "rem", "rmv"], "remove"),
            (&["contains", "ctn"], "contains"),
        ],
    },
];

const PUTS: &[&str] = &["push", "enq", "enqueue", "add", "put"];
const TAKES: &[&str] = &["pop", "deq", "dequeue", "remove", "rem", "rmv", "get"];

const FORM: &str = "an event is `[1] call push 3` or `[1] return`";

pub(super) fn read<S: Vocabulary>(from: impl BufRead, sink: &mut Sink<'_>) -> Result<(), HistoryError> {
    let mut lines = Lines::new(from);
    let mut known = None;
    while let Some((line, text)) = lines.next()? {
        let place = Place { line, column: 1 };
        let text = std::str::from_utf8(text).map_err(|_| place.error("the line is not UTF-8", FORM))?;
        let column = text.len() - text.trim_start().len() + 1;
        let (place, text) = (Place { line, column }, text.trim());
        if let Some(name) = text.strip_prefix(OBJECT) {
            if known.is_some() {
                return Err(place.error("a history has one object", "check the histories of two objects apart"));
            }
            known = Some(object::<S>(place, name)?);
        } else if text.is_empty() || text.starts_with('#') {
        } else if let Some(object) = known {
            sink(object.event(place, text)?)?;
        } else {
            return Err(place.error("no line says what the object is", format!("begin with `{OBJECT} atomic-queue`")));
        }
    }
    Ok(())
}

/// Returns the object that a line names, whose operations the specification has.
fn object<S: Vocabulary>(place: Place, text: &str) -> Result<&'static Object, HistoryError> {
    let name = text.split_whitespace().next().unwrap_or_default();
    let Some(object) = OBJECTS.iter().find(|object| object.names.contains(&name)) else {
        let known: Vec<&str> = OBJECTS.iter().flat_map(|object| object.names).copied().collect();
        return Err(place.error("the object is not known", format!("one line names the object: {}", known.join(", "))));
    };
    containers::check::<S>(place, object.container, object.operations.iter().map(|(_, known)| *known))?;
    Ok(object)
}

impl Object {
    fn event(&self, place: Place, text: &str) -> Result<Event, HistoryError> {
        let form = |message: &str| place.error(message, FORM);
        let (thread, rest) = text
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .ok_or_else(|| form("the line does not begin with a thread in brackets"))?;
        let process = thread.parse().map_err(|_| form("the thread is not a number"))?;
        let rest = rest.trim_start();
        let event = |kind, name, value| Event { place, process, kind, name, key: None, value, time: None };
        if let Some(given) = word_of(rest, "return") {
            return Ok(event(EventKind::Done, None, self.value(place, given)?));
        }
        let call = word_of(rest, "call").ok_or_else(|| form("the event is neither a call nor a return"))?.trim_start();
        let end = call.find(|end: char| !end.is_ascii_alphanumeric() && end != '_').unwrap_or(call.len());
        let (word, argument) = call.split_at(end);
        let lower = word.to_ascii_lowercase();
        let Some((_, known)) = self.operations.iter().find(|(words, _)| words.contains(&&*lower)) else {
            let known: Vec<&str> = self.operations.iter().flat_map(|(words, _)| *words).copied().collect();
            let message = format!("a {} has no operation {}", self.container, Value::text(word).shown());
            return Err(place.error(message, format!("operations are {}", known.join(", "))));
        };
        let name = Name { known: (*known).into(), shown: format!("`{word}`").into() };
        Ok(event(EventKind::Invoked, Some(name), self.value(place, argument)?))
    }

    /// Returns the value of a word, which may be in parentheses: any word, as LiMo writes `?<0,1>` for the value that
    /// thread 0 made second. No word is none, and `empty` is no value.
    fn value(&self, place: Place, text: &str) -> Result<Option<Value>, HistoryError> {
        let text = text.trim();
        let word = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(text).trim();
        if word.contains(|character: char| character.is_whitespace() || matches!(character, '(' | ')')) {
            return Err(place.error(format!("{} is no value", Value::text(word).shown()), "a value is one word"));
        }
        Ok(match word {
            "" => None,
            "empty" | "Empty" => Some(Value::Nil),
            // What a set answers.
            "true" | "false" if self.container == containers::SET => Some(Value::Boolean(word == "true")),
            word => Some(word.parse().map_or_else(|_| Value::text(word), Value::Integer)),
        })
    }
}

/// Returns what follows a word at the beginning of a text.
fn word_of<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.strip_prefix(word).filter(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
}
