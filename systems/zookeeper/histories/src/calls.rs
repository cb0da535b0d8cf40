//! What clients ask of ZooKeeper, and what it answers.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use simutant_oracle::specifications::Text;

use super::Access;

/// What a client asks of ZooKeeper.
///
/// A change may name the version that it expects; `None` is any. A node is new with version 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Creates a node, on which everybody may do everything.
    Create {
        /// The node. If it is sequential, how its path begins.
        path: Text,
        /// Its data.
        data: Option<Text>,
        /// What kind of node it is.
        #[serde(default, skip_serializing_if = "CreateMode::is_persistent")]
        mode: CreateMode,
    },
    /// Deletes a node that has no children.
    Delete {
        /// The node.
        path: Text,
        /// The version of its data that is expected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u32>,
    },
    /// Returns whether a node is there.
    Exists {
        /// The node.
        path: Text,
    },
    /// Returns the names of a node's children.
    GetChildren {
        /// The node.
        path: Text,
    },
    /// Returns a node's data.
    GetData {
        /// The node.
        path: Text,
    },
    /// Changes a node's data.
    SetData {
        /// The node.
        path: Text,
        /// Its data from then on.
        data: Option<Text>,
        /// The version of its data that is expected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u32>,
    },
    /// Returns a node's access control list, if the session may read or administer the node (CVE-2019-0201).
    GetAcl {
        /// The node.
        path: Text,
    },
    /// Changes a node's access control list. What stands in it twice is kept once.
    SetAcl {
        /// The node.
        path: Text,
        /// Its list from then on.
        acl: Vec<Access>,
        /// The version of its list that is expected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u32>,
    },
    /// A read ([`Exists`](Self::Exists), [`GetData`](Self::GetData) or [`GetChildren`](Self::GetChildren)) that leaves a
    /// watch, if it is not refused: the session is told once when what it has read changes. Several on one node are one;
    /// those on its data and on whether it is there are of one kind.
    Watch(Box<Operation>),
    /// No call: the session says which events have come since its last answer. More may be on their way.
    Notice,
    /// The session has a new connection. What it watched on the one before is not watched any more, and its events, of which
    /// it says which have come, are lost. If the session has expired, a new one of the same name begins.
    Connect,
    /// The service ends the session, of which it has heard nothing for too long, and deletes its ephemeral nodes. The time
    /// from which on it may have done so is that of the invocation. What the session asks for later is refused, until it
    /// connects anew.
    Expire,
    /// Ends the session, which deletes its ephemeral nodes. What the session asks for later is asked by a new one of the
    /// same name.
    Close,
    /// A part of a transaction that changes nothing: the node is there, the session may read it, and its data have this
    /// version. By itself it is refused.
    Check {
        /// The node.
        path: Text,
        /// The version of its data that is expected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u32>,
    },
    /// A transaction: all of its parts are done, one after the other, or none. Parts are checks, creations, deletions and
    /// changes of data.
    Multi(Vec<Operation>),
}

/// Kinds of nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreateMode {
    /// One that is there until it is deleted.
    #[default]
    Persistent,
    /// One that is deleted when the session ends that made it.
    Ephemeral,
    /// A persistent one whose path ends in a number of ten digits: how many children its parent has had.
    PersistentSequential,
    /// An ephemeral one of the same kind.
    EphemeralSequential,
}

impl CreateMode {
    /// Returns whether the node is deleted when its session ends.
    pub const fn is_ephemeral(self) -> bool {
        matches!(self, Self::Ephemeral | Self::EphemeralSequential)
    }

