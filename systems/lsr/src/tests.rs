//! Tests of the whole system.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use simutant_sim_core::trace::Action;
use simutant_sim_core::{Context, Report, VirtualTime};
use simutant_system::testing::check_reseeding;
use simutant_system::universe;

use super::configuration::{CLIENT_START, configure_with};
use super::dijkstra::shortest_paths;
use super::link_state::Database;
use super::*;

fn case(topology: Topology, messages: &[(u8, u8)], seed: u64) -> TestCase {
    let messages = messages.iter().map(|&(from, to)| RouterPair { from, to }).collect();
    TestCase { topology, messages, starts_ns: None, seed }
}

/// Runs a case that must pass.
#[track_caller]
fn run(case: &TestCase) -> Report {
    assert_eq!(Lsr::validate(case), Ok(()));
    let report = Lsr::configure(case).run();
    assert!(report.ended.passed(), "{case:?}: {}", report.ended);
    report
}

/// Returns all pairs of routers, those of one router with itself among them.
fn pairs(topology: Topology) -> Vec<(u8, u8)> {
    let count = topology.router_count();
    (1..=count).flat_map(|from| (1..=count).map(move |to| (from, to))).collect()
}

#[test]
fn two_thousand_sampled_cases_pass() {
    for index in 0..2_000 {
        run(&universe::<Lsr>(42, index));
    }
}

#[test]
fn every_pair_of_every_topology_is_served_in_many_orders_of_events() {
    for topology in Topology::ALL {
        for seed in 0..20 {
            for messages in pairs(topology).chunks(2 * usize::from(topology.router_count())) {
                run(&case(topology, messages, seed));
            }
        }
    }
}

#[test]
fn every_list_of_messages_of_a_duo_is_served() {
    let mut lists: Vec<Vec<(u8, u8)>> = vec![Vec::new()];
    let mut next = 0;
    while next < lists.len() {
        let list = lists[next].clone();
        run(&case(Topology::Duo, &list, 7));
        if list.len() < 4 {
            lists.extend(pairs(Topology::Duo).into_iter().map(|pair| [&list[..], &[pair]].concat()));
        }
        next += 1;
    }
    assert_eq!(lists.len(), 1 + 4 + 16 + 64 + 256);
}

#[test]
fn the_network_is_known_before_the_first_message() {
    for topology in Topology::ALL {
        for seed in 0..200 {
            let ended_at = run(&case(topology, &[], seed)).ended_at;
            assert!(ended_at <= VirtualTime::from_millis(70), "{topology}, seed {seed}: {ended_at}");
            assert!(ended_at < CLIENT_START);
        }
    }
}

#[test]
fn announcements_come_in_other_orders_with_other_seeds() {
    let order = |seed| -> Vec<String> {
        let mut simulation = Lsr::configure(&case(Topology::Cycle4, &[], seed));
        simulation.record_trace();
        let trace = simulation.run().trace.expect("it was asked for");
        let arrived = trace.into_iter().filter_map(|event| match event.action {
            Action::Delivered(packet) if packet.kind == "ANNOUNCEMENT" => Some(packet.message),
            _ => None,
        });
        arrived.collect()
    };
    assert_eq!(order(0), order(0));
    assert_eq!((0..30).map(order).collect::<BTreeSet<_>>().len(), 30);
}

fn announcement(origin: u8, links: &[(u8, u32)]) -> Announcement {
    announcement_of(RouterId(origin), links.iter().map(|&(to, cost)| Link { to: RouterId(to), cost }).collect())
}

fn announcement_of(origin: RouterId, links: Vec<Link>) -> Announcement {
    Announcement { origin, sequence: links.len() as u32, links: links.into() }
}

#[test]
fn only_the_newest_announcement_of_a_router_counts() {
    let mut database = Database::default();
    let (first, second) = (announcement(1, &[(2, 3)]), announcement(1, &[(2, 3), (4, 1)]));
    assert!(database.update(&second));
    assert!(!database.update(&first), "an older one was overtaken");
    assert!(!database.update(&second), "a second copy is no news");
    assert!(database.update(&announcement(2, &[(1, 3)])), "another router counts by itself");
    assert!(database.update(&announcement(4, &[(1, 1)])));
    assert_eq!(database.links(RouterId(1)), &*second.links);
    assert_eq!(database.links(RouterId(3)), []);
}

