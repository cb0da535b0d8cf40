//! Streams: connections as TCP has them, of messages instead of bytes.
//!
//! ```
//! use simutant_sim_core::{Address, ConnectError, Context, Message, Simulation, StreamError, VirtualDuration};
//!
//! #[derive(Debug, Clone, PartialEq, Hash)]
//! struct Line(String);
//!
//! impl Message for Line {
//!     fn kind(&self) -> &'static str {
//!         "LINE"
//!     }
//! }
//!
//! /// Answers the lines of one client.
//! async fn server(context: Context<Line>) -> Result<usize, StreamError> {
//!     let mut listener = context.listen(80);
//!     let mut stream = listener.accept().await;
//!     let mut count = 0;
//!     while let Some(Line(text)) = stream.recv().await? {
//!         stream.send(Line(text.to_uppercase())).await?;
//!         count += 1;
//!     }
//!     Ok(count)
//! }
//!
//! async fn client(context: Context<Line>, server: Address) -> Result<Vec<Line>, ConnectError> {
//!     let mut stream = context.connect(server, VirtualDuration::from_secs(5)).await?;
//!     let mut answers = Vec::new();
//!     for text in ["one", "two"] {
//!         stream.send(Line(text.to_owned())).await.expect("the server is up");
//!     }
//!     stream.finish();
//!     while let Ok(Some(line)) = stream.recv().await {
//!         answers.push(line);
//!     }
//!     Ok(answers)
//! }
//!
//! let mut simulation = Simulation::new(1);
//! let address = simulation.address("server", 80);
//! simulation.add("server", server).expecting(Ok(2));
//! let answers = ["ONE", "TWO"].map(|text| Line(text.to_owned()));
//! simulation.add("client", move |context| client(context, address)).expecting(Ok(answers.to_vec()));
//! assert!(simulation.run().ended.passed());
//! ```

mod connect;
mod halves;
mod listener;
pub(crate) mod settings;

use std::fmt;

pub use self::connect::{Connect, ConnectError};
use self::halves::Handle;
pub use self::halves::{StreamReceiver, StreamRecv, StreamSend, StreamSender};
pub use self::listener::{Accept, Listener};
pub use self::settings::StreamSettings;
use crate::connections::EndId;
use crate::kernel::{Kernel, Shared};
use crate::trace::ResetReason;
use crate::{Address, Message};

/// One end of a connection: messages arrive in the order of their sending, and once, or the stream breaks.
///
/// What travels are segments: packets of the network, which treats them as it treats datagrams, and loses them too. A
/// message is one segment, of any size; `SYN`, `SYN-ACK`, `ACK`, `PROBE`, `FIN` and `RST` have these names as their
/// kinds, and no bytes. A segment that is lost is sent again when a timeout (RFC 6298) or three equal acknowledgements
/// tell of the loss. Corrupted segments are discarded. A stream on which nothing is sent schedules nothing.
///
/// A stream breaks if nothing is acknowledged [for too long](StreamSettings::give_up_after), or if the other end does
/// not know it. A component that crashes says nothing to the other ends of its streams: they find out when they send,
/// by a reset if the component is up again, and by giving up if it is not. An end that only receives never does. That a
/// component is paused does not stop the acknowledgements, as it is not the host that stops.
///
/// A stream that is dropped ends as with `close` on Linux: if messages have arrived that were not received, the other
/// end is reset. Otherwise what was sent still arrives, and then the end of it, in the background. A component that
/// sends to a stream that was dropped is reset.
pub struct Stream<M: Message> {
    // Dropped first: a sender that is dropped before its receiver ends one direction only.
    receiver: StreamReceiver<M>,
    sender: StreamSender<M>,
}

/// A stream cannot be used any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// It broke: what was sent last may not have arrived.
    #[error("the stream is broken: {}", match .0 {
        ResetReason::Peer => "the other end does not know it, or was dropped",
        ResetReason::TimedOut => "nothing was acknowledged for too long",
    })]
    Reset(ResetReason),
    /// It was [finished](Stream::finish) before: send first.
    #[error("this end of the stream was finished")]
    Finished,
}

