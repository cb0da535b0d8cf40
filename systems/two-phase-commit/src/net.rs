//! Two-phase commit without failures, as a coloured Petri net: what tests, and what may come of them, are generated from.
//!
//! The coordinator tells its decision to all workers, and waits until those that voted yes have acknowledged it (Wang,
//! Kristensen, Meling and Stolz, VECoS 2018, section 4).

use serde::{Deserialize, Serialize};
use simutant_nets::{Net, Place, any};
use simutant_system::{NetModel, NetSystem};

/// The number of a worker, from 1 on.
pub type Worker = u8;

/// A vote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vote {
    /// For a commit.
    Yes,
    /// Against it.
    No,
}

/// A decision of the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// All voted for it.
    Commit,
    /// Somebody voted against it.
    Abort,
}

/// What a tester does, in the place of the workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stimulus {
    /// A worker that was asked votes.
    Vote {
        /// The worker.
        worker: Worker,
        /// Its vote.
        vote: Vote,
    },
}

/// What a tester observes of a coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observation {
    /// A worker is told what is decided.
    Told {
        /// The worker.
        worker: Worker,
        /// The decision.
        decision: Decision,
    },
    /// The coordinator is done.
    Completed {
        /// Its decision.
        decision: Decision,
    },
}

/// The net as a system, whose mutants are faulty coordinators and workers.
pub type CommitNet = NetSystem<Commit>;

/// The net for one to four workers.
#[derive(Debug)]
pub struct Commit;

impl NetModel for Commit {
    const NAME: &'static str = "two-phase-commit-net";

    type Arguments = Worker;
    type Input = Stimulus;
    type Output = Observation;

    fn arguments() -> Vec<Worker> {
        (1..=4).collect()
    }

    fn net(workers: &Worker) -> Net<Stimulus, Observation> {
        two_phase_commit(*workers)
    }
}

/// A message to or from a worker.
type Of<T> = (Worker, T);

/// What the coordinator decided, and whose acknowledgements it waits for.
type Awaited = (Decision, Vec<Worker>);

/// Says whether the coordinator tells its decision to a worker that voted so.
pub type Tells = fn(Decision, Vote) -> bool;

/// Returns the net for so many workers.
pub fn two_phase_commit(workers: Worker) -> Net<Stimulus, Observation> {
    telling(workers, |_, _| true)
}

/// Returns the net for so many workers, and a coordinator that tells its decision to those of whom `tells` says so.
pub fn telling(workers: Worker, tells: Tells) -> Net<Stimulus, Observation> {
    let mut net = Net::with_events("two-phase-commit");
    let can_commit = net.place::<Worker>("can commit", []);
    let votes = net.place::<Of<Vote>>("votes", []);
    let decisions = net.place::<Of<Decision>>("decisions", []);
    let acknowledgements = net.place::<Worker>("acknowledgements", []);
    let completed = coordinator(&mut net, workers, tells, can_commit, votes, decisions, acknowledgements);
    participants(&mut net, workers, can_commit, votes, decisions, acknowledgements);
    net.eventually("the coordinator is done", move |marking| marking.count(completed) == 1);
    net
}

/// Adds the coordinator, and returns the place with what it decided.
fn coordinator(
    net: &mut Net<Stimulus, Observation>,
    workers: Worker,
    tells: Tells,
    can_commit: Place<Worker>,
    votes: Place<Of<Vote>>,
    decisions: Place<Of<Decision>>,
    acknowledgements: Place<Worker>,
) -> Place<Decision> {
    let start = net.place("start", [()]);
    let waiting_votes = net.place::<()>("waiting for votes", []);
    let collected = net.place("collected votes", [Vec::<Of<Vote>>::new()]);
    let waiting = net.place::<Awaited>("waiting for acknowledgements", []);
    let completed = net.place::<Decision>("completed", []);
    let ask = move |()| Some(((), (1..=workers).collect()));
    net.transition("send can commit", start.take(), ask, (waiting_votes.put(), can_commit.put_all()));
    net.transition(
        "collect one vote",
        (waiting_votes.keep(), votes.take(), collected.take()),
        |(), vote, list| Some(with(list, vote)),
        collected.put(),
    );
    let decide = move |(), list: Vec<Of<Vote>>| {
        (list.len() == usize::from(workers)).then(|| {
            let decision = decision(&list);
            let told = list.iter().filter(|&&(_, vote)| tells(decision, vote)).map(|&(worker, _)| (worker, decision));
            (Vec::new(), told.collect(), (decision, yes_voters(&list)))
        })
    };
    net.transition(
        "all votes collected",
        (waiting_votes.take(), collected.take()),
        decide,
        (collected.put(), decisions.put_all(), waiting.put()),
    );
    net.transition(
        "receive acknowledgements",
        (waiting.take(), acknowledgements.take_all()),
        complete,
        (completed.put(), acknowledgements.put_all()),
    )
    .output(|(decision, _): Awaited, _| Some(Observation::Completed { decision }));
    completed
}

/// Adds the workers.
fn participants(
    net: &mut Net<Stimulus, Observation>,
    workers: Worker,
    can_commit: Place<Worker>,
    votes: Place<Of<Vote>>,
    decisions: Place<Of<Decision>>,
    acknowledgements: Place<Worker>,
) {
    let idle = net.place("idle", 1..=workers);
    let waiting = net.place::<Worker>("waiting for the decision", []);
    net.transition(
        "receive can commit",
        (idle.take(), can_commit.take(), any([Vote::Yes, Vote::No])),
        |worker: Worker, asked: Worker, vote| (worker == asked).then_some(((worker, vote), worker)),
        (votes.put(), waiting.put()),
    )
    .input(|worker, _, vote| Some(Stimulus::Vote { worker, vote }));
    net.transition(
        "receive the decision",
        (waiting.take(), decisions.take()),
        |worker: Worker, (to, _): Of<Decision>| (worker == to).then_some((worker, worker)),
        (idle.put(), acknowledgements.put()),
    )
    .output(|worker, (_, decision)| Some(Observation::Told { worker, decision }));
}

/// Returns the votes with one more, in the order in which they came, the last one first.
fn with(mut list: Vec<Of<Vote>>, vote: Of<Vote>) -> Vec<Of<Vote>> {
    list.insert(0, vote);
    list
}

/// Returns what the coordinator decides.
fn decision(list: &[Of<Vote>]) -> Decision {
    let all_yes = list.iter().all(|&(_, vote)| vote == Vote::Yes);
    if all_yes { Decision::Commit } else { Decision::Abort }
}

/// Returns the workers that voted yes, in the order of their votes.
fn yes_voters(list: &[Of<Vote>]) -> Vec<Worker> {
    list.iter().filter(|&&(_, vote)| vote == Vote::Yes).map(|&(worker, _)| worker).collect()
}

/// Returns the decision, and the acknowledgements that nobody waits for, once those that are awaited are there.
fn complete((decision, awaited): Awaited, arrived: Vec<Worker>) -> Option<(Decision, Vec<Worker>)> {
    let others = arrived.iter().copied().filter(|worker| !awaited.contains(worker)).collect();
    awaited.iter().all(|worker| arrived.contains(worker)).then_some((decision, others))
}
