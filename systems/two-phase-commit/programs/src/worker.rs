//! The worker's side of the protocol, free of sockets.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use simutant_programs::{Unreadable, end, word};

use super::behaviour::Behaviour;
use super::message::{Decision, FromWorker, ToWorker, Vote, Votes};

/// The votes of a worker, and what it has done.
#[derive(Debug)]
pub(crate) struct Worker {
    votes: Votes,
    behaviour: &'static dyn Behaviour,
    /// What the log says of each transaction.
    entries: BTreeMap<u64, Entry>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    vote: Option<Vote>,
    is_done: bool,
}

/// A line of the log. What is done is the line itself, so that a crash leaves both or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    /// The worker votes on a transaction.
    Voted(u64, Vote),
    /// The decision on a transaction is carried out.
    Done(u64, Decision),
}

/// The worker is told to commit what it has not voted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitWithoutVote(pub u64);

impl std::error::Error for CommitWithoutVote {}

impl Display for CommitWithoutVote {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "told to commit transaction {} without a vote for it", self.0)
    }
}

impl Display for Record {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Voted(transaction, vote) => write!(formatter, "voted {transaction} {vote}"),
            Self::Done(transaction, decision) => write!(formatter, "done {transaction} {decision}"),
        }
    }
}

impl FromStr for Record {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let mut words = line.split(' ');
        let record = match words.next() {
            Some("voted") => Self::Voted(word(&mut words)?, word(&mut words)?),
            Some("done") => Self::Done(word(&mut words)?, word(&mut words)?),
            _ => return Err(Unreadable),
        };
        end(words, record)
    }
}

impl Worker {
    /// Returns the worker whose log has these records. It votes no on transactions that `votes` does not have.
    pub(crate) fn recover(
        votes: Votes,
        records: impl IntoIterator<Item = Record>,
        behaviour: &'static dyn Behaviour,
    ) -> Self {
        let mut worker = Self { votes, behaviour, entries: BTreeMap::new() };
        records.into_iter().for_each(|record| worker.note(record));
        worker
    }

    /// Returns the answer to a line of the coordinator, and what is written to the log before it is sent.
    ///
    /// # Errors
    /// [`CommitWithoutVote`] if the coordinator is wrong.
    pub(crate) fn answer(&mut self, message: ToWorker) -> Result<(Option<Record>, FromWorker), CommitWithoutVote> {
        let (record, answer) = match message {
            ToWorker::CanCommit(transaction) => {
                let known = self.entry(transaction).vote;
                let vote = known.unwrap_or_else(|| self.vote(transaction));
                (known.is_none().then_some(Record::Voted(transaction, vote)), FromWorker::Vote(transaction, vote))
            }
            ToWorker::Decision(transaction, decision) => {
                let Entry { vote, is_done } = self.entry(transaction);
                if decision == Decision::Commit && vote != Some(Vote::Yes) {
                    return Err(CommitWithoutVote(transaction));
                }
                let does_it = !is_done || self.behaviour.does_again();
                (does_it.then_some(Record::Done(transaction, decision)), FromWorker::Ack(transaction))
            }
        };
        if let Some(record) = record {
            self.note(record);
        }
        Ok((record, answer))
    }

    fn vote(&self, transaction: u64) -> Vote {
        let place = usize::try_from(transaction).ok();
        place.and_then(|place| self.votes.0.get(place)).copied().unwrap_or(Vote::No)
    }

    fn entry(&self, transaction: u64) -> Entry {
        self.entries.get(&transaction).copied().unwrap_or_default()
    }

    fn note(&mut self, record: Record) {
        match record {
            Record::Voted(transaction, vote) => self.entries.entry(transaction).or_default().vote = Some(vote),
            Record::Done(transaction, _) => self.entries.entry(transaction).or_default().is_done = true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::super::faults;
    use super::*;

    fn worker(lines: &[&str], behaviour: &'static dyn Behaviour) -> Worker {
        let records = lines.iter().map(|line| line.parse().expect("a record"));
        Worker::recover(Votes(vec![Vote::Yes, Vote::No]), records, behaviour)
    }

    #[test]
    fn it_votes_as_it_was_told_and_does_each_decision_once() {
        let mut worker = worker(&[], &Correct);
        let yes = FromWorker::Vote(0, Vote::Yes);
        assert_eq!(worker.answer(ToWorker::CanCommit(0)), Ok((Some(Record::Voted(0, Vote::Yes)), yes)));
        assert_eq!(worker.answer(ToWorker::CanCommit(0)), Ok((None, yes)));
        let commit = ToWorker::Decision(0, Decision::Commit);
        assert_eq!(worker.answer(commit), Ok((Some(Record::Done(0, Decision::Commit)), FromWorker::Ack(0))));
        assert_eq!(worker.answer(commit), Ok((None, FromWorker::Ack(0))));
        let third = (Some(Record::Voted(2, Vote::No)), FromWorker::Vote(2, Vote::No));
        assert_eq!(worker.answer(ToWorker::CanCommit(2)), Ok(third), "it has two votes");
    }

    #[test]
    fn it_commits_nothing_without_a_vote_and_aborts_what_it_never_heard_of() {
        let mut worker = worker(&["voted 1 no"], &Correct);
        for transaction in [0, 1] {
            let commit = ToWorker::Decision(transaction, Decision::Commit);
            assert_eq!(worker.answer(commit), Err(CommitWithoutVote(transaction)));
        }
        let abort = ToWorker::Decision(0, Decision::Abort);
        assert_eq!(worker.answer(abort), Ok((Some(Record::Done(0, Decision::Abort)), FromWorker::Ack(0))));
    }

    #[test]
    fn after_a_crash_it_does_nothing_again_but_with_a_fault() {
        let (lines, commit) = (["voted 0 yes", "done 0 commit"], ToWorker::Decision(0, Decision::Commit));
        assert_eq!(worker(&lines, &Correct).answer(commit), Ok((None, FromWorker::Ack(0))));
        let (_, again) = faults::ALL.iter().find(|(name, _)| *name == "applies-again").expect("it is there");
        let record = Record::Done(0, Decision::Commit);
        assert_eq!(worker(&lines, *again).answer(commit), Ok((Some(record), FromWorker::Ack(0))));
    }
}
