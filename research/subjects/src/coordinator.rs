//! A coordinator of two-phase commits, with workers that the machine plays.
//!
//! The coordinator asks all workers whether they can commit, decides to commit if all vote for it, tells all of them
//! what it has decided, and completes when all have acknowledged.

use simutant_models::{Instance, Machine, MachineError, Step, Stop, transition};

/// How many workers there are.
pub const WORKERS: usize = 3;

/// What a worker answers to the question whether it can commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote {
    /// It can.
    Yes,
    /// It cannot.
    No,
}

/// What the coordinator decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// All workers commit.
    Commit,
    /// No worker does.
    Abort,
}

/// What the coordinator sends to a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// Whether the worker can commit.
    CanCommit,
    /// The decision.
    Decision(Decision),
}

/// What is wrong with a coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing.
    None,
    /// It asks all workers but the last one.
    AsksOneLess,
    /// It commits if most votes are for it.
    MajorityCommits,
    /// It tells an abort only to workers that voted against the commit; the others wait. The coordinator that
    /// R. Wang published with her thesis (2020) does so, and the thesis's tests pass.
    AbortsToNoVotersOnly,
    /// It completes with the first acknowledgement.
    CompletesEarly,
}

impl Mistake {
    /// All of them, without `None`.
    pub const ALL: [Self; 4] =
        [Self::AsksOneLess, Self::MajorityCommits, Self::AbortsToNoVotersOnly, Self::CompletesEarly];
}

/// A coordinator.
#[derive(Debug)]
pub struct Coordinator {
    mistake: Mistake,
    votes: Vec<(usize, Vote)>,
    decision: Option<Decision>,
    acknowledged: Vec<usize>,
    /// What was sent, to whom.
    sent: Vec<(usize, Message)>,
}

impl Coordinator {
    /// Returns a coordinator that has done nothing yet.
    pub fn new(mistake: Mistake) -> Self {
        let (votes, acknowledged, sent) = (Vec::new(), Vec::new(), Vec::new());
        Self { mistake, votes, decision: None, acknowledged, sent }
    }

    /// Asks the workers.
    pub fn start(&mut self) {
        let asked = if self.mistake == Mistake::AsksOneLess { WORKERS - 1 } else { WORKERS };
        self.sent.extend((0..asked).map(|worker| (worker, Message::CanCommit)));
    }

    /// Takes a worker's vote; with the last one it decides.
    pub fn deliver_vote(&mut self, worker: usize, vote: Vote) {
        self.votes.push((worker, vote));
        if self.votes.len() < WORKERS {
            return;
        }
        let yes = self.votes.iter().filter(|(_, vote)| *vote == Vote::Yes).count();
        let needed = if self.mistake == Mistake::MajorityCommits { WORKERS / 2 + 1 } else { WORKERS };
        let decision = if yes >= needed { Decision::Commit } else { Decision::Abort };
        let skips_yes = self.mistake == Mistake::AbortsToNoVotersOnly && decision == Decision::Abort;
        let told = self.votes.iter().filter(|(_, vote)| !(skips_yes && *vote == Vote::Yes));
        self.sent.extend(told.map(|&(worker, _)| (worker, Message::Decision(decision))));
        self.decision = Some(decision);
    }

    /// Takes a worker's acknowledgement.
    pub fn deliver_acknowledgement(&mut self, worker: usize) {
        if !self.acknowledged.contains(&worker) {
            self.acknowledged.push(worker);
        }
    }

    /// Returns the decision, once all workers have acknowledged it.
    pub fn completed(&self) -> Option<Decision> {
        let needed = if self.mistake == Mistake::CompletesEarly { 1 } else { WORKERS };
        self.decision.filter(|_| self.acknowledged.len() >= needed)
    }

    /// Takes what was sent since it was taken last, in the order of workers.
    pub fn take_sent(&mut self) -> Vec<(usize, Message)> {
        let mut sent = std::mem::take(&mut self.sent);
        sent.sort_by_key(|(worker, _)| *worker);
        sent
    }
}

/// A coordinator, and what is known of its workers.
#[derive(Debug)]
pub struct Commit {
    coordinator: Coordinator,
    expected: Decision,
}

/// Returns the machine, which has a single path: only votes differ.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn machine() -> Result<Machine<Commit>, MachineError> {
    let to_all = |message: Message| (0..WORKERS).map(|worker| (worker, message)).collect::<Vec<_>>();
    let start = async |commit: &mut Commit, _: &mut Step<'_>| {
        commit.coordinator.start();
        Ok(())
    };
    let asked = async move |commit: &mut Commit, step: &mut Step<'_>| {
        let is_sent = commit.coordinator.take_sent() == to_all(Message::CanCommit);
        step.assert(is_sent, "each worker is asked once")
    };
    let vote = async |commit: &mut Commit, step: &mut Step<'_>| {
        commit.expected = Decision::Commit;
        for worker in 0..WORKERS {
            let vote = if step.maybe() { Vote::Yes } else { Vote::No };
            if vote == Vote::No {
                commit.expected = Decision::Abort;
            }
            commit.coordinator.deliver_vote(worker, vote);
        }
        Ok(())
    };
    let informed = async move |commit: &mut Commit, step: &mut Step<'_>| {
        let is_sent = commit.coordinator.take_sent() == to_all(Message::Decision(commit.expected));
        step.assert(is_sent, "each worker is told the decision")
    };
    let acknowledge = async |commit: &mut Commit, step: &mut Step<'_>| {
        for worker in 0..WORKERS {
            step.assert(commit.coordinator.completed().is_none(), "it waits for all acknowledgements")?;
            commit.coordinator.deliver_acknowledgement(worker);
        }
        Ok::<(), Stop>(())
    };
    let complete = async |commit: &mut Commit, step: &mut Step<'_>| {
        step.assert(commit.coordinator.completed() == Some(commit.expected), "it completes with its decision")
    };
    Machine::new(
        "coordinator",
        ["new", "started", "asked", "voted", "informed", "acknowledged", "completed"],
        [
            transition("new -> started", start),
            transition("started -> asked", asked),
            transition("asked -> voted", vote),
            transition("voted -> informed", informed),
            transition("informed -> acknowledged", acknowledge),
            transition("acknowledged -> completed", complete),
        ],
    )
}

/// Returns an instance of the machine, with a coordinator.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn instance(mistake: Mistake) -> Result<Box<dyn Instance>, MachineError> {
    Ok(machine()?.with(Commit { coordinator: Coordinator::new(mistake), expected: Decision::Abort }))
}
