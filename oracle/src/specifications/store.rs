//! A store of values by key.

use serde::{Deserialize, Serialize};

use super::Text;
use crate::{Footprint, Open, Region, Session, Specification};

/// A store of texts by key, empty at first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KeyValueStore {
    /// In the order of the keys.
    entries: Vec<(Text, Text)>,
    absent: Absent,
}

/// What a key that has no value is answered with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
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

    fn heap_bytes(&self) -> usize {
        /// The two counts of an `Arc`.
        const COUNTS: usize = 2 * size_of::<usize>();
        let texts: usize = self.entries.iter().map(|(_, value)| value.as_str().len() + COUNTS).sum();
        texts + self.entries.capacity() * size_of::<(Text, Text)>()
    }
}
