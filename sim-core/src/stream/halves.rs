//! The two directions of a stream at one of its ends.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::{StreamError, with_kernel};
use crate::connections::{EndId, WaitingTask};
use crate::kernel::Shared;
use crate::send_sites::Caller;
use crate::waker::Waiter;
use crate::{Address, Message};

/// The direction of a [`Stream`](crate::Stream) in which this end sends.
pub struct StreamSender<M: Message> {
    handle: Rc<Handle<M>>,
}

/// The direction of a [`Stream`](crate::Stream) in which this end receives.
pub struct StreamReceiver<M: Message> {
    handle: Rc<Handle<M>>,
}

/// What keeps an end of a stream from being dropped.
pub(super) struct Handle<M: Message> {
    kernel: Shared<M>,
    id: EndId,
    local: Address,
    remote: Address,
}

impl<M: Message> Handle<M> {
    /// Returns the two halves of an end that a component has.
    pub(super) fn halves(kernel: &Shared<M>, id: EndId) -> (StreamReceiver<M>, StreamSender<M>) {
        let (local, remote) = {
            let mut kernel = kernel.borrow_mut();
            let end = kernel.connections.end(id);
            (end.local, end.remote)
        };
        let handle = Rc::new(Self { kernel: kernel.clone(), id, local, remote });
        (StreamReceiver { handle: handle.clone() }, StreamSender { handle })
    }

    /// Sets who waits at one of the places of the end, and drops who did.
    fn set_waiter(&self, waiter: Option<Waiter>, direction: Direction) {
        let mut kernel = self.kernel.borrow_mut();
        let now = kernel.now;
        let place = kernel.connections.get_mut(self.id).map(|end| -> &mut WaitingTask {
            match direction {
                Direction::Send => &mut end.writer,
                Direction::Receive => &mut end.reader,
            }
        });
        let replaced = match place {
            Some(place) => place.replace(waiter, now),
            None => waiter,
        };
        drop(kernel);
        drop(replaced);
    }
}

#[derive(Debug, Clone, Copy)]
enum Direction {
    Send,
    Receive,
}

impl<M: Message> Drop for Handle<M> {
    fn drop(&mut self) {
        with_kernel(&self.kernel, |kernel| kernel.close_stream(self.id));
    }
}

impl<M: Message> StreamSender<M> {
    /// Returns this end's address.
    pub fn local(&self) -> Address {
        self.handle.local
    }

    /// Returns the other end's address.
    pub fn remote(&self) -> Address {
        self.handle.remote
    }

    /// Does what [`Stream::send`](crate::Stream::send) does.
    ///
    /// # Errors
    /// The future returns [`StreamError`] if the stream is broken or finished.
    #[track_caller]
    pub fn send(&mut self, message: impl Into<M>) -> StreamSend<'_, M> {
        let caller = Location::caller();
        StreamSend { handle: &self.handle, message: Some(message.into()), is_registered: false, caller }
    }

    /// Does what [`Stream::finish`](crate::Stream::finish) does.
    pub fn finish(&mut self) {
        with_kernel(&self.handle.kernel, |kernel| kernel.finish_stream(self.handle.id));
    }
}

impl<M: Message> Drop for StreamSender<M> {
    fn drop(&mut self) {
        // If the receiver is gone too, the handle ends the stream as a whole.
        if Rc::strong_count(&self.handle) > 1 {
            self.finish();
        }
    }
}

impl<M: Message> StreamReceiver<M> {
    /// Returns this end's address.
    pub fn local(&self) -> Address {
        self.handle.local
    }

    /// Returns the other end's address.
    pub fn remote(&self) -> Address {
        self.handle.remote
    }

    /// Does what [`Stream::recv`](crate::Stream::recv) does.
    ///
    /// # Errors
    /// The future returns [`StreamError::Reset`] if the stream is broken, after the messages that had arrived before
    /// that.
    #[track_caller]
    pub fn recv(&mut self) -> StreamRecv<'_, M> {
        StreamRecv { handle: &self.handle, is_registered: false, caller: Location::caller() }
    }
}

/// The future of [`Stream::send`](crate::Stream::send).
#[must_use = "futures do nothing unless awaited"]
pub struct StreamSend<'a, M: Message> {
    /// Borrowed mutably by whoever made this, so that no other send waits on the stream.
    handle: &'a Handle<M>,
    /// `None` when it was sent.
    message: Option<M>,
    is_registered: bool,
    /// The code that sends.
    caller: Caller,
}

/// The message is not pinned: it is only moved out.
impl<M: Message> Unpin for StreamSend<'_, M> {}

impl<M: Message> Future for StreamSend<'_, M> {
    type Output = Result<(), StreamError>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<(), StreamError>> {
        let this = self.get_mut();
        let Handle { kernel, id, .. } = this.handle;
        let outcome = with_kernel(kernel, |kernel| kernel.stream_send(*id, &mut this.message, this.caller));
        if outcome.is_pending() {
            this.handle.set_waiter(Some(Waiter::of(task.waker())), Direction::Send);
            this.is_registered = true;
        }
        outcome
    }
}

impl<M: Message> Drop for StreamSend<'_, M> {
    fn drop(&mut self) {
        if self.is_registered {
            self.handle.set_waiter(None, Direction::Send);
        }
    }
}

/// The future of [`Stream::recv`](crate::Stream::recv).
#[must_use = "futures do nothing unless awaited"]
pub struct StreamRecv<'a, M: Message> {
    /// Borrowed mutably by whoever made this, so that no other receive waits on the stream.
    handle: &'a Handle<M>,
    is_registered: bool,
    /// The code that receives.
    caller: Caller,
}

impl<M: Message> Future for StreamRecv<'_, M> {
    type Output = Result<Option<M>, StreamError>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<Option<M>, StreamError>> {
        let this = self.get_mut();
        let Handle { kernel, id, .. } = this.handle;
        let outcome = with_kernel(kernel, |kernel| kernel.stream_receive(*id, this.caller));
        if outcome.is_pending() {
            this.handle.set_waiter(Some(Waiter::of(task.waker())), Direction::Receive);
            this.is_registered = true;
        }
        outcome
    }
}

impl<M: Message> Drop for StreamRecv<'_, M> {
    fn drop(&mut self) {
        if self.is_registered {
            self.handle.set_waiter(None, Direction::Receive);
        }
    }
}

impl<M: Message> fmt::Debug for Handle<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Handle")
            .field("local", &self.local)
            .field("remote", &self.remote)
            .finish_non_exhaustive()
    }
}

impl<M: Message> fmt::Debug for StreamSender<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StreamSender").field("handle", &self.handle).finish()
    }
}

impl<M: Message> fmt::Debug for StreamReceiver<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StreamReceiver").field("handle", &self.handle).finish()
    }
}

impl<M: Message> fmt::Debug for StreamSend<'_, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StreamSend").field("message", &self.message).finish_non_exhaustive()
    }
}

impl<M: Message> fmt::Debug for StreamRecv<'_, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StreamRecv").field("handle", &self.handle).finish_non_exhaustive()
    }
}
