//! An allocator that counts, so that a run which allocates without end is stopped before the machine suffers.

#![expect(unsafe_code, reason = "a global allocator cannot be written without: GlobalAlloc is an unsafe trait")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

// The counters order nothing else, so relaxed access is enough.
static USED: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(usize::MAX);

/// The system's allocator behind a limit on the bytes in use.
///
/// Beyond the limit an allocation fails as if the machine had no memory left: `Vec` and its kind then abort the process,
/// which is the only thing that safe code can do about it, and the campaign sees a worker that died of it. Code that
/// asks before it allocates (`try_reserve`) is told no, as it would be for lack of real memory.
#[derive(Debug)]
pub struct CountingAllocator;

impl CountingAllocator {
    /// Takes `bytes` into account; false if they are too many.
    fn reserve(bytes: usize) -> bool {
        let fits = USED.fetch_add(bytes, Relaxed).saturating_add(bytes) <= LIMIT.load(Relaxed);
        if !fits {
            Self::release(bytes);
        }
        fits
    }

    fn release(bytes: usize) {
        USED.fetch_sub(bytes, Relaxed);
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

// SAFETY: every block comes from and goes back to `System` with the layout that the caller gave; only counters are added,
// which neither allocate nor unwind, and a null pointer is a permitted answer.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`, which is that of `System`.
        Self::counted(layout.size(), || unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        Self::counted(layout.size(), || unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller says that `pointer` is a block of this allocator, which is a block of `System`.
        let resized = Self::counted(new_size, || unsafe { System.realloc(pointer, layout, new_size) });
        if !resized.is_null() {
            Self::release(layout.size());
        }
        resized
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as in `realloc`.
        unsafe { System.dealloc(pointer, layout) };
        Self::release(layout.size());
    }
}

/// Returns how many bytes the process has in use.
pub(crate) fn used_bytes() -> usize {
    USED.load(Relaxed)
}

/// Calls `action` with at most `bytes` of memory beside those in use now.
pub(crate) fn limited<T>(bytes: u64, action: impl FnOnce() -> T) -> T {
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
    LIMIT.store(used_bytes().saturating_add(bytes), Relaxed);
    let result = action();
    LIMIT.store(usize::MAX, Relaxed);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test, since the limit is the whole process's and other tests allocate at the same time.
    #[test]
    fn only_allocations_beyond_the_limit_fail() {
        let mut small: Vec<u8> = Vec::new();
        let mut large: Vec<u8> = Vec::new();
        let before = used_bytes();
        let results = limited(256 << 20, || (small.try_reserve_exact(64 << 20), large.try_reserve_exact(512 << 20)));
        assert!(results.0.is_ok(), "64 MiB fit into 256");
        assert!(results.1.is_err(), "512 MiB do not");
        assert!(used_bytes() >= before + (64 << 20) / 2, "what was given is counted");
        assert!(large.try_reserve_exact(512 << 20).is_ok(), "the limit ends with the action");
        drop((small, large));
        assert!(used_bytes() < before + (32 << 20), "what was given back is not");
    }
}