    /// Returns whether the node's path ends in a number.
    pub const fn is_sequential(self) -> bool {
        matches!(self, Self::PersistentSequential | Self::EphemeralSequential)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    const fn is_persistent(&self) -> bool {
        matches!(self, Self::Persistent)
    }
}

/// What ZooKeeper answers.
///
/// A client that does not look at all of an answer records a part of it: [the answer](Response::agrees_with) agrees all
/// the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// It was done.
    Done,
    /// The node was created, and has this path.
    Created(Text),
    /// Whether the node is there.
    Exists(bool),
    /// The names of the children, in their order.
    Children(Vec<Text>),
    /// The data.
    Data(Option<Text>),
    /// The access control list.
    Acl(Vec<Access>),
    /// An answer, and the statistics of the node after it.
    WithStat {
        /// The answer.
        answer: Box<Response>,
        /// The statistics.
        stat: Stat,
    },
    /// The answers to the parts of a transaction. If one of them is refused, each is an error.
    Parts(Vec<Response>),
    /// An exception.
    Error(Error),
    /// An answer, and the events that came before it, and after the session's last answer.
    Told {
        /// The events, in their order. There is one at least.
        events: Vec<Event>,
        /// The answer.
        answer: Box<Response>,
    },
    /// The events that came after the session's last answer.
    Events(Vec<Event>),
    /// The call was taken, and its answer and what comes before it have not reached the session. No client observes that.
    Unanswered,
}

/// What a session is told of a node that it watches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The node is there now.
    Created(Text),
    /// The node is gone.
    Deleted(Text),
    /// The node has other data.
    DataChanged(Text),
    /// The node has other children.
    ChildrenChanged(Text),
    /// These come, in any order, since one end of a session made them. No client observes that.
    InAnyOrder(Vec<Event>),
}

impl fmt::Display for Event {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Created(path) => write!(formatter, "{path} was created"),
            Self::Deleted(path) => write!(formatter, "{path} was deleted"),
            Self::DataChanged(path) => write!(formatter, "the data of {path} changed"),
            Self::ChildrenChanged(path) => write!(formatter, "the children of {path} changed"),
            Self::InAnyOrder(events) => {
                let events: Vec<String> = events.iter().map(ToString::to_string).collect();
                write!(formatter, "in any order: {}", events.join(", "))
            }
        }
    }
}

/// The statistics of a node, without its transactions and times, which a server makes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Stat {
    /// How often its data were changed.
    pub version: u32,
    /// How often its access control list was changed.
    pub acl_version: u32,
    /// How often its list of children was changed: twice the children that were created, less those that are there. That
    /// of the root of a real server begins with -1.
    pub children_version: i32,
    /// How many children it has.
    pub children: u32,
    /// How many bytes of data it has.
    pub data_length: u32,
    /// Whose ephemeral node it is.
    #[serde(default)]
    pub owner: Owner,
}

/// Whose ephemeral node one is, as a session sees it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// Nobody's: it is none.
    #[default]
    Nobody,
    /// Its own.
    Caller,
    /// Another session's.
    Other,
}

/// Why ZooKeeper does not do what it is asked for. All but those about other parts of a transaction are of the node that
/// the operation names, whichever node is the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Error {
    /// The node, or its parent, is not there.
    NoNode,
    /// The node is there.
    NodeExists,
    /// The node has children.
    NotEmpty,
    /// The node's parent is ephemeral.
    NoChildrenForEphemerals,
    /// The node has another version than is expected.
    BadVersion,
    /// The session must not do that.
    NoAuth,
    /// The root cannot be deleted, and some operations are no part of a transaction, or are nothing but a part.
    BadArguments,
    /// The access control list is empty.
    InvalidAcl,
    /// This part of a transaction could have been done, but a later one could not. On the wire its
    /// code is 0.
    Undone,
    /// An earlier part of the transaction could not be done.
    RuntimeInconsistency,
    /// The session was ended by the service.
    SessionExpired,
}

