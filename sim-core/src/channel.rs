//! Channels: datagram sockets that are bound to a port of a component.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::components::WaitPurpose;
use crate::event_queue::EventId;
use crate::kernel::{Kernel, Shared};
use crate::ports::PortIndex;
use crate::send_sites::Caller;
use crate::trace::Action;
use crate::waker::{TaskKey, Waiter};
use crate::{Address, Delivery, Group, Message, VirtualDuration};

/// A datagram channel, as a UDP socket is (Rutherford, PhD thesis, section 3.1.2.2).
///
/// Messages that arrive are queued, without limit unless [one is set](Channel::set_mailbox_max), and received in the
/// order of arrival. Dropping the channel closes the port: what was not received, and what arrives later, is lost.
pub struct Channel<M: Message> {
    kernel: Shared<M>,
    port: PortIndex,
    address: Address,
}

/// No message came in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no message came in time")]
pub struct TimedOut;

/// A channel of the component is open on the port already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("port {port} is in use: drop the other channel first")]
pub struct PortInUse {
    /// The port.
    pub port: u16,
}

/// A message is larger than the network takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a message of {bytes} bytes is too large: the network takes {bytes_max}")]
pub struct TooLarge {
    /// The message's size.
    pub bytes: u32,
    /// [`Network::message_bytes_max`](crate::Network::message_bytes_max).
    pub bytes_max: u32,
}

