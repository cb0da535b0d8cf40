//! What a component returns, and what it is expected to.

use std::cell::{Ref, RefCell};
use std::fmt::Debug;
use std::rc::Rc;

/// The value that a component returned, for final checks; made by [`Added::returned`](crate::Added::returned).
#[derive(Debug, Clone)]
pub struct Returned<T>(pub(crate) Rc<ResultSlot<T>>);

impl<T> Returned<T> {
    /// Returns the value, or `None` as long as the component has not returned.
    pub fn get(&self) -> Option<Ref<'_, T>> {
        Ref::filter_map(self.0.returned.borrow(), Option::as_ref).ok()
    }
}

/// Holds what is expected of a component, and what it returned.
#[derive(Debug)]
pub(crate) struct ResultSlot<T> {
    expected: RefCell<Option<T>>,
    returned: RefCell<Option<T>>,
}

impl<T> ResultSlot<T> {
    pub(crate) fn new() -> Self {
        Self { expected: RefCell::new(None), returned: RefCell::new(None) }
    }

    pub(crate) fn expect(&self, value: T) {
        self.expected.replace(Some(value));
    }

    pub(crate) fn fill(&self, value: T) {
        self.returned.replace(Some(value));
    }
}

/// How a component's result stands to its expectation; values as `Debug` shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// Nothing is expected, or what is expected was returned.
    Met,
    Mismatch {
        expected: String,
        actual: String,
    },
    NotReturned {
        expected: String,
    },
}

/// A [`ResultSlot`] of any type.
pub(crate) trait AnyResultSlot {
    fn compare(&self) -> Comparison;
    /// Returns the returned value as `Debug` shows it, or nothing.
    fn returned_text(&self) -> String;
}

impl<T: Debug + PartialEq> AnyResultSlot for ResultSlot<T> {
    fn compare(&self) -> Comparison {
        match (&*self.expected.borrow(), &*self.returned.borrow()) {
            (Some(expected), None) => Comparison::NotReturned { expected: format!("{expected:?}") },
            (Some(expected), Some(actual)) if expected != actual => {
                Comparison::Mismatch { expected: format!("{expected:?}"), actual: format!("{actual:?}") }
            }
            (Some(_), Some(_)) | (None, _) => Comparison::Met,
        }
    }

    fn returned_text(&self) -> String {
        self.returned.borrow().as_ref().map(|value| format!("{value:?}")).unwrap_or_default()
    }
}
