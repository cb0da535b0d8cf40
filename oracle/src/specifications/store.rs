//! A store of values by key.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Text;
use crate::contradictions::Texts;
use crate::contradictions::cells::Cells;
use crate::distinct::Timeline;
use crate::formats::{Answered, Misfit, Said, Value, Vocabulary};
use crate::{Call, End, Footprint, Open, Region, Session, Specification};

/// A store of texts by key, empty at first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "InitialStore")]
pub struct KeyValueStore {
    /// In the order of the keys.
    entries: Vec<(Text, Text)>,
    absent: Absent,
}

/// A store as a file gives it.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct InitialStore {
    entries: BTreeMap<Text, Text>,
    absent: Absent,
}

impl From<InitialStore> for KeyValueStore {
    fn from(InitialStore { entries, absent }: InitialStore) -> Self {
        Self { entries: entries.into_iter().collect(), absent }
    }
}

/// The answer for a key that has no value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absent {
    /// That it has none.
    #[default]
    Nothing,
    /// An empty text, as if that were its value.
    Empty,
}

/// An operation on a store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Returns the value of a key.
    Get {
        /// The key.
        key: Text,
    },
    /// Gives a key a value.
    Put {
        /// The key.
        key: Text,
        /// Its value from then on.
        value: Text,
    },
    /// Appends to the value of a key. One without a value has this one from then on.
    Append {
        /// The key.
        key: Text,
        /// What is appended.
        value: Text,
    },
    /// Gives a key a value if it has another one.
    CompareAndSet {
        /// The key.
        key: Text,
        /// The value that it must have; `None` if it must have none.
        from: Option<Text>,
        /// The value that it then has.
        to: Text,
    },
    /// Takes a key's value away.
    Delete {
        /// The key.
        key: Text,
    },
}

/// An answer of a store.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// The value of the key; `None` if it has none.
    Value(Option<Text>),
    /// It was done.
    Done,
    /// Whether the value was the one that it must have.
    Compared(bool),
}

impl Operation {
    const fn key(&self) -> &Text {
        match self {
            Self::Get { key }
            | Self::Put { key, .. }
            | Self::Append { key, .. }
            | Self::CompareAndSet { key, .. }
            | Self::Delete { key } => key,
        }
    }
}

impl KeyValueStore {
    /// Returns an empty store, where a key that has no value is answered as given.
    ///
    /// ```
    /// use simutant_oracle::specifications::{KeyValueStore, store::{Absent, Operation, Response}};
    /// use simutant_oracle::{Open, Session, Specification};
    ///
    /// let get = |mut store: KeyValueStore| {
    ///     store.step(Session(1), &Operation::Get { key: "x".into() }, &mut Open::first())
    /// };
    /// assert_eq!(get(KeyValueStore::new(Absent::Nothing)), Response::Value(None));
    /// assert_eq!(get(KeyValueStore::new(Absent::Empty)), Response::Value(Some("".into())));
    /// ```
    pub const fn new(absent: Absent) -> Self {
        Self { entries: Vec::new(), absent }
    }

    fn find(&self, key: &Text) -> Result<usize, usize> {
        self.entries.binary_search_by(|(other, _)| other.cmp(key))
    }

    fn value(&self, key: &Text) -> Option<&Text> {
        self.find(key).ok().map(|place| &self.entries[place].1)
    }

    fn put(&mut self, key: &Text, value: Text) {
        match self.find(key) {
            Ok(place) => self.entries[place].1 = value,
            Err(place) => self.entries.insert(place, (key.clone(), value)),
        }
    }
}

impl Specification for KeyValueStore {
    type Operation = Operation;
    type Response = Response;

