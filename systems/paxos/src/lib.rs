//! Paxos of one decree or several, on a network that delays, reorders, loses and parts, with crashes of replicas.
//!
//! The protocol is in [`protocol`]: that file and its parts are the specification. The rest is here: what a test case is, how
//! replicas, clients, network and faults are put together, the oracle, and two criteria.
//!
//! A run passes if all clients are told what is decided, all replicas learn it, and what they were told and have learned is
//! [consensus]. Whoever crashes is there again, and partitions heal, so a decision comes in the end.

pub mod consensus;
pub mod net;
pub mod protocol;
#[cfg(feature = "testbed")]
#[expect(clippy::disallowed_methods, reason = "real programs take real time")]
pub mod testbed;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_oracle::{Budget, Check, End, History, Session};
use simutant_quorum_calls::majority;
use simutant_sim_core::{
    CheckFailure, Faults, Latency, Link, Network, Probability, Random, Simulation, VirtualDuration,
};
use simutant_system::{
    BlackBoxCriterion, Domain, InvalidTestCase, Lengths, Observer, Outage, Outages, Probabilities, Separation,
    Separations, System, checked,
};

use self::consensus::{Consensus, Operation};
use self::protocol::{Decision, Decree, PORT, PaxosMessage, Value};

/// How many replicas there are.
const REPLICAS: RangeInclusive<usize> = 1..=5;

/// How many clients there are.
const CLIENTS: Lengths = Lengths(1..=3);

/// When a client proposes.
const AT_MS: RangeInclusive<u64> = 0..=600;

/// How long packets are on their way at least.
const LATENCY_MS: RangeInclusive<u64> = 1..=30;

/// How much longer they may be on their way, so that later ones overtake them.
const JITTER_MS: RangeInclusive<u64> = 0..=60;

/// How likely a packet is lost, if any is.
const DROP: Probabilities = Probabilities::up_to(0.3);

/// How many crashes there are.
const CRASHES: RangeInclusive<usize> = 0..=3;

/// How many partitions there are.
const PARTITIONS: RangeInclusive<usize> = 0..=2;

/// How long a crash or a partition lasts.
const FAULT_FOR_MS: RangeInclusive<u64> = 20..=2_000;

/// How many steps of the specification the check of a history takes at most.
const CHECK_STEPS: u64 = 1 << 20;

/// The session of replica 0; those of clients begin at 1.
const LEARNERS: u64 = 100;

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct Paxos;

/// A test case: all that a run depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// How many replicas there are: from 1 to 5.
    pub replicas: usize,
    /// When each client proposes its value: from 1 to 3 clients, from 0 to 600 ms. Client i proposes i.
    pub clients_at_ms: Vec<u64>,
    /// How long a packet is on its way at least: from 1 to 30 ms.
    pub latency_ms: u64,
    /// How much longer it may be on its way: at most 60 ms.
    pub jitter_ms: u64,
    /// The probability that a packet is lost: at most 0.3.
    pub drop: Probability,
    /// Which replicas crash, from 0 on, and when they are there again: at most 3.
    pub crashes: Vec<Outage>,
    /// Which replicas, from 0 on, are cut off from the others, and when: at most 2.
    pub partitions: Vec<Separation>,
    /// Fixes what the network does.
    pub seed: u64,
    /// How many values are decided: from 1 to as many as there are clients. 1 if it is left out.
    #[serde(default = "one")]
    pub decrees: usize,
}

fn one() -> usize {
    1
}

/// What clients were told, and replicas have learned.
type World = Observer<Operation, Vec<Value>>;

/// The same, when all is over.
type Decisions = History<Operation, Vec<Value>>;

impl System for Paxos {
    const NAME: &'static str = "paxos";

    const UNIVERSE: usize = 1_000;

    type TestCase = TestCase;
    type Message = PaxosMessage;

