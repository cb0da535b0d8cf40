//! A store of values by key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Text;
use crate::formats::{Answered, Misfit, Said, Value, Vocabulary};
use crate::{Footprint, Open, Region, Session, Specification};

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

/// What a key that has no value is answered with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Absent {
    /// That it has none.
    #[default]
    Nothing,
    /// An empty text, as if that were its value.
    Empty,
}

/// What a client asks of a store.
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

/// What a store answers.
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

    fn heap_bytes(&self) -> usize {
        let texts: usize = self.entries.iter().map(|(_, value)| value.heap_bytes()).sum();
        texts + self.entries.len() * size_of::<(Text, Text)>()
    }
}

/// An event has its key beside its value, or has both in a pair, `[key value]`, as Jepsen's independent registers have.
impl Vocabulary for KeyValueStore {
    const NAME: &'static str = "a key-value store";
    const OPERATIONS: &'static [&'static str] = &["get", "read", "put", "write", "append", "cas", "delete"];
    const HAS_KEYS: bool = true;

    fn operation(asked: &Said<'_>) -> Result<Operation, Misfit> {
        const KEYED: Misfit = Misfit::Value { cure: "give the key beside the value, or give `[key value]`" };
        if !Self::OPERATIONS.contains(&asked.name) {
            return Err(Misfit::Name);
        }
        let (key, value) = match asked.key {
            Some(key) => (key, asked.value),
            None => asked.value.pair().ok_or(KEYED)?,
        };
        let key = key.as_text().ok_or(Misfit::Value { cure: "a key is a text, an integer or a keyword" })?;
        let text = |value: &Value| value.as_text().ok_or(TEXT);
        match asked.name {
            "get" | "read" | "delete" if *value != Value::Nil => Err(Misfit::NOTHING),
            "get" | "read" => Ok(Operation::Get { key }),
            "delete" => Ok(Operation::Delete { key }),
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
            Operation::Get { key } => {
                const SAME: Misfit = Misfit::Value { cure: "answer with the key of the invocation, as that has it" };
                let value = match answer.key {
                    Some(other) if other.as_text().as_ref() == Some(key) => answer.value,
                    Some(_) => return Err(SAME),
                    // Both in a pair, or the key beside the value of the invocation alone.
                    None if answer.asked.pair().is_none() => answer.value,
                    None => {
                        let (other, value) = answer.value.pair().ok_or(SAME)?;
                        if other.as_text().as_ref() != Some(key) {
                            return Err(SAME);
                        }
                        value
                    }
                };
                match value {
                    Value::Nil => Ok(Response::Value(None)),
                    value => value.as_text().map(|value| Response::Value(Some(value))).ok_or(TEXT),
                }
            }
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
