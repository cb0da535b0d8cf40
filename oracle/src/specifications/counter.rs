//! A counter.

use serde::{Deserialize, Serialize};

use crate::formats::{Answered, Misfit, Said, Vocabulary};
use crate::{Call, Footprint, Open, Regions, Session, Specification, contradictions};

/// A counter, 0 at first. It wraps around at the ends of its numbers.
///
/// ```
/// use simutant_oracle::specifications::{Counter, counter::{Operation, Response}};
/// use simutant_oracle::{Check, Recorder, Session, Time};
///
/// let recorder = Recorder::new();
/// for session in 0..2 {
///     recorder.observed(Session(session), Operation::Add(5), Response::Done, Time::from_nanos(session));
/// }
/// let reads = |value| {
///     let (operation, response) = (Operation::Read, Response::Value(value));
///     recorder.observed(Session(9), operation, response, Time::from_nanos(9));
///     Check::default().run(&recorder.history(), &Counter(100)).is_possible()
/// };
/// assert!(reads(110));
/// // An addition is lost.
/// assert!(!reads(105));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
pub struct Counter(pub i64);

/// An operation on a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Returns the value.
    Read,
    /// Adds a number, which may be negative.
    Add(i64),
    /// Adds a number, and returns the value after it.
    AddAndGet(i64),
}

/// An answer of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// The value.
    Value(i64),
    /// It was added.
    Done,
}

/// How much is added at most by what is said to grow: a history has fewer than 2^31 calls.
const ADDED_MAX: i64 = 1 << 31;

impl Specification for Counter {
    type Operation = Operation;
    type Response = Response;

    fn step(&mut self, _: Session, operation: &Operation, _: &mut Open<'_>) -> Response {
        match operation {
            Operation::Read => Response::Value(self.0),
            Operation::Add(number) => {
                self.0 = self.0.wrapping_add(*number);
                Response::Done
            }
            Operation::AddAndGet(number) => {
                self.0 = self.0.wrapping_add(*number);
                Response::Value(self.0)
            }
        }
    }

    fn reason(&self, _: Session, operation: &Operation, _: &Response, _: &Response) -> Option<String> {
        match operation {
            Operation::Add(_) => None,
            Operation::Read | Operation::AddAndGet(_) => Some(format!("the counter is at {}", self.0)),
        }
    }

    fn footprint(operation: &Operation, response: Option<&Response>) -> Footprint {
        let update = |reads| Footprint::new(reads, Regions::None).and_updates(Regions::All);
        match (operation, response) {
            (Operation::Read, _) => Footprint::reads_everything(),
            (Operation::AddAndGet(_), Some(_)) => update(Regions::All),
            // Nobody sees what the value was.
            (Operation::Add(_) | Operation::AddAndGet(_), _) => update(Regions::None),
        }
    }

    fn depends_on_session(_: &Operation) -> bool {
        false
    }

    fn grows(operation: &Operation) -> bool {
        // At the end of its numbers a counter starts anew, so what is added is kept far below it.
        matches!(operation, Operation::Add(0..=ADDED_MAX) | Operation::AddAndGet(0..=ADDED_MAX))
    }

    fn may_grow_into(&self, _: &Operation, observed: &Response) -> bool {
        // Nobody adds so often that a value this low wraps around.
        matches!(observed, Response::Value(observed) if self.0 <= *observed || self.0 > i64::MAX / 2)
    }

    fn is_same(one: &Operation, other: &Operation) -> bool {
        one == other
    }

    fn contradiction(&self, calls: &[&Call<Operation, Response>]) -> Option<Vec<usize>> {
        contradictions::counter(self.0, calls)
    }
}

impl Vocabulary for Counter {
    const NAME: &'static str = "a counter";
    const OPERATIONS: &'static [&'static str] = &["read", "add", "add-and-get"];

    fn operation(asked: &Said<'_>) -> Result<Operation, Misfit> {
        let number = || asked.value.integer().ok_or(Misfit::Value { cure: "give the integer that is added" });
        match asked.name {
            "read" => asked.without_value(Operation::Read),
            "add" => number().map(Operation::Add),
            "add-and-get" => number().map(Operation::AddAndGet),
            _ => Err(Misfit::Name),
        }
    }

    fn response(operation: &Operation, answer: &Answered<'_>) -> Result<Response, Misfit> {
        match operation {
            Operation::Add(_) => answer.done(Response::Done),
            Operation::Read | Operation::AddAndGet(_) => {
                let value = answer.value.integer();
                value.map(Response::Value).ok_or(Misfit::Value { cure: "answer with the counter's value, an integer" })
            }
        }
    }
}
