//! An allocator that counts, so that a run which allocates without end is stopped before the machine suffers.

#![expect(unsafe_code, reason = "a global allocator cannot be written without: GlobalAlloc is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use simutant_probe as probe;

use crate::blocks;

// The counters order nothing else, so relaxed access is enough.
/// It goes around the end of the numbers while a thread gives back what another has not told of.
static USED: AtomicUsize = AtomicUsize::new(0);
/// Bytes in use beyond which [`CountingAllocator::beyond`] is asked, so that other allocations cost one comparison.
static THRESHOLD: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Bytes in use beyond which nothing is given.
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Whether the threshold only follows the most that is in use.
static MEASURES: AtomicBool = AtomicBool::new(false);
/// Whether the threshold was passed.
static EXCEEDED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What this thread has got and given back, and not told the others yet: a shared counter is several times slower.
    static UNTOLD: Cell<isize> = const { Cell::new(0) };
}

/// A thread tells of so many bytes at once. So the limits are exact to so many for each thread; for the thread of a run
/// they are a function of what the run allocates, since nothing is untold when a run begins.
const UNTOLD_MAX: isize = 64 << 10;

/// An allocator that counts and has two limits on the bytes in use. Small blocks that were given back are kept.
///
/// An allocation beyond the first is granted, and the run is [told to stop](probe::stop): it unwinds at its next step,
/// and the worker lives on. (An allocator itself must not unwind.) Beyond the second, an allocation fails as if the
/// machine had no memory left: `Vec` and its kind then abort the process, which is all that safe code can do about it,
/// and the campaign sees a worker that died of it. Code that asks before it allocates (`try_reserve`) is told no, as it
/// would be for lack of real memory.
#[derive(Debug)]
pub struct CountingAllocator;

/// What is done about the memory that a run uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watch {
    /// The most that it uses is measured.
    Measure,
    /// It is told to stop when it uses more than so many bytes.
    StopBeyond(u64),
}

/// What a run did with its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    /// Whether it was told to stop.
    pub(crate) exceeded: bool,
    /// The most that it had in use, in bytes; at least so many if it was told to stop, and 0 if nothing was measured.
    pub(crate) bytes_max: u64,
}

impl CountingAllocator {
    /// Takes `bytes` into account; false if they are too many.
    #[inline]
    fn reserve(bytes: usize) -> bool {
        let untold = UNTOLD.get().saturating_add_unsigned(bytes);
        UNTOLD.set(untold);
        if untold < UNTOLD_MAX {
            return true;
        }
        let used = tell();
        let fits = used <= THRESHOLD.load(Relaxed) || Self::beyond(used);
        if !fits {
            Self::release(bytes);
        }
        fits
    }

    /// Does what is to be done when more is in use than the threshold; false if that is too much.
    #[cold]
    fn beyond(used: usize) -> bool {
        let limit = LIMIT.load(Relaxed);
        if used > limit {
            return false;
        }
        if MEASURES.load(Relaxed) {
            THRESHOLD.store(used, Relaxed);
        } else {
            THRESHOLD.store(limit, Relaxed);
            EXCEEDED.store(true, Relaxed);
            probe::stop();
        }
        true
    }

    #[inline]
    fn release(bytes: usize) {
        let untold = UNTOLD.get().saturating_sub_unsigned(bytes);
        UNTOLD.set(untold);
        if untold <= -UNTOLD_MAX {
            tell();
        }
    }

