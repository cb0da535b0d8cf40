//! The search against a judge that tries all orders.

use crate::any::Name;
use crate::case::Case;
use crate::judge::{Shape, brute_force, history, one_of};
use crate::tried::Tried;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_oracle::specifications::{
    Bank, Counter, KeyValueStore, Lease, Log, Mutex, PriorityQueue, Queue, Register, Set, Stack, UniqueIds, register,
};
use simutant_oracle::{
    Answer, Budget, Call, Check, Compared, End, Filter, History, Limit, Moment, Order, Revision, Scope, Session, Time,
    hints,
};
use simutant_random::Random;
use simutant_zookeeper_histories::ZooKeeper;

fn made<S: Tried>(random: &mut Random, shape: Shape) -> History<S::Operation, S::Response>
where
    S::Operation: Clone,
    S::Response: Clone,
{
    let operations = S::operations();
    history(random, shape, &S::initial(), |random| one_of(random, &operations), S::made_up)
}

/// Holds the oracle against who tries all orders, on one history.
#[track_caller]
fn check(specification: Name, seed: u64) {
    let case = Case::sample(specification, &mut Random::from_seed(seed));
    assert_eq!(case.examine().0, None, "of {case:#?}");
}

/// A test a specification.
macro_rules! strategies_agree_with_brute_force {
    ($($name:ident: $of:ident, $specification:ty;)*) => {
        $(mod $name {
            use super::*;

            proptest! {
                #![proptest_config(ProptestConfig { cases: 150, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

                #[test]
                fn all_strategies_and_orders_agree_with_brute_force(seed: u64) {
                    check(Name::$of, seed);
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
    of_register: Register, Register<u8>;
    of_store: Store, KeyValueStore;
    of_counter: Counter, Counter;
    of_set: Set, Set<u8>;
    of_queue: Queue, Queue<u8>;
    of_stack: Stack, Stack<u8>;
    of_priority_queue: PriorityQueue, PriorityQueue<u8>;
    of_mutex: Mutex, Mutex;
    of_lease: Lease, Lease;
    of_log: Log, Log<u8>;
    of_unique_ids: UniqueIds, UniqueIds<u8>;
    of_bank: Bank, Bank;
    of_zookeeper: Zookeeper, ZooKeeper;
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

#[test]
fn the_revision_of_a_call_of_unknown_end_orders_nothing() {
    use register::{Operation, Response};
    let at = |nanos| Moment { time: Time::from_nanos(nanos), event: None };
    let write = Call::new(Session(1), Operation::Write(1), at(0), End::Unknown);
    let returned = End::Returned { at: at(2), response: Response::Value(Some(1)) };
    let read = Call::new(Session(2), Operation::Read, at(1), returned);
    let calls = vec![Call { revision: Some(Revision(2)), ..write }, Call { revision: Some(Revision(1)), ..read }];
    let history = History::from_calls(calls).expect("ends come later");
    let scope = |compared| Scope::EachCall { compared, filter: Filter::None };
    for scope in [Scope::History, Scope::EachRead, scope(Compared::Target), scope(Compared::All)] {
        let check = Check { order: Order::linearizability().with_revisions(), scope, ..Check::default() };
        assert!(check.run(&history, &Register::initial()).is_possible(), "{scope:?}");
    }
}

/// Of the histories of three calls of a register.
const POSSIBLE: usize = 4837;

/// Returns all rows in which each of `calls` calls comes twice: its invocation, and its end.
pub(crate) fn rows(calls: usize) -> Vec<Vec<usize>> {
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
