//! Operations that ZooKeeper is tried with, by what they are about, answers with the statistics of a node, and
//! histories in which sessions are told what they watch. The tests of `oracle/` have this file, too.

use std::collections::BTreeSet;

use simutant_oracle::{Call, End, History, Order, Session};
use simutant_random::Random;
use simutant_zookeeper_histories::{
    Access, CreateMode, Error, Event, Operation, Owner, Permissions, Response, Stat, Who,
};

use crate::any::{self, Any, Name};
use crate::case::{AnyHistory, Case, Verdicts, started};
use crate::judge::{Shape, brute_force, history_of, one_of};
use crate::tried::maybe;

/// How many histories with watches are drawn, of which the one is kept that tells the most.
const WATCHED_MAX: usize = 96;

/// How many calls there are at most in a history with watches.
const WATCHED_CALLS_MAX: u64 = 9;

fn create(path: &str, mode: CreateMode) -> Operation {
    Operation::Create { path: path.into(), data: None, mode }
}

fn set(data: &str, version: Option<u32>) -> Operation {
    Operation::SetData { path: "/a".into(), data: Some(data.into()), version }
}

fn delete(path: &str, version: Option<u32>) -> Operation {
    Operation::Delete { path: path.into(), version }
}

fn check(path: &str, version: Option<u32>) -> Operation {
    Operation::Check { path: path.into(), version }
}

fn exists(path: &str) -> Operation {
    Operation::Exists { path: path.into() }
}

fn permit(who: Who, permissions: u8, version: Option<u32>) -> Operation {
    Operation::SetAcl { path: "/a".into(), acl: vec![Access { who, permissions: Permissions(permissions) }], version }
}

/// Versions that changes expect.
pub(crate) fn of_versions() -> Vec<Operation> {
    vec![
        create("/a/b", CreateMode::Persistent),
        delete("/a/b", Some(0)),
        delete("/a", Some(1)),
        delete("/a", None),
        create("/a", CreateMode::Persistent),
        set("x", None),
        set("xy", Some(0)),
        set("", Some(1)),
        permit(Who::Anyone, 31, Some(0)),
        permit(Who::Session(Session(1)), 31, Some(1)),
        exists("/a"),
        Operation::GetData { path: "/a".into() },
        Operation::GetAcl { path: "/a".into() },
        Operation::GetChildren { path: "/a".into() },
    ]
}

/// Nodes of all kinds, and ends of sessions.
pub(crate) fn of_kinds() -> Vec<Operation> {
    use CreateMode::{Ephemeral, EphemeralSequential, Persistent, PersistentSequential};
    vec![
        create("/a/e", Ephemeral),
        create("/a/e/f", Persistent),
        create("/a/", PersistentSequential),
        create("/a/", EphemeralSequential),
        Operation::Close,
        delete("/a/e", None),
        delete("/a/0000000000", None),
        exists("/a/e"),
        exists("/a/0000000000"),
        exists("/a/0000000001"),
        Operation::GetChildren { path: "/a".into() },
        exists("/a"),
    ]
}

/// Transactions, and calls that see whether all of one was done.
pub(crate) fn of_transactions() -> Vec<Operation> {
    use CreateMode::{Ephemeral, Persistent, PersistentSequential};
    let both = |one: Operation, other: Operation| Operation::Multi(vec![one, other]);
    vec![
        both(set("x", None), check("/a", Some(1))),
        both(check("/a", Some(0)), create("/a/b", Persistent)),
        both(create("/a/b", Persistent), delete("/a/b", Some(1))),
        both(delete("/a/b", None), delete("/a", None)),
        both(create("/a/", PersistentSequential), set("y", Some(1))),
        both(check("/a/b", None), create("/c", Ephemeral)),
        both(exists("/a"), set("x", None)),
        Operation::Multi(vec![check("/a", None)]),
        Operation::Multi(vec![set("y", None), set("x", Some(1)), check("/c", None)]),
        Operation::Multi(vec![]),
        check("/a", None),
        create("/a", Persistent),
        permit(Who::Session(Session(1)), 30, None),
        delete("/a/b", None),
        exists("/a/b"),
        exists("/c"),
        Operation::GetData { path: "/a".into() },
        Operation::GetChildren { path: "/a".into() },
    ]
}

