//! Mistakes that people make with Paxos. `--fault NAME` makes a replica behave so.
//!
//! Each passes where one client proposes a value and all replicas are there. Wang, Kristensen, Meling and Stolz found six
//! errors in their implementation (*Automated Test Case Generation for the Paxos Single-Decree Protocol Using a Coloured Petri
//! Net Model*, JLAMP 104, 2019). They say in a line each what went wrong: the code here is one way to get there.

use std::collections::BTreeSet;

use simutant_programs::quorum::majority;

use super::behaviour::{Behaviour, Correct};
use super::message::{Decree, Number, Promise, Round, Value, Vote};

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 15] = [
    ("accepts-again", &AcceptsAgain),
    ("answers-nobody", &AnswersNobody),
    ("commits-early", &CommitsEarly),
    ("counts-refusals", &CountsRefusals),
    ("detects-as-leader-only", &DetectsAsLeaderOnly),
    ("elects-another-leader", &ElectsAnotherLeader),
    ("forgets-promises", &ForgetsPromises),
    ("leads-after-failing", &LeadsAfterFailing),
    ("learns-with-gaps", &LearnsWithGaps),
    ("mixes-promises", &MixesPromises),
    ("one-request", &OneRequest),
    ("promises-first-decree", &PromisesFirstDecree),
    ("repeats-values", &RepeatsValues),
    ("reuses-the-round", &ReusesTheRound),
    ("takes-own-value", &TakesOwnValue),
];

/// Returns the fault of a name.
#[cfg(test)]
pub(crate) fn find(name: &str) -> &'static dyn Behaviour {
    ALL.iter().find(|(known, _)| *known == name).expect("there is such a fault").1
}

/// An acceptor accepts in rounds below its promise.
///
/// Who asks to accept a value has its promises, so rounds are compared in promises alone. (`>=` instead of `>` is no mistake
/// here: only the leader of a round asks twice in it.) Shows when a leader's request comes late, after the next one has got
/// its promises: acceptors take the older value, and this leader, or one that asks them what they have accepted, decides on it.
#[derive(Debug)]
struct AcceptsAgain;

impl Behaviour for AcceptsAgain {
    fn accepts(&self, _round: Round, _promised: Round) -> bool {
        true
    }
}

/// A replica forgets the clients that wait when another one leads.
///
/// The new leader has their requests, too, and is to answer. But clients wait for a majority. Shows when the leader changes
/// between a proposal and the decision, at so many replicas that the others are no majority. Seen in: clients that get no
/// answers, one of those six.
#[derive(Debug)]
struct AnswersNobody;

impl Behaviour for AnswersNobody {
    fn keeps_clients(&self) -> bool {
        false
    }
}

/// A leader commits a value with one vote less than a majority.
///
/// `replicas / 2` looks like a majority. Shows when the leader crashes or is cut off after its commit, and the next one meets
/// a majority in which nobody has voted: it decides on another value. One replica alone needs its vote.
#[derive(Debug)]
struct CommitsEarly;

impl Behaviour for CommitsEarly {
    fn votes(&self, replicas: usize) -> usize {
        (majority(replicas) - 1).max(1)
    }
}

/// A refusal to accept a value counts as a vote.
///
/// The leader counts answers, and has not looked what they say. Shows when two lead at a time: the one with the lower round is
/// refused, and commits its value nevertheless.
#[derive(Debug)]
struct CountsRefusals;

impl Behaviour for CountsRefusals {
    fn counts_refusals(&self) -> bool {
        true
    }
}

/// Only the leader's failure detector runs.
///
/// It is started where a replica begins to lead. The others never suspect anybody, so nobody takes over while the leader is
/// away; nor do they ask for what they have missed. Shows when a replica crashes or is cut off at the commit, and never learns
/// what is decided. Seen in: one of those six.
#[derive(Debug)]
struct DetectsAsLeaderOnly;

impl Behaviour for DetectsAsLeaderOnly {
    fn detects(&self, leads: bool) -> bool {
        leads
    }
}

/// The leader is the next one whenever somebody is suspected, and not the leader alone.
///
/// The detector of failures says that something has happened, and not to whom. Shows when a replica which does not lead
/// crashes or is slow: the others then take each other for the leader, and nobody leads. Seen in: a wrong leader, one of those six.
#[derive(Debug)]
struct ElectsAnotherLeader;

