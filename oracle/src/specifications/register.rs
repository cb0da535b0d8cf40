//! A register: one value.

use std::fmt::Debug;
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::contradictions::cells::Cells;
use crate::formats::{Answered, Asked, Misfit, Said, Value, Vocabulary};
use crate::{Answer, Call, End, Footprint, Open, Session, Specification, distinct};

/// A register with compare and set, which has no value at first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
pub struct Register<V>(pub Option<V>);

/// An operation on a register.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation<V> {
    /// Returns the value.
    Read,
    /// Makes this the value.
    Write(V),
    /// Makes `to` the value if it is `from`.
    CompareAndSet {
        /// The value that it must have.
        from: V,
        /// The value that it then has.
        to: V,
    },
}

/// An answer of a register.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response<V> {
    /// The value; `None` if it has none.
    Value(Option<V>),
    /// It was written.
    Done,
    /// Whether the value was the one that it must have.
    Compared(bool),
}

impl<V> Default for Register<V> {
    fn default() -> Self {
        Self(None)
    }
}

impl<V: Clone + Eq + Hash + Debug> Specification for Register<V> {
    type Operation = Operation<V>;
    type Response = Response<V>;

    fn step(&mut self, _: Session, operation: &Operation<V>, _: &mut Open<'_>) -> Response<V> {
        match operation {
            Operation::Read => Response::Value(self.0.clone()),
            Operation::Write(value) => {
                self.0 = Some(value.clone());
                Response::Done
            }
            Operation::CompareAndSet { from, to } => {
                let is_equal = self.0.as_ref() == Some(from);
                if is_equal {
                    self.0 = Some(to.clone());
                }
                Response::Compared(is_equal)
            }
        }
    }

    fn reason(&self, _: Session, operation: &Operation<V>, _: &Response<V>, _: &Response<V>) -> Option<String> {
        let value =
            self.0.as_ref().map_or_else(|| "has no value".to_owned(), |value| format!("has the value {value:?}"));
        match operation {
            Operation::Read | Operation::CompareAndSet { .. } => Some(format!("the register {value}")),
            Operation::Write(_) => None,
        }
    }

    fn footprint(operation: &Operation<V>, response: Option<&Response<V>>) -> Footprint {
        match (operation, response) {
            (Operation::Read, _) | (Operation::CompareAndSet { .. }, Some(Response::Compared(false))) => {
                Footprint::reads_everything()
            }
            _ => Footprint::everything(),
        }
    }

    fn depends_on_session(_: &Operation<V>) -> bool {
        false
    }

    fn is_same(one: &Operation<V>, other: &Operation<V>) -> bool {
        one == other
    }

    fn overwrites(operation: &Operation<V>, response: Option<&Response<V>>) -> bool {
        matches!((operation, response), (Operation::Write(_), None | Some(Response::Done)))
    }

    /// Where no value is written twice, and there is no compare and set.
    fn fast_path(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Answer> {
        distinct::register(self.0.as_ref(), calls)
    }

    fn contradiction(&self, calls: &[&Call<Operation<V>, Response<V>>]) -> Option<Vec<usize>> {
        let initial = || self.0.as_ref();
        let mut cells = Cells::new();
        for (place, call) in calls.iter().enumerate() {
            match (&call.operation, &call.end) {
                (_, End::DidNotHappen { .. }) => {}
                (Operation::Read, End::Returned { response: Response::Value(value), .. }) => {
                    let value = Some(value.as_ref());
                    cells.returned(place, (), initial, (value, value));
                }
                (Operation::Write(value), End::Returned { response: Response::Done, .. }) => {
                    cells.returned(place, (), initial, (None, Some(Some(value))));
                }
                (Operation::CompareAndSet { from, to }, End::Returned { response: Response::Compared(true), .. }) => {
                    cells.returned(place, (), initial, (Some(Some(from)), Some(Some(to))));
                }
                (Operation::CompareAndSet { to, .. }, End::Returned { response: Response::Compared(false), .. }) => {
                    cells.denies(place, (), initial, Some(to));
                }
                (Operation::Write(value) | Operation::CompareAndSet { to: value, .. }, _) => {
                    cells.may_leave(place, (), initial, Some(value));
                }
                _ => {}
            }
        }
        cells.contradiction(calls)
    }
}

impl Vocabulary for Register<Value> {
    const NAME: &'static str = "a register";
    const OPERATIONS: &'static [&'static str] = &["read", "write", "cas"];
    const CONTAINERS: &'static [&'static str] = &["register"];

    fn operation(asked: &Said<'_>) -> Result<Operation<Value>, Misfit> {
        match asked.name {
            "read" => asked.without_value(Operation::Read),
            "write" => asked.element().map(Operation::Write),
            "cas" => {
                let (from, to) = asked.two_elements("give `[from to]`, two values")?;
                Ok(Operation::CompareAndSet { from, to })
            }
            _ => Err(Misfit::Name),
        }
    }

    fn response(operation: &Operation<Value>, answer: &Answered<'_>) -> Result<Response<Value>, Misfit> {
        match operation {
            Operation::Read => answer.optional_element().map(Response::Value),
            Operation::Write(_) => answer.done(Response::Done),
            Operation::CompareAndSet { .. } => answer.done(Response::Compared(true)),
        }
    }

    fn refusal(operation: &Operation<Value>) -> Option<Response<Value>> {
        matches!(operation, Operation::CompareAndSet { .. }).then_some(Response::Compared(false))
    }

    fn ask(operation: &Operation<Value>) -> Option<Asked> {
        Some(match operation {
            Operation::Read => Asked { name: "read", value: Value::Nil },
            Operation::Write(value) => Asked { name: "write", value: value.clone() },
            Operation::CompareAndSet { from, to } => {
                Asked { name: "cas", value: Value::List(vec![from.clone(), to.clone()]) }
            }
        })
    }

    fn tell(operation: &Operation<Value>, response: &Response<Value>) -> Option<Value> {
        match (operation, response) {
            (Operation::Read, Response::Value(value)) => Some(value.clone().unwrap_or(Value::Nil)),
            (Operation::Write(_), Response::Done) | (Operation::CompareAndSet { .. }, Response::Compared(true)) => {
                Self::ask(operation).map(|asked| asked.value)
            }
            _ => None,
        }
    }
}
