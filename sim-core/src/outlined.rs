//! Values whose destructors are compiled here, and not once more in each crate that simulates something.
//!
//! A run is generic over its messages, so the crate of a system compiles how a run is dropped, and with it how
//! everything is dropped that a run has: also what is the same for all systems. That was most of what the optimiser did
//! there.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// What is dropped here.
pub(crate) trait Outline: Sized {
    /// Drops the value. It must not be inlined: what is inlined is compiled elsewhere.
    fn drop_here(self);
}

/// Makes types have an [`Outline`].
macro_rules! outline {
    ($($type:ty),* $(,)?) => {
        $(impl $crate::outlined::Outline for $type {
            #[inline(never)]
            fn drop_here(self) {}
        })*
    };
}

pub(crate) use outline;

/// A value that is dropped by its [`Outline`].
pub(crate) struct Outlined<T: Outline>(ManuallyDrop<T>);

impl<T: Outline> Outlined<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T: Outline> From<T> for Outlined<T> {
    #[inline]
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

impl<T: Outline + Default> Default for Outlined<T> {
    #[inline]
    fn default() -> Self {
        T::default().into()
    }
}

impl<T: Outline + fmt::Debug> fmt::Debug for Outlined<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl<T: Outline> Deref for Outlined<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Outline> DerefMut for Outlined<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Outline> Drop for Outlined<T> {
    #[inline]
    fn drop(&mut self) {
        #[expect(
            unsafe_code,
            reason = "without an allocation, the standard library has no safe way to drop a field elsewhere"
        )]
        // SAFETY: the value is taken nowhere else, and not used after it is dropped.
        let value = unsafe { ManuallyDrop::take(&mut self.0) };
        value.drop_here();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    struct Counted(Rc<Cell<u32>>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    struct Panicking;

    impl Drop for Panicking {
        fn drop(&mut self) {
            panic!("a destructor does");
        }
    }

    type Three = (Counted, Panicking, Counted);

    outline!(Counted, Three);

    #[test]
    fn a_value_is_dropped_once() {
        let drops = Rc::new(Cell::new(0));
        let mut value = Outlined::from(Counted(Rc::clone(&drops)));
        *value = Counted(Rc::clone(&drops));
        assert_eq!(drops.get(), 1, "the one that was replaced");
        drop(value);
        assert_eq!((drops.get(), Rc::strong_count(&drops)), (2, 1));
    }

    #[test]
    fn a_destructor_that_panics_leaves_the_rest_dropped_once() {
        let drops = Rc::new(Cell::new(0));
        let three = Outlined::from((Counted(Rc::clone(&drops)), Panicking, Counted(Rc::clone(&drops))));
        let other = Outlined::from(Counted(Rc::clone(&drops)));
        let dropping = std::panic::AssertUnwindSafe(|| drop((three, other)));
        assert!(std::panic::catch_unwind(dropping).is_err());
        assert_eq!((drops.get(), Rc::strong_count(&drops)), (3, 1));
    }
}
