//! Searches of all orders in which two leaders' requests come to three acceptors, or do not, where leaders give up, and replicas
//! crash: with the right behaviour no decree is two values and no value two decrees, and each fault that is a danger has an order
//! where that is so.

use std::collections::{BTreeSet, HashSet};

use super::acceptor::Acceptor;
use super::behaviour::{Behaviour, Correct};
use super::faults;
use super::message::{Decree, Entry, Reply, Request, Value, Vote};
use super::proposer::Proposer;

const REPLICAS: usize = 3;

/// How much may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Budget {
    /// What clients have proposed to each leader. There are as many decrees.
    proposed: [&'static [Value]; 2],
    /// How often each leader begins a round.
    rounds: [usize; 2],
    /// How often the first leader crashes, and finds another client's value when it is back.
    leader_crashes: usize,
    /// How often an acceptor crashes.
    acceptor_crashes: usize,
}

const TWO_ROUNDS: Budget = Budget { proposed: [&[7], &[8]], rounds: [1, 1], leader_crashes: 0, acceptor_crashes: 0 };
const THREE_ROUNDS: Budget = Budget { rounds: [1, 2], ..TWO_ROUNDS };
const AND_ACCEPTOR_CRASH: Budget = Budget { acceptor_crashes: 1, ..TWO_ROUNDS };
const AND_LEADER_CRASH: Budget = Budget { leader_crashes: 1, ..TWO_ROUNDS };
const TWO_DECREES: Budget = Budget { proposed: [&[7, 8], &[7, 9]], ..TWO_ROUNDS };

/// A state of the search.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    acceptors: [Acceptor; REPLICAS],
    /// What their logs say.
    logged: [Acceptor; REPLICAS],
    leaders: [Leader; 2],
    /// Requests that have not arrived: of which leader, in which of its attempts, what, and to whom.
    flying: BTreeSet<(usize, usize, Request, usize)>,
    decided: BTreeSet<(Decree, Value)>,
    budget: Budget,
}

/// Replica 0 or 1, as a leader.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Leader {
    proposer: Proposer,
    /// What its clients have proposed and is not decided.
    proposed: Vec<Value>,
    attempt: usize,
    phase: Phase,
    /// In this phase, sorted.
    replies: Vec<Reply>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Preparing,
    Accepting(Vote),
}

impl Leader {
    /// It waits for nothing.
    fn rest(&mut self) {
        (self.phase, self.replies) = (Phase::Idle, Vec::new());
    }
}

