//! Test cases of three servers, their domain, and the oracle.

use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use simutant_oracle::{Check, History, Order, Session, Time};
use simutant_sim_core::network::{Direction, LinkSetting, ScheduledPartition};
use simutant_sim_core::{Context, Faults, Network, Random, Simulation, VirtualDuration, VirtualTime};
use simutant_system::{Domain, InvalidTestCase, Lengths, Observer, Separation, Separations, Walk, Walks, history_time};
use simutant_zookeeper_histories::{Operation, Response};

use super::PEERS;
use super::election::ELECTION;
use super::member::{Member, server};
use crate::ZooKeeperMessage;
use crate::configuration::{
    CRASH_FOR_MS, Ended, LATENCY_US, LOG_US, STAGE_US, add_client, answered, client_name, crash_and_restart, link,
};
use crate::server::{PORT, Speed, changes};

/// How many servers there are. The last one leads at first.
const SERVERS: u64 = 3;

/// How many clients there are. They are connected with one server each, in turn.
const CLIENTS: Lengths = Lengths(1..=4);

/// How long their walks are, and how many choices a transition makes.
const WALKS: Walks = Walks { steps: 1..=10, choices: 3 };

/// How long messages between the first and the last server are on their way, at most.
const FAR_US: RangeInclusive<u64> = 50..=20_000;

/// How many servers crash.
const CRASHES: Lengths = Lengths(0..=2);

/// Which server crashes.
const CRASHED: RangeInclusive<u64> = 1..=SERVERS;

/// When a server crashes: most test cases are not much longer.
const CRASH_AT_MS: RangeInclusive<u64> = 1..=40;

/// Which servers are cut off, and when.
const PARTITIONS: Separations =
    Separations { count: 0..=2, components: 1..=SERVERS as usize, begin_ms: 1..=440, for_ms: 20..=400 };

/// How long a server waits at least for another one that says nothing: several times as long as it takes to log a
/// change.
const PATIENCE_US: u64 = 30_000;

/// How long after a crash or a partition servers may take until all is as before.
const RECOVERY_MS: u64 = 1_000;

/// An input vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleTestCase {
    /// How long messages are on their way at most, but for those between the first and the last
    /// server: from 50 to 2,000 microseconds. They are at least half as long on their way.
    pub latency_us: u64,
    /// How long messages between the first and the last server are on their way at most: from 50 to 20,000 microseconds.
    pub far_us: u64,
    /// How long the leader takes to prepare a change: at most 500 microseconds.
    pub prepare_us: u64,
    /// How long a server takes to log a change: at most 5,000 microseconds.
    pub log_us: u64,
    /// How long a server takes to do what it is asked for: at most 500 microseconds.
    pub apply_us: u64,
    /// Crashes of servers, which then restart with their logs: at most two.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crashes: Vec<ServerCrash>,
    /// Which servers, from 1 to 3, do not reach the others: at most two partitions. They begin from 1 to 440 ms after
    /// clients do, and last from 20 to 400 ms. Clients reach their servers all the time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub partitions: Vec<Separation>,
    /// What each client does: from 1 to 4 walks of at most 10 transitions.
    pub clients: Vec<Walk>,
    /// Fixes how long each message is on its way.
    pub seed: u64,
}

/// A crash of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerCrash {
    /// Which one: from 1 to 3. The last one leads at first.
    pub server: u64,
    /// When, after clients begin: from 1 to 40 ms.
    pub at_ms: u64,
    /// For how long: from 1 to 100 ms.
    pub for_ms: u64,
}

impl EnsembleTestCase {
    pub(super) fn sample(random: &mut Random) -> Self {
        let (latency_us, far_us) = (LATENCY_US.draw(random), FAR_US.draw(random));
        let prepare_us = STAGE_US.draw(random);
        let (log_us, apply_us) = (LOG_US.draw(random), STAGE_US.draw(random));
        let count = CRASHES.draw(random);
        let crash = |_| ServerCrash {
            server: CRASHED.draw(random),
            at_ms: CRASH_AT_MS.draw(random),
            for_ms: CRASH_FOR_MS.draw(random),
        };
        let crashes = (0..count).map(crash).collect();
        let clients = (0..CLIENTS.draw(random)).map(|_| WALKS.draw(random)).collect();
        let seed = random.bits();
        // Most test cases are about the rest.
        let count = if random.uniform(0..3_u8) == 0 { 1..=2 } else { 0..=0 };
        let mut partitions = Separations { count, begin_ms: CRASH_AT_MS, ..PARTITIONS }.draw(random);
        // Clients may be done once servers reach each other again, so a second partition begins before.
        if let [first, second] = &mut partitions[..] {
            second.at_ms = (first.at_ms..=first.at_ms + first.for_ms).draw(random);
        }
        Self { latency_us, far_us, prepare_us, log_us, apply_us, crashes, partitions, clients, seed }
    }

    /// Returns a partition of the network. Clients are on the side of their servers.
    fn partition(&self, cut: &Separation, begin_ms: u64) -> ScheduledPartition {
        let cut = Separation { at_ms: begin_ms + cut.at_ms, ..cut.clone() };
        let mut partition = cut.partition(|server| name(server as u64));
        let group = &mut partition.groups[0];
        let clients = (1..=self.clients.len() as u64).filter(|client| group.contains(&name(server_of(*client))));
        let clients: Vec<String> = clients.map(client_name).collect();
        group.extend(clients);
        partition
    }