impl Behaviour for ElectsAnotherLeader {
    fn elect(&self, leader: Number, _suspected: &BTreeSet<Number>, is_new: bool, replicas: usize) -> Number {
        if is_new { (leader + 1) % replicas } else { leader }
    }
}

/// An acceptor answers before it has written promises and votes to its log.
///
/// A write for each line is slow, so they are written with the next line that seems to matter: a decision, or a round of its
/// proposer. Shows when acceptors crash between their votes and the decision: they come back as if they had never voted, and
/// the next leader proposes another value.
#[derive(Debug)]
struct ForgetsPromises;

impl Behaviour for ForgetsPromises {
    fn writes_first(&self) -> bool {
        false
    }
}

/// A leader that crashed goes on when it is back, even if another replica leads or a value is decided.
///
/// It finds its round in its log, has been promised it, and asks to accept the value that comes first now. Shows when a client
/// proposes another value after that crash, and nobody has promised a later round: the same round accepts both. Seen in: a
/// failed leader that runs the phases again, one of those six.
#[derive(Debug)]
struct LeadsAfterFailing;

impl Behaviour for LeadsAfterFailing {
    fn resumes(&self) -> bool {
        true
    }
}

/// A replica takes what it is told as the next decree, whatever number it has.
///
/// A leader begins a decree when it knows the one before, so decrees seem to come in their order. Shows when a replica is away
/// at a commit and there at the next one: its log lacks a value.
#[derive(Debug)]
struct LearnsWithGaps;

impl Behaviour for LearnsWithGaps {
    fn place(&self, _decree: Decree, value: Value, log: &[Value]) -> Decree {
        log.iter().position(|known| *known == value).unwrap_or(log.len()) + 1
    }
}

/// Promises of earlier rounds count, too.
///
/// The leader does not clear its list when it begins a round. Shows when a leader begins again after others have led: who has
/// promised the earlier round may have accepted something since, which the new promises do not tell.
#[derive(Debug)]
struct MixesPromises;

impl Behaviour for MixesPromises {
    fn counts(&self, _promise: &Promise, _round: Round) -> bool {
        true
    }
}

/// A replica takes one request of one client, and no more until it is started again.
///
/// There is one decision, so there is room for one request. Shows when a second client proposes, or when a connection breaks
/// and the client sends its request again: it is never answered. Seen in: one of those six.
#[derive(Debug)]
struct OneRequest;

impl Behaviour for OneRequest {
    fn takes_request(&self, earlier: usize) -> bool {
        earlier == 0
    }
}

/// An acceptor's promise tells of its vote for the first decree only.
///
/// It has room for one vote, as it had when there was one decree. Shows when the leader fails with votes for a later decree, and
/// the next one does not know of its decision: it lets another value be accepted.
#[derive(Debug)]
struct PromisesFirstDecree;

impl Behaviour for PromisesFirstDecree {
    fn tells(&self, vote: &Vote) -> bool {
        vote.decree == 1
    }
}

/// A replica crosses decided values off its list only while it leads.
///
/// The list is for leaders, so others add to it and do nothing else. Shows when a leader fails after a decision, and the next
/// one begins with the first value of its list: that is decided twice.
#[derive(Debug)]
struct RepeatsValues;

impl Behaviour for RepeatsValues {
    fn crosses_off(&self, leads: bool) -> bool {
        leads
    }
}

/// A new leader takes the round of the one that failed.
///
/// It goes on with the highest round that it has seen, which is not its own. Acceptors take it for the leader that asks again.
/// Shows when the other one is there after all: in the same round each lets a majority accept its value. Seen in: a wrong
/// round of a new leader, one of those six.
#[derive(Debug)]
struct ReusesTheRound;

impl Behaviour for ReusesTheRound {
    fn next_round(&self, highest: Round, number: Number, replicas: usize) -> Round {
        let is_own = highest % replicas as Round == number as Round;
        if highest == 0 || is_own { Correct.next_round(highest, number, replicas) } else { highest }
    }
}

/// A leader proposes its client's value, whatever was accepted.
///
/// The votes in the promises are read and not used. Shows when a leader takes over after the last one has had a value accepted
/// by a majority: it has another one accepted.
#[derive(Debug)]
struct TakesOwnValue;

impl Behaviour for TakesOwnValue {
    fn value(&self, _decree: Decree, _promises: &[&Promise], own: Option<Value>) -> Option<Value> {
        own
    }
}
