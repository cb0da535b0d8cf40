//! Causes: what exactly ended a run that does not pass.

use serde::{Deserialize, Serialize};

use crate::RunEnd;

/// What ended a run that does not pass. Each cause belongs to one [`RunEnd`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// A component returned another value than was expected of it.
    UnexpectedResult,
    /// A component of which a value was expected still waited when nothing was left to happen: a deadlock, or an answer
    /// that does not come.
    NoResult,
    /// A final check failed.
    CheckFailed,
    /// The run took more steps than the limit.
    Steps,
    /// The run took more events than the limit.
    Events,
    /// The run took more virtual time than the limit.
    VirtualTime,
    /// The run reached neither a limit nor its end, twice.
    Hang,
    /// The model's code panicked: an assertion of its own, an index out of bounds, an overflow.
    Panic,
    /// The stack overflowed.
    StackOverflow,
    /// The run used more memory than the limit.
    Memory,
    /// The process aborted, or a signal that a process raises against itself ended it.
    Abort,
    /// The process exited in the middle of the run.
    Exit,
    /// A final check could not decide.
    Undecided,
    /// The run passed the oracle and failed the cost oracle: no run ends by it.
    Cost,
}

impl Cause {
    /// All causes that end runs, by verdict in the order of the thesis; [`Cause::Cost`] is judged afterwards.
    pub const ALL: [Self; 13] = [
        Self::UnexpectedResult,
        Self::NoResult,
        Self::CheckFailed,
        Self::Steps,
        Self::Events,
        Self::VirtualTime,
        Self::Hang,
        Self::Panic,
        Self::StackOverflow,
        Self::Memory,
        Self::Abort,
        Self::Exit,
        Self::Undecided,
    ];

    /// Returns the verdict on a run that ended so.
    pub fn verdict(self) -> RunEnd {
        match self {
            Self::UnexpectedResult | Self::NoResult | Self::CheckFailed | Self::Cost => RunEnd::Failed,
            Self::Steps | Self::Events | Self::VirtualTime | Self::Hang => RunEnd::NotTerminated,
            Self::Panic | Self::StackOverflow | Self::Memory | Self::Abort | Self::Exit => RunEnd::Abnormal,
            Self::Undecided => RunEnd::Inconclusive,
        }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::UnexpectedResult => "wrong result",
            Self::NoResult => "no result",
            Self::CheckFailed => "check failed",
            Self::Steps => "out of steps",
            Self::Events => "out of events",
            Self::VirtualTime => "out of virtual time",
            Self::Hang => "hung",
            Self::Panic => "panic",
            Self::StackOverflow => "stack overflow",
            Self::Memory => "out of memory",
            Self::Abort => "abort",
            Self::Exit => "exit",
            Self::Undecided => "undecided",
            Self::Cost => "cost",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_stand_in_the_order_of_their_verdicts_and_none_passes() {
        assert!(Cause::ALL.is_sorted());
        assert!(Cause::ALL.is_sorted_by_key(|cause| cause.verdict()));
        assert!(Cause::ALL.iter().all(|&cause| cause.verdict().kills() == (cause != Cause::Undecided)));
        let last = Cause::ALL[Cause::ALL.len() - 1];
        assert_eq!(last as usize, Cause::ALL.len() - 1, "none is missing");
    }
}
