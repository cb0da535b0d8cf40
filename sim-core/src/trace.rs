//! Traces: what happened in a run, for people and for programs that draw it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{VirtualDuration, VirtualTime};

/// Everything that happened in a run, in the order in which it happened.
pub type Trace = Vec<TraceEvent>;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// When.
    #[serde(rename = "at_ns")]
    pub at: VirtualTime,
    /// What.
    #[serde(flatten)]
    pub action: Action,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Action {
    /// A component began.
    Started {
        /// The component.
        component: String,
    },
    /// A component returned.
    Returned {
        /// The component.
        component: String,
        /// What it returned, as `Debug` shows it.
        value: String,
    },
    /// A component panicked: the run ends here.
    Failed {
        /// The component.
        component: String,
        /// The panic's message.
        message: String,
    },
    /// A component said something for people to read ([`Context::note`](crate::Context::note)).
    Noted {
        /// The component.
        component: String,
        /// What it said.
        text: String,
    },
    /// A component sent a packet.
    Sent(Packet),
    /// A packet was lost: at the time of sending, or at the time at which it would have arrived.
    Dropped {
        /// The packet.
        #[serde(flatten)]
        packet: Packet,
        /// Why.
        reason: DropReason,
    },
    /// The network made a second copy of a packet, at the time of sending.
    Duplicated(Packet),
    /// The network changed what a packet holds, at the time of sending; this is what it holds now.
    Corrupted(Packet),
    /// A packet, or a copy of it, arrived in the mailbox of a channel or stream.
    Delivered(Packet),
    /// A packet, or a copy of it, arrived where no channel is open, and is lost.
    Unreachable(Packet),
    /// A receive ended without a message.
    TimedOut {
        /// The channel that was received on.
        channel: Endpoint,
    },
    /// A stream is open: both ends can send.
    Connected {
        /// The end that asked for it.
        client: Endpoint,
        /// The end that accepted it.
        server: Endpoint,
    },
    /// An end of a stream learned that the stream is broken.
    Reset {
        /// This end.
        local: Endpoint,
        /// The other end.
        remote: Endpoint,
        /// Why.
        reason: ResetReason,
    },
    /// A component crashed: its tasks, channels and volatile state are gone.
    Crashed {
        /// The component.
        component: String,
    },
    /// A component that had crashed began again.
    Restarted {
        /// The component.
        component: String,
        /// Whether it found its durable state.
        durable_state: DurableState,
    },
    /// A component stopped for a time, as a garbage collector makes it: what arrives waits.
    Paused {
        /// The component.
        component: String,
        /// For how long.
        #[serde(rename = "for_ns")]
        duration: VirtualDuration,
    },
    /// A paused component goes on.
    Resumed {
        /// The component.
        component: String,
    },
    /// Components were separated: packets between different groups are lost, sent or on their way.
    Partitioned {
        /// The groups. Who is in none of them is with the others that are in none.
        groups: Vec<Vec<String>>,
    },
    /// A partition is over. Others that hold still separate.
    Healed {
        /// The groups that it had separated.
        groups: Vec<Vec<String>>,
    },
}

/// Why a packet was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// By chance, as links lose packets.
    Loss,
    /// A rule of the network says that this packet is dropped.
    Rule,
    /// Its source and its destination are separated.
    Partition,
    /// The topology has no way from its source to its destination.
    NoRoute,
    /// The queue before a link of limited bandwidth is full.
    QueueFull,
    /// The mailbox at its destination is full.
    MailboxFull,
    /// Its checksum told that the network had changed it.
    Checksum,
    /// Its destination has crashed.
    Down,
}

/// Why a stream broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResetReason {
    /// The other end was dropped with something unread, or knows nothing of this stream (it crashed, and is up again).
    Peer,
    /// Nothing was acknowledged for too long.
    TimedOut,
}

/// What a crash leaves of the state that a component calls durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DurableState {
    /// All of it.
    #[default]
    Kept,
    /// Nothing, as if the disk was replaced.
    Lost,
}

/// A packet: a message on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// Counts the packets of the run from 0; copies have the number of the original.
    pub number: u64,
    /// Where it comes from.
    pub source: Endpoint,
    /// Where it goes to.
    pub destination: Endpoint,
    /// Whether it is a datagram or part of a stream.
    #[serde(default)]
    pub transport: Transport,
    /// [`Message::kind`](crate::Message::kind), or `SYN`, `SYN-ACK`, `ACK`, `PROBE`, `FIN`, `RST` of a stream.
    pub kind: String,
    /// The message, as `Debug` shows it; empty for the packets that only a stream itself sees.
    pub message: String,
    /// Its size on the wire, in bytes.
    #[serde(default)]
    pub bytes: u32,
}

/// What a packet belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Nothing: it is alone.
    #[default]
    Datagram,
    /// A stream.
    Stream,
}

/// A port of a component.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Endpoint {
    /// The component's name.
    pub component: String,
    /// The port.
    pub port: u16,
}

/// The component and the port: `server:80`.
impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.component, self.port)
    }
}
