//! Identifiers that are given once.

use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::formats::{Answered, Misfit, Said, Value, Vocabulary};
use crate::{Call, Open, Session, Specification, contradictions};

/// A service that gives identifiers: any, but none twice.
///
/// ```
/// use simutant_oracle::specifications::{UniqueIds, ids::{Operation, Response}};
/// use simutant_oracle::{Check, Recorder, Session, Time};
///
/// let explains = |ids: [u64; 3]| {
///     let recorder = Recorder::new();
///     for (session, id) in (0..).zip(ids) {
///         recorder.observed(Session(session), Operation::Next, Response::Id(id), Time::ZERO);
///     }
///     Check::default().run(&recorder.history(), &UniqueIds::default()).is_possible()
/// };
/// assert_eq!((explains([70, 3, 12]), explains([70, 3, 70])), (true, false));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent, bound(deserialize = "V: Ord + Deserialize<'de>"))]
pub struct UniqueIds<V> {
    /// In their order.
    given: Vec<V>,
}

/// The operation: a request for another identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Returns an identifier that nobody else is given.
    Next,
}

/// An identifier.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response<V> {
    /// Some identifier: the specification does not say which.
    Any,
    /// This one.
    Id(V),
}

impl<V> Default for UniqueIds<V> {
    fn default() -> Self {
        Self { given: Vec::new() }
    }
}

impl<V: Clone + Ord + Hash + Debug> Specification for UniqueIds<V> {
    type Operation = Operation;
    type Response = Response<V>;

    fn step(&mut self, _: Session, _: &Operation, _: &mut Open<'_>) -> Response<V> {
        Response::Any
    }

    fn agrees(&mut self, _: &Operation, _: &Response<V>, observed: &Response<V>, _: &mut Open<'_>) -> bool {
        match observed {
            Response::Any => true,
            Response::Id(id) => self.given.binary_search(id).is_err_and(|place| {
                self.given.insert(place, id.clone());
                true
            }),
        }
    }

    fn reason(&self, _: Session, _: &Operation, _: &Response<V>, observed: &Response<V>) -> Option<String> {
        match observed {
            Response::Any => None,
            Response::Id(id) => Some(format!("{id:?} was given before")),
        }
    }

    fn depends_on_session(_: &Operation) -> bool {
        false
    }

    fn is_same(_: &Operation, _: &Operation) -> bool {
        true
    }

    fn contradiction(&self, calls: &[&Call<Operation, Response<V>>]) -> Option<Vec<usize>> {
        contradictions::given_twice(&self.given, calls)
    }

    fn heap_bytes(&self) -> usize {
        self.given.len() * size_of::<V>()
    }
}

impl Vocabulary for UniqueIds<Value> {
    const NAME: &'static str = "a source of unique ids";
    const OPERATIONS: &'static [&'static str] = &["generate"];

    fn operation(asked: &Said<'_>) -> Result<Operation, Misfit> {
        match asked.name {
            "generate" => asked.without_value(Operation::Next),
            _ => Err(Misfit::Name),
        }
    }

    fn response(_: &Operation, answer: &Answered<'_>) -> Result<Response<Value>, Misfit> {
        answer.value.element().map(Response::Id).ok_or(Misfit::ELEMENT)
    }
}
