//! Definitions and uses: which definition of a variable each use sees.
//!
//! For every variable the number of its last definition is kept, 0 before the first. That of a local variable is a
//! local variable itself, which the compiler keeps in a register or knows; it belongs to one call of a function, so
//! that recursion and interleaved futures cannot mix them up. Where a closure or an `async` block shares the variable,
//! it is a [`Slot`] that outlives the call. The slots of the fields of `self` belong to the object. They are atomic
//! only so that a future or closure that mentions them stays `Send`.
//!
//! # Objects
//!
//! An object is known by its type and address. A struct literal is a birth: its definitions wait until a method is
//! called on an object that was not known. They are given to it if all births that wait are of one literal, else it
//! begins without definitions. An object on which a method is called after another of its type was born may have been
//! replaced by that one: it begins again without definitions. So pairs can be missed, and a false one is recorded only
//! if an object takes the place of another of its type without a birth in between, as a clone can.
//!
//! An object that is moved out of its place on the stack is not followed, and the next one there is taken for it. Which
//! place that is the compiler chooses: a build that lays the stack out in another way can miss other pairs.
//!
//! Where memory is given back, what was known of the objects there is forgotten, and where a block is moved, it moves
//! along ([`freed`], [`moved`]): what a run covers must not depend on which addresses the allocator happens to give it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Relaxed;

use crate::marks::{Row, take, used_on};
use crate::{Attempt, RUN};

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
    static STORE: RefCell<ManuallyDrop<Store>> = const { RefCell::new(ManuallyDrop::new(Store::new())) };
}

/// The slots that outlive the call of a function.
struct Store {
    /// Slots of calls: by how many they are.
    pools: Vec<Pool<[Slot]>>,
    /// Slots of objects: by how many they are.
    object_pools: Vec<Pool<Object>>,
    /// Of the types from [`TYPES`] on.
    births: BTreeMap<u32, &'static Births>,
}

/// What has been lent before; the first `lent` are in use.
struct Pool<T: ?Sized + 'static> {
    lent: usize,
    all: Vec<&'static T>,
}

/// An object whose methods were called.
#[derive(Debug)]
struct Object {
    slots: Box<[Slot]>,
    /// How many objects of the type had been born when it was seen last.
    births_seen: Cell<u32>,
    /// Of those that are not there any more, the next one with as many slots.
    next: Cell<Option<&'static Self>>,
}

/// What is known of the births of objects of one type.
#[derive(Debug, Default)]
struct Births {
    total: Cell<u32>,
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
    const fn new() -> Self {
        Self { pools: Vec::new(), object_pools: Vec::new(), births: BTreeMap::new() }
    }

    /// What was lent can still be held by what the last run left: its slots are lent again, never freed.
    fn clear(&mut self) {
        self.pools.iter_mut().for_each(|pool| pool.lent = 0);
        self.object_pools.iter_mut().for_each(|pool| pool.lent = 0);
        self.births.values().for_each(|births| births.clear());
    }

    fn slots(&mut self, length: usize) -> &'static [Slot] {
        let slots = Pool::lend(&mut self.pools, length, || new_slots(length));
        slots.iter().for_each(|slot| slot.set(0));
        slots
    }

    fn object(&mut self, length: usize) -> &'static Object {
        let make = || Box::new(Object { slots: new_slots(length), births_seen: Cell::new(0), next: Cell::new(None) });
        Pool::lend(&mut self.object_pools, length, make)
    }
}

impl Object {
    /// Begins with the definitions of the literal that made the object; with none if that is unknown.
    fn begin(&self, births: &Births) {
        self.births_seen.set(births.total.get());
        let definitions = births.attribute();
        for (index, slot) in self.slots.iter().enumerate() {
            slot.set(definitions.get(index).copied().unwrap_or(0));
        }
    }
}

impl Births {
    const fn new() -> Self {
        Self { total: Cell::new(0), waiting: Cell::new(0), definitions: Cell::new(&[]) }
    }

    fn clear(&self) {
        self.total.set(0);
        self.waiting.set(0);
    }

    #[inline(always)]
    fn add(&self, definitions: &'static [u16]) {
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
    fn attribute(&self) -> &'static [u16] {
        let definitions = self.definitions.get();
        match self.waiting.get() {
            0 => return &[],
            _ if definitions.is_empty() => self.waiting.set(0),
            waiting => self.waiting.set(waiting - 1),
        }
        definitions
    }
}

