//! Histories of PolyLin, the monitor of Lee and Mathur (OOPSLA 2025).
//!
//! `# queue`, and then a line for each call: `enq 3 1 2` is the operation, its value, and the times at which it begins
//! and ends. What takes from an empty container has the value -1. Operations of sets have an answer, 0 or 1, behind
//! the value. Nobody says who made a call, so each is of a session of its own; calls that touch at one time are
//! concurrent.

use std::io::BufRead;

use super::Value;
use super::error::{HistoryError, Place};
use super::event::Pairing;
use super::source::Lines;
use super::vocabulary::{Said, Vocabulary};
use crate::Time;

/// The names of objects, each with those of its operations, and Jepsen's for them.
const OBJECTS: [(&str, &[(&str, &str)]); 4] = [
    ("queue", &[("enq", "enqueue"), ("deq", "dequeue")]),
    ("stack", &[("push", "push"), ("pop", "pop")]),
    ("pqueue", &[("insert", "insert"), ("poll", "poll")]),
    ("set", &[("insert", "add"), ("remove", "remove"), ("contains", "contains")]),
];

/// Returns whether a line is that of an object.
pub(super) fn is_object(line: &str) -> bool {
    object(line).is_some()
}

fn object(line: &str) -> Option<&'static (&'static str, &'static [(&'static str, &'static str)])> {
    let name = line.trim().strip_prefix('#')?.trim();
    OBJECTS.iter().find(|(known, _)| *known == name)
}

pub(super) fn read<S: Vocabulary>(from: impl BufRead, pairing: &mut Pairing<S>) -> Result<(), HistoryError> {
    let mut lines = Lines::new(from);
    let mut known = None;
    while let Some((line, text)) = lines.next()? {
        let place = Place { line, column: 1 };
        let text = std::str::from_utf8(text);
        let text = text.map_err(|_| place.error("the line is not UTF-8", "write the file anew in UTF-8"))?;
        match known {
            None => {
                let names = OBJECTS.map(|(name, _)| format!("`# {name}`")).join(", ");
                let missing = || place.error("the first line names no object", format!("it is one of {names}"));
                known = Some(*object(text).ok_or_else(missing)?);
            }
            Some(_) if text.trim().is_empty() || text.trim_start().starts_with('#') => {}
            Some((object, names)) => call(place, text, object, names, pairing)?,
        }
    }
    Ok(())
}

fn call<S: Vocabulary>(
    place: Place,
    text: &str,
    object: &str,
    names: &[(&str, &'static str)],
    pairing: &mut Pairing<S>,
) -> Result<(), HistoryError> {
    let is_set = object == "set";
    let form = if is_set {
        "a call is `insert 3 1 10 20`: operation, value, answer, and the times of its begin and its end"
    } else {
        "a call is `enq 3 10 20`: operation, value, and the times of its begin and its end"
    };
    let words: Vec<&str> = text.split_ascii_whitespace().take(6).collect();
    let (name, value, answer, times) = match words[..] {
        [name, value, begin, end] if !is_set => (name, value, None, [begin, end]),
        [name, value, answer, begin, end] if is_set => (name, value, Some(answer), [begin, end]),
        _ => return Err(place.error("the line is no call", form)),
    };
    let Some((_, name)) = names.iter().find(|(known, _)| *known == name) else {
        let known: Vec<&str> = names.iter().map(|(known, _)| *known).collect();
        let message = format!("a {object} has no operation {}", Value::text(name).shown());
        return Err(place.error(message, format!("operations are {}", known.join(", "))));
    };
    let [Ok(begin), Ok(end)] = times.map(str::parse::<u64>) else {
        return Err(place.error("a time is not a number from 0 on", form));
    };
    let value: i64 = value.parse().map_err(|_| place.error("the value is not an integer", form))?;
    let takes = matches!(*name, "dequeue" | "pop" | "poll");
    let (asked, answer) = match (takes, answer) {
        (true, _) if value == -1 => (Value::Nil, Value::Nil),
        (true, _) => (Value::Nil, Value::Integer(value)),
        (false, None) => (Value::Integer(value), Value::Nil),
        (false, Some("0")) => (Value::Integer(value), Value::Boolean(false)),
        (false, Some("1")) => (Value::Integer(value), Value::Boolean(true)),
        (false, Some(_)) => return Err(place.error("the answer is neither 0 nor 1", form)),
    };
    let said = Said { name, key: None, value: &asked };
    pairing.whole(place, &said, &answer, [begin, end].map(Time::from_nanos))
}
