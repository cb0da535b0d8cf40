//! What clients and replicas send to each other.

use simutant_oracle::specifications::store::{Operation, Response};
use simutant_sim_core::Message;

use crate::state::{Ballot, State};

/// A packet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StoreMessage {
    /// A client asks for something, maybe again.
    Ask {
        /// The client.
        client: u64,
        /// The number of the request among those of the client.
        request: u64,
        /// What is asked for.
        operation: Operation,
    },
    /// The primary answers a client.
    Answer {
        /// The number of the request.
        request: u64,
        /// The answer.
        response: Response,
    },
    /// A replica cannot answer a client now.
    Refuse {
        /// The number of the request.
        request: u64,
    },
    /// A replica asks another one to follow it.
    Elect {
        /// What it is going to be primary with.
        ballot: Ballot,
    },
    /// The other one follows it from now on, and no other one for the time of a lease.
    Elected {
        /// The ballot that was asked for.
        ballot: Ballot,
        /// What the other one has stored.
        state: State,
    },
    /// The primary has others store what it has stored, and prolong its lease.
    Replicate {
        /// The primary's ballot.
        ballot: Ballot,
        /// The number of the message among those of the ballot.
        round: u64,
        /// What the primary has stored.
        state: State,
    },
    /// Another replica did so.
    Stored {
        /// The primary's ballot.
        ballot: Ballot,
        /// The number of the primary's message.
        round: u64,
    },
}

impl Message for StoreMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Ask { .. } => "ASK",
            Self::Answer { .. } => "ANSWER",
            Self::Refuse { .. } => "REFUSE",
            Self::Elect { .. } => "ELECT",
            Self::Elected { .. } => "ELECTED",
            Self::Replicate { .. } => "REPLICATE",
            Self::Stored { .. } => "STORED",
        }
    }
}