    fn sample(random: &mut Random) -> TestCase {
        // Most have three or five.
        let replicas = match random.uniform(0..8_u8) {
            0..3 => 3,
            3..6 => 5,
            _ => REPLICAS.draw(random),
        };
        let clients_at_ms: Vec<u64> = (0..CLIENTS.draw(random)).map(|_| AT_MS.draw(random)).collect();
        let latency_ms = LATENCY_MS.draw(random);
        let jitter_ms = JITTER_MS.draw(random);
        let drop = DROP.draw_hundredths(random);
        let busy_ms = busy_ms(&clients_at_ms, latency_ms);
        let crashes = crashes(replicas, busy_ms).draw(random);
        let partitions = separations(replicas, busy_ms).draw(random);
        let seed = random.bits();
        // Every other one has one decree.
        let decrees = decrees(&clients_at_ms).draw(random);
        let decrees = if random.uniform(0..2_u8) == 0 { 1 } else { decrees };
        TestCase { replicas, clients_at_ms, latency_ms, jitter_ms, drop, crashes, partitions, seed, decrees }
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        REPLICAS.check("replicas", &case.replicas)?;
        CLIENTS.check("clients_at_ms", &case.clients_at_ms.len())?;
        for (client, at_ms) in case.clients_at_ms.iter().enumerate() {
            AT_MS.check(format!("clients_at_ms[{client}]"), at_ms)?;
        }
        LATENCY_MS.check("latency_ms", &case.latency_ms)?;
        JITTER_MS.check("jitter_ms", &case.jitter_ms)?;
        DROP.check("drop", &case.drop)?;
        let busy_ms = busy_ms(&case.clients_at_ms, case.latency_ms);
        crashes(case.replicas, busy_ms).check("crashes", &case.crashes)?;
        separations(case.replicas, busy_ms).check("partitions", &case.partitions)?;
        decrees(&case.clients_at_ms).check("decrees", &case.decrees)
    }

    fn configure(case: &TestCase) -> Simulation<PaxosMessage> {
        let mut simulation = Simulation::new(case.seed);
        simulation.network(case.network());
        simulation.faults(case.faults());
        let replicas: Vec<_> = (0..case.replicas).map(|number| simulation.address(&replica(number), PORT)).collect();
        let world = World::new(&simulation);
        let (replicas_count, decrees) = (case.replicas, case.decrees);
        for number in 0..case.replicas {
            let (replicas, world) = (replicas.clone(), world.clone());
            simulation.add_restartable(&replica(number), move |context| {
                let world = world.clone();
                let learned = move |Decision { decree, value }| {
                    world.observed(Session(LEARNERS + number as u64), Operation::Learn(decree), vec![value]);
                };
                protocol::replica(context, number, replicas.clone(), decrees, learned)
            });
        }
        for (number, at_ms) in (1..).zip(case.clients_at_ms.iter().copied()) {
            let (replicas, world) = (replicas.clone(), world.clone());
            simulation.add(&client(number), move |context| async move {
                context.sleep(VirtualDuration::from_millis(at_ms)).await;
                let call = world.invoke(Session(number.into()), Operation::Propose(number));
                let ended = match protocol::client(context, replicas, number).await {
                    Ok(values) => world.returned(call, values),
                    Err(_) => world.unknown(call),
                };
                ended.expect("the call has one end");
            });
        }
        simulation.check("proposed values are decided, told and learned", move || {
            world.recorder().with(|history| check(history, replicas_count, decrees))
        });
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![proposals(), faults()]
    }
}

impl TestCase {
    fn network(&self) -> Network {
        let ms = VirtualDuration::from_millis;
        let jitter = Latency::Uniform { min: VirtualDuration::ZERO, max: ms(self.jitter_ms) };
        let link = Link { drop: self.drop.into(), jitter: Some(jitter), ..Link::constant(ms(self.latency_ms)) };
        Network {
            link,
            partitions: self.partitions.iter().map(|cut| cut.partition(replica)).collect(),
            ..Network::default()
        }
    }

    fn faults(&self) -> Faults {
        let schedule = self.crashes.iter().flat_map(|crash| crash.crash(replica(crash.component))).collect();
        Faults { schedule, ..Faults::default() }
    }
}

/// Returns how long a run takes at least, about: a proposal goes to the leader, through three phases, and back.
fn busy_ms(clients_at_ms: &[u64], latency_ms: u64) -> u64 {
    clients_at_ms.iter().max().copied().unwrap_or(0) + 8 * latency_ms + 50
}

fn crashes(replicas: usize, busy_ms: u64) -> Outages {
    Outages { count: CRASHES, components: 0..=replicas - 1, begin_ms: 0..=busy_ms, for_ms: FAULT_FOR_MS }
}

