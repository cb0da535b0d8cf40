//! Opening a stream.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Stream, StreamSettings, with_kernel};
use crate::components::WaitPurpose;
use crate::connections::{EndId, State};
use crate::event_queue::EventId;
use crate::kernel::Shared;
use crate::message::ComponentId;
use crate::send_sites::Caller;
use crate::trace::Action;
use crate::waker::Waiter;
use crate::{Address, Message, VirtualDuration};

/// A stream could not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// The component is up, but has no listener at the address.
    #[error("no listener at that address")]
    Refused,
    /// No answer came in time.
    #[error("no answer came in time")]
    TimedOut,
}

/// The future of [`Context::connect`](crate::Context::connect).
///
/// Dropping it before it is ready takes the request back.
#[must_use = "futures do nothing unless awaited"]
pub struct Connect<'a, M: Message> {
    kernel: &'a Shared<M>,
    component: ComponentId,
    remote: Address,
    timeout: VirtualDuration,
    settings: StreamSettings,
    /// What waits; `None` before the first poll, and when the wait is over.
    asking: Option<Asking>,
    /// The code that asks.
    caller: Caller,
}

/// A request for a stream.
#[derive(Debug, Clone, Copy)]
struct Asking {
    end: EndId,
    timer: EventId,
}

impl<'a, M: Message> Connect<'a, M> {
    #[track_caller]
    pub(crate) fn new(
        kernel: &'a Shared<M>,
        component: ComponentId,
        remote: Address,
        timeout: VirtualDuration,
    ) -> Self {
        let (settings, caller) = (StreamSettings::default(), Location::caller());
        Self { kernel, component, remote, timeout, settings, asking: None, caller }
    }

    /// Sets how this end of the stream behaves.
    pub fn settings(mut self, settings: StreamSettings) -> Self {
        assert!(self.asking.is_none(), "settings come before the request");
        self.settings = settings;
        self
    }

    fn start(&mut self, task: &Context<'_>) {
        assert!(!self.remote.component.is_group(), "a stream has one other end, and {} is a group", self.remote);
        // Outside the borrow, because cloning a foreign waker may run code that comes back here.
        let waiters = (Waiter::of(task.waker()), Waiter::of(task.waker()));
        let Self { component, remote, timeout, settings, .. } = *self;
        let asking = with_kernel(self.kernel, |kernel| {
            let end = kernel.connect(component, remote, settings)?;
            let timer = kernel.schedule_timer(component, timeout, WaitPurpose::Timeout, waiters.0);
            let now = kernel.now;
            let replaced = kernel.connections.end(end).reader.replace(Some(waiters.1), now);
            debug_assert!(replaced.is_none(), "a new end has no waiter");
            Some(Asking { end, timer })
        });
        assert!(asking.is_some(), "no port from 49,152 on is unused: drop streams that are not needed");
        self.asking = asking;
    }

    fn record_timeout(&self, Asking { end, .. }: Asking) {
        let mut kernel = self.kernel.borrow_mut();
        if let Some(local) = kernel.connections.get(end).map(|end| end.local) {
            let site = Some(self.caller.into());
            kernel.record(|kernel| Action::TimedOut { channel: kernel.endpoint(local), site });
        }
    }

    /// Takes the timer and the waiter away.
    fn stop_waiting(&self, Asking { end, timer }: Asking) {
        let mut kernel = self.kernel.borrow_mut();
        let now = kernel.now;
        let of_timer = kernel.cancel_timer(timer);
        let of_end = kernel.connections.get_mut(end).and_then(|end| end.reader.replace(None, now));
        drop(kernel);
        drop((of_timer, of_end));
    }

    /// Waits on, maybe for another task than before.
    fn wait_on(&self, Asking { end, timer }: Asking, task: &Context<'_>) {
        let waiters = (Waiter::of(task.waker()), Waiter::of(task.waker()));
        let mut kernel = self.kernel.borrow_mut();
        let now = kernel.now;
        let of_timer = kernel.replace_timer_waiter(timer, waiters.0);
        let of_end = kernel.connections.get_mut(end).map(|end| end.reader.replace(Some(waiters.1), now));
        drop(kernel);
        drop((of_timer, of_end));
    }
}

impl<M: Message> Future for Connect<'_, M> {
    type Output = Result<Stream<M>, ConnectError>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<Stream<M>, ConnectError>> {
        let this = self.get_mut();
        let Some(asking) = this.asking else {
            this.start(task);
            return Poll::Pending;
        };
        let (state, is_in_time) = {
            let mut kernel = this.kernel.borrow_mut();
            (kernel.connections.get(asking.end).map(|end| end.state), kernel.is_pending(asking.timer))
        };
        let error = match state {
            Some(State::Open) => None,
            Some(State::Asking { .. }) if is_in_time => {
                this.wait_on(asking, task);
                return Poll::Pending;
            }
            Some(State::Asking { .. }) | None => Some(ConnectError::TimedOut),
            Some(State::Agreeing) => unreachable!("a client does not agree"),
            Some(State::Broken(_)) => Some(ConnectError::Refused),
        };
        this.stop_waiting(asking);
        this.asking = None;
        if let Some(error) = error {
            if error == ConnectError::TimedOut {
                this.record_timeout(asking);
            }
            with_kernel(this.kernel, |kernel| kernel.close_stream(asking.end));
            return Poll::Ready(Err(error));
        }
        Poll::Ready(Ok(Stream::new(this.kernel, asking.end)))
    }
}

impl<M: Message> Drop for Connect<'_, M> {
    fn drop(&mut self) {
        if let Some(asking) = self.asking {
            self.stop_waiting(asking);
            with_kernel(self.kernel, |kernel| kernel.close_stream(asking.end));
        }
    }
}

impl<M: Message> fmt::Debug for Connect<'_, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Connect")
            .field("remote", &self.remote)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
