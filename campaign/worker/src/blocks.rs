//! Small blocks that a thread has given back, and takes again: faster than the system's allocator.
//!
//! A run of a few microseconds allocates hundreds of times, mostly what the run before it allocated too.

#![expect(unsafe_code, reason = "lists through the free blocks themselves need raw pointers")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::{self, NonNull};

/// Blocks of up to so many bytes are kept.
const BYTES_MAX: usize = 1024;
/// A block's size is a multiple of so many bytes, and so is its address.
const GRAIN: usize = 16;
/// So many blocks of a size are kept by a thread: what a run has hoarded goes back to the system.
const KEPT_MAX: u32 = 1024;

/// The first bytes of a free block: the next one of its size.
type Next = *mut u8;

/// The free blocks of one size.
struct List {
    first: Cell<Next>,
    length: Cell<u32>,
}

thread_local! {
    /// Index n has blocks of n + 1 grains. Nothing is dropped with the thread: a worker's threads live as long as it
    /// does, but for those that hang.
    static LISTS: [List; BYTES_MAX / GRAIN] =
        const { [const { List { first: Cell::new(ptr::null_mut()), length: Cell::new(0) } }; BYTES_MAX / GRAIN] };
}

/// Returns the number of the list for blocks that fit `layout`, if such are kept.
#[inline]
fn list_for(layout: Layout) -> Option<usize> {
    let fits = layout.size() <= BYTES_MAX && layout.align() <= GRAIN && layout.size() > 0;
    fits.then(|| (layout.size() - 1) / GRAIN)
}

/// Returns the layout of the blocks of a list.
#[inline]
fn layout_of(list: usize) -> Layout {
    Layout::from_size_align((list + 1) * GRAIN, GRAIN).expect("a small size")
}

/// Returns a block for `layout`, or null if the machine has no memory.
///
/// # Safety
/// The size of `layout` is not 0.
#[inline]
pub(crate) unsafe fn allocate(layout: Layout) -> *mut u8 {
    let Some(number) = list_for(layout) else {
        // SAFETY: the size is not 0.
        return unsafe { System.alloc(layout) };
    };
    LISTS.with(|lists| {
        let list = &lists[number];
        let Some(first) = NonNull::new(list.first.get()) else {
            // SAFETY: a list's layout has a size.
            return unsafe { System.alloc(layout_of(number)) };
        };
        // SAFETY: a block in a list is free, is of a grain at least, is aligned to it, and begins with the next one.
        list.first.set(unsafe { first.cast::<Next>().read() });
        list.length.set(list.length.get() - 1);
        first.as_ptr()
    })
}

/// Returns a block for `layout` that is all zeros, or null if the machine has no memory.
///
/// # Safety
/// As for [`allocate`].
#[inline]
pub(crate) unsafe fn allocate_zeroed(layout: Layout) -> *mut u8 {
    if list_for(layout).is_none() {
        // SAFETY: the size is not 0. The system often knows that its memory is zeros.
        return unsafe { System.alloc_zeroed(layout) };
    }
    // SAFETY: as above.
    let block = unsafe { allocate(layout) };
    if !block.is_null() {
        // SAFETY: the block has so many bytes, and is nobody else's.
        unsafe { block.write_bytes(0, layout.size()) };
    }
    block
}

/// Takes back a block.
///
/// # Safety
/// `block` is from [`allocate`] or [`reallocate`] with this layout, and nobody uses it any more.
#[inline]
pub(crate) unsafe fn deallocate(block: *mut u8, layout: Layout) {
    let Some(number) = list_for(layout) else {
        // SAFETY: blocks that are not kept come from the system with the layout that was asked for.
        return unsafe { System.dealloc(block, layout) };
    };
    LISTS.with(|lists| {
        let list = &lists[number];
        if list.length.get() == KEPT_MAX {
            // SAFETY: a block that is kept comes from the system with the layout of its list.
            return unsafe { System.dealloc(block, layout_of(number)) };
        }
        // SAFETY: the block is free now, of a grain at least, and aligned to it.
        unsafe { block.cast::<Next>().write(list.first.get()) };
        list.first.set(block);
        list.length.set(list.length.get() + 1);
    });
}

