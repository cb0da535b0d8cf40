//! The search against a judge that tries all orders.

use std::fmt::Debug;

use crate::common::{Shape, brute_force, history, outcomes, puts};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_oracle::specifications::{
    Bank, Counter, KeyValueStore, Lease, Log, Mutex, PriorityQueue, Queue, Register, Set, Stack, UniqueIds, ZooKeeper,
    bank, containers, counter, ids, lock, log, register, set, store, zookeeper,
};
use simutant_oracle::{
    Answer, Budget, Call, Check, End, History, Limit, Moment, Order, Session, Specification, Strategy, Time, hints,
};
use simutant_random::Random;

const STRATEGIES: [Strategy; 5] =
    [Strategy::JustInTime, Strategy::AnswerOrder, Strategy::CallOrder, Strategy::DepthFirst, Strategy::BreadthFirst];

/// What operations a specification is tried with, and made-up answers to them.
trait Tried: Specification + Debug {
    fn initial() -> Self;
    fn operations() -> Vec<Self::Operation>;
    fn made_up(random: &mut Random, operation: &Self::Operation) -> Self::Response;
}

fn one_of<T: Clone>(random: &mut Random, options: &[T]) -> T {
    options[random.uniform(0..=options.len() as u64 - 1) as usize].clone()
}

fn maybe(random: &mut Random) -> bool {
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
        vec![Read, Write(0), Write(1), CompareAndSet { from: 0, to: 1 }, CompareAndSet { from: 1, to: 0 }]
    }

    fn made_up(random: &mut Random, operation: &register::Operation<u8>) -> register::Response<u8> {
        match operation {
            register::Operation::Read => register::Response::Value(one_of(random, &[None, Some(0), Some(1)])),
            register::Operation::Write(_) => register::Response::Done,
            register::Operation::CompareAndSet { .. } => register::Response::Compared(maybe(random)),
        }
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
}

fn container_operations() -> Vec<containers::Operation<u8>> {
    use containers::Operation::{Put, Take};
    vec![Put(0), Put(1), Put(2), Take, Take]
}

