//! The event queue: an indexed 4-ary heap, from which events are taken in order and cancelled events leave at once.
//!
//! A key is one 128-bit number, `time << 64 | sequence << 24 | slot`: events are ordered by time, and those of equal time
//! by a sequence number that only grows, so that they come out in the order in which they went in. The slot says where the
//! event itself is, which therefore never moves. `positions[slot]` is where the slot's key is in the heap: with it an
//! event is cancelled in O(log n), and the queue holds live events only, so an empty queue means that nothing more can
//! happen and no dead timer moves the clock.
//!
//! Keys sink bottom-up, as in std's `BinaryHeap`: first a hole goes down to a leaf along the least children, then the key
//! rises from there. The least child is chosen without branches, since which one it is cannot be predicted, and a wrong
//! guess costs more than all the rest.

use std::hint::select_unpredictable;

use crate::VirtualTime;

const SLOT_BITS: u32 = 24;
const SLOT_MASK: u64 = (1 << SLOT_BITS) - 1;
const SEQUENCES_MAX: u64 = 1 << (u64::BITS - SLOT_BITS);
const ARITY: usize = 4;

/// Pending events of type `T`.
#[derive(Debug)]
pub(crate) struct EventQueue<T> {
    /// A 4-ary heap: no key is less than its parent, which is at `(position - 1) / 4`.
    heap: Vec<u128>,
    /// `positions[slot]` is the position in `heap` of the key with this slot; meaningless for a free slot.
    positions: Vec<u32>,
    /// The events; `None` in a free slot.
    events: Vec<Option<T>>,
    /// Free slots, to be used again.
    free: Vec<u32>,
    next_sequence: u64,
}

/// Names an event that was scheduled, for ever: sequence number and slot. No other event ever has the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId(u64);

impl EventId {
    fn slot(self) -> usize {
        (self.0 & SLOT_MASK) as usize
    }
}

impl<T> EventQueue<T> {
    pub(crate) fn new() -> Self {
        Self { heap: Vec::new(), positions: Vec::new(), events: Vec::new(), free: Vec::new(), next_sequence: 0 }
    }

    /// Adds an event. O(log n), and O(1) if it is later than most.
    ///
    /// # Panics
    /// If 2^24 events are pending, or 2^40 were scheduled.
    // Inlined, as `pop` and `cancel` are, so that an event is written once, to its slot, and not copied on the way: a copy
    // of what was just written in pieces stalls the processor, and costs a third of the time of a message.
    #[inline(always)]
    pub(crate) fn schedule(&mut self, time: VirtualTime, event: T) -> EventId {
        let slot = self.free.pop().map_or_else(|| self.add_slot(), |slot| slot as usize);
        self.events[slot] = Some(event);
        self.insert_key(time, slot)
    }

    #[cold]
    fn add_slot(&mut self) -> usize {
        let slot = self.events.len();
        assert!(slot as u64 <= SLOT_MASK, "2^24 events are pending: something sends or waits without end");
        self.events.push(None);
        self.positions.push(0);
        slot
    }

    fn insert_key(&mut self, time: VirtualTime, slot: usize) -> EventId {
        let sequence = self.next_sequence;
        assert!(sequence < SEQUENCES_MAX, "2^40 events were scheduled: limit the events of the run");
        self.next_sequence += 1;
        let id = EventId((sequence << SLOT_BITS) | slot as u64);
        let key = (u128::from(time.as_nanos()) << 64) | u128::from(id.0);
        self.heap.push(key);
        self.raise(self.heap.len() - 1, key);
        id
    }

    /// Returns when the next event happens.
    pub(crate) fn next_time(&self) -> Option<VirtualTime> {
        self.heap.first().map(|&key| time_of(key))
    }

    /// Removes the next event. O(log n).
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(VirtualTime, T)> {
        let &key = self.heap.first()?;
        self.remove_key(0);
        Some((time_of(key), self.take(slot_of(key))))
    }

    /// Returns the event if it is still to happen.
    pub(crate) fn get_mut(&mut self, id: EventId) -> Option<&mut T> {
        self.position(id)?;
        self.events[id.slot()].as_mut()
    }

    /// Removes the event if it is still to happen. O(log n).
    #[inline]
    pub(crate) fn cancel(&mut self, id: EventId) -> Option<T> {
        let position = self.position(id)?;
        self.remove_key(position);
        Some(self.take(id.slot()))
    }

    fn position(&self, id: EventId) -> Option<usize> {
        // A freed slot's old position may be that of another key by now, or beyond the end: the key itself tells.
        let position = self.positions[id.slot()] as usize;
        (self.heap.get(position).is_some_and(|&key| key as u64 == id.0)).then_some(position)
    }

    /// Empties a slot whose key is gone.
    #[inline]
    fn take(&mut self, slot: usize) -> T {
        self.free.push(slot as u32);
        self.events[slot].take().expect("a key's slot holds an event")
    }

    fn remove_key(&mut self, position: usize) {
        let last = self.heap.pop().expect("the heap has a key at the position");
        if position < self.heap.len() {
            let hole = self.sink_hole(position);
            // If the last key comes from another subtree it may also have to rise above `position`; this does both.
            self.raise(hole, last);
        }
    }

