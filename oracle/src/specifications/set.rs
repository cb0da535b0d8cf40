//! A set of values.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::formats::{Answered, Asked, Misfit, Said, Value, Vocabulary};
use crate::{Answer, Call, Footprint, Open, Region, Session, Specification, distinct};

/// A set, empty at first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "BTreeSet<V>", bound(deserialize = "V: Ord + Deserialize<'de>"))]
pub struct Set<V> {
    /// In their order: a state is cloned more often than it is changed.
    values: Vec<V>,
}

/// What a client asks of a set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation<V> {
    /// Adds a value, and returns whether it is new.
    Add(V),
    /// Removes a value, and returns whether it was there.
    Remove(V),
    /// Returns whether a value is there.
    Contains(V),
    /// Returns all values.
    Read,
}

/// What a set answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", bound(deserialize = "V: Ord + Deserialize<'de>"))]
pub enum Response<V> {
    /// It was done; whether the value was there is not said.
    Done,
    /// Whether the value was new, or was there.
    Is(bool),
    /// All values.
    Values(BTreeSet<V>),
}

impl<V> From<BTreeSet<V>> for Set<V> {
    fn from(values: BTreeSet<V>) -> Self {
        Self { values: values.into_iter().collect() }
    }
}

impl<V> Default for Set<V> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

impl<V: Clone + Ord> Set<V> {
    /// Returns a set of these values.
    pub fn new(values: BTreeSet<V>) -> Self {
        Self { values: values.into_iter().collect() }
    }

    fn contains(&self, value: &V) -> bool {
        self.values.binary_search(value).is_ok()
    }

    /// Adds a value, and returns whether it is new.
    fn add(&mut self, value: &V) -> bool {
        let place = self.values.binary_search(value);
        place.is_err_and(|place| {
            self.values.insert(place, value.clone());
            true
        })
    }

    /// Removes a value, and returns whether it was there.
    fn remove(&mut self, value: &V) -> bool {
        let place = self.values.binary_search(value);
        place.is_ok_and(|place| {
            self.values.remove(place);
            true
        })
    }
}

impl<V: Clone + Ord + Hash + Debug> Specification for Set<V> {
    type Operation = Operation<V>;
    type Response = Response<V>;

    fn step(&mut self, _: Session, operation: &Operation<V>, _: &mut Open<'_>) -> Response<V> {
        match operation {
            Operation::Add(value) => Response::Is(self.add(value)),
            Operation::Remove(value) => Response::Is(self.remove(value)),
            Operation::Contains(value) => Response::Is(self.contains(value)),
            Operation::Read => Response::Values(self.values.iter().cloned().collect()),
        }
    }

    /// Services that do not say whether a value was there answer [`Response::Done`].
    fn agrees(&mut self, _: &Operation<V>, expected: &Response<V>, observed: &Response<V>, _: &mut Open<'_>) -> bool {
        expected == observed || matches!((expected, observed), (Response::Is(_), Response::Done))
    }

    fn reason(&self, _: Session, operation: &Operation<V>, _: &Response<V>, _: &Response<V>) -> Option<String> {
        match operation {
            Operation::Add(value) | Operation::Remove(value) | Operation::Contains(value) => {
                let is_there = if self.contains(value) { "is" } else { "is not" };
                Some(format!("{value:?} {is_there} in the set"))
            }
            Operation::Read => Some(format!("the set has {:?}", self.values)),
        }
    }

    fn footprint(operation: &Operation<V>, response: Option<&Response<V>>) -> Footprint {
        match (operation, response) {
            (Operation::Read, _) => Footprint::reads_everything(),
            (Operation::Contains(value), _)
            | (Operation::Add(value) | Operation::Remove(value), Some(Response::Is(false))) => {
                Footprint::reads(Region::of(value))
            }
            (Operation::Add(value) | Operation::Remove(value), _) => Footprint::writes(Region::of(value)),
        }
    }

