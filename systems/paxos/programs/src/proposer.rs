//! The proposer: its rounds and its quorum functions, free of sockets and clocks.

use simutant_programs::quorum::majority;

use super::behaviour::Behaviour;
use super::message::{Decree, Number, Promise, Reply, Round, Value, Vote};

/// What a proposer knows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Proposer {
    number: Number,
    replicas: usize,
    /// The round that goes on, or was the last; 0 before the first. It is in the log.
    round: Round,
    /// The highest round that it has seen.
    highest: Round,
    /// The promises in this round.
    promises: Vec<Promise>,
    /// Those in earlier rounds.
    earlier: Vec<Promise>,
}

/// An acceptor has promised this later round to another leader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Later(pub(crate) Round);

impl Proposer {
    /// Returns the proposer of a replica whose log says that `round` was its last.
    pub(crate) fn recover(number: Number, replicas: usize, round: Round) -> Self {
        Self { number, replicas, round, highest: round, promises: Vec::new(), earlier: Vec::new() }
    }

    pub(crate) fn round(&self) -> Round {
        self.round
    }

    /// Begins the next round, and returns it. It is written to the log before an acceptor is asked: after a crash, nothing
    /// else is proposed in it. `promised` is what the acceptor of this replica has promised.
    pub(crate) fn begin(&mut self, promised: Round, behaviour: &dyn Behaviour) -> Round {
        self.earlier.append(&mut self.promises);
        self.highest = self.highest.max(promised);
        self.round = behaviour.next_round(self.highest, self.number, self.replicas);
        self.highest = self.highest.max(self.round);
        self.round
    }

    /// The quorum function of promises: returns once enough have promised.
    pub(crate) fn promised(&mut self, replies: &[Reply], behaviour: &dyn Behaviour) -> Option<Result<(), Later>> {
        if let Some(later) = self.refused(replies) {
            return Some(Err(later));
        }
        let promise = |reply: &Reply| if let Reply::Promise(promise) = reply { Some(promise.clone()) } else { None };
        self.promises = replies.iter().filter_map(promise).collect();
        (self.counted(behaviour).len() >= majority(self.replicas)).then_some(Ok(()))
    }

    /// Returns what acceptors are asked to accept for a decree, if there is anything: `own` is a client's value. The promises
    /// hold for all decrees, as long as nobody has promised a later round.
    pub(crate) fn vote(&self, decree: Decree, own: Option<Value>, behaviour: &dyn Behaviour) -> Option<Vote> {
        let value = behaviour.value(decree, &self.counted(behaviour), own)?;
        Some(Vote { decree, round: self.round, value })
    }

    /// The quorum function of votes: returns once enough have accepted.
    pub(crate) fn accepted(&mut self, replies: &[Reply], behaviour: &dyn Behaviour) -> Option<Result<(), Later>> {
        if !behaviour.counts_refusals()
            && let Some(later) = self.refused(replies)
        {
            return Some(Err(later));
        }
        (replies.len() >= behaviour.votes(self.replicas)).then_some(Ok(()))
    }

    /// Returns the promises that count in this round.
    fn counted(&self, behaviour: &dyn Behaviour) -> Vec<&Promise> {
        let promises = self.earlier.iter().chain(&self.promises);
        promises.filter(|promise| behaviour.counts(promise, self.round)).collect()
    }

    /// Returns the latest round that somebody has promised who refuses this one.
    fn refused(&mut self, replies: &[Reply]) -> Option<Later> {
        let later = |reply: &Reply| if let Reply::Refused { promised, .. } = reply { Some(*promised) } else { None };
        let later = replies.iter().filter_map(later).max()?;
        self.highest = self.highest.max(later);
        Some(Later(later))
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::*;

    /// Checks what a leader proposes for each of two decrees.
    #[track_caller]
    fn check_promised(replies: &[&str], expect: Option<Result<[Value; 2], Later>>) {
        let replies: Vec<Reply> = replies.iter().map(|reply| reply.parse().expect("a reply")).collect();
        let mut proposer = Proposer::recover(0, 3, 0);
        assert_eq!(proposer.begin(0, &Correct), 3);
        let promised = proposer.promised(&replies, &Correct);
        let value = |decree| proposer.vote(decree, Some(9), &Correct).expect("a client's at least").value;
        assert_eq!(promised.map(|promised| promised.map(|()| [1, 2].map(value))), expect, "{replies:?}");
    }

    #[test]
    fn a_majority_of_promises_says_what_to_propose() {
        check_promised(&["promise 3"], None);
        check_promised(&["promise 3 1 2 7"], None);
        check_promised(&["promise 3", "promise 3"], Some(Ok([9, 9])));
        check_promised(&["promise 3", "promise 3 1 1 7"], Some(Ok([7, 9])));
        check_promised(&["promise 3 1 2 8", "promise 3 1 1 7"], Some(Ok([8, 9])));
        check_promised(&["promise 3 1 1 7", "promise 3 1 2 8 2 1 6"], Some(Ok([8, 6])));
        check_promised(&["promise 3 1 1 7 2 2 5", "promise 3 1 1 7 2 1 6"], Some(Ok([7, 5])));
        check_promised(&["promise 2", "promise 3"], None);
        check_promised(&["promise 3", "refused 3 5"], Some(Err(Later(5))));
    }

    #[test]
    fn a_leader_without_clients_proposes_what_was_accepted() {
        let mut proposer = Proposer::recover(0, 1, 0);
        assert_eq!(proposer.begin(2, &Correct), 3);
        let promise = ["promise 3 2 1 7"].map(|reply| reply.parse().expect("a reply"));
        assert_eq!(proposer.promised(&promise, &Correct), Some(Ok(())));
        assert_eq!(proposer.vote(2, None, &Correct), Some(Vote { decree: 2, round: 3, value: 7 }));
        assert_eq!(proposer.vote(1, None, &Correct), None);
    }

    #[test]
    fn the_next_round_is_larger_than_all_that_were_seen() {
        let mut proposer = Proposer::recover(1, 3, 7);
        assert_eq!(proposer.begin(0, &Correct), 10);
        assert_eq!(proposer.begin(15, &Correct), 16);
        let vote = Vote { decree: 1, round: 16, value: 7 };
        let refused = [Reply::Learn(vote), Reply::Refused { round: 16, promised: 20 }];
        assert_eq!(proposer.accepted(&refused[..1], &Correct), None);
        assert_eq!(proposer.accepted(&refused, &Correct), Some(Err(Later(20))));
        assert_eq!(proposer.begin(0, &Correct), 22);
        assert_eq!(proposer.accepted(&[Reply::Learn(vote), Reply::Learn(vote)], &Correct), Some(Ok(())));
    }
}
