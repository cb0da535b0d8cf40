//! Events as calls with arguments, whose types are those that occur.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;
use simutant_nets::exploring::NamedTests;

use super::names::{NAMELESS, Names, NamesError};

/// An event that is taken apart.
#[derive(Debug)]
pub(super) struct Event<'a> {
    /// Its name.
    pub(super) name: &'a str,
    /// What it has beside the name, `null` if that is nothing.
    pub(super) payload: &'a Value,
}

impl<'a> Event<'a> {
    /// Takes an event apart, which serde may have written of any type.
    pub(super) fn new(event: &'a Value) -> Self {
        match (event, Self::variant(event)) {
            (Value::String(name), _) => Self { name, payload: &Value::Null },
            (_, Some((name, payload))) => Self { name, payload },
            (_, None) => Self { name: NAMELESS, payload: event },
        }
    }

    /// Returns the name and the payload of an enum's variant. A struct with one field is written alike.
    pub(super) fn variant(event: &Value) -> Option<(&str, &Value)> {
        let fields = event.as_object().filter(|fields| fields.len() == 1)?;
        fields.iter().next().map(|(name, payload)| (name.as_str(), payload))
    }
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    Integer,
    Float,
    Text,
    Optional(Box<Type>),
    List(Box<Type>),
    /// No value occurs.
    Unknown,
    /// Values of different types, or with a structure: their JSON is given as text.
    Json,
}

impl Type {
    /// Returns the type of one value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Optional(Box::new(Self::Unknown)),
            Value::Bool(_) => Self::Bool,
            Value::Number(number) if number.is_i64() => Self::Integer,
            Value::Number(number) if number.is_f64() => Self::Float,
            // One that is too large for most languages.
            Value::Number(_) => Self::Json,
            Value::String(_) => Self::Text,
            Value::Array(values) => Self::List(Box::new(values.iter().map(Self::of).fold(Self::Unknown, Self::with))),
            Value::Object(_) => Self::Json,
        }
    }

    /// Returns the type that has the values of both.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Unknown, it) | (it, Self::Unknown) => it,
            (Self::Integer, Self::Float) | (Self::Float, Self::Integer) => Self::Float,
            (Self::Optional(one), Self::Optional(other)) => Self::Optional(Box::new(one.with(*other))),
            (Self::Optional(one), other) | (other, Self::Optional(one)) => Self::Optional(Box::new(one.with(other))),
            (Self::List(one), Self::List(other)) => Self::List(Box::new(one.with(*other))),
            _ => Self::Json,
        }
    }

    /// Returns the type as the languages have it: a value whose parts are of no type is JSON as a whole.
    pub(super) fn resolved(self) -> Self {
        let (wrap, part): (fn(Box<Self>) -> Self, _) = match self {
            Self::Optional(part) => (Self::Optional, part),
            Self::List(part) => (Self::List, part),
            Self::Unknown => return Self::Json,
            other => return other,
        };
        match part.resolved() {
            Self::Json => Self::Json,
            part => wrap(Box::new(part)),
        }
    }
}

/// What the events of a name have beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Nothing,
    /// Fields with names.
    Struct,
    /// The same number of values in all of them.
    Tuple,
    /// One value, of whatever type.
    Single,
}

/// What the events of a name have in common.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) form: Form,
    /// Names and types. Where a form has no names, they are made.
    pub(super) fields: Vec<(String, Type)>,
}

impl Shape {
    fn new(name: &str, payloads: &[&Value]) -> Self {
        let join =
            |values: &mut dyn Iterator<Item = &Value>| values.map(Type::of).fold(Type::Unknown, Type::with).resolved();
        let structs: Option<Vec<_>> = payloads.iter().map(|it| it.as_object()).collect();
        let tuples: Option<Vec<_>> = payloads.iter().map(|it| it.as_array()).collect();
        let (form, fields) = if let Some(structs) = structs {
            let mut fields: Vec<(String, Type)> = Vec::new();
            for name in structs.iter().flat_map(|fields| fields.keys()) {
                if fields.iter().all(|(known, _)| known != name) {
                    let mut values = structs.iter().map(|fields| fields.get(name).unwrap_or(&Value::Null));
                    fields.push((name.clone(), join(&mut values)));
                }
            }
            (Form::Struct, fields)
        } else if let Some(tuples) = tuples.filter(|all| all.iter().all(|tuple| tuple.len() == all[0].len())) {
            let field = |number: usize| join(&mut tuples.iter().map(|tuple| &tuple[number]));
            let fields = (0..tuples[0].len()).map(|number| (format!("value_{}", number + 1), field(number)));
            (Form::Tuple, fields.collect())
        } else if payloads.iter().all(|payload| payload.is_null()) {
            (Form::Nothing, Vec::new())
        } else {
            (Form::Single, vec![("value".to_owned(), join(&mut payloads.iter().copied()))])
        };
        Self { name: name.to_owned(), form, fields }
    }

