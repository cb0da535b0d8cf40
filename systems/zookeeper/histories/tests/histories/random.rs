//! Histories of random calls: the search agrees with a judge that tries all orders.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_oracle::specifications::Text;
use simutant_oracle::{Call, Check, End, History, Order, Session, Strategy, hints};
use simutant_random::Random;
use simutant_zookeeper_histories::{
    Access, CreateMode, Error, Event, Operation, Owner, Permissions, Response, Stat, Who, ZooKeeper,
};

use crate::judge::{Shape, brute_force, history, one_of};

fn path(path: &str) -> Text {
    path.into()
}

/// Calls that mind versions.
fn of_versions() -> Vec<Operation> {
    let set = |data: &str, version| Operation::SetData { path: path("/a"), data: Some(data.into()), version };
    let acl = vec![Access { who: Who::Session(Session(1)), permissions: Permissions(29) }];
    vec![
        Operation::Create { path: path("/a"), data: None, mode: CreateMode::Persistent },
        Operation::Create { path: path("/a/b"), data: None, mode: CreateMode::Persistent },
        set("x", None),
        set("y", Some(0)),
        set("y", Some(1)),
        Operation::SetAcl { path: path("/a"), acl, version: Some(0) },
        Operation::Delete { path: path("/a"), version: Some(1) },
        Operation::Delete { path: path("/a/b"), version: None },
        Operation::Exists { path: path("/a") },
        Operation::GetData { path: path("/a") },
        Operation::GetChildren { path: path("/") },
        Operation::GetAcl { path: path("/a") },
    ]
}

/// Calls that make nodes of all kinds, and end sessions.
fn of_kinds() -> Vec<Operation> {
    use CreateMode::{Ephemeral, EphemeralSequential, Persistent, PersistentSequential};
    let create = |at: &str, mode| Operation::Create { path: path(at), data: None, mode };
    vec![
        create("/a", Persistent),
        create("/a", Ephemeral),
        create("/a/b", Persistent),
        create("/a/b", EphemeralSequential),
        create("/a/", PersistentSequential),
        Operation::Close,
        Operation::Delete { path: path("/a"), version: None },
        Operation::Delete { path: path("/a/b0000000000"), version: None },
        Operation::Exists { path: path("/a") },
        Operation::Exists { path: path("/a/0000000001") },
        Operation::GetChildren { path: path("/a") },
    ]
}

/// Transactions, and calls that see whether all of one was done.
fn of_transactions() -> Vec<Operation> {
    let create = |at: &str, mode| Operation::Create { path: path(at), data: None, mode };
    let check = |at: &str, version| Operation::Check { path: path(at), version };
    let set = |version| Operation::SetData { path: path("/a"), data: None, version };
    let delete = |at: &str| Operation::Delete { path: path(at), version: None };
    vec![
        create("/a", CreateMode::Persistent),
        Operation::Multi(vec![create("/a", CreateMode::Persistent), create("/a/b", CreateMode::PersistentSequential)]),
        Operation::Multi(vec![set(None), check("/a", Some(1))]),
        Operation::Multi(vec![check("/a", Some(0)), create("/b", CreateMode::Persistent), check("/a/b", None)]),
        Operation::Multi(vec![delete("/b"), delete("/a")]),
        Operation::Multi(vec![]),
        set(Some(0)),
        delete("/a"),
        Operation::Exists { path: path("/b") },
        Operation::GetData { path: path("/a") },
        Operation::GetChildren { path: path("/a") },
    ]
}

/// Calls that watch, and change what is watched, and what ends sessions.
fn of_watches() -> Vec<Operation> {
    let create = |at: &str, mode| Operation::Create { path: path(at), data: None, mode };
    let set = || Operation::SetData { path: path("/a"), data: Some("x".into()), version: None };
    let own = vec![Access { who: Who::Session(Session(1)), permissions: Permissions::ALL }];
    vec![
        create("/a", CreateMode::Ephemeral),
        create("/a", CreateMode::Persistent),
        create("/b", CreateMode::Ephemeral),
        Operation::Delete { path: path("/a"), version: None },
        set(),
        Operation::Multi(vec![create("/a", CreateMode::Persistent), set()]),
        Operation::SetAcl { path: path("/a"), acl: own, version: None },
        Operation::Exists { path: path("/a") }.and_watch(),
        Operation::Exists { path: path("/a") }.and_watch(),
        Operation::GetData { path: path("/a") }.and_watch(),
        Operation::GetChildren { path: path("/") }.and_watch(),
        Operation::Exists { path: path("/b") }.and_watch(),
        Operation::Exists { path: path("/") },
        Operation::GetData { path: path("/a") },
        Operation::Close,
        Operation::Notice,
        Operation::Connect,
        Operation::Expire,
    ]
}

/// Makes up what a session sees of a call with watches.
fn made_up_with_events(random: &mut Random, operation: &Operation) -> Response {
    let all = [
        Event::Created(path("/a")),
        Event::Deleted(path("/a")),
        Event::DataChanged(path("/a")),
        Event::ChildrenChanged(path("/")),
        Event::Deleted(path("/b")),
    ];
    let events = (0..random.uniform(0..3_u8)).map(|_| one_of(random, &all)).collect();
    let answer = match operation {
        Operation::Notice | Operation::Connect => return Response::Events(events),
        Operation::Watch(read) => made_up(random, read),
        other => made_up(random, other),
    };
    match random.uniform(0..8_u8) {
        0 => Response::Error(Error::SessionExpired),
        1..4 => answer.after(events),
        _ => answer,
    }
}

