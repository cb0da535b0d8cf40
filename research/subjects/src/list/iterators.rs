//! The machines of iterators: one is valid until its list changes, and then fails at each use.

use simutant_models::{Machine, MachineError, Step, Stop, Transition, skip, transition};

use super::{Cursor, ITEMS_MAX, ListError, Shared, Store, Tested, expect, throws};

const STATES: [&str; 3] = ["valid", "invalid", "done"];

/// An iterator under test, and where it should be.
#[derive(Debug)]
pub(super) struct Iterating<S> {
    list: Shared<S>,
    cursor: Cursor,
    /// The place of the next item.
    next: usize,
    /// The place of the item that can be set or removed.
    last: Option<usize>,
    /// How often the list had changed when it was changed by the iterator last.
    changes: u32,
}

/// What an iterator does.
#[derive(Clone, Copy)]
enum Use {
    Next,
    Previous,
    Remove,
    Set,
    Add,
}

impl<S: Store> Iterating<S> {
    pub(crate) fn new(list: &Shared<S>) -> Self {
        let (cursor, changes) = {
            let list = list.borrow();
            (Cursor::new(&list.list), list.changes)
        };
        Self { list: list.clone(), cursor, next: 0, last: None, changes }
    }

    fn is_valid(&self) -> bool {
        self.list.borrow().changes == self.changes
    }

    fn count(&self) -> usize {
        self.list.borrow().items.len()
    }

    /// Uses the iterator in such a manner that it fails; what it says beyond that is not looked at.
    fn fail(&mut self, what: Use) -> Result<(), Stop> {
        let list = &mut self.list.borrow_mut().list;
        match what {
            Use::Next => drop(self.cursor.next(list)?),
            Use::Previous => drop(self.cursor.previous(list)?),
            Use::Remove => self.cursor.remove(list)?,
            Use::Set => self.cursor.set(list, 0)?,
            Use::Add => self.cursor.add(list, 0)?,
        }
        Ok(())
    }
}

/// Returns the machine of iterators that go forwards, and can remove.
pub(super) fn forwards<S: Store>() -> Result<Machine<Iterating<S>>, MachineError> {
    let mut transitions = going_on();
    transitions.extend(removing());
    transitions.extend(after_changes([("next", Use::Next), ("remove", Use::Remove)]));
    transitions.push(skip("valid | invalid -> done"));
    Machine::new("iterator", STATES, transitions)
}

/// Returns the machine of iterators that go in both directions, and can change the list.
pub(super) fn both_directions<S: Store>() -> Result<Machine<Iterating<S>>, MachineError> {
    let mut transitions = going_on();
    transitions.extend(going_back());
    transitions.extend(removing());
    transitions.extend(changing());
    transitions.extend(after_changes([
        ("next", Use::Next),
        ("previous", Use::Previous),
        ("remove", Use::Remove),
        ("set", Use::Set),
        ("add", Use::Add),
    ]));
    transitions.push(skip("valid | invalid -> done"));
    Machine::new("list iterator", STATES, transitions)
}

fn going_on<S: Store>() -> Vec<Transition<Iterating<S>>> {
    let has_next = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.is_valid())?;
        let has_next = iterator.cursor.has_next(&iterator.list.borrow().list);
        step.assert(has_next == (iterator.next < iterator.count()), "there is a next item, or there is not")
    };
    let next = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.is_valid() && iterator.next < iterator.count())?;
        let Iterating { list, cursor, next, last, .. } = iterator;
        let Tested { list, items, .. } = &mut *list.borrow_mut();
        let item = items[*next];
        *last = Some(*next);
        *next += 1;
        expect(step, cursor.next(list), &item)
    };
    let next_at_end = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.is_valid() && iterator.next == iterator.count())?;
        iterator.fail(Use::Next)
    };
    vec![
        transition("valid -> valid", has_next).label("has next"),
        transition("valid -> valid", next).label("next").weight(3.0),
        throws(transition("valid -> valid", next_at_end).label("next at the end"), ListError::NoSuchElement),
    ]
}

