//! Pauses: timers that are armed when first polled, and gone from the event queue when dropped.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::components::WaitPurpose;
use crate::event_queue::EventId;
use crate::kernel::Kernel;
use crate::message::ComponentId;
use crate::waker::Waiter;
use crate::{Message, VirtualDuration};

/// The future of [`Context::pause`](crate::Context::pause): ready when the time has passed.
///
/// Dropping it cancels the timer.
#[must_use = "futures do nothing unless awaited"]
pub struct Pause<'a, M: Message> {
    kernel: &'a RefCell<Kernel<M>>,
    component: ComponentId,
    purpose: WaitPurpose,
    duration: VirtualDuration,
    /// The timer in the event queue; `None` before the first poll, and when the pause is over.
    event: Option<EventId>,
}

impl<'a, M: Message> Pause<'a, M> {
    #[inline]
    pub(crate) fn new(
        kernel: &'a RefCell<Kernel<M>>,
        component: ComponentId,
        duration: VirtualDuration,
        purpose: WaitPurpose,
    ) -> Self {
        Self { kernel, component, purpose, duration, event: None }
    }

    /// Takes the timer out of the event queue.
    // Most pauses end by themselves: their drop is one test, where this is not put in its place.
    #[inline(never)]
    fn cancel(&self, event: EventId) {
        let _dropped_after_the_borrow = self.kernel.borrow_mut().cancel_pause(event);
    }

    /// Lets someone else be woken by a timer that is still to fire.
    #[cold]
    fn change_waiter(&self, event: EventId, waiter: Waiter) {
        let _dropped_after_the_borrow = self.kernel.borrow_mut().replace_timer_waiter(event, waiter);
    }
}

impl<M: Message> Future for Pause<'_, M> {
    type Output = ();

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let Some(event) = this.event else {
            let waiter = Waiter::of(task.waker());
            let Self { kernel, component, purpose, duration, .. } = *this;
            this.event = Some(kernel.borrow_mut().schedule_pause(component, duration, purpose, waiter));
            return Poll::Pending;
        };
        if this.kernel.borrow_mut().is_pending(event) {
            this.change_waiter(event, Waiter::of(task.waker()));
            return Poll::Pending;
        }
        this.event = None;
        Poll::Ready(())
    }
}

impl<M: Message> Drop for Pause<'_, M> {
    #[inline]
    fn drop(&mut self) {
        if let Some(event) = self.event.take() {
            self.cancel(event);
        }
    }
}

impl<M: Message> fmt::Debug for Pause<'_, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pause").field("duration", &self.duration).finish_non_exhaustive()
    }
}