/// Transactions of those who may do some things and not others.
pub(crate) fn of_permitted_transactions() -> Vec<Operation> {
    vec![
        permit(Who::Session(Session(1)), 17, None),
        permit(Who::Session(Session(2)), 18, None),
        permit(Who::Anyone, 28, None),
        permit(Who::Anyone, 31, Some(1)),
        Operation::Multi(vec![check("/a", Some(0))]),
        Operation::Multi(vec![check("/a", None), set("x", None)]),
        Operation::Multi(vec![create("/a/b", CreateMode::Persistent), set("x", Some(0))]),
        create("/a/", CreateMode::PersistentSequential),
        delete("/a/b", Some(1)),
        delete("/a", None),
        Operation::GetData { path: "/a".into() },
        Operation::GetAcl { path: "/a".into() },
    ]
}

/// Watches, changes of what is watched, connections and ends of sessions.
pub(crate) fn of_watches() -> Vec<Operation> {
    let mut operations = watches();
    operations.extend(changes());
    operations.extend(ends());
    operations.extend([exists("/a"), Operation::GetData { path: "/a".into() }, Operation::Notice]);
    operations
}

/// Few watches and changes, of which most matter to each other.
pub(crate) fn of_one_watch() -> Vec<Operation> {
    vec![
        exists("/a/e").and_watch(),
        Operation::GetData { path: "/a".into() }.and_watch(),
        set("x", None),
        create("/a/e", CreateMode::Ephemeral),
        delete("/a/e", None),
        Operation::Expire,
        exists("/a"),
    ]
}

/// Returns whether an operation leaves a watch.
pub(crate) fn is_watch(operation: &any::Operation) -> bool {
    matches!(operation, any::Operation::Zookeeper(Operation::Watch(_)))
}

/// Reads that leave a watch, and some that cannot.
fn watches() -> Vec<Operation> {
    let data = |path: &str| Operation::GetData { path: path.into() }.and_watch();
    let children = |path: &str| Operation::GetChildren { path: path.into() }.and_watch();
    vec![
        exists("/a").and_watch(),
        data("/a"),
        children("/a"),
        exists("/a/e").and_watch(),
        exists("/a/f").and_watch(),
        children("/a/e"),
        children("/"),
        set("x", None).and_watch(),
    ]
}

/// Changes of what is watched, and some that are undone or refused.
fn changes() -> Vec<Operation> {
    use CreateMode::{Ephemeral, Persistent};
    vec![
        set("x", None),
        create("/a/e", Ephemeral),
        create("/a/f", Ephemeral),
        create("/a/e", Persistent),
        delete("/a/e", None),
        delete("/a", None),
        create("/a", Persistent),
        permit(Who::Session(Session(1)), 31, None),
        Operation::Multi(vec![set("y", None), create("/a/f", Ephemeral)]),
        Operation::Multi(vec![set("y", None), check("/a", Some(7))]),
    ]
}

/// Connections, and ends of sessions.
fn ends() -> Vec<Operation> {
    vec![Operation::Close, Operation::Expire, Operation::Connect]
}

impl Case {
    /// Draws a history in which sessions watch nodes and are told of changes: of some the one that tells the most. In a
    /// third of them some events are lost, or come twice, in another order, or for no reason.
    pub(crate) fn sample_watched(random: &mut Random) -> Self {
        let mut best = Self::draw_watched(random);
        let mut told = told(&best.1);
        for _ in 1..WATCHED_MAX {
            let other = Self::draw_watched(random);
            let others = self::told(&other.1);
            if others > told {
                (best, told) = (other, others);
            }
        }
        let (before, history) = best;
        let history = if random.uniform(0..=2_u64) == 0 { mistold(&history, random) } else { history };
        let initial = started(Name::Zookeeper, &before);
        let linearizability = brute_force(&history, &initial, &Order::linearizability());
        Self::of(Name::Zookeeper, &before, &history, Vec::new(), Verdicts { linearizability, others: None })
    }