/// How many types are found without a search.
const TYPES: usize = 64;
/// How many objects are. Memory to clear for a run, against searches for objects that took each other's place.
const RECENT: usize = 256;
/// How many places there are for objects at first; a power of two.
const OBJECTS: usize = 64;
/// Objects with fewer slots than this are lent again when they are gone.
const LENGTHS: usize = 256;
/// So many bytes of memory are a line.
const LINE: usize = 64;
/// Objects at addresses with the same quotient by this have a place in common.
const GROUP: usize = 8;

/// The objects whose methods were called in a run, and the births.
#[derive(Debug)]
pub(crate) struct Objects {
    births: [Births; TYPES],
    /// Those that were called last, each at the place that its address gives.
    recent: [Cell<Known>; RECENT],
    /// All, each at the place that its address gives, or at the next free one. A table that is full by half is replaced
    /// by a larger one, and never freed: there are as many as the logarithm of the most objects.
    known: Cell<&'static [Cell<Known>]>,
    count: Cell<usize>,
    /// A bit for each line of memory in which an object was known; lines share bits. So there is little to do for most
    /// memory that is given back.
    lines: [Cell<u64>; 64],
    /// Objects that are gone, by how many slots they have.
    gone: [Cell<Option<&'static Object>>; LENGTHS],
    /// The number of the run.
    run: Cell<u32>,
}

/// An object that is known.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The run that knows it; another one takes the place for a free one.
    run: u32,
    type_number: u32,
    address: usize,
    object: Option<&'static Object>,
}

impl Known {
    const FREE: Self = Self { run: 0, type_number: 0, address: 0, object: None };

    #[inline(always)]
    fn is(&self, type_number: u32, address: usize) -> bool {
        self.address == address && self.type_number == type_number
    }
}

impl Objects {
    pub(crate) const fn new() -> Self {
        Self {
            births: [const { Births::new() }; TYPES],
            recent: [const { Cell::new(Known::FREE) }; RECENT],
            known: Cell::new(&[]),
            count: Cell::new(0),
            lines: [const { Cell::new(0) }; 64],
            gone: [const { Cell::new(None) }; LENGTHS],
            run: Cell::new(0),
        }
    }

    /// Begins a recording.
    pub(crate) fn start(&self) {
        self.births.iter().for_each(Births::clear);
        STORE.with_borrow_mut(|store| store.clear());
        self.count.set(0);
        self.recent.iter().for_each(|known| known.set(Known::FREE));
        self.lines.iter().for_each(|bits| bits.set(0));
        self.gone.iter().for_each(|objects| objects.set(None));
        self.run.set(self.run.get().wrapping_add(1));
        if self.run.get() == 0 {
            // So many runs were there that their numbers begin anew.
            self.known.get().iter().for_each(|known| known.set(Known::FREE));
            self.run.set(1);
        }
    }

    #[inline(always)]
    fn births(&self, type_number: u32) -> &Births {
        self.births.get(type_number as usize).unwrap_or_else(|| births_in_store(type_number))
    }

