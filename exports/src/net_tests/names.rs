//! The user's names of events, and where the adapter is.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use simutant_nets::Paths;
use simutant_nets::exploring::{NamedCase, NamedTests};

use super::events::Event;

/// The name of an event that has none: a number, or a list.
pub(super) const NAMELESS: &str = "event";

/// A table of names and settings, as a file in TOML has it. All may be left out.
///
/// ```
/// use simutant_exports::net_tests::Names;
///
/// let names: Names = toml::from_str(
///     r#"
///     order = "round"             # calls with the same round are concurrent, and the rounds come one after the other
///     timeout = 2                 # in seconds
///
///     [events]
///     vote = "deliver_vote"
///
///     [fields]
///     worker = "worker_id"
///
///     [values]
///     yes = 0
///     abort = "ABORT"
///     "#,
/// )?;
/// assert_eq!(names.events["vote"], "deliver_vote");
/// assert!(toml::from_str::<Names>("time_out = 2").is_err());
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Names {
    /// New names of events. An event without a name, such as a number, gets one as `event`.
    pub events: BTreeMap<String, String>,
    /// New names of fields, on every level of an event.
    pub fields: BTreeMap<String, String>,
    /// What stands for a text in a field.
    pub values: BTreeMap<String, Value>,
    /// Where the adapter is, if it is not in the file that a template is written for: `module.Class` in Python, the
    /// path of a file with a struct `Adapter` in Rust, a type of the package in Go. There is no template then.
    pub adapter: Option<String>,
    /// The package of the tests in Go.
    pub package: Option<String>,
    /// The field of the inputs, in the words of the net, whose whole number says when a call is made: calls with the
    /// same number are concurrent, and come after those with smaller ones.
    pub order: Option<String>,
    /// Whether calls are concurrent where `order` says nothing else. Otherwise they are made one after the other, in
    /// the order of the file.
    pub concurrent: bool,
    /// How long calls may take, and how long observations may be missing after them, in seconds.
    pub timeout: f64,
    /// How long observations must stay the same, in seconds, where they are an allowed outcome and may become another.
    pub settle: f64,
    /// The number of failed cases after which no more are run.
    pub failures_max: u32,
    /// Of which runs the outcomes are, where the user knows better: with `all`, what no simulated run shows is wrong.
    pub paths: Option<Paths>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            events: BTreeMap::new(),
            fields: BTreeMap::new(),
            values: BTreeMap::new(),
            adapter: None,
            package: None,
            order: None,
            concurrent: true,
            timeout: 5.0,
            settle: 0.1,
            failures_max: 10,
            paths: None,
        }
    }
}

/// A mistake in a table of names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamesError {
    /// The tests have no such events, fields or values: correct the table.
    #[error("the tests have none of what the table names, so correct the table: {}", .0.join(", "))]
    Unused(Vec<String>),
    /// Events that differ would be the same: give them different names.
    #[error("{one} and {other} would both be {name}: give them different names")]
    Same {
        /// An event, or a field, in the words of the net.
        one: String,
        /// Another one.
        other: String,
        /// What both would be.
        name: String,
    },
    /// An input has no whole number in the field that orders the calls: name another field in `order`, or give it one.
    #[error(
        "`order` is `{field}`, and {event} has no whole number there: name another field, or give it one in the net"
    )]
    Unordered {
        /// The field, in the words of the net.
        field: String,
        /// The input, in the user's words.
        event: String,
    },
    /// A setting has a value that it cannot have.
    #[error("`{setting}` is {value}, and must be {reason}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// What it can be.
        reason: &'static str,
    },
}

impl NamesError {
    pub(super) fn setting(setting: &'static str, value: &str, reason: &'static str) -> Self {
        Self::Setting { setting, value: value.to_owned(), reason }
    }
}

impl Names {
    /// Returns the names in the table that occur nowhere in the tests, each with the part of the table that it is in.
    ///
    /// For tests of all paths that is a mistake. A simulation may have missed what a name is for.
    pub fn unused(&self, tests: &NamedTests) -> Vec<String> {
        let mut used = Used::default();
        for case in &tests.cases {
            for event in case.inputs.iter().chain(case.outcomes.iter().flatten()) {
                used.add_event(event);
            }
        }
        let mut unused = Vec::new();
        let mut add = |part: &str, names: Vec<&String>, used: &BTreeSet<&str>| {
            let names = names.into_iter().filter(|name| !used.contains(name.as_str()));
            unused.extend(names.map(|name| format!("{part}.{name}")));
        };
        add("events", self.events.keys().collect(), &used.events);
        add("fields", self.fields.keys().collect(), &used.fields);
        add("values", self.values.keys().collect(), &used.values);
        add("order", self.order.iter().collect(), &used.fields);
        unused
    }