    /// Counts an allocation of `bytes` that `allocate` makes, unless they are too many or it fails.
    fn counted(bytes: usize, allocate: impl FnOnce() -> *mut u8) -> *mut u8 {
        if !Self::reserve(bytes) {
            return std::ptr::null_mut();
        }
        let pointer = allocate();
        if pointer.is_null() {
            // The machine has no memory for what the run may use. That is no doing of the run: the process ends as if
            // someone else had ended it, and the campaign tries again.
            _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
        pointer
    }
}

// SAFETY: every block comes from and goes back to `blocks` with the layout that the caller gave; what is added are
// counters, and what the probe knows of addresses, both in cells of the thread, and neither allocates nor unwinds; a
// null pointer is a permitted answer.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`: the size is not 0.
        Self::counted(layout.size(), || unsafe { blocks::allocate(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        Self::counted(layout.size(), || unsafe { blocks::allocate_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller says that `pointer` is a block of this allocator, which is a block of `blocks`.
        let resized = Self::counted(new_size, || unsafe { blocks::reallocate(pointer, layout, new_size) });
        if !resized.is_null() {
            Self::release(layout.size());
            probe::moved(pointer.addr(), layout.size(), resized.addr(), new_size);
        }
        resized
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { blocks::deallocate(pointer, layout) };
        Self::release(layout.size());
        probe::freed(pointer.addr(), layout.size());
    }
}

/// Tells what this thread has got and given back, and returns how many bytes the process has in use.
fn tell() -> usize {
    let untold = UNTOLD.replace(0);
    let used = USED.fetch_add(untold.cast_unsigned(), Relaxed).wrapping_add(untold.cast_unsigned());
    // Other threads may have given back more than they have told of.
    if used.cast_signed() < 0 { 0 } else { used }
}

/// Returns how many bytes the process has in use.
pub(crate) fn used_bytes() -> usize {
    tell()
}

/// Calls `action` with at most `bytes_max` of memory beside those in use now, and watches what it uses.
pub(crate) fn watched<T>(watch: Watch, bytes_max: u64, action: impl FnOnce() -> T) -> (T, Use) {
    let before = used_bytes();
    let limit = |bytes: u64| before.saturating_add(usize::try_from(bytes).unwrap_or(usize::MAX));
    LIMIT.store(limit(bytes_max), Relaxed);
    EXCEEDED.store(false, Relaxed);
    MEASURES.store(watch == Watch::Measure, Relaxed);
    THRESHOLD.store(
        match watch {
            Watch::Measure => before,
            Watch::StopBeyond(bytes) => limit(bytes.min(bytes_max)),
        },
        Relaxed,
    );
    let result = action();
    let threshold = THRESHOLD.swap(usize::MAX, Relaxed);
    LIMIT.store(usize::MAX, Relaxed);
    let bytes_max = if watch == Watch::Measure { threshold - before } else { 0 };
    (result, Use { exceeded: EXCEEDED.load(Relaxed), bytes_max: bytes_max as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, since the limits are the whole process's and other tests allocate at the same time.
    #[test]
    fn allocations_are_counted_and_those_beyond_a_limit_stop_the_run_or_fail() {
        let mut small: Vec<u8> = Vec::new();
        let mut large: Vec<u8> = Vec::new();
        let before = used_bytes();
        let (results, used) = watched(Watch::Measure, 256 << 20, || {
            (small.try_reserve_exact(64 << 20), large.try_reserve_exact(512 << 20))
        });
        assert!(results.0.is_ok(), "64 MiB fit into 256");
        assert!(results.1.is_err(), "512 MiB do not");
        assert!(!used.exceeded);
        assert!((64 << 20..96 << 20).contains(&used.bytes_max), "what was refused is not counted: {used:?}");
        assert!(used_bytes() >= before + (64 << 20) / 2, "what was given is counted");
        assert!(large.try_reserve_exact(512 << 20).is_ok(), "the limit ends with the action");
        drop((small, large));
        assert!(used_bytes() < before + (32 << 20), "what was given back is not");

        probe::start_clean(10);
        let stop = || {
            let hoard: Vec<u8> = Vec::with_capacity(64 << 20);
            probe::tick();
            hoard
        };
        let (unwound, used) = watched(Watch::StopBeyond(32 << 20), 256 << 20, || std::panic::catch_unwind(stop));
        assert!(unwound.expect_err("its memory is used up").is::<probe::OutOfSteps>());
        assert!(used.exceeded);
        let finished = probe::finish();
        assert_eq!((finished.steps, finished.out_of_steps), (1, true));

        let mut hoard: Vec<u8> = Vec::new();
        let reserve = || hoard.try_reserve_exact(512 << 20);
        let (refused, _) = watched(Watch::StopBeyond(32 << 20), 256 << 20, reserve);
        assert!(refused.is_err(), "a run that takes no steps is stopped by the second limit");
    }

    #[test]
    fn objects_are_known_as_long_as_their_memory_is_theirs() {
        const TYPE: u32 = 1;
        const DEFINITION: u16 = 5;
        let definition = |object: &[u64; 2]| {
            let [slot] = probe::object(TYPE, &raw const *object);
            slot.get()
        };
        let born = || {
            probe::birth(TYPE, &[DEFINITION]);
            Box::new([0; 2])
        };
        probe::start_recording(10, probe::RecordingSizes::default());
        let mut addresses = Vec::new();
        for _ in 0..4 {
            let object = born();
            addresses.push((&raw const *object).addr());
            assert_eq!(definition(&object), DEFINITION, "at {addresses:x?}");
        }
        assert!(addresses.windows(2).any(|pair| pair[0] == pair[1]), "an address is used again: {addresses:x?}");

        let mut objects = vec![*born()];
        assert_eq!(definition(&objects[0]), DEFINITION);
        let before = objects.as_ptr();
        objects.reserve_exact(1_000);
        assert_ne!(objects.as_ptr(), before, "the block has moved");
        assert_eq!(definition(&objects[0]), DEFINITION);
        probe::finish();
    }
}
