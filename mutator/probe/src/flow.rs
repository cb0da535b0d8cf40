//! Definitions and uses: which definition of a variable each use sees.
//!
//! Every variable has a slot that holds the number of its last definition, 0 before the first. The slots of local
//! variables belong to one call of a function, so that recursion and interleaved futures cannot mix them up; those of the
//! fields of `self` belong to the object. Slots are atomic only so that a future or closure that mentions them
//! stays `Send`.
//!
//! # Objects
//!
//! An object is known by its type and address. A struct literal is a birth: its definitions wait until a method is
//! called on an object that was not known. They are given to it if all births that wait are of one literal, else it
//! begins without definitions. An object on which a method is called after another of its type was born may have
//! been replaced by that one: it begins again without definitions. So pairs can be missed, and a false one is recorded only
//! if an object takes the place of another of its type without a birth in between, as a clone can.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::Attempt;

/// The number of the last definition of a variable.
pub type Slot = AtomicU32;

/// For each definition of a variable the number of its pair with one use; [`UNLISTED`] if there is none.
pub type Pairs = &'static [u32];

/// Stands for a pair that cannot be, as far as the mutator knows.
pub const UNLISTED: u32 = u32::MAX;

thread_local! {
    /// The pairs that are covered, a bit each; empty while nothing is recorded.
    static COVERED: Cell<&'static [AtomicU64]> = const { Cell::new(&[]) };
    /// What [`COVERED`] is while something is recorded.
    static BUFFER: Cell<&'static [AtomicU64]> = const { Cell::new(&[]) };
    /// How many pairs were seen that are not listed.
    static UNLISTED_COUNT: Cell<u64> = const { Cell::new(0) };
    static STORE: RefCell<Store> = const { RefCell::new(Store::new()) };
}

/// The slots that outlive the call of a function.
struct Store {
    /// By length, slots that were lent; the first `usize` of them are in use.
    pools: BTreeMap<usize, (usize, Vec<&'static [Slot]>)>,
    objects: BTreeMap<(u32, usize), Object>,
    births: BTreeMap<u32, Births>,
}

struct Object {
    slots: &'static [Slot],
    /// How many objects of the type had been born when it was seen last.
    births_seen: u64,
}

/// What is known of the births of objects of one type.
#[derive(Default)]
struct Births {
    total: u64,
    /// Those whose object has not been seen yet: the definitions of a literal, and how many objects it made.
    waiting: Vec<(&'static [u32], u64)>,
}

impl Store {
    const fn new() -> Self {
        Self { pools: BTreeMap::new(), objects: BTreeMap::new(), births: BTreeMap::new() }
    }

    /// What was lent can still be held by what the last run left: its slots are lent again, never freed.
    fn clear(&mut self) {
        self.pools.values_mut().for_each(|(lent, _)| *lent = 0);
        self.objects.clear();
        self.births.clear();
    }

    fn lend(&mut self, length: usize) -> &'static [Slot] {
        let (lent, pool) = self.pools.entry(length).or_default();
        if *lent == pool.len() {
            pool.push(Box::leak((0..length).map(|_| Slot::new(0)).collect::<Box<[Slot]>>()));
        }
        let slots = pool[*lent];
        *lent += 1;
        forget(slots);
        slots
    }

    fn object(&mut self, type_number: u32, address: usize, length: usize) -> &'static [Slot] {
        let births = self.births.entry(type_number).or_default();
        if let Some(object) = self.objects.get_mut(&(type_number, address)) {
            if object.births_seen != births.total {
                object.births_seen = births.total;
                forget(object.slots);
            }
            return object.slots;
        }
        let births_seen = births.total;
        let born = match &mut births.waiting[..] {
            [(definitions, count)] => {
                *count -= 1;
                Some((*definitions, *count == 0))
            }
            _ => None,
        };
        if born.is_none_or(|(_, is_last)| is_last) {
            births.waiting.clear();
        }
        let slots = self.lend(length);
        for (slot, &definition) in slots.iter().zip(born.map_or(&[][..], |(definitions, _)| definitions)) {
            slot.store(definition, Relaxed);
        }
        self.objects.insert((type_number, address), Object { slots, births_seen });
        slots
    }
}

fn forget(slots: &[Slot]) {
    slots.iter().for_each(|slot| slot.store(0, Relaxed));
}

