//! Durable state: what a component finds again after a crash.

use std::cell::{Ref, RefCell, RefMut};
use std::fmt;
use std::rc::Rc;

/// A value that survives crashes of its component, as what is on a disk does; made by
/// [`Context::durable`](crate::Context::durable).
///
/// A change is durable at once. A component that models a disk with a cache keeps what is not written yet in a value of
/// its own, which a crash takes away.
pub struct Durable<T>(pub(crate) Rc<RefCell<T>>);

impl<T> Durable<T> {
    /// Returns the value. It must not be held while it is changed.
    pub fn get(&self) -> Ref<'_, T> {
        self.0.borrow()
    }

    /// Returns the value to be changed. It must not be held across an await, nor while it is read.
    pub fn change(&self) -> RefMut<'_, T> {
        self.0.borrow_mut()
    }

    /// Puts another value in its place, and returns the old one.
    pub fn replace(&self, value: T) -> T {
        self.0.replace(value)
    }
}

impl<T> Clone for Durable<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: fmt::Debug> fmt::Debug for Durable<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Durable").field(&self.0).finish()
    }
}