    /// Looks for an object wherever it may stand, and adds it if it is not known.
    fn find(&self, type_number: u32, address: usize, length: usize) -> &'static Object {
        self.make_room();
        let births = self.births(type_number);
        let run = self.run.get();
        let place = self.place(address, |known| known.run != run || known.is(type_number, address));
        let known = |object| Known { run, type_number, address, object: Some(object) };
        let object = match place.get() {
            Known { run: its_run, object: Some(object), .. } if its_run == run => {
                if object.births_seen.replace(births.total.get()) != births.total.get() {
                    object.slots.iter().for_each(|slot| slot.set(0));
                }
                object
            }
            _ => {
                let object = self.lend(length);
                object.begin(births);
                self.add(place, known(object));
                object
            }
        };
        self.recent[recent_place_of(address)].set(known(object));
        object
    }

    fn lend(&self, length: usize) -> &'static Object {
        let gone = self.gone.get(length).and_then(|objects| {
            let first = objects.take()?;
            objects.set(first.next.take());
            Some(first)
        });
        gone.unwrap_or_else(|| STORE.with_borrow_mut(|store| store.object(length)))
    }

    fn add(&self, place: &Cell<Known>, known: Known) {
        place.set(known);
        self.count.set(self.count.get() + 1);
        let (word, bit) = self.line(known.address / LINE);
        word.set(word.get() | bit);
    }

    /// Returns the bit of a line, in its word.
    fn line(&self, line: usize) -> (&Cell<u64>, u64) {
        let number = line ^ (line / 4096);
        (&self.lines[number / 64 % 64], 1 << (number % 64))
    }

    /// Takes all objects in a range of addresses out, and calls `action` with each.
    fn take_all(&self, addresses: &Range<usize>, mut action: impl FnMut(Known)) {
        if self.count.get() == 0 || addresses.is_empty() {
            return;
        }
        let (first, last) = (addresses.start / GROUP, (addresses.end - 1) / GROUP);
        if last - first > 8 * self.known.get().len() {
            // A block so large that there are fewer objects than places in it where one could be.
            return self.take_all_by_scan(addresses, action);
        }
        let mut group = first;
        while group <= last {
            let line = group * GROUP / LINE;
            let (word, bit) = self.line(line);
            let end = (line + 1) * (LINE / GROUP);
            if word.get() & bit != 0 {
                for group in group..end.min(last + 1) {
                    while let Some(known) = self.take(group, addresses) {
                        action(known);
                    }
                }
            }
            group = end;
        }
    }

    /// As [`Self::take_all`], by a look at each place of the table.
    fn take_all_by_scan(&self, addresses: &Range<usize>, mut action: impl FnMut(Known)) {
        let (known, run) = (self.known.get(), self.run.get());
        for place in known {
            // What stands behind one that is taken moves up, so the place is looked at until nothing in it fits.
            while let Known { run: its_run, address, .. } = place.get()
                && its_run == run
                && addresses.contains(&address)
                && let Some(taken) = self.take(address / GROUP, addresses)
            {
                action(taken);
            }
        }
    }

    /// Takes one object out that is in the range and in this group of addresses, if there is one.
    fn take(&self, group: usize, addresses: &Range<usize>) -> Option<Known> {
        let (known, run) = (self.known.get(), self.run.get());
        let fits = |known: &Known| known.address / GROUP == group && addresses.contains(&known.address);
        let mut gap = self.place(group * GROUP, |known| known.run != run || fits(known));
        let taken = gap.get();
        if taken.run != run {
            return None;
        }
        // What stands behind it moves up, so that a search still ends at the first free place.
        let mask = known.len() - 1;
        let index = |place: &Cell<Known>| known.element_offset(place).expect("a place of the table");
        let mut next = (index(gap) + 1) & mask;
        while known[next].get().run == run {
            let home = place_of(known[next].get().address) & mask;
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(index(gap)) & mask {
                gap.set(known[next].get());
                gap = &known[next];
            }
            next = (next + 1) & mask;
        }
        gap.set(Known::FREE);
        self.count.set(self.count.get() - 1);
        let recent = &self.recent[recent_place_of(taken.address)];
        if recent.get().is(taken.type_number, taken.address) {
            recent.set(Known::FREE);
        }
        Some(taken)
    }

    #[inline(never)]
    fn freed(&self, addresses: &Range<usize>) {
        self.take_all(addresses, |known| {
            if let Some(object) = known.object
                && let Some(gone) = self.gone.get(object.slots.len())
            {
                object.next.set(gone.replace(Some(object)));
            }
        });
    }

    #[inline(never)]
    fn moved(&self, from: &Range<usize>, to: usize) {
        self.take_all(from, |known| {
            // There is room for one that was taken.
            let known = Known { address: known.address - from.start + to, ..known };
            let run = self.run.get();
            let place =
                self.place(known.address, |other| other.run != run || other.is(known.type_number, known.address));
            self.add(place, known);
        });
    }

    /// Returns the first place that fits, from the one on that the address gives; some place does.
    fn place(&self, address: usize, fits: impl Fn(&Known) -> bool) -> &'static Cell<Known> {
        let known = self.known.get();
        let mask = known.len() - 1;
        let mut place = place_of(address) & mask;
        while !fits(&known[place].get()) {
            place = (place + 1) & mask;
        }
        &known[place]
    }

    fn make_room(&self) {
        if 2 * self.count.get() >= self.known.get().len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&self) {
        let before = self.known.get();
        let length = (2 * before.len()).max(OBJECTS);
        self.known.set(Vec::leak(vec![Cell::new(Known::FREE); length]));
        let run = self.run.get();
        for known in before.iter().map(Cell::get).filter(|known| known.run == run) {
            self.place(known.address, |other| other.run != run).set(known);
        }
    }
}

