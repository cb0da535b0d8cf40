//! Searches of all orders in which two leaders' requests come to three acceptors, or do not, where leaders give up, and replicas
//! crash: with the right behaviour no two values are decided, and each fault that is a danger has an order where two are.

use std::collections::{BTreeSet, HashSet};

use super::acceptor::Acceptor;
use super::behaviour::{Behaviour, Correct};
use super::faults;
use super::message::{Entry, Reply, Request, Value, Vote};
use super::proposer::Proposer;

const REPLICAS: usize = 3;

/// How much may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Budget {
    /// How often each leader begins a round.
    rounds: [usize; 2],
    /// How often the first leader crashes, and finds another client's value when it is back.
    leader_crashes: usize,
    /// How often an acceptor crashes.
    acceptor_crashes: usize,
}

const TWO_ROUNDS: Budget = Budget { rounds: [1, 1], leader_crashes: 0, acceptor_crashes: 0 };
const THREE_ROUNDS: Budget = Budget { rounds: [1, 2], ..TWO_ROUNDS };
const AND_ACCEPTOR_CRASH: Budget = Budget { acceptor_crashes: 1, ..TWO_ROUNDS };
const AND_LEADER_CRASH: Budget = Budget { leader_crashes: 1, ..TWO_ROUNDS };

/// A state of the search.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    acceptors: [Acceptor; REPLICAS],
    /// What their logs say.
    logged: [Acceptor; REPLICAS],
    leaders: [Leader; 2],
    /// Requests that have not arrived: of which leader, in which of its attempts, what, and to whom.
    flying: BTreeSet<(usize, usize, Request, usize)>,
    decided: BTreeSet<Value>,
    budget: Budget,
}

/// Replica 0 or 1, as a leader.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Leader {
    proposer: Proposer,
    /// What its client has proposed.
    own: Value,
    attempt: usize,
    phase: Phase,
    /// In this phase, sorted.
    replies: Vec<Reply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Preparing,
    Accepting(Value),
}

impl State {
    fn first(budget: Budget) -> Self {
        let leader = |number: usize| Leader {
            proposer: Proposer::recover(number, REPLICAS, 0),
            own: 7 + number as Value,
            attempt: 0,
            phase: Phase::Idle,
            replies: Vec::new(),
        };
        Self {
            acceptors: Default::default(),
            logged: Default::default(),
            leaders: [leader(0), leader(1)],
            flying: BTreeSet::new(),
            decided: BTreeSet::new(),
            budget,
        }
    }

    /// Returns all states that may come next.
    fn next(&self, behaviour: &dyn Behaviour) -> Vec<Self> {
        let mut states = Vec::new();
        let mut add = |change: &dyn Fn(&mut Self)| {
            let mut state = self.clone();
            change(&mut state);
            states.push(state);
        };
        for leader in (0..self.leaders.len()).filter(|leader| self.budget.rounds[*leader] > 0) {
            add(&|state| state.begin(leader, behaviour));
        }
        if self.budget.leader_crashes > 0 {
            add(&|state| state.crash_leader(behaviour));
        }
        if self.budget.acceptor_crashes > 0 {
            for acceptor in 0..REPLICAS {
                add(&|state| {
                    state.budget.acceptor_crashes -= 1;
                    state.acceptors[acceptor] = state.logged[acceptor].clone();
                });
            }
        }
        for flying in &self.flying {
            add(&|state| {
                state.flying.remove(flying);
                state.deliver(*flying, behaviour);
            });
        }
        states
    }

    /// A leader takes a round, whatever it was doing: nobody has answered in time.
    fn begin(&mut self, number: usize, behaviour: &dyn Behaviour) {
        self.budget.rounds[number] -= 1;
        let promised = self.acceptors[number].promised();
        let round = self.leaders[number].proposer.begin(promised, behaviour);
        // Its acceptor has the same log.
        self.logged[number] = self.acceptors[number].clone();
        self.ask(number, Phase::Preparing, Request::Prepare(round));
    }

