//! A check keeps to its budget of memory, and a reader to what the values of an event may take.
//!
//! A test program of its own, whose tests wait for each other: the allocator counts what all threads have.

use std::sync::{Mutex, PoisonError};

use peak_alloc::PeakAlloc;
use simutant_oracle::formats::{self, Format, VALUES_MAX, Value};
use simutant_oracle::specifications::{
    Bank, KeyValueStore, Keyed, Log, PriorityQueue, Queue, Register, Set, Stack, bank, containers, keyed, log, set,
    store,
};
use simutant_oracle::{
    Answer, Budget, Call, Check, End, History, Limit, Moment, Order, Session, Specification, Strategy, Time,
};
use simutant_zookeeper_histories::{self as histories, ZooKeeper};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Who measures.
static MEASURING: Mutex<()> = Mutex::new(());

/// Returns a history of calls that are all under way at once, of which the last one is impossible: all orders have to be
/// tried.
fn history<O, R>(calls: impl Iterator<Item = (O, R)>) -> History<O, R> {
    let at = |nanos| Moment { time: Time::from_nanos(nanos), event: None };
    let call = |(number, (operation, response)): (u64, (O, R))| {
        let end = End::Returned { at: at(1000 + number), response };
        Call::new(Session(number), operation, at(number), end)
    };
    History::from_calls((0..).zip(calls).map(call).collect()).expect("all end later")
}

const CASES: [(Strategy, usize); 4] = [
    (Strategy::JustInTime, 2_000_000),
    (Strategy::JustInTime, 9_000_000),
    (Strategy::CallOrder, 3_000_000),
    (Strategy::BreadthFirst, 3_000_000),
];

#[track_caller]
fn check<S: Specification>(name: &str, history: &History<S::Operation, S::Response>, initial: &S) {
    check_by(&CASES, name, history, initial);
}

/// The same, in less time: what differs between specifications is how large their states are.
#[track_caller]
fn check_once<S: Specification>(name: &str, history: &History<S::Operation, S::Response>, initial: &S) {
    check_by(&CASES[..1], name, history, initial);
}

#[track_caller]
fn check_by<S: Specification>(
    cases: &[(Strategy, usize)],
    name: &str,
    history: &History<S::Operation, S::Response>,
    initial: &S,
) {
    for &(strategy, limit) in cases {
        let budget = Budget { bytes: Some(limit), ..Budget::default() };
        let before = ALLOCATED.current_usage();
        ALLOCATED.reset_peak_usage();
        let checked = Check { order: Order::none(), strategy, budget, ..Check::default() }.run(history, initial);
        let taken = ALLOCATED.peak_usage() - before;
        let case = format!("{name}, {strategy:?}, of {limit} bytes {taken} were taken: {checked:?}");
        assert_eq!(checked.answer, Answer::Undecided { limit: Limit::Bytes }, "{case}");
        assert!(taken as f64 <= 1.05 * limit as f64, "{case}");
        // A budget that is hardly used would be none.
        assert!(taken as f64 >= 0.5 * limit as f64, "{case}");
    }
}

