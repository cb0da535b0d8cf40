//! A register that is replicated on servers, on a network that delays, reorders, holds back, damages, loses and parts, with
//! crashes of servers.
//!
//! The protocol is in [`protocol`]: that file is the specification. The rest is here: what a test case is, how servers,
//! clients, network and faults are put together, the oracle, and two criteria.
//!
//! A run passes if all clients come to their end; if what they saw is what a [regular] register does, where one of
//! them writes, and what an atomic one does, where readers write back; and if no call fails unless too many servers could
//! not be reached for a while, or packets are lost or damaged.

pub mod net;
pub mod protocol;
pub mod regular;
#[cfg(feature = "testbed")]
pub mod testbed;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_oracle::specifications::Register;
use simutant_oracle::specifications::register::{Operation, Response};
use simutant_oracle::{Budget, Check, End, History, Session};
use simutant_quorum_calls::majority;
use simutant_sim_core::network::{Direction, LinkSetting};
use simutant_sim_core::{
    CheckFailure, Faults, Latency, Link, Network, Probability, Random, Simulation, VirtualDuration,
};
use simutant_system::{
    BlackBoxCriterion, Domain, Hold, Holds, InvalidTestCase, Lengths, NetCase, Observer, Outage, Outages,
    Probabilities, Separation, Separations, System, checked, met_requirements,
};

use self::net::{Combined, Driver, Observation, Server, Stimulus, StorageNet};
use self::protocol::{Client, PORT, Reads, StorageMessage, WriteError, Writers};
use self::regular::check_regular;

/// How many servers there are.
const SERVERS: RangeInclusive<usize> = 1..=5;

/// How many clients there are.
const CLIENTS: Lengths = Lengths(1..=4);

/// How many steps a client has.
const STEPS: Lengths = Lengths(1..=10);

/// How long a client pauses.
const PAUSE_MS: RangeInclusive<u64> = 1..=100;

/// How long packets are on their way between a client and a server, at least.
const DISTANCE_MS: RangeInclusive<u64> = 1..=80;

/// How much longer they may be on their way, so that later ones overtake them.
const JITTER_MS: RangeInclusive<u64> = 0..=30;

/// How likely a packet is lost, if any is.
const DROP: Probabilities = Probabilities::up_to(0.3);

/// How many crashes, and how many partitions there are.
const FAULTS: RangeInclusive<usize> = 0..=2;

/// How long a crash or a partition lasts.
const FAULT_FOR_MS: RangeInclusive<u64> = 20..=2_000;

/// How many holds there are.
const HOLDS: RangeInclusive<usize> = 0..=2;

/// How long a hold lasts: what is held for longer than a call takes comes when the call is over.
const HOLD_FOR_MS: RangeInclusive<u64> = 20..=1_500;

/// How likely a packet is damaged, if any is.
const CORRUPT: Probabilities = Probabilities::up_to(0.05);

/// How long a stage of a driver of the net takes at most.
const STAGE_MS: u64 = 100;

/// How many steps of the register its check takes at most.
const CHECK_STEPS: u64 = 1 << 20;

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct Storage;

/// A test case: all that a run depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// How many servers there are: from 1 to 5.
    pub servers: usize,
    /// What readers do. Where several clients write, they write back.
    pub reads: Reads,
    /// What each client does: from 1 to 4 lists of from 1 to 10 steps. No value is written twice.
    pub clients: Vec<Vec<Step>>,
    /// How long a packet is on its way at least between each client and each server: a list for each client of from 1 to
    /// 80 ms.
    pub distances_ms: Vec<Vec<u64>>,
    /// How much longer it may be on its way: at most 30 ms.
    pub jitter_ms: u64,
    /// The probability that a packet is lost: at most 0.3.
    pub drop: Probability,
    /// Which servers crash, from 1 on, and when they are there again: at most 2.
    pub crashes: Vec<Outage>,
    /// Which servers, from 1 on, nobody reaches, and when: at most 2, each of at least one server.
    pub partitions: Vec<Separation>,
    /// Which packets are held back, and when: at most 2 times, between a client and a server.
    #[serde(default)]
    pub holds: Vec<Hold>,
    /// The probability that a packet is damaged, which its checksum shows: at most 0.05.
    #[serde(default)]
    pub corrupt: Probability,
    /// Fixes what the network does.
    pub seed: u64,
    /// The sets of observations, one of which must be made: those of the net, for its test cases. Client 1 makes call 1, and
    /// so on.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub outcomes: BTreeSet<BTreeSet<Observation>>,
}

