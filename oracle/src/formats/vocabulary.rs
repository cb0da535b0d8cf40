//! What the operations of a specification are called in files.

use super::Value;
use crate::Specification;

/// The names of a specification's operations in files of other tools, and the meanings of their values.
///
/// It is implemented beside each ready-made specification, whose values are then those of files
/// ([`Value`]). Names are Jepsen's where it has them.
///
/// ```
/// use simutant_oracle::formats::{Said, Value, Vocabulary};
/// use simutant_oracle::specifications::{Register, register::Operation};
///
/// let said = Said { name: "write", key: None, value: &Value::from(3) };
/// assert_eq!(Register::operation(&said), Ok(Operation::Write(Value::from(3))));
/// ```
pub trait Vocabulary: Specification {
    /// The name of the specification in messages: "a register".
    const NAME: &'static str;

    /// The names of operations that it knows.
    const OPERATIONS: &'static [&'static str];

    /// Whether each event is about a key: beside its value, or with it in a list, `[key value]`.
    const HAS_KEYS: bool = false;

    /// The containers of other tools whose files are of this specification, as `stack`: such a file says in its first
    /// line which one it is of.
    const CONTAINERS: &'static [&'static str] = &[];

    /// The name of an operation that takes all that there is, one after the other, and that of the operation which takes
    /// one: `drain` and `dequeue`. It is as many calls as it took values, and one that found nothing.
    const DRAIN: Option<[&'static str; 2]> = None;

    /// Returns the operation that an invocation asks for.
    ///
    /// # Errors
    /// [`Misfit`] says whether the name is unknown, or what value belongs to it.
    fn operation(asked: &Said<'_>) -> Result<Self::Operation, Misfit>;

    /// Returns the response that an answer gives.
    ///
    /// # Errors
    /// [`Misfit`] says what value belongs to the answer.
    fn response(operation: &Self::Operation, answer: &Answered<'_>) -> Result<Self::Response, Misfit>;

    /// Returns the response which says that the operation was taken and changed nothing, as that of a comparison that
    /// did not match, if there is one.
    fn refusal(_operation: &Self::Operation) -> Option<Self::Response> {
        None
    }

    /// Returns what is said when this is asked for, for writing; `None` if this vocabulary does not say it.
    fn ask(_operation: &Self::Operation) -> Option<Asked> {
        None
    }

    /// Returns the value of the answer, for writing; `None` if this vocabulary does not say it. What
    /// [`refusal`](Self::refusal) returns is not asked for.
    fn tell(_operation: &Self::Operation, _response: &Self::Response) -> Option<Value> {
        None
    }
}

/// The operation of an event, as a file has it.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// The name of the operation, without a colon.
    pub name: &'a str,
    /// The key, of a specification that [has some](Vocabulary::HAS_KEYS).
    pub key: Option<&'a Value>,
    /// The value, without the key.
    pub value: &'a Value,
}

/// The answer at the end of a call, as a file has it. It is about the key of the invocation.
#[derive(Debug, Clone, Copy)]
pub struct Answered<'a> {
    /// The value, without the key.
    pub value: &'a Value,
    /// The value that the invocation had.
    pub asked: &'a Value,
}

/// The operation of an invocation, for writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The name of the operation, without a colon.
    pub name: &'static str,
    /// The value.
    pub value: Value,
}

/// Why an event does not fit a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// The specification has no operation of this name.
    Name,
    /// The operation asks with no value, and there is one. That of an invocation is then the value of the answer, as
    /// in histories whose invocations were completed by their ends.
    NoValue,
    /// The value is not of the operation.
    Value {
        /// What belongs there, as "give `[from to]`".
        cure: &'static str,
    },
}

impl Misfit {
    /// What is said of values that no element is.
    pub(crate) const ELEMENT: Self =
        Self::Value { cure: "give an integer, a text, a boolean, a keyword, or a list of such" };
    /// What is said of keys that are no texts.
    pub(crate) const KEY: Self = Self::Value { cure: "a key is a text, an integer or a keyword" };
    /// What is said where the answer should say nothing.
    pub(crate) const ECHO: Self = Self::Value { cure: "answer with `nil`, or with the value of the invocation" };
}

impl<'a> Said<'a> {
    /// Returns the value as an element of a register or a container.
    pub(crate) fn element(&self) -> Result<Value, Misfit> {
        self.value.element().ok_or(Misfit::ELEMENT)
    }

    /// Returns an operation that asks with no value.
    pub(crate) fn without_value<O>(&self, operation: O) -> Result<O, Misfit> {
        if *self.value == Value::Nil { Ok(operation) } else { Err(Misfit::NoValue) }
    }

    /// Returns both values, each as an element.
    pub(crate) fn two_elements(&self, cure: &'static str) -> Result<(Value, Value), Misfit> {
        let elements = |(one, other): (&'a Value, &'a Value)| Some((one.element()?, other.element()?));
        self.value.pair().and_then(elements).ok_or(Misfit::Value { cure })
    }
}

impl Answered<'_> {
    /// Returns a response that says nothing but that it was done: no value, or that of the invocation.
    pub(crate) fn done<R>(&self, response: R) -> Result<R, Misfit> {
        if self.says_nothing() { Ok(response) } else { Err(Misfit::ECHO) }
    }

    /// Returns whether the answer has no value, or that of the invocation.
    pub(crate) fn says_nothing(&self) -> bool {
        *self.value == Value::Nil || self.value == self.asked
    }

    /// Returns the value as an element, or `None` if it is none.
    pub(crate) fn optional_element(&self) -> Result<Option<Value>, Misfit> {
        match self.value {
            Value::Nil => Ok(None),
            value => value.element().map(Some).ok_or(Misfit::ELEMENT),
        }
    }
}
