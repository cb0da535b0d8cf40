//! Paxos as a coloured Petri net: what tests of quorum functions and of the whole are generated from.
//!
//! Leaders follow each other: one that fails does so when a quorum has promised, or accepted, and the next one begins in a later
//! round. How often that happens in each phase has a bound, so the net comes to an end (Wang, Kristensen, Meling and Stolz, "Model-based
//! testing of the Gorums framework for fault-tolerant distributed systems", ToPNoC 2018, section 6; the figures are those of
//! Wang's thesis, 2021, section 3.4.2). A leader that fails leads no more; its acceptor answers as before.

use serde::{Deserialize, Serialize};
use simutant_nets::{Net, Place};
use simutant_system::{NetModel, NetSystem};

/// The number of a replica, from 0 on.
pub type Replica = u8;

/// A round, which is that of replica i modulo how many there are.
pub type Round = u8;

/// A value. Client i proposes i.
pub type Value = u8;

/// What is accepted, and in which round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Vote {
    /// The round.
    pub round: Round,
    /// The value.
    pub value: Value,
}

/// An acceptor's promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Promise {
    /// The round in which it may accept a value.
    pub round: Round,
    /// What it has accepted last.
    pub vote: Option<Vote>,
}

/// How often leaders may fail in each phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Failures {
    /// When a quorum has promised.
    pub phase_one: u8,
    /// When a quorum has accepted.
    pub phase_two: u8,
}

/// What tests are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Clients, and leaders that fail.
    System,
    /// The quorum function of promises.
    Prepare,
    /// The quorum function of votes.
    Accept,
    /// The quorum function of those that have learned.
    Commit,
}

/// What a tester does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stimulus {
    /// A client proposes its value.
    Propose {
        /// The value.
        value: Value,
    },
    /// A leader fails when a quorum has promised.
    FailInPhaseOne {
        /// The leader.
        leader: Replica,
    },
    /// A leader fails when a quorum has accepted.
    FailInPhaseTwo {
        /// The leader.
        leader: Replica,
    },
    /// A quorum function is given the promises so far.
    Promises(Vec<Promise>),
    /// A quorum function is given the votes so far.
    Votes(Vec<Vote>),
    /// A quorum function is given so many replies of those that have learned.
    Learned(usize),
}

/// What a tester observes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observation {
    /// A replica leads.
    Leads {
        /// The replica.
        replica: Replica,
    },
    /// A client is told what is decided.
    Told {
        /// The client.
        client: Value,
        /// The value.
        value: Value,
    },
    /// Enough have promised, if they have, and this is what was accepted in the highest round, if anything was.
    Promised(Option<Option<Vote>>),
    /// Enough have accepted this, if they have.
    Accepted(Option<Vote>),
    /// Whether enough have learned.
    Committed(bool),
}

/// The net as a system, whose mutants are faulty Paxos.
pub type PaxosNet = NetSystem<SingleDecree>;

/// The net of two and three replicas.
#[derive(Debug)]
pub struct SingleDecree;

impl NetModel for SingleDecree {
    const NAME: &'static str = "paxos-net";

    type Arguments = (Replica, Failures);
    type Input = Stimulus;
    type Output = Observation;

    fn arguments() -> Vec<(Replica, Failures)> {
        let failures = [(0, 0), (0, 1), (1, 0)].map(|(phase_one, phase_two)| Failures { phase_one, phase_two });
        [2, 3].into_iter().flat_map(|replicas| failures.map(|failures| (replicas, failures))).collect()
    }

    fn net((replicas, failures): &(Replica, Failures)) -> Net<Stimulus, Observation> {
        paxos(*replicas, *failures, Level::System)
    }
}

/// How far the leader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Waiting,
    Preparing,
    Prepared(Option<Vote>),
    Accepting,
    Accepted(Value),
    Committing,
    Decided(Value),
}

/// The leader, its round, and how far it is.
type Leader = (Replica, Round, Phase);

/// An acceptor: its number, the round it has promised, and what it has accepted.
type Acceptor = (Replica, Round, Option<Vote>);

/// What is sent to a replica, or by it.
type Of<T> = (Replica, T);