    fn draw_watched(random: &mut Random) -> (Vec<any::Operation>, AnyHistory) {
        let (watches, changes, ends) = (watches(), changes(), ends());
        let others = [exists("/a"), exists("/a/e"), Operation::GetChildren { path: "/a".into() }, Operation::Notice];
        let some = one_of(random, &[2, 4, watches.len()]);
        let watched: Vec<Operation> = (0..some).map(|_| one_of(random, &watches)).collect();
        let mut invoked = 0;
        let mut operation = |random: &mut Random| {
            invoked += 1;
            let kinds: [&[Operation]; 4] = [&watched, &changes, &others, &ends];
            // At first sessions watch.
            let kind = if invoked <= 2 { [0, 0, 0, 1] } else { one_of(random, &[[0, 1, 1, 2], [1, 1, 2, 3]]) };
            let kind: usize = one_of(random, &kind);
            any::Operation::Zookeeper(one_of(random, kinds[kind]))
        };
        let before = [create("/a/e", CreateMode::Ephemeral), create("/a/f", CreateMode::Ephemeral), permitted()];
        let before: Vec<_> = before.into_iter().filter(|_| random.uniform(0..=2_u64) == 0).collect();
        let before: Vec<_> = before.into_iter().map(any::Operation::Zookeeper).collect();
        let calls = random.uniform(4..=WATCHED_CALLS_MAX);
        let width = one_of(random, &[0, 0, 2, 4]);
        let mut events: Vec<(u64, u64)> =
            (0..calls).flat_map(|call| [call; 3]).map(|call| (3 * call + random.uniform(0..=width), call)).collect();
        events.sort_unstable();
        let row: Vec<u64> = events.into_iter().map(|(_, call)| call).collect();
        let (sessions, unknown) = (one_of(random, &[2, 2, 3]), one_of(random, &[0, 0, 1]));
        let shape = Shape { calls_max: WATCHED_CALLS_MAX, sessions, unknown, may_be_wrong: false };
        let initial = started(Name::Zookeeper, &before);
        let history = history_of(random, &row, shape, &initial, &mut operation, Any::made_up);
        (before, as_seen(&history, random))
    }
}

/// The first session alone may read, and the second one may change.
fn permitted() -> Operation {
    let access = |session, permissions| Access { who: Who::Session(session), permissions: Permissions(permissions) };
    Operation::SetAcl { path: "/a".into(), acl: vec![access(Session(1), 31), access(Session(2), 30)], version: None }
}

/// Returns how much a history tells: how many kinds of events there are, and how many answers that have some or that a
/// session gets which has expired.
fn told(history: &AnyHistory) -> usize {
    let mut kinds = BTreeSet::new();
    let mut answers = 0;
    for call in history.calls() {
        match call.end.response() {
            Some(any::Response::Zookeeper(Response::Told { events, .. } | Response::Events(events))) => {
                kinds.extend(events.iter().map(|event| format!("{:?}", std::mem::discriminant(event))));
                answers += events.len().min(3);
            }
            Some(any::Response::Zookeeper(Response::Error(Error::SessionExpired))) => answers += 1,
            _ => {}
        }
    }
    2 * kinds.len() + answers
}

/// Returns a history as clients see it: without answers that did not reach them, with events in some order where there
/// is none, and of a notice or a connection perhaps the first ones alone.
pub(crate) fn as_seen(history: &AnyHistory, random: &mut Random) -> AnyHistory {
    let calls = history.calls().iter().cloned();
    let seen = calls.map(|mut call| {
        if let End::Returned { response: any::Response::Zookeeper(response), .. } = &mut call.end {
            match response {
                Response::Unanswered => call.end = End::Unknown,
                Response::Told { events, .. } => *events = in_some_order(events, random),
                Response::Events(events) => {
                    *events = in_some_order(events, random);
                    if random.uniform(0..=3_u64) == 0 {
                        events.truncate(random.uniform(0..=events.len() as u64) as usize);
                    }
                }
                _ => {}
            }
        }
        call
    });
    History::from_calls(seen.collect()).expect("ends are as they were, or unknown")
}

fn in_some_order(events: &[Event], random: &mut Random) -> Vec<Event> {
    let mut row = Vec::new();
    for event in events {
        let Event::InAnyOrder(together) = event else {
            row.push(event.clone());
            continue;
        };
        let mut together = together.clone();
        while !together.is_empty() {
            row.push(together.remove(random.uniform(0..together.len())));
        }
    }
    row
}

