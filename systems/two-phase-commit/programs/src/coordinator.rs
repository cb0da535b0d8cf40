//! The coordinator's side of the protocol, free of sockets and clocks.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use simutant_programs::{Unreadable, end, word};

use super::behaviour::Behaviour;
use super::message::{Decision, ToWorker, Vote};

/// The transactions of a coordinator. Workers have numbers from 0 on here.
#[derive(Debug)]
pub(crate) struct Coordinator {
    workers: usize,
    behaviour: &'static dyn Behaviour,
    transactions: BTreeMap<u64, Transaction>,
    /// How many transactions are not completed.
    open: usize,
    /// How many acknowledgements are missing of workers that are told.
    unacknowledged: usize,
    effects: Vec<Effect>,
}

/// What a coordinator wants to be done. Effects happen in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// A record is written to the log.
    Write(Record),
    /// A worker is sent something, if it is there. Else it is told when it is.
    Send(usize, ToWorker),
    /// A transaction is completed.
    Completed(u64, Decision),
}

/// A line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Record {
    /// Votes on a transaction are asked for.
    Begun(u64),
    /// A transaction is decided.
    Decided(u64, Decision),
}

#[derive(Debug)]
struct Transaction {
    votes: Vec<Option<Vote>>,
    decision: Option<Decision>,
    acknowledged: Vec<bool>,
    /// Whether the decision is in the log.
    is_written: bool,
    is_completed: bool,
}

impl Display for Record {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Begun(transaction) => write!(formatter, "begun {transaction}"),
            Self::Decided(transaction, decision) => write!(formatter, "decided {transaction} {decision}"),
        }
    }
}

impl FromStr for Record {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let mut words = line.split(' ');
        let record = match words.next() {
            Some("begun") => Self::Begun(word(&mut words)?),
            Some("decided") => Self::Decided(word(&mut words)?, word(&mut words)?),
            _ => return Err(Unreadable),
        };
        end(words, record)
    }
}

impl Coordinator {
    /// Returns the coordinator of so many workers whose log has these records. It aborts what was begun and not
    /// decided.
    pub(crate) fn recover(
        workers: usize,
        records: impl IntoIterator<Item = Record>,
        behaviour: &'static dyn Behaviour,
    ) -> Self {
        let transactions = BTreeMap::new();
        let mut coordinator =
            Self { workers, behaviour, transactions, open: 0, unacknowledged: 0, effects: Vec::new() };
        for record in records {
            match record {
                Record::Begun(number) => coordinator.add(number),
                Record::Decided(number, decision) => {
                    let transaction = coordinator.transaction(number);
                    (transaction.decision, transaction.is_written) = (Some(decision), true);
                    coordinator.await_acknowledgements(number, decision);
                }
            }
        }
        let undecided = coordinator.transactions.iter().filter(|(_, transaction)| transaction.decision.is_none());
        for number in undecided.map(|(&number, _)| number).collect::<Vec<_>>() {
            coordinator.decide(number, Decision::Abort);
        }
        coordinator
    }

    /// Begins a transaction. One that is known is not begun again; if it is completed, that is said again.
    pub(crate) fn begin(&mut self, number: u64) {
        if let Some(known) = self.transactions.get(&number) {
            let decision = known.decision.filter(|_| known.is_completed);
            self.effects.extend(decision.map(|decision| Effect::Completed(number, decision)));
            return;
        }
        self.add(number);
        self.effects.push(Effect::Write(Record::Begun(number)));
        self.effects.extend((0..self.workers).map(|worker| Effect::Send(worker, ToWorker::CanCommit(number))));
    }

    /// Notes that a worker has connected: it is asked and told what it may have missed.
    pub(crate) fn connect(&mut self, worker: usize) {
        for (&number, transaction) in &self.transactions {
            let message = match transaction.decision {
                None if transaction.votes[worker].is_none() => ToWorker::CanCommit(number),
                Some(decision) if self.is_awaited(transaction, decision, worker) => {
                    ToWorker::Decision(number, decision)
                }
                _ => continue,
            };
            self.effects.push(Effect::Send(worker, message));
        }
    }

