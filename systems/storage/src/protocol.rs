//! The protocol: servers that hold a value each, and clients that read and write it by quorum calls.
//!
//! A write gives its value a larger timestamp than that of any write before, and is over when a majority of the servers has
//! answered. A read returns the value with the largest timestamp of a majority. That is a regular register: a read which
//! overlaps a write may return the old value after another has returned the new one. A reader that first makes sure that a
//! majority holds what it returns makes the register atomic (Attiya, Bar-Noy and Dolev, 1995).

use serde::{Deserialize, Serialize};
use simutant_quorum_calls::{Incomplete, Patience, QuorumCall, majority};
use simutant_sim_core::{Address, Channel, Context, Message, VirtualDuration};

/// The port of servers.
pub const PORT: u16 = 6_000;

/// How long a server takes to write to its disk.
pub const WRITE: VirtualDuration = VirtualDuration::from_millis(2);

/// How long a quorum call may take.
pub const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(1_000);

/// How long a client waits before it asks those again that have not answered.
pub const AGAIN: VirtualDuration = VirtualDuration::from_millis(100);

/// Says of two values which is newer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// It is larger than those that its writer has seen.
    pub number: u32,
    /// The writer, which tells two apart that have chosen the same number; 0 of the value that is there at first.
    pub writer: u8,
}

/// A value with its timestamp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Version {
    /// When it was written.
    pub timestamp: Timestamp,
    /// The value; `None` before the first write.
    pub value: Option<u32>,
}

/// What clients and servers send to each other. A call is one of a client, which answers repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StorageMessage {
    /// A client asks what a server holds.
    Read {
        /// The number of the call.
        call: u32,
    },
    /// A server says what it holds.
    Holds {
        /// The number of the call.
        call: u32,
        /// What it holds.
        version: Version,
    },
    /// A client gives a server a version to hold.
    Write {
        /// The number of the call.
        call: u32,
        /// The version.
        version: Version,
    },
    /// A server holds what it was given, or a newer version.
    Written {
        /// The number of the call.
        call: u32,
    },
}

/// A damaged message is recognised by its checksum, and thrown away.
impl Message for StorageMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Read { .. } => "READ",
            Self::Holds { .. } => "HOLDS",
            Self::Write { .. } => "WRITE",
            Self::Written { .. } => "WRITTEN",
        }
    }
}

/// Answers clients. What it holds survives a crash.
pub async fn server(context: Context<StorageMessage>) {
    let mut channel = context.channel_at(PORT);
    let held = context.durable("version", Version::default);
    while context.running() {
        let delivery = channel.recv().await;
        match delivery.message {
            StorageMessage::Read { call } => {
                let version = *held.get();
                channel.send(delivery.source, StorageMessage::Holds { call, version });
            }
            StorageMessage::Write { call, version } => {
                let newest = held.get().timestamp;
                if version.timestamp > newest {
                    context.pause(WRITE).await;
                    held.replace(version);
                    context.phase("written");
                }
                channel.send(delivery.source, StorageMessage::Written { call });
            }
            other => panic!("a server was sent {other:?}"),
        }
    }
}

/// What readers do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// They return what they have found.
    Regular,
    /// They write back what they have found, and then return it.
    Atomic,
}

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Writers {
    /// One client, which counts its writes.
    One,
    /// Several, each of which asks for the largest timestamp first.
    Several,
}

/// Why a write has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteError {
    /// Nobody was given the value.
    NotBegun(Incomplete),
    /// Some servers may hold the value, and it may be read.
    Incomplete(Incomplete),
}

/// A client: one call after the other.
#[derive(Debug)]
pub struct Client {
    context: Context<StorageMessage>,
    channel: Channel<StorageMessage>,
    servers: Vec<Address>,
    number: u8,
    writers: Writers,
    reads: Reads,
    calls: u32,
    written: u32,
}

impl Client {
    /// Returns a client with a number, from 1 on.
    pub fn new(
        context: Context<StorageMessage>,
        servers: Vec<Address>,
        number: u8,
        writers: Writers,
        reads: Reads,
    ) -> Self {
        let channel = context.channel();
        Self { context, channel, servers, number, writers, reads, calls: 0, written: 0 }
    }

    /// Returns the value; `None` before the first write.
    ///
    /// # Errors
    /// [`Incomplete`] if too few servers answer in time.
    pub async fn read(&mut self) -> Result<Option<u32>, Incomplete> {
        let version = self.newest().await?;
        if self.reads == Reads::Atomic {
            self.context.phase("writing back");
            self.store(version).await?;
        }
        Ok(version.value)
    }

    /// Writes a value.
    ///
    /// # Errors
    /// [`WriteError`] if too few servers answer in time.
    pub async fn write(&mut self, value: u32) -> Result<(), WriteError> {
        let number = match self.writers {
            Writers::One => self.written + 1,
            // A write of its own that has failed may be on few servers, and nobody else has seen it.
            Writers::Several => {
                let newest = self.newest().await.map_err(WriteError::NotBegun)?;
                newest.timestamp.number.max(self.written) + 1
            }
        };
        self.written = number;
        let timestamp = Timestamp { number, writer: self.number };
        self.store(Version { timestamp, value: Some(value) }).await.map_err(WriteError::Incomplete)
    }

    /// Does nothing for a while.
    pub async fn sleep(&self, duration: VirtualDuration) {
        self.context.sleep(duration).await;
    }

    /// Returns the newest version that a majority holds.
    async fn newest(&mut self) -> Result<Version, Incomplete> {
        self.calls += 1;
        let of = self.calls;
        let quorum = majority(self.servers.len());
        let reply = |message: &StorageMessage| match *message {
            StorageMessage::Holds { call, version } if call == of => Some(version),
            _ => None,
        };
        self.call(StorageMessage::Read { call: of }, reply, |replies| newest(replies, quorum)).await
    }

    /// Lets a majority hold a version, or a newer one.
    async fn store(&mut self, version: Version) -> Result<(), Incomplete> {
        self.calls += 1;
        let of = self.calls;
        let quorum = majority(self.servers.len());
        let reply = |message: &StorageMessage| match *message {
            StorageMessage::Written { call } if call == of => Some(()),
            _ => None,
        };
        self.call(StorageMessage::Write { call: of, version }, reply, |replies| written(replies, quorum)).await
    }

    async fn call<R, C>(
        &mut self,
        request: StorageMessage,
        reply: impl Fn(&StorageMessage) -> Option<R>,
        quorum: impl FnMut(&[R]) -> Option<C>,
    ) -> Result<C, Incomplete> {
        let patience = Patience { whole: TIMEOUT, again: AGAIN };
        let call = QuorumCall { members: &self.servers, request, patience };
        call.make(&self.context, &mut self.channel, reply, quorum).await
    }
}

/// The quorum function of reads: returns the newest version, once enough servers have said what they hold.
pub fn newest(replies: &[Version], quorum: usize) -> Option<Version> {
    if replies.len() < quorum {
        return None;
    }
    replies.iter().copied().max_by_key(|version| version.timestamp)
}

/// The quorum function of writes: returns once enough servers hold the version.
pub fn written(replies: &[()], quorum: usize) -> Option<()> {
    (replies.len() >= quorum).then_some(())
}