    fn step(&mut self, _: Session, operation: &Operation, _: &mut Open<'_>) -> Response {
        match operation {
            Operation::Get { key } => Response::Value(match (self.value(key), self.absent) {
                (None, Absent::Empty) => Some("".into()),
                (value, _) => value.cloned(),
            }),
            Operation::Put { key, value } => {
                self.put(key, value.clone());
                Response::Done
            }
            Operation::Append { key, value } => {
                let value = self.value(key).map_or_else(|| value.clone(), |known| known.with(value.as_str()));
                self.put(key, value);
                Response::Done
            }
            Operation::CompareAndSet { key, from, to } => {
                let is_equal = self.value(key) == from.as_ref();
                if is_equal {
                    self.put(key, to.clone());
                }
                Response::Compared(is_equal)
            }
            Operation::Delete { key } => {
                if let Ok(place) = self.find(key) {
                    self.entries.remove(place);
                }
                Response::Done
            }
        }
    }

    fn reason(&self, _: Session, operation: &Operation, _: &Response, _: &Response) -> Option<String> {
        let key = operation.key();
        let value =
            self.value(key).map_or_else(|| "has no value".to_owned(), |value| format!("has the value {value:?}"));
        match operation {
            Operation::Get { .. } | Operation::CompareAndSet { .. } => Some(format!("the key {key:?} {value}")),
            Operation::Put { .. } | Operation::Append { .. } | Operation::Delete { .. } => None,
        }
    }

    fn footprint(operation: &Operation, response: Option<&Response>) -> Footprint {
        let region = Region::of(operation.key().as_str());
        match (operation, response) {
            (Operation::Get { .. }, _) | (Operation::CompareAndSet { .. }, Some(Response::Compared(false))) => {
                Footprint::reads(region)
            }
            _ => Footprint::writes(region),
        }
    }

    fn depends_on_session(_: &Operation) -> bool {
        false
    }

    fn is_same(one: &Operation, other: &Operation) -> bool {
        one == other
    }

    fn overwrites(operation: &Operation, response: Option<&Response>) -> bool {
        matches!((operation, response), (Operation::Put { .. } | Operation::Delete { .. }, None | Some(Response::Done)))
    }

    fn grows(operation: &Operation) -> bool {
        matches!(operation, Operation::Append { .. })
    }

    fn may_grow_into(&self, operation: &Operation, observed: &Response) -> bool {
        let value = self.value(operation.key()).map_or("", Text::as_str);
        match observed {
            Response::Value(Some(observed)) => observed.as_str().starts_with(value),
            Response::Value(None) => self.value(operation.key()).is_none(),
            Response::Done | Response::Compared(_) => true,
        }
    }

    /// What is looked at of a key to which something is appended is where its texts can come from.
    fn contradiction(&self, calls: &[&Call<Operation, Response>]) -> Option<Vec<usize>> {
        let happened = || {
            let did_not_happen = |call: &&Call<Operation, Response>| matches!(call.end, End::DidNotHappen { .. });
            calls.iter().enumerate().filter(move |(_, call)| !did_not_happen(call))
        };
        let timeline = Timeline::new(calls, 1);
        let start = |place: usize| timeline.spans[place].start;
        let mut texts = Texts::new();
        for (place, call) in happened() {
            if let Operation::Append { key, value } = &call.operation {
                texts.append(key, value.as_str(), start(place));
            }
        }
        let appended: BTreeSet<&Text> = happened()
            .filter(|(_, call)| matches!(call.operation, Operation::Append { .. }))
            .map(|(_, call)| call.operation.key())
            .collect();
        // A key without a value is answered like one with an empty text where that is so.
        let seen = |value: Option<&Text>| match self.absent {
            Absent::Empty => value.cloned().or_else(|| Some("".into())),
            Absent::Nothing => value.cloned(),
        };
        let mut cells = Cells::new();
        let mut gets: Vec<(usize, &Text, &Text)> = Vec::new();
        for (place, call) in happened() {
            let key = call.operation.key();
            let is_appended = appended.contains(key);
            let initial = || seen(self.value(key));
            let left = match &call.operation {
                Operation::Put { value, .. } | Operation::CompareAndSet { to: value, .. } => Some(value),
                Operation::Get { .. } | Operation::Append { .. } | Operation::Delete { .. } => None,
            };
            if let Some(left) = left.filter(|_| is_appended) {
                texts.put(key, left.as_str(), start(place));
            }
            match (&call.operation, call.end.response()) {
                (Operation::Get { .. }, Some(Response::Value(Some(value)))) if is_appended => {
                    gets.push((place, key, value));
                }
                _ if is_appended => {}
                (Operation::Get { .. }, Some(Response::Value(value))) => {
                    let value = Some(seen(value.as_ref()));
                    cells.returned(place, key, initial, (value.clone(), value));
                }
                (Operation::Put { .. } | Operation::Delete { .. }, Some(Response::Done)) => {
                    cells.returned(place, key, initial, (None, Some(seen(left))));
                }
                (Operation::CompareAndSet { from, .. }, Some(Response::Compared(true))) => {
                    cells.returned(place, key, initial, (Some(seen(from.as_ref())), Some(seen(left))));
                }
                (Operation::CompareAndSet { .. }, Some(Response::Compared(false))) => {
                    cells.denies(place, key, initial, seen(left));
                }
                (Operation::Put { .. } | Operation::Delete { .. } | Operation::CompareAndSet { .. }, _) => {
                    cells.may_leave(place, key, initial, seen(left));
                }
                _ => {}
            }
        }
        let is_out_of_nowhere = |&(place, key, value): &(usize, &Text, &Text)| {
            // A key whose value was taken away is answered as if it had none.
            let may_be_absent = value.as_str().is_empty() && self.absent == Absent::Empty;
            let is_initial = self.value(key) == Some(value);
            !(may_be_absent || is_initial || texts.can_be(key, value.as_str(), timeline.spans[place].end))
        };
        let out_of_nowhere = gets.iter().find(|get| is_out_of_nowhere(get)).map(|&(place, ..)| vec![place]);
        out_of_nowhere.or_else(|| cells.contradiction(calls))
    }

