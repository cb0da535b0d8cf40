//! The acceptor, which learns as well, free of sockets and files.

use std::collections::BTreeMap;

use super::behaviour::Behaviour;
use super::message::{Decree, Entry, Promise, Reply, Request, Round, Value, Vote};

/// What an acceptor knows. All of it is in its log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Acceptor {
    /// How many decrees there are.
    decrees: Decree,
    promised: Round,
    /// The last vote for each decree.
    votes: BTreeMap<Decree, Vote>,
    /// What is known, with gaps.
    decided: BTreeMap<Decree, Value>,
}

impl Acceptor {
    /// Returns an acceptor that knows nothing.
    pub(crate) fn new(decrees: Decree) -> Self {
        Self { decrees, promised: 0, votes: BTreeMap::new(), decided: BTreeMap::new() }
    }

    /// Notes what the log says. The proposer's entries change nothing.
    pub(crate) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Promise(round) => self.promised = round,
            Entry::Vote(vote) => {
                self.promised = self.promised.max(vote.round);
                self.votes.insert(vote.decree, vote);
            }
            Entry::Decided(decree, value) => _ = self.decided.insert(decree, value),
            Entry::Round(_) => {}
        }
    }

    /// Returns the round that is promised.
    pub(crate) fn promised(&self) -> Round {
        self.promised
    }

    /// Returns what is decided, up to the first decree that is not known.
    pub(crate) fn log(&self) -> Vec<Value> {
        (1..=self.decrees).map_while(|decree| self.decided.get(&decree).copied()).collect()
    }

    /// Returns whether all decrees are known.
    pub(crate) fn is_full(&self) -> bool {
        self.log().len() == self.decrees
    }

    /// Returns the first decree that is not known, or the last one.
    pub(crate) fn decree(&self) -> Decree {
        self.decrees.min(self.log().len() + 1)
    }

    /// Returns whether some decree is known to be this value.
    pub(crate) fn knows(&self, value: Value) -> bool {
        self.decided.values().any(|decided| *decided == value)
    }

    /// Returns what a client is told that has proposed a value: all up to it, or all if there is no room for it.
    pub(crate) fn answer_to_client(&self, value: Value) -> Option<Reply> {
        let mut log = self.log();
        let place = log.iter().position(|decided| *decided == value);
        log.truncate(place.map(|place| place + 1).or(self.is_full().then_some(self.decrees))?);
        Some(Reply::Decided(log))
    }

    /// Returns what is written to the log before anything is answered, and the answer. A client has none while it is not
    /// known what becomes of its value.
    pub(crate) fn answer(&mut self, request: Request, behaviour: &dyn Behaviour) -> (Option<Entry>, Option<Reply>) {
        let (entry, reply) = match request {
            Request::Propose(value) => (None, self.answer_to_client(value)),
            // The round of a leader that asks again is promised already.
            Request::Prepare(round) if round >= self.promised => {
                let votes = self.votes.values().copied().filter(|vote| behaviour.tells(vote)).collect();
                (Some(Entry::Promise(round)), Some(Reply::Promise(Promise { round, votes })))
            }
            Request::Accept(vote) if behaviour.accepts(vote.round, self.promised) => {
                (Some(Entry::Vote(vote)), Some(Reply::Learn(vote)))
            }
            Request::Prepare(round) | Request::Accept(Vote { round, .. }) => {
                (None, Some(Reply::Refused { round, promised: self.promised }))
            }
            Request::Commit(decree, value) => {
                let decree = behaviour.place(decree, value, &self.log());
                (Some(Entry::Decided(decree, value)), Some(Reply::Committed))
            }
            Request::Ping(decree) => (None, Some(Reply::Alive(self.decided.get(&decree).copied()))),
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

    /// Checks the answers of an acceptor of two decrees to requests, and what is in its log.
    #[track_caller]
    fn check(behaviour: &dyn Behaviour, requests_and_answers: &[(&str, &str)], log: &[&str]) {
        let mut acceptor = Acceptor::new(2);
        let mut written = Vec::new();
        for (request, answer) in requests_and_answers {
            let (entry, reply) = acceptor.answer(request.parse().expect("a request"), behaviour);
            written.extend(entry);
            assert_eq!(reply.map_or_else(String::new, |reply| reply.to_string()), *answer, "{request}");
        }
        assert_eq!(written.iter().map(Entry::to_string).collect::<Vec<_>>(), log);
        let mut recovered = Acceptor::new(2);
        written.into_iter().for_each(|entry| recovered.apply(entry));
        assert_eq!(recovered, acceptor, "a crash changes nothing");
    }

    #[test]
    fn nothing_is_accepted_below_a_promise() {
        let both = [
            ("prepare 3", "promise 3"),
            ("prepare 3", "promise 3"),
            ("prepare 2", "refused 2 3"),
            ("accept 1 2 8", "refused 2 3"),
            ("accept 1 3 7", "learn 1 3 7"),
            ("accept 1 3 7", "learn 1 3 7"),
            ("prepare 4", "promise 4 1 3 7"),
            ("accept 2 3 8", "refused 3 4"),
            // Its leader asked others for promises.
            ("accept 2 5 9", "learn 2 5 9"),
            ("prepare 4", "refused 4 5"),
            ("prepare 6", "promise 6 1 3 7 2 5 9"),
        ];
        check(&Correct, &both, &["promise 3", "vote 1 3 7", "promise 4", "vote 2 5 9", "promise 6"]);
    }

    #[test]
    fn with_a_fault_votes_below_a_promise_are_given() {
        let both = [
            ("accept 1 5 8", "learn 1 5 8"),
            ("accept 1 3 7", "learn 1 3 7"),
            ("prepare 4", "refused 4 5"),
            ("prepare 6", "promise 6 1 3 7"),
        ];
        check(faults::find("accepts-again"), &both, &["vote 1 5 8", "vote 1 3 7", "promise 6"]);
    }

    #[test]
    fn with_a_fault_a_promise_tells_of_the_first_decree_alone() {
        let both = [("accept 1 3 7", "learn 1 3 7"), ("accept 2 3 8", "learn 2 3 8"), ("prepare 4", "promise 4 1 3 7")];
        check(faults::find("promises-first-decree"), &both, &["vote 1 3 7", "vote 2 3 8", "promise 4"]);
    }

    #[test]
    fn a_decree_is_told_to_detectors_and_the_log_without_gaps_to_clients() {
        let both = [
            ("ping 2", "alive none"),
            ("commit 2 8", "committed"),
            ("commit 2 8", "committed"),
            ("ping 1", "alive none"),
            ("ping 2", "alive 8"),
            ("propose 8", ""),
            ("propose 9", ""),
            ("commit 1 7", "committed"),
            ("propose 7", "decided 7"),
            ("propose 8", "decided 7,8"),
            ("propose 9", "decided 7,8"),
        ];
        check(&Correct, &both, &["decided 2 8", "decided 1 7"]);
    }

    #[test]
    fn with_a_fault_what_is_told_is_the_next_decree() {
        let both =
            [("commit 2 8", "committed"), ("ping 1", "alive 8"), ("commit 2 8", "committed"), ("ping 2", "alive none")];
        check(faults::find("learns-with-gaps"), &both, &["decided 1 8"]);
    }
}