    /// Moves the hole at `hole` down to a leaf along the least children, and returns where it ends.
    fn sink_hole(&mut self, mut hole: usize) -> usize {
        let heap = self.heap.as_mut_slice();
        let positions = self.positions.as_mut_slice();
        loop {
            let first = hole * ARITY + 1;
            let (child, key) = if let Some(&[a, b, c, d]) = heap.get(first..).and_then(<[u128]>::first_chunk) {
                let left = select_unpredictable(b < a, (first + 1, b), (first, a));
                let right = select_unpredictable(d < c, (first + 3, d), (first + 2, c));
                select_unpredictable(right.1 < left.1, right, left)
            } else {
                let Some(least) = (first..heap.len()).min_by_key(|&child| heap[child]) else { return hole };
                (least, heap[least])
            };
            heap[hole] = key;
            positions[slot_of(key)] = hole as u32;
            hole = child;
        }
    }

    /// Puts `key` at `position` or, as far as its ancestors are greater, above.
    fn raise(&mut self, mut position: usize, key: u128) {
        while position > 0 {
            let parent = (position - 1) / ARITY;
            let parent_key = self.heap[parent];
            if parent_key <= key {
                break;
            }
            self.heap[position] = parent_key;
            self.positions[slot_of(parent_key)] = position as u32;
            position = parent;
        }
        self.heap[position] = key;
        self.positions[slot_of(key)] = position as u32;
    }
}

fn time_of(key: u128) -> VirtualTime {
    VirtualTime::from_nanos((key >> 64) as u64)
}

fn slot_of(key: u128) -> usize {
    (key as u64 & SLOT_MASK) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the property test does with a queue.
    #[derive(Debug, Clone)]
    enum Operation {
        Schedule(u64),
        Pop,
        /// Cancels the event that was scheduled as the n-th modulo their number, pending or not.
        Cancel(usize),
    }

    fn operations() -> impl Strategy<Value = Vec<Operation>> {
        // Few distinct times, so that equal times are the rule.
        let operation = prop_oneof![
            5 => (0..12_u64).prop_map(Operation::Schedule),
            3 => Just(Operation::Pop),
            2 => any::<usize>().prop_map(Operation::Cancel),
        ];
        prop::collection::vec(operation, 0..400)
    }

    fn time(nanos: u64) -> VirtualTime {
        VirtualTime::from_nanos(nanos)
    }

    proptest! {
        #[test]
        fn it_does_what_a_sorted_list_does(operations in operations()) {
            let mut queue = EventQueue::new();
            // The reference: (time, number of the event), sorted stably by time.
            let mut sorted: Vec<(u64, usize)> = Vec::new();
            let mut ids = Vec::new();
            for operation in operations {
                match operation {
                    Operation::Schedule(at) => {
                        let after = sorted.partition_point(|&(other, _)| other <= at);
                        sorted.insert(after, (at, ids.len()));
                        ids.push(queue.schedule(time(at), ids.len()));
                    }
                    Operation::Pop => {
                        let expect = (!sorted.is_empty()).then(|| sorted.remove(0));
                        prop_assert_eq!(queue.pop(), expect.map(|(at, number)| (time(at), number)));
                    }
                    Operation::Cancel(number) if !ids.is_empty() => {
                        let number = number % ids.len();
                        let pending = sorted.iter().position(|&(_, other)| other == number);
                        prop_assert_eq!(queue.get_mut(ids[number]).copied(), pending.map(|_| number));
                        prop_assert_eq!(queue.cancel(ids[number]), pending.map(|index| sorted.remove(index).1));
                        prop_assert_eq!(queue.get_mut(ids[number]), None);
                    }
                    Operation::Cancel(_) => {}
                }
                prop_assert_eq!(queue.next_time(), sorted.first().map(|&(at, _)| time(at)));
                prop_assert_eq!(queue.heap.len(), sorted.len());
            }
            for (at, number) in sorted {
                prop_assert_eq!(queue.pop(), Some((time(at), number)));
            }
            prop_assert_eq!(queue.pop(), None);
        }
    }

    #[test]
    fn equal_times_come_out_in_the_order_of_scheduling() {
        let mut queue = EventQueue::new();
        for number in 0..1_000 {
            queue.schedule(time(5), number);
        }
        assert!((0..1_000).all(|number| queue.pop() == Some((time(5), number))));
    }

    #[test]
    fn cancelled_events_leave_no_trace_in_memory() {
        let mut queue = EventQueue::new();
        for round in 0..100_000 {
            let id = queue.schedule(time(1_000_000 + round), ());
            assert_eq!(queue.cancel(id), Some(()));
        }
        assert_eq!((queue.heap.len(), queue.events.len()), (0, 1));
    }

    #[test]
    fn the_last_instant_can_be_scheduled() {
        let mut queue = EventQueue::new();
        queue.schedule(VirtualTime::MAX, 'z');
        queue.schedule(VirtualTime::ZERO, 'a');
        assert_eq!(queue.pop(), Some((VirtualTime::ZERO, 'a')));
        assert_eq!(queue.pop(), Some((VirtualTime::MAX, 'z')));
    }
}
