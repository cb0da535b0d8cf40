//! Pauses: timers that are armed when first polled, and gone from the event queue when dropped.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::event_queue::EventId;
use crate::kernel::Kernel;
use crate::waker::Waiter;
use crate::{Message, VirtualDuration};

/// The future of [`Context::pause`](crate::Context::pause): ready when the time has passed.
///
/// Dropping it cancels the timer.
#[must_use = "futures do nothing unless awaited"]
pub struct Pause<'a, M: Message> {
    kernel: &'a RefCell<Kernel<M>>,
    duration: VirtualDuration,
    /// The timer in the event queue; `None` before the first poll, and when the pause is over.
    event: Option<EventId>,
}

impl<'a, M: Message> Pause<'a, M> {
    pub(crate) fn new(kernel: &'a RefCell<Kernel<M>>, duration: VirtualDuration) -> Self {
        Self { kernel, duration, event: None }
    }

    /// Takes the timer out of the event queue.
    pub(crate) fn cancel(&mut self) {
        if let Some(event) = self.event.take() {
            let _dropped_after_the_borrow = self.kernel.borrow_mut().cancel_timer(event);
        }
    }
}

impl<M: Message> Future for Pause<'_, M> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let waiter = Waiter::of(context.waker());
        match this.event {
            None => {
                this.event = Some(this.kernel.borrow_mut().schedule_timer(this.duration, waiter));
                Poll::Pending
            }
            Some(event) => {
                let replaced = this.kernel.borrow_mut().replace_timer_waiter(event, waiter);
                if replaced.is_ok() {
                    return Poll::Pending;
                }
                this.event = None;
                Poll::Ready(())
            }
        }
    }
}

impl<M: Message> Drop for Pause<'_, M> {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl<M: Message> fmt::Debug for Pause<'_, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pause").field("duration", &self.duration).finish_non_exhaustive()
    }
}