/// Begins to record `pairs` pairs.
pub(crate) fn start(pairs: usize) {
    let words = pairs.div_ceil(64);
    if BUFFER.get().len() < words {
        BUFFER.set(Box::leak((0..words).map(|_| AtomicU64::new(0)).collect::<Box<[AtomicU64]>>()));
    }
    let buffer = BUFFER.get();
    buffer.iter().for_each(|word| word.store(0, Relaxed));
    COVERED.set(&buffer[..words]);
    UNLISTED_COUNT.set(0);
    STORE.with_borrow_mut(Store::clear);
}

/// Ends the recording, and returns the pairs that were covered in ascending order and how many were seen that are not
/// listed.
pub(crate) fn finish() -> (Vec<u32>, u64) {
    let words = COVERED.replace(&[]);
    let numbers = (0..words.len() as u32 * 64)
        .filter(|&number| words[number as usize / 64].load(Relaxed) >> (number % 64) & 1 == 1)
        .collect();
    (numbers, UNLISTED_COUNT.get())
}

/// Returns `length` slots that live as long as anything may hold them.
pub fn slots(length: usize) -> &'static [Slot] {
    STORE.try_with(|store| store.borrow_mut().lend(length)).unwrap_or_default()
}

/// Returns the slots of the fields of the object of a type at an address.
pub fn object<T: ?Sized>(type_number: u32, length: usize, object: *const T) -> &'static [Slot] {
    let address = object.cast::<()>().addr();
    STORE.with_borrow_mut(|store| store.object(type_number, address, length))
}

/// Notes that a struct literal makes an object of a type, with the definitions of its fields.
pub fn birth(type_number: u32, definitions: &'static [u32]) {
    STORE.with_borrow_mut(|store| {
        let births = store.births.entry(type_number).or_default();
        births.total += 1;
        match births.waiting.iter_mut().find(|(known, _)| *known == definitions) {
            Some((_, count)) => *count += 1,
            None => births.waiting.push((definitions, 1)),
        }
    });
}

/// Notes that a variable is defined.
#[inline]
pub fn define(slot: &Slot, definition: u32) {
    slot.store(definition, Relaxed);
}

/// Keeps the definition that a use in a condition sees until it is known which way the condition goes.
#[inline]
pub fn hold(slot: &Slot, held: &Slot) {
    held.store(slot.load(Relaxed), Relaxed);
}

/// Notes that the last definition of a variable is used.
#[inline]
pub fn used(slot: &Slot, pairs: Pairs) {
    cover(slot.load(Relaxed), pairs);
}

#[inline]
fn cover(definition: u32, pairs: Pairs) {
    // What no definition is known of is not covered: a field of an object that comes from elsewhere.
    let Some(&pair) = pairs.get(definition.wrapping_sub(1) as usize) else { return };
    if let Some(word) = COVERED.get().get(pair as usize / 64) {
        word.store(word.load(Relaxed) | 1 << (pair % 64), Relaxed);
    } else if pair == UNLISTED {
        unlisted();
    }
}

#[cold]
fn unlisted() {
    UNLISTED_COUNT.set(UNLISTED_COUNT.get() + 1);
}

/// A use in a condition: where its definition is held, and its pairs if the condition goes one way and the other.
pub type Held<'a> = (&'a Slot, Pairs, Pairs);

/// Notes the uses in a condition when it is known which way it goes, and hands its value on.
#[inline]
pub fn decided(held: &[Held<'_>], condition: bool) -> bool {
    for (slot, if_true, if_false) in held {
        used(slot, if condition { if_true } else { if_false });
    }
    condition
}

/// Notes the uses in the operand of a `?` when it is known which way it goes, and hands the operand on.
pub fn attempted<T: Attempt>(held: &[Held<'_>], attempt: T) -> T {
    decided(held, attempt.continues());
    attempt
}

/// An iterator that notes the uses in the head of its `for` loop; see [`iterated`].
#[derive(Debug)]
pub struct Iterated<I, const N: usize> {
    inner: I,
    held: [(u32, Pairs, Pairs); N],
}

impl<I: Iterator, const N: usize> Iterator for Iterated<I, N> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let item = self.inner.next();
        for (definition, if_iterates, if_exhausted) in self.held {
            cover(definition, if item.is_some() { if_iterates } else { if_exhausted });
        }
        item
    }
}

