//! Iterators under test.

use super::{FailFast, ListError, Mistake, Store};

/// An iterator over a [`FailFast`] list, between two items of it.
#[derive(Debug, Clone, Copy)]
pub struct Cursor {
    /// The place of the next item.
    next: usize,
    /// The place of the item that was returned last, if it can be set or removed.
    last: Option<usize>,
    /// The list's modifications as the iterator knows them.
    modifications: u32,
}

impl Cursor {
    /// Returns an iterator before the first item.
    pub fn new<S>(list: &FailFast<S>) -> Self {
        Self { next: 0, last: None, modifications: list.modifications }
    }

    /// Returns whether there is an item after it.
    pub fn has_next<S: Store>(&self, list: &FailFast<S>) -> bool {
        self.next < list.count()
    }

    /// Returns the place of the item after it.
    pub fn next_index(&self) -> usize {
        self.next
    }

    /// Returns the item after it, and goes on.
    ///
    /// # Errors
    /// [`ListError::ConcurrentModification`], or [`ListError::NoSuchElement`] at the end.
    pub fn next<S: Store>(&mut self, list: &mut FailFast<S>) -> Result<u32, ListError> {
        self.check(list)?;
        let item = list.get(self.next).map_err(|_| ListError::NoSuchElement)?;
        self.last = Some(self.next);
        self.next += 1;
        Ok(item)
    }

    /// Returns the item before it, and goes back.
    ///
    /// # Errors
    /// [`ListError::ConcurrentModification`], or [`ListError::NoSuchElement`] at the beginning.
    pub fn previous<S: Store>(&mut self, list: &mut FailFast<S>) -> Result<u32, ListError> {
        self.check(list)?;
        let place = self.next.checked_sub(1).ok_or(ListError::NoSuchElement)?;
        let item = list.get(place).map_err(|_| ListError::NoSuchElement)?;
        self.last = (list.mistake != Mistake::PreviousForgets).then_some(place);
        self.next = place;
        Ok(item)
    }

    /// Removes the item that was returned last.
    ///
    /// # Errors
    /// [`ListError::IllegalState`] if there is none, [`ListError::ConcurrentModification`].
    pub fn remove<S: Store>(&mut self, list: &mut FailFast<S>) -> Result<(), ListError> {
        let last = self.last.ok_or(ListError::IllegalState)?;
        self.check(list)?;
        list.remove(last)?;
        self.last = None;
        if list.mistake != Mistake::RemoveSkips {
            self.next = last;
        }
        if list.mistake != Mistake::RemoveFailsItself {
            self.modifications = list.modifications;
        }
        Ok(())
    }

    /// Replaces the item that was returned last.
    ///
    /// # Errors
    /// [`ListError::IllegalState`] if there is none, [`ListError::ConcurrentModification`].
    pub fn set<S: Store>(&mut self, list: &mut FailFast<S>, item: u32) -> Result<(), ListError> {
        let last = self.last.ok_or(ListError::IllegalState)?;
        self.check(list)?;
        list.set(last, item)?;
        Ok(())
    }

    /// Inserts an item before the next one.
    ///
    /// # Errors
    /// [`ListError::ConcurrentModification`].
    pub fn add<S: Store>(&mut self, list: &mut FailFast<S>, item: u32) -> Result<(), ListError> {
        self.check(list)?;
        list.insert(self.next, item)?;
        self.next += 1;
        if list.mistake != Mistake::AddKeepsLast {
            self.last = None;
        }
        self.modifications = list.modifications;
        Ok(())
    }

    fn check<S>(&self, list: &FailFast<S>) -> Result<(), ListError> {
        if self.modifications == list.modifications { Ok(()) } else { Err(ListError::ConcurrentModification) }
    }
}