fn going_back<S: Store>() -> Vec<Transition<Iterating<S>>> {
    let next_index = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.is_valid())?;
        step.assert(iterator.cursor.next_index() == iterator.next, "the next place")
    };
    let previous = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.is_valid() && iterator.next > 0)?;
        let Iterating { list, cursor, next, last, .. } = iterator;
        let Tested { list, items, .. } = &mut *list.borrow_mut();
        *next -= 1;
        *last = Some(*next);
        expect(step, cursor.previous(list), &items[*next])
    };
    let previous_at_beginning = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.is_valid() && iterator.next == 0)?;
        iterator.fail(Use::Previous)
    };
    let none = ListError::NoSuchElement;
    vec![
        transition("valid -> valid", next_index).label("next index"),
        transition("valid -> valid", previous).label("previous").weight(2.0),
        throws(transition("valid -> valid", previous_at_beginning).label("previous at the beginning"), none),
    ]
}

fn removing<S: Store>() -> Vec<Transition<Iterating<S>>> {
    let remove = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.is_valid())?;
        let Iterating { list, cursor, next, last, changes } = iterator;
        step.require(last.is_some())?;
        let tested = &mut *list.borrow_mut();
        if let Some(last) = last.take() {
            tested.items.remove(last);
            *next = last;
        }
        tested.changes += 1;
        *changes = tested.changes;
        expect(step, cursor.remove(&mut tested.list), &())
    };
    let remove_nothing = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.last.is_none())?;
        iterator.fail(Use::Remove)
    };
    vec![
        transition("valid -> valid", remove).label("remove"),
        throws(transition("valid -> valid", remove_nothing).label("remove nothing"), ListError::IllegalState),
    ]
}

fn changing<S: Store>() -> Vec<Transition<Iterating<S>>> {
    let set = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.is_valid())?;
        let Iterating { list, cursor, last, .. } = iterator;
        step.require(last.is_some())?;
        let item = step.choose(0..=9);
        let Tested { list, items, .. } = &mut *list.borrow_mut();
        if let Some(last) = *last {
            items[last] = item;
        }
        expect(step, cursor.set(list, item), &())
    };
    let set_nothing = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.last.is_none())?;
        iterator.fail(Use::Set)
    };
    let add = async |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
        step.require(iterator.is_valid() && iterator.count() < ITEMS_MAX)?;
        let item = step.choose(0..=9);
        let Iterating { list, cursor, next, last, changes } = iterator;
        let tested = &mut *list.borrow_mut();
        tested.items.insert(*next, item);
        *next += 1;
        *last = None;
        tested.changes += 1;
        *changes = tested.changes;
        expect(step, cursor.add(&mut tested.list, item), &())
    };
    vec![
        transition("valid -> valid", set).label("set"),
        throws(transition("valid -> valid", set_nothing).label("set nothing"), ListError::IllegalState),
        transition("valid -> valid", add).label("add"),
    ]
}

/// Returns the uses of an iterator whose list was changed by others: the first one makes it known.
fn after_changes<S: Store, const N: usize>(uses: [(&'static str, Use); N]) -> Vec<Transition<Iterating<S>>> {
    let mut transitions = Vec::new();
    for (name, what) in uses {
        let fails = async move |iterator: &mut Iterating<S>, step: &mut Step<'_>| {
            // What there is nothing for fails for this reason first.
            let needs_last = matches!(what, Use::Remove | Use::Set);
            step.require(!iterator.is_valid() && (iterator.last.is_some() || !needs_last))?;
            iterator.fail(what)
        };
        let failing = transition("valid | invalid -> invalid", fails).label(&format!("{name} after a change"));
        transitions.push(throws(failing, ListError::ConcurrentModification));
    }
    transitions
}