#[test]
fn a_link_counts_as_soon_as_both_ends_announce_it() {
    for topology in Topology::ALL {
        let whole = |id: RouterId| announcement_of(id, topology.neighbours(id).collect());
        // Every set of routers that have announced their links so far.
        for announced in 0_u32..1 << topology.router_count() {
            let has_announced = |id: RouterId| announced >> (id.0 - 1) & 1 == 1;
            let mut database = Database::default();
            for id in topology.routers().filter(|&id| has_announced(id)) {
                assert!(database.update(&whole(id)));
            }
            for id in topology.routers() {
                let both = |link: &Link| has_announced(id) && has_announced(link.to);
                let expect: Vec<Link> = topology.neighbours(id).filter(both).collect();
                assert_eq!(database.links(id), expect, "{topology}, {announced:b}, {id}");
            }
        }
    }
}

#[test]
fn announcements_that_cannot_be_are_refused() {
    #[track_caller]
    fn check(announcement: &Announcement, expect: &str) {
        let mut database = Database::default();
        assert!(database.update(&self::announcement(1, &[(2, 3)])));
        let panic = catch_unwind(AssertUnwindSafe(|| database.update(announcement))).expect_err("it cannot be");
        let message = panic.downcast_ref::<String>().expect("a message with values");
        assert!(message.contains(expect), "{message}");
    }
    check(&announcement(1, &[(2, 4)]), "announcement 1 of router 1 is there in two versions");
    check(&announcement(1, &[(2, 3), (3, 0)]), "announcement 2 of router 1 has a link for nothing");
    check(&Announcement { sequence: 2, ..announcement(1, &[(2, 3)]) }, "the links of announcement 2 of router 1");
}

#[test]
fn shortest_paths_cost_what_the_table_says() {
    for topology in Topology::ALL {
        let mut database = Database::default();
        for origin in topology.routers() {
            let links: Vec<Link> = topology.neighbours(origin).collect();
            database.update(&Announcement { origin, sequence: links.len() as u32, links: links.into() });
        }
        for from in topology.routers() {
            let found: Vec<_> = shortest_paths(&database, from).into_iter().map(|(to, hop)| (to, hop.cost)).collect();
            let table: Vec<_> = topology.routers().map(|to| (to, topology.path_cost(from, to))).collect();
            assert_eq!(found, table, "{topology}, from {from}");
        }
    }
}

/// What a router does wrong that knows no routing, and sends each message through the link to where it is for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// Nothing: where there is one link, there is nothing to route.
    None,
    /// It delivers nothing.
    DeliversNothing,
    /// It delivers messages that are for others.
    DeliversAll,
    /// It delivers every message twice.
    DeliversTwice,
    /// It adds no costs.
    ForgetsCosts,
    /// It takes itself for the source.
    ForgetsSource,
}

async fn faulty(
    context: Context<LsrMessage>,
    port: u16,
    id: RouterId,
    neighbours: Vec<Neighbour>,
    inbox: Inbox,
    fault: Fault,
) {
    let mut channel = context.channel_at(port);
    while context.running() {
        let LsrMessage::Publication(mut publication) = channel.recv().await.message else {
            panic!("nobody else sends")
        };
        if publication.destination == id || fault == Fault::DeliversAll {
            if fault == Fault::ForgetsSource {
                publication.source = id;
            }
            if fault != Fault::DeliversNothing {
                inbox.deliver(publication);
            }
            if fault == Fault::DeliversTwice {
                inbox.deliver(publication);
            }
            continue;
        }
        let neighbour = neighbours.iter().find(|neighbour| neighbour.link.to == publication.destination);
        let neighbour = neighbour.expect("all routers have links to each other");
        if fault != Fault::ForgetsCosts {
            publication.path_cost += neighbour.link.cost;
        }
        channel.send(neighbour.address, publication);
    }
}

#[test]
fn the_oracle_sees_what_routers_do_wrong() {
    #[track_caller]
    fn check(fault: Fault, topology: Topology, pair: (u8, u8), expect: &str) {
        let simulation = configure_with(&case(topology, &[pair], 1), |context, port, id, neighbours, inbox| {
            faulty(context, port, id, neighbours, inbox, fault)
        });
        assert_eq!(simulation.run().ended.to_string(), expect);
    }
    let duo = |fault, expect| check(fault, Topology::Duo, (1, 2), expect);
    duo(Fault::None, "passed");
    duo(Fault::DeliversNothing, "failed: check \"router-2 has its messages\" failed: message 1 was not delivered");
    duo(
        Fault::DeliversAll,
        "failed: check \"router-1 has its messages\" failed: message 1 was delivered here, and is not for here",
    );
    duo(Fault::DeliversTwice, "failed: check \"router-2 has its messages\" failed: message 1 was delivered twice");
    duo(
        Fault::ForgetsCosts,
        "failed: check \"router-2 has its messages\" failed: message 1 came at a cost of 0, the shortest path costs 3",
    );
    let source = "failed: check \"router-2 has its messages\" failed: message 1 was \
                  Publication { number: 1, source: RouterId(1), destination: RouterId(2), path_cost: 3 }, and came as \
                  Publication { number: 1, source: RouterId(2), destination: RouterId(2), path_cost: 3 }";
    duo(Fault::ForgetsSource, source);
    check(
        Fault::None,
        Topology::Cycle3,
        (1, 3),
        "failed: check \"router-3 has its messages\" failed: message 1 came at a cost of 5, the shortest path costs 3",
    );
}