/// What a client does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// It reads.
    Read,
    /// It writes a value.
    Write(u32),
    /// It does nothing for so many milliseconds: from 1 to 100.
    Pause(u64),
}

/// What clients saw. A client's session has its number.
type Seen = Observer<Operation<u32>, Response<u32>>;

/// The same, when all is over.
type Calls = History<Operation<u32>, Response<u32>>;

impl System for Storage {
    const NAME: &'static str = "storage";

    const UNIVERSE: usize = 1_000;

    type TestCase = TestCase;
    type Message = StorageMessage;

    fn sample(random: &mut Random) -> TestCase {
        let servers = if random.uniform(0..2_u8) == 0 { 3 } else { SERVERS.draw(random) };
        let reads = if random.uniform(0..2_u8) == 0 { Reads::Regular } else { Reads::Atomic };
        let writers = if reads == Reads::Atomic && random.uniform(0..2_u8) == 0 { CLIENTS.0.end() } else { &1 };
        let mut written = 0;
        // Most have several clients, since one alone sees little.
        let count = CLIENTS.draw(random).max(CLIENTS.draw(random));
        let clients: Vec<Vec<Step>> = (0..count)
            .map(|client| {
                (0..STEPS.draw(random).max(STEPS.draw(random)))
                    .map(|_| step(client < *writers, &mut written, random))
                    .collect()
            })
            .collect();
        let distances_ms: Vec<Vec<u64>> =
            clients.iter().map(|_| (0..servers).map(|_| distance_ms(random)).collect()).collect();
        let jitter_ms = JITTER_MS.draw(random);
        let drop = DROP.draw_hundredths(random);
        let busy_ms = busy_ms(&clients, &distances_ms);
        let crashes = crashes(servers, busy_ms).draw(random);
        let partitions = separations(servers, busy_ms).draw(random);
        let (seed, outcomes) = (random.bits(), BTreeSet::new());
        let holds = match random.uniform(0..4_u8) {
            0 => Holds { count: 1..=*HOLDS.end(), ..holds(clients.len(), servers, busy_ms) }.draw(random),
            _ => Vec::new(),
        };
        let corrupt = if random.uniform(0..5_u8) == 0 { CORRUPT.draw_hundredths(random) } else { Probability::ZERO };
        TestCase {
            servers,
            reads,
            clients,
            distances_ms,
            jitter_ms,
            drop,
            crashes,
            partitions,
            holds,
            corrupt,
            seed,
            outcomes,
        }
    }

    fn of_net(seed: u64, count: usize) -> Option<Vec<TestCase>> {
        StorageNet::of_net(seed, count).map(|cases| cases.into_iter().map(TestCase::from).collect())
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        SERVERS.check("servers", &case.servers)?;
        CLIENTS.check("clients", &case.clients.len())?;
        let mut values = BTreeSet::new();
        for (client, steps) in case.clients.iter().enumerate() {
            STEPS.check(format!("clients[{client}]"), &steps.len())?;
            for (place, step) in steps.iter().enumerate() {
                let field = || format!("clients[{client}][{place}]");
                match step {
                    Step::Pause(ms) => PAUSE_MS.check(field(), ms)?,
                    Step::Write(value) if !values.insert(value) => {
                        return Err(InvalidTestCase::new(field(), value, "a value that nobody else writes"));
                    }
                    Step::Read | Step::Write(_) => {}
                }
            }
        }
        if case.writers() == Writers::Several && case.reads == Reads::Regular {
            return Err(InvalidTestCase::new("reads", "regular", "atomic, where several clients write"));
        }
        let clients = case.clients.len();
        Lengths(clients..=clients).check("distances_ms", &case.distances_ms.len())?;
        for (client, distances) in case.distances_ms.iter().enumerate() {
            Lengths(case.servers..=case.servers).check(format!("distances_ms[{client}]"), &distances.len())?;
            for (server, distance) in distances.iter().enumerate() {
                DISTANCE_MS.check(format!("distances_ms[{client}][{server}]"), distance)?;
            }
        }
        JITTER_MS.check("jitter_ms", &case.jitter_ms)?;
        DROP.check("drop", &case.drop)?;
        let busy_ms = busy_ms(&case.clients, &case.distances_ms);
        crashes(case.servers, busy_ms).check("crashes", &case.crashes)?;
        separations(case.servers, busy_ms).check("partitions", &case.partitions)?;
        holds(clients, case.servers, busy_ms).check("holds", &case.holds)?;
        CORRUPT.check("corrupt", &case.corrupt)
    }

