//! Containers that values are put into and taken out of: a queue, a stack, a queue by priority, one without an order.

mod unordered;

use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::contradictions;
use crate::distinct::Contents;
use crate::formats::{Answered, Asked, Misfit, Said, Value, Vocabulary};
use crate::{Answer, Call, Footprint, Open, Session, Specification};

pub use unordered::UnorderedQueue;

/// An operation on a container.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation<V> {
    /// Puts a value into it: enqueue, push.
    Put(V),
    /// Takes the next value out of it, if there is one: dequeue, pop.
    Take,
}

/// An answer of a container.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response<V> {
    /// The value was put.
    Done,
    /// The value that was taken; `None` if there was none.
    Value(Option<V>),
}

/// A queue: the value that was put first is taken first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
pub struct Queue<V>(pub VecDeque<V>);

/// A stack: the value that was put last is taken first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
pub struct Stack<V>(pub Vec<V>);

/// A queue by priority: the largest value is taken first.
///
/// ```
/// use simutant_oracle::specifications::{PriorityQueue, containers::{Operation, Response}};
/// use simutant_oracle::{Check, Recorder, Session, Time};
///
/// let recorder = Recorder::new();
/// for (time, priority) in [(0, 3), (1, 9), (2, 5)] {
///     recorder.observed(Session(1), Operation::Put(priority), Response::Done, Time::from_nanos(time));
/// }
/// recorder.observed(Session(2), Operation::Take, Response::Value(Some(9)), Time::from_nanos(3));
/// assert!(Check::default().run(&recorder.history(), &PriorityQueue::default()).is_possible());
/// recorder.observed(Session(2), Operation::Take, Response::Value(Some(3)), Time::from_nanos(4));
/// assert!(!Check::default().run(&recorder.history(), &PriorityQueue::default()).is_possible());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "Vec<V>", bound(deserialize = "V: Ord + Deserialize<'de>"))]
pub struct PriorityQueue<V>(
    /// In their order, the largest last.
    Vec<V>,
);

