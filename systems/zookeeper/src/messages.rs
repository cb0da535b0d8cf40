//! What clients and servers send to each other, and what servers do.

use simutant_oracle::Session;
use simutant_oracle::specifications::Text;
use simutant_sim_core::{Message, VirtualDuration};
use simutant_zookeeper_histories::{Access, Event, Operation, Response};

/// What is sent on a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ZooKeeperMessage {
    /// Says whose connection it is, before all else.
    Open {
        /// Whose.
        session: Session,
        /// After how long without a message the session ends, until the first one comes. It lives on without.
        timeout: Option<VirtualDuration>,
    },
    /// Says that the client is alive, and is answered.
    Ping,
    /// Asks for something.
    Request(Operation),
    /// Tells of a change of a node that the session watches, before the replies that may show it.
    Event(Event),
    /// Says what came of a request: replies come in the order of the requests.
    Reply(Response),
    /// Is between two servers.
    Peer(PeerMessage),
}

impl Message for ZooKeeperMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Open { .. } => "OPEN",
            Self::Ping => "PING",
            Self::Request(_) => "REQUEST",
            Self::Event(_) => "EVENT",
            Self::Reply(_) => "REPLY",
            Self::Peer(message) => message.kind(),
        }
    }
}

/// A change that was prepared: nothing can be wrong with it any more.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    /// The end of a session, which it asks for, or which has expired.
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

/// The number of an entry: the epoch of the leader that made it, and its place among the entries of that epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Zxid {
    /// The epoch, from 1: each leader has another one.
    pub epoch: u64,
    /// Its place, from 1.
    pub count: u64,
}

/// Who should lead: the greatest vote is the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vote {
    /// The epoch of the last leader that this server has followed, or been.
    pub epoch: u64,
    /// The last entry of its log.
    pub last: Zxid,
    /// The server.
    pub server: u64,
}

/// Who awaits an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Origin {
    /// The server whose client asked.
    pub server: u64,
    /// How often that server had looked for a leader.
    pub life: u64,
}

/// What all servers do in the same order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Its number.
    pub zxid: Zxid,
    /// Who awaits it.
    pub origin: Origin,
    /// The session that asked.
    pub session: Session,
    /// The change, or the answer if there is none.
    pub change: Result<Transaction, Response>,
}

/// What servers send to each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PeerMessage {
    /// A server looks for a leader, and votes for the best one that it knows.
    Vote(Vote),
    /// A server leads, and tells one that votes.
    Lead(u64),
    /// A follower wants what is missing in its log.
    Follow {
        /// The follower.
        origin: Origin,
        /// The latest epoch that it has begun to follow or to lead.
        promised: u64,
        /// The epoch of the last leader that it has followed, or been.
        epoch: u64,
        /// The last entry of its log.
        last: Zxid,
    },
    /// What is missing.
    Sync {
        /// The epoch of the leader.
        epoch: u64,
        /// The last entry that both have: what comes after it in the follower's log was never done.
        keep: Zxid,
        /// What comes then.
        entries: Vec<Entry>,
    },
    /// A client of a follower asks for a change.
    Forward {
        /// Whose client it is.
        origin: Origin,
        /// The session.
        session: Session,
        /// The change.
        operation: Operation,
    },
    /// An entry is to be logged.
    Propose(Entry),
    /// An entry is logged, and all before it.
    Logged(Zxid),
    /// An entry is done, and all before it: enough servers have logged it. The first one says that the leader has a majority.
    Commit(Zxid),
    /// The leader is there; a follower says the same.
    Heartbeat,
}

impl PeerMessage {
    /// Returns what kind of message it is.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Vote(_) => "VOTE",
            Self::Lead(_) => "LEAD",
            Self::Follow { .. } => "FOLLOW",
            Self::Sync { .. } => "SYNC",
            Self::Forward { .. } => "FORWARD",
            Self::Propose(_) => "PROPOSE",
            Self::Logged(_) => "LOGGED",
            Self::Commit(_) => "COMMIT",
            Self::Heartbeat => "HEARTBEAT",
        }
    }
}
