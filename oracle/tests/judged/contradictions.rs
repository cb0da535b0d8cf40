//! Contradictions against who tries all orders: on every small history, of each specification that finds them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use simutant_oracle::specifications::{
    Bank, Counter, KeyValueStore, Lease, Log, Mutex, PriorityQueue, Queue, Register, Set, Stack, UniqueIds, bank,
    containers, counter, ids, lock, log, register, set, store,
};
use simutant_oracle::{
    Answer, Budget, Call, Check, End, Explored, History, Moment, Order, Session, Specification, Time,
};

use crate::judge::brute_force;
use crate::search::rows;

/// An operation, and what is known of its answer.
type Kind<S> = (<S as Specification>::Operation, Option<<S as Specification>::Response>);

/// How many of the impossible histories contradict themselves, of how many.
type Counts = (usize, usize);

/// Holds what contradicts itself against brute force, on all histories of some calls of two sessions, and counts it.
#[track_caller]
fn check<S>(initial: &S, kinds: &[Kind<S>], calls: usize) -> Counts
where
    S: Specification<Operation: Clone + Debug, Response: Clone + Debug>,
{
    let mut counts: Counts = (0, 0);
    for row in rows(calls) {
        let moment = |call: usize, nth: usize| {
            let mut places = (0_u64..).zip(&row).filter(|(_, other)| **other == call).map(|(place, _)| place);
            Moment::from(Time::from_nanos(places.nth(nth).expect("each comes twice")))
        };
        for number in 0..kinds.len().pow(u32::try_from(calls).expect("few calls")) {
            let calls = (0..calls).scan(number, |rest, call| {
                let (operation, response) = kinds[*rest % kinds.len()].clone();
                *rest /= kinds.len();
                let end = match response {
                    Some(response) => End::Returned { at: moment(call, 1), response },
                    None => End::Unknown,
                };
                Some(Call::new(Session(call as u64 % 2), operation, moment(call, 0), end))
            });
            let history = History::from_calls(calls.collect()).expect("ends come later");
            check_history(initial, &history, &mut counts);
        }
    }
    counts
}

#[track_caller]
fn check_history<S>(initial: &S, history: &History<S::Operation, S::Response>, (found, all): &mut Counts)
where
    S: Specification<Operation: Clone + Debug, Response: Clone + Debug>,
{
    let is_impossible = |history: &History<_, _>| !brute_force(history, initial, &Order::linearizability());
    *all += usize::from(is_impossible(history));
    let Some(core) = initial.contradiction(&history.calls().iter().collect::<Vec<_>>()) else { return };
    *found += 1;
    let forget = |(place, call): (usize, &Call<_, _>)| match core.contains(&place) {
        true => call.clone(),
        false => Call { end: End::Unknown, ..call.clone() },
    };
    let forgotten = History::from_calls(history.calls().iter().enumerate().map(forget).collect());
    let returned = core.iter().all(|&place| history.calls()[place].end.response().is_some());
    let is_right = !core.is_empty() && returned && forgotten.is_ok_and(|history| is_impossible(&history));
    assert!(is_right, "{core:?} of {history:#?}");
}

#[test]
fn registers() {
    use register::{Operation::CompareAndSet, Operation::Read, Operation::Write, Response::*};
    let cas = CompareAndSet { from: 1, to: 2 };
    let kinds = [
        (Write(1), Some(Done)),
        (Write(2), Some(Done)),
        (Write(2), None),
        (Read, Some(Value(None))),
        (Read, Some(Value(Some(1)))),
        (Read, Some(Value(Some(2)))),
        (cas.clone(), Some(Compared(true))),
        (cas.clone(), Some(Compared(false))),
        (cas, None),
    ];
    assert_eq!(
        [
            check(&Register::default(), &kinds, 3),
            check(&Register(Some(1)), &kinds, 2),
            check(&Register::default(), &[&kinds[..2], &kinds[4..6]].concat(), 4)
        ],
        [(5795, 6098), (82, 101), (14886, 14902)]
    );
}

