//! Slots that outlive calls, and what literals say of the objects that they make.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Relaxed;

/// The number of the last definition of a variable that outlives a call.
#[derive(Debug, Default)]
pub struct Slot(AtomicU16);

impl Slot {
    /// Returns the number.
    #[inline]
    pub fn get(&self) -> u16 {
        self.0.load(Relaxed)
    }

    /// Changes the number.
    #[inline]
    pub fn set(&self, definition: u16) {
        self.0.store(definition, Relaxed);
    }
}

thread_local! {
    /// What it holds has been lent for as long as the process lives, so the end of a thread takes nothing away.
    pub(super) static STORE: RefCell<ManuallyDrop<Store>> = const { RefCell::new(ManuallyDrop::new(Store::new())) };
}

/// The slots that outlive the call of a function.
pub(super) struct Store {
    /// Slots of calls: by how many they are.
    pools: Vec<Pool<[Slot]>>,
    /// Slots of objects: by how many they are.
    object_pools: Vec<Pool<Object>>,
    /// Of the types from [`TYPES`](super::objects::TYPES) on.
    births: BTreeMap<u32, &'static Births>,
}

/// What has been lent before; the first `lent` are in use.
struct Pool<T: ?Sized + 'static> {
    lent: usize,
    all: Vec<&'static T>,
}

/// An object whose methods were called.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) slots: Box<[Slot]>,
    /// How many objects of the type had been born when it was seen last.
    pub(super) births_seen: Cell<u32>,
    /// Of those that are not there any more, the next one with as many slots.
    pub(super) next: Cell<Option<&'static Self>>,
}

/// What is known of the births of objects of one type.
#[derive(Debug, Default)]
pub(super) struct Births {
    pub(super) total: Cell<u32>,
    /// How many of them there are whose object has not been seen yet.
    waiting: Cell<u32>,
    /// The definitions of the literal that made those, empty if they are of several.
    definitions: Cell<&'static [u16]>,
}

impl<T: ?Sized + 'static> Pool<T> {
    /// Returns one of the things in `pools` of a length that nobody has, made by `make` if there is none.
    fn lend(pools: &mut Vec<Self>, length: usize, make: impl FnOnce() -> Box<T>) -> &'static T {
        if pools.len() <= length {
            pools.resize_with(length + 1, || Self { lent: 0, all: Vec::new() });
        }
        let Self { lent, all } = &mut pools[length];
        if *lent == all.len() {
            all.push(Box::leak(make()));
        }
        *lent += 1;
        all[*lent - 1]
    }
}

fn new_slots(length: usize) -> Box<[Slot]> {
    (0..length).map(|_| Slot::default()).collect()
}

impl Store {
    pub(super) const fn new() -> Self {
        Self { pools: Vec::new(), object_pools: Vec::new(), births: BTreeMap::new() }
    }

    /// What was lent can still be held by what the last run left: its slots are lent again, never freed.
    pub(super) fn clear(&mut self) {
        self.pools.iter_mut().for_each(|pool| pool.lent = 0);
        self.object_pools.iter_mut().for_each(|pool| pool.lent = 0);
        self.births.values().for_each(|births| births.clear());
    }

    pub(super) fn slots(&mut self, length: usize) -> &'static [Slot] {
        let slots = Pool::lend(&mut self.pools, length, || new_slots(length));
        slots.iter().for_each(|slot| slot.set(0));
        slots
    }

    pub(super) fn object(&mut self, length: usize) -> &'static Object {
        let make = || Box::new(Object { slots: new_slots(length), births_seen: Cell::new(0), next: Cell::new(None) });
        Pool::lend(&mut self.object_pools, length, make)
    }
}

impl Object {
    /// Begins with the definitions of the literal that made the object; with none if that is unknown.
    pub(super) fn begin(&self, births: &Births) {
        self.births_seen.set(births.total.get());
        let definitions = births.attribute();
        for (index, slot) in self.slots.iter().enumerate() {
            slot.set(definitions.get(index).copied().unwrap_or(0));
        }
    }
}

impl Births {
    pub(super) const fn new() -> Self {
        Self { total: Cell::new(0), waiting: Cell::new(0), definitions: Cell::new(&[]) }
    }

    pub(super) fn clear(&self) {
        self.total.set(0);
        self.waiting.set(0);
    }

    #[inline(always)]
    pub(super) fn add(&self, definitions: &'static [u16]) {
        self.total.set(self.total.get().wrapping_add(1));
        let (waiting, known) = (self.waiting.get(), self.definitions.get());
        self.waiting.set(waiting.saturating_add(1));
        if waiting == 0 {
            self.definitions.set(definitions);
        } else if !std::ptr::eq(known, definitions) && known != definitions {
            self.definitions.set(&[]);
        }
    }

    /// Returns the definitions with which an object begins that was not known; none if they cannot be told.
    pub(super) fn attribute(&self) -> &'static [u16] {
        let definitions = self.definitions.get();
        match self.waiting.get() {
            0 => return &[],
            _ if definitions.is_empty() => self.waiting.set(0),
            waiting => self.waiting.set(waiting - 1),
        }
        definitions
    }
}

#[cold]
#[inline(never)]
pub(super) fn births_in_store(type_number: u32) -> &'static Births {
    STORE.with_borrow_mut(|store| *store.births.entry(type_number).or_insert_with(|| Box::leak(Box::default())))
}