/// Returns a block of `new_size` bytes with what is in `block`, or null, with `block` as it was, if there is no memory.
///
/// # Safety
/// As for [`deallocate`], unless null is returned; `new_size` is not 0, and is a valid size with the alignment of
/// `layout`.
#[inline]
pub(crate) unsafe fn reallocate(block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
    // SAFETY: the caller says that the size is valid with this alignment.
    let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
    match (list_for(layout), list_for(new_layout)) {
        // SAFETY: the block comes from the system with this layout.
        (None, None) => unsafe { System.realloc(block, layout, new_size) },
        (old, new) if old == new => block,
        _ => {
            // SAFETY: the new size is not 0.
            let grown = unsafe { allocate(new_layout) };
            if !grown.is_null() {
                // SAFETY: both blocks have so many bytes and are different; the old one is not used after this.
                unsafe {
                    ptr::copy_nonoverlapping(block, grown, layout.size().min(new_size));
                    deallocate(block, layout);
                }
            }
            grown
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use simutant_sim_core::Random;

    use super::*;

    /// A block in use: what fills it, and what it was asked for with.
    struct Held {
        block: *mut u8,
        layout: Layout,
        fill: u8,
    }

    impl Held {
        fn bytes(&self) -> &[u8] {
            // SAFETY: all blocks that are held have been filled.
            unsafe { std::slice::from_raw_parts(self.block, self.layout.size()) }
        }

        fn fill(&mut self, fill: u8) {
            self.fill = fill;
            // SAFETY: the block has so many bytes.
            unsafe { self.block.write_bytes(fill, self.layout.size()) };
        }

        #[track_caller]
        fn check(&self) {
            assert_eq!(self.block.align_offset(self.layout.align()), 0, "{:?}", self.layout);
            assert!(self.bytes().iter().all(|&byte| byte == self.fill), "someone else wrote into {:?}", self.layout);
        }
    }

    fn random_layout(random: &mut Random) -> Layout {
        let size = if random.uniform(0..4) == 0 { random.uniform(1..=4000) } else { random.uniform(1..=100) };
        Layout::from_size_align(size, 1 << random.uniform(0..=6)).expect("a small size")
    }

    #[test]
    fn blocks_keep_what_is_in_them_until_they_are_given_back() {
        let mut random = Random::from_seed(1);
        let mut held: Vec<Held> = Vec::new();
        for round in 0..2_000_u32 {
            let fill = round as u8;
            match random.uniform(0..5) {
                0 | 1 => {
                    let layout = random_layout(&mut random);
                    let zeroed = random.uniform(0..2) == 0;
                    // SAFETY: the size is at least 1.
                    let block = unsafe { if zeroed { allocate_zeroed(layout) } else { allocate(layout) } };
                    let mut new = Held { block, layout, fill: 0 };
                    if zeroed {
                        new.check();
                    }
                    new.fill(fill);
                    held.push(new);
                }
                2 if !held.is_empty() => {
                    let at = random.uniform(0..held.len());
                    let old = &mut held[at];
                    let size = random_layout(&mut random).size();
                    // SAFETY: the block was got with this layout, and is replaced.
                    let block = unsafe { reallocate(old.block, old.layout, size) };
                    let kept = old.layout.size().min(size);
                    // SAFETY: so many bytes are what was in the block before.
                    let bytes = unsafe { std::slice::from_raw_parts(block, kept) };
                    assert!(bytes.iter().all(|&byte| byte == old.fill), "{size} bytes after {:?}", old.layout);
                    old.layout = Layout::from_size_align(size, old.layout.align()).expect("a small size");
                    old.block = block;
                    old.fill(fill);
                }
                3 if !held.is_empty() => {
                    let old = held.swap_remove(random.uniform(0..held.len()));
                    old.check();
                    // SAFETY: the block was got with this layout, and is no longer held.
                    unsafe { deallocate(old.block, old.layout) };
                }
                _ => held.iter().for_each(Held::check),
            }
        }
        let blocks: BTreeSet<*mut u8> = held.iter().map(|held| held.block).collect();
        assert_eq!(blocks.len(), held.len(), "no block is two's");
        for Held { block, layout, .. } in held {
            // SAFETY: the block was got with this layout, and is not used after this.
            unsafe { deallocate(block, layout) };
        }
    }

    #[test]
    fn what_was_given_back_is_taken_again_and_not_without_end() {
        let layout = Layout::from_size_align(48, 8).expect("a small size");
        let kept = || LISTS.with(|lists| lists[2].length.get());
        // SAFETY: the blocks are got with this layout, and given back once.
        let blocks: Vec<*mut u8> = (0..KEPT_MAX + 10).map(|_| unsafe { allocate(layout) }).collect();
        assert_eq!(kept(), 0);
        for &block in &blocks {
            // SAFETY: as above.
            unsafe { deallocate(block, layout) };
        }
        assert_eq!(kept(), KEPT_MAX);
        // SAFETY: the size is 33 at least.
        let again = unsafe { allocate(Layout::from_size_align(33, 16).expect("a small size")) };
        assert_eq!(again, blocks[KEPT_MAX as usize - 1], "the last that was kept");
        assert_eq!(kept(), KEPT_MAX - 1);
    }
}