#[test]
fn stores() {
    use store::{Absent, Operation::*, Response};
    let (key, done) = (|| "x".into(), || Some(Response::Done));
    let get = |value: Option<&str>| (Get { key: key() }, Some(Response::Value(value.map(Into::into))));
    let cas = |from: Option<&str>| CompareAndSet { key: key(), from: from.map(Into::into), to: "b".into() };
    let kinds = [
        (Put { key: key(), value: "a".into() }, done()),
        (Put { key: key(), value: "ab".into() }, None),
        (Append { key: key(), value: "b".into() }, done()),
        (Append { key: key(), value: "b".into() }, None),
        (Delete { key: key() }, done()),
        (cas(None), Some(Response::Compared(true))),
        (cas(Some("a")), Some(Response::Compared(true))),
        (cas(Some("a")), Some(Response::Compared(false))),
        get(None),
        get(Some("")),
        get(Some("ab")),
        get(Some("a")),
    ];
    assert_eq!(
        [check(&KeyValueStore::default(), &kinds, 3), check(&KeyValueStore::new(Absent::Empty), &kinds, 2)],
        [(14532, 17178), (160, 234)]
    );
}

#[test]
fn sets() {
    use set::{Operation::*, Response};
    let values = |values: &[u8]| Some(Response::Values(BTreeSet::from_iter(values.iter().copied())));
    let kinds = [
        (Add(1), Some(Response::Done)),
        (Add(1), Some(Response::Is(true))),
        (Add(1), Some(Response::Is(false))),
        (Add(1), None),
        (Add(2), Some(Response::Done)),
        (Remove(1), Some(Response::Done)),
        (Remove(1), Some(Response::Is(true))),
        (Remove(1), None),
        (Remove(1), Some(Response::Is(false))),
        (Contains(1), Some(Response::Is(true))),
        (Contains(1), Some(Response::Is(false))),
        (Read, values(&[])),
        (Read, values(&[1])),
        (Read, values(&[1, 2])),
        (Read, Some(Response::Repeated(vec![1, 1]))),
    ];
    assert_eq!(
        [check(&Set::default(), &kinds, 3), check(&Set::new([1].into()), &kinds, 2)],
        [(32851, 32865), (378, 378)]
    );
    // Answers of other operations.
    let odd = [(Add(1), values(&[1])), (Remove(1), values(&[]))];
    let kinds = [&odd[..], &kinds[1..4], &kinds[6..11]].concat();
    assert_eq!(check(&Set::default(), &kinds, 2), (116, 200));
}

fn container_kinds() -> [Kind<Queue<u8>>; 7] {
    use containers::{Operation::*, Response::*};
    [
        (Put(1), Some(Done)),
        (Put(2), Some(Done)),
        (Take, Some(Value(Some(1)))),
        (Take, Some(Value(Some(2)))),
        (Take, Some(Value(None))),
        (Put(2), None),
        (Take, None),
    ]
}

#[test]
fn queues() {
    assert_eq!(
        [
            check(&Queue::default(), &container_kinds(), 3),
            check(&Queue::default(), &container_kinds()[..5], 4),
            check(&Queue([1, 2].into()), &container_kinds(), 2),
            check(&Queue([1].into()), &container_kinds(), 3)
        ],
        [(2312, 2443), (40584, 44804), (8, 65), (1411, 2598)]
    );
}

#[test]
fn stacks_and_priority_queues() {
    assert_eq!(
        [
            check(&Stack::default(), &container_kinds(), 3),
            check(&PriorityQueue::default(), &container_kinds(), 3),
            check(&Stack(vec![1, 2]), &container_kinds(), 2),
            check(&PriorityQueue::from(vec![1, 2]), &container_kinds(), 2)
        ],
        [(2312, 2418), (2312, 2434), (8, 61), (8, 65)]
    );
}

#[test]
fn counters() {
    use counter::{Operation::*, Response};
    let value = |value| Some(Response::Value(value));
    let kinds = [
        (Add(1), Some(Response::Done)),
        (Add(1), None),
        (Add(-2), Some(Response::Done)),
        (AddAndGet(1), value(1)),
        (AddAndGet(1), value(2)),
        (Read, value(0)),
        (Read, value(1)),
        (Read, value(-1)),
    ];
    assert_eq!([check(&Counter(0), &kinds, 3), check(&Counter(1), &kinds, 2)], [(3976, 4518), (110, 120)]);
}

