//! A check keeps to its budget of memory.
//!
//! A test program of its own with one test: the allocator counts what all threads have.

use peak_alloc::PeakAlloc;
use simutant_oracle::specifications::{KeyValueStore, Queue, Set, ZooKeeper, containers, set, store, zookeeper};
use simutant_oracle::{
    Answer, Budget, Call, Check, End, History, Limit, Moment, Order, Session, Specification, Strategy, Time,
};

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

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

#[track_caller]
fn check<S: Specification>(name: &str, history: &History<S::Operation, S::Response>, initial: &S) {
    let cases = [
        (Strategy::JustInTime, 2_000_000),
        (Strategy::JustInTime, 9_000_000),
        (Strategy::CallOrder, 3_000_000),
        (Strategy::BreadthFirst, 3_000_000),
    ];
    for (strategy, limit) in cases {
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
    let put = |number: u32| (containers::Operation::Put(number), containers::Response::Done);
    let take = (containers::Operation::Take, containers::Response::Value(Some(99)));
    check("queue", &history((0..40).map(put).chain([take])), &Queue::default());

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
    check("set", &history((0..40).map(add).chain([remove, all])), &Set::default());

    let create = |number: u32| {
        let path = format!("/{number}").as_str().into();
        (
            zookeeper::Operation::Create {
                path,
                data: Some("some data".into()),
                mode: zookeeper::CreateMode::Persistent,
            },
            zookeeper::Response::Done,
        )
    };
    let children = (zookeeper::Operation::GetChildren { path: "/".into() }, zookeeper::Response::Children(Vec::new()));
    check("ZooKeeper", &history((0..40).map(create).chain([children])), &ZooKeeper::default());
}
