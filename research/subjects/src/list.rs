//! Lists with iterators, as three machines that are interleaved: a list, and iterators of one and of both directions,
//! which it launches.
//!
//! The lists are Rust's `Vec`, `VecDeque` and `LinkedList`, with what Java's lists have and Rust's borrow checker makes
//! needless: a count of modifications, by which an iterator tells that its list has changed, and fails fast.

mod cursor;
mod iterators;

use std::cell::RefCell;
use std::collections::{LinkedList, VecDeque};
use std::fmt::Debug;
use std::rc::Rc;

use simutant_models::{Instance, Machine, MachineError, Step, Stop, Transition, skip, transition};

pub use cursor::Cursor;

/// How many items a list has at most.
const ITEMS_MAX: usize = 8;

/// What holds the items of a list.
pub trait Store: Debug + Default + 'static {
    /// Whether it has operations for its ends.
    const HAS_ENDS: bool;
    /// The machine's name.
    const NAME: &'static str;

    /// Returns how many items there are.
    fn count(&self) -> usize;
    /// Returns the item at a place, if there is one.
    fn item(&mut self, place: usize) -> Option<&mut u32>;
    /// Inserts an item; there are as many before it, at least.
    fn insert(&mut self, place: usize, item: u32);
    /// Removes the item at a place, if there is one.
    fn take(&mut self, place: usize) -> Option<u32>;
}

impl Store for Vec<u32> {
    const HAS_ENDS: bool = false;
    const NAME: &'static str = "Vec";

    fn count(&self) -> usize {
        self.len()
    }

    fn item(&mut self, place: usize) -> Option<&mut u32> {
        self.get_mut(place)
    }

    fn insert(&mut self, place: usize, item: u32) {
        Self::insert(self, place, item);
    }

    fn take(&mut self, place: usize) -> Option<u32> {
        (place < self.len()).then(|| self.remove(place))
    }
}

impl Store for VecDeque<u32> {
    const HAS_ENDS: bool = true;
    const NAME: &'static str = "VecDeque";

    fn count(&self) -> usize {
        self.len()
    }

    fn item(&mut self, place: usize) -> Option<&mut u32> {
        self.get_mut(place)
    }

    fn insert(&mut self, place: usize, item: u32) {
        Self::insert(self, place, item);
    }

    fn take(&mut self, place: usize) -> Option<u32> {
        self.remove(place)
    }
}

impl Store for LinkedList<u32> {
    const HAS_ENDS: bool = true;
    const NAME: &'static str = "LinkedList";

    fn count(&self) -> usize {
        self.len()
    }

    fn item(&mut self, place: usize) -> Option<&mut u32> {
        self.iter_mut().nth(place)
    }

    fn insert(&mut self, place: usize, item: u32) {
        let mut rest = self.split_off(place);
        self.push_back(item);
        self.append(&mut rest);
    }

    fn take(&mut self, place: usize) -> Option<u32> {
        if place >= self.len() {
            return None;
        }
        let mut rest = self.split_off(place);
        let taken = rest.pop_front();
        self.append(&mut rest);
        taken
    }
}

/// What is wrong with a list or its iterators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing.
    None,
    /// Clearing a list does not count as a modification.
    ClearIsNotCounted,
    /// Setting an item counts as a modification.
    SetIsCounted,
    /// An iterator that removes an item stays where it is, and skips the next one.
    RemoveSkips,
    /// An iterator that removes an item takes this for a modification by others.
    RemoveFailsItself,
    /// After an item was added through an iterator, the one before can still be removed.
    AddKeepsLast,
    /// What a step backwards has returned cannot be set or removed.
    PreviousForgets,
    /// The first item is removed in place of the last one, from three items on.
    RemoveLastTakesFirst,
}

impl Mistake {
    /// All of them, without `None`. The last one is of lists that have operations for their ends.
    pub const ALL: [Self; 7] = [
        Self::ClearIsNotCounted,
        Self::SetIsCounted,
        Self::RemoveSkips,
        Self::RemoveFailsItself,
        Self::AddKeepsLast,
        Self::PreviousForgets,
        Self::RemoveLastTakesFirst,
    ];
}

