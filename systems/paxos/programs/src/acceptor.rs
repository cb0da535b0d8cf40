//! The acceptor, which learns as well, free of sockets and files.

use super::behaviour::Behaviour;
use super::message::{Entry, Promise, Reply, Request, Round, Value, Vote};

/// What an acceptor knows. All of it is in its log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Acceptor {
    promised: Round,
    vote: Option<Vote>,
    decided: Option<Value>,
}

impl Acceptor {
    /// Notes what the log says. The proposer's entries change nothing.
    pub(crate) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Promise(round) => self.promised = round,
            Entry::Vote(vote) => (self.promised, self.vote) = (self.promised.max(vote.round), Some(vote)),
            Entry::Decided(value) => self.decided = Some(value),
            Entry::Round(_) => {}
        }
    }

    /// Returns the round that is promised.
    pub(crate) fn promised(&self) -> Round {
        self.promised
    }

    /// Returns what is decided, if that is known.
    pub(crate) fn decided(&self) -> Option<Value> {
        self.decided
    }

    /// Returns what is written to the log before anything is answered, and the answer. A client has none while nothing is
    /// decided.
    pub(crate) fn answer(&mut self, request: Request, behaviour: &dyn Behaviour) -> (Option<Entry>, Option<Reply>) {
        let (entry, reply) = match request {
            Request::Propose(_) => (None, self.decided.map(Reply::Decided)),
            // The round of a leader that asks again is promised already.
            Request::Prepare(round) if round >= self.promised => {
                (Some(Entry::Promise(round)), Some(Reply::Promise(Promise { round, vote: self.vote })))
            }
            Request::Accept(vote) if behaviour.accepts(vote.round, self.promised) => {
                (Some(Entry::Vote(vote)), Some(Reply::Learn(vote)))
            }
            Request::Prepare(round) | Request::Accept(Vote { round, .. }) => {
                (None, Some(Reply::Refused { round, promised: self.promised }))
            }
            Request::Commit(value) => (Some(Entry::Decided(value)), Some(Reply::Committed)),
            Request::Ping => (None, Some(Reply::Alive(self.decided))),
        };
        let before = self.clone();
        entry.into_iter().for_each(|entry| self.apply(entry));
        (entry.filter(|_| before != *self), reply)
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::super::faults;
    use super::*;

    /// Checks the answers of an acceptor to requests, and what is in its log.
    #[track_caller]
    fn check(behaviour: &dyn Behaviour, requests_and_answers: &[(&str, &str)], log: &[&str]) {
        let mut acceptor = Acceptor::default();
        let mut written = Vec::new();
        for (request, answer) in requests_and_answers {
            let (entry, reply) = acceptor.answer(request.parse().expect("a request"), behaviour);
            written.extend(entry);
            assert_eq!(reply.map_or_else(String::new, |reply| reply.to_string()), *answer, "{request}");
        }
        assert_eq!(written.iter().map(Entry::to_string).collect::<Vec<_>>(), log);
        let mut recovered = Acceptor::default();
        written.into_iter().for_each(|entry| recovered.apply(entry));
        assert_eq!(recovered, acceptor, "a crash changes nothing");
    }

    #[test]
    fn nothing_is_accepted_below_a_promise() {
        let both = [
            ("prepare 3", "promise 3 0 none"),
            ("prepare 3", "promise 3 0 none"),
            ("prepare 2", "refused 2 3"),
            ("accept 2 8", "refused 2 3"),
            ("accept 3 7", "learn 3 7"),
            ("accept 3 7", "learn 3 7"),
            ("prepare 4", "promise 4 3 7"),
            ("accept 3 7", "refused 3 4"),
            // Its leader asked others for promises.
            ("accept 5 9", "learn 5 9"),
            ("prepare 4", "refused 4 5"),
        ];
        check(&Correct, &both, &["promise 3", "vote 3 7", "promise 4", "vote 5 9"]);
    }

    #[test]
    fn with_a_fault_votes_below_a_promise_are_given() {
        let both = [
            ("accept 5 8", "learn 5 8"),
            ("accept 3 7", "learn 3 7"),
            ("prepare 4", "refused 4 5"),
            ("prepare 6", "promise 6 3 7"),
        ];
        check(faults::find("accepts-again"), &both, &["vote 5 8", "vote 3 7", "promise 6"]);
    }

    #[test]
    fn a_decision_is_told_to_clients_and_detectors() {
        let both = [
            ("ping", "alive none"),
            ("propose 7", ""),
            ("commit 8", "committed"),
            ("commit 8", "committed"),
            ("propose 7", "decided 8"),
            ("ping", "alive 8"),
        ];
        check(&Correct, &both, &["decided 8"]);
    }
}
