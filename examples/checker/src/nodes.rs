//! Operations that ZooKeeper is tried with, by what they are about, and answers with the statistics of a node. The tests
//! of `oracle/` have this file, too.

use simutant_oracle::Session;
use simutant_oracle::specifications::zookeeper::{
    Access, CreateMode, Error, Operation, Owner, Permissions, Response, Stat, Who,
};
use simutant_random::Random;

use crate::tried::{maybe, one_of};

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

/// Makes up an answer, with statistics or without.
pub(crate) fn made_up(random: &mut Random, operation: &Operation, answer: Response) -> Response {
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