fn decrees(clients_at_ms: &[u64]) -> RangeInclusive<usize> {
    1..=clients_at_ms.len().max(1)
}

/// The oracle: what clients were told, and so many replicas have learned of so many decrees.
fn check(history: &Decisions, replicas: usize, decrees: usize) -> Result<(), CheckFailure> {
    let check = Check { budget: Budget { steps: Some(CHECK_STEPS), ..Budget::default() }, ..Check::default() };
    checked(check.verdict(history, &Consensus::of(decrees)))?;
    let calls = history.calls();
    if let Some(call) = calls.iter().find(|call| !matches!(call.end, End::Returned { .. })) {
        return Err(CheckFailure::new(format!("{} was told nothing", call.session)));
    }
    for decree in 1..=decrees as Decree {
        let learners = calls.iter().filter(|call| call.operation == Operation::Learn(decree)).map(|call| call.session);
        let learners = learners.collect::<BTreeSet<Session>>().len();
        if learners < replicas {
            return Err(CheckFailure::new(format!("{learners} of {replicas} have learned decree {decree}")));
        }
    }
    Ok(())
}

fn separations(replicas: usize, busy_ms: u64) -> Separations {
    Separations { count: PARTITIONS, components: 0..=replicas - 1, begin_ms: 0..=busy_ms, for_ms: FAULT_FOR_MS }
}

fn replica(number: usize) -> String {
    format!("replica-{number}")
}

fn client(number: u32) -> String {
    format!("client-{number}")
}

/// Who proposes, and when.
fn proposals() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "one replica",
        "an even number of replicas",
        "three replicas",
        "five replicas",
        "one client",
        "several clients",
        "two clients within 50 ms",
        "two clients more than 200 ms apart",
        "fewer decrees than clients",
        "a decree for each of several clients",
    ];
    BlackBoxCriterion {
        name: "proposals",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let at = &case.clients_at_ms;
            let apart = |is_it: fn(u64) -> bool| {
                at.iter().enumerate().any(|(place, one)| at[..place].iter().any(|other| is_it(one.abs_diff(*other))))
            };
            let holds = [
                case.replicas == 1,
                case.replicas.is_multiple_of(2),
                case.replicas == 3,
                case.replicas == 5,
                at.len() == 1,
                at.len() > 1,
                apart(|ms| ms <= 50),
                apart(|ms| ms > 200),
                case.decrees < at.len(),
                at.len() > 1 && case.decrees == at.len(),
            ];
            (0..holds.len()).filter(|&requirement| holds[requirement]).collect()
        },
    }
}

/// What replicas and network suffer.
fn faults() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "no replica crashes",
        "the first leader crashes",
        "another one crashes",
        "several crash",
        "a minority is cut off",
        "a majority is cut off",
        "the first leader is cut off",
        "packets overtake each other",
        "nothing is lost",
        "something is lost",
    ];
    BlackBoxCriterion {
        name: "faults",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let crashed: BTreeSet<usize> = case.crashes.iter().map(|crash| crash.component).collect();
            let quorum = majority(case.replicas);
            let cut_off =
                |is_it: &dyn Fn(&BTreeSet<usize>) -> bool| case.partitions.iter().any(|it| is_it(&it.components));
            let holds = [
                crashed.is_empty(),
                crashed.contains(&0),
                crashed.iter().any(|replica| *replica > 0),
                crashed.len() > 1,
                cut_off(&|replicas| case.replicas - replicas.len() >= quorum),
                cut_off(&|replicas| case.replicas - replicas.len() < quorum),
                cut_off(&|replicas| replicas.contains(&0)),
                case.jitter_ms > 0,
                case.drop == Probability::ZERO,
                case.drop != Probability::ZERO,
            ];
            (0..holds.len()).filter(|&requirement| holds[requirement]).collect()
        },
    }
}

#[cfg(test)]
mod tests {
    use simutant_system::universe;

    use super::*;

    #[test]
    fn sampled_cases_are_valid_and_pass() {
        for index in 0..2_000 {
            let case = universe::<Paxos>(1, index);
            assert_eq!(Paxos::validate(&case), Ok(()), "{case:?}");
            let report = Paxos::configure(&case).run();
            assert!(report.ended.passed(), "{case:?}: {}", report.ended);
        }
    }
}