impl State {
    fn first(budget: Budget) -> Self {
        let leader = |number: usize| Leader {
            proposer: Proposer::recover(number, REPLICAS, 0),
            proposed: budget.proposed[number].to_vec(),
            attempt: 0,
            phase: Phase::Idle,
            replies: Vec::new(),
        };
        let acceptors = [const { 0 }; REPLICAS].map(|_| Acceptor::new(budget.proposed[0].len()));
        Self {
            logged: acceptors.clone(),
            acceptors,
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
        self.ask(number, Phase::Preparing, Request::Prepare(round), behaviour);
    }

    fn crash_leader(&mut self, behaviour: &dyn Behaviour) {
        self.budget.leader_crashes -= 1;
        let other = self.leaders[1].proposed.clone();
        let leader = &mut self.leaders[0];
        let round = leader.proposer.round();
        (leader.proposer, leader.proposed) = (Proposer::recover(0, REPLICAS, round), other);
        leader.attempt += 1;
        leader.phase = Phase::Idle;
        if behaviour.resumes() && round > 0 {
            self.ask_to_accept(0, behaviour);
        }
    }

    /// A leader goes on with the first decree that its replica does not know, if there is something to propose.
    fn ask_to_accept(&mut self, number: usize, behaviour: &dyn Behaviour) {
        let (leader, decree) = (&self.leaders[number], self.acceptors[number].decree());
        match leader.proposer.vote(decree, leader.proposed.first().copied(), behaviour) {
            Some(vote) => self.ask(number, Phase::Accepting(vote), Request::Accept(vote), behaviour),
            None => self.leaders[number].rest(),
        }
    }

    /// A leader begins a phase, and sends the same request to all. With several decrees its own acceptor answers at once: there
    /// would be sixteen times as many states.
    fn ask(&mut self, number: usize, phase: Phase, request: Request, behaviour: &dyn Behaviour) {
        let leader = &mut self.leaders[number];
        (leader.phase, leader.replies) = (phase, Vec::new());
        leader.attempt += 1;
        let attempt = leader.attempt;
        self.flying.extend((0..REPLICAS).map(|acceptor| (number, attempt, request, acceptor)));
        if self.budget.proposed[number].len() > 1 {
            let own = (number, attempt, request, number);
            self.flying.remove(&own);
            self.deliver(own, behaviour);
        }
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
        if let Request::Commit(_, value) = request {
            let Leader { proposed, phase, .. } = &mut self.leaders[acceptor];
            return proposed.retain(|own| *own != value || !behaviour.crosses_off(*phase != Phase::Idle));
        }
        let leader = &mut self.leaders[number];
        if leader.attempt != attempt || leader.phase == Phase::Idle {
            return;
        }
        leader.replies.extend(reply);
        leader.replies.sort_unstable();
        let ended = match leader.phase {
            Phase::Accepting(_) => leader.proposer.accepted(&leader.replies, behaviour),
            _ => leader.proposer.promised(&leader.replies, behaviour),
        };
        match (leader.phase, ended) {
            (_, None) => {}
            (Phase::Accepting(vote), Some(Ok(()))) => self.decide(number, vote, behaviour),
            (_, Some(Ok(()))) => self.ask_to_accept(number, behaviour),
            (_, Some(Err(_))) => leader.rest(),
        }
    }

    /// A leader learns what it has let decide and tells the other one, and goes on with the next decree. After the last one there
    /// is nothing to go on with.
    fn decide(&mut self, number: usize, Vote { decree, value, .. }: Vote, behaviour: &dyn Behaviour) {
        self.decided.insert((decree, value));
        let attempt = self.leaders[number].attempt;
        if decree < self.budget.proposed[number].len() {
            let commit = Request::Commit(decree, value);
            self.deliver((number, attempt, commit, number), behaviour);
            self.flying.insert((number, attempt, commit, 1 - number));
            self.ask_to_accept(number, behaviour);
        } else {
            self.leaders[number].rest();
        }
    }

    /// Returns whether a decree is two values, or a value two decrees.
    fn is_wrong(&self) -> bool {
        let (decrees, values): (BTreeSet<_>, BTreeSet<_>) = self.decided.iter().copied().unzip();
        self.decided.len() > decrees.len().min(values.len())
    }
}

/// Returns the number of states, and the first one that is wrong. The search ends there.
fn search(behaviour: &dyn Behaviour, budget: Budget) -> (usize, Option<State>) {
    let mut known = HashSet::from([State::first(budget)]);
    let mut open = vec![State::first(budget)];
    while let Some(state) = open.pop() {
        for next in state.next(behaviour).into_iter().rev() {
            if next.is_wrong() {
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
    for (budget, states) in [(TWO_ROUNDS, 6_995), (AND_LEADER_CRASH, 28_561), (TWO_DECREES, 55_423)] {
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
        ("promises-first-decree", TWO_DECREES),
        ("repeats-values", TWO_DECREES),
        ("reuses-the-round", TWO_ROUNDS),
        ("takes-own-value", TWO_ROUNDS),
    ];
    for (fault, behaviour) in faults::ALL {
        let budget = dangerous.iter().find(|(name, _)| *name == fault).map(|(_, budget)| *budget);
        let (_, found) = search(behaviour, budget.unwrap_or(TWO_ROUNDS));
        assert_eq!(found.is_some(), budget.is_some(), "{fault}: {found:?}");
    }
}