    /// Notes a vote. One that comes after the decision changes nothing, nor does a second one.
    pub(crate) fn vote(&mut self, worker: usize, number: u64, vote: Vote) {
        let Some(transaction) = self.transactions.get_mut(&number) else { return };
        if transaction.decision.is_some() || transaction.votes[worker].is_some() {
            return;
        }
        transaction.votes[worker] = Some(vote);
        if transaction.votes.iter().all(Option::is_some) {
            let decision = self.behaviour.decides(&transaction.votes);
            self.decide(number, decision);
        }
    }

    /// Decides a transaction on the votes that there are, if it is not decided.
    pub(crate) fn time_out(&mut self, number: u64) {
        let transaction = self.transaction(number);
        if transaction.decision.is_none() {
            let decision = self.behaviour.decides(&self.transaction(number).votes);
            self.decide(number, decision);
        }
    }

    /// Notes that a worker has carried out the decision on a transaction.
    pub(crate) fn acknowledge(&mut self, worker: usize, number: u64) {
        let Some(transaction) = self.transactions.get(&number) else { return };
        let Some(decision) = transaction.decision else { return };
        if transaction.acknowledged[worker] {
            return;
        }
        if self.is_awaited(transaction, decision, worker) {
            self.unacknowledged -= 1;
        }
        self.transaction(number).acknowledged[worker] = true;
        self.complete(number, decision);
    }

    /// Returns what is to be done since the last call.
    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    /// Returns the number of transactions, begun before a crash or after it.
    pub(crate) fn begun(&self) -> u64 {
        self.transactions.len() as u64
    }

    /// Returns whether all transactions are completed.
    pub(crate) fn is_idle(&self) -> bool {
        self.open == 0
    }

    /// Returns whether all transactions are completed, and all workers that are told have acknowledged.
    pub(crate) fn is_over(&self) -> bool {
        self.is_idle() && self.unacknowledged == 0
    }

    fn add(&mut self, number: u64) {
        let (votes, acknowledged) = (vec![None; self.workers], vec![false; self.workers]);
        let (is_written, is_completed) = (false, false);
        let transaction = Transaction { votes, decision: None, acknowledged, is_written, is_completed };
        self.transactions.insert(number, transaction);
        self.open += 1;
    }

    fn transaction(&mut self, number: u64) -> &mut Transaction {
        self.transactions.get_mut(&number).expect("it was begun")
    }

    fn decide(&mut self, number: u64, decision: Decision) {
        let is_written = self.behaviour.writes_before_telling();
        if is_written {
            self.effects.push(Effect::Write(Record::Decided(number, decision)));
        }
        let transaction = self.transaction(number);
        (transaction.decision, transaction.is_written) = (Some(decision), is_written);
        let told = self.await_acknowledgements(number, decision);
        self.effects.extend(told.into_iter().map(|worker| Effect::Send(worker, ToWorker::Decision(number, decision))));
        self.complete(number, decision);
    }

    /// Returns the workers that are to be told of a decision, and counts them in.
    fn await_acknowledgements(&mut self, number: u64, decision: Decision) -> Vec<usize> {
        let transaction = &self.transactions[&number];
        let awaited = (0..self.workers).filter(|&worker| self.is_awaited(transaction, decision, worker));
        let awaited: Vec<usize> = awaited.collect();
        self.unacknowledged += awaited.len();
        awaited
    }

    /// Returns whether a worker is told of a decision, and has not acknowledged it.
    fn is_awaited(&self, transaction: &Transaction, decision: Decision, worker: usize) -> bool {
        !transaction.acknowledged[worker] && self.behaviour.tells(decision, transaction.votes[worker])
    }

