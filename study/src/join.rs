//! Two things at a time.

/// Does `other` on a thread of its own while it does `here` on this one, and returns what both return.
///
/// # Panics
/// If one of them does.
pub(crate) fn join<A: Send, B>(other: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        let here = here();
        (other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), here)
    })
}
