//! The event queue: the soonest events in a sorted array, all others in a wheel, where they are sorted only roughly.
//!
//! Events come out by time, and those of equal time in the order in which they went in. A key is one 128-bit number,
//! `time << 64 | sequence << 24 | slot`, in that order; the sequence number only grows. The slot says where the event
//! itself is, which therefore never moves.
//!
//! Every key up to `sorted_last` is in `sorted`, from the last to the next, so that the next event is popped off its
//! end. Every later key is in the [`Wheel`], which gives up a handful of its soonest keys when `sorted` has run out.
//! When `sorted` outgrows [`SORTED_MAX`], its later part goes to the wheel. As long as few events are pending, `sorted`
//! has them all, and the wheel costs nothing.
//!
//! A cancelled event leaves its slot, and `sorted`, at once. In the wheel its key stays behind, dead, as no slot has
//! its sequence number any more; dead keys are dropped when they are met, and all of them before they outnumber the
//! live. They are never seen from outside: length and next time are those of the live events, so an empty queue means
//! that nothing more can happen, and no dead timer moves the clock.
//!
//! If someone chooses between events of equal time, those of the next instant are in [`Simultaneous`] instead: all
//! their keys are up to `sorted_last`, before those in `sorted`.

mod simultaneous;
mod wheel;

use std::num::NonZeroU64;

use self::simultaneous::Simultaneous;
use self::wheel::Wheel;
use crate::VirtualTime;

const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
/// What is added to an identity for the next sequence number.
const SEQUENCE_STEP: u64 = 1 << SLOT_BITS;
/// The identity in a free slot; sequence numbers start at one.
const NO_EVENT: u64 = 0;
/// Ends the list of free slots.
const NO_SLOT: u64 = u64::MAX;
/// An array longer than this is no longer cheap to insert into.
const SORTED_MAX: usize = 64;
/// Among so few keys one is found by looking at each.
const FEW: usize = 4;
/// How many keys stay in `sorted` when it was longer than [`SORTED_MAX`].
const SORTED_KEPT: usize = 32;
/// So many dead keys may be in the wheel beyond as many as are alive there.
const DEAD_MIN: usize = 64;

/// `time << 64 | sequence << 24 | slot`: when an event happens, and its identity.
type Key = u128;

/// Pending events, each with a payload of 64 bits.
///
/// Memory grows with the number of events that are pending at once, not with how many were scheduled or cancelled.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// The keys up to `sorted_last` that are not in `simultaneous`, in descending order; all are alive.
    sorted: Vec<Key>,
    /// The greatest key that belongs in `sorted`. Its time is the wheel's base.
    sorted_last: Key,
    /// The keys after `sorted_last`, and dead ones.
    wheel: Wheel,
    /// The keys of the next instant, before all others; empty unless they were counted.
    simultaneous: Simultaneous,
    /// The pending events.
    slots: Vec<Slot>,
    /// The free slot to be used next, whose payload is the one after it; or [`NO_SLOT`].
    free: u64,
    /// How many slots are in use.
    len: usize,
    /// The identity of the next event, with a zero for the slot.
    next_id: u64,
    /// The keys that come from the wheel; empty between calls.
    batch: Vec<Key>,
    /// When the last event was popped.
    #[cfg(debug_assertions)]
    now: VirtualTime,
}

/// Names an event that was scheduled, for ever: sequence number and slot. No other event ever has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId(NonZeroU64);

#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The identity of the event, or [`NO_EVENT`] if the slot is free.
    id: u64,
    payload: u64,
    time: u64,
}

impl EventId {
    /// Returns where the event is: no two that are pending are at one place.
    #[inline]
    pub(crate) fn slot(self) -> usize {
        slot_of_id(self.0.get())
    }
}

impl EventQueue {
    /// Returns a queue without events.
    pub(crate) fn new() -> Self {
        Self {
            sorted: Vec::new(),
            sorted_last: Key::MAX,
            wheel: Wheel::new(),
            simultaneous: Simultaneous::default(),
            slots: Vec::new(),
            free: NO_SLOT,
            len: 0,
            next_id: SEQUENCE_STEP,
            batch: Vec::new(),
            #[cfg(debug_assertions)]
            now: VirtualTime::ZERO,
        }
    }

