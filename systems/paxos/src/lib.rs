//! Paxos of one decree or several, on a network that delays, reorders, holds back, damages, loses and parts, with crashes
//! of replicas.
//!
//! The protocol is in [`protocol`]: that file and its parts are the specification. The rest is here: what a test case is, how
//! replicas, clients, network and faults are put together, the oracle, and two criteria.
//!
//! A run passes if all clients are told what is decided, all replicas learn it, and what they were told and have learned is
//! [consensus]. Whoever crashes is there again, and partitions heal, so a decision comes in the end.

pub mod consensus;
mod criteria;
pub mod net;
pub mod protocol;
#[cfg(feature = "testbed")]
#[expect(clippy::disallowed_methods, reason = "real programs take real time")]
pub mod testbed;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_oracle::{Budget, Check, End, History, Session};
use simutant_sim_core::{
    CheckFailure, Faults, Latency, Link, Network, Probability, Random, Simulation, VirtualDuration,
};
use simutant_system::{
    BlackBoxCriterion, Domain, Hold, Holds, InvalidTestCase, Lengths, NetCase, Observer, Outage, Outages,
    Probabilities, Separation, Separations, System, checked,
};

use self::consensus::{Consensus, Operation};
use self::net::{Observation, PaxosNet, Stimulus};
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

/// When a majority has promised to the first leader of a test case of the net, which does not know it: from 74 to 104 ms in the
/// simulation, and from 60 to 90 ms with real programs, which wait for nothing but packets.
const PROMISED_MS: u64 = 82;

/// When a majority has accepted its value, in the same way: from 136 to 166 ms, and from 120 to 150 ms.
const ACCEPTED_MS: u64 = 143;

/// How long it is away then: another one leads in this time, if there is a majority.
const NET_CRASH_MS: u64 = 1_500;

/// How many holds there are.
const HOLDS: RangeInclusive<usize> = 0..=2;

/// How long a hold lasts: what is held for longer than a phase takes comes when another replica leads.
const HOLD_FOR_MS: RangeInclusive<u64> = 20..=1_500;

/// How likely a packet is damaged, if any is.
const CORRUPT: Probabilities = Probabilities::up_to(0.05);

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
    /// Which packets are held back, and when: at most 2 times, between replicas, or a replica and a client.
    #[serde(default)]
    pub holds: Vec<Hold>,
    /// The probability that a packet is damaged, which its checksum shows: at most 0.05.
    #[serde(default)]
    pub corrupt: Probability,
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
        let outages = crashes(replicas, busy_ms);
        let mut crashes = outages.draw(random);
        let partitions = separations(replicas, busy_ms).draw(random);
        let seed = random.bits();
        // Every other one has one decree.
        let decrees = decrees(&clients_at_ms).draw(random);
        let decrees = if random.uniform(0..2_u8) == 0 { 1 } else { decrees };
        // What is not on disks is lost if several crash at once.
        if random.uniform(0..4_u8) == 0 {
            crashes = outages.draw_at_once(random);
        }
        let holds = match random.uniform(0..4_u8) {
            0 => Holds { count: 1..=*HOLDS.end(), ..holds(replicas, clients_at_ms.len(), busy_ms) }.draw(random),
            _ => Vec::new(),
        };
        let corrupt = if random.uniform(0..5_u8) == 0 { CORRUPT.draw_hundredths(random) } else { Probability::ZERO };
        TestCase {
            replicas,
            clients_at_ms,
            latency_ms,
            jitter_ms,
            drop,
            crashes,
            partitions,
            seed,
            holds,
            corrupt,
            decrees,
        }
    }

    fn of_net(seed: u64, count: usize) -> Option<Vec<TestCase>> {
        let cases = PaxosNet::of_net(seed, usize::MAX)?.into_iter().map(TestCase::from);
        let mut distinct: Vec<TestCase> = Vec::new();
        for case in cases {
            // A leader that may fail does so or not.
            if distinct.iter().all(|other| TestCase { seed: other.seed, ..case.clone() } != *other) {
                distinct.push(case);
            }
        }
        distinct.truncate(count);
        Some(distinct)
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
        holds(case.replicas, case.clients_at_ms.len(), busy_ms).check("holds", &case.holds)?;
        CORRUPT.check("corrupt", &case.corrupt)?;
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
        vec![criteria::proposals(), criteria::faults()]
    }
}