    fn configure(case: &TestCase) -> Simulation<StorageMessage> {
        let (mut simulation, seen) = set_up(case);
        let case = case.clone();
        simulation.check("clients saw a register, and their calls succeeded", move || {
            seen.recorder().with(|history| check_ends(history, &case).and_then(|()| check_results(history, &case)))
        });
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![calls(), faults()]
    }
}

/// Returns the simulation of a test case, and what its clients will have seen.
fn set_up(case: &TestCase) -> (Simulation<StorageMessage>, Seen) {
    let mut simulation = Simulation::new(case.seed);
    simulation.network(case.network());
    simulation.faults(case.faults());
    for number in 1..=case.servers {
        simulation.add_restartable(&server(number), protocol::server);
    }
    let servers: Vec<_> = (1..=case.servers).map(|number| simulation.address(&server(number), PORT)).collect();
    let seen = Seen::new(&simulation);
    for (number, steps) in (1..).zip(&case.clients) {
        let (steps, servers, seen) = (steps.clone(), servers.clone(), seen.clone());
        let (writers, reads) = (case.writers(), case.reads);
        simulation.add(&client(number), move |context| async move {
            let client = Client::new(context, servers, number as u8, writers, reads);
            work(client, session(number), &steps, &seen).await;
        });
    }
    (simulation, seen)
}

impl TestCase {
    /// Returns who writes.
    fn writers(&self) -> Writers {
        let writes = |steps: &&Vec<Step>| steps.iter().any(|step| matches!(step, Step::Write(_)));
        if self.clients.iter().filter(writes).count() > 1 { Writers::Several } else { Writers::One }
    }

    /// Returns how many servers are never down or cut off, and have nothing held back.
    fn reachable(&self) -> usize {
        let is_held = |name: &String| self.holds.iter().any(|hold| [&hold.from, &hold.to].contains(&name));
        let held = (1..=self.servers).filter(|number| is_held(&server(*number)));
        let crashed = self.crashes.iter().map(|crash| crash.component);
        let cut_off = self.partitions.iter().flat_map(|partition| partition.components.iter().copied());
        self.servers - crashed.chain(cut_off).chain(held).collect::<BTreeSet<usize>>().len()
    }

    fn network(&self) -> Network {
        let ms = VirtualDuration::from_millis;
        let jitter = Latency::Uniform { min: VirtualDuration::ZERO, max: ms(self.jitter_ms) };
        let link = |distance_ms| Link {
            drop: self.drop.into(),
            corrupt: self.corrupt,
            jitter: Some(jitter.clone()),
            ..Link::constant(ms(distance_ms))
        };
        let setting = |from: usize, to: usize, distance_ms| LinkSetting {
            from: Some(client(from)),
            to: Some(server(to)),
            direction: Direction::Both,
            link: link(distance_ms),
        };
        let links = (1..).zip(&self.distances_ms).flat_map(|(client, distances)| {
            (1..).zip(distances).map(move |(server, distance_ms)| setting(client, server, *distance_ms))
        });
        let partitions = self.partitions.iter().map(|cut| cut.partition(server)).collect();
        let rules = self.holds.iter().map(Hold::rule).collect();
        Network { links: links.collect(), rules, partitions, ..Network::default() }
    }

