//! Test cases, their domain, and how they become simulations with an oracle.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use simutant_oracle::specifications::store::Operation;
use simutant_sim_core::network::{Latency, ScheduledPartition};
use simutant_sim_core::trace::DurableState;
use simutant_sim_core::{
    Clock, ClockFault, Fault, Faults, Link, Network, Probability, Random, ScheduledFault, Simulation, VirtualDuration,
    VirtualTime,
};
use simutant_system::{Domain, InvalidTestCase, Lengths, Probabilities};

use crate::client::{Client, client};
use crate::history::Calls;
use crate::messages::StoreMessage;
use crate::replica::{PORT, Replica, replica};

/// How many replicas there are.
pub const REPLICAS: usize = 3;

/// How many clients there are.
const CLIENTS: Lengths = Lengths(1..=3);

/// What a client asks for.
const REQUESTS: Lengths = Lengths(1..=20);

/// How long a client waits between an answer and the next request.
const THINK_MS: RangeInclusive<u64> = 10..=80;

/// How long packets are on their way, at most: question and answer take less than a client's timeout.
pub const LATENCY_MAX_MS: RangeInclusive<u64> = 1..=20;

/// How likely a packet is lost, if any is.
const DROP: Probabilities = Probabilities::up_to(0.15);

/// How many crashes there are, and how many partitions.
const OUTAGES: Lengths = Lengths(0..=2);

/// When an outage begins.
const OUTAGE_FROM_MS: RangeInclusive<u64> = 200..=900;

/// How long an outage lasts.
const OUTAGE_FOR_MS: RangeInclusive<u64> = 1..=1_500;

/// By how many per cent a clock may be too fast or too slow.
const DRIFT_PERCENT: RangeInclusive<i64> = -4..=4;

/// When clients give up, long after the last outage.
const UNTIL: VirtualTime = VirtualTime::from_millis(10_000);

/// An input vector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// What each client asks for: from 1 to 3 lists of from 1 to 20 requests.
    pub clients: Vec<Vec<Request>>,
    /// How long a client waits between an answer and the next request: from 10 to 80 ms.
    pub think_ms: u64,
    /// How long a packet is on its way: from 1 ms to so many, at most 20.
    pub latency_max_ms: u64,
    /// The probability that a packet is lost: at most 0.15.
    pub drop: Probability,
    /// Replicas that crash and restart: at most 2.
    pub crashes: Vec<Outage>,
    /// Replicas that are cut off from the other ones and from the clients, but maybe not from one client: at most 2.
    pub partitions: Vec<Partition>,
    /// By how many per cent the clock of each replica is too fast: from -4 to 4, three times.
    pub drift_percent: Vec<i64>,
    /// Fixes latencies and which packets are lost.
    pub seed: u64,
}

/// What a client asks for. What it puts or appends is made of its number and that of the request, so that no two
/// changes are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// The value of the first key.
    GetX,
    /// The value of the second key.
    GetY,
    /// Another value of the first key.
    PutX,
    /// More of the value of the first key.
    AppendX,
    /// More of the value of the second key.
    AppendY,
}

/// A time without a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The replica's number, from 1.
    pub replica: usize,
    /// When it begins: from 200 to 900 ms.
    pub from_ms: u64,
    /// How long it lasts: from 1 to 1,500 ms.
    pub for_ms: u64,
}

/// A time in which a replica is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Partition {
    /// The replica, and when.
    pub outage: Outage,
    /// The number of the client that is cut off with it; 0 for none.
    pub client: usize,
}

impl Request {
    /// What most clients ask for.
    const MIXED: [Self; 6] = [Self::GetX, Self::GetX, Self::GetY, Self::PutX, Self::AppendX, Self::AppendY];

    fn sample(random: &mut Random, is_reader: bool) -> Self {
        if is_reader && random.uniform(0..20_u8) > 0 {
            Self::GetX
        } else {
            Self::MIXED[random.uniform(0..Self::MIXED.len())]
        }
    }

    /// Returns whether it changes nothing.
    pub fn is_read(self) -> bool {
        matches!(self, Self::GetX | Self::GetY)
    }

    fn operation(self, client: usize, number: usize) -> Operation {
        let value = || format!("{client}.{number} ").as_str().into();
        match self {
            Self::GetX => Operation::Get { key: "x".into() },
            Self::GetY => Operation::Get { key: "y".into() },
            Self::PutX => Operation::Put { key: "x".into(), value: value() },
            Self::AppendX => Operation::Append { key: "x".into(), value: value() },
            Self::AppendY => Operation::Append { key: "y".into(), value: value() },
        }
    }
}

impl Outage {
    /// Returns when it is over.
    pub fn until_ms(self) -> u64 {
        self.from_ms + self.for_ms
    }

    fn sample(random: &mut Random) -> Self {
        // The first one is the primary mostly, until it is cut off or crashes.
        let is_first = random.uniform(0..2_u8) == 0;
        Self {
            replica: if is_first { 1 } else { random.uniform(1..=REPLICAS) },
            from_ms: OUTAGE_FROM_MS.draw(random),
            for_ms: OUTAGE_FOR_MS.draw(random),
        }
    }

    fn validate(self, at: &str) -> Result<(), InvalidTestCase> {
        (1..=REPLICAS).check(format!("{at}.replica"), &self.replica)?;
        OUTAGE_FROM_MS.check(format!("{at}.from_ms"), &self.from_ms)?;
        OUTAGE_FOR_MS.check(format!("{at}.for_ms"), &self.for_ms)
    }
}