/// A message arrived where no channel is open, and was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no channel is open at {destination}")]
pub struct Unreachable {
    /// Where it was sent to.
    pub destination: Address,
}

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
    /// If the message is [too large](TooLarge), or 2^24 events are pending: something sends without end.
    #[inline]
    #[track_caller]
    pub fn send(&self, to: Address, message: impl Into<M>) {
        if let Err(error) = self.try_send(to, message) {
            panic!("{error}");
        }
    }

    /// Does what [`Channel::send`] does, unless the message is too large.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation, TooLarge};
    ///
    /// #[derive(Debug, Clone, Hash)]
    /// struct Block {
    ///     bytes: u32,
    /// }
    ///
    /// impl Message for Block {
    ///     fn kind(&self) -> &'static str { "BLOCK" }
    ///     fn bytes(&self) -> u32 { self.bytes }
    /// }
    ///
    /// let mut simulation = Simulation::<Block>::new(1);
    /// let server = simulation.address("server", 7);
    /// simulation
    ///     .add("client", move |context| async move { context.channel().try_send(server, Block { bytes: 70_000 }) })
    ///     .expecting(Err(TooLarge { bytes: 70_000, bytes_max: 65_507 }));
    /// assert!(simulation.run().ended.passed());
    /// ```
    ///
    /// # Errors
    /// [`TooLarge`] if it is; nothing is sent then.
    ///
    /// # Panics
    /// If 2^24 events are pending: something sends without end.
    #[inline]
    #[track_caller]
    pub fn try_send(&self, to: Address, message: impl Into<M>) -> Result<(), TooLarge> {
        let message = message.into();
        let bytes = message.bytes();
        let mut kernel = self.kernel.borrow_mut();
        let bytes_max = kernel.network.message_bytes_max();
        if bytes > bytes_max {
            return Err(TooLarge { bytes, bytes_max });
        }
        let lost = kernel.send(self.address, to, message, Location::caller());
        drop(kernel);
        drop(lost);
        Ok(())
    }

    /// Returns the oldest message that has arrived, if there is one.
    #[track_caller]
    pub fn try_recv(&mut self) -> Option<Delivery<M>> {
        self.kernel.borrow_mut().receive(self.port, Location::caller())
    }

    /// Waits for a message.
    ///
    /// Dropping the future before it is ready loses no message.
    #[inline]
    #[track_caller]
    pub fn recv(&mut self) -> Recv<'_, M> {
        Recv { channel: self, is_registered: false, caller: Location::caller() }
    }

    /// Waits for a message, but no longer than `timeout` from the first poll on, by the component's clock.
    ///
    /// Dropping the future before it is ready loses no message and cancels the timer. Of an arrival and a timeout at
    /// the same instant the one that was scheduled first counts: a message is in time if it was sent before the wait
    /// began.
    ///
    /// ```
    /// use simutant_sim_core::{Link, Message, Probability, Simulation, VirtualDuration, VirtualTime};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Ping;
    /// # impl Message for Ping {
    /// #     fn kind(&self) -> &'static str { "PING" }
    /// # }
    /// let mut simulation = Simulation::<Ping>::new(1);
    /// simulation.network(Link { drop: Probability::ONE.into(), ..Link::default() });
    /// let server = simulation.address("server", 7);
    /// simulation
    ///     .add("client", move |context| async move {
    ///         let mut channel = context.channel();
    ///         for _ in 0..3 {
    ///             channel.send(server, Ping);
    ///             if channel.recv_timeout(VirtualDuration::from_secs(2)).await.is_ok() {
    ///                 return None;
    ///             }
    ///         }
    ///         Some(context.now())
    ///     })
    ///     .expecting(Some(VirtualTime::from_secs(6)));
    /// assert!(simulation.run().ended.passed());
    /// ```
    ///
    /// # Errors
    /// The future returns [`TimedOut`] if none came in time.
    #[inline]
    #[track_caller]
    pub fn recv_timeout(&mut self, timeout: VirtualDuration) -> RecvTimeout<'_, M> {
        RecvTimeout { channel: self, timeout, timer: None, is_registered: false, caller: Location::caller() }
    }

    /// Waits for a message, or for the news that a message which was sent from here arrived where no channel is open.
    ///
    /// That is what a UDP socket hears by ICMP. A channel hears it of what arrives from the first call on, and at once:
    /// the news takes no time, and is never lost. No news comes of a component that is down.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation, Unreachable};
    ///
    /// # #[derive(Debug, Clone, PartialEq, Hash)]
    /// # struct Ping;
    /// # impl Message for Ping {
    /// #     fn kind(&self) -> &'static str { "PING" }
    /// # }
    /// let mut simulation = Simulation::<Ping>::new(1);
    /// let closed = simulation.address("server", 7);
    /// simulation.add("server", |context| async move { context.channel_at(8).recv().await.message });
    /// simulation
    ///     .add("client", move |context| async move {
    ///         let mut channel = context.channel();
    ///         channel.send(closed, Ping);
    ///         channel.recv_or_unreachable().await.map(|delivery| delivery.message)
    ///     })
    ///     .expecting(Err(Unreachable { destination: closed }));
    /// assert!(simulation.run().ended.passed());
    /// ```
    ///
    /// # Errors
    /// [`Unreachable`] names the oldest address of which that is not known yet.
    #[track_caller]
    pub fn recv_or_unreachable(&mut self) -> impl Future<Output = Result<Delivery<M>, Unreachable>> {
        self.recv_or_unreachable_at(Location::caller())
    }

    async fn recv_or_unreachable_at(&mut self, caller: Caller) -> Result<Delivery<M>, Unreachable> {
        self.kernel.borrow_mut().ports.get_mut(self.port).unreachable.get_or_insert_default();
        let mut recv = Recv { channel: self, is_registered: false, caller };
        std::future::poll_fn(|task| {
            let Channel { kernel, port, .. } = recv.channel;
            let destination = kernel
                .borrow_mut()
                .ports
                .get_mut(*port)
                .unreachable
                .as_mut()
                .and_then(std::collections::VecDeque::pop_front);
            match destination {
                Some(destination) => Poll::Ready(Err(Unreachable { destination })),
                None => Pin::new(&mut recv).poll(task).map(Ok),
            }
        })
        .await
    }

    /// Sets the most messages that wait here: one that arrives when so many wait is lost.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation, VirtualDuration};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Ping;
    /// # impl Message for Ping {
    /// #     fn kind(&self) -> &'static str { "PING" }
    /// # }
    /// let mut simulation = Simulation::<Ping>::new(1);
    /// let server = simulation.address("server", 7);
    /// simulation
    ///     .add("server", |context| async move {
    ///         let mut channel = context.channel_at(7);
    ///         channel.set_mailbox_max(2);
    ///         context.pause(VirtualDuration::from_secs(1)).await;
    ///         std::iter::from_fn(|| channel.try_recv()).count()
    ///     })
    ///     .expecting(2);
    /// simulation.add("client", move |context| async move {
    ///     (0..5).for_each(|_| context.channel().send(server, Ping));
    /// });
    /// assert!(simulation.run().ended.passed());
    /// ```
    pub fn set_mailbox_max(&mut self, messages: usize) {
        self.kernel.borrow_mut().ports.get_mut(self.port).mailbox_max = messages;
    }

    /// Lets this channel receive what others send to its port of a group.
    pub fn join(&mut self, group: Group) {
        self.kernel.borrow_mut().set_member(group.0, self.address, self.port, true);
    }

    /// Lets this channel receive no more of what is sent to a group.
    pub fn leave(&mut self, group: Group) {
        self.kernel.borrow_mut().set_member(group.0, self.address, self.port, false);
    }

    /// Ends a wait: what is returned is dropped after the borrow.
    #[inline]
    fn unregister(&self, kernel: &mut Kernel<M>) -> Option<Waiter> {
        kernel.replace_port_waiter(self.port, None)
    }
}

impl<M: Message> Drop for Channel<M> {
    fn drop(&mut self) {
        // In a variable, so that messages and wakers are dropped after the borrow.
        let _left = self.kernel.borrow_mut().close(self.address, self.port);
    }
}

/// The future of [`Channel::recv`].
#[must_use = "futures do nothing unless awaited"]
pub struct Recv<'a, M: Message> {
    /// Borrowed mutably by whoever made this, so that no other receive waits on the channel.
    channel: &'a Channel<M>,
    is_registered: bool,
    /// The code that receives.
    caller: Caller,
}

