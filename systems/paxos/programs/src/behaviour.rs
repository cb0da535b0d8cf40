//! The decisions of replicas, each in a function of its own.
//!
//! The functions as they stand here are right. A fault is a [`Behaviour`] that gets one of them wrong.

use std::collections::BTreeSet;

use simutant_programs::quorum::majority;

use super::message::{Decree, Number, Promise, Round, Value, Vote};

/// What a replica decides in each situation.
pub trait Behaviour: std::fmt::Debug + Sync {
    /// Acceptor: returns whether it accepts a value in `round`, when it has promised another one.
    fn accepts(&self, round: Round, promised: Round) -> bool {
        round >= promised
    }

    /// Acceptor: returns whether it writes promises and votes to its log before it answers.
    fn writes_first(&self) -> bool {
        true
    }

    /// Acceptor: returns whether its promises tell of a vote.
    fn tells(&self, _vote: &Vote) -> bool {
        true
    }

    /// Learner: returns which decree is a value that it is told to be `decree`, where it knows `log`.
    fn place(&self, decree: Decree, _value: Value, _log: &[Value]) -> Decree {
        decree
    }

    /// Replica: returns whether it crosses a decided value off its list of what clients have proposed.
    fn crosses_off(&self, _leads: bool) -> bool {
        true
    }

    /// Replica: returns whether it takes a client's request, when it has got so many before.
    fn takes_request(&self, _earlier: usize) -> bool {
        true
    }

    /// Replica: returns whether it still answers the clients that wait when another one leads.
    fn keeps_clients(&self) -> bool {
        true
    }

    /// Proposer: returns the next round, where `highest` is the highest that it has seen: the next one of its own.
    fn next_round(&self, highest: Round, number: Number, replicas: usize) -> Round {
        let (number, replicas) = (number as Round, replicas as Round);
        let next = highest / replicas * replicas + number;
        if next > highest { next } else { next + replicas }
    }

    /// Proposer: returns whether it goes on in its last round after a crash, even if another replica leads or a value is decided.
    fn resumes(&self) -> bool {
        false
    }

    /// Proposer: returns whether a promise counts in `round`.
    fn counts(&self, promise: &Promise, round: Round) -> bool {
        promise.round == round
    }

    /// Proposer: returns the value that it proposes: that of the highest round in which one was accepted for this decree, or `own`.
    fn value(&self, decree: Decree, promises: &[&Promise], own: Option<Value>) -> Option<Value> {
        let votes = promises.iter().flat_map(|promise| &promise.votes).filter(|vote| vote.decree == decree);
        votes.max_by_key(|vote| vote.round).map(|vote| vote.value).or(own)
    }

    /// Proposer: returns how many votes decide.
    fn votes(&self, replicas: usize) -> usize {
        majority(replicas)
    }

    /// Proposer: returns whether an acceptor that refuses to accept a value counts as a vote.
    fn counts_refusals(&self) -> bool {
        false
    }

    /// Failure detector: returns whether it asks who is there, and suspects who does not answer.
    fn detects(&self, _leads: bool) -> bool {
        true
    }

    /// Leader detector: returns who leads, where `leader` did, and `is_new` says whether somebody is suspected who was not.
    /// No replica suspects itself.
    fn elect(&self, _leader: Number, suspected: &BTreeSet<Number>, _is_new: bool, replicas: usize) -> Number {
        (0..replicas).find(|replica| !suspected.contains(replica)).unwrap_or(0)
    }
}

/// Replicas as they should be.
#[derive(Debug)]
pub struct Correct;

impl Behaviour for Correct {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults;

    #[test]
    fn the_next_round_is_the_first_own_one_above_all() {
        for replicas in 1..=5 {
            for number in 0..replicas {
                for highest in 0..20 {
                    let is_own = |round: &Round| round % replicas as Round == number as Round;
                    let expect = (highest + 1..).find(is_own).expect("every fifth one at least");
                    assert_eq!(Correct.next_round(highest, number, replicas), expect, "{highest} {number} {replicas}");
                }
            }
        }
    }

    #[test]
    fn with_a_fault_a_new_leader_takes_the_round_of_another_one() {
        let fault = faults::find("reuses-the-round");
        let rounds = [0, 1, 3, 4].map(|highest| fault.next_round(highest, 1, 3));
        assert_eq!(rounds, [1, 4, 3, 7]);
    }

    #[test]
    fn votes_are_a_majority_and_with_a_fault_one_less() {
        let fault = faults::find("commits-early");
        assert_eq!([1, 2, 3, 4, 5].map(|replicas| Correct.votes(replicas)), [1, 2, 2, 3, 3]);
        assert_eq!([1, 2, 3, 4, 5].map(|replicas| fault.votes(replicas)), [1, 1, 1, 2, 2]);
    }
}