    fn faults(&self) -> Faults {
        let schedule = self.crashes.iter().flat_map(|crash| crash.crash(server(crash.component))).collect();
        Faults { schedule, ..Faults::default() }
    }
}

/// Draws a distance: near or far, so that a write reaches some servers long before others.
fn distance_ms(random: &mut Random) -> u64 {
    let (near, far) = (*DISTANCE_MS.start()..=5, 40..=*DISTANCE_MS.end());
    if random.uniform(0..2_u8) == 0 { near.draw(random) } else { far.draw(random) }
}

/// Draws a step of a client, which writes or does not. `written` is the last value that was written.
fn step(writes: bool, written: &mut u32, random: &mut Random) -> Step {
    match random.uniform(0..8_u8) {
        0 => Step::Pause(PAUSE_MS.draw(random)),
        1..5 if writes => {
            *written += 1;
            Step::Write(*written)
        }
        _ => Step::Read,
    }
}

/// Returns how long the longest client takes at least: a call takes a round trip to a majority, and a pause what it says.
fn busy_ms(clients: &[Vec<Step>], distances_ms: &[Vec<u64>]) -> u64 {
    let of = |(steps, distances): (&Vec<Step>, &Vec<u64>)| -> u64 {
        let mut sorted = distances.clone();
        sorted.sort_unstable();
        let trip = 2 * sorted.get(majority(sorted.len()) - 1).copied().unwrap_or(0);
        steps.iter().map(|step| if let Step::Pause(ms) = step { *ms } else { trip }).sum()
    };
    clients.iter().zip(distances_ms).map(of).max().unwrap_or(0)
}

fn crashes(servers: usize, busy_ms: u64) -> Outages {
    // Two of one server need as long as the first lasts at least.
    let begin_ms = 0..=busy_ms.max(*FAULT_FOR_MS.start() + 1);
    Outages { count: FAULTS, components: 1..=servers, begin_ms, for_ms: FAULT_FOR_MS }
}

fn separations(servers: usize, busy_ms: u64) -> Separations {
    Separations { count: FAULTS, components: 1..=servers, begin_ms: 0..=busy_ms, for_ms: FAULT_FOR_MS }
}

fn holds(clients: usize, servers: usize, busy_ms: u64) -> Holds {
    let between = (1..=clients).flat_map(|client| (1..=servers).map(move |server| (client, server)));
    let both = between.flat_map(|(number, to)| [[client(number), server(to)], [server(to), client(number)]]);
    Holds { count: HOLDS, ways: both.collect(), begin_ms: 0..=busy_ms, for_ms: HOLD_FOR_MS }
}

fn server(number: usize) -> String {
    format!("server-{number}")
}

fn client(number: usize) -> String {
    format!("client-{number}")
}

fn session(number: usize) -> Session {
    Session(number as u64)
}

/// Takes a client through its steps.
async fn work(mut client: Client, session: Session, steps: &[Step], seen: &Seen) {
    for step in steps {
        let ended = match step {
            Step::Pause(ms) => {
                client.sleep(VirtualDuration::from_millis(*ms)).await;
                Ok(())
            }
            Step::Read => {
                let call = seen.invoke(session, Operation::Read);
                match client.read().await {
                    Ok(value) => seen.returned(call, Response::Value(value)),
                    Err(_) => seen.unknown(call),
                }
            }
            Step::Write(value) => {
                let call = seen.invoke(session, Operation::Write(*value));
                match client.write(*value).await {
                    Ok(()) => seen.returned(call, Response::Done),
                    Err(WriteError::NotBegun(_)) => seen.did_not_happen(call),
                    Err(WriteError::Incomplete(_)) => seen.unknown(call),
                }
            }
        };
        ended.expect("each call has one end");
    }
}