/// Mixes the bits of an address. Objects lie side by side, in a few regions of the memory.
#[inline(always)]
fn place_of(address: usize) -> usize {
    (address / 8) ^ (address / 512)
}

/// Returns the place of an object among those that were called last: less work, and a few more that share one.
#[inline(always)]
fn recent_place_of(address: usize) -> usize {
    address / 8 % RECENT
}

#[cold]
#[inline(never)]
fn births_in_store(type_number: u32) -> &'static Births {
    STORE.with_borrow_mut(|store| *store.births.entry(type_number).or_insert_with(|| Box::leak(Box::default())))
}

/// Returns slots that live as long as anything may hold them.
pub fn slots<const LENGTH: usize>() -> &'static [Slot; LENGTH] {
    let slots = STORE.with_borrow_mut(|store| store.slots(LENGTH));
    slots.first_chunk().expect("they are of this length")
}

/// Returns the slots of the fields of the object of a type at an address.
#[inline(always)]
pub fn object<T: ?Sized, const LENGTH: usize>(type_number: u32, object: *const T) -> &'static [Slot; LENGTH] {
    let address = object.cast::<()>().addr();
    let known = RUN.with(move |run| run.objects.recent[recent_place_of(address)].get());
    let object = match known.object {
        Some(object) if known.is(type_number, address) => {
            let births = RUN.with(move |run| run.objects.births(type_number).total.get());
            let slots = slots_of(object);
            if object.births_seen.get() != births {
                object.births_seen.set(births);
                forget(slots);
            }
            return slots;
        }
        _ => find(type_number, address, LENGTH),
    };
    slots_of(object)
}

#[inline(always)]
fn slots_of<const LENGTH: usize>(object: &'static Object) -> &'static [Slot; LENGTH] {
    object.slots.first_chunk().expect("all objects of a type have as many")
}

/// As many as the compiler knows: it needs no loop.
#[inline(never)]
fn forget<const LENGTH: usize>(slots: &[Slot; LENGTH]) {
    slots.iter().for_each(|slot| slot.set(0));
}

#[inline(never)]
fn find(type_number: u32, address: usize, length: usize) -> &'static Object {
    RUN.with(|run| run.objects.find(type_number, address, length))
}

/// Says that a block of memory was given back: the objects in it are gone. For allocators, so it never unwinds.
#[inline]
pub fn freed(address: usize, bytes: usize) {
    RUN.with(|run| {
        if run.is_recorded() {
            run.objects.freed(&(address..address + bytes));
        }
    });
}

/// Says that a block of memory has other bounds now, with the objects in what is left of it. For allocators, so it
/// never unwinds.
#[inline]
pub fn moved(from: usize, bytes: usize, to: usize, new_bytes: usize) {
    RUN.with(|run| {
        if run.is_recorded() {
            let left = from + bytes.min(new_bytes);
            run.objects.freed(&(left..from + bytes));
            if from != to {
                run.objects.moved(&(from..left), to);
            }
        }
    });
}

/// Notes that a struct literal makes an object of a type, with the definitions of its fields.
#[inline(always)]
pub fn birth(type_number: u32, definitions: &'static [u16]) {
    RUN.with(move |run| run.objects.births(type_number).add(definitions));
}

/// A use in what decides, or after it: the definition that it saw, and its row, where each definition has a mark for
/// each of two ways.
pub type Held = (u16, Row);

/// Notes which way a condition goes with the uses in it, and hands its value on. The first of two marks is for `true`.
#[inline(always)]
pub fn branch<const N: usize>(condition: bool, first: u32, held: [Held; N]) -> bool {
    // Two ways: the compiler lets them run on into those of the code, where it knows more.
    if condition {
        decided(&held, first, 0)
    } else {
        decided(&held, first, 1)
    }
    condition
}