    fn depends_on_session(_: &Operation<V>) -> bool {
        false
    }

    fn is_same(one: &Operation<V>, other: &Operation<V>) -> bool {
        one == other
    }

    fn grows(operation: &Operation<V>) -> bool {
        matches!(operation, Operation::Add(_))
    }

    fn may_grow_into(&self, operation: &Operation<V>, observed: &Response<V>) -> bool {
        match (operation, observed) {
            (Operation::Read, Response::Values(observed)) => self.values.iter().all(|value| observed.contains(value)),
            (Operation::Contains(value) | Operation::Remove(value), Response::Is(false)) => !self.contains(value),
            _ => true,
        }
    }

    fn heap_bytes(&self) -> usize {
        self.values.len() * size_of::<V>()
    }
    /// Where no value is added twice, and nobody reads all of them.
    fn fast_path(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Answer> {
        distinct::set(self.values.iter(), calls)
    }
}

impl Vocabulary for Set<Value> {
    const NAME: &'static str = "a set";
    const OPERATIONS: &'static [&'static str] = &["add", "remove", "contains", "read"];

    fn operation(asked: &Said<'_>) -> Result<Operation<Value>, Misfit> {
        match asked.name {
            "add" => asked.element().map(Operation::Add),
            "remove" => asked.element().map(Operation::Remove),
            "contains" => asked.element().map(Operation::Contains),
            "read" => asked.without_value(Operation::Read),
            _ => Err(Misfit::Name),
        }
    }

    fn response(operation: &Operation<Value>, answer: &Answered<'_>) -> Result<Response<Value>, Misfit> {
        match (operation, answer.value) {
            (Operation::Add(_) | Operation::Remove(_), _) if answer.says_nothing() => Ok(Response::Done),
            (Operation::Add(_) | Operation::Remove(_) | Operation::Contains(_), Value::Boolean(is)) => {
                Ok(Response::Is(*is))
            }
            (Operation::Add(_) | Operation::Remove(_), _) => {
                Err(Misfit::Value { cure: "answer with `nil`, the value of the invocation, `true` or `false`" })
            }
            (Operation::Contains(_), _) => Err(Misfit::Value { cure: "answer with `true` or `false`" }),
            (Operation::Read, value) => values(value).map(Response::Values),
        }
    }

    fn ask(operation: &Operation<Value>) -> Option<Asked> {
        Some(match operation {
            Operation::Add(value) => Asked { name: "add", value: value.clone() },
            Operation::Remove(value) => Asked { name: "remove", value: value.clone() },
            Operation::Contains(value) => Asked { name: "contains", value: value.clone() },
            Operation::Read => Asked { name: "read", value: Value::Nil },
        })
    }

    fn tell(operation: &Operation<Value>, response: &Response<Value>) -> Option<Value> {
        match (operation, response) {
            (Operation::Add(_) | Operation::Remove(_), Response::Done) => Some(Value::Nil),
            // The answer would be that of the invocation, which says nothing.
            (Operation::Add(value) | Operation::Remove(value), Response::Is(is)) if *value == Value::Boolean(*is) => {
                None
            }
            (Operation::Add(_) | Operation::Remove(_) | Operation::Contains(_), Response::Is(is)) => {
                Some(Value::Boolean(*is))
            }
            (Operation::Read, Response::Values(values)) => Some(Value::set(values.clone())),
            _ => None,
        }
    }
}

/// Returns the members of a set, or of a list that has none twice.
fn values(value: &Value) -> Result<BTreeSet<Value>, Misfit> {
    let members = value.members().ok_or(Misfit::Value { cure: "answer with a set, or a vector, of values" })?;
    let mut values = BTreeSet::new();
    for member in members {
        if !values.insert(member.element().ok_or(Misfit::ELEMENT)?) {
            return Err(Misfit::Value { cure: "a set has a value once, and this list has one twice" });
        }
    }
    Ok(values)
}