    /// Completes a transaction if all have acknowledged its decision but those that voted no. Who was silent may have
    /// voted yes.
    fn complete(&mut self, number: u64, decision: Decision) {
        let transaction = self.transaction(number);
        let mut workers = transaction.votes.iter().zip(&transaction.acknowledged);
        if transaction.is_completed || workers.any(|(vote, acknowledged)| !acknowledged && *vote != Some(Vote::No)) {
            return;
        }
        transaction.is_completed = true;
        let is_written = std::mem::replace(&mut transaction.is_written, true);
        self.open -= 1;
        if !is_written {
            self.effects.push(Effect::Write(Record::Decided(number, decision)));
        }
        self.effects.push(Effect::Completed(number, decision));
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::super::faults;
    use super::*;

    /// Returns a coordinator that has begun transaction 0.
    fn begun(workers: usize, behaviour: &'static dyn Behaviour) -> Coordinator {
        let mut coordinator = Coordinator::recover(workers, [], behaviour);
        coordinator.begin(0);
        let asked = (0..workers).map(|worker| Effect::Send(worker, ToWorker::CanCommit(0)));
        let expected: Vec<Effect> = [Effect::Write(Record::Begun(0))].into_iter().chain(asked).collect();
        assert_eq!(coordinator.effects(), expected);
        coordinator
    }

    fn fault(name: &str) -> &'static dyn Behaviour {
        faults::ALL.iter().find(|(known, _)| *known == name).expect("there is such a fault").1
    }

    /// Returns the effects of a decision that so many workers are told.
    fn decided(decision: Decision, workers: usize) -> Vec<Effect> {
        let told = (0..workers).map(|worker| Effect::Send(worker, ToWorker::Decision(0, decision)));
        [Effect::Write(Record::Decided(0, decision))].into_iter().chain(told).collect()
    }

    #[test]
    fn what_all_voted_for_is_committed_and_completed_when_all_have_acknowledged() {
        let mut coordinator = begun(2, &Correct);
        coordinator.vote(1, 0, Vote::Yes);
        coordinator.vote(1, 0, Vote::Yes);
        assert_eq!(coordinator.effects(), []);
        coordinator.vote(0, 0, Vote::Yes);
        assert_eq!(coordinator.effects(), decided(Decision::Commit, 2));
        coordinator.acknowledge(0, 0);
        coordinator.acknowledge(0, 0);
        assert!(!coordinator.is_idle());
        coordinator.acknowledge(1, 0);
        assert_eq!(coordinator.effects(), [Effect::Completed(0, Decision::Commit)]);
        assert!(coordinator.is_over());
    }

    #[test]
    fn all_are_told_of_an_abort_and_those_that_voted_no_are_not_waited_for() {
        let mut coordinator = begun(2, &Correct);
        coordinator.vote(0, 0, Vote::Yes);
        coordinator.vote(1, 0, Vote::No);
        assert_eq!(coordinator.effects(), decided(Decision::Abort, 2));
        coordinator.acknowledge(0, 0);
        assert_eq!(coordinator.effects(), [Effect::Completed(0, Decision::Abort)]);
        assert!(coordinator.is_idle() && !coordinator.is_over());
        coordinator.acknowledge(1, 0);
        assert!(coordinator.is_over());
    }

    #[test]
    fn a_transaction_that_nobody_voted_for_is_completed_at_once() {
        let mut coordinator = begun(1, &Correct);
        coordinator.vote(0, 0, Vote::No);
        let completed = [Effect::Completed(0, Decision::Abort)];
        assert_eq!(coordinator.effects(), [&decided(Decision::Abort, 1)[..], &completed].concat());
    }

    #[test]
    fn silence_is_a_no_and_a_late_vote_changes_nothing() {
        let mut coordinator = begun(2, &Correct);
        coordinator.vote(0, 0, Vote::Yes);
        coordinator.time_out(0);
        assert_eq!(coordinator.effects(), decided(Decision::Abort, 2));
        coordinator.vote(1, 0, Vote::No);
        coordinator.time_out(0);
        coordinator.acknowledge(0, 0);
        assert_eq!(coordinator.effects(), [], "the silent one may have voted yes");
        coordinator.acknowledge(1, 0);
        assert_eq!(coordinator.effects(), [Effect::Completed(0, Decision::Abort)]);
    }

