//! The mistakes of link-state routing, on a network in virtual time: the right router passes each test case, and each
//! faulty one fails on some and passes most.
//!
//! Routers start, packets take as long, and messages are published as in the tests of the real programs, which take a
//! fifth of a second for each test case; here thousands fit into a second.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use simutant_lsr::{CLIENT_GAP, Lsr, RouterId, TestCase};
use simutant_lsr_programs::{Behaviour, Correct, Message, Neighbour, Packet, Reaction, Router, faults};
use simutant_sim_core::VirtualTime;
use simutant_sim_core::network::{Fate, Fates};
use simutant_system::universe;

/// As in the program.
const GREETING_INTERVAL: Duration = Duration::from_millis(50);

/// For how long nobody has said anything when the first message is published, as in the testbed.
const SILENCE: Duration = Duration::from_millis(25);

/// When a run ends.
const END: Duration = Duration::from_millis(500);

/// How many test cases each mistake is tried on.
const CASES_MIN: usize = 30;

/// How many more it is tried on, with those, until it shows.
const CASES_MAX: usize = 300;

/// What happens at some time.
enum Event {
    /// A router greets those who are silent.
    Greet(RouterId),
    /// A packet comes from an address.
    Packet(RouterId, SocketAddr, Packet),
}

/// The network of one test case.
struct World<'a> {
    case: &'a TestCase,
    routers: BTreeMap<RouterId, Router>,
    starts: BTreeMap<RouterId, Duration>,
    fates: BTreeMap<RouterId, Fates>,
    /// By their times, and in the order in which they were scheduled.
    events: BTreeMap<(Duration, usize), Event>,
    scheduled: usize,
    delivered: Vec<(RouterId, Message)>,
}

fn address(id: RouterId) -> SocketAddr {
    ([127, 0, 0, 1], u16::from(id.0)).into()
}

fn duration(time: VirtualTime) -> Duration {
    Duration::from_nanos(time.as_nanos())
}

impl<'a> World<'a> {
    fn new(case: &'a TestCase, behaviour: &'static dyn Behaviour) -> Self {
        let router = |id: RouterId| {
            let neighbour = |link: simutant_lsr::Link| {
                let cost = link.cost.try_into().expect("links cost little");
                Neighbour { number: link.to.0, address: address(link.to), cost }
            };
            (id, Router::new(id.0, case.topology.neighbours(id).map(neighbour).collect(), behaviour))
        };
        let fates = |id: RouterId| (id, Fates::new(&case.network(), case.seed, &id.name()).expect("a valid network"));
        let starts: BTreeMap<_, _> =
            case.topology.routers().zip(case.router_starts().into_iter().map(duration)).collect();
        let mut world = Self {
            case,
            routers: case.topology.routers().map(router).collect(),
            starts: starts.clone(),
            fates: case.topology.routers().map(fates).collect(),
            events: BTreeMap::new(),
            scheduled: 0,
            delivered: Vec::new(),
        };
        starts.into_iter().for_each(|(id, start)| world.schedule(start, Event::Greet(id)));
        world
    }

    fn schedule(&mut self, at: Duration, event: Event) {
        self.events.insert((at, self.scheduled), event);
        self.scheduled += 1;
    }

    fn send(&mut self, now: Duration, from: RouterId, packets: Vec<(SocketAddr, Packet)>) {
        for (to, packet) in packets {
            let fates = self.fates.get_mut(&from).expect("it is a router");
            let Fate::Delivered(arrival) = fates.draw(VirtualTime::ZERO, 0) else { panic!("nothing is lost") };
            let to = RouterId(to.port().try_into().expect("a router's"));
            let at = now + Duration::from_nanos(arrival.after.as_nanos());
            self.schedule(at, Event::Packet(to, address(from), packet));
        }
    }

    /// Lets happen what happens, until nothing does for a while or the run ends, and returns when that is.
    fn run(&mut self, is_over: impl Fn(Duration, Duration) -> bool) -> Duration {
        let mut last = self.starts.values().copied().max().unwrap_or_default();
        while let Some(event) = self.events.first_entry().filter(|event| !is_over(last, event.key().0)) {
            let ((now, _), event) = event.remove_entry();
            match event {
                Event::Greet(id) => {
                    let greetings = self.routers[&id].greetings();
                    self.send(now, id, greetings);
                    self.schedule(now + GREETING_INTERVAL, Event::Greet(id));
                }
                Event::Packet(to, source, packet) => {
                    last = last.max(now);
                    // Who has not started hears nothing.
                    if let Some(since) = now.checked_sub(self.starts[&to]) {
                        let router = self.routers.get_mut(&to).expect("it is a router");
                        let Reaction { send, deliver, .. } = router.take(source, packet, since);
                        self.delivered.extend(deliver.map(|message| (to, message)));
                        self.send(now, to, send);
                    }
                }
            }
        }
        last
    }
}

/// Returns whether routers of such a behaviour pass a test case.
fn passes(case: &TestCase, behaviour: &'static dyn Behaviour) -> bool {
    let mut world = World::new(case, behaviour);
    let quiet = world.run(|last, next| next > last + SILENCE) + SILENCE;
    for publication in world.case.publications() {
        let at = quiet + Duration::from_nanos(CLIENT_GAP.as_nanos()) * (publication.number - 1);
        let (source, destination) = (publication.source.0, publication.destination.0);
        let message = Message { number: publication.number, source, destination, cost: 0, hops: 0 };
        world.schedule(at, Event::Packet(publication.source, ([127, 0, 0, 1], 0).into(), Packet::Message(message)));
    }
    world.run(|_, next| next > END);
    let mut delivered: Vec<_> =
        world.delivered.iter().map(|(at, message)| (message.number, at.0, message.cost)).collect();
    delivered.sort_unstable();
    let expected =
        case.publications().map(|publication| (publication.number, publication.destination.0, publication.path_cost));
    delivered == expected.collect::<Vec<_>>()
}

#[test]
fn each_mistake_shows_in_some_test_cases_and_in_few() {
    let cases: Vec<TestCase> = (0..CASES_MAX).map(|index| universe::<Lsr>(1, index)).collect();
    let (first, others) = cases.split_at(CASES_MIN);
    assert!(cases.iter().all(|case| passes(case, &Correct)));
    for (fault, behaviour) in faults::ALL {
        let failures = first.iter().filter(|case| !passes(case, behaviour)).count();
        assert!(failures <= CASES_MIN / 2, "{fault} fails on {failures} of {CASES_MIN}");
        let is_seen = failures > 0 || others.iter().any(|case| !passes(case, behaviour));
        assert!(is_seen, "{fault} passes on all of them");
    }
}