    fn crash_leader(&mut self, behaviour: &dyn Behaviour) {
        self.budget.leader_crashes -= 1;
        let other = self.leaders[1].own;
        let leader = &mut self.leaders[0];
        let round = leader.proposer.round();
        (leader.proposer, leader.own) = (Proposer::recover(0, REPLICAS, round), other);
        leader.attempt += 1;
        leader.phase = Phase::Idle;
        if behaviour.resumes() && round > 0 {
            self.ask(0, Phase::Accepting(other), Request::Accept(Vote { round, value: other }));
        }
    }

    /// A leader begins a phase, and sends the same request to all.
    fn ask(&mut self, number: usize, phase: Phase, request: Request) {
        let leader = &mut self.leaders[number];
        (leader.phase, leader.replies) = (phase, Vec::new());
        leader.attempt += 1;
        self.flying.extend((0..REPLICAS).map(|acceptor| (number, leader.attempt, request, acceptor)));
    }

    /// An acceptor answers, and the leader gets the answer, unless it does not wait for it any more.
    fn deliver(
        &mut self,
        (number, attempt, request, acceptor): (usize, usize, Request, usize),
        behaviour: &dyn Behaviour,
    ) {
        let (entry, reply) = self.acceptors[acceptor].answer(request, behaviour);
        if behaviour.writes_first() {
            entry.into_iter().for_each(|entry: Entry| self.logged[acceptor].apply(entry));
        }
        let leader = &mut self.leaders[number];
        if leader.attempt != attempt || leader.phase == Phase::Idle {
            return;
        }
        leader.replies.extend(reply);
        leader.replies.sort_unstable();
        let ended = match leader.phase {
            Phase::Accepting(value) => {
                leader.proposer.accepted(&leader.replies, behaviour).map(|ended| ended.map(|()| value))
            }
            _ => leader.proposer.promised(&leader.replies, leader.own, behaviour),
        };
        match (leader.phase, ended) {
            (_, None) => return,
            (Phase::Preparing, Some(Ok(value))) => {
                let vote = Vote { round: leader.proposer.round(), value };
                return self.ask(number, Phase::Accepting(value), Request::Accept(vote));
            }
            (_, Some(Ok(value))) => _ = self.decided.insert(value),
            (_, Some(Err(_))) => {}
        }
        (leader.phase, leader.replies) = (Phase::Idle, Vec::new());
    }
}

/// Returns the number of states, and the first one where two values are decided. The search ends there.
fn search(behaviour: &dyn Behaviour, budget: Budget) -> (usize, Option<State>) {
    let mut known = HashSet::from([State::first(budget)]);
    let mut open = vec![State::first(budget)];
    while let Some(state) = open.pop() {
        for next in state.next(behaviour).into_iter().rev() {
            if next.decided.len() > 1 {
                return (known.len(), Some(next));
            }
            if known.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    (known.len(), None)
}

#[test]
fn no_two_values_are_decided_in_any_order() {
    for (budget, states) in [(TWO_ROUNDS, 6_995), (AND_LEADER_CRASH, 28_561)] {
        assert_eq!(search(&Correct, budget), (states, None), "{budget:?}");
    }
}

#[test]
fn a_dangerous_fault_decides_two_values_in_some_order() {
    let dangerous = [
        ("accepts-again", TWO_ROUNDS),
        ("commits-early", TWO_ROUNDS),
        ("counts-refusals", TWO_ROUNDS),
        ("forgets-promises", AND_ACCEPTOR_CRASH),
        ("leads-after-failing", AND_LEADER_CRASH),
        ("mixes-promises", THREE_ROUNDS),
        ("reuses-the-round", TWO_ROUNDS),
        ("takes-own-value", TWO_ROUNDS),
    ];
    for (fault, behaviour) in faults::ALL {
        let budget = dangerous.iter().find(|(name, _)| *name == fault).map(|(_, budget)| *budget);
        let (_, found) = search(behaviour, budget.unwrap_or(TWO_ROUNDS));
        assert_eq!(found.is_some(), budget.is_some(), "{fault}: {found:?}");
    }
}
