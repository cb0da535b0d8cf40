//! Operations that specifications are tried with, and answers that need not be right. The tests of `oracle/` have this
//! file, too.

use std::fmt::Debug;

use simutant_oracle::specifications::{
    Bank, Counter, KeyValueStore, Lease, Log, Mutex, PriorityQueue, Queue, Register, Set, Stack, UniqueIds, bank,
    containers, counter, ids, lock, log, register, set, store,
};
use simutant_oracle::{Footprint, Open, Session, Specification};
use simutant_random::Random;
use simutant_zookeeper_histories::{self as histories, ZooKeeper};

use crate::judge::one_of;
use crate::nodes;

/// What operations a specification is tried with, and made-up answers to them.
pub(crate) trait Tried: Specification + Debug {
    fn initial() -> Self;
    fn operations() -> Vec<Self::Operation>;
    fn made_up(random: &mut Random, operation: &Self::Operation) -> Self::Response;

    /// Returns lists of operations that are about one thing each: a history has the operations of one list.
    fn themes() -> Vec<Vec<Self::Operation>> {
        vec![Self::operations()]
    }

    /// Returns operations that a history has at most once each, and others, such that a fast path knows them all; none if
    /// there is no fast path.
    fn distinct() -> (Vec<Self::Operation>, Vec<Self::Operation>) {
        (Vec::new(), Vec::new())
    }
}

pub(crate) fn maybe(random: &mut Random) -> bool {
    random.uniform(0..=1_u64) == 1
}

fn text(random: &mut Random) -> simutant_oracle::specifications::Text {
    one_of(random, &["", "a", "b", "ab", "ba"]).into()
}

impl Tried for Register<u8> {
    fn initial() -> Self {
        Self::default()
    }

    fn operations() -> Vec<register::Operation<u8>> {
        use register::Operation::{CompareAndSet, Read, Write};
        vec![Read, Write(0), Write(1), Write(2), CompareAndSet { from: 0, to: 1 }, CompareAndSet { from: 1, to: 0 }]
    }

    fn made_up(random: &mut Random, operation: &register::Operation<u8>) -> register::Response<u8> {
        match operation {
            register::Operation::Read => register::Response::Value(one_of(random, &[None, Some(0), Some(1), Some(2)])),
            register::Operation::Write(_) => register::Response::Done,
            register::Operation::CompareAndSet { .. } => register::Response::Compared(maybe(random)),
        }
    }

    fn distinct() -> (Vec<register::Operation<u8>>, Vec<register::Operation<u8>>) {
        ((0..5).map(register::Operation::Write).collect(), vec![register::Operation::Read])
    }
}

impl Tried for KeyValueStore {
    fn initial() -> Self {
        Self::default()
    }

    fn operations() -> Vec<store::Operation> {
        ["x", "y"]
            .iter()
            .flat_map(|&key| {
                let key: simutant_oracle::specifications::Text = key.into();
                [
                    store::Operation::Get { key: key.clone() },
                    store::Operation::Put { key: key.clone(), value: "a".into() },
                    store::Operation::Append { key: key.clone(), value: "b".into() },
                    store::Operation::CompareAndSet { key: key.clone(), from: Some("a".into()), to: "b".into() },
                    store::Operation::CompareAndSet { key: key.clone(), from: None, to: "a".into() },
                    store::Operation::Delete { key },
                ]
            })
            .collect()
    }

    fn made_up(random: &mut Random, operation: &store::Operation) -> store::Response {
        match operation {
            store::Operation::Get { .. } => {
                let value = maybe(random).then(|| text(random));
                store::Response::Value(value)
            }
            store::Operation::CompareAndSet { .. } => store::Response::Compared(maybe(random)),
            _ => store::Response::Done,
        }
    }
}

impl Tried for Counter {
    fn initial() -> Self {
        Self::default()
    }

    fn operations() -> Vec<counter::Operation> {
        use counter::Operation::{Add, AddAndGet, Read};
        vec![Read, Add(1), Add(2), AddAndGet(-1)]
    }

