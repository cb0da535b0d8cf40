//! Wakers that are numbers, and the ring of tasks that were woken.
//!
//! A task's waker holds the task's index and generation in its data word, behind a static table: cloning it copies,
//! dropping it does nothing, and waking it puts the number on a ring that belongs to the thread. Generations are never
//! given twice on a thread (until 2^36 were given), so a wake that comes late, or belongs to another run, names no task
//! and does nothing.
//!
//! Futures of this crate see from the table that a waker is one of these, take the number out of it, and are then
//! polled straight from the event loop. Any other waker (a combinator's such as `FuturesUnordered`) they clone and
//! wake.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::task::{RawWaker, RawWakerVTable, Waker};

const _: () = assert!(usize::BITS >= 64, "a waker's data word holds an index and a generation of 60 bits in all");

const INDEX_BITS: u32 = 24;
const GENERATION_BITS: u32 = 36;

/// Names a task of a run in 60 bits: its index among the run's tasks, and a generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TaskKey(u64);

impl TaskKey {
    /// How many bits [`TaskKey::to_bits`] uses.
    pub(crate) const BITS: u32 = INDEX_BITS + GENERATION_BITS;

    /// Returns a key for the task at `index` that was never given before.
    ///
    /// # Panics
    /// If the index needs more than 24 bits.
    pub(crate) fn new(index: usize) -> Self {
        assert!(index < 1 << INDEX_BITS, "a run has at most 2^24 components and child tasks at a time");
        let generation = NEXT_GENERATION.replace((NEXT_GENERATION.get() + 1) % (1 << GENERATION_BITS));
        Self((generation << INDEX_BITS) | index as u64)
    }

    /// Returns the task that a waker wakes, if it is one of these.
    #[inline]
    pub(crate) fn of(waker: &Waker) -> Option<Self> {
        std::ptr::eq(waker.vtable(), &VTABLE).then(|| Self(waker.data().addr() as u64))
    }

    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    #[inline]
    pub(crate) fn to_bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }

    #[inline]
    pub(crate) fn waker(self) -> Waker {
        let data = std::ptr::without_provenance(self.0 as usize);
        #[expect(
            unsafe_code,
            reason = "std has no safe way to make a waker that is neither reference-counted nor inert"
        )]
        // SAFETY: the functions of `VTABLE` never follow the data pointer and own nothing, so cloning and dropping,
        // from any thread and at any time, cannot go wrong; `wake` only touches state of the thread that it is called
        // on.
        unsafe {
            Waker::new(data, &VTABLE)
        }
    }
}

static VTABLE: RawWakerVTable = RawWakerVTable::new(
    |data| RawWaker::new(data, &VTABLE),
    |data| push(TaskKey(data.addr() as u64)),
    |data| push(TaskKey(data.addr() as u64)),
    |_| {},
);

/// Who waits for an event.
#[derive(Debug)]
pub(crate) enum Waiter {
    /// A task of this run.
    Task(TaskKey),
    /// Someone between the task and the future that waits.
    Foreign(Waker),
}

impl Waiter {
    #[inline]
    pub(crate) fn of(waker: &Waker) -> Self {
        TaskKey::of(waker).map_or_else(|| Self::Foreign(waker.clone()), Self::Task)
    }
}

thread_local! {
    static NEXT_GENERATION: Cell<u64> = const { Cell::new(0) };
    /// How many runs are under way, one inside the other.
    static RUNS: Cell<u32> = const { Cell::new(0) };
    /// How many tasks are in the ring: a look at it is cheaper than one at the ring.
    static WOKEN_COUNT: Cell<usize> = const { Cell::new(0) };
    static WOKEN: RefCell<VecDeque<TaskKey>> = const { RefCell::new(VecDeque::new()) };
}

fn push(task_key: TaskKey) {
    // A waker that is woken by a destructor of a thread that ends finds no ring, and no run that could listen.
    let _ = WOKEN.try_with(|woken| {
        let mut woken = woken.borrow_mut();
        woken.push_back(task_key);
        WOKEN_COUNT.set(woken.len());
    });
}

/// The ring of tasks that were woken, as one run sees it: first woken, first polled.
///
/// A run inside a component of another run has the ring to itself while it lasts: what the outer run had there, and
/// wakes of its tasks meanwhile, are there again when the inner run is over. The outermost run leaves an empty ring.
#[derive(Debug)]
pub(crate) struct WokenRing {
    outer: VecDeque<TaskKey>,
}

impl WokenRing {
    pub(crate) fn enter() -> Self {
        RUNS.set(RUNS.get() + 1);
        WOKEN_COUNT.set(0);
        Self { outer: WOKEN.take() }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        WOKEN_COUNT.get() == 0
    }

    /// Removes the task that was woken first.
    pub(crate) fn pop(&self) -> Option<TaskKey> {
        WOKEN.with_borrow_mut(|woken| {
            let first = woken.pop_front();
            WOKEN_COUNT.set(woken.len());
            first
        })
    }

    /// Keeps a wake that names no task of this run for the run around it, if there is one.
    pub(crate) fn keep_for_outer(&mut self, task_key: TaskKey) {
        if RUNS.get() > 1 {
            self.outer.push_back(task_key);
        }
    }
}

impl Drop for WokenRing {
    fn drop(&mut self) {
        RUNS.set(RUNS.get() - 1);
        let mut ring = std::mem::take(&mut self.outer);
        ring.append(&mut WOKEN.take());
        if RUNS.get() == 0 {
            ring.clear();
        }
        WOKEN_COUNT.set(ring.len());
        WOKEN.set(ring);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waker_carries_its_task_and_wakes_it_in_order() {
        let ring = WokenRing::enter();
        let (first, second) = (TaskKey::new(3), TaskKey::new((1 << 24) - 1));
        assert_eq!((first.index(), second.index()), (3, (1 << 24) - 1));
        let waker = second.waker();
        let clone = waker.clone();
        assert!(clone.will_wake(&waker));
        clone.wake();
        first.waker().wake_by_ref();
        assert!(matches!(Waiter::of(&waker), Waiter::Task(task_key) if task_key == second));
        assert!(!ring.is_empty());
        assert_eq!([ring.pop(), ring.pop(), ring.pop()], [Some(second), Some(first), None]);
        assert!(ring.is_empty());
    }

    #[test]
    fn another_waker_is_kept_as_it_is() {
        assert!(matches!(Waiter::of(Waker::noop()), Waiter::Foreign(_)));
    }

    #[test]
    fn no_key_is_given_twice() {
        assert_ne!(TaskKey::new(0), TaskKey::new(0));
    }

    #[test]
    fn an_inner_run_does_not_see_the_wakes_of_the_outer_one() {
        let outer_ring = WokenRing::enter();
        let (before, meanwhile) = (TaskKey::new(0), TaskKey::new(1));
        before.waker().wake();
        let mut inner_ring = WokenRing::enter();
        meanwhile.waker().wake();
        assert_eq!(inner_ring.pop(), Some(meanwhile));
        inner_ring.keep_for_outer(meanwhile);
        assert_eq!(inner_ring.pop(), None);
        drop(inner_ring);
        assert_eq!([outer_ring.pop(), outer_ring.pop(), outer_ring.pop()], [Some(before), Some(meanwhile), None]);
    }

    #[test]
    fn a_waiter_is_two_words() {
        assert_eq!(size_of::<Waiter>(), 16);
    }
}