impl TestCase {
    pub(crate) fn sample(random: &mut Random) -> Self {
        // A client that changes something while it is cut off with a primary waits until that is over, so some only read.
        let clients: Vec<Vec<Request>> = (0..CLIENTS.draw(random))
            .map(|_| {
                let is_reader = random.uniform(0..3_u8) == 0;
                (0..REQUESTS.draw(random)).map(|_| Request::sample(random, is_reader)).collect()
            })
            .collect();
        let think_ms = THINK_MS.draw(random);
        let latency_max_ms = LATENCY_MAX_MS.draw(random);
        let drop = DROP.draw_hundredths(random);
        let crashes = (0..OUTAGES.draw(random)).map(|_| Outage::sample(random)).collect();
        let partitions = (0..OUTAGES.draw(random))
            .map(|_| Partition { outage: Outage::sample(random), client: random.uniform(0..=clients.len()) });
        let partitions = partitions.collect();
        let drift_percent = (0..REPLICAS).map(|_| DRIFT_PERCENT.draw(random)).collect();
        let seed = random.bits();
        Self { clients, think_ms, latency_max_ms, drop, crashes, partitions, drift_percent, seed }
    }

    pub(crate) fn validate(&self) -> Result<(), InvalidTestCase> {
        CLIENTS.check("clients", &self.clients.len())?;
        for (index, requests) in self.clients.iter().enumerate() {
            REQUESTS.check(format!("clients[{index}]"), &requests.len())?;
        }
        THINK_MS.check("think_ms", &self.think_ms)?;
        LATENCY_MAX_MS.check("latency_max_ms", &self.latency_max_ms)?;
        DROP.check("drop", &self.drop)?;
        OUTAGES.check("crashes", &self.crashes.len())?;
        for (index, outage) in self.crashes.iter().enumerate() {
            outage.validate(&format!("crashes[{index}]"))?;
        }
        OUTAGES.check("partitions", &self.partitions.len())?;
        for (index, partition) in self.partitions.iter().enumerate() {
            partition.outage.validate(&format!("partitions[{index}].outage"))?;
            (0..=self.clients.len()).check(format!("partitions[{index}].client"), &partition.client)?;
        }
        Lengths(REPLICAS..=REPLICAS).check("drift_percent", &self.drift_percent.len())?;
        for (index, drift) in self.drift_percent.iter().enumerate() {
            DRIFT_PERCENT.check(format!("drift_percent[{index}]"), drift)?;
        }
        Ok(())
    }
}

fn replica_name(number: usize) -> String {
    format!("r{number}")
}

fn client_name(number: usize) -> String {
    format!("c{number}")
}

pub(crate) fn configure(case: &TestCase) -> Simulation<StoreMessage> {
    let mut simulation = Simulation::new(case.seed);
    simulation.network(network(case));
    simulation.faults(faults(case));
    let addresses: Vec<_> = (1..=REPLICAS).map(|number| simulation.address(&replica_name(number), PORT)).collect();
    let working = Rc::new(Cell::new(case.clients.len()));
    for number in 1..=REPLICAS {
        let one = Replica { number, addresses: addresses.clone(), clients: working.clone(), until: UNTIL };
        simulation.add_restartable(&replica_name(number), move |context| replica(context, one.clone()));
    }
    let calls = Calls::new(&simulation);
    for (number, requests) in (1..).zip(&case.clients) {
        let operations = requests.iter().enumerate().map(|(place, request)| request.operation(number, place));
        let one = Client {
            number: number as u64,
            replicas: addresses.clone(),
            operations: operations.collect(),
            think: VirtualDuration::from_millis(case.think_ms),
            until: UNTIL,
        };
        let (calls, working) = (calls.clone(), working.clone());
        let body = |context| async move {
            let answered = client(context, one, calls).await;
            working.set(working.get() - 1);
            answered
        };
        simulation.add(&client_name(number), body).expecting(requests.len());
    }
    calls.check(&mut simulation);
    simulation
}

fn network(case: &TestCase) -> Network {
    let latency = Latency::Uniform {
        min: VirtualDuration::from_millis(1),
        max: VirtualDuration::from_millis(case.latency_max_ms),
    };
    let link = Link { latency, drop: case.drop.into(), ..Link::default() };
    let partition = |partition: &Partition| {
        let client = (partition.client > 0).then(|| client_name(partition.client));
        ScheduledPartition {
            from: VirtualTime::from_millis(partition.outage.from_ms),
            until: Some(VirtualTime::from_millis(partition.outage.until_ms())),
            groups: vec![std::iter::once(replica_name(partition.outage.replica)).chain(client).collect()],
        }
    };
    Network { partitions: case.partitions.iter().map(partition).collect(), ..Network::from(link) }
}

fn faults(case: &TestCase) -> Faults {
    let schedule = case.crashes.iter().flat_map(|outage| {
        let component = replica_name(outage.replica);
        let crash = Fault::Crash { component: component.clone() };
        let restart = Fault::Restart { component, durable_state: DurableState::default() };
        [(outage.from_ms, crash), (outage.until_ms(), restart)]
    });
    let mut schedule: Vec<ScheduledFault> =
        schedule.map(|(at_ms, fault)| ScheduledFault { at: VirtualTime::from_millis(at_ms), fault }).collect();
    schedule.sort_by_key(|scheduled| scheduled.at);
    let clocks = (1..).zip(&case.drift_percent).map(|(number, percent)| ClockFault {
        component: replica_name(number),
        clock: Clock { offset_ns: 0, drift_ns_per_s: percent * 10_000_000 },
    });
    Faults { schedule, clocks: clocks.collect(), ..Faults::default() }
}