    fn made_up(random: &mut Random, operation: &counter::Operation) -> counter::Response {
        match operation {
            counter::Operation::Add(_) => counter::Response::Done,
            _ => counter::Response::Value(one_of(random, &[-1, 0, 1, 2])),
        }
    }
}

impl Tried for Set<u8> {
    fn initial() -> Self {
        Self::default()
    }

    fn operations() -> Vec<set::Operation<u8>> {
        use set::Operation::{Add, Contains, Read, Remove};
        vec![Add(0), Add(1), Remove(0), Remove(1), Contains(0), Contains(1), Read]
    }

    fn made_up(random: &mut Random, operation: &set::Operation<u8>) -> set::Response<u8> {
        match operation {
            set::Operation::Read => {
                set::Response::Values(one_of(random, &[vec![], vec![0], vec![0, 1]]).into_iter().collect())
            }
            set::Operation::Contains(_) => set::Response::Is(maybe(random)),
            _ => one_of(random, &[set::Response::Done, set::Response::Is(true), set::Response::Is(false)]),
        }
    }

    fn distinct() -> (Vec<set::Operation<u8>>, Vec<set::Operation<u8>>) {
        use set::Operation::{Add, Contains, Remove};
        (vec![Add(0), Add(1), Add(0)], vec![Remove(0), Remove(0), Contains(0), Contains(0), Contains(0), Contains(1)])
    }
}

fn container_operations() -> Vec<containers::Operation<u8>> {
    use containers::Operation::{Put, Take};
    vec![Put(0), Put(1), Put(2), Put(3), Take, Take, Take]
}

fn container_answer(random: &mut Random, operation: &containers::Operation<u8>) -> containers::Response<u8> {
    match operation {
        containers::Operation::Put(_) => containers::Response::Done,
        containers::Operation::Take => {
            containers::Response::Value(one_of(random, &[None, Some(0), Some(1), Some(2), Some(3)]))
        }
    }
}

/// A container starts empty, and has values of three kinds.
macro_rules! tried_container {
    ($($container:ident)*) => {$(
        impl Tried for $container<u8> {
            fn initial() -> Self {
                Self::default()
            }

            fn operations() -> Vec<containers::Operation<u8>> {
                container_operations()
            }

            fn made_up(random: &mut Random, operation: &containers::Operation<u8>) -> containers::Response<u8> {
                container_answer(random, operation)
            }

            fn distinct() -> (Vec<containers::Operation<u8>>, Vec<containers::Operation<u8>>) {
                ((0..7).map(containers::Operation::Put).collect(), vec![containers::Operation::Take])
            }
        }
    )*};
}

tried_container!(Queue Stack PriorityQueue);

/// A lock is asked for by several sessions, and may have a number.
macro_rules! tried_lock {
    ($($lock:ident)*) => {$(
        impl Tried for $lock {
            fn initial() -> Self {
                Self::default()
            }

            fn operations() -> Vec<lock::Operation> {
                vec![lock::Operation::Acquire, lock::Operation::Renew, lock::Operation::Release]
            }

            fn made_up(random: &mut Random, _: &lock::Operation) -> lock::Response {
                let fence = one_of(random, &[None, Some(1), Some(2)]);
                one_of(random, &[lock::Response::Granted { fence }, lock::Response::Refused])
            }
        }
    )*};
}

tried_lock!(Mutex Lease);

impl Tried for Log<u8> {
    fn initial() -> Self {
        Self::default()
    }

    fn operations() -> Vec<log::Operation<u8>> {
        use log::Operation::{Append, Read};
        vec![Append(0), Append(1), Append(0), Read { from: 0 }, Read { from: 1 }, Read { from: 2 }, Read { from: 4 }]
    }

