//! What clients and the server send to each other, and what the server does.

use simutant_oracle::Session;
use simutant_oracle::specifications::Text;
use simutant_oracle::specifications::zookeeper::{Access, Operation, Response};
use simutant_sim_core::Message;

/// What is sent on a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ZooKeeperMessage {
    /// Says whose connection it is, before all else.
    Open(Session),
    /// Asks for something.
    Request(Operation),
    /// Says what came of a request: replies come in the order of the requests.
    Reply(Response),
}

impl Message for ZooKeeperMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Open(_) => "OPEN",
            Self::Request(_) => "REQUEST",
            Self::Reply(_) => "REPLY",
        }
    }
}

/// A change that was prepared: nothing can be wrong with it any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transaction {
    /// A node, on which everybody may do everything.
    Create {
        /// Its path.
        path: Text,
        /// Its data.
        data: Option<Text>,
        /// The session with which it ends.
        owner: Option<Session>,
    },
    /// A node less.
    Delete {
        /// Its path.
        path: Text,
    },
    /// Other data.
    SetData {
        /// The node.
        path: Text,
        /// Its data from then on.
        data: Option<Text>,
    },
    /// Other permissions.
    SetAcl {
        /// The node.
        path: Text,
        /// Its list from then on.
        acl: Vec<Access>,
    },
    /// The end of a session.
    Close {
        /// The ephemeral nodes that end with it.
        paths: Vec<Text>,
    },
    /// A part of a transaction that changes nothing.
    Check,
    /// All of these, one after the other.
    Multi(Vec<Transaction>),
}

impl Transaction {
    /// Returns the nodes that it is about.
    pub fn paths(&self) -> Vec<Text> {
        match self {
            Self::Create { path, .. }
            | Self::Delete { path }
            | Self::SetData { path, .. }
            | Self::SetAcl { path, .. } => vec![path.clone()],
            Self::Close { paths } => paths.clone(),
            Self::Check => Vec::new(),
            Self::Multi(parts) => parts.iter().flat_map(Self::paths).collect(),
        }
    }
}
