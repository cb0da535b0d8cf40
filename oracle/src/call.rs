//! Calls: what a session asked of a service, and how that ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Moment;

/// A session, which makes calls: a client, or a connection of one. Calls of a session may overlap, as those of a client
/// that does not wait for answers.
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
///
/// [`json_lines`](crate::formats::json_lines) has its form in files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Call<O, R> {
    /// What made it.
    pub session: Session,
    /// What was asked for.
    pub operation: O,
    /// Whether the session waited for the answer.
    pub mode: Mode,
    /// When the session began: the operation has no effect before.
    pub invoked: Moment,
    /// How it ended.
    pub end: End<R>,
    /// Where the service says that it took the operation, if it says so.
    pub revision: Option<Revision>,
}

/// Whether a session waits for the answer to a call before it goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// It waits.
    #[default]
    Synchronous,
    /// It goes on, and is told the answer later.
    Asynchronous,
}

/// A place in the order in which a service says that it took operations: a revision, a transaction id.
///
/// An operation with a smaller revision took effect before one with a larger revision. Equal ones say nothing of each
/// other, as those of a write and of the reads that saw it.
///
/// In serde it is the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(pub u64);

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "revision {}", self.0)
    }
}

impl<O, R> Call<O, R> {
    /// Returns a synchronous call of which no revision is known.
    pub const fn new(session: Session, operation: O, invoked: Moment, end: End<R>) -> Self {
        Self { session, operation, mode: Mode::Synchronous, invoked, end, revision: None }
    }

    /// Returns whether the call is known to have ended before another one was invoked.
    ///
    /// ```
    /// use simutant_oracle::{Call, End, Session, Time};
    ///
    /// let at = |nanos| Time::from_nanos(nanos).into();
    /// let get = |from, end| Call::new(Session(1), "get", at(from), end);
    /// let answered = get(0, End::Returned { at: at(10), response: 7 });
    /// assert!(answered.precedes(&get(11, End::Unknown)));
    /// assert!(!answered.precedes(&get(9, End::Unknown)));
    /// // What nobody knows the end of precedes nothing.
    /// assert!(!get(0, End::Unknown).precedes(&answered));
    /// ```
    pub fn precedes(&self, other: &Self) -> bool {
        self.end.at().is_some_and(|ended| ended.is_before(other.invoked))
    }

    /// Returns whether the call ends when it has not been invoked yet.
    pub(crate) fn ends_too_early(&self) -> bool {
        self.end.at().is_some_and(|ended| ended.is_before(self.invoked))
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum End<R> {
    /// The service answered.
    Returned {
        /// When the session had the answer: the operation has no effect after.
        at: Moment,
        /// The answer.
        response: R,
    },
    /// Nobody knows: the operation may have an effect at any time after the invocation, or none.
    Unknown,
    /// The operation has no effect, as that of a request which was refused, or never sent.
    DidNotHappen {
        /// When the session knew.
        at: Moment,
    },
}

impl<R> End<R> {
    /// Returns when the call ended, if that is known.
    pub const fn at(&self) -> Option<Moment> {
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
