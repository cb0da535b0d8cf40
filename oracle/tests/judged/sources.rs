//! What tells regular registers from atomic ones (Lamport, 1986), and what filters must keep (Banzai, 2018, 3.3).

use simutant_oracle::specifications::{KeyValueStore, Register, register, store};
use simutant_oracle::{Call, Check, Compared, End, Filter, History, Mode, Moment, Order, Scope, Session, Time};

#[test]
fn a_regular_register_may_answer_with_the_old_value_after_the_new_one() {
    let at = |time| Moment { time: Time::from_nanos(time), event: None };
    let call = |session, operation, from, to, response| {
        Call::new(Session(session), operation, at(from), End::Returned { at: at(to), response })
    };
    let read = |from, to, value| call(2, register::Operation::Read, from, to, register::Response::Value(value));
    let is_possible = |reads: [Option<u8>; 3], scope| {
        let first = call(1, register::Operation::Write(1), 0, 10, register::Response::Done);
        let second = call(1, register::Operation::Write(2), 20, 90, register::Response::Done);
        let reads = [read(30, 40, reads[0]), read(50, 60, reads[1]), read(95, 99, reads[2])];
        let history = History::from_calls([first, second].into_iter().chain(reads).collect()).expect("ends come later");
        Check { scope, ..Check::default() }.run(&history, &Register::default()).is_possible()
    };
    for (reads, is_regular, is_atomic) in [
        ([Some(1), Some(2), Some(2)], true, true),
        ([Some(2), Some(1), Some(2)], true, false),
        ([Some(2), Some(1), Some(1)], false, false),
        ([None, Some(2), Some(2)], false, false),
    ] {
        assert_eq!(is_possible(reads, Scope::EachRead), is_regular, "{reads:?}");
        assert_eq!(is_possible(reads, Scope::History), is_atomic, "{reads:?}");
    }
}

#[test]
fn calls_are_in_order_by_way_of_calls_that_do_not_matter_themselves() {
    let put = |key: &str| store::Operation::Put { key: key.into(), value: "a".into() };
    let compare = store::Operation::CompareAndSet { key: "x".into(), from: Some("a".into()), to: "b".into() };
    // It has nothing to do with x, and x was put before it and compared after it.
    let put_y = (put("y"), store::Response::Done);
    let get_y = (store::Operation::Get { key: "y".into() }, store::Response::Value(None));
    for (operation, response) in [put_y, get_y] {
        let asked = [
            (2, Mode::Asynchronous, put("x"), store::Response::Done),
            (2, Mode::Synchronous, operation, response),
            (1, Mode::Synchronous, compare.clone(), store::Response::Compared(false)),
        ];
        let at = |time: u64| Moment { time: Time::from_nanos(time), event: None };
        let call =
            |(number, (session, mode, operation, response)): (u64, (u64, Mode, store::Operation, store::Response))| {
                let end = End::Returned { at: at(10 + number), response };
                Call { mode, ..Call::new(Session(session), operation, at(number), end) }
            };
        let history = History::from_calls((0..).zip(asked).map(call).collect()).expect("all end later");
        for filter in [Filter::None, Filter::Reads, Filter::Unrelated] {
            for compared in [Compared::Target, Compared::All] {
                let scope = Scope::EachCall { compared, filter };
                let check = Check { order: Order::ordered_sequential(), scope, ..Check::default() };
                assert!(!check.run(&history, &KeyValueStore::default()).is_possible(), "{scope:?}");
            }
        }
    }
}