/// Places that the parts have in common.
#[derive(Debug, Clone, Copy)]
struct Channels {
    requests: Place<Value>,
    leader: Place<Leader>,
    acceptors: Place<Acceptor>,
    prepare: Place<Of<Round>>,
    promises: Place<Promise>,
    accept: Place<Of<Vote>>,
    votes: Place<Vote>,
    commit: Place<Of<Value>>,
    learned: Place<Of<Value>>,
    committed: Place<()>,
    told: Place<Of<Value>>,
}

/// How many clients there are.
pub const CLIENTS: Value = 2;

/// Returns the net for so many replicas and two clients.
pub fn paxos(replicas: Replica, failures: Failures, level: Level) -> Net<Stimulus, Observation> {
    let mut net = Net::with_events("paxos");
    let channels = Channels {
        requests: net.place("requests", []),
        leader: net.place("leader", [(0, 0, Phase::Waiting)]),
        acceptors: net.place("acceptors", (0..replicas).map(|replica| (replica, 0, None))),
        prepare: net.place("prepare", []),
        promises: net.place("promises", []),
        accept: net.place("accept", []),
        votes: net.place("votes", []),
        commit: net.place("commit", []),
        learned: net.place("learned", []),
        committed: net.place("committed", []),
        told: net.place("told", []),
    };
    clients(&mut net, level, channels);
    phases(&mut net, replicas, level, channels);
    failing(&mut net, replicas, failures, level, channels);
    acceptors(&mut net, channels);
    quorum_functions(&mut net, replicas, level, channels);
    properties(&mut net, replicas, channels);
    net
}

/// Adds the clients, which propose before anything else happens.
fn clients(net: &mut Net<Stimulus, Observation>, level: Level, channels: Channels) {
    let values = net.place("values", 1..=CLIENTS);
    let proposed =
        net.transition("propose a value", values.take(), |value: Value| Some(value), channels.requests.put());
    let proposed = proposed.priority(1);
    if level == Level::System {
        proposed.input(|value| Some(Stimulus::Propose { value }));
    }
    let waiting = net.place("waiting clients", 1..=CLIENTS);
    let told = net.transition(
        "tell a client",
        (waiting.take(), channels.leader.keep()),
        |client, (_, _, phase): Leader| if let Phase::Decided(value) = phase { Some((client, value)) } else { None },
        channels.told.put(),
    );
    if level == Level::System {
        told.output(|client, (_, _, phase)| match phase {
            Phase::Decided(value) => Some(Observation::Told { client, value }),
            _ => None,
        });
    }
}

/// Adds the phases of the leader.
fn phases(net: &mut Net<Stimulus, Observation>, replicas: Replica, level: Level, channels: Channels) {
    let Channels { leader, requests, .. } = channels;
    let to_all = move |round| (0..replicas).map(|replica| (replica, round)).collect::<Vec<Of<Round>>>();
    let begun = net.transition(
        "begin phase one",
        leader.take(),
        move |(replica, last, phase): Leader| {
            let round = next_round(last, replica, replicas);
            (phase == Phase::Waiting).then(|| ((replica, round, Phase::Preparing), to_all(round)))
        },
        (leader.put(), channels.prepare.put_all()),
    );
    if level == Level::System {
        begun.output(|(replica, ..): Leader| Some(Observation::Leads { replica }));
    }
    // To quorum functions one value is as good as the other.
    let is_free = level == Level::System;
    net.transition(
        "begin phase two",
        (leader.take(), requests.keep()),
        move |(replica, round, phase): Leader, proposed: Value| {
            let Phase::Prepared(vote) = phase else { return None };
            let is_possible = match vote {
                Some(vote) => vote.value == proposed,
                None => is_free || proposed == 1,
            };
            let vote = Vote { round, value: proposed };
            let asked: Vec<Of<Vote>> = (0..replicas).map(|replica| (replica, vote)).collect();
            is_possible.then_some(((replica, round, Phase::Accepting), asked))
        },
        (leader.put(), channels.accept.put_all()),
    );
    net.transition(
        "begin phase three",
        leader.take(),
        move |(replica, round, phase): Leader| {
            let Phase::Accepted(value) = phase else { return None };
            let told: Vec<Of<Value>> = (0..replicas).map(|replica| (replica, value)).collect();
            Some(((replica, round, Phase::Committing), told))
        },
        (leader.put(), channels.commit.put_all()),
    );
}