impl Operation {
    /// Returns the node that the operation names, or how its path begins; `None` if it is about no single one.
    pub const fn path(&self) -> Option<&Text> {
        match self {
            Self::Create { path, .. }
            | Self::Delete { path, .. }
            | Self::Exists { path }
            | Self::GetChildren { path }
            | Self::GetData { path }
            | Self::SetData { path, .. }
            | Self::GetAcl { path }
            | Self::SetAcl { path, .. }
            | Self::Check { path, .. } => Some(path),
            Self::Watch(read) => match &**read {
                Self::Exists { path } | Self::GetChildren { path } | Self::GetData { path } => Some(path),
                _ => None,
            },
            Self::Close | Self::Multi(_) | Self::Notice | Self::Connect | Self::Expire => None,
        }
    }

    /// Returns a read that leaves a watch.
    pub fn and_watch(self) -> Self {
        Self::Watch(Box::new(self))
    }
}

impl Response {
    /// Returns the answer with the statistics of a node.
    pub fn with_stat(self, stat: Stat) -> Self {
        Self::WithStat { answer: Box::new(self), stat }
    }

    /// Returns the answer after some events; without any, as it is.
    #[must_use]
    pub fn after(self, events: Vec<Event>) -> Self {
        if events.is_empty() { self } else { Self::Told { events, answer: Box::new(self) } }
    }

    /// Returns the answer without statistics, and without the events before it.
    pub fn without_stat(&self) -> &Self {
        match self {
            Self::WithStat { answer, .. } | Self::Told { answer, .. } => answer.without_stat(),
            other => other,
        }
    }

    /// Returns whether a client that was answered so may have observed this: the same, or a part of it, which has no
    /// statistics. Events are never left out, but for those after the last answer.
    pub fn agrees_with(&self, observed: &Self) -> bool {
        match (self, observed) {
            (Self::Unanswered, _) => false,
            (Self::Told { events, answer }, Self::Told { events: seen, answer: observed }) => {
                have_come(events, seen, true) && answer.agrees_with(observed)
            }
            (Self::Told { .. }, _) | (_, Self::Told { .. }) => false,
            (Self::Events(events), Self::Events(seen)) => have_come(events, seen, false),
            (Self::WithStat { answer, stat }, Self::WithStat { answer: observed, stat: seen }) => {
                stat == seen && answer.agrees_with(observed)
            }
            (Self::WithStat { answer, .. }, observed) => answer.agrees_with(observed),
            (Self::Created(_), Self::Done) => true,
            (Self::Parts(parts), Self::Parts(observed)) => {
                parts.len() == observed.len() && parts.iter().zip(observed).all(|(part, seen)| part.agrees_with(seen))
            }
            (expected, observed) => expected == observed,
        }
    }

    /// Returns whether the operation was refused.
    pub fn is_error(&self) -> bool {
        match self {
            Self::Error(_) => true,
            Self::Parts(parts) => parts.iter().any(Self::is_error),
            Self::Told { answer, .. } => answer.is_error(),
            _ => false,
        }
    }

    /// Returns the answers to the parts of a transaction of which one is refused.
    pub fn refused_parts(count: usize, place: usize, error: Error) -> Self {
        let answer = |part: usize| match part.cmp(&place) {
            Ordering::Less => Error::Undone,
            Ordering::Equal => error,
            Ordering::Greater => Error::RuntimeInconsistency,
        };
        Self::Parts((0..count).map(answer).map(Self::Error).collect())
    }
}

/// Returns whether a session has seen these events: all of them, or the first ones.
fn have_come(events: &[Event], mut seen: &[Event], are_all: bool) -> bool {
    for event in events {
        let together = match event {
            Event::InAnyOrder(events) => &events[..],
            one => std::slice::from_ref(one),
        };
        if are_all && seen.len() < together.len() {
            return false;
        }
        let (now, later) = seen.split_at(together.len().min(seen.len()));
        let mut left: Vec<&Event> = together.iter().collect();
        for event in now {
            let Some(place) = left.iter().position(|other| *other == event) else { return false };
            left.swap_remove(place);
        }
        seen = later;
    }
    seen.is_empty()
}