/// Returns a history in which a session is told something else: an event less, one twice, two in the other order, or
/// one that did not come about; or it has expired and does not know it.
fn mistold(history: &AnyHistory, random: &mut Random) -> AnyHistory {
    let mut calls: Vec<Call<any::Operation, any::Response>> = history.calls().to_vec();
    let is_told = |call: &Call<any::Operation, any::Response>| match call.end.response() {
        Some(any::Response::Zookeeper(Response::Told { .. })) => true,
        Some(any::Response::Zookeeper(Response::Events(events))) => !events.is_empty(),
        _ => false,
    };
    let answered = |call: &Call<any::Operation, any::Response>| call.end.response().is_some();
    let places = |is_it: &dyn Fn(&Call<_, _>) -> bool| (0..calls.len()).filter(|&place| is_it(&calls[place])).collect();
    let (told, answered): (Vec<usize>, Vec<usize>) = (places(&is_told), places(&answered));
    let among = if told.is_empty() || random.uniform(0..=3_u64) == 0 { answered } else { told };
    if among.is_empty() {
        return history.clone();
    }
    let place = one_of(random, &among);
    if let End::Returned { response: any::Response::Zookeeper(response), .. } = &mut calls[place].end {
        *response = match response.clone() {
            Response::Told { events, answer } => answer.after(others(events, random)),
            Response::Events(events) => Response::Events(others(events, random)),
            Response::Error(Error::SessionExpired) => Response::Done,
            _ if maybe(random) => Response::Error(Error::SessionExpired),
            answer => answer.after(others(Vec::new(), random)),
        };
    }
    History::from_calls(calls).expect("ends are as they were")
}

/// Returns other events than these.
fn others(mut events: Vec<Event>, random: &mut Random) -> Vec<Event> {
    let nth = random.uniform(0..=events.len().max(1) as u64 - 1) as usize;
    match random.uniform(0..=4_u64) {
        _ if events.is_empty() => events.push(made_up_event(random)),
        0 | 1 => drop(events.remove(nth)),
        2 => events.insert(nth, events[nth].clone()),
        3 if events.len() > 1 => events.swap(nth, if nth == 0 { 1 } else { nth - 1 }),
        _ => events[nth] = made_up_event(random),
    }
    events
}

fn made_up_event(random: &mut Random) -> Event {
    let path = one_of(random, &["/a", "/a/e", "/a/f"]).into();
    let event = one_of(random, &[Event::Created, Event::Deleted, Event::DataChanged, Event::ChildrenChanged]);
    event(path)
}

/// Makes up an answer, with statistics and events or without.
pub(crate) fn made_up(random: &mut Random, operation: &Operation, answer: Response) -> Response {
    let events = random.uniform(0..=2_u64).saturating_sub(u64::from(maybe(random)));
    let events: Vec<Event> = (0..events).map(|_| made_up_event(random)).collect();
    match operation {
        Operation::Notice | Operation::Connect => Response::Events(events),
        Operation::Expire => Response::Done,
        _ => match random.uniform(0..=15_u64) {
            0 => Response::Error(Error::SessionExpired),
            1 => made_up_alone(random, operation, answer).after(events),
            _ => made_up_alone(random, operation, answer),
        },
    }
}

fn made_up_alone(random: &mut Random, operation: &Operation, answer: Response) -> Response {
    let errors = [Error::NoNode, Error::NodeExists, Error::NotEmpty, Error::BadVersion, Error::NoAuth];
    let others = [Error::NoChildrenForEphemerals, Error::BadArguments];
    match operation {
        Operation::Multi(parts) if maybe(random) => {
            let place = random.uniform(0..=parts.len() as u64) as usize;
            Response::refused_parts(parts.len(), place, one_of(random, &errors))
        }
        Operation::Multi(parts) => Response::Parts(parts.iter().map(|_| Response::Done).collect()),
        _ if random.uniform(0..=5_u64) == 0 => Response::Error(one_of(random, &[&errors[..], &others].concat())),
        Operation::Create { path, mode, .. } if answer == Response::Done && mode.is_sequential() => {
            let number = random.uniform(0..=2_u64);
            Response::Created(path.with(&format!("{number:010}")))
        }
        Operation::Create { .. } | Operation::Delete { .. } | Operation::Check { .. } | Operation::Close => answer,
        _ if answer.is_error() || maybe(random) => answer,
        _ => {
            let mut number = || one_of(random, &[0, 0, 1, 1, 2_u32]);
            let (version, acl_version, children_version) = (number(), number(), number() as i32);
            let (children, data_length) = (number(), number());
            let owner = one_of(random, &[Owner::Nobody, Owner::Nobody, Owner::Caller, Owner::Other]);
            answer.with_stat(Stat { version, acl_version, children_version, children, data_length, owner })
        }
    }
}