#[test]
fn the_same_case_runs_the_same_and_the_seed_matters() {
    let digest = |seed| run(&case(Topology::Mesh4, &[(1, 4), (4, 1), (2, 2)], seed)).digest;
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn the_universe_has_a_thousand_cases_of_each_topology_and_every_number_of_messages() {
    let cases: Vec<TestCase> = (0..Lsr::UNIVERSE).map(|index| universe::<Lsr>(1, index)).collect();
    for topology in Topology::ALL {
        let of_topology: Vec<_> = cases.iter().filter(|case| case.topology == topology).collect();
        // Five standard deviations of a binomial(7000, 1/7) are 146.
        assert!(of_topology.len().abs_diff(1_000) < 147, "{topology}: {}", of_topology.len());
        let counts: BTreeSet<usize> = of_topology.iter().map(|case| case.messages.len()).collect();
        assert!(counts.into_iter().eq(0..=2 * usize::from(topology.router_count())), "{topology}");
        let used = |pair: &(u8, u8)| {
            let pair = RouterPair { from: pair.0, to: pair.1 };
            of_topology.iter().any(|case| case.messages.contains(&pair))
        };
        assert!(pairs(topology).iter().all(used), "{topology}");
    }
}

#[test]
fn test_cases_outside_the_domain_are_refused_by_name() {
    #[track_caller]
    fn check(case: TestCase, expect: &str) {
        assert_eq!(Lsr::validate(&case).expect_err("it is outside").to_string(), expect);
    }
    let five = case(Topology::Duo, &[(1, 2); 5], 1);
    check(five, "messages is a list of 5: it must be a list of at most 4 for duo");
    check(case(Topology::Line3, &[(1, 2), (4, 1)], 1), "messages[1].from is 4: it must be from 1 to 3");
    check(case(Topology::Star4, &[(1, 0)], 1), "messages[0].to is 0: it must be from 1 to 4");
    let starting = |starts_ns| TestCase { starts_ns: Some(starts_ns), ..case(Topology::Duo, &[], 1) };
    check(starting(vec![0]), "starts_ns is a list of 1: it must be a list of 2 for duo");
    check(starting(vec![0, 20_000_001]), "starts_ns[1] is 20000001: it must be from 0 to 20000000, in nanoseconds");
    assert_eq!(Lsr::validate(&starting(vec![0, 20_000_000])), Ok(()));
}

#[test]
fn another_seed_leaves_the_starts_of_routers_as_they_are() {
    let drawn = case(Topology::Mesh4, &[(1, 4)], 5);
    let reseeded = drawn.reseed(&mut Random::from_seed(7));
    assert_eq!(reseeded.router_starts(), drawn.router_starts());
    assert_ne!(reseeded.seed, drawn.seed);
    let sampled = universe::<Lsr>(1, 0);
    let without = TestCase { starts_ns: None, ..sampled.clone() };
    assert_eq!(run(&sampled).digest, run(&without).digest, "starts are drawn from the seed");
}

#[test]
fn a_test_case_is_json_and_back() {
    let json = r#"{"topology":"4-cycle","messages":[{"from":1,"to":3},{"from":2,"to":2}],"seed":5}"#;
    let parsed: TestCase = serde_json::from_str(json).expect("it is a test case");
    assert_eq!(parsed, case(Topology::Cycle4, &[(1, 3), (2, 2)], 5));
    assert_eq!(serde_json::to_string(&parsed).expect("it is plain data"), json);
    let unknown = json.replace("seed", "sead");
    assert!(serde_json::from_str::<TestCase>(&unknown).is_err());
}

#[test]
fn its_chance_is_its_seed() {
    check_reseeding::<Lsr>(|case| case.seed = 0);
}