    /// Returns the values of an event's fields; one that is missing is `null`.
    fn values(&self, payload: &Value) -> Vec<Value> {
        match (self.form, payload) {
            (Form::Nothing, _) => Vec::new(),
            (Form::Struct, _) => self.fields.iter().map(|(field, _)| payload[field.as_str()].clone()).collect(),
            (Form::Tuple, Value::Array(values)) => values.clone(),
            _ => vec![payload.clone()],
        }
    }
}

/// The different events of one side.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) shapes: Vec<Shape>,
    /// Each with its shape, and with the values of its fields.
    pub(super) events: Vec<(usize, Value, Vec<Value>)>,
    numbers: BTreeMap<String, usize>,
}

impl Table {
    fn new<'a>(events: impl Iterator<Item = &'a Value>) -> Self {
        let mut different: Vec<&Value> = Vec::new();
        let mut numbers = BTreeMap::new();
        for event in events {
            if let Entry::Vacant(new) = numbers.entry(event.to_string()) {
                new.insert(different.len());
                different.push(event);
            }
        }
        let mut payloads: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
        for event in different.iter().map(|event| Event::new(event)) {
            payloads.entry(event.name).or_default().push(event.payload);
        }
        let shapes: Vec<Shape> = payloads.iter().map(|(name, payloads)| Shape::new(name, payloads)).collect();
        let events = different.into_iter().map(|event| {
            let Event { name, payload } = Event::new(event);
            let shape = shapes.iter().position(|shape| shape.name == name).expect("all names have one");
            (shape, event.clone(), shapes[shape].values(payload))
        });
        Self { events: events.collect(), shapes, numbers }
    }

    /// Returns an event of each shape.
    pub(super) fn examples(&self) -> impl Iterator<Item = &(usize, Value, Vec<Value>)> {
        let of_shape = |shape| self.events.iter().find(move |event| event.0 == shape);
        (0..self.shapes.len()).filter_map(of_shape)
    }

    fn number(&self, event: &Value) -> usize {
        self.numbers[&event.to_string()]
    }
}

/// Tests in a form that programs read fast: tables of different events, and cases as their numbers.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) calls: Table,
    pub(super) observations: Table,
    /// A line for each case: the calls, with `|` between those that are not concurrent, and after each `>` an outcome.
    pub(super) cases: String,
}

impl Program {
    /// Returns the program of tests that are in the user's words.
    pub(super) fn new(tests: &NamedTests, names: &Names) -> Result<Self, NamesError> {
        let calls = Table::new(tests.cases.iter().flat_map(|case| &case.inputs));
        let observations = Table::new(tests.cases.iter().flat_map(|case| case.outcomes.iter().flatten()));
        let mut cases = String::new();
        for case in &tests.cases {
            let mut rounds: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
            for (place, input) in case.inputs.iter().enumerate() {
                rounds.entry(round(input, place, names)?).or_default().push(calls.number(input));
            }
            let rounds: Vec<String> = rounds.values().map(numbers).collect();
            cases.push_str(&rounds.join(" | "));
            for outcome in &case.outcomes {
                let outcome: BTreeSet<usize> = outcome.iter().map(|event| observations.number(event)).collect();
                write!(cases, " > {}", numbers(&outcome)).expect("text takes all");
            }
            cases.truncate(cases.trim_end_matches(' ').len());
            cases.push('\n');
        }
        Ok(Self { calls, observations, cases })
    }
}

/// Returns when a call is made.
fn round(input: &Value, place: usize, names: &Names) -> Result<i64, NamesError> {
    let Some(order) = &names.order else { return Ok(if names.concurrent { 0 } else { place as i64 }) };
    let round = Event::new(input).payload.get(names.field(order)).and_then(Value::as_i64);
    round.ok_or_else(|| NamesError::Unordered { field: order.clone(), event: input.to_string() })
}

fn numbers<'a>(numbers: impl IntoIterator<Item = &'a usize>) -> String {
    numbers.into_iter().map(usize::to_string).collect::<Vec<_>>().join(" ")
}