/// The oracle: whether calls returned.
fn check_ends(history: &Calls, case: &TestCase) -> Result<(), CheckFailure> {
    let is_reached = case.reachable() >= majority(case.servers) && [case.drop, case.corrupt] == [Probability::ZERO; 2];
    let has_failed = |end: &End<Response<u32>>| !matches!(end, End::Returned { .. });
    match history.calls().iter().find(|call| is_reached && has_failed(&call.end)) {
        Some(call) => {
            let message = format!("{} failed in {:?}, and a majority was there", call.session, call.operation);
            Err(CheckFailure::new(message))
        }
        None => Ok(()),
    }
}

/// The oracle: what they returned.
fn check_results(history: &Calls, case: &TestCase) -> Result<(), CheckFailure> {
    check_register(history, case)?;
    check_outcome(history, &case.outcomes)
}

/// The oracle: whether that is what a register returns.
fn check_register(history: &Calls, case: &TestCase) -> Result<(), CheckFailure> {
    if case.writers() == Writers::One {
        check_regular(history).map_err(|wrong| CheckFailure::new(wrong.to_string()))?;
    }
    if case.reads == Reads::Atomic {
        let check = Check { budget: Budget { steps: Some(CHECK_STEPS), ..Budget::default() }, ..Check::default() };
        checked(check.verdict(history, &Register::default()))?;
    }
    Ok(())
}

/// The oracle of the net's test cases.
fn check_outcome(history: &Calls, outcomes: &BTreeSet<BTreeSet<Observation>>) -> Result<(), CheckFailure> {
    let observed: BTreeSet<Observation> = history
        .calls()
        .iter()
        .map(|call| {
            // The net's value at first is 0.
            let result = call.end.response().map(|response| match response {
                Response::Value(value) => Combined::Value(value.unwrap_or(0) as u8),
                _ => Combined::Done,
            });
            Observation::Returned { call: call.session.0 as u8, result }
        })
        .collect();
    match outcomes.is_empty() || outcomes.contains(&observed) {
        true => Ok(()),
        false => Err(CheckFailure::new(format!("{observed:?} was observed, and one of {outcomes:?} is allowed"))),
    }
}

/// The test cases of the net: each call has a client, and stages follow each other with time enough.
impl From<NetCase<(Server, Driver), Stimulus, Observation>> for TestCase {
    fn from(case: NetCase<(Server, Driver), Stimulus, Observation>) -> Self {
        let (servers, driver) = case.arguments;
        let calls = case.inputs.iter().filter_map(|stimulus| match stimulus {
            Stimulus::Invoke { call, operation } => Some((*call, *operation)),
            _ => None,
        });
        let client = |(call, operation)| {
            let step = match operation {
                net::Operation::Read => Step::Read,
                net::Operation::Write(value) => Step::Write(value.into()),
            };
            match driver.stage(call) {
                0 => vec![step],
                stage => vec![Step::Pause(STAGE_MS * stage as u64), step],
            }
        };
        let clients: Vec<Vec<Step>> = calls.map(client).collect();
        Self {
            servers: servers.into(),
            reads: Reads::Regular,
            distances_ms: vec![vec![*DISTANCE_MS.start(); servers.into()]; clients.len()],
            clients,
            jitter_ms: STAGE_MS / 20,
            drop: Probability::ZERO,
            crashes: Vec::new(),
            partitions: Vec::new(),
            holds: Vec::new(),
            corrupt: Probability::ZERO,
            seed: case.seed,
            outcomes: case.outcomes,
        }
    }
}

/// Who reads and writes.
fn calls() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "one server",
        "an even number of servers",
        "three or five servers",
        "one client writes",
        "several clients write",
        "reads are regular",
        "reads are atomic",
        "somebody reads while another writes",
        "somebody reads after it wrote",
    ];
    BlackBoxCriterion {
        name: "calls",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let writes = |steps: &[Step]| steps.iter().any(|step| matches!(step, Step::Write(_)));
            let reads = |steps: &[Step]| steps.contains(&Step::Read);
            let writing = case.clients.iter().filter(|steps| writes(steps)).count();
            let reads_after = |steps: &Vec<Step>| {
                let write = steps.iter().position(|step| matches!(step, Step::Write(_)));
                write.is_some_and(|write| reads(&steps[write..]))
            };
            let beside =
                |client: usize| (0..case.clients.len()).any(|other| other != client && writes(&case.clients[other]));
            let holds = [
                case.servers == 1,
                case.servers.is_multiple_of(2),
                matches!(case.servers, 3 | 5),
                writing == 1,
                writing > 1,
                case.reads == Reads::Regular,
                case.reads == Reads::Atomic,
                (0..case.clients.len()).any(|client| reads(&case.clients[client]) && beside(client)),
                case.clients.iter().any(reads_after),
            ];
            met_requirements(&holds)
        },
    }
}