fn container_answer(random: &mut Random, operation: &containers::Operation<u8>) -> containers::Response<u8> {
    match operation {
        containers::Operation::Put(_) => containers::Response::Done,
        containers::Operation::Take => containers::Response::Value(one_of(random, &[None, Some(0), Some(1), Some(2)])),
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
        vec![Append(0), Append(1), Read { from: 0 }, Read { from: 1 }]
    }

    fn made_up(random: &mut Random, operation: &log::Operation<u8>) -> log::Response<u8> {
        match operation {
            log::Operation::Append(_) => {
                log::Response::Appended { offset: one_of(random, &[Some(0), Some(1), Some(2)]) }
            }
            log::Operation::Read { .. } => log::Response::Records(one_of(
                random,
                &[vec![(0, 0)], vec![(0, 1), (1, 0)], vec![(1, 1)], vec![(0, 0), (2, 1)], vec![]],
            )),
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
    fn initial() -> Self {
        Self::default()
    }

    fn operations() -> Vec<zookeeper::Operation> {
        use zookeeper::Operation::{Create, Delete, Exists, GetChildren, GetData, SetAcl, SetData};
        let mine = zookeeper::Who::Session(Session(1));
        let access = zookeeper::Access { who: mine, permissions: zookeeper::Permissions(29) };
        vec![
            Create { path: "/a".into(), data: None },
            Create { path: "/a/b".into(), data: Some("x".into()) },
            Delete { path: "/a".into() },
            Delete { path: "/a/b".into() },
            Exists { path: "/a".into() },
            GetChildren { path: "/a".into() },
            GetData { path: "/a/b".into() },
            SetData { path: "/a".into(), data: Some("y".into()) },
            SetAcl { path: "/a".into(), acl: vec![access] },
        ]
    }

    fn made_up(random: &mut Random, operation: &zookeeper::Operation) -> zookeeper::Response {
        use zookeeper::Error::{NoAuth, NoNode, NodeExists, NotEmpty};
        use zookeeper::Response::{Children, Data, Done, Error, Exists};
        match operation {
            zookeeper::Operation::Exists { .. } => Exists(maybe(random)),
            zookeeper::Operation::GetChildren { .. } => {
                one_of(random, &[Children(vec![]), Children(vec!["b".into()]), Error(NoNode), Error(NoAuth)])
            }
            zookeeper::Operation::GetData { .. } => {
                one_of(random, &[Data(None), Data(Some("x".into())), Error(NoNode), Error(NoAuth)])
            }
            _ => one_of(random, &[Done, Error(NoNode), Error(NodeExists), Error(NotEmpty), Error(NoAuth)]),
        }
    }
}

fn made<S: Tried>(random: &mut Random, shape: Shape) -> History<S::Operation, S::Response>
where
    S::Operation: Clone,
    S::Response: Clone,
{
    let operations = S::operations();
    history(random, shape, &S::initial(), |random| one_of(random, &operations), S::made_up)
}

/// Holds all strategies against brute force, on one history.
#[track_caller]
fn check<S: Tried>(seed: u64, shape: Shape)
where
    S::Operation: Debug + Clone,
    S::Response: Debug + Clone,
{
    let mut random = Random::from_seed(seed);
    // Some histories have hardly any end that is known.
    let history = made::<S>(&mut random, Shape { unknown: shape.unknown + seed % 4, ..shape });
    let length = history.calls().len();
    let mut pairs = Vec::new();
    for other in 1..length {
        if maybe(&mut random) {
            pairs.push((random.uniform(0..=other as u64 - 1) as usize, other));
        }
    }
    let orders = [
        Order::linearizability(),
        Order::linearizability().with_revisions(),
        Order::sequential(),
        Order::zookeeper(),
        Order::none(),
        Order { pairs, ..one_of(&mut random, &[Order::linearizability(), Order::none()]) },
    ];
    for order in orders {
        let expect = brute_force(&history, &S::initial(), &closed(&order, &history));
        for strategy in STRATEGIES {
            for is_partitioned in [true, false] {
                let has_fast_paths = is_partitioned;
                let check =
                    Check { order: order.clone(), strategy, is_partitioned, has_fast_paths, ..Check::default() };
                let checked = check.run(&history, &S::initial());
                match &checked.answer {
                    Answer::Possible { order: witness } => assert!(
                        expect && explains(&history, &S::initial(), &closed(&order, &history), witness),
                        "{check:?} says {checked:?} of {history:#?}"
                    ),
                    Answer::Impossible { .. } => assert!(!expect, "{check:?} says {checked:?} of {history:#?}"),
                    Answer::Undecided { .. } => panic!("{check:?} says {checked:?} of {history:#?}"),
                }
            }
        }
    }
}

/// Returns whether an order of calls explains a history: what a witness claims.
fn explains<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    witness: &[usize],
) -> bool {
    let calls: Vec<&Call<_, _>> = history.calls().iter().collect();
    let places: Vec<usize> = (0..calls.len()).collect();
    let mut states = vec![initial.clone()];
    for &place in witness {
        states = states.iter().flat_map(|state| outcomes(state, calls[place])).collect();
    }
    let is_complete = (0..calls.len()).all(|place| witness.contains(&place) || calls[place].end.response().is_none());
    let is_ordered = witness
        .iter()
        .enumerate()
        .all(|(at, &other)| witness[at + 1..].iter().all(|&one| !puts(order, &calls, &places, one, other)));
    is_complete && is_ordered && !states.is_empty()
}

/// Returns an order whose pairs are closed over calls that did not happen, or may not have.
fn closed<O, R>(order: &Order, history: &History<O, R>) -> Order {
    let mut order = order.clone();
    for (place, call) in history.calls().iter().enumerate() {
        if call.end.response().is_some() {
            continue;
        }
        let pairs = order.pairs.clone();
        for before in pairs.iter().filter(|pair| pair.1 == place) {
            for after in pairs.iter().filter(|pair| pair.0 == place) {
                order.pairs.push((before.0, after.1));
            }
        }
    }
    order
}

/// Of the histories of three calls of a register.
const POSSIBLE: usize = 4837;

const SHAPE: Shape = Shape { calls_max: 6, sessions: 3, unknown: 3, may_be_wrong: true };

/// A test a specification.
macro_rules! strategies_agree_with_brute_force {
    ($($name:ident: $specification:ty;)*) => {
        $(mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

                #[test]
                fn all_strategies_and_orders_agree_with_brute_force(seed: u64) {
                    check::<$specification>(seed, SHAPE);
                }
            }

            #[test]
            fn hints_hold() {
                hints::check(&<$specification>::initial(), &<$specification>::operations(), 3).expect("hints hold");
            }
        })*
    };
}