    fn made_up(random: &mut Random, operation: &log::Operation<u8>) -> log::Response<u8> {
        match operation {
            log::Operation::Append(_) => {
                log::Response::Appended { offset: maybe(random).then(|| random.uniform(0..=4_u64)) }
            }
            // Some records whose offsets grow, with gaps or without, and mostly from the one on that was asked for.
            log::Operation::Read { from } => {
                let mut next = from + one_of(random, &[0, 0, 0, 1, 2]);
                next -= u64::from(next > 0 && random.uniform(0..=9_u64) == 0);
                let mut record = |random: &mut Random| {
                    let offset = next;
                    next += one_of(random, &[1, 1, 1, 2]);
                    (offset, u8::from(maybe(random)))
                };
                log::Response::Records((0..one_of(random, &[0, 1, 1, 1, 2, 2, 3])).map(|_| record(random)).collect())
            }
        }
    }
}

impl Tried for UniqueIds<u8> {
    fn initial() -> Self {
        Self::default()
    }

    fn operations() -> Vec<ids::Operation> {
        vec![ids::Operation::Next]
    }

    fn made_up(random: &mut Random, _: &ids::Operation) -> ids::Response<u8> {
        ids::Response::Id(random.uniform(0..=3_u64) as u8)
    }
}

impl Tried for Bank {
    fn initial() -> Self {
        Self::new([("a".into(), 2), ("b".into(), 1), ("c".into(), 0)].into())
    }

    fn operations() -> Vec<bank::Operation> {
        let transfer =
            |from: &str, to: &str, amount| bank::Operation::Transfer { from: from.into(), to: to.into(), amount };
        vec![
            bank::Operation::Read,
            transfer("a", "b", 1),
            transfer("b", "a", 1),
            transfer("b", "c", 2),
            transfer("a", "a", 1),
            transfer("c", "nobody", 0),
        ]
    }

    fn made_up(random: &mut Random, operation: &bank::Operation) -> bank::Response {
        match operation {
            bank::Operation::Read => {
                let balances = one_of(random, &[[2, 1, 0], [1, 2, 0], [3, 0, 0], [1, 1, 1]]);
                bank::Response::Balances(["a", "b", "c"].map(Into::into).into_iter().zip(balances).collect())
            }
            bank::Operation::Transfer { .. } => bank::Response::Transferred(maybe(random)),
        }
    }
}

impl Tried for ZooKeeper {
    /// A node is there, about which most operations are.
    fn initial() -> Self {
        let mut nodes = Self::default();
        nodes.step(
            Session(1),
            &histories::Operation::Create { path: "/a".into(), data: None, mode: histories::CreateMode::Persistent },
            &mut Open::first(),
        );
        nodes
    }

    fn operations() -> Vec<histories::Operation> {
        use histories::CreateMode::Persistent;
        use histories::Operation::{Create, Delete, Exists, GetAcl, GetChildren, GetData, SetAcl, SetData};
        let [mine, both, ..] = lists();
        vec![
            Create { path: "/a".into(), data: None, mode: Persistent },
            Create { path: "/a/b".into(), data: Some("x".into()), mode: Persistent },
            Delete { path: "/a".into(), version: None },
            Delete { path: "/a/b".into(), version: None },
            Exists { path: "/a".into() },
            GetChildren { path: "/a".into() },
            GetData { path: "/a/b".into() },
            SetData { path: "/a".into(), data: Some("y".into()), version: None },
            SetData { path: "/a/b".into(), data: None, version: None },
            GetData { path: "/a".into() },
            SetAcl { path: "/a".into(), acl: mine, version: None },
            SetAcl { path: "/a".into(), acl: both, version: None },
            GetAcl { path: "/a".into() },
            Delete { path: "/".into(), version: None },
            GetChildren { path: "/".into() },
        ]
    }

