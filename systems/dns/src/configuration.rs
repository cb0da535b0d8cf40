//! The configuration of the domain name system: components, the network between them, and the check at the end.

use std::collections::BTreeMap;
use std::rc::Rc;

use simutant_sim_core::network::LinkSetting;
use simutant_sim_core::{Context, Latency, Link, Network, Simulation, VirtualDuration, VirtualTime};

use super::{Answers, Asked, DnsMessage, Name, TestCase, Zone, resolver, server, stub};

/// The fastest packet between the resolver and a server.
const LATENCY_MIN: VirtualDuration = VirtualDuration::from_millis(5);

/// The slowest packet between the resolver and a server.
const LATENCY_MAX: VirtualDuration = VirtualDuration::from_millis(40);

/// How long every packet between a stub and the resolver is on its way.
const STUB_LATENCY: VirtualDuration = VirtualDuration::from_millis(1);

const PORT: u16 = 53;

pub(super) fn configure(case: &TestCase) -> Simulation<DnsMessage> {
    configure_with(case, server)
}

/// Configures `case` with `server` as its servers.
pub(super) fn configure_with<F: Future<Output = ()> + 'static>(
    case: &TestCase,
    server: impl Fn(Context<DnsMessage>, u16, Rc<[Zone]>) -> F,
) -> Simulation<DnsMessage> {
    let mut simulation = Simulation::new(case.seed);
    let to_servers = Link {
        latency: Latency::Uniform { min: LATENCY_MIN, max: LATENCY_MAX },
        drop: case.drop.into(),
        duplicate: case.duplicate,
        ..Link::default()
    };
    let mut routes = BTreeMap::new();
    for (setup, number) in case.servers.iter().zip(1..) {
        let name = format!("server-{number}");
        let zone = |apex: &Name| case.name_space.zone_of(apex).clone();
        let zones: Rc<[Zone]> = setup.zones.iter().map(zone).collect();
        simulation.add(&name, |context| server(context, PORT, zones));
        routes.insert(setup.address, simulation.address(&name, PORT));
    }
    let hints = case.name_space.root_hints();
    simulation.add("resolver", |context| resolver(context, PORT, hints, Rc::new(routes)));
    let address = simulation.address("resolver", PORT);
    let answers = Answers::new();
    let mut links = Vec::new();
    for number in 1..=3 {
        let queries = case.queries.iter().enumerate().filter(|(_, query)| query.stub == number);
        let list: Vec<Asked> = queries
            .map(|(number, query)| Asked {
                number,
                start: VirtualTime::from_millis(query.start_ms),
                question: query.question(),
            })
            .collect();
        if list.is_empty() {
            continue;
        }
        let name = format!("stub-{number}");
        let noted = answers.of_stub(number.into());
        simulation.add(&name, |context| stub(context, address, list, noted));
        links.push(LinkSetting {
            from: Some(name),
            to: None,
            direction: Default::default(),
            link: Link::constant(STUB_LATENCY),
        });
    }
    simulation.network(Network { link: to_servers, links, ..Network::default() });
    let judged = case.clone();
    simulation.check("stubs have the right answers", move || answers.check(&judged));
    simulation
}