    /// Adds an event, at the time of the last one popped or later. O(1) amortized.
    ///
    /// # Panics
    /// If 2^24 events are pending, or nearly 2^40 were scheduled.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, time: VirtualTime, payload: u64) -> EventId {
        #[cfg(debug_assertions)]
        assert!(time >= self.now, "an event is scheduled at {time}, but it is {} already", self.now);
        let slot = if self.free == NO_SLOT { self.add_slot() } else { self.free };
        let id = self.next_id | slot;
        self.next_id = id.checked_add(SEQUENCE_STEP).expect("2^40 events were scheduled: limit the events of the run")
            & !SLOT_MASK;
        let event = &mut self.slots[slot as usize];
        self.free = event.payload;
        *event = Slot { id, payload, time: time.as_nanos() };
        self.len += 1;
        let key = key_of(time.as_nanos(), id);
        if key <= self.sorted_last {
            self.insert_sorted(key);
        } else {
            self.wheel.insert(key);
        }
        EventId(NonZeroU64::new(id).expect("sequence numbers start at one"))
    }

    /// Removes the next event. O(1) amortized.
    #[cfg(test)]
    fn pop(&mut self) -> Option<(VirtualTime, u64)> {
        self.refill_if_empty();
        self.pop_sorted()
    }

    /// Removes the next event of those that are sorted: the next of all, right after [`EventQueue::refill_if_empty`].
    #[inline(always)]
    pub(crate) fn pop_sorted(&mut self) -> Option<(VirtualTime, u64)> {
        debug_assert_eq!(self.simultaneous.len(), 0, "simultaneous events that were counted come first");
        let key = self.sorted.pop()?;
        Some(self.take(key))
    }

    /// Removes the event if it is still to happen. O(1) amortized.
    #[inline(always)]
    pub(crate) fn cancel(&mut self, id: EventId) -> Option<u64> {
        let Slot { id: id_there, payload, time } = self.slots[id.slot()];
        if id_there != id.0.get() {
            return None;
        }
        self.free_slot(id.slot());
        let key = key_of(time, id_there);
        if key <= self.sorted_last {
            self.remove_sorted(key);
        } else {
            self.wheel.note_dead();
            self.limit_dead();
        }
        Some(payload)
    }

    /// Returns the payload of the event if it is still to happen.
    #[inline]
    pub(crate) fn payload_mut(&mut self, id: EventId) -> Option<&mut u64> {
        let slot = &mut self.slots[id.slot()];
        (slot.id == id.0.get()).then_some(&mut slot.payload)
    }

    /// Returns how many events are pending.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.len
    }

    /// Returns how many events happen at the time of the next one, itself included. O(log n) amortized.
    ///
    /// From now on they, and those that are scheduled for this time, come out by [`EventQueue::pop_simultaneous`].
    #[cold]
    pub(crate) fn simultaneous(&mut self) -> usize {
        if self.sorted.is_empty() {
            self.refill();
        }
        let Some(&next) = self.sorted.last() else { return self.simultaneous.len() };
        let time = match self.simultaneous.get(0) {
            Some(first) => time_of(first),
            None => time_of(next),
        };
        while let Some(&key) = self.sorted.last()
            && time_of(key) == time
        {
            self.sorted.pop();
            self.simultaneous.push(key);
            if self.sorted.is_empty() {
                self.refill();
            }
        }
        self.simultaneous.len()
    }

    /// Returns the payload of the first event that [`EventQueue::simultaneous`] counted.
    pub(crate) fn first_simultaneous(&self) -> Option<u64> {
        self.simultaneous.get(0).map(|key| self.slots[slot_of(key)].payload)
    }

    /// Removes the `index`-th event, in the order of scheduling, of those that [`EventQueue::simultaneous`] counted.
    /// O(log n) amortized.
    #[cold]
    pub(crate) fn pop_simultaneous(&mut self, index: usize) -> Option<(VirtualTime, u64)> {
        let key = self.simultaneous.remove_nth(index)?;
        let event = self.take(key);
        self.limit_dead();
        Some(event)
    }

    /// Sorts the soonest events, if none are sorted; returns whether it did. O(1) amortized for each event.
    #[inline(always)]
    pub(crate) fn refill_if_empty(&mut self) -> bool {
        let was_empty = self.sorted.is_empty();
        if was_empty {
            self.refill();
        }
        was_empty
    }

    /// Returns the payloads of the next events, in their order, as far as they are known without work.
    pub(crate) fn upcoming(&self) -> impl Iterator<Item = u64> {
        self.sorted.iter().rev().map(|&key| self.slots[slot_of(key)].payload)
    }

    #[cold]
    #[inline(never)]
    fn add_slot(&mut self) -> u64 {
        let slot = self.slots.len() as u64;
        assert!(slot <= SLOT_MASK, "2^24 events are pending: something sends or waits without end");
        self.slots.push(Slot { id: NO_EVENT, payload: NO_SLOT, time: 0 });
        slot
    }

    /// Takes the event whose key was removed.
    #[inline]
    fn take(&mut self, key: Key) -> (VirtualTime, u64) {
        let time = time_of(key);
        #[cfg(debug_assertions)]
        {
            self.now = time;
        }
        (time, self.free_slot(slot_of(key)))
    }

    /// Frees a slot and returns the payload that was there.
    #[inline]
    fn free_slot(&mut self, slot: usize) -> u64 {
        let event = &mut self.slots[slot];
        let payload = event.payload;
        event.id = NO_EVENT;
        event.payload = self.free;
        self.free = slot as u64;
        self.len -= 1;
        payload
    }

    // Key by key from the end: a binary search and one move of memory takes longer for an array as short as this.
    #[inline(always)]
    fn insert_sorted(&mut self, key: Key) {
        let mut position = self.sorted.len();
        self.sorted.push(key);
        let sorted = self.sorted.as_mut_slice();
        while position > 0 && sorted[position - 1] < key {
            sorted[position] = sorted[position - 1];
            position -= 1;
        }
        sorted[position] = key;
        if sorted.len() > SORTED_MAX {
            self.spill();
        }
    }

    /// Removes a key that is in `sorted`, or in `simultaneous`.
    #[inline]
    fn remove_sorted(&mut self, key: Key) {
        let sorted = self.sorted.as_mut_slice();
        if sorted.len() > FEW {
            let position = sorted.partition_point(|&other| other > key);
            if sorted.get(position) != Some(&key) {
                return self.remove_simultaneous(key);
            }
            self.sorted.remove(position);
            return;
        }
        // Timers that are cancelled are mostly the last of a few.
        let mut position = 0;
        loop {
            let Some(&other) = sorted.get(position) else { return self.remove_simultaneous(key) };
            if other == key {
                break;
            }
            position += 1;
        }
        for position in position + 1..sorted.len() {
            sorted[position - 1] = sorted[position];
        }
        self.sorted.pop();
    }

    #[cold]
    #[inline(never)]
    fn remove_simultaneous(&mut self, key: Key) {
        self.simultaneous.remove(key);
        self.limit_dead();
    }

    /// Moves all but the soonest keys from `sorted` to the wheel.
    #[cold]
    #[inline(never)]
    fn spill(&mut self) {
        let spilled = self.sorted.len() - SORTED_KEPT;
        self.sorted_last = self.sorted[spilled];
        let slots = &self.slots;
        self.wheel.lower_base(time_of(self.sorted_last).as_nanos(), self.sorted.drain(..spilled).rev(), |key| {
            is_alive(slots, key)
        });
    }

    /// Fills `sorted`, which is empty, with the soonest keys of the wheel, unless that is empty too.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        let slots = &self.slots;
        self.sorted_last = self.wheel.advance(&mut self.batch, |key| is_alive(slots, key));
        self.batch.sort_unstable();
        self.sorted.extend(self.batch.drain(..).rev());
        self.limit_dead();
    }

    /// Drops the dead keys if they are many; to be called when there are more of them, or fewer others.
    #[inline]
    fn limit_dead(&mut self) {
        // Those in `simultaneous` are counted with them: to leave these out would cost every run something.
        let alive = self.len - self.sorted.len();
        if self.wheel.dead() > DEAD_MIN + alive {
            self.drop_dead();
        }
    }

    #[cold]
    #[inline(never)]
    fn drop_dead(&mut self) {
        let slots = &self.slots;
        self.wheel.drop_dead(|key| is_alive(slots, key));
    }
}

#[inline]
fn is_alive(slots: &[Slot], key: Key) -> bool {
    slots[slot_of(key)].id == key as u64
}

#[inline]
fn key_of(time: u64, id: u64) -> Key {
    (Key::from(time) << 64) | Key::from(id)
}

#[inline]
fn time_of(key: Key) -> VirtualTime {
    VirtualTime::from_nanos((key >> 64) as u64)
}

#[inline]
fn slot_of(key: Key) -> usize {
    slot_of_id(key as u64)
}

#[inline]
fn slot_of_id(id: u64) -> usize {
    (id & SLOT_MASK) as usize
}

#[cfg(test)]
mod tests;