    pub(super) fn validate(&self) -> Result<(), InvalidTestCase> {
        LATENCY_US.check("latency_us", &self.latency_us)?;
        FAR_US.check("far_us", &self.far_us)?;
        STAGE_US.check("prepare_us", &self.prepare_us)?;
        LOG_US.check("log_us", &self.log_us)?;
        STAGE_US.check("apply_us", &self.apply_us)?;
        CRASHES.check("crashes", &self.crashes.len())?;
        for (index, ServerCrash { server, at_ms, for_ms }) in self.crashes.iter().enumerate() {
            CRASHED.check(format!("crashes[{index}].server"), server)?;
            CRASH_AT_MS.check(format!("crashes[{index}].at_ms"), at_ms)?;
            CRASH_FOR_MS.check(format!("crashes[{index}].for_ms"), for_ms)?;
        }
        PARTITIONS.check("partitions", &self.partitions)?;
        CLIENTS.check("clients", &self.clients.len())?;
        self.clients.iter().enumerate().try_for_each(|(index, walk)| WALKS.check(format!("clients[{index}]"), walk))
    }
}

fn name(server: u64) -> String {
    format!("server-{server}")
}

/// Returns the server that a client is connected with.
fn server_of(client: u64) -> u64 {
    (client - 1) % SERVERS + 1
}

/// Is a server until all clients are done: its heartbeats would go on for ever.
async fn run(mut context: Context<ZooKeeperMessage>, member: Member, clients: Rc<RefCell<Vec<Ended>>>) {
    context.spawn(move |context| server(context, member));
    while clients.borrow().iter().any(|client| client.get().is_none()) {
        context.sleep(VirtualDuration::from_millis(100)).await;
    }
}

pub(super) fn configure(
    case: &EnsembleTestCase,
    check: fn(&History<Operation, Response>) -> Check<'static>,
) -> Simulation<ZooKeeperMessage> {
    let mut simulation = Simulation::new(case.seed);
    let far = LinkSetting {
        from: Some(name(1)),
        to: Some(name(SERVERS)),
        direction: Direction::Both,
        link: link(case.far_us),
    };
    let far_us = case.far_us.max(case.latency_us);
    // By then there is a leader: most of what takes time is a few round trips.
    let begin_ms = 10 + 8 * far_us / 1_000;
    let partitions = case.partitions.iter().map(|cut| case.partition(cut, begin_ms)).collect();
    simulation.network(Network { link: link(case.latency_us), links: vec![far], partitions, ..Network::default() });
    let crash = |crash: &ServerCrash| crash_and_restart(&name(crash.server), begin_ms + crash.at_ms, crash.for_ms);
    simulation.faults(Faults { schedule: case.crashes.iter().flat_map(crash).collect(), ..Faults::default() });
    let [prepare, log, apply] = [case.prepare_us, case.log_us, case.apply_us].map(VirtualDuration::from_micros);
    let speed = Speed { prepare, log, apply };
    let patience = VirtualDuration::from_micros(PATIENCE_US + 4 * far_us);
    let mut at = |port| (1..=SERVERS).map(|server| simulation.address(&name(server), port)).collect::<Vec<_>>();
    let (leaders, voters) = (at(PEERS), at(ELECTION));
    let clients = Rc::new(RefCell::new(Vec::new()));
    for number in 1..=SERVERS {
        let member = Member { number, leaders: leaders.clone(), voters: voters.clone(), speed, patience };
        let clients = clients.clone();
        simulation.add_restartable(&name(number), move |context| run(context, member.clone(), clients.clone()));
    }
    let observer = Observer::new(&simulation);
    let failed = Rc::new(Cell::new(None));
    for (number, walk) in (1..).zip(&case.clients) {
        let address = simulation.address(&name(server_of(number)), PORT);
        let begin = VirtualTime::from_millis(begin_ms);
        clients.borrow_mut().push(add_client(
            &mut simulation,
            (Session(number), walk),
            address,
            begin,
            &observer,
            &failed,
        ));
    }
    let initial = simutant_zookeeper_histories::ZooKeeper::default();
    observer.check_with(&mut simulation, "what clients saw is possible", initial, check);
    let crashes = case.crashes.iter().map(|crash| crash.at_ms + crash.for_ms);
    let ends = crashes.chain(case.partitions.iter().map(|cut| cut.at_ms + cut.for_ms));
    let up_again = ends.max().map(|ms| history_time(VirtualTime::from_millis(begin_ms + ms + RECOVERY_MS)));
    let recorder = observer.recorder().clone();
    simulation.check("each call is answered when all servers are up", move || {
        answered(&recorder.history(), failed.get(), up_again.unwrap_or(Time::ZERO))
    });
    simulation
}

/// Returns the check of what clients of an ensemble saw, be it simulated or real: calls of a session keep their order, and
/// so do changes of which one ended before the other began. Reads of other sessions may be behind.
pub fn check_ensemble(history: &History<Operation, Response>) -> Check<'static> {
    let calls = || history.calls().iter().enumerate().filter(|(_, call)| changes(&call.operation));
    let pairs = calls().flat_map(|(one, first)| {
        calls().filter(move |(_, second)| first.precedes(second)).map(move |(other, _)| (one, other))
    });
    Check { order: Order { sessions: true, pairs: pairs.collect(), ..Order::none() }, ..Check::default() }
}