    fn made_up(random: &mut Random, operation: &histories::Operation) -> histories::Response {
        use histories::Error::{BadArguments, InvalidAcl, NoAuth, NoNode, NodeExists, NotEmpty};
        use histories::Response::{Acl, Children, Data, Done, Error, Exists};
        let answer = match operation {
            histories::Operation::Watch(read) => return Self::made_up(random, read),
            histories::Operation::Exists { .. } => Exists(maybe(random)),
            histories::Operation::GetChildren { .. } => {
                one_of(random, &[Children(vec![]), Children(vec!["b".into()]), Error(NoNode), Error(NoAuth)])
            }
            histories::Operation::GetData { .. } => {
                one_of(random, &[Data(None), Data(Some("x".into())), Error(NoNode), Error(NoAuth)])
            }
            histories::Operation::GetAcl { .. } => {
                one_of(random, &[Acl(lists()[0].clone()), Acl(lists()[1].clone()), Error(NoNode), Error(NoAuth)])
            }
            _ => {
                let refused = [NoNode, NodeExists, NotEmpty, NoAuth, NoAuth, BadArguments, InvalidAcl].map(Error);
                if maybe(random) { Done } else { one_of(random, &refused) }
            }
        };
        nodes::made_up(random, operation, answer)
    }

    fn themes() -> Vec<Vec<histories::Operation>> {
        vec![
            Self::operations(),
            nodes::of_versions(),
            nodes::of_kinds(),
            nodes::of_transactions(),
            nodes::of_watches(),
            nodes::of_one_watch(),
            nodes::of_one_watch(),
        ]
    }
}

/// Returns lists of who may do what: all but to write to one session; to read to all; all twice; and nothing to anyone.
fn lists() -> [Vec<histories::Access>; 4] {
    use histories::Who::{Anyone, Session as Only};
    let access = |who, permissions| histories::Access { who, permissions: histories::Permissions(permissions) };
    let all = access(Anyone, 31);
    [vec![access(Only(Session(1)), 29)], vec![access(Anyone, 1), access(Only(Session(2)), 31)], vec![all, all], vec![]]
}

/// ZooKeeper whose sessions change who may do what, with the permissions of now, or with stale ones.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Permits<const IS_STALE: bool>(ZooKeeper);

impl<const IS_STALE: bool> Specification for Permits<IS_STALE> {
    type Operation = histories::Operation;
    type Response = histories::Response;

    fn step(&mut self, session: Session, operation: &Self::Operation, open: &mut Open<'_>) -> Self::Response {
        self.0.step(session, operation, open)
    }

    fn footprint(operation: &Self::Operation, response: Option<&Self::Response>) -> Footprint {
        ZooKeeper::footprint(operation, response)
    }

    fn is_same(one: &Self::Operation, other: &Self::Operation) -> bool {
        ZooKeeper::is_same(one, other)
    }
}

impl<const IS_STALE: bool> Tried for Permits<IS_STALE> {
    fn initial() -> Self {
        let mut nodes = if IS_STALE { ZooKeeper::with_stale_permissions() } else { ZooKeeper::default() };
        nodes.step(
            Session(1),
            &histories::Operation::Create { path: "/a".into(), data: None, mode: histories::CreateMode::Persistent },
            &mut Open::first(),
        );
        Self(nodes)
    }

    fn operations() -> Vec<histories::Operation> {
        use histories::Operation::{Create, Delete, GetAcl, GetChildren, GetData, SetAcl, SetData};
        let set = |acl| SetAcl { path: "/a".into(), acl, version: None };
        let mut operations: Vec<_> = lists().into_iter().map(set).collect();
        operations.extend([
            SetData { path: "/a".into(), data: Some("x".into()), version: None },
            SetData { path: "/a".into(), data: None, version: None },
            GetData { path: "/a".into() },
            GetAcl { path: "/a".into() },
            GetChildren { path: "/a".into() },
            Create { path: "/a/b".into(), data: None, mode: histories::CreateMode::Persistent },
            Delete { path: "/a/b".into(), version: None },
        ]);
        operations
    }

    fn made_up(random: &mut Random, operation: &histories::Operation) -> histories::Response {
        ZooKeeper::made_up(random, operation)
    }

    fn themes() -> Vec<Vec<histories::Operation>> {
        vec![Self::operations(), nodes::of_permitted_transactions()]
    }
}
