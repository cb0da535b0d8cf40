//! The configuration of link-state routing: test cases, their domain, and the oracle.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_sim_core::{Context, Latency, Link, Random, Simulation, VirtualDuration, VirtualTime};
use simutant_system::{Domain, InvalidTestCase, Lengths, Observer};

use super::{Inbox, LsrMessage, Neighbour, Publication, RouterId, Topology, client, router};

/// The latest start of a router.
const ROUTER_START_MAX: VirtualTime = VirtualTime::from_millis(20);

const ROUTER_STARTS: RangeInclusive<VirtualTime> = VirtualTime::ZERO..=ROUTER_START_MAX;

/// The fastest packet: so much faster than the slowest that packets overtake each other.
const LATENCY_MIN: VirtualDuration = VirtualDuration::from_millis(1);

/// The slowest packet.
const LATENCY_MAX: VirtualDuration = VirtualDuration::from_millis(10);

/// When the first message is published. By then all routers know the network: the last one starts after at most 20 ms,
/// its greeting and the answer take 20 ms, and what they cause to be announced gets through at most three links in 30
/// ms.
pub(super) const CLIENT_START: VirtualTime = VirtualTime::from_millis(100);

/// The time from one message to the next. Messages that go more than one link are on their way together.
pub const CLIENT_GAP: VirtualDuration = VirtualDuration::from_millis(10);

const ROUTER_PORT: u16 = 1_234;

/// An input vector of link-state routing (Rutherford, PhD thesis, section 4.1.2.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// How the routers are linked.
    pub topology: Topology,
    /// The messages, in the order in which they are published: at most two for each router.
    pub messages: Vec<RouterPair>,
    /// When each router starts, in nanoseconds, in the order of their numbers; drawn from the seed if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_ns: Option<Vec<u64>>,
    /// Fixes how long each packet is on its way.
    pub seed: u64,
}

/// Where a message is published, and where it is to be delivered. Both can be the same router.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterPair {
    /// The number of the source: from 1 to the number of routers.
    pub from: u8,
    /// The number of the destination: from 1 to the number of routers.
    pub to: u8,
}

impl TestCase {
    pub(super) fn sample(random: &mut Random) -> Self {
        let topology = *random.choose(&Topology::ALL).expect("there are seven");
        let routers = 1..=topology.router_count();
        let messages = (0..messages(topology).draw(random))
            .map(|_| RouterPair { from: routers.draw(random), to: routers.draw(random) })
            .collect();
        let case = Self { topology, messages, starts_ns: None, seed: random.bits() };
        case.with_starts()
    }

    /// Returns this test case with the starts of its routers as numbers of its own: another seed leaves them as they are.
    fn with_starts(mut self) -> Self {
        self.starts_ns = Some(self.router_starts().into_iter().map(VirtualTime::as_nanos).collect());
        self
    }

    /// Returns this test case with other delays of its packets.
    pub(super) fn reseed(&self, random: &mut Random) -> Self {
        Self { seed: random.bits(), ..self.clone().with_starts() }
    }

    /// Returns when each router starts, in the order of their numbers.
    pub fn router_starts(&self) -> Vec<VirtualTime> {
        if let Some(starts) = &self.starts_ns {
            return starts.iter().copied().map(VirtualTime::from_nanos).collect();
        }
        let mut starts = Random::from_seed(self.seed).stream("starts");
        self.topology.routers().map(|_| ROUTER_STARTS.draw(&mut starts)).collect()
    }

    /// Returns what the network does to packets: it delays them, each by a time of its own.
    pub fn network(&self) -> Link {
        Link { latency: Latency::Uniform { min: LATENCY_MIN, max: LATENCY_MAX }, ..Link::default() }
    }

    /// Returns the messages as they are to be delivered, in the order in which they are published.
    pub fn publications(&self) -> impl Iterator<Item = Publication> {
        let &Self { topology, ref messages, .. } = self;
        (1..).zip(messages).map(move |(number, &RouterPair { from, to })| {
            let (source, destination) = (RouterId(from), RouterId(to));
            Publication { number, source, destination, path_cost: topology.path_cost(source, destination) }
        })
    }

    pub(super) fn validate(&self) -> Result<(), InvalidTestCase> {
        let given_topology = |refused: InvalidTestCase| refused.given(format!("for {}", self.topology));
        messages(self.topology).check("messages", &self.messages.len()).map_err(given_topology)?;
        let routers = 1..=self.topology.router_count();
        if let Some(starts) = &self.starts_ns {
            Lengths(routers.len()..=routers.len()).check("starts_ns", &starts.len()).map_err(given_topology)?;
            for (index, &start) in starts.iter().enumerate() {
                ROUTER_STARTS.check(format!("starts_ns[{index}]"), &VirtualTime::from_nanos(start))?;
            }
        }
        for (index, pair) in self.messages.iter().enumerate() {
            routers.check(format!("messages[{index}].from"), &pair.from)?;
            routers.check(format!("messages[{index}].to"), &pair.to)?;
        }
        Ok(())
    }
}

/// Returns how many messages a test case may have.
fn messages(topology: Topology) -> Lengths {
    Lengths(0..=2 * usize::from(topology.router_count()))
}

pub(super) fn configure(case: &TestCase) -> Simulation<LsrMessage> {
    configure_with(case, router)
}

/// Configures `case` with `router` as its routers: the oracle knows of a router only what it delivers.
pub(super) fn configure_with<F: Future<Output = ()> + 'static>(
    case: &TestCase,
    router: impl Fn(Context<LsrMessage>, u16, RouterId, Vec<Neighbour>, Inbox) -> F,
) -> Simulation<LsrMessage> {
    let topology = case.topology;
    let mut simulation = Simulation::new(case.seed);
    simulation.network(case.network());
    let addresses: Vec<_> = topology.routers().map(|id| simulation.address(&id.name(), ROUTER_PORT)).collect();
    let address = |id: RouterId| addresses[usize::from(id.0) - 1];
    let delivered = Observer::new(&simulation);
    for (id, start) in topology.routers().zip(case.router_starts()) {
        let neighbours = topology.neighbours(id).map(|link| Neighbour { link, address: address(link.to) }).collect();
        let inbox = Inbox::new(id, delivered.clone());
        let delivered = inbox.clone();
        simulation.add(&id.name(), |context| router(context, ROUTER_PORT, id, neighbours, inbox)).starting_at(start);
        let expected: Vec<Publication> =
            case.publications().filter(|publication| publication.destination == id).collect();
        simulation.check(&format!("{} has its messages", id.name()), move || delivered.check(&expected));
    }
    let mut start = CLIENT_START;
    for Publication { number, source, destination, .. } in case.publications() {
        let to = address(source);
        simulation
            .add(&format!("client-{number}"), move |context| client(context, to, number, source, destination))
            .starting_at(start);
        start += CLIENT_GAP;
    }
    simulation
}

impl RouterId {
    /// Returns the name of the router's component.
    pub fn name(self) -> String {
        format!("router-{}", self.0)
    }
}