    fn heap_bytes(&self) -> usize {
        let texts: usize = self.entries.iter().map(|(_, value)| value.heap_bytes()).sum();
        texts + self.entries.len() * size_of::<(Text, Text)>()
    }
}

impl Vocabulary for KeyValueStore {
    const NAME: &'static str = "a key-value store";
    const OPERATIONS: &'static [&'static str] = &["get", "read", "put", "write", "append", "cas", "delete"];
    const HAS_KEYS: bool = true;

    fn operation(asked: &Said<'_>) -> Result<Operation, Misfit> {
        if !Self::OPERATIONS.contains(&asked.name) {
            return Err(Misfit::Name);
        }
        let key = asked.key.and_then(Value::as_text).ok_or(Misfit::KEY)?;
        let value = asked.value;
        let text = |value: &Value| value.as_text().ok_or(TEXT);
        match asked.name {
            "get" | "read" => asked.without_value(Operation::Get { key }),
            "delete" => asked.without_value(Operation::Delete { key }),
            "put" | "write" => text(value).map(|value| Operation::Put { key, value }),
            "append" => text(value).map(|value| Operation::Append { key, value }),
            _ => {
                let pair = value.pair().ok_or(Misfit::Value { cure: "compare and set with `[from to]`" })?;
                let from = if *pair.0 == Value::Nil { None } else { Some(text(pair.0)?) };
                Ok(Operation::CompareAndSet { key, from, to: text(pair.1)? })
            }
        }
    }

    fn response(operation: &Operation, answer: &Answered<'_>) -> Result<Response, Misfit> {
        match operation {
            Operation::Get { .. } => match answer.value {
                Value::Nil => Ok(Response::Value(None)),
                value => value.as_text().map(|value| Response::Value(Some(value))).ok_or(TEXT),
            },
            Operation::Put { .. } | Operation::Append { .. } | Operation::Delete { .. } => answer.done(Response::Done),
            Operation::CompareAndSet { .. } => answer.done(Response::Compared(true)),
        }
    }

    fn refusal(operation: &Operation) -> Option<Response> {
        matches!(operation, Operation::CompareAndSet { .. }).then_some(Response::Compared(false))
    }
}

/// What is said of a value that is no text.
const TEXT: Misfit = Misfit::Value { cure: "a value of a store is a text, an integer or a keyword" };
