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

mod objects;
mod outcomes;
mod store;

use crate::RUN;
use objects::recent_place_of;
use store::{Object, STORE};

pub(crate) use objects::Objects;
pub use outcomes::{Held, Iterate, branch, holds, iterate, question, select};
pub use store::Slot;

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::objects::TYPES;
    use super::*;
    use crate::marks::{FunctionMarks, NO_PAIR, Row, UNLISTED, used};
    use crate::recording::{Recording, RecordingSizes};

    fn recorded(pairs: &'static [u32], action: impl FnOnce()) -> Recording {
        let function: &FunctionMarks = Box::leak(Box::new(FunctionMarks::new(
            0,
            [0, 50],
            [0, 2],
            (0, &[]),
            (pairs, &[]),
            (0, &[]),
            ([0, 0], [0, 0]),
        )));
        // Threads know what they recorded; each test has one of its own.
        crate::start_recording(10, RecordingSizes { blocks: 0, branches: 2, pairs: 100, conditions: 0, mutants: 0 });
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
