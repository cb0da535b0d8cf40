//! How a run ended, as data, and in words that a person understands.

use std::fmt;

use crate::trace::Endpoint;
use crate::{LimitReached, VirtualTime};

/// How a run ended: the four ends of Rutherford, PhD thesis, section 3.2, which calls the first two reasonable and
/// unreasonable, and an inconclusive one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// It ended by itself, and every expectation and check held.
    Passed,
    /// It ended by itself, and this is the first expectation or check that did not hold.
    Failed(Violation),
    /// A limit ended it.
    NotTerminated(LimitReached),
    /// A component or a check panicked, and the run stopped there.
    Abnormal(Panic),
    /// It ended by itself and broke no expectation, but a final check could not decide: neither a pass nor a failure.
    Inconclusive(Undecided),
}

/// A final check that could not decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undecided {
    /// The check's name.
    pub check: String,
    /// Why, as it says.
    pub reason: String,
}

/// An expectation or a check that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// A component returned another value than was expected of it.
    UnexpectedResult {
        /// The component.
        component: String,
        /// When it returned.
        at: VirtualTime,
        /// What was expected, as `Debug` shows it.
        expected: String,
        /// What it returned, as `Debug` shows it.
        actual: String,
    },
    /// A component of which a value was expected had not returned when nothing was left to happen.
    NoResult {
        /// The component.
        component: String,
        /// What was expected, as `Debug` shows it.
        expected: String,
        /// When the run ended.
        ended_at: VirtualTime,
        /// What it waits for; empty if the engine does not know it.
        waits: Vec<Wait>,
    },
    /// A final check failed.
    CheckFailed {
        /// The check's name.
        check: String,
        /// The reason, as the check gives it.
        failure: CheckFailure,
    },
}

/// A component that had not returned when nothing was left to happen: a server, as a rule, or part of a deadlock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The component.
    pub component: String,
    /// What it waits for; empty if the engine does not know it.
    pub waits: Vec<Wait>,
}

/// A wait that did not end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// What it is for.
    pub subject: WaitSubject,
    /// When it began.
    pub since: VirtualTime,
}

/// The subject of a component's wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitSubject {
    /// A message at a channel.
    Message {
        /// The channel's port.
        port: u16,
    },
    /// A stream that someone opens.
    Accept {
        /// The listener's port.
        port: u16,
    },
    /// The answer to a request for a stream.
    Connect {
        /// Where it was asked for.
        remote: Endpoint,
    },
    /// A message on a stream.
    StreamMessage {
        /// The stream's other end.
        remote: Endpoint,
    },
    /// Room for a message on a stream: the other end does not receive.
    StreamRoom {
        /// The stream's other end.
        remote: Endpoint,
    },
    /// To be restarted: it has crashed.
    Restart,
    /// To be started: that was to be at the end of time.
    Start,
    /// To go on: a fault paused it, and the pause lasts to the end of time.
    Resume,
    /// An item of a [`fifo`](crate::fifo()).
    FifoItem,
    /// What a [child task](crate::Child) returns.
    ChildTask,
    /// The end of time: a [pause](crate::Context::pause) or [sleep](crate::Context::sleep) lasts that long.
    EndOfTime,
}

/// Why a final check did not pass: it failed, or it could not decide.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CheckFailure {
    message: String,
    is_undecided: bool,
}

/// A panic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panic {
    /// The code that panicked.
    pub origin: PanicOrigin,
    /// When, in virtual time.
    pub at: VirtualTime,
    /// The panic's message.
    pub message: String,
}

/// Whose code panicked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanicOrigin {
    /// The component of this name.
    Component(String),
    /// The final check of this name.
    Check(String),
    /// Code of the model that ran for no component, such as a waker of its own.
    Model,
}

impl Ended {
    /// Returns whether this is [`Ended::Passed`].
    pub fn passed(&self) -> bool {
        *self == Self::Passed
    }
}

