//! What travels: the protocol's own messages, and those of the client.

use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};

use omnipaxos::messages::Message as Protocol;
use omnipaxos::messages::ballot_leader_election::HeartbeatMsg;
use omnipaxos::messages::sequence_paxos::PaxosMsg;
use omnipaxos::storage::{Entry, NoSnapshot};
use simutant_sim_core::Message;

/// An entry of the replicated log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Command(pub u64);

impl Entry for Command {
    type Snapshot = NoSnapshot;
}

/// A packet.
#[derive(Debug, Clone)]
pub enum ClusterMessage {
    /// What the protocol says from server to server.
    Protocol(Protocol<Command>),
    /// The client asks a server to append a command, or to say that it is decided.
    Append(Command),
    /// The server says so.
    Decided(Command),
}

/// The protocol's messages have no hash of their own, but all that they hold is in their debug form.
impl Hash for ClusterMessage {
    fn hash<H: Hasher>(&self, state: &mut H) {
        struct Hashing<'a, H>(&'a mut H);
        impl<H: Hasher> Write for Hashing<'_, H> {
            fn write_str(&mut self, text: &str) -> fmt::Result {
                self.0.write(text.as_bytes());
                Ok(())
            }
        }
        write!(Hashing(state), "{self:?}").expect("hashing does not fail");
    }
}

impl Message for ClusterMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Append(_) => "APPEND",
            Self::Decided(_) => "DECIDED",
            Self::Protocol(Protocol::BLE(message)) => match message.msg {
                HeartbeatMsg::Request(_) => "HEARTBEAT-REQUEST",
                HeartbeatMsg::Reply(_) => "HEARTBEAT-REPLY",
            },
            Self::Protocol(Protocol::SequencePaxos(message)) => match message.msg {
                PaxosMsg::PrepareReq(_) => "PREPARE-REQUEST",
                PaxosMsg::Prepare(_) => "PREPARE",
                PaxosMsg::Promise(_) => "PROMISE",
                PaxosMsg::AcceptSync(_) => "ACCEPT-SYNC",
                PaxosMsg::AcceptDecide(_) => "ACCEPT-DECIDE",
                PaxosMsg::Accepted(_) => "ACCEPTED",
                PaxosMsg::NotAccepted(_) => "NOT-ACCEPTED",
                PaxosMsg::Decide(_) => "DECIDE",
                PaxosMsg::ProposalForward(_) => "PROPOSAL-FORWARD",
                PaxosMsg::Compaction(_) => "COMPACTION",
                PaxosMsg::AcceptStopSign(_) => "ACCEPT-STOP-SIGN",
                PaxosMsg::ForwardStopSign(_) => "FORWARD-STOP-SIGN",
            },
        }
    }
}
