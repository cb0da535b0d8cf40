//! Traces: what happened in a run, for people and for programs that draw it.

use serde::{Deserialize, Serialize};

use crate::VirtualTime;

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
#[serde(tag = "action", rename_all = "kebab-case")]
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
    /// A component sent a packet.
    Sent(Packet),
    /// The network dropped a packet, at the time of sending.
    Dropped(Packet),
    /// The network made a second copy of a packet, at the time of sending.
    Duplicated(Packet),
    /// A packet, or a copy of it, arrived in the mailbox of a channel.
    Delivered(Packet),
    /// A packet, or a copy of it, arrived where no channel is open, and is lost.
    Unreachable(Packet),
    /// A receive ended without a message.
    TimedOut {
        /// The channel that was received on.
        channel: Endpoint,
    },
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
    /// [`Message::kind`](crate::Message::kind).
    pub kind: String,
    /// The message, as `Debug` shows it.
    pub message: String,
}

/// A port of a component.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Endpoint {
    /// The component's name.
    pub component: String,
    /// The port.
    pub port: u16,
}
