//! Listeners: where servers wait for streams.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Stream, StreamSettings, with_kernel};
use crate::connections::ListenerId;
use crate::kernel::Shared;
use crate::waker::Waiter;
use crate::{Address, Message};

/// How many streams wait to be accepted, unless another limit is set: Linux's `SOMAXCONN` of long.
const BACKLOG_MAX: usize = 128;

/// A port of a component at which others can open streams, as a listening TCP socket is.
///
/// The ports of streams are a space of their own: a channel and a listener of one component may have the same number.
/// Dropping the listener closes the port, and resets the streams that were not accepted.
pub struct Listener<M: Message> {
    kernel: Shared<M>,
    id: ListenerId,
}

impl<M: Message> Listener<M> {
    /// Returns a listener at an address; `None` if its port is in use.
    pub(crate) fn open(kernel: &Shared<M>, address: Address) -> Option<Self> {
        let id = kernel.borrow_mut().connections.places.listen(address, BACKLOG_MAX)?;
        Some(Self { kernel: kernel.clone(), id })
    }

    /// Returns the address that others reach this listener at.
    pub fn address(&self) -> Address {
        self.id.address
    }

    /// Sets how many streams can wait to be accepted, those that are about to open included; without this, 128. Who
    /// asks when so many wait gets no answer, and asks again later.
    pub fn set_backlog_max(&mut self, streams: usize) {
        if let Some(listener) = self.kernel.borrow_mut().connections.places.listener(self.id) {
            listener.backlog_max = streams;
        }
    }

    /// Sets how this end of streams behaves of which the requests come from now on.
    pub fn set_settings(&mut self, settings: StreamSettings) {
        if let Some(listener) = self.kernel.borrow_mut().connections.places.listener(self.id) {
            listener.settings = settings;
        }
    }

    /// Waits for a stream that a client has opened.
    ///
    /// Dropping the future before it is ready loses no stream.
    pub fn accept(&mut self) -> Accept<'_, M> {
        Accept { listener: self, is_registered: false }
    }

    fn set_waiter(&self, waiter: Option<Waiter>) {
        let mut kernel = self.kernel.borrow_mut();
        let now = kernel.now;
        let replaced = match kernel.connections.places.listener(self.id) {
            Some(listener) => listener.wait.replace(waiter, now),
            None => waiter,
        };
        drop(kernel);
        drop(replaced);
    }
}

impl<M: Message> Drop for Listener<M> {
    fn drop(&mut self) {
        with_kernel(&self.kernel, |kernel| kernel.close_listener(self.id));
    }
}

/// The future of [`Listener::accept`].
#[must_use = "futures do nothing unless awaited"]
pub struct Accept<'a, M: Message> {
    /// Borrowed mutably by whoever made this, so that no other accept waits here.
    listener: &'a Listener<M>,
    is_registered: bool,
}

impl<M: Message> Future for Accept<'_, M> {
    type Output = Stream<M>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Stream<M>> {
        let this = self.get_mut();
        let Listener { kernel, id } = this.listener;
        let accepted = kernel.borrow_mut().accept(*id);
        if let Some(id) = accepted {
            return Poll::Ready(Stream::new(kernel, id));
        }
        this.listener.set_waiter(Some(Waiter::of(task.waker())));
        this.is_registered = true;
        Poll::Pending
    }
}

impl<M: Message> Drop for Accept<'_, M> {
    fn drop(&mut self) {
        if self.is_registered {
            self.listener.set_waiter(None);
        }
    }
}

impl<M: Message> fmt::Debug for Listener<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Listener").field("address", &self.id.address).finish_non_exhaustive()
    }
}

impl<M: Message> fmt::Debug for Accept<'_, M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Accept").field("listener", self.listener).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Latency, Link, Probability, Simulation, VirtualDuration, select};

    #[derive(Debug, Clone, Hash)]
    struct Hello;

    impl Message for Hello {
        fn kind(&self) -> &'static str {
            "HELLO"
        }
    }

    /// Opens streams to the server, and leaves each in another way.
    async fn client(context: crate::Context<Hello>, server: Address) {
        for round in 0..8 {
            let connect = context.connect(server, VirtualDuration::from_secs(100));
            let Ok(mut stream) = connect.await else { continue };
            for _ in 0..round {
                if stream.send(Hello).await.is_err() {
                    break;
                }
            }
            if round % 2 == 0 {
                stream.finish();
                // An error is one of the ways, and so is that a reset was lost, of which nobody hears then.
                let _ = select((stream.recv(), context.pause(VirtualDuration::from_secs(100)))).await;
            }
        }
    }

    async fn server(context: crate::Context<Hello>) {
        let mut listener = context.listen(80);
        for round in 0..8 {
            let mut stream = listener.accept().await;
            for _ in 0..round / 2 {
                if !matches!(stream.recv().await, Ok(Some(Hello))) {
                    break;
                }
            }
        }
    }

    #[test]
    fn streams_that_are_over_leave_nothing() {
        for seed in 0..100 {
            let mut simulation = Simulation::new(seed);
            let probability = Probability::new(0.2).expect("it is one");
            let latency = Latency::Uniform { min: VirtualDuration::ZERO, max: VirtualDuration::from_millis(50) };
            simulation.network(Link { latency, drop: probability.into(), duplicate: probability, ..Link::default() });
            let address = simulation.address("server", 80);
            simulation.add("server", server);
            simulation.add("client", move |context| client(context, address));
            // Long after everyone is done, and before the end of the run does away with what is left.
            let observe = |context: crate::Context<Hello>| async move {
                let listener = context.listen(80);
                context.pause(VirtualDuration::from_secs(1_000_000)).await;
                let kernel = listener.kernel.borrow();
                kernel.connections.counts()
            };
            simulation.add("observer", observe).expecting([0; 4]);
            let report = simulation.run();
            assert!(report.ended.passed(), "seed {seed}: {}", report.ended);
        }
    }
}