impl<M: Message> Stream<M> {
    fn new(kernel: &Shared<M>, id: EndId) -> Self {
        let (receiver, sender) = Handle::halves(kernel, id);
        Self { receiver, sender }
    }

    /// Returns this end's address.
    pub fn local(&self) -> Address {
        self.sender.local()
    }

    /// Returns the other end's address.
    pub fn remote(&self) -> Address {
        self.sender.remote()
    }

    /// Sends a message, as soon as there is [room](StreamSettings::window_max) for it: here, not at the other end.
    ///
    /// If the future is dropped before it is ready, the message is not sent.
    ///
    /// # Errors
    /// The future returns [`StreamError`] if the stream is broken or finished.
    #[track_caller]
    pub fn send(&mut self, message: impl Into<M>) -> StreamSend<'_, M> {
        self.sender.send(message)
    }

    /// Waits for a message. Returns `None` when the other end has finished, and all that it sent was received.
    ///
    /// Dropping the future before it is ready loses no message.
    ///
    /// # Errors
    /// The future returns [`StreamError::Reset`] if the stream is broken, after the messages that had arrived before
    /// that.
    #[track_caller]
    pub fn recv(&mut self) -> StreamRecv<'_, M> {
        self.receiver.recv()
    }

    /// Lets the other end know, after all that was sent, that this was all. Messages from there still arrive.
    pub fn finish(&mut self) {
        self.sender.finish();
    }

    /// Returns the two directions, for two tasks. Dropping the sender finishes it; the stream is dropped when both are.
    ///
    /// ```
    /// use simutant_sim_core::{Message, Simulation, VirtualDuration};
    ///
    /// # #[derive(Debug, Clone, PartialEq, Hash)]
    /// # struct Line(u8);
    /// # impl Message for Line {
    /// #     fn kind(&self) -> &'static str { "LINE" }
    /// # }
    /// let mut simulation = Simulation::new(1);
    /// let address = simulation.address("server", 80);
    /// simulation.add("server", |context| async move {
    ///     let mut stream = context.listen(80).accept().await;
    ///     while let Ok(Some(line)) = stream.recv().await {
    ///         stream.send(line).await.expect("the client is up");
    ///     }
    /// });
    /// let client = simulation.add("client", move |mut context| async move {
    ///     let stream = context.connect(address, VirtualDuration::from_secs(1)).await.expect("the server listens");
    ///     let (mut sender, mut receiver) = stream.split();
    ///     // The task drops the sender when it is over: the server learns that this was all.
    ///     context.spawn(|_| async move { sender.send(Line(7)).await });
    ///     (receiver.recv().await, receiver.recv().await)
    /// });
    /// client.expecting((Ok(Some(Line(7))), Ok(None)));
    /// assert!(simulation.run().ended.passed());
    /// ```
    pub fn split(self) -> (StreamSender<M>, StreamReceiver<M>) {
        (self.sender, self.receiver)
    }
}

/// Calls `action`, and drops what it leaves when the kernel is not borrowed any more.
fn with_kernel<M: Message, T>(kernel: &Shared<M>, action: impl FnOnce(&mut Kernel<M>) -> T) -> T {
    let mut borrowed = kernel.borrow_mut();
    let output = action(&mut borrowed);
    if borrowed.connections.left.is_empty() {
        return output;
    }
    let mut left = borrowed.connections.take_left();
    drop(borrowed);
    left.drop_all();
    // Only events wake: a component learns what it does itself from what it calls.
    assert!(left.waiters.is_empty(), "a call woke someone");
    kernel.borrow_mut().connections.give_room_back(left);
    output
}

impl<M: Message> fmt::Debug for Stream<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Stream")
            .field("local", &self.local())
            .field("remote", &self.remote())
            .finish_non_exhaustive()
    }
}