#[test]
fn locks() {
    use lock::{Operation::*, Response};
    let granted = |fence| Some(Response::Granted { fence });
    let of_mutex = [
        (Acquire, granted(None)),
        (Acquire, None),
        (Acquire, Some(Response::Refused)),
        (Release, granted(None)),
        (Release, Some(Response::Refused)),
        (Release, None),
        (Renew, granted(None)),
    ];
    let of_lease = [
        (Acquire, granted(Some(1))),
        (Acquire, granted(Some(2))),
        (Acquire, granted(None)),
        (Acquire, Some(Response::Refused)),
        (Acquire, None),
        (Release, granted(Some(1))),
        (Renew, granted(Some(1))),
        (Renew, granted(Some(2))),
        (Renew, Some(Response::Refused)),
    ];
    assert_eq!(
        [check(&Mutex::default(), &of_mutex, 3), check(&Lease::default(), &of_lease, 3)],
        [(2989, 3475), (5762, 8031)]
    );
    // A mutex gives no numbers.
    let odd = [(Acquire, granted(Some(1))), (Release, granted(Some(1))), (Renew, granted(Some(1)))];
    let kinds = [&of_mutex[..], &odd].concat();
    assert_eq!(check(&Mutex::default(), &kinds, 3), (6491, 13330));
}

#[test]
fn logs_ids_and_banks() {
    use log::{Operation::*, Response};
    let appended = |offset| Some(Response::Appended { offset });
    let records = |records: &[(u64, u8)]| Some(Response::Records(records.to_vec()));
    let of_log = [
        (Append(1), appended(None)),
        (Append(1), appended(Some(0))),
        (Append(2), appended(Some(0))),
        (Append(2), None),
        (Read { from: 0 }, records(&[(0, 1)])),
        (Read { from: 1 }, records(&[(0, 1)])),
        (Read { from: 0 }, records(&[(0, 2)])),
        (Read { from: 0 }, records(&[(1, 1), (0, 2)])),
    ];
    let ids = [None, Some(ids::Response::Id(1)), Some(ids::Response::Id(2))];
    let transfer = |amount| bank::Operation::Transfer { from: "a".into(), to: "b".into(), amount };
    let balances = |balances: &[(&str, i64)]| -> BTreeMap<_, _> {
        balances.iter().map(|&(account, balance)| (account.into(), balance)).collect()
    };
    let read = |of: &[(&str, i64)]| (bank::Operation::Read, Some(bank::Response::Balances(balances(of))));
    let of_bank = [
        (transfer(1), Some(bank::Response::Transferred(true))),
        (transfer(1), None),
        read(&[("a", 1), ("b", 0)]),
        read(&[("a", 0), ("b", 1)]),
        read(&[("a", 1), ("b", 1)]),
        read(&[("a", 1)]),
    ];
    assert_eq!(
        [
            check(&Log::default(), &of_log, 3),
            check(&UniqueIds::<u8>::default(), &ids.map(|id| (ids::Operation::Next, id)), 3),
            check(&Bank::new(balances(&[("a", 1), ("b", 0)])), &of_bank, 3)
        ],
        [(6516, 6615), (210, 210), (2280, 2661)]
    );
}

/// Reads of a value that nobody wrote, among as many calls under way as there are.
#[test]
fn what_needs_no_search_is_decided_within_a_turn() {
    use register::{Operation::CompareAndSet, Operation::Read, Operation::Write, Response::*};
    let at = |time| Moment::from(Time::from_nanos(time));
    let call = |number: u64| {
        let (operation, response) = match number {
            100 => (Read, Value(Some(99))),
            number if number % 2 == 0 => (Write(number % 5), Done),
            number => (CompareAndSet { from: number % 5, to: (number + 1) % 5 }, Compared(number % 3 == 0)),
        };
        Call::new(Session(number), operation, at(number), End::Returned { at: at(1000 + number), response })
    };
    let history = History::from_calls((0..101).map(call).collect()).expect("ends come later");
    for steps in [None, Some(1_000)] {
        let check = Check { budget: Budget { steps, ..Budget::default() }, ..Check::default() };
        let checked = check.run(&history, &Register::default());
        assert!(matches!(checked.answer, Answer::Impossible { stuck: 100, .. }), "{:?}", checked.explored);
        let Explored { steps, .. } = checked.explored;
        assert!(steps < 1 << 13, "{steps}");
        let explanation = check.explain(&history, &Register::default()).expect("it is impossible");
        assert_eq!(explanation.core.iter().map(|known| known.call).collect::<Vec<_>>(), [100]);
    }
}