/// Two clients propose at once, and leaders crash where those of the net fail. The network is slow, so that this is one moment
/// of the simulation and of real programs.
impl From<NetCase<(net::Replica, net::Failures), Stimulus, Observation>> for TestCase {
    fn from(case: NetCase<(net::Replica, net::Failures), Stimulus, Observation>) -> Self {
        let crash =
            |component: net::Replica, at_ms| Outage { component: component.into(), at_ms, for_ms: NET_CRASH_MS };
        let crashes = case.inputs.iter().filter_map(|stimulus| match *stimulus {
            Stimulus::FailInPhaseOne { leader } => Some(crash(leader, PROMISED_MS)),
            Stimulus::FailInPhaseTwo { leader } => Some(crash(leader, ACCEPTED_MS)),
            _ => None,
        });
        Self {
            replicas: case.arguments.0.into(),
            clients_at_ms: vec![*AT_MS.start(); net::CLIENTS.into()],
            latency_ms: *LATENCY_MS.end(),
            jitter_ms: *JITTER_MS.start(),
            drop: Probability::ZERO,
            crashes: crashes.collect(),
            partitions: Vec::new(),
            seed: case.seed,
            holds: Vec::new(),
            corrupt: Probability::ZERO,
            decrees: 1,
        }
    }
}

impl TestCase {
    fn network(&self) -> Network {
        let ms = VirtualDuration::from_millis;
        let jitter = Latency::Uniform { min: VirtualDuration::ZERO, max: ms(self.jitter_ms) };
        let link = Link {
            drop: self.drop.into(),
            corrupt: self.corrupt,
            jitter: Some(jitter),
            ..Link::constant(ms(self.latency_ms))
        };
        Network {
            link,
            partitions: self.partitions.iter().map(|cut| cut.partition(replica)).collect(),
            rules: self.holds.iter().map(Hold::rule).collect(),
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
    checked(check.verdict(history, &Consensus::new(decrees)))?;
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

fn holds(replicas: usize, clients: usize, busy_ms: u64) -> Holds {
    let all: Vec<String> = (0..replicas).map(replica).collect();
    let senders = all.iter().cloned().chain((1..=clients as u32).map(client));
    let ways = senders.flat_map(|from| all.iter().map(move |to| [from.clone(), to.clone()]));
    let both = ways.filter(|[from, to]| from != to).flat_map(|[from, to]| [[from.clone(), to.clone()], [to, from]]);
    let ways: BTreeSet<[String; 2]> = both.collect();
    Holds { count: HOLDS, ways: ways.into_iter().collect(), begin_ms: 0..=busy_ms, for_ms: HOLD_FOR_MS }
}

fn replica(number: usize) -> String {
    format!("replica-{number}")
}

fn client(number: u32) -> String {
    format!("client-{number}")
}

#[cfg(test)]
mod tests {
    use simutant_sim_core::VirtualTime;
    use simutant_sim_core::trace::{Action, Packet};
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

    #[test]
    fn leaders_of_the_net_fail_when_a_majority_has_promised_or_accepted() {
        let cases = Paxos::of_net(1, 100).expect("it has a net");
        let crashes = |case: &TestCase| case.crashes.first().map(|crash| crash.at_ms);
        for (place, case) in cases.iter().enumerate() {
            assert_eq!(Paxos::validate(case), Ok(()));
            assert_eq!(
                (case.replicas, crashes(case)),
                (2 + place / 3, [None, Some(ACCEPTED_MS), Some(PROMISED_MS)][place % 3])
            );
            let mut simulation = Paxos::configure(case);
            simulation.record_trace();
            let report = simulation.run();
            assert!(report.ended.passed(), "{case:?}: {}", report.ended);
            // What has been answered and has not arrived when the leader crashes.
            let at = |at_ms: u64| VirtualTime::from_millis(at_ms);
            let count = |kind: &str| {
                let trace =
                    report.trace.iter().flatten().filter(|event| crashes(case).is_some_and(|ms| event.at < at(ms)));
                let is_it = |packet: &Packet| packet.kind == kind;
                let sent = trace.clone().filter(|event| matches!(&event.action, Action::Sent(packet) if is_it(packet)));
                let came = trace.filter(|event| matches!(&event.action, Action::Delivered(packet) if is_it(packet)));
                (sent.count(), came.count())
            };
            let all = case.replicas;
            let expect = match place % 3 {
                0 => [(0, 0); 2],
                1 => [(all, all), (all, 0)],
                _ => [(all, 0), (0, 0)],
            };
            assert_eq!(["PROMISE", "LEARN"].map(count), expect, "{case:?}");
        }
        assert_eq!(cases.len(), 6);
    }
}