/// Why a call of a list or an iterator fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A place that the list does not have.
    #[error("there is no such place")]
    OutOfBounds,
    /// There is no next item, or none at all.
    #[error("there is no such item")]
    NoSuchElement,
    /// There is no item that the iterator has returned last.
    #[error("the iterator has returned nothing since")]
    IllegalState,
    /// The list has changed, by others than the iterator.
    #[error("the list has changed")]
    ConcurrentModification,
}

/// A list that counts its modifications.
#[derive(Debug)]
pub struct FailFast<S> {
    items: S,
    modifications: u32,
    mistake: Mistake,
}

impl<S: Store> FailFast<S> {
    /// Returns an empty list.
    pub fn new(mistake: Mistake) -> Self {
        Self { items: S::default(), modifications: 0, mistake }
    }

    /// Returns how many items there are.
    pub fn count(&self) -> usize {
        self.items.count()
    }

    /// Inserts an item.
    ///
    /// # Errors
    /// [`ListError::OutOfBounds`] if the list has fewer items than are to be before it.
    pub fn insert(&mut self, place: usize, item: u32) -> Result<(), ListError> {
        if place > self.count() {
            return Err(ListError::OutOfBounds);
        }
        self.modifications += 1;
        self.items.insert(place, item);
        Ok(())
    }

    /// Returns an item.
    ///
    /// # Errors
    /// [`ListError::OutOfBounds`] if there is none.
    pub fn get(&mut self, place: usize) -> Result<u32, ListError> {
        self.items.item(place).copied().ok_or(ListError::OutOfBounds)
    }

    /// Replaces an item, and returns the one before.
    ///
    /// # Errors
    /// [`ListError::OutOfBounds`] if there is none.
    pub fn set(&mut self, place: usize, item: u32) -> Result<u32, ListError> {
        let before = self.items.item(place).map(|known| std::mem::replace(known, item));
        self.modifications += u32::from(self.mistake == Mistake::SetIsCounted);
        before.ok_or(ListError::OutOfBounds)
    }

    /// Removes an item.
    ///
    /// # Errors
    /// [`ListError::OutOfBounds`] if there is none.
    pub fn remove(&mut self, place: usize) -> Result<u32, ListError> {
        let removed = self.items.take(place).ok_or(ListError::OutOfBounds)?;
        self.modifications += 1;
        Ok(removed)
    }

    /// Removes all items.
    pub fn clear(&mut self) {
        self.items = S::default();
        self.modifications += u32::from(self.mistake != Mistake::ClearIsNotCounted);
    }

    /// Returns where an item is first.
    pub fn index_of(&mut self, item: u32) -> Option<usize> {
        (0..self.count()).find(|&place| self.get(place) == Ok(item))
    }

    /// Returns the first or last item.
    ///
    /// # Errors
    /// [`ListError::NoSuchElement`] if there is none.
    pub fn end(&mut self, is_last: bool) -> Result<u32, ListError> {
        let place = if is_last { self.count().saturating_sub(1) } else { 0 };
        self.get(place).map_err(|_| ListError::NoSuchElement)
    }

    /// Removes the first or last item.
    ///
    /// # Errors
    /// [`ListError::NoSuchElement`] if there is none.
    pub fn remove_end(&mut self, is_last: bool) -> Result<u32, ListError> {
        let takes_first = self.mistake == Mistake::RemoveLastTakesFirst && self.count() >= 3;
        let place = if is_last && !takes_first { self.count().saturating_sub(1) } else { 0 };
        self.remove(place).map_err(|_| ListError::NoSuchElement)
    }
}

/// A list under test, and what its items should be.
#[derive(Debug)]
pub struct Tested<S> {
    pub(crate) list: FailFast<S>,
    pub(crate) items: Vec<u32>,
    /// How often the items have changed.
    pub(crate) changes: u32,
}

/// A list that its iterators have in common.
pub type Shared<S> = Rc<RefCell<Tested<S>>>;

