//! Test cases, their domain, and how they become simulations with an oracle.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_sim_core::network::ScheduledPartition;
use simutant_sim_core::trace::DurableState;
use simutant_sim_core::{
    CheckFailure, Fault, Faults, Link, Network, Probability, Random, Returned, ScheduledFault, Simulation,
    VirtualDuration, VirtualTime,
};
use simutant_system::{Domain, InvalidTestCase, Lengths, Probabilities};

use crate::client::client;
use crate::history::Decisions;
use crate::messages::{ClusterMessage, Command};
use crate::server::{PORT, Server, server};

/// How many commands the client has.
pub const COMMANDS: RangeInclusive<u64> = 1..=6;

/// How long packets are on their way: an election's question and answer take less than its timeout.
pub const LATENCY_MS: RangeInclusive<u64> = 1..=20;

/// How likely a packet is lost, if any is.
const DROP: Probabilities = Probabilities::up_to(0.10);

/// How many crashes there are, and how many isolations.
const OUTAGES: Lengths = Lengths(0..=2);

/// When an outage begins.
const OUTAGE_FROM_MS: RangeInclusive<u64> = 0..=800;

/// How long an outage lasts.
const OUTAGE_FOR_MS: RangeInclusive<u64> = 1..=600;

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
            from_ms: OUTAGE_FROM_MS.draw(random),
            for_ms: OUTAGE_FOR_MS.draw(random),
        }
    }
}

impl TestCase {
    pub(crate) fn sample(random: &mut Random) -> Self {
        let servers = if random.uniform(0..3_u8) == 0 { 5 } else { 3 };
        let commands = COMMANDS.draw(random);
        let latency_ms = LATENCY_MS.draw(random);
        let drop = DROP.draw_hundredths(random);
        let mut outages = || (0..OUTAGES.draw(random)).map(|_| Outage::sample(random, servers)).collect();
        let (crashes, isolations) = (outages(), outages());
        Self { servers, commands, latency_ms, drop, crashes, isolations, seed: random.bits() }
    }

    pub(crate) fn validate(&self) -> Result<(), InvalidTestCase> {
        if ![3, 5].contains(&self.servers) {
            return Err(InvalidTestCase::new("servers", self.servers, "3 or 5"));
        }
        COMMANDS.check("commands", &self.commands)?;
        LATENCY_MS.check("latency_ms", &self.latency_ms)?;
        DROP.check("drop", &self.drop)?;
        for (list, outages) in [("crashes", &self.crashes), ("isolations", &self.isolations)] {
            OUTAGES.check(list, &outages.len())?;
            for (index, outage) in outages.iter().enumerate() {
                let field = |name| format!("{list}[{index}].{name}");
                (1..=self.servers).check(field("server"), &outage.server)?;
                OUTAGE_FROM_MS.check(field("from_ms"), &outage.from_ms)?;
                OUTAGE_FOR_MS.check(field("for_ms"), &outage.for_ms)?;
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
    let decisions = Decisions::new(&simulation);
    for number in 1..=case.servers {
        let one = Server { number, addresses: addresses.clone(), until: UNTIL, decisions: decisions.clone() };
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
    simulation.check("servers decided the same, and what was asked for", move || decisions.check(&asked));
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