impl<M: Message> Future for Recv<'_, M> {
    type Output = Delivery<M>;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Delivery<M>> {
        let this = self.get_mut();
        let Channel { kernel, port, .. } = this.channel;
        let waiter = Waiter::of(task.waker());
        let mut kernel = kernel.borrow_mut();
        if let Some(delivery) = kernel.receive(*port, this.caller) {
            // The arrival took the waiter of the port away.
            this.is_registered = false;
            drop(kernel);
            return Poll::Ready(delivery);
        }
        let replaced = kernel.replace_port_waiter(*port, Some(waiter));
        drop(kernel);
        drop(replaced);
        this.is_registered = true;
        Poll::Pending
    }
}

impl<M: Message> Drop for Recv<'_, M> {
    #[inline]
    fn drop(&mut self) {
        if self.is_registered {
            let _dropped_after_the_borrow = self.channel.unregister(&mut self.channel.kernel.borrow_mut());
        }
    }
}

/// The future of [`Channel::recv_timeout`].
#[must_use = "futures do nothing unless awaited"]
pub struct RecvTimeout<'a, M: Message> {
    /// Borrowed mutably by whoever made this, so that no other receive waits on the channel.
    channel: &'a Channel<M>,
    timeout: VirtualDuration,
    /// The timer in the event queue; `None` before the first poll, and when the wait is over.
    timer: Option<EventId>,
    is_registered: bool,
    /// The code that receives.
    caller: Caller,
}

impl<M: Message> RecvTimeout<'_, M> {
    /// Ends the wait: what is returned is dropped after the borrow.
    #[inline]
    fn end(&mut self, kernel: &mut Kernel<M>) -> (Option<Waiter>, Option<Waiter>) {
        let of_timer = self.timer.take().and_then(|timer| kernel.cancel_timer(timer));
        let of_port = if std::mem::take(&mut self.is_registered) { self.channel.unregister(kernel) } else { None };
        (of_timer, of_port)
    }

    /// Ends a wait that nothing came of.
    // Most waits end by themselves: their drop is one test, where this is not put in its place.
    #[inline(never)]
    fn cancel(&mut self) {
        let channel = self.channel;
        let _dropped_after_the_borrow = self.end(&mut channel.kernel.borrow_mut());
    }

    /// Waits on, for another task than before.
    #[cold]
    fn wait_on(&mut self, timer: EventId, waiters: [Waiter; 2]) {
        let [for_timer, for_port] = waiters;
        let mut kernel = self.channel.kernel.borrow_mut();
        let of_timer = kernel.replace_timer_waiter(timer, for_timer);
        let of_port = kernel.replace_port_waiter(self.channel.port, Some(for_port));
        self.is_registered = true;
        drop(kernel);
        drop((of_timer, of_port));
    }
}

impl<M: Message> Future for RecvTimeout<'_, M> {
    type Output = Result<Delivery<M>, TimedOut>;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<Delivery<M>, TimedOut>> {
        let this = self.get_mut();
        let Channel { kernel: shared, port, address } = this.channel;
        let mut kernel = shared.borrow_mut();
        if let Some(delivery) = kernel.receive(*port, this.caller) {
            // The arrival took the waiter of the port away.
            this.is_registered = false;
            let waiter = this.timer.take().and_then(|timer| kernel.cancel_timer(timer));
            drop(kernel);
            drop(waiter);
            return Poll::Ready(Ok(delivery));
        }
        if let Some(timer) = this.timer {
            if kernel.is_pending(timer) {
                drop(kernel);
                this.wait_on(timer, [Waiter::of(task.waker()), Waiter::of(task.waker())]);
                return Poll::Pending;
            }
            let ended = this.end(&mut kernel);
            let site = this.caller;
            kernel.record(|kernel| Action::TimedOut { channel: kernel.endpoint(*address), site: Some(site.into()) });
            drop(kernel);
            drop(ended);
            return Poll::Ready(Err(TimedOut));
        }
        let (for_timer, for_port) = match TaskKey::of(task.waker()) {
            Some(task_key) => (Waiter::Task(task_key), Waiter::Task(task_key)),
            None => {
                // Outside the borrow, because cloning a foreign waker may run code that comes back here.
                drop(kernel);
                let waiters = (Waiter::of(task.waker()), Waiter::of(task.waker()));
                kernel = shared.borrow_mut();
                waiters
            }
        };
        let timer = kernel.schedule_timer(address.component, this.timeout, WaitPurpose::Timeout, for_timer);
        let replaced = kernel.replace_port_waiter(*port, Some(for_port));
        drop(kernel);
        drop(replaced);
        this.timer = Some(timer);
        this.is_registered = true;
        Poll::Pending
    }
}

impl<M: Message> Drop for RecvTimeout<'_, M> {
    #[inline]
    fn drop(&mut self) {
        if self.timer.is_some() || self.is_registered {
            self.cancel();
        }
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
        formatter
            .debug_struct("RecvTimeout")
            .field("channel", &self.channel.address)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
