//! Histories of PolyLin, the monitor of Lee and Mathur (OOPSLA 2025).
//!
//! `# queue`, and then a line for each call: `enq 3 1 2` is the operation, its value, and the times at which it begins
//! and ends. What takes from an empty container has the value -1. Operations of sets have an answer, 0 or 1, behind
//! the value. Nobody says who made a call, so each is of a session of its own; calls that touch at one time are
//! concurrent.

use std::io::BufRead;

use super::error::{HistoryError, Place};
use super::event::{Name, Pairing};
use super::source::Lines;
use super::vocabulary::Vocabulary;
use super::{Value, containers};
use crate::Time;

/// The names of objects, what they are, and their operations, with the names that vocabularies have for them.
const OBJECTS: [Object; 4] = [
    ("queue", containers::QUEUE, &[("enq", "enqueue"), ("deq", "dequeue")]),
    ("stack", containers::STACK, &[("push", "push"), ("pop", "pop")]),
    ("pqueue", containers::PRIORITY_QUEUE, &[("insert", "insert"), ("poll", "poll")]),
    ("set", containers::SET, &[("insert", "add"), ("remove", "remove"), ("contains", "contains")]),
];

type Object = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Returns whether a line is that of an object.
pub(super) fn is_object(line: &str) -> bool {
    object(line).is_some()
}

fn object(line: &str) -> Option<&'static Object> {
    let name = line.trim().strip_prefix('#')?.trim();
    OBJECTS.iter().find(|(known, ..)| *known == name)
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
                let names = OBJECTS.map(|(name, ..)| format!("`# {name}`")).join(", ");
                let missing = || place.error("the first line names no object", format!("it is one of {names}"));
                let object = object(text).ok_or_else(missing)?;
                containers::check::<S>(place, object.1, object.2.iter().map(|(_, known)| *known))?;
                known = Some(object);
            }
            Some(_) if text.trim().is_empty() || text.trim_start().starts_with('#') => {}
            Some(object) => call(place, text, object, pairing)?,
        }
    }
    Ok(())
}

fn call<S: Vocabulary>(
    place: Place,
    text: &str,
    &(object, container, names): &Object,
    pairing: &mut Pairing<S>,
) -> Result<(), HistoryError> {
    let is_set = container == containers::SET;
    let form = if is_set {
        "a call is `insert 3 1 10 20`: operation, value, answer, and the times of its begin and its end"
    } else {
        "a call is `enq 3 10 20`: operation, value, and the times of its begin and its end"
    };
    let words: Vec<&str> = text.split_ascii_whitespace().take(6).collect();
    let (word, value, answer, times) = match words[..] {
        [name, value, begin, end] if !is_set => (name, value, None, [begin, end]),
        [name, value, answer, begin, end] if is_set => (name, value, Some(answer), [begin, end]),
        _ => return Err(place.error("the line is no call", form)),
    };
    let Some(&(_, known)) = names.iter().find(|(known, _)| *known == word) else {
        let known: Vec<&str> = names.iter().map(|(known, _)| *known).collect();
        let message = format!("a {object} has no operation {}", Value::text(word).shown());
        return Err(place.error(message, format!("operations are {}", known.join(", "))));
    };
    let [Ok(begin), Ok(end)] = times.map(str::parse::<u64>) else {
        return Err(place.error("a time is not a number from 0 on", form));
    };
    let value: i64 = value.parse().map_err(|_| place.error("the value is not an integer", form))?;
    let takes = matches!(known, "dequeue" | "pop" | "poll");
    let both = match (takes, answer) {
        (true, _) if value == -1 => [Value::Nil, Value::Nil],
        (true, _) => [Value::Nil, Value::Integer(value)],
        (false, None) => [Value::Integer(value), Value::Nil],
        (false, Some("0")) => [Value::Integer(value), Value::Boolean(false)],
        (false, Some("1")) => [Value::Integer(value), Value::Boolean(true)],
        (false, Some(_)) => return Err(place.error("the answer is neither 0 nor 1", form)),
    };
    let name = Name { known: known.into(), shown: format!("`{word}`").into() };
    pairing.whole(place, &name, both, [begin, end].map(Time::from_nanos))
}