    #[test]
    fn who_connects_again_is_asked_and_told_what_it_has_missed() {
        let mut coordinator = begun(2, &Correct);
        coordinator.connect(1);
        assert_eq!(coordinator.effects(), [Effect::Send(1, ToWorker::CanCommit(0))]);
        coordinator.vote(1, 0, Vote::Yes);
        coordinator.connect(1);
        assert_eq!(coordinator.effects(), []);
        coordinator.vote(0, 0, Vote::Yes);
        coordinator.effects();
        coordinator.connect(1);
        assert_eq!(coordinator.effects(), [Effect::Send(1, ToWorker::Decision(0, Decision::Commit))]);
        coordinator.acknowledge(1, 0);
        coordinator.connect(1);
        assert_eq!(coordinator.effects(), []);
    }

    #[test]
    fn after_a_crash_what_was_begun_is_aborted_and_what_was_decided_is_told_again() {
        let lines = ["begun 0", "decided 0 commit", "begun 1"];
        let records = lines.map(|line| line.parse().expect("a record"));
        let mut coordinator = Coordinator::recover(1, records, &Correct);
        assert_eq!((coordinator.begun(), coordinator.is_idle()), (2, false));
        let aborted = [
            Effect::Write(Record::Decided(1, Decision::Abort)),
            Effect::Send(0, ToWorker::Decision(1, Decision::Abort)),
        ];
        assert_eq!(coordinator.effects(), aborted);
        coordinator.connect(0);
        let told = [(0, Decision::Commit), (1, Decision::Abort)];
        assert_eq!(
            coordinator.effects(),
            told.map(|(number, decision)| Effect::Send(0, ToWorker::Decision(number, decision)))
        );
        coordinator.acknowledge(0, 1);
        coordinator.acknowledge(0, 0);
        assert!(coordinator.is_over());
        coordinator.effects();
        coordinator.begin(1);
        assert_eq!(coordinator.effects(), [Effect::Completed(1, Decision::Abort)], "it is known");
    }

    #[test]
    fn a_worker_that_nobody_is_waiting_for_is_ignored() {
        let mut coordinator = begun(1, &Correct);
        coordinator.vote(0, 7, Vote::Yes);
        coordinator.acknowledge(0, 7);
        coordinator.acknowledge(0, 0);
        assert_eq!(coordinator.effects(), []);
    }

    #[test]
    fn faults_decide_and_tell_otherwise() {
        let mixed = |name: &str, workers: usize| {
            let mut coordinator = begun(workers, fault(name));
            (0..workers).for_each(|worker| coordinator.vote(worker, 0, if worker == 0 { Vote::No } else { Vote::Yes }));
            coordinator.effects()
        };
        assert_eq!(mixed("decides-by-majority", 3), decided(Decision::Commit, 3));
        assert_eq!(mixed("decides-by-majority", 2), decided(Decision::Abort, 2));
        assert_eq!(mixed("tells-no-voters-only", 3), decided(Decision::Abort, 1));
        assert_eq!(mixed("forgets-decisions", 3), decided(Decision::Abort, 3)[1..]);

        let mut coordinator = begun(1, fault("silence-is-yes"));
        coordinator.time_out(0);
        assert_eq!(coordinator.effects(), decided(Decision::Commit, 1));

        let mut coordinator = begun(1, fault("forgets-decisions"));
        coordinator.vote(0, 0, Vote::Yes);
        coordinator.acknowledge(0, 0);
        let late = [Effect::Write(Record::Decided(0, Decision::Commit)), Effect::Completed(0, Decision::Commit)];
        assert_eq!(coordinator.effects()[1..], late);
    }
}