#[test]
fn memory_stays_within_five_per_cent_of_the_budget() {
    let _measuring = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let put = |number: u32| (containers::Operation::Put(number), containers::Response::Done);
    let take = (containers::Operation::Take, containers::Response::Value(Some(99)));
    let puts = history((0..40).map(put).chain([take]));
    check("queue", &puts, &Queue::default());
    check_once("stack", &puts, &Stack::default());
    check_once("priority queue", &puts, &PriorityQueue::default());

    let append = |number: u32| (log::Operation::Append(number), log::Response::Appended { offset: None });
    let read = (log::Operation::Read { from: 0 }, log::Response::Records(vec![(0, 99)]));
    check_once("log", &history((0..40).map(append).chain([read])), &Log::default());

    let account = |number: u32| format!("account {number}").as_str().into();
    let transfer = |number: u32| {
        let operation = bank::Operation::Transfer { from: account(number), to: account(40 - number), amount: 1 };
        (operation, bank::Response::Transferred(true))
    };
    let read = (bank::Operation::Read, bank::Response::Balances([(account(0), -9)].into()));
    let bank = Bank::new((0..=40).map(|number| (account(number), 100 + i64::from(number))).collect());
    check_once("bank", &history((0..40).map(transfer).chain([read])), &bank);

    let append = |number: u32| {
        let operation = store::Operation::Append { key: "key".into(), value: format!("{number}, ").as_str().into() };
        (operation, store::Response::Done)
    };
    // A comparison that does not match is a read that nothing can say early of.
    let compare = store::Operation::CompareAndSet { key: "key".into(), from: Some("?".into()), to: "".into() };
    let compared = (compare, store::Response::Compared(true));
    check("store", &history((0..40).map(append).chain([compared])), &KeyValueStore::default());

    let add = |number: u32| (set::Operation::Add(number), set::Response::Is(true));
    let remove = (set::Operation::Remove(99), set::Response::Is(true));
    let all = (set::Operation::Read, set::Response::Values([98].into()));
    check("set", &history((0..40).map(add).chain([remove, all.clone()])), &Set::default());

    // Nobody reads more than one value, so that a set of each key is a part of its own; this one has a single key.
    let keyed = |(operation, response)| (keyed::Operation { key: "key".into(), operation }, response);
    let remove = (set::Operation::Remove(99), set::Response::Is(true));
    check_once("keyed set", &history((0..40).map(add).chain([remove, all]).map(keyed)), &Keyed::<Set<u32>>::default());

    let create = |number: u32| {
        let path = format!("/{number}").as_str().into();
        (
            histories::Operation::Create {
                path,
                data: Some("some data".into()),
                mode: histories::CreateMode::Persistent,
            },
            histories::Response::Done,
        )
    };
    let children = (histories::Operation::GetChildren { path: "/".into() }, histories::Response::Children(Vec::new()));
    check("ZooKeeper", &history((0..40).map(create).chain([children])), &ZooKeeper::default());
}

/// The worst files are those of many small values.
#[test]
fn the_values_of_an_event_take_no_more_memory_than_they_may() {
    let _measuring = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |value: &str, count: usize| {
        let values = value.repeat(count);
        format!("{{:process 0 :type :invoke :f :write :value 1 :more [{values}]}}")
    };
    // A call of our own has what is read once, and no second tree of it.
    for values in ["[1],".repeat(100_000), "1,".repeat(100_000)] {
        let line = format!(
            "{{\"session\":1,\"operation\":{{\"write\":[{}]}},\"invoked_ns\":0,\"end\":\"unknown\"}}",
            values.trim_end_matches(',')
        );
        let before = ALLOCATED.current_usage();
        ALLOCATED.reset_peak_usage();
        let read = formats::read::<Register<Value>>(Format::JsonLines, line.as_bytes());
        let taken = ALLOCATED.peak_usage() - before;
        assert_eq!(read.expect("a history").calls().len(), 1);
        assert!(taken <= 48 * line.len(), "{taken} bytes for {}", line.len());
    }
    for (value, count, is_read) in [
        ("1 ", 100_000, true),
        ("[1]", 100_000, true),
        ("\"\"", 100_000, true),
        ("#{1}", 100_000, true),
        // Of a file of three megabytes.
        ("#{1}", 700_000, false),
        ("{1 1}", 600_000, false),
    ] {
        let text = of(value, count);
        let before = ALLOCATED.current_usage();
        ALLOCATED.reset_peak_usage();
        let read = formats::read::<Register<Value>>(Format::JepsenEdn, text.as_bytes());
        let taken = ALLOCATED.peak_usage() - before;
        match read {
            Ok(history) => assert!(is_read && history.calls().len() == 1, "{value}"),
            Err(error) => assert!(!is_read && error.to_string().contains("268435456 bytes of memory"), "{error}"),
        }
        assert!(taken <= VALUES_MAX, "{value}: {taken} bytes");
    }
}
