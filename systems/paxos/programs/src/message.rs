//! What clients and replicas say to each other, and what replicas write to their logs: lines of words. A line that is sent
//! gets the number of a call as its second word.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use simutant_programs::{Unreadable, end, word};

/// A round. Round i is that of replica i modulo how many there are; 0 is that of nobody, before all others.
pub type Round = u64;

/// A value that a client proposes.
pub type Value = u64;

/// The number of a replica, from 0 on.
pub type Number = usize;

/// What is accepted, and in which round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vote {
    /// The round.
    pub round: Round,
    /// The value.
    pub value: Value,
}

/// What an acceptor promises: it will accept nothing in earlier rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Promise {
    /// The round.
    pub round: Round,
    /// What it has accepted last.
    pub vote: Option<Vote>,
}

/// A line to a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Request {
    /// A client proposes a value.
    Propose(Value),
    /// A leader asks for a promise.
    Prepare(Round),
    /// A leader asks to accept a value.
    Accept(Vote),
    /// A leader tells what is decided.
    Commit(Value),
    /// A failure detector asks whether the replica is there.
    Ping,
}

/// A line from a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reply {
    Decided(Value),
    Promise(Promise),
    Learn(Vote),
    /// It does not promise or accept in `round`, as it has promised a later one.
    Refused {
        round: Round,
        promised: Round,
    },
    Committed,
    /// It is there, and knows this of what is decided.
    Alive(Option<Value>),
}

/// A line of a replica's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    /// The acceptor has promised this round.
    Promise(Round),
    /// The acceptor has accepted this.
    Vote(Vote),
    /// The replica has learned what is decided.
    Decided(Value),
    /// The proposer has taken this round.
    Round(Round),
}

impl Display for Request {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Propose(value) => write!(formatter, "propose {value}"),
            Self::Prepare(round) => write!(formatter, "prepare {round}"),
            Self::Accept(Vote { round, value }) => write!(formatter, "accept {round} {value}"),
            Self::Commit(value) => write!(formatter, "commit {value}"),
            Self::Ping => formatter.write_str("ping"),
        }
    }
}

impl FromStr for Request {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let mut words = line.split(' ');
        let request = match words.next() {
            Some("propose") => Self::Propose(word(&mut words)?),
            Some("prepare") => Self::Prepare(word(&mut words)?),
            Some("accept") => Self::Accept(vote(&mut words)?),
            Some("commit") => Self::Commit(word(&mut words)?),
            Some("ping") => Self::Ping,
            _ => return Err(Unreadable),
        };
        end(words, request)
    }
}

impl Display for Reply {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Decided(value) => write!(formatter, "decided {value}"),
            Self::Promise(Promise { round, vote: Some(vote) }) => {
                write!(formatter, "promise {round} {} {}", vote.round, vote.value)
            }
            Self::Promise(Promise { round, vote: None }) => write!(formatter, "promise {round} 0 none"),
            Self::Learn(Vote { round, value }) => write!(formatter, "learn {round} {value}"),
            Self::Refused { round, promised } => write!(formatter, "refused {round} {promised}"),
            Self::Committed => formatter.write_str("committed"),
            Self::Alive(Some(value)) => write!(formatter, "alive {value}"),
            Self::Alive(None) => formatter.write_str("alive none"),
        }
    }
}

impl FromStr for Reply {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let mut words = line.split(' ');
        let reply = match words.next() {
            Some("decided") => Self::Decided(word(&mut words)?),
            Some("promise") => {
                let (round, voted) = (word(&mut words)?, word(&mut words)?);
                let vote = value_or_none(&mut words)?.map(|value| Vote { round: voted, value });
                Self::Promise(Promise { round, vote })
            }
            Some("learn") => Self::Learn(vote(&mut words)?),
            Some("refused") => Self::Refused { round: word(&mut words)?, promised: word(&mut words)? },
            Some("committed") => Self::Committed,
            Some("alive") => Self::Alive(value_or_none(&mut words)?),
            _ => return Err(Unreadable),
        };
        end(words, reply)
    }
}

impl Display for Entry {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Promise(round) => write!(formatter, "promise {round}"),
            Self::Vote(Vote { round, value }) => write!(formatter, "vote {round} {value}"),
            Self::Decided(value) => write!(formatter, "decided {value}"),
            Self::Round(round) => write!(formatter, "round {round}"),
        }
    }
}

impl FromStr for Entry {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let mut words = line.split(' ');
        let entry = match words.next() {
            Some("promise") => Self::Promise(word(&mut words)?),
            Some("vote") => Self::Vote(vote(&mut words)?),
            Some("decided") => Self::Decided(word(&mut words)?),
            Some("round") => Self::Round(word(&mut words)?),
            _ => return Err(Unreadable),
        };
        end(words, entry)
    }
}

/// Returns the vote that the next two words are.
fn vote<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Vote, Unreadable> {
    Ok(Vote { round: word(words)?, value: word(words)? })
}

/// Returns the value that the next word is, or nothing if it is `none`.
fn value_or_none<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Option<Value>, Unreadable> {
    match words.next() {
        Some("none") => Ok(None),
        other => word(&mut other.into_iter()).map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use simutant_programs::quorum::Numbered;

    use super::*;

    #[track_caller]
    fn check<T: FromStr + Display + PartialEq + Debug>(line: &str, content: T) {
        let line_of_call = Numbered { call: 5, content };
        assert_eq!(line_of_call.to_string(), line);
        assert_eq!(line.parse().ok(), Some(line_of_call));
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let vote = Vote { round: 3, value: 7 };
        check("propose 5 7", Request::Propose(7));
        check("prepare 5 4", Request::Prepare(4));
        check("accept 5 3 7", Request::Accept(vote));
        check("commit 5 7", Request::Commit(7));
        check("ping 5", Request::Ping);
        check("decided 5 7", Reply::Decided(7));
        check("promise 5 4 3 7", Reply::Promise(Promise { round: 4, vote: Some(vote) }));
        check("promise 5 4 0 none", Reply::Promise(Promise { round: 4, vote: None }));
        check("learn 5 3 7", Reply::Learn(vote));
        check("refused 5 3 4", Reply::Refused { round: 3, promised: 4 });
        check("committed 5", Reply::Committed);
        check("alive 5 7", Reply::Alive(Some(7)));
        check("alive 5 none", Reply::Alive(None));
        for entry in [Entry::Promise(4), Entry::Vote(vote), Entry::Decided(7), Entry::Round(4)] {
            assert_eq!(entry.to_string().parse(), Ok(entry));
        }
    }

    #[test]
    fn other_lines_are_refused() {
        for line in ["", "propose", "propose x", "prepare 1 2", "accept 1", "accept 1 none", "ping 1", "decided 7"] {
            assert_eq!(line.parse::<Request>(), Err(Unreadable), "{line}");
        }
        for line in ["", "promise 1 0", "promise 1 0 x", "learn 1", "refused 1", "alive", "committed 1", "ping"] {
            assert_eq!(line.parse::<Reply>(), Err(Unreadable), "{line}");
        }
        for line in ["", "vote 1", "vote 1 none", "round", "decided none", "promise 1 0 none"] {
            assert_eq!(line.parse::<Entry>(), Err(Unreadable), "{line}");
        }
    }
}
