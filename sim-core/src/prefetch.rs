//! A hint to the processor: what is about to be read.
//!
//! With a hundred thousand components, what a component needs is in no near cache when its event comes. The events that
//! come next are known, so their memory can be on its way while the current one is handled.

/// How many bytes come at once.
const LINE_BYTES: usize = 64;

/// Asks for the first `bytes` bytes of what a pointer points to. That nothing is there does no harm.
#[inline(always)]
pub(crate) fn prefetch<T: ?Sized>(pointer: *const T, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "the standard library has no stable safe way to ask for memory ahead of time")]
        // SAFETY: the instruction is a hint: it neither reads nor faults, whatever the address is, and x86-64 always
        // has it.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(pointer.cast::<i8>().wrapping_add(line));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (pointer, bytes, LINE_BYTES);
}