/// Adds what makes leaders fail.
fn failing(
    net: &mut Net<Stimulus, Observation>,
    replicas: Replica,
    failures: Failures,
    level: Level,
    channels: Channels,
) {
    /// Which phase a leader has come through, and what a tester does who lets it fail then.
    type Failing = (&'static str, u8, fn(Phase) -> bool, fn(Replica) -> Stimulus);
    let both: [Failing; 2] = [
        (
            "phase one",
            failures.phase_one,
            |phase| matches!(phase, Phase::Prepared(_)),
            |leader| Stimulus::FailInPhaseOne { leader },
        ),
        (
            "phase two",
            failures.phase_two,
            |phase| matches!(phase, Phase::Accepted(_)),
            |leader| Stimulus::FailInPhaseTwo { leader },
        ),
    ];
    for (phase, count, is_there, stimulus) in both.into_iter().filter(|(_, count, ..)| *count > 0) {
        let left = net.place(format!("failures in {phase}"), vec![(); count.into()]);
        let failed = net.transition(
            format!("a leader fails in {phase}"),
            (left.take(), channels.leader.take()),
            move |(), (replica, round, phase): Leader| {
                is_there(phase).then_some(((replica + 1) % replicas, round, Phase::Waiting))
            },
            channels.leader.put(),
        );
        if level == Level::System {
            failed.input(move |(), (leader, ..): Leader| Some(stimulus(leader)));
        }
    }
}

/// Adds the acceptors, which learn as well. What they refuse is answered by nothing.
fn acceptors(net: &mut Net<Stimulus, Observation>, channels: Channels) {
    let acceptors = channels.acceptors;
    net.transition(
        "handle prepare",
        (channels.prepare.take(), acceptors.take()),
        |(to, round): Of<Round>, (replica, promised, vote): Acceptor| {
            let promise = (round > promised).then_some(Promise { round, vote });
            (to == replica).then_some(((replica, promised.max(round), vote), promise.into_iter().collect()))
        },
        (acceptors.put(), channels.promises.put_all()),
    );
    net.transition(
        "handle accept",
        (channels.accept.take(), acceptors.take()),
        |(to, asked): Of<Vote>, (replica, promised, vote): Acceptor| {
            let is_accepted = asked.round >= promised;
            let after = if is_accepted { (replica, asked.round, Some(asked)) } else { (replica, promised, vote) };
            (to == replica).then_some((after, is_accepted.then_some(asked).into_iter().collect()))
        },
        (acceptors.put(), channels.votes.put_all()),
    );
    net.transition(
        "handle commit",
        channels.commit.take(),
        |(to, value): Of<Value>| Some(((to, value), ())),
        (channels.learned.put(), channels.committed.put()),
    );
}

/// Adds the quorum functions, each of which is applied after each reply.
fn quorum_functions(net: &mut Net<Stimulus, Observation>, replicas: Replica, level: Level, channels: Channels) {
    let leader = channels.leader;
    let quorum = usize::from(replicas / 2 + 1);
    // By round, in which replies came.
    let promises = net.place("promises so far", [Vec::<Promise>::new()]);
    let applied = net.transition(
        "apply the quorum function of promises",
        (channels.promises.take(), promises.take(), leader.take()),
        move |promise: Promise, list: Vec<Promise>, (replica, round, phase): Leader| {
            let list = with(&list, promise, |one, other| one.round == other.round);
            let is_asked = phase == Phase::Preparing && promise.round == round;
            let after = promised(&list, quorum).filter(|_| is_asked).map_or(phase, Phase::Prepared);
            Some((list, (replica, round, after)))
        },
        (promises.put(), leader.put()),
    );
    if level == Level::Prepare {
        let all = |promise, list: Vec<Promise>| with(&list, promise, |one, other| one.round == other.round);
        applied
            .input(move |promise, list, _| Some(Stimulus::Promises(all(promise, list))))
            .output(move |promise, list, _| Some(Observation::Promised(promised(&all(promise, list), quorum))));
    }
    let votes = net.place("votes so far", [Vec::<Vote>::new()]);
    let applied = net.transition(
        "apply the quorum function of votes",
        (channels.votes.take(), votes.take(), leader.take()),
        move |vote: Vote, list: Vec<Vote>, (replica, round, phase): Leader| {
            let list = with(&list, vote, |one, other| one.round == other.round);
            let is_asked = phase == Phase::Accepting && vote.round == round;
            let accepted = accepted(&list, quorum).filter(|_| is_asked);
            let after = accepted.map_or(phase, |vote| Phase::Accepted(vote.value));
            Some((list, (replica, round, after)))
        },
        (votes.put(), leader.put()),
    );
    if level == Level::Accept {
        let all = |vote, list: Vec<Vote>| with(&list, vote, |one, other| one.round == other.round);
        applied
            .input(move |vote, list, _| Some(Stimulus::Votes(all(vote, list))))
            .output(move |vote, list, _| Some(Observation::Accepted(accepted(&all(vote, list), quorum))));
    }
    let count = net.place("committed so far", [0_usize]);
    let applied = net.transition(
        "apply the quorum function of commits",
        (channels.committed.take(), count.take(), leader.take(), channels.learned.keep()),
        move |(), count: usize, (replica, round, phase): Leader, (_, value): Of<Value>| {
            let is_over = phase == Phase::Committing && count + 1 >= quorum;
            Some((count + 1, (replica, round, if is_over { Phase::Decided(value) } else { phase })))
        },
        (count.put(), leader.put()),
    );
    if level == Level::Commit {
        applied
            .input(|(), count, _, _| Some(Stimulus::Learned(count + 1)))
            .output(move |(), count, _, _| Some(Observation::Committed(count + 1 >= quorum)));
    }
}

/// Adds what consensus demands (Wang's thesis, 2021, section 3.2).
fn properties(net: &mut Net<Stimulus, Observation>, replicas: Replica, channels: Channels) {
    let Channels { requests, acceptors, learned, told, .. } = channels;
    net.always("a client is told what some client has proposed", move |marking| {
        marking.tokens(told).all(|((_, value), _)| marking.tokens(requests).any(|(proposed, _)| proposed == value))
    });
    net.always("clients are told one value", move |marking| {
        let mut values: Vec<Value> = marking.tokens(told).map(|((_, value), _)| *value).collect();
        values.dedup();
        values.len() <= 1
    });
    net.always("what a replica learns was accepted", move |marking| {
        let is_accepted = |value: &Value| {
            marking.tokens(acceptors).any(|((_, _, vote), _)| vote.is_some_and(|vote| vote.value == *value))
        };
        marking.tokens(learned).all(|((_, value), _)| is_accepted(value))
    });
    net.eventually("clients are told", move |marking| marking.count(told) == u64::from(CLIENTS));
    net.eventually("all replicas learn", move |marking| marking.count(learned) == u64::from(replicas));
}

/// Returns the next round after another one that is a replica's.
fn next_round(after: Round, replica: Replica, replicas: Replica) -> Round {
    let next = after / replicas * replicas + replica;
    if next > after { next } else { next + replicas }
}

/// Returns a list with one more, without those that are of another kind.
fn with<T: Copy>(list: &[T], one: T, is_same: impl Fn(&T, &T) -> bool) -> Vec<T> {
    list.iter().copied().filter(|other| is_same(&one, other)).chain([one]).collect()
}

/// The quorum function of promises: returns what was accepted in the highest round, once enough have promised.
pub fn promised(promises: &[Promise], quorum: usize) -> Option<Option<Vote>> {
    let votes = promises.iter().filter_map(|promise| promise.vote);
    (promises.len() >= quorum).then(|| votes.max_by_key(|vote| vote.round))
}

/// The quorum function of votes: returns the vote, once enough have accepted.
pub fn accepted(votes: &[Vote], quorum: usize) -> Option<Vote> {
    votes.last().copied().filter(|_| votes.len() >= quorum)
}
