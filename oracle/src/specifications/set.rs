//! A set of values.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::contradictions::cells::Cells;
use crate::formats::{Answered, Asked, Misfit, Said, Value, Vocabulary};
use crate::{Answer, Call, End, Footprint, Open, Region, Session, Specification, distinct};

/// A set, empty at first.
///
/// ```
/// use simutant_oracle::specifications::{Set, set::{Operation, Response}};
/// use simutant_oracle::{Check, Recorder, Session, Time};
///
/// let recorder = Recorder::new();
/// for (time, value) in [(0, 'a'), (1, 'b')] {
///     recorder.observed(Session(1), Operation::Add(value), Response::Done, Time::from_nanos(time));
/// }
/// // An element that was added is lost.
/// recorder.observed(Session(2), Operation::Read, Response::Values(['b'].into()), Time::from_nanos(5));
/// assert!(!Check::default().run(&recorder.history(), &Set::default()).is_possible());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "BTreeSet<V>", bound(deserialize = "V: Ord + Deserialize<'de>"))]
pub struct Set<V> {
    /// In their order: a state is cloned more often than it is changed.
    values: Vec<V>,
}

/// An operation on a set.
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

/// An answer of a set.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", bound(deserialize = "V: Ord + Deserialize<'de>"))]
pub enum Response<V> {
    /// It was done; whether the value was there is not said.
    Done,
    /// Whether the value was new, or was there.
    Is(bool),
    /// All values.
    Values(BTreeSet<V>),
    /// A list in which a value stands twice, in the place of all values: no set answers so.
    Repeated(Vec<V>),
}

/// How many values that reads did not find are looked at, one by one.
const ABSENCES_MAX: usize = 1 << 20;

impl<V> Operation<V> {
    /// Returns the value that the operation is about, if it is about one.
    const fn value(&self) -> Option<&V> {
        match self {
            Self::Add(value) | Self::Remove(value) | Self::Contains(value) => Some(value),
            Self::Read => None,
        }
    }
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

    fn overwrites(operation: &Operation<V>, response: Option<&Response<V>>) -> bool {
        matches!((operation, response), (Operation::Add(_) | Operation::Remove(_), None | Some(Response::Done)))
    }

    fn grows(operation: &Operation<V>) -> bool {
        matches!(operation, Operation::Add(_))
    }

    fn may_grow_into(&self, operation: &Operation<V>, observed: &Response<V>) -> bool {
        match (operation, observed) {
            (Operation::Read, Response::Values(observed)) => self.values.iter().all(|value| observed.contains(value)),
            (Operation::Contains(value) | Operation::Remove(value), Response::Is(false)) => !self.contains(value),
            (_, Response::Repeated(_)) => false,
            _ => true,
        }
    }

    fn heap_bytes(&self) -> usize {
        self.values.len() * size_of::<V>()
    }

    /// Where no value is added twice, and nobody reads all of them, or nothing is removed.
    fn fast_path(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Answer> {
        distinct::set(self.values.iter(), calls).or_else(|| distinct::growing_set(self.values.iter(), calls))
    }

    fn contradiction(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Vec<usize>> {
        let is_repeated = |call: &&Call<_, _>| matches!(call.end.response(), Some(Response::Repeated(_)));
        if let Some(place) = calls.iter().position(is_repeated) {
            return Some(vec![place]);
        }
        let mut cells = Cells::new();
        for (place, call) in calls.iter().enumerate() {
            if matches!(call.end, End::DidNotHappen { .. }) {
                continue;
            }
            let Some(value) = call.operation.value() else { continue };
            let initial = || self.contains(value);
            let (needs, leaves) = match (&call.operation, call.end.response()) {
                (Operation::Add(_), Some(Response::Done)) => (None, true),
                (Operation::Add(_), Some(Response::Is(is_new))) => (Some(!is_new), true),
                (Operation::Remove(_), Some(Response::Done)) => (None, false),
                (Operation::Remove(_), Some(Response::Is(is_gone))) => (Some(*is_gone), false),
                (Operation::Contains(_), Some(Response::Is(is))) => (Some(*is), *is),
                // An answer that belongs to another operation does not matter to a core without it.
                (Operation::Add(_) | Operation::Remove(_), _) => {
                    cells.may_leave(place, value, initial, matches!(call.operation, Operation::Add(_)));
                    continue;
                }
                _ => continue,
            };
            if needs == Some(leaves) && !matches!(call.operation, Operation::Contains(_)) {
                cells.denies(place, value, initial, leaves);
            }
            cells.returned(place, value, initial, (needs, Some(leaves)));
        }
        // What is read of each value. Of long lists only what is there is looked at.
        let reads = calls.iter().enumerate().filter_map(|(place, call)| match call.end.response()? {
            Response::Values(values) => Some((place, values)),
            _ => None,
        });
        let mut known: BTreeSet<&V> = calls.iter().filter_map(|call| call.operation.value()).collect();
        known.extend(&self.values);
        let is_short = known.len() * reads.clone().count() <= ABSENCES_MAX;
        for (place, values) in reads {
            for value in values {
                cells.returned(place, value, || self.contains(value), (Some(true), Some(true)));
            }
            for value in known.iter().copied().filter(|&value| is_short && !values.contains(value)) {
                cells.returned(place, value, || self.contains(value), (Some(false), Some(false)));
            }
        }
        cells.contradiction(calls)
    }
}

impl Vocabulary for Set<Value> {
    const NAME: &'static str = "a set";
    const OPERATIONS: &'static [&'static str] = &["add", "remove", "contains", "read"];
    const CONTAINERS: &'static [&'static str] = &["set"];

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
            (Operation::Read, value) => values(value),
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
            (Operation::Read, Response::Repeated(values)) => Some(Value::List(values.clone())),
            _ => None,
        }
    }
}

/// Returns the answer with the members of a set, or of a list.
fn values(value: &Value) -> Result<Response<Value>, Misfit> {
    let members = value.members().ok_or(Misfit::Value { cure: "answer with a set, or a vector, of values" })?;
    let elements = members.iter().map(|member| member.element().ok_or(Misfit::ELEMENT));
    let list = elements.collect::<Result<Vec<Value>, Misfit>>()?;
    let set: BTreeSet<Value> = list.iter().cloned().collect();
    Ok(if set.len() == list.len() { Response::Values(set) } else { Response::Repeated(list) })
}