impl CheckFailure {
    /// Returns a failure that says `message`.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_undecided: false }
    }

    /// Returns that the check could not find out whether all is well, with the reason: a search that used up its
    /// budget, for example. The run then neither passes nor fails.
    ///
    /// ```
    /// use simutant_sim_core::{CheckFailure, Ended, Message, Simulation};
    ///
    /// # #[derive(Debug, Clone, Hash)]
    /// # struct Nothing;
    /// # impl Message for Nothing {
    /// #     fn kind(&self) -> &'static str { "NOTHING" }
    /// # }
    /// let mut simulation = Simulation::<Nothing>::new(1);
    /// simulation.check("the calls have an order", || Err(CheckFailure::inconclusive("a million steps are used up")));
    /// let ended = simulation.run().ended;
    /// assert!(!ended.passed());
    /// assert!(matches!(ended, Ended::Inconclusive(undecided) if undecided.reason == "a million steps are used up"));
    /// ```
    pub fn inconclusive(reason: impl Into<String>) -> Self {
        Self { message: reason.into(), is_undecided: true }
    }

    /// Returns whether the check could not decide.
    pub fn is_undecided(&self) -> bool {
        self.is_undecided
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => formatter.write_str("passed"),
            Self::Failed(violation) => write!(formatter, "failed: {violation}"),
            Self::NotTerminated(limit) => write!(formatter, "not terminated: {limit}"),
            Self::Abnormal(failure) => write!(formatter, "abnormal: {failure}"),
            Self::Inconclusive(undecided) => write!(formatter, "inconclusive: {undecided}"),
        }
    }
}

impl fmt::Display for Undecided {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { check, reason } = self;
        write!(formatter, "check \"{check}\" could not decide: {reason}")
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnexpectedResult { component, at, expected, actual } => {
                write!(formatter, "{component} returned {actual} at {at}, but {expected} was expected")
            }
            Self::NoResult { component, expected, ended_at, waits } => {
                write!(
                    formatter,
                    "{component} did not return, but {expected} was expected: when nothing was left to happen, at \
                     {ended_at}, it still waited for "
                )?;
                write_waits(formatter, waits)
            }
            Self::CheckFailed { check, failure } => write!(formatter, "check \"{check}\" failed: {failure}"),
        }
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} waits for ", self.component)?;
        write_waits(formatter, &self.waits)
    }
}

/// Writes what a component waits for.
fn write_waits(formatter: &mut fmt::Formatter<'_>, waits: &[Wait]) -> fmt::Result {
    if waits.is_empty() {
        return formatter.write_str("something that no event brings");
    }
    for (index, wait) in waits.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", and for " };
        write!(formatter, "{separator}{wait}")?;
    }
    Ok(())
}

impl fmt::Display for Wait {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, since } = self;
        match subject {
            WaitSubject::Restart => write!(formatter, "{subject} (since its crash at {since})"),
            _ => write!(formatter, "{subject} (since {since})"),
        }
    }
}

impl fmt::Display for WaitSubject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message { port } => write!(formatter, "a message on port {port}"),
            Self::Accept { port } => write!(formatter, "a stream to port {port}"),
            Self::Connect { remote } => write!(formatter, "an answer to its request for a stream from {remote}"),
            Self::StreamMessage { remote } => write!(formatter, "a message on the stream from {remote}"),
            Self::StreamRoom { remote } => write!(formatter, "room on the stream to {remote}"),
            Self::Restart => formatter.write_str("a restart"),
            Self::Start => formatter.write_str("its start at the end of time"),
            Self::Resume => formatter.write_str("the end of its pause"),
            Self::FifoItem => formatter.write_str("an item of a fifo"),
            Self::ChildTask => formatter.write_str("its child task"),
            Self::EndOfTime => formatter.write_str("the end of time"),
        }
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} panicked at {}: {}", self.origin, self.at, self.message)
    }
}

impl fmt::Display for PanicOrigin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Component(name) => formatter.write_str(name),
            Self::Check(name) => write!(formatter, "check \"{name}\""),
            Self::Model => formatter.write_str("the model"),
        }
    }
}