/// What the three have in common.
trait Container<V> {
    fn put(&mut self, value: V);
    fn take(&mut self) -> Option<V>;
    /// What would be taken next, in words.
    fn next(&self) -> Option<&V>;
    fn fast_path(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Answer>;
    fn contradiction(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Vec<usize>>;
}

impl<V: Eq + Hash> Container<V> for Queue<V> {
    fn put(&mut self, value: V) {
        self.0.push_back(value);
    }

    fn take(&mut self) -> Option<V> {
        self.0.pop_front()
    }

    fn next(&self) -> Option<&V> {
        self.0.front()
    }

    fn fast_path(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Answer> {
        Contents::new(self.0.iter(), calls)?.queue()
    }

    fn contradiction(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Vec<usize>> {
        contradictions::taken_too_often(self.0.iter(), calls).or_else(|| contradictions::queue(self.0.iter(), calls))
    }
}

impl<V: Eq + Hash> Container<V> for Stack<V> {
    fn put(&mut self, value: V) {
        self.0.push(value);
    }

    fn take(&mut self) -> Option<V> {
        self.0.pop()
    }

    fn next(&self) -> Option<&V> {
        self.0.last()
    }

    fn fast_path(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Answer> {
        Contents::new(self.0.iter(), calls)?.stack()
    }

    fn contradiction(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Vec<usize>> {
        contradictions::taken_too_often(self.0.iter(), calls)
    }
}

impl<V: Ord + Hash> Container<V> for PriorityQueue<V> {
    fn put(&mut self, value: V) {
        let place = self.0.partition_point(|other| *other <= value);
        self.0.insert(place, value);
    }

    fn take(&mut self) -> Option<V> {
        self.0.pop()
    }

    fn next(&self) -> Option<&V> {
        self.0.last()
    }

    fn fast_path(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Answer> {
        let mut contents = Contents::new(self.0.iter(), calls)?;
        contents.sort();
        contents.priority_queue()
    }

    fn contradiction(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Vec<usize>> {
        contradictions::taken_too_often(self.0.iter(), calls)
    }
}

impl<V> Default for Queue<V> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<V> Default for Stack<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V: Ord> From<Vec<V>> for PriorityQueue<V> {
    fn from(mut values: Vec<V>) -> Self {
        values.sort();
        Self(values)
    }
}

impl<V> Default for PriorityQueue<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// Implements [`Specification`] for a container whose values are like this.
macro_rules! container {
    ($container:ident, $($bound:tt)+) => {
        impl<V: $($bound)+> Specification for $container<V> {
            type Operation = Operation<V>;
            type Response = Response<V>;

            fn step(&mut self, _: Session, operation: &Operation<V>, _: &mut Open<'_>) -> Response<V> {
                match operation {
                    Operation::Put(value) => {
                        self.put(value.clone());
                        Response::Done
                    }
                    Operation::Take => Response::Value(self.take()),
                }
            }

            fn reason(&self, _: Session, operation: &Operation<V>, _: &Response<V>, _: &Response<V>) -> Option<String> {
                matches!(operation, Operation::Take).then(|| match self.next() {
                    Some(next) => format!("{next:?} comes next, of {} that are in it", self.0.len()),
                    None => "it is empty".to_owned(),
                })
            }

            fn footprint(operation: &Operation<V>, response: Option<&Response<V>>) -> Footprint {
                match (operation, response) {
                    (Operation::Take, Some(Response::Value(None))) => Footprint::reads_everything(),
                    _ => Footprint::everything(),
                }
            }

            fn depends_on_session(_: &Operation<V>) -> bool {
                false
            }

            fn is_same(one: &Operation<V>, other: &Operation<V>) -> bool {
                one == other
            }

            fn heap_bytes(&self) -> usize {
                self.0.capacity() * size_of::<V>()
            }

            /// Where no value is put twice. Where it is unknown what a take took, if it took something, the search may
            /// have to decide.
            fn fast_path(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Answer> {
                Container::fast_path(self, calls)
            }

            fn contradiction(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Vec<usize>> {
                Container::contradiction(self, calls)
            }
        }
    };
}

container!(Queue, Clone + Eq + Hash + Debug);
container!(Stack, Clone + Eq + Hash + Debug);
container!(PriorityQueue, Clone + Ord + Hash + Debug);

/// Implements [`Vocabulary`] for a container: what it is called, the containers of other tools that it is, the names that
/// put, and those that take. The first of each is written.
macro_rules! vocabulary {
    ($container:ident, $name:literal, $containers:expr, [$put:literal $(, $puts:literal)*], [$take:literal $(, $takes:literal)*]) => {
        impl Vocabulary for $container<Value> {
            const NAME: &'static str = $name;
            const OPERATIONS: &'static [&'static str] = &[$put, $($puts,)* $take, $($takes,)* "drain"];
            const CONTAINERS: &'static [&'static str] = &$containers;
            const DRAIN: Option<[&'static str; 2]> = Some(["drain", $take]);

            fn operation(asked: &Said<'_>) -> Result<Operation<Value>, Misfit> {
                match asked.name {
                    $put $(| $puts)* => asked.element().map(Operation::Put),
                    $take $(| $takes)* => asked.without_value(Operation::Take),
                    _ => Err(Misfit::Name),
                }
            }

            fn response(operation: &Operation<Value>, answer: &Answered<'_>) -> Result<Response<Value>, Misfit> {
                match operation {
                    Operation::Put(_) => answer.done(Response::Done),
                    Operation::Take => answer.optional_element().map(Response::Value),
                }
            }

            fn ask(operation: &Operation<Value>) -> Option<Asked> {
                Some(match operation {
                    Operation::Put(value) => Asked { name: $put, value: value.clone() },
                    Operation::Take => Asked { name: $take, value: Value::Nil },
                })
            }

            fn tell(operation: &Operation<Value>, response: &Response<Value>) -> Option<Value> {
                match (operation, response) {
                    (Operation::Put(value), Response::Done) => Some(value.clone()),
                    (Operation::Take, Response::Value(value)) => Some(value.clone().unwrap_or(Value::Nil)),
                    _ => None,
                }
            }
        }
    };
}

vocabulary!(Queue, "a queue", ["queue"], ["enqueue"], ["dequeue"]);
vocabulary!(Stack, "a stack", ["stack"], ["push"], ["pop"]);
vocabulary!(
    PriorityQueue,
    "a queue by priority",
    ["priority-queue"],
    ["insert", "enqueue", "push"],
    ["poll", "dequeue", "pop"]
);
vocabulary!(
    UnorderedQueue,
    "an unordered queue",
    ["queue", "stack", "priority-queue"],
    ["enqueue", "push", "insert"],
    ["dequeue", "pop", "poll"]
);