/// As [`branch`], for a condition that leads to nothing which has a probe: the compiler may do without a branch.
#[inline(always)]
pub fn select<const N: usize>(condition: bool, first: u32, held: [Held; N]) -> bool {
    decided(&held, first, usize::from(!condition));
    condition
}

#[inline(always)]
fn decided(held: &[Held], first: u32, way: usize) {
    for &(definition, row) in held {
        used_on(definition, row, way);
    }
    take(first, way);
}

/// Notes which way a `?` goes with the uses in its operand, and hands that on. The first of two marks is for going on.
#[inline(always)]
pub fn question<T: Attempt, const N: usize>(attempt: T, first: u32, held: [Held; N]) -> T {
    _ = branch(attempt.continues(), first, held);
    attempt
}

/// An iterator that notes whether it goes on; see [`iterate`].
#[derive(Debug)]
pub struct Iterate<I, const FIRST: u32, const N: usize> {
    inner: I,
    held: [Held; N],
}

impl<I: Iterator, const FIRST: u32, const N: usize> Iterator for Iterate<I, FIRST, N> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        let item = self.inner.next();
        _ = branch(item.is_some(), FIRST, self.held);
        item
    }
}

/// Makes the iterator of a `for` loop note, each time, whether the loop goes on, with the uses in its head. The first
/// of two marks is for going on.
#[inline]
pub fn iterate<const FIRST: u32, const N: usize, I: IntoIterator>(
    items: I,
    held: [Held; N],
) -> Iterate<I::IntoIter, FIRST, N> {
    Iterate { inner: items.into_iter(), held }
}