/// Returns a history as clients see it: no answer that is not sent, and events in the order in which they came.
fn as_seen(history: &History<Operation, Response>) -> History<Operation, Response> {
    let flat = |events: &[Event]| -> Vec<Event> {
        let each = events.iter().map(|event| match event {
            Event::InAnyOrder(events) => events.iter().rev().cloned().collect(),
            one => vec![one.clone()],
        });
        each.flatten().collect()
    };
    let seen = |response: &Response| match response {
        Response::Told { events, answer } => answer.as_ref().clone().after(flat(events)),
        Response::Events(events) => Response::Events(flat(events)),
        other => other.clone(),
    };
    let calls = history.calls().iter().map(|call| {
        let end = match &call.end {
            End::Returned { response: Response::Unanswered, .. } => End::Unknown,
            End::Returned { at, response } => End::Returned { at: *at, response: seen(response) },
            other => other.clone(),
        };
        Call { end, ..call.clone() }
    });
    History::from_calls(calls.collect()).expect("ends are as they were")
}

/// Makes up an answer: with statistics, or without.
fn made_up(random: &mut Random, operation: &Operation) -> Response {
    let errors = [
        Error::NoNode,
        Error::NodeExists,
        Error::NotEmpty,
        Error::BadVersion,
        Error::NoAuth,
        Error::NoChildrenForEphemerals,
    ];
    if let Operation::Multi(parts) = operation {
        if random.uniform(0..2_u8) == 0 {
            return Response::refused_parts(parts.len(), random.uniform(0..3_usize), one_of(random, &errors));
        }
        return Response::Parts(parts.iter().map(|_| Response::Done).collect());
    }
    if random.uniform(0..3_u8) == 0 {
        return Response::Error(one_of(random, &errors));
    }
    let answer = match operation {
        Operation::Exists { .. } => Response::Exists(random.uniform(0..2_u8) == 0),
        Operation::GetData { .. } => Response::Data(one_of(random, &[None, Some("x".into()), Some("y".into())])),
        Operation::GetChildren { .. } => Response::Children(one_of(random, &[vec!["zookeeper".into()], vec![]])),
        Operation::Create { path, mode, .. } => {
            // Some clients do not look at the path.
            let created = if mode.is_sequential() { path.with("0000000000") } else { path.clone() };
            return one_of(random, &[Response::Created(created), Response::Done]);
        }
        _ => Response::Done,
    };
    let mut number = || random.uniform(0..2_u32);
    let stat = Stat {
        version: number(),
        acl_version: number(),
        children_version: number() as i32,
        children: number(),
        data_length: number(),
        owner: Owner::Nobody,
    };
    if number() == 0 { answer.with_stat(stat) } else { answer }
}

fn check(operations: &[Operation], seed: u64) {
    let shape = Shape { calls_max: 6, sessions: 3, unknown: 2, may_be_wrong: true };
    let random = &mut Random::from_seed(seed);
    let tree = ZooKeeper::default();
    let history = history(random, shape, &tree, |random| one_of(random, operations), made_up);
    for order in [Order::linearizability(), Order::sequential(), Order::ordered_sequential(), Order::none()] {
        let expect = brute_force(&history, &tree, &order);
        let checked = Check { order: order.clone(), ..Check::default() }.run(&history, &tree);
        assert_eq!(checked.is_possible(), expect, "{order:?}: {history:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn versions_agree_with_brute_force(seed: u64) {
        check(&of_versions(), seed);
    }

    #[test]
    fn kinds_of_nodes_agree_with_brute_force(seed: u64) {
        check(&of_kinds(), seed);
    }

    #[test]
    fn transactions_agree_with_brute_force(seed: u64) {
        check(&of_transactions(), seed);
    }
}

/// Hints of watches hold for histories with the reads that left them: `hints::check` does not know how a state came about.
#[test]
fn watches_agree_with_brute_force() {
    let operations = of_watches();
    let (mut possible, mut told, mut expired) = (0, 0, 0);
    for seed in 0..2_000 {
        let shape = Shape { calls_max: 7, sessions: 2, unknown: 1, may_be_wrong: seed % 2 == 0 };
        let random = &mut Random::from_seed(seed);
        let tree = ZooKeeper::default();
        let history =
            as_seen(&history(random, shape, &tree, |random| one_of(random, &operations), made_up_with_events));
        for order in [Order::linearizability(), Order::sequential(), Order::ordered_sequential(), Order::none()] {
            let expect = brute_force(&history, &tree, &order);
            for strategy in [Strategy::JustInTime, Strategy::CallOrder] {
                let checked = Check { order: order.clone(), strategy, ..Check::default() }.run(&history, &tree);
                assert_eq!(checked.is_possible(), expect, "{seed}: {order:?} {strategy:?}: {history:#?}");
            }
            let has =
                |is: fn(&Response) -> bool| history.calls().iter().any(|call| call.end.response().is_some_and(is));
            if expect && order == Order::sequential() {
                possible += 1;
                told += i32::from(has(|response| matches!(response, Response::Told { .. })));
                expired += i32::from(has(|response| *response == Response::Error(Error::SessionExpired)));
            }
        }
    }
    assert!(possible > 1_000 && told > 30 && expired > 50, "{possible} are possible, {told} tell, {expired} refuse");
}

#[test]
fn hints_of_versions_hold() {
    hints::check(&ZooKeeper::default(), &of_versions(), 3).expect("hints hold");
}

#[test]
fn hints_of_kinds_hold() {
    hints::check(&ZooKeeper::default(), &of_kinds(), 3).expect("hints hold");
}

#[test]
fn hints_of_transactions_hold() {
    hints::check(&ZooKeeper::default(), &of_transactions(), 3).expect("hints hold");
}