/// Fails the test unless a call came to what it should.
pub(crate) fn expect<T: PartialEq>(step: &mut Step<'_>, got: Result<T, ListError>, want: &T) -> Result<(), Stop> {
    let got = got?;
    step.assert(got == *want, "the list does what a list does")
}

/// Expects an exception of a transition.
pub(crate) fn throws<M: 'static>(transition: Transition<M>, expected: ListError) -> Transition<M> {
    transition.throws(&format!("{expected:?}"), move |error: &ListError| *error == expected)
}

/// Returns the machine of a list: of a state in which it changes and launches iterators, and one in which it is done.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn machine<S: Store>() -> Result<Machine<Shared<S>>, MachineError> {
    let mut transitions = changes();
    transitions.extend(questions());
    if S::HAS_ENDS {
        transitions.extend(ends());
    }
    let iterator = iterators::forwards::<S>()?;
    let list_iterator = iterators::both_directions::<S>()?;
    let launched = |machine: Machine<iterators::Iterating<S>>| {
        async move |list: &mut Shared<S>, step: &mut Step<'_>| {
            step.launch(machine.with(iterators::Iterating::new(list)));
            Ok(())
        }
    };
    transitions.push(transition("list -> list", launched(iterator)).label("iterator"));
    transitions.push(transition("list -> list", launched(list_iterator)).label("list iterator"));
    transitions.push(skip("list -> done").weight(0.3));
    let machine = Machine::new(S::NAME, ["list", "done"], transitions)?;
    Ok(machine.invariant("as many items as there should be", |list| {
        let list = list.borrow();
        list.list.count() == list.items.len()
    }))
}

/// Returns an instance of the machine, with an empty list.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn instance<S: Store>(mistake: Mistake) -> Result<Box<dyn Instance>, MachineError> {
    let list = Tested { list: FailFast::<S>::new(mistake), items: Vec::new(), changes: 0 };
    Ok(machine()?.with(Rc::new(RefCell::new(list))))
}

/// Chooses a place below a count; backtracks if there is none.
fn place(step: &mut Step<'_>, count: usize) -> Result<usize, Stop> {
    step.require(count > 0)?;
    Ok(step.choose(0..=count as u32 - 1) as usize)
}

fn changes<S: Store>() -> Vec<Transition<Shared<S>>> {
    let add = async |list: &mut Shared<S>, step: &mut Step<'_>| {
        let Tested { list, items, changes } = &mut *list.borrow_mut();
        step.require(items.len() < ITEMS_MAX)?;
        let item = step.choose(0..=9);
        let added = list.insert(items.len(), item);
        items.push(item);
        *changes += 1;
        expect(step, added, &())
    };
    let insert = async |list: &mut Shared<S>, step: &mut Step<'_>| {
        let Tested { list, items, changes } = &mut *list.borrow_mut();
        step.require(items.len() < ITEMS_MAX)?;
        let (place, item) = (place(step, items.len() + 1)?, step.choose(0..=9));
        let inserted = list.insert(place, item);
        items.insert(place, item);
        *changes += 1;
        expect(step, inserted, &())
    };
    let set = async |list: &mut Shared<S>, step: &mut Step<'_>| {
        let Tested { list, items, .. } = &mut *list.borrow_mut();
        let (place, item) = (place(step, items.len())?, step.choose(0..=9));
        let before = std::mem::replace(&mut items[place], item);
        expect(step, list.set(place, item), &before)
    };
    let remove = async |list: &mut Shared<S>, step: &mut Step<'_>| {
        let Tested { list, items, changes } = &mut *list.borrow_mut();
        let place = place(step, items.len())?;
        let removed = items.remove(place);
        *changes += 1;
        expect(step, list.remove(place), &removed)
    };
    let clear = async |list: &mut Shared<S>, _: &mut Step<'_>| {
        let Tested { list, items, changes } = &mut *list.borrow_mut();
        list.clear();
        items.clear();
        *changes += 1;
        Ok(())
    };
    let insert_outside = async |list: &mut Shared<S>, _: &mut Step<'_>| {
        let Tested { list, items, .. } = &mut *list.borrow_mut();
        Ok::<(), Stop>(list.insert(items.len() + 1, 0)?)
    };
    let remove_outside = async |list: &mut Shared<S>, _: &mut Step<'_>| {
        let Tested { list, items, .. } = &mut *list.borrow_mut();
        list.remove(items.len())?;
        Ok::<(), Stop>(())
    };
    vec![
        transition("list -> list", add).label("add").weight(3.0),
        transition("list -> list", insert).label("insert"),
        transition("list -> list", set).label("set"),
        transition("list -> list", remove).label("remove"),
        transition("list -> list", clear).label("clear").weight(0.3),
        throws(transition("list -> list", insert_outside).label("insert outside"), ListError::OutOfBounds),
        throws(transition("list -> list", remove_outside).label("remove outside"), ListError::OutOfBounds),
    ]
}

