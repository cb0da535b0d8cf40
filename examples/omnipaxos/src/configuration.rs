//! Test cases, their domain, and how they become simulations with an oracle.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use simutant_sim_core::network::ScheduledPartition;
use simutant_sim_core::trace::DurableState;
use simutant_sim_core::{
    CheckFailure, Fault, Faults, Link, Network, Probability, Random, Returned, ScheduledFault, Simulation,
    VirtualDuration, VirtualTime,
};
use simutant_system::InvalidTestCase;

use crate::client::client;
use crate::history::History;
use crate::messages::{ClusterMessage, Command};
use crate::server::{PORT, Server, server};

/// The most commands of the client.
pub const COMMANDS_MAX: u64 = 6;

/// The slowest network: an election's question and answer take less than its timeout.
pub const LATENCY_MAX_MS: u64 = 20;

/// The greatest probability of a loss.
pub const DROP_MAX: f64 = 0.10;

/// The most crashes, and the most isolations.
pub const OUTAGES_MAX: usize = 2;

/// When the last outage begins at the latest.
pub const OUTAGE_FROM_MAX_MS: u64 = 800;

/// How long an outage lasts at most.
pub const OUTAGE_FOR_MAX_MS: u64 = 600;

/// When servers and client stop, long after the last outage.
const UNTIL: VirtualTime = VirtualTime::from_millis(4_000);

/// An input vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// How many servers: 3 or 5.
    pub servers: u64,
    /// How many commands the client has appended: from 1 to 6.
    pub commands: u64,
    /// How long every packet is on its way: from 1 to 20 ms.
    pub latency_ms: u64,
    /// The probability that a packet is lost: at most 0.1.
    pub drop: Probability,
    /// Servers that crash and restart: at most 2.
    pub crashes: Vec<Outage>,
    /// Servers that are cut off from all others: at most 2.
    pub isolations: Vec<Outage>,
    /// Fixes which packets are lost.
    pub seed: u64,
}

/// A time without a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The server's number, from 1.
    pub server: u64,
    /// When it begins: at most 800 ms.
    pub from_ms: u64,
    /// How long it lasts: from 1 to 600 ms.
    pub for_ms: u64,
}

impl Outage {
    /// Returns when it is over.
    pub fn until_ms(self) -> u64 {
        self.from_ms + self.for_ms
    }

    fn sample(random: &mut Random, servers: u64) -> Self {
        Self {
            server: random.uniform(1..=servers),
            from_ms: random.uniform(0..=OUTAGE_FROM_MAX_MS),
            for_ms: random.uniform(1..=OUTAGE_FOR_MAX_MS),
        }
    }
}

impl TestCase {
    pub(crate) fn sample(random: &mut Random) -> Self {
        let servers = if random.uniform(0..3_u8) == 0 { 5 } else { 3 };
        let commands = random.uniform(1..=COMMANDS_MAX);
        let latency_ms = random.uniform(1..=LATENCY_MAX_MS);
        // One network in two loses nothing.
        let hundredths = if random.uniform(0..2_u8) == 0 { 0 } else { random.uniform(1..=(DROP_MAX * 100.0) as u32) };
        let drop = Probability::new(f64::from(hundredths) / 100.0).expect("it is between 0 and 1");
        let mut outages = || (0..random.uniform(0..=OUTAGES_MAX)).map(|_| Outage::sample(random, servers)).collect();
        let (crashes, isolations) = (outages(), outages());
        Self { servers, commands, latency_ms, drop, crashes, isolations, seed: random.bits() }
    }