/// As many wrong answers as calls that show each of them: to name the calls of each would take the square of that.
#[test]
fn many_wrong_answers_take_no_longer_than_one() {
    const HALF: u64 = 50_000;
    #[track_caller]
    fn check<S: Specification>(initial: &S, kind: impl Fn(u64) -> (S::Operation, S::Response), expect: u64) {
        let at = |time| Moment::from(Time::from_nanos(time));
        let call = |number: u64| {
            let (operation, response) = kind(number);
            let end = End::Returned { at: at(2 * number + 1), response };
            Call::new(Session(0), operation, at(2 * number), end)
        };
        let calls: Vec<_> = (0..2 * HALF).map(call).collect();
        let core = initial.contradiction(&calls.iter().collect::<Vec<_>>());
        assert_eq!(core.map(|core| core.len() as u64), Some(expect));
    }
    let added = |number| match number {
        0..HALF => (counter::Operation::Add(1), counter::Response::Done),
        _ => (counter::Operation::Read, counter::Response::Value(0)),
    };
    check(&Counter::default(), added, 1 + HALF);
    let overwritten = |number| match number {
        0..HALF => (register::Operation::Write(1), register::Response::Done),
        HALF => (register::Operation::Write(2), register::Response::Done),
        _ => (register::Operation::Read, register::Response::Value(Some(1))),
    };
    check(&Register::default(), overwritten, 2 + HALF);
    let refused = |number| match number {
        0..HALF => (lock::Operation::Acquire, lock::Response::Refused),
        _ => (lock::Operation::Acquire, lock::Response::Granted { fence: Some(HALF + 2 * number) }),
    };
    check(&Lease::default(), refused, 1 + HALF);
}

/// Two writes and two reads in a long history of a register, or two values that overtake each other in a queue: what the
/// fast path decides is explained by them alone, and in the same way each time.
#[test]
fn the_core_of_what_a_fast_path_decides_is_the_few_calls_at_fault() {
    const CALLS: u64 = 3_000;
    let at = |time| Moment::from(Time::from_nanos(time));
    fn core_of<S>(calls: Vec<Call<S::Operation, S::Response>>, initial: &S) -> Vec<usize>
    where
        S: Specification<Operation: Clone, Response: Clone>,
    {
        let history = History::from_calls(calls).expect("ends come later");
        let explain = || Check::default().explain(&history, initial).expect("it is impossible");
        let (explanation, again) = (explain(), explain());
        assert_eq!(explanation.core, again.core);
        explanation.core.iter().map(|known| known.call).collect()
    }
    // Calls of 60 at a time, the first of which are at fault; `CALLS / 2` is the place of the first of these.
    let first = CALLS / 2;
    let register = |number: u64| {
        use register::{Operation::*, Response::*};
        let (span, operation, response) = match number.checked_sub(first) {
            Some(0) => ((0, 10), Write(number), Done),
            Some(1) => ((5, 15), Write(number), Done),
            Some(2) => ((20, 25), Read, Value(Some(first))),
            Some(3) => ((22, 27), Read, Value(Some(first + 1))),
            _ => ((0, 50 + number % 60), Write(number), Done),
        };
        let base = 60 * if number < first { number } else { number.max(first + 3) };
        let end = End::Returned { at: at(base + span.1), response };
        Call::new(Session(number % 4), operation, at(base + span.0), end)
    };
    let four: Vec<usize> = (0..4).map(|nth| first as usize + nth).collect();
    assert_eq!(core_of((0..CALLS).map(register).collect(), &Register::default()), four);
    let queue = |number: u64| {
        use containers::{Operation::*, Response::*};
        let taken = match number.checked_sub(first) {
            Some(1) => number + 2,
            Some(3) => number - 2,
            _ => number,
        };
        let [put, take] = [(Put(number), Done), (Take, Value(Some(taken)))];
        let (operation, response) = if number.is_multiple_of(2) { put } else { take };
        (number, operation, response)
    };
    // Values are even; two are put before both are taken.
    let calls = (0..CALLS).map(|number| {
        let (number, operation, response) = queue(number);
        let response = match response {
            containers::Response::Value(Some(taken)) => containers::Response::Value(Some(taken - 1)),
            done => done,
        };
        let place = match number.checked_sub(first) {
            Some(1) => number + 1,
            Some(2) => number - 1,
            _ => number,
        };
        let end = End::Returned { at: at(10 * place + 12), response };
        let span = if (first..first + 4).contains(&number) { 2 } else { 0 };
        Call::new(Session(number % 4), operation, at(10 * place + span + 3), end)
    });
    let core = core_of(calls.collect(), &Queue::default());
    assert!(core.len() <= 4 && core.iter().all(|place| four.contains(place)), "{core:?}");
}
