//! Calls: what a session asked of a service, and how that ended.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::Time;

/// What makes calls: a client, or a connection of one. Calls of a session may overlap, as those of a client that does
/// not wait for answers.
///
/// In serde it is the number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Session(pub u64);

impl fmt::Display for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "session {}", self.0)
    }
}

/// An operation from its invocation to its end, as its session saw it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "O: Deserialize<'de>, R: Deserialize<'de>"))]
pub struct Call<O, R> {
    /// What made it.
    pub session: Session,
    /// What was asked for.
    #[serde(deserialize_with = "given")]
    pub operation: O,
    /// When the session began: the operation has no effect before.
    #[serde(rename = "invoked_ns")]
    pub invoked: Time,
    /// How it ended.
    pub end: End<R>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields, bound(deserialize = "R: Deserialize<'de>"))]
pub enum End<R> {
    /// The service answered.
    Returned {
        /// When the session had the answer: the operation has no effect after.
        #[serde(rename = "at_ns")]
        at: Time,
        /// The answer.
        #[serde(deserialize_with = "given")]
        response: R,
    },
    /// Nobody knows: the operation may have an effect at any time after the invocation, or none.
    Unknown,
    /// The operation has no effect, as that of a request which was refused, or never sent.
    DidNotHappen {
        /// When the session knew.
        #[serde(rename = "at_ns")]
        at: Time,
    },
}

impl<R> End<R> {
    /// Returns when the call ended, if that is known.
    pub const fn at(&self) -> Option<Time> {
        match self {
            Self::Returned { at, .. } | Self::DidNotHappen { at } => Some(*at),
            Self::Unknown => None,
        }
    }

    /// Returns the answer, if there is one.
    pub const fn response(&self) -> Option<&R> {
        match self {
            Self::Returned { response, .. } => Some(response),
            Self::Unknown | Self::DidNotHappen { .. } => None,
        }
    }
}

/// Reads a field that must be there, even if its type could do without, as an [`Option`] could.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    T::deserialize(deserializer)
}