fn questions<S: Store>() -> Vec<Transition<Shared<S>>> {
    let get = async |list: &mut Shared<S>, step: &mut Step<'_>| {
        let Tested { list, items, .. } = &mut *list.borrow_mut();
        let place = place(step, items.len())?;
        expect(step, list.get(place), &items[place])
    };
    let get_outside = async |list: &mut Shared<S>, _: &mut Step<'_>| {
        let Tested { list, items, .. } = &mut *list.borrow_mut();
        list.get(items.len())?;
        Ok::<(), Stop>(())
    };
    let index_of = async |list: &mut Shared<S>, step: &mut Step<'_>| {
        let Tested { list, items, .. } = &mut *list.borrow_mut();
        let item = step.choose(0..=9);
        let found = Ok(list.index_of(item));
        expect(step, found, &items.iter().position(|known| *known == item))
    };
    vec![
        transition("list -> list", get).label("get"),
        throws(transition("list -> list", get_outside).label("get outside"), ListError::OutOfBounds),
        transition("list -> list", index_of).label("index of"),
    ]
}

fn ends<S: Store>() -> Vec<Transition<Shared<S>>> {
    let add_first = async |list: &mut Shared<S>, step: &mut Step<'_>| {
        let Tested { list, items, changes } = &mut *list.borrow_mut();
        step.require(items.len() < ITEMS_MAX)?;
        let item = step.choose(0..=9);
        items.insert(0, item);
        *changes += 1;
        expect(step, list.insert(0, item), &())
    };
    let mut transitions = vec![transition("list -> list", add_first).label("add first")];
    for (is_last, name) in [(false, "first"), (true, "last")] {
        let end = async move |list: &mut Shared<S>, step: &mut Step<'_>| {
            let Tested { list, items, .. } = &mut *list.borrow_mut();
            let item = if is_last { items.last() } else { items.first() };
            step.require(item.is_some())?;
            let got = list.end(is_last).map(Some);
            expect(step, got, &item.copied())
        };
        let end_of_none = async move |list: &mut Shared<S>, step: &mut Step<'_>| {
            let Tested { list, items, .. } = &mut *list.borrow_mut();
            step.require(items.is_empty())?;
            list.end(is_last)?;
            Ok::<(), Stop>(())
        };
        let remove = async move |list: &mut Shared<S>, step: &mut Step<'_>| {
            let Tested { list, items, changes } = &mut *list.borrow_mut();
            step.require(!items.is_empty())?;
            let removed = items.remove(if is_last { items.len() - 1 } else { 0 });
            *changes += 1;
            expect(step, list.remove_end(is_last), &removed)
        };
        let remove_of_none = async move |list: &mut Shared<S>, step: &mut Step<'_>| {
            let Tested { list, items, .. } = &mut *list.borrow_mut();
            step.require(items.is_empty())?;
            list.remove_end(is_last)?;
            Ok::<(), Stop>(())
        };
        let none = ListError::NoSuchElement;
        transitions.extend([
            transition("list -> list", end).label(name),
            throws(transition("list -> list", end_of_none).label(&format!("{name} of none")), none),
            transition("list -> list", remove).label(&format!("remove {name}")),
            throws(transition("list -> list", remove_of_none).label(&format!("remove {name} of none")), none),
        ]);
    }
    transitions
}