/// Makes the iterator of a `for` loop note the uses in its head, each time it is known whether the loop goes on.
pub fn iterated<I: IntoIterator, const N: usize>(held: [Held<'_>; N], items: I) -> Iterated<I::IntoIter, N> {
    let held = held.map(|(slot, if_iterates, if_exhausted)| (slot.load(Relaxed), if_iterates, if_exhausted));
    Iterated { inner: items.into_iter(), held }
}

/// Notes the value of a condition of a decision. `slot` holds two bits for each condition evaluated so far, its value and
/// a one.
#[inline]
pub fn condition(slot: &Slot, index: u32, condition: bool) -> bool {
    let before = if index == 0 { 0 } else { slot.load(Relaxed) };
    slot.store(before | (2 | u32::from(condition)) << (2 * index), Relaxed);
    condition
}

/// Notes that a decision is made, once all conditions that are needed have been evaluated: `vectors` lists what `slot` can
/// hold then, with the requirements that it covers.
pub fn conclude(
    slot: &Slot,
    ends_if_true: bool,
    ends_if_false: bool,
    vectors: &[(u32, Pairs)],
    condition: bool,
) -> bool {
    if if condition { ends_if_true } else { ends_if_false } {
        let evaluated = slot.load(Relaxed);
        if let Some((_, requirements)) = vectors.iter().find(|(vector, _)| *vector == evaluated) {
            crate::RECORDER.with(|recorder| {
                requirements.iter().for_each(|&requirement| recorder.conditions.insert(requirement));
            });
        }
    }
    condition
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_sees_the_last_definition() {
        start(70);
        let slots = slots(2);
        used(&slots[0], &[0, 1]);
        define(&slots[0], 2);
        used(&slots[0], &[0, 1]);
        hold(&slots[0], &slots[1]);
        define(&slots[0], 1);
        assert!(decided(&[(&slots[1], &[2, 3], &[4, 5])], true));
        assert!(!decided(&[(&slots[1], &[2, 3], &[4, 69])], false));
        used(&slots[0], &[UNLISTED]);
        assert_eq!(finish(), (vec![1, 3, 69], 1));
        used(&slots[0], &[7]);
        assert_eq!(finish(), (vec![], 1), "nothing is recorded after the end");
    }

    #[test]
    fn a_loop_keeps_the_definitions_of_its_head() {
        start(4);
        let slots = slots(1);
        define(&slots[0], 1);
        for _ in iterated([(&slots[0], &[0, 2], &[1, 3])], 0..2) {
            define(&slots[0], 2);
        }
        assert_eq!(finish().0, [0, 1]);
    }

    #[test]
    fn calls_have_slots_of_their_own() {
        start(1);
        let (first, second) = (slots(1), slots(1));
        define(&first[0], 1);
        assert_eq!(second[0].load(Relaxed), 0);
        start(1);
        assert!(std::ptr::eq(slots(1), first) && first[0].load(Relaxed) == 0, "they are lent again");
    }

    /// The first field's definition of the object at `address`.
    fn seen(address: usize) -> u32 {
        object(3, 2, std::ptr::without_provenance::<u8>(address))[0].load(Relaxed)
    }

    #[test]
    fn an_object_has_the_definitions_of_the_literal_that_made_it() {
        start(1);
        birth(3, &[5, 6]);
        birth(3, &[5, 6]);
        assert_eq!((seen(16), seen(32), seen(48)), (5, 5, 0), "the third was not born");
        birth(3, &[5, 6]);
        assert_eq!(seen(16), 0, "it may be another");
        assert_eq!(seen(64), 5);
        birth(3, &[5, 6]);
        birth(3, &[7, 8]);
        assert_eq!((seen(80), seen(96)), (0, 0), "either literal may have made it");
    }

    #[test]
    fn a_decision_covers_what_its_conditions_show() {
        crate::start_recording(10, crate::Sizes { blocks: 0, branches: 0, pairs: 0, conditions: 4, mutants: 0 });
        let slots = slots(1);
        let vectors: &[(u32, Pairs)] = &[(0b10, &[1]), (0b1011, &[3]), (0b1111, &[0, 2])];
        for (a, b) in [(false, true), (true, true)] {
            _ = conclude(&slots[0], false, true, vectors, condition(&slots[0], 0, a))
                && conclude(&slots[0], true, true, vectors, condition(&slots[0], 1, b));
        }
        assert_eq!(crate::finish().recording.expect("it was recorded").conditions, [0, 1, 2]);
    }
}
