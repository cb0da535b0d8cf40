//! What clients and replicas say to each other, and what replicas write to their logs: lines of words. A line that is sent
//! gets the number of a call as its second word.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use simutant_programs::{Unreadable, end, word};

/// A round. Round i is that of replica i modulo how many there are; 0 is that of nobody, before all others.
pub type Round = u64;

/// A value that a client proposes.
pub type Value = u64;

/// The number of a decision in the log, from 1 on.
pub type Decree = usize;

/// The number of a replica, from 0 on.
pub type Number = usize;

/// What is accepted, for which decree and in which round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vote {
    /// The decree.
    pub decree: Decree,
    /// The round.
    pub round: Round,
    /// The value.
    pub value: Value,
}

/// What an acceptor promises: it will accept nothing in earlier rounds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Promise {
    /// The round.
    pub round: Round,
    /// What it has accepted last for each decree.
    pub votes: Vec<Vote>,
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
    /// A leader tells what a decree is.
    Commit(Decree, Value),
    /// A failure detector asks whether the replica is there, and what this decree is.
    Ping(Decree),
}

/// A line from a replica.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reply {
    /// A client's value is the last one of these decrees, or none of all.
    Decided(Vec<Value>),
    Promise(Promise),
    Learn(Vote),
    /// It does not promise or accept in `round`, as it has promised a later one.
    Refused {
        round: Round,
        promised: Round,
    },
    Committed,
    /// It is there, and knows this of the decree.
    Alive(Option<Value>),
}

/// A line of a replica's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Entry {
    /// The acceptor has promised this round.
    Promise(Round),
    /// The acceptor has accepted this.
    Vote(Vote),
    /// The replica has learned what a decree is.
    Decided(Decree, Value),
    /// The proposer has taken this round.
    Round(Round),
}

impl Display for Vote {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {} {}", self.decree, self.round, self.value)
    }
}

impl Display for Request {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Propose(value) => write!(formatter, "propose {value}"),
            Self::Prepare(round) => write!(formatter, "prepare {round}"),
            Self::Accept(vote) => write!(formatter, "accept {vote}"),
            Self::Commit(decree, value) => write!(formatter, "commit {decree} {value}"),
            Self::Ping(decree) => write!(formatter, "ping {decree}"),
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
            Some("commit") => Self::Commit(word(&mut words)?, word(&mut words)?),
            Some("ping") => Self::Ping(word(&mut words)?),
            _ => return Err(Unreadable),
        };
        end(words, request)
    }
}

impl Display for Reply {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Decided(log) => write!(formatter, "decided {}", join(log)),
            Self::Promise(Promise { round, votes }) => {
                write!(formatter, "promise {round}")?;
                votes.iter().try_for_each(|vote| write!(formatter, " {vote}"))
            }
            Self::Learn(vote) => write!(formatter, "learn {vote}"),
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
        let mut words = line.split(' ').peekable();
        let reply = match words.next() {
            Some("decided") => {
                let values = words.next().ok_or(Unreadable)?.split(',');
                Self::Decided(values.map(|value| value.parse().map_err(|_| Unreadable)).collect::<Result<_, _>>()?)
            }
            Some("promise") => {
                let mut promise = Promise { round: word(&mut words)?, votes: Vec::new() };
                while words.peek().is_some() {
                    promise.votes.push(vote(&mut words)?);
                }
                Self::Promise(promise)
            }
            Some("learn") => Self::Learn(vote(&mut words)?),
            Some("refused") => Self::Refused { round: word(&mut words)?, promised: word(&mut words)? },
            Some("committed") => Self::Committed,
            Some("alive") => Self::Alive(match words.next() {
                Some("none") => None,
                other => Some(word(&mut other.into_iter())?),
            }),
            _ => return Err(Unreadable),
        };
        end(words, reply)
    }
}

impl Display for Entry {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Promise(round) => write!(formatter, "promise {round}"),
            Self::Vote(vote) => write!(formatter, "vote {vote}"),
            Self::Decided(decree, value) => write!(formatter, "decided {decree} {value}"),
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
            Some("decided") => Self::Decided(word(&mut words)?, word(&mut words)?),
            Some("round") => Self::Round(word(&mut words)?),
            _ => return Err(Unreadable),
        };
        end(words, entry)
    }
}

/// Returns the vote that the next three words are.
fn vote<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Vote, Unreadable> {
    Ok(Vote { decree: word(words)?, round: word(words)?, value: word(words)? })
}

/// Returns values with commas between them.
pub(crate) fn join(log: &[Value]) -> String {
    log.iter().map(Value::to_string).collect::<Vec<_>>().join(",")
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
        let votes = vec![Vote { decree: 1, round: 3, value: 7 }, Vote { decree: 2, round: 1, value: 8 }];
        check("propose 5 7", Request::Propose(7));
        check("prepare 5 4", Request::Prepare(4));
        check("accept 5 1 3 7", Request::Accept(votes[0]));
        check("commit 5 1 7", Request::Commit(1, 7));
        check("ping 5 2", Request::Ping(2));
        check("decided 5 7", Reply::Decided(vec![7]));
        check("decided 5 7,8", Reply::Decided(vec![7, 8]));
        check("learn 5 1 3 7", Reply::Learn(votes[0]));
        check("promise 5 4", Reply::Promise(Promise { round: 4, votes: Vec::new() }));
        check("promise 5 4 1 3 7 2 1 8", Reply::Promise(Promise { round: 4, votes: votes.clone() }));
        check("refused 5 3 4", Reply::Refused { round: 3, promised: 4 });
        check("committed 5", Reply::Committed);
        check("alive 5 7", Reply::Alive(Some(7)));
        check("alive 5 none", Reply::Alive(None));
        for entry in [Entry::Promise(4), Entry::Vote(votes[0]), Entry::Decided(2, 7), Entry::Round(4)] {
            assert_eq!(entry.to_string().parse(), Ok(entry));
        }
    }

    #[test]
    fn other_lines_are_refused() {
        let requests = ["", "propose", "propose x", "prepare 1 2", "accept 1 2", "accept 1 1 none", "commit 7", "ping"];
        for line in requests {
            assert_eq!(line.parse::<Request>(), Err(Unreadable), "{line}");
        }
        let replies = ["", "decided", "decided 7,", "decided 7 8", "promise", "promise 1 0", "promise 1 1 0 none"];
        for line in replies.into_iter().chain(["learn 1 2", "refused 1", "alive", "committed 1", "ping 1"]) {
            assert_eq!(line.parse::<Reply>(), Err(Unreadable), "{line}");
        }
        for line in ["", "vote 1 2", "vote 1 2 none", "round", "decided 7", "promise 1 2"] {
            assert_eq!(line.parse::<Entry>(), Err(Unreadable), "{line}");
        }
    }
}