    /// Returns the tests in the user's words.
    pub(super) fn apply(&self, tests: &NamedTests) -> Result<NamedTests, NamesError> {
        self.check()?;
        let unused = self.unused(tests);
        if tests.paths == Paths::All && !unused.is_empty() {
            return Err(NamesError::Unused(unused));
        }
        let mut renamed = [Renamed::default(), Renamed::default()];
        let mut cases = Vec::with_capacity(tests.cases.len());
        for NamedCase { inputs, outcomes } in &tests.cases {
            let inputs = self.events(inputs, &mut renamed[0])?;
            let outcomes = outcomes.iter().map(|outcome| self.events(outcome, &mut renamed[1]));
            cases.push(NamedCase { inputs, outcomes: outcomes.collect::<Result<_, _>>()? });
        }
        let (net, arguments) = (tests.net.clone(), tests.arguments.clone());
        Ok(NamedTests {
            net,
            arguments,
            paths: self.paths.unwrap_or(tests.paths),
            endless: tests.endless,
            repeated: Vec::new(),
            cases,
        })
    }

    /// Returns what stands in the templates of all languages for the settings; a language has two words for truth.
    pub(super) fn settings(&self, tests: &NamedTests, [no, yes]: [&str; 2]) -> [(&'static str, String); 4] {
        let milliseconds = |seconds: f64| ((seconds * 1_000.0).round() as u64).to_string();
        let has_all = if tests.paths == Paths::All { yes } else { no };
        [
            ("timeout_ms", milliseconds(self.timeout)),
            ("settle_ms", milliseconds(self.settle)),
            ("failures_max", self.failures_max.to_string()),
            ("has_all", has_all.to_owned()),
        ]
    }

    fn check(&self) -> Result<(), NamesError> {
        for (setting, seconds) in [("timeout", self.timeout), ("settle", self.settle)] {
            if !(0.0..=86_400.0).contains(&seconds) {
                return Err(NamesError::setting(
                    setting,
                    &seconds.to_string(),
                    "a number of seconds of one day at most",
                ));
            }
        }
        if self.failures_max == 0 {
            return Err(NamesError::setting("failures_max", "0", "one at least: no case would be run"));
        }
        Ok(())
    }

    fn events(&self, events: &[Value], renamed: &mut Renamed) -> Result<Vec<Value>, NamesError> {
        let event = |event| {
            let text = Value::to_string(event);
            if let Some(known) = renamed.known.get(&text) {
                return Ok(known.clone());
            }
            let new = self.event(event)?;
            if let Some(other) = renamed.origins.insert(new.to_string(), text.clone()) {
                return Err(NamesError::Same { one: other, other: text, name: new.to_string() });
            }
            renamed.known.insert(text, new.clone());
            Ok(new)
        };
        events.iter().map(event).collect()
    }

    fn event(&self, event: &Value) -> Result<Value, NamesError> {
        let name = |name: &str| self.events.get(name).map_or_else(|| name.to_owned(), Clone::clone);
        Ok(match (event, Event::variant(event)) {
            (Value::String(unit), _) => Value::String(name(unit)),
            (_, Some((variant, payload))) => object(name(variant), self.value(payload)?),
            (_, None) if self.events.contains_key(NAMELESS) => object(name(NAMELESS), self.value(event)?),
            (_, None) => self.value(event)?,
        })
    }

    fn value(&self, value: &Value) -> Result<Value, NamesError> {
        Ok(match value {
            Value::String(text) => self.values.get(text).unwrap_or(value).clone(),
            Value::Array(values) => values.iter().map(|value| self.value(value)).collect::<Result<_, _>>()?,
            Value::Object(fields) => {
                let mut renamed = Map::new();
                for (field, value) in fields {
                    let name = self.field(field);
                    if renamed.insert(name.to_owned(), self.value(value)?).is_some() {
                        let same = |other: &&String| self.field(other) == name;
                        let one = fields.keys().find(same).unwrap_or(field).clone();
                        return Err(NamesError::Same { one, other: field.clone(), name: name.to_owned() });
                    }
                }
                Value::Object(renamed)
            }
            _ => value.clone(),
        })
    }

    /// Returns a field in the user's words.
    pub(super) fn field<'a>(&'a self, field: &'a str) -> &'a str {
        self.fields.get(field).map_or(field, String::as_str)
    }
}

fn object(name: String, value: Value) -> Value {
    Value::Object(Map::from_iter([(name, value)]))
}

/// Events of one side, by how they are written.
#[derive(Default)]
struct Renamed {
    /// In the words of the user, by those of the net.
    known: BTreeMap<String, Value>,
    /// In the words of the net, by those of the user.
    origins: BTreeMap<String, String>,
}

/// Names that occur in tests.
#[derive(Default)]
struct Used<'a> {
    events: BTreeSet<&'a str>,
    fields: BTreeSet<&'a str>,
    values: BTreeSet<&'a str>,
}

impl<'a> Used<'a> {
    fn add_event(&mut self, event: &'a Value) {
        match (event, Event::variant(event)) {
            (Value::String(unit), _) => drop(self.events.insert(unit)),
            (_, Some((variant, payload))) => {
                self.events.insert(variant);
                self.add_value(payload);
            }
            (_, None) => {
                self.events.insert(NAMELESS);
                self.add_value(event);
            }
        }
    }

    fn add_value(&mut self, value: &'a Value) {
        match value {
            Value::String(text) => drop(self.values.insert(text)),
            Value::Array(values) => values.iter().for_each(|value| self.add_value(value)),
            Value::Object(fields) => fields.iter().for_each(|(field, value)| {
                self.fields.insert(field);
                self.add_value(value);
            }),
            _ => {}
        }
    }
}