/// Hands the value of a condition on.
#[inline]
pub fn holds(condition: bool) -> bool {
    condition
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marks::{Function, NO_PAIR, UNLISTED, used};
    use crate::record::{Recording, Sizes};

    fn recorded(pairs: &'static [u32], action: impl FnOnce()) -> Recording {
        let function: &Function =
            Box::leak(Box::new(Function::new(0, [0, 50], [0, 2], (0, &[]), (pairs, &[]), (0, &[]), ([0, 0], [0, 0]))));
        // Threads know what they recorded; each test has one of its own.
        crate::start_recording(10, Sizes { blocks: 0, branches: 2, pairs: 100, conditions: 0, mutants: 0 });
        function.enter();
        action();
        crate::finish().recording.expect("it was recorded")
    }

    #[test]
    fn a_use_sees_the_last_definition() {
        let recording = recorded(&[NO_PAIR, 70, 71, NO_PAIR, NO_PAIR, 2, 4, 3, UNLISTED], || {
            let [slot] = slots();
            used(slot.get(), Row::new(3, 1, 3));
            slot.set(2);
            used(slot.get(), Row::new(3, 1, 3));
            assert!(branch(true, 1, [(slot.get(), Row::new(6, 2, 3))]));
            assert!(!select(false, 1, [(slot.get(), Row::new(6, 2, 3)), (1, Row::new(6, 2, 3))]));
        });
        assert_eq!((recording.pairs, recording.branches), (vec![3, 4, 71], vec![0, 1]));
        assert_eq!(recording.pairs_unlisted, 1);
    }

    #[test]
    fn a_loop_keeps_the_definitions_of_its_head() {
        let recording = recorded(&[NO_PAIR, NO_PAIR, 0, 1, 2, 3], || {
            let mut definition = 1;
            for turn in iterate::<1, 1, _>(0..2, [(definition, Row::new(3, 2, 1))]) {
                definition = 2;
                assert_eq!(turn / 2, 0);
            }
            assert_eq!(definition, 2);
        });
        assert_eq!((recording.pairs, recording.branches), (vec![0, 1], vec![0, 1]));
    }

    #[test]
    fn calls_have_slots_of_their_own() {
        recorded(&[], || {
            let ([first], [second]) = (slots(), slots());
            first.set(1);
            assert_eq!(second.get(), 0);
        });
        recorded(&[], || {
            let [first] = slots();
            assert_eq!(first.get(), 0, "they are lent again");
        });
    }

    /// The first field's definition of the object at `address`.
    fn seen(type_number: u32, address: usize) -> u16 {
        let [first, _] = object(type_number, std::ptr::without_provenance::<u8>(address));
        first.get()
    }

    #[test]
    fn an_object_has_the_definitions_of_the_literal_that_made_it() {
        for type_number in [3, TYPES as u32] {
            recorded(&[], || {
                birth(type_number, &[5, 6]);
                birth(type_number, &[5, 6]);
                let of = |address| seen(type_number, address);
                assert_eq!((of(16), of(32), of(48)), (5, 5, 0), "the third was not born");
                birth(type_number, &[5, 6]);
                assert_eq!(of(16), 0, "it may be another");
                assert_eq!((of(64), of(64)), (5, 5));
                birth(type_number, &[5, 6]);
                birth(type_number, &[7, 8]);
                assert_eq!((of(80), of(96)), (0, 0), "either literal may have made it");
            });
        }
        recorded(&[], || assert_eq!(seen(3, 64), 0, "another run has other objects"));
    }

    #[test]
    fn objects_go_with_the_memory_they_are_in() {
        recorded(&[], || {
            birth(3, &[5, 6]);
            birth(3, &[5, 6]);
            assert_eq!((seen(3, 160), seen(3, 176)), (5, 5));
            moved(160, 32, 320, 64);
            assert_eq!((seen(3, 320), seen(3, 336), seen(3, 160)), (5, 5, 0));
            moved(320, 64, 320, 16);
            assert_eq!((seen(3, 320), seen(3, 336)), (5, 0), "the block has become shorter");
            freed(320, 16);
            birth(3, &[5, 6]);
            assert_eq!(seen(3, 320), 5, "another has the place of one that is gone");
        });
        freed(320, 16);
        moved(0, 1, 1, 1);
    }

    #[test]
    fn objects_are_known_until_they_are_gone() {
        // Random calls on objects, some of which share a place in the table or an address, against a map.
        let mut state = 1_u64;
        let mut below = |limit: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % limit
        };
        recorded(&[], || {
            let mut model: BTreeMap<(usize, u32), u16> = BTreeMap::new();
            for _ in 0..50_000 {
                let address = 512 * below(40) + 4 * below(16);
                match below(10) {
                    0 => {
                        let bytes = 1 + if below(20) == 0 { 1 << 22 } else { below(700) };
                        freed(address, bytes);
                        model.retain(|(other, _), _| !(address..address + bytes).contains(other));
                    }
                    1 => {
                        let bytes = 1 + if below(20) == 0 { 1 << 19 } else { below(64) };
                        let to = (1 << 20) + 512 * below(40);
                        freed(to, bytes);
                        moved(address, bytes, to, bytes);
                        model.retain(|(other, _), _| !(to..to + bytes).contains(other));
                        let of = |(other, _): &(usize, u32)| (address..address + bytes).contains(other);
                        let gone: Vec<_> = model.extract_if(.., |key, _| of(key)).collect();
                        model
                            .extend(gone.into_iter().map(|((other, kind), slot)| ((other - address + to, kind), slot)));
                    }
                    _ => {
                        let (kind, definition) = (below(2) as u32, below(1 << 15) as u16);
                        let address = if below(3) == 0 { address + (1 << 20) } else { address };
                        let [first] = object(kind, std::ptr::without_provenance::<u8>(address));
                        assert_eq!(first.get(), *model.get(&(address, kind)).unwrap_or(&0));
                        first.set(definition);
                        model.insert((address, kind), definition);
                    }
                }
            }
            assert!(model.len() > 100, "{}", model.len());
        });
    }

    #[test]
    fn many_objects_keep_their_definitions() {
        recorded(&[], || {
            // Many of them have a place in common.
            let addresses = (1..2_000).map(|number| 512 * number);
            for (address, definition) in addresses.clone().zip(1..) {
                let [first] = object(7, std::ptr::without_provenance::<u8>(address));
                assert_eq!(first.get(), 0);
                first.set(definition);
            }
            for (address, definition) in addresses.zip(1..) {
                let [first] = object(7, std::ptr::without_provenance::<u8>(address));
                let [of_other_type] = object(8, std::ptr::without_provenance::<u8>(address));
                assert_eq!((first.get(), of_other_type.get()), (definition, 0));
            }
        });
    }
}