    pub(crate) fn validate(&self) -> Result<(), InvalidTestCase> {
        let within = |is_within: bool, field: &str, value: &dyn std::fmt::Display, allowed: &dyn std::fmt::Display| {
            let (field, value, allowed) = (field.to_owned(), value.to_string(), allowed.to_string());
            if is_within { Ok(()) } else { Err(InvalidTestCase { field, value, allowed }) }
        };
        let from_1_to = |max: u64| format!("from 1 to {max}");
        within([3, 5].contains(&self.servers), "servers", &self.servers, &"3 or 5")?;
        let is_within = (1..=COMMANDS_MAX).contains(&self.commands);
        within(is_within, "commands", &self.commands, &from_1_to(COMMANDS_MAX))?;
        let is_within = (1..=LATENCY_MAX_MS).contains(&self.latency_ms);
        within(is_within, "latency_ms", &self.latency_ms, &from_1_to(LATENCY_MAX_MS))?;
        within(self.drop.get() <= DROP_MAX, "drop", &self.drop, &format!("from 0 to {DROP_MAX}"))?;
        for (list, outages) in [("crashes", &self.crashes), ("isolations", &self.isolations)] {
            let (count, allowed) = (outages.len(), format!("a list of at most {OUTAGES_MAX}"));
            within(count <= OUTAGES_MAX, list, &format!("a list of {count}"), &allowed)?;
            for (index, outage) in outages.iter().enumerate() {
                let field = |name| format!("{list}[{index}].{name}");
                let is_within = (1..=self.servers).contains(&outage.server);
                within(is_within, &field("server"), &outage.server, &from_1_to(self.servers))?;
                let allowed = format!("at most {OUTAGE_FROM_MAX_MS}");
                within(outage.from_ms <= OUTAGE_FROM_MAX_MS, &field("from_ms"), &outage.from_ms, &allowed)?;
                let is_within = (1..=OUTAGE_FOR_MAX_MS).contains(&outage.for_ms);
                within(is_within, &field("for_ms"), &outage.for_ms, &from_1_to(OUTAGE_FOR_MAX_MS))?;
            }
        }
        Ok(())
    }
}

fn name(server: u64) -> String {
    format!("s{server}")
}

pub(crate) fn configure(case: &TestCase) -> Simulation<ClusterMessage> {
    let mut simulation = Simulation::new(case.seed);
    simulation.network(network(case));
    simulation.faults(faults(case));
    let addresses: Vec<_> = (1..=case.servers).map(|number| simulation.address(&name(number), PORT)).collect();
    let commands: Vec<Command> = (1..=case.commands).map(Command).collect();
    let history = History::default();
    for number in 1..=case.servers {
        let one = Server { number, addresses: addresses.clone(), until: UNTIL, history: history.clone() };
        let returned =
            simulation.add_restartable(&name(number), move |context| server(context, one.clone())).returned();
        let commands = commands.clone();
        // The protocol wants links that lose nothing while they are up: a server that missed the last message of a
        // session learns what it said only when something new is appended, or when a link is new.
        if case.drop == Probability::ZERO && case.isolations.is_empty() {
            let check = format!("{} has decided all commands", name(number));
            simulation.check(&check, move || has_all(&returned, &commands));
        }
    }
    let asked: BTreeSet<Command> = commands.iter().copied().collect();
    simulation.check("servers decided the same, and what was asked for", move || history.check(&asked));
    let expected = commands.clone();
    simulation.add("client", |context| client(context, addresses, commands, UNTIL)).expecting(expected);
    simulation
}

/// The client is not cut off with anyone: it is with the majority.
fn network(case: &TestCase) -> Network {
    let link = Link { drop: case.drop.into(), ..Link::constant(VirtualDuration::from_millis(case.latency_ms)) };
    let partition = |outage: &Outage| ScheduledPartition {
        from: VirtualTime::from_millis(outage.from_ms),
        until: Some(VirtualTime::from_millis(outage.until_ms())),
        groups: vec![vec![name(outage.server)]],
    };
    Network { partitions: case.isolations.iter().map(partition).collect(), ..Network::from(link) }
}

fn faults(case: &TestCase) -> Faults {
    let schedule = case.crashes.iter().flat_map(|outage| {
        let component = name(outage.server);
        let crash = Fault::Crash { component: component.clone() };
        let restart = Fault::Restart { component, durable_state: DurableState::default() };
        [(outage.from_ms, crash), (outage.until_ms(), restart)]
    });
    let mut schedule: Vec<ScheduledFault> =
        schedule.map(|(at_ms, fault)| ScheduledFault { at: VirtualTime::from_millis(at_ms), fault }).collect();
    schedule.sort_by_key(|scheduled| scheduled.at);
    Faults { schedule, ..Faults::default() }
}

fn has_all(returned: &Returned<Vec<Command>>, commands: &[Command]) -> Result<(), CheckFailure> {
    let log = returned.get().ok_or_else(|| CheckFailure::new("the server did not return"))?;
    match commands.iter().find(|command| !log.contains(command)) {
        Some(missing) => Err(CheckFailure::new(format!("{missing:?} is not in its log"))),
        None => Ok(()),
    }
}