strategies_agree_with_brute_force! {
    of_register: Register<u8>;
    of_store: KeyValueStore;
    of_counter: Counter;
    of_set: Set<u8>;
    of_queue: Queue<u8>;
    of_stack: Stack<u8>;
    of_priority_queue: PriorityQueue<u8>;
    of_mutex: Mutex;
    of_lease: Lease;
    of_log: Log<u8>;
    of_unique_ids: UniqueIds<u8>;
    of_bank: Bank;
    of_zookeeper: ZooKeeper;
}

#[test]
fn budgets_end_a_search() {
    let shape = Shape { calls_max: 60, sessions: 20, unknown: 5, may_be_wrong: true };
    let mut undecided = 0;
    for seed in 0..50 {
        let history = made::<Counter>(&mut Random::from_seed(seed), shape);
        for (budget, expect) in [
            (Budget { steps: Some(100), ..Budget::default() }, Limit::Steps),
            (Budget { bytes: Some(20_000), ..Budget::default() }, Limit::Bytes),
            (Budget { stop: Some(&|| true), ..Budget::default() }, Limit::Stopped),
        ] {
            let check = Check { budget, order: Order::none(), ..Check::default() };
            let checked = check.run(&history, &Counter::initial());
            assert!(budget.steps.is_none_or(|limit| checked.explored.steps <= limit));
            if let Answer::Undecided { limit } = checked.answer {
                assert_eq!(limit, expect);
                undecided += 1;
            }
        }
    }
    assert!(undecided > 30, "{undecided}");
}

/// Returns all rows in which each of `calls` calls comes twice: its invocation, and its end.
fn rows(calls: usize) -> Vec<Vec<usize>> {
    fn extend(row: &mut Vec<usize>, left: &mut [u8], rows: &mut Vec<Vec<usize>>) {
        if left.iter().all(|&left| left == 0) {
            rows.push(row.clone());
        }
        for call in 0..left.len() {
            // Calls are numbered in the order of invocation.
            let is_next = left[call] == 1 || left[..call].iter().all(|&left| left < 2);
            if left[call] > 0 && is_next {
                left[call] -= 1;
                row.push(call);
                extend(row, left, rows);
                row.pop();
                left[call] += 1;
            }
        }
    }
    let mut rows = Vec::new();
    extend(&mut Vec::new(), &mut vec![2; calls], &mut rows);
    rows
}

#[test]
fn every_history_of_three_calls_of_a_register_is_judged_right() {
    use register::{Operation::CompareAndSet, Operation::Read, Operation::Write, Response::*};
    let cas = CompareAndSet { from: 0, to: 1 };
    let kinds = [
        (Write(0), Some(Done)),
        (Write(1), Some(Done)),
        (Write(1), None),
        (Read, Some(Value(None))),
        (Read, Some(Value(Some(0)))),
        (Read, Some(Value(Some(1)))),
        (cas.clone(), Some(Compared(true))),
        (cas.clone(), Some(Compared(false))),
        (cas, None),
    ];
    let rows = rows(3);
    assert_eq!(rows.len(), 15);
    let mut possible = 0;
    let mut all = 0;
    for row in &rows {
        let moment = |call: usize, is_end: bool| {
            let mut places = row.iter().enumerate().filter(|(_, other)| **other == call).map(|(place, _)| place);
            let place = if is_end { places.nth(1) } else { places.next() };
            Moment { time: Time::from_nanos(place.expect("each comes twice") as u64), event: None }
        };
        for number in 0..kinds.len().pow(3) {
            let kind = |call: usize| &kinds[number / kinds.len().pow(call as u32) % kinds.len()];
            let calls = (0..3).map(|call| {
                let (operation, response) = kind(call).clone();
                let end = response.map_or(End::Unknown, |response| End::Returned { at: moment(call, true), response });
                Call::new(Session(call as u64), operation, moment(call, false), end)
            });
            let history = History::from_calls(calls.collect()).expect("ends come later");
            let expect = brute_force(&history, &Register::initial(), &Order::linearizability());
            let checked = Check::default().run(&history, &Register::initial());
            assert_eq!(checked.is_possible(), expect, "{checked:?} of {history:#?}");
            possible += usize::from(expect);
            all += 1;
        }
    }
    // Counted once: that all histories are there.
    assert_eq!((all, possible), (10_935, POSSIBLE));
}