/// What servers and network suffer.
fn faults() -> BlackBoxCriterion<TestCase> {
    let requirements = [
        "no server crashes",
        "a minority crashes",
        "a majority crashes",
        "no server is cut off",
        "a minority is cut off",
        "a majority is cut off",
        "packets overtake each other",
        "packets are held back",
        "nothing is lost",
        "something is lost",
        "something is damaged",
    ];
    BlackBoxCriterion {
        name: "faults",
        requirements: requirements.map(str::to_owned).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let crashed = case.crashes.iter().map(|crash| crash.component).collect::<BTreeSet<_>>().len();
            let cut_off = case.partitions.iter().map(|partition| partition.components.len()).max().unwrap_or(0);
            let quorum = majority(case.servers);
            let is_minority = |count: usize| count > 0 && case.servers - count >= quorum;
            let holds = [
                crashed == 0,
                is_minority(crashed),
                crashed > 0 && !is_minority(crashed),
                cut_off == 0,
                is_minority(cut_off),
                cut_off > 0 && !is_minority(cut_off),
                case.jitter_ms > 0,
                !case.holds.is_empty(),
                case.drop == Probability::ZERO,
                case.drop != Probability::ZERO,
                case.corrupt != Probability::ZERO,
            ];
            met_requirements(&holds)
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
            let case = universe::<Storage>(1, index);
            assert_eq!(Storage::validate(&case), Ok(()), "{case:?}");
            let report = Storage::configure(&case).run();
            assert!(report.ended.passed(), "{case:?}: {}", report.ended);
        }
    }

    #[test]
    fn the_simulation_does_what_the_net_allows_and_other_outcomes_are_found() {
        let cases = Storage::of_net(1, 100).expect("it has a net");
        assert_eq!(cases.len(), 6);
        for case in cases {
            assert_eq!(Storage::validate(&case), Ok(()));
            let ended = Storage::configure(&case).run().ended;
            assert!(ended.passed(), "{case:?}: {ended}");
            // One observation less is another outcome.
            let fewer = |outcome: &BTreeSet<Observation>| outcome.iter().skip(1).cloned().collect();
            let other = TestCase { outcomes: case.outcomes.iter().map(fewer).collect(), ..case };
            assert!(!Storage::configure(&other).run().ended.passed());
        }
    }

    /// Returns whether what clients saw is what a regular register does, and what an atomic one does.
    fn judged(case: &TestCase) -> (bool, bool) {
        let (simulation, seen) = set_up(case);
        assert!(simulation.run().ended.passed());
        let history = seen.recorder().history();
        let is_atomic = Check::default().verdict(&history, &Register::default()).passes();
        (check_regular(&history).is_ok(), is_atomic)
    }

    #[test]
    fn the_inversion_passes_the_monitor_and_not_the_oracle_and_writing_back_prevents_it() {
        // A write that reaches one server soon, and the others late: one reader asks that server, and then another does not.
        let mut inverted = 0;
        for index in 0..2_000 {
            let case = universe::<Storage>(2, index);
            if case.writers() == Writers::Several {
                continue;
            }
            let (is_regular, is_atomic) = judged(&TestCase { reads: Reads::Regular, ..case.clone() });
            assert!(is_regular, "{case:?}");
            inverted += u32::from(!is_atomic);
            assert_eq!(judged(&TestCase { reads: Reads::Atomic, ..case.clone() }), (true, true), "{case:?}");
        }
        assert!(inverted > 15, "{inverted}");
    }
}
