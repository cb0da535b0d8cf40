//! What coordinator and workers say to each other: lines of words.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use simutant_programs::{Unreadable, end, word};

/// A worker's vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote {
    /// It can commit.
    Yes,
    /// It cannot.
    No,
}

/// A decision of the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// All workers do it.
    Commit,
    /// None does it.
    Abort,
}

/// A line from a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FromWorker {
    /// Who it is: a number from 1 on. The first line of a connection.
    Worker(usize),
    /// A vote on a transaction.
    Vote(u64, Vote),
    /// The decision on a transaction is carried out.
    Ack(u64),
}

/// A line from the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToWorker {
    /// The question for a vote on a transaction.
    CanCommit(u64),
    /// The decision on a transaction.
    Decision(u64, Decision),
}

/// Votes on transactions 0, 1, and so on: `yes,no,yes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Votes(pub Vec<Vote>);

impl FromStr for Votes {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl Display for Vote {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Yes => "yes",
            Self::No => "no",
        })
    }
}

impl FromStr for Vote {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        match text {
            "yes" => Ok(Self::Yes),
            "no" => Ok(Self::No),
            _ => Err(Unreadable),
        }
    }
}

impl Display for Decision {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Commit => "commit",
            Self::Abort => "abort",
        })
    }
}

impl FromStr for Decision {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        match text {
            "commit" => Ok(Self::Commit),
            "abort" => Ok(Self::Abort),
            _ => Err(Unreadable),
        }
    }
}

impl Display for FromWorker {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Worker(number) => write!(formatter, "worker {number}"),
            Self::Vote(transaction, vote) => write!(formatter, "vote {transaction} {vote}"),
            Self::Ack(transaction) => write!(formatter, "ack {transaction}"),
        }
    }
}

impl FromStr for FromWorker {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let mut words = line.split(' ');
        let message = match words.next() {
            Some("worker") => Self::Worker(word(&mut words)?),
            Some("vote") => Self::Vote(word(&mut words)?, word(&mut words)?),
            Some("ack") => Self::Ack(word(&mut words)?),
            _ => return Err(Unreadable),
        };
        end(words, message)
    }
}

impl Display for ToWorker {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CanCommit(transaction) => write!(formatter, "can-commit {transaction}"),
            Self::Decision(transaction, decision) => write!(formatter, "decision {transaction} {decision}"),
        }
    }
}

impl FromStr for ToWorker {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let mut words = line.split(' ');
        let message = match words.next() {
            Some("can-commit") => Self::CanCommit(word(&mut words)?),
            Some("decision") => Self::Decision(word(&mut words)?, word(&mut words)?),
            _ => return Err(Unreadable),
        };
        end(words, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        for message in [FromWorker::Worker(3), FromWorker::Vote(7, Vote::Yes), FromWorker::Vote(8, Vote::No)] {
            assert_eq!(message.to_string().parse(), Ok(message));
        }
        assert_eq!("ack 9".parse(), Ok(FromWorker::Ack(9)));
        for message in [ToWorker::CanCommit(0), ToWorker::Decision(1, Decision::Abort)] {
            assert_eq!(message.to_string().parse(), Ok(message));
        }
        assert_eq!("decision 2 commit".parse(), Ok(ToWorker::Decision(2, Decision::Commit)));
        assert_eq!("yes,no".parse(), Ok(Votes(vec![Vote::Yes, Vote::No])));
    }

    #[test]
    fn other_lines_are_refused() {
        for line in ["", "worker", "worker x", "vote 1", "vote 1 maybe", "ack 1 2", "ack  1", "ack -1", "can-commit 1"]
        {
            assert_eq!(line.parse::<FromWorker>(), Err(Unreadable), "{line}");
        }
        for line in ["", "can-commit", "decision 1", "decision 1 yes", "can-commit 1 now", "ack 1"] {
            assert_eq!(line.parse::<ToWorker>(), Err(Unreadable), "{line}");
        }
    }
}
