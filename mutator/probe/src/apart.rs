//! Code that is compiled with the module that it stands in, and not where it is called.
//!
//! What calls a closure or polls a future is generic, and a function of this crate would be compiled in one unit for
//! all closures of a package; a short one in the unit of each caller, with all that the closure does. An edit of one
//! module would then be one of most units. A provided method the incremental compiler puts into the unit of the module
//! that `Self` is from, which is where the closure or the `async` block stands.

use std::future::{Future, IntoFuture};
use std::mem::ManuallyDrop;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Calls what has the bodies of a function that are not the clean one.
///
/// # Panics
/// If the body does.
#[inline(always)]
pub fn aside<T>(body: impl FnOnce() -> T) -> T {
    body.run_here()
}

/// Returns a future that does what another does, and is compiled where that one stands, once: what polls it may be in
/// many units.
///
/// It is in a box: what waits for it would have its size and its fields, so that an edit which gives an async function
/// one more variable would change the code of all that wait for it, and of those that wait for these.
#[inline(always)]
pub fn apart<F: IntoFuture>(future: F) -> Apart<F::IntoFuture> {
    future.into_future().apart_here()
}

/// A future that is compiled with the function that it is of. See [`apart`].
#[derive(Debug)]
#[must_use = "futures do nothing unless they are waited for"]
pub struct Apart<F: Future>(ManuallyDrop<Pin<Box<F>>>);

impl<F: Future> Future for Apart<F> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.0.as_mut().poll_here(context)
    }
}

impl<F: Future> Drop for Apart<F> {
    #[inline]
    #[expect(unsafe_code, reason = "what has a destructor by its type would have it compiled with that, too")]
    fn drop(&mut self) {
        // SAFETY: nothing uses the future after this.
        unsafe { F::drop_here(&mut self.0) };
    }
}

/// Closures that are called where they stand.
trait RunHere<T>: FnOnce() -> T + Sized {
    /// The call is seldom made, the function is not marked so: what stands in it runs as often as any code does when it
    /// runs at all, and the compiler puts little into code that it takes for cold.
    #[inline(never)]
    fn run_here(self) -> T {
        self()
    }
}

impl<T, F: FnOnce() -> T> RunHere<T> for F {}

/// Futures that are boxed, polled and dropped where they stand.
trait FutureHere: Future {
    /// Puts a future into its box. Where there is no memory for one, the future is dropped, and so what does this has
    /// its destructor.
    #[inline(never)]
    fn apart_here(self) -> Apart<Self>
    where
        Self: Sized,
    {
        Apart(ManuallyDrop::new(Box::pin(self)))
    }

    /// Must not be inlined: what is inlined is compiled elsewhere.
    #[inline(never)]
    fn poll_here(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll(context)
    }

    /// Drops a future. What does so is as long as the states of the future are many.
    ///
    /// # Safety
    /// The future must not be used after this.
    #[inline(never)]
    #[expect(unsafe_code, reason = "as for `Apart`, whose destructor calls it")]
    unsafe fn drop_here(future: &mut ManuallyDrop<Pin<Box<Self>>>)
    where
        Self: Sized,
    {
        // SAFETY: as for this function.
        unsafe { ManuallyDrop::drop(future) }
    }
}

impl<F: Future> FutureHere for F {}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::pin::pin;
    use std::rc::Rc;
    use std::task::Waker;

    use super::*;

    #[test]
    fn what_is_apart_does_what_it_is_made_of() {
        let mut turns = 0;
        let future = async {
            turns += 1;
            poll_fn(|_| if std::mem::take(&mut turns) == 1 { Poll::Pending } else { Poll::Ready(()) }).await;
            aside(|| 7)
        };
        let mut future = pin!(apart(future));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(future.as_mut().poll(&mut context), Poll::Pending);
        assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(7));
    }

    #[test]
    fn what_is_apart_is_dropped_once_wherever_it_is() {
        for polls in 0..3 {
            let held = Rc::new(());
            let guard = Rc::clone(&held);
            let mut future = apart(async move {
                pending::<()>().await;
                drop(guard);
            });
            for _ in 0..polls {
                assert_eq!(Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())), Poll::Pending);
            }
            assert_eq!(Rc::strong_count(&held), 2);
            drop(future);
            assert_eq!(Rc::strong_count(&held), 1);
        }
    }
}
