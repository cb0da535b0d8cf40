//! Channels: datagram sockets that are bound to a port of a component.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::kernel::Shared;
use crate::pause::Pause;
use crate::ports::PortIndex;
use crate::trace::Action;
use crate::waker::Waiter;
use crate::{Address, Delivery, Message, VirtualDuration};

/// A datagram channel, as a UDP socket is (Rutherford, PhD thesis, section 3.1.2.2).
///
/// Messages that arrive are queued, without limit, and received in the order of arrival. Dropping the channel closes the
/// port: what was not received, and what arrives later, is lost.
pub struct Channel<M: Message> {
    kernel: Shared<M>,
    port: PortIndex,
    address: Address,
}

/// No message came in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no message came in time")]
pub struct TimedOut;

impl<M: Message> Channel<M> {
    pub(crate) fn new(kernel: Shared<M>, port: PortIndex, address: Address) -> Self {
        Self { kernel, port, address }
    }

    /// Returns the address that others reach this channel at.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Hands a message to the network, which may lose it, delay it, or deliver it twice. Never waits.
    ///
    /// # Panics
    /// If 2^24 events are pending: something sends without end.
    pub fn send(&self, to: Address, message: impl Into<M>) {
        let message = message.into();
        self.kernel.borrow_mut().send(self.address, to, message);
    }

    /// Returns the oldest message that has arrived, if there is one.
    pub fn try_recv(&mut self) -> Option<Delivery<M>> {
        self.kernel.borrow_mut().receive(self.port)
    }

    /// Waits for a message.
    ///
    /// Dropping the future before it is ready loses no message.
    pub fn recv(&mut self) -> Recv<'_, M> {
        Recv { channel: self, is_registered: false }
    }

    /// Waits for a message, but no longer than `timeout` from the first poll on.
    ///
    /// Dropping the future before it is ready loses no message and cancels the timer. Of an arrival and a timeout at the
    /// same instant the one that was scheduled first counts: a message is in time if it was sent before the wait began.
    ///
    /// # Errors
    /// The future returns [`TimedOut`] if none came in time.
    pub fn recv_timeout(&mut self, timeout: VirtualDuration) -> RecvTimeout<'_, M> {
        let channel: &Self = self;
        RecvTimeout { recv: Recv { channel, is_registered: false }, pause: Pause::new(&channel.kernel, timeout) }
    }
}

impl<M: Message> Drop for Channel<M> {
    fn drop(&mut self) {
        // In a variable, so that messages are dropped after the borrow.
        let _undelivered = self.kernel.borrow_mut().ports.close(self.address, self.port);
    }
}

/// Waits for a message on any of several channels, and returns the index of the channel with it.
///
/// If several have messages, the first in the order of the arguments is received from. Dropping the future before it
/// is ready loses no message.
pub async fn select<M: Message, const N: usize>(channels: [&mut Channel<M>; N]) -> (usize, Delivery<M>) {
    let mut receives = channels.map(Channel::recv);
    std::future::poll_fn(|context| {
        for (index, recv) in receives.iter_mut().enumerate() {
            if let Poll::Ready(delivery) = Pin::new(recv).poll(context) {
                return Poll::Ready((index, delivery));
            }
        }
        Poll::Pending
    })
    .await
}

/// The future of [`Channel::recv`].
#[must_use = "futures do nothing unless awaited"]
pub struct Recv<'a, M: Message> {
    /// Borrowed mutably by whoever made this, so that no other receive waits on the channel.
    channel: &'a Channel<M>,
    is_registered: bool,
}

impl<M: Message> Future for Recv<'_, M> {
    type Output = Delivery<M>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Delivery<M>> {
        let this = self.get_mut();
        let Channel { kernel, port, .. } = this.channel;
        let mut kernel = kernel.borrow_mut();
        if let Some(delivery) = kernel.receive(*port) {
            // The arrival took the waiter away, if there was one.
            this.is_registered = false;
            return Poll::Ready(delivery);
        }
        let replaced = kernel.replace_port_waiter(*port, Some(Waiter::of(context.waker())));
        drop(kernel);
        drop(replaced);
        this.is_registered = true;
        Poll::Pending
    }
}

impl<M: Message> Drop for Recv<'_, M> {
    fn drop(&mut self) {
        if self.is_registered {
            let _dropped_after_the_borrow =
                self.channel.kernel.borrow_mut().replace_port_waiter(self.channel.port, None);
        }
    }
}

/// The future of [`Channel::recv_timeout`].
#[must_use = "futures do nothing unless awaited"]
pub struct RecvTimeout<'a, M: Message> {
    recv: Recv<'a, M>,
    pause: Pause<'a, M>,
}

impl<M: Message> Future for RecvTimeout<'_, M> {
    type Output = Result<Delivery<M>, TimedOut>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Delivery<M>, TimedOut>> {
        let Self { recv, pause } = self.get_mut();
        if let Poll::Ready(delivery) = Pin::new(&mut *recv).poll(context) {
            pause.cancel();
            return Poll::Ready(Ok(delivery));
        }
        Pin::new(pause).poll(context).map(|()| {
            let Channel { kernel, address, .. } = recv.channel;
            kernel.borrow_mut().record(|kernel| Action::TimedOut { channel: kernel.endpoint(*address) });
            Err(TimedOut)
        })
    }
}

impl<M: Message> fmt::Debug for Channel<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Channel").field("address", &self.address).finish_non_exhaustive()
    }
}

impl<M: Message> fmt::Debug for Recv<'_, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Recv").field("channel", &self.channel.address).finish_non_exhaustive()
    }
}

impl<M: Message> fmt::Debug for RecvTimeout<'_, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RecvTimeout").field("recv", &self.recv).field("pause", &self.pause).finish()
    }
}
