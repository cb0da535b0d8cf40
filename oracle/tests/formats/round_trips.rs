//! What is written is read.

use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use simutant_oracle::formats::{self, Format, Value, Vocabulary, edn, json_lines};
use simutant_oracle::specifications::{Queue, Register, Set, containers, register, set};
use simutant_oracle::{Call, End, History, Moment, Session, Time};

use crate::seeded;

/// Values that a register or a container may have.
pub(crate) fn element() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        (-3_i64..4).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::Boolean),
        any::<String>().prop_map(|text| Value::text(&text)),
        ":[a-z][a-z0-9*!?./-]{0,4}".prop_map(|word| Value::word(&word)),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Value::List))
}

/// Histories whose sessions have one call at a time, of these operations with their responses.
pub(crate) fn history<O, R>(call: impl Strategy<Value = (O, R)>) -> impl Strategy<Value = History<O, R>>
where
    O: std::fmt::Debug + Clone,
    R: std::fmt::Debug + Clone,
{
    let call = (0..3_u64, call, 0..3_u64, 0..4_u64, 0..4_u8, any::<bool>());
    prop::collection::vec(call, 0..12).prop_map(|calls| {
        let mut free = [0_u64; 3];
        let mut event = 0;
        let mut made = Vec::new();
        for (session, (operation, response), pause, lasts, kind, has_event) in calls {
            let invoked = free[session as usize] + pause;
            let ended = invoked + lasts;
            free[session as usize] = ended + 1;
            let mut moment = |nanos| {
                event += 1;
                Moment { time: Time::from_nanos(nanos), event: has_event.then_some(event) }
            };
            let (invoked, at) = (moment(invoked), moment(ended));
            let end = match kind {
                0 => End::Unknown,
                1 => End::DidNotHappen { at },
                _ => End::Returned { at, response },
            };
            made.push(Call::new(Session(session), operation, invoked, end));
        }
        History::from_calls(made).expect("all end later")
    })
}

pub(crate) fn of_a_register() -> impl Strategy<Value = (register::Operation<Value>, register::Response<Value>)> {
    use register::{Operation, Response};
    prop_oneof![
        prop::option::of(element()).prop_map(|value| (Operation::Read, Response::Value(value))),
        element().prop_map(|value| (Operation::Write(value), Response::Done)),
        (element(), element(), any::<bool>())
            .prop_map(|(from, to, is)| (Operation::CompareAndSet { from, to }, Response::Compared(is))),
    ]
}

fn of_a_set() -> impl Strategy<Value = (set::Operation<Value>, set::Response<Value>)> {
    use set::{Operation, Response};
    // Whether a boolean was new cannot be told from an echo of it.
    let value = || element().prop_filter("no boolean", |value| !matches!(value, Value::Boolean(_)));
    let answer = prop_oneof![Just(Response::Done), any::<bool>().prop_map(Response::Is)];
    prop_oneof![
        (value(), answer.clone()).prop_map(|(value, answer)| (Operation::Add(value), answer)),
        (value(), answer).prop_map(|(value, answer)| (Operation::Remove(value), answer)),
        (element(), any::<bool>()).prop_map(|(value, is)| (Operation::Contains(value), Response::Is(is))),
        prop::collection::btree_set(element(), 0..4).prop_map(|values| (Operation::Read, Response::Values(values))),
        prop::collection::vec(element(), 1..4).prop_map(|values| {
            let again = values.iter().take(1).cloned();
            (Operation::Read, Response::Repeated(values.iter().cloned().chain(again).collect()))
        }),
    ]
}

fn of_a_queue() -> impl Strategy<Value = (containers::Operation<Value>, containers::Response<Value>)> {
    use containers::{Operation, Response};
    prop_oneof![
        element().prop_map(|value| (Operation::Put(value), Response::Done)),
        prop::option::of(element()).prop_map(|value| (Operation::Take, Response::Value(value))),
    ]
}

/// Checks that calls come back, and which ones precede which.
fn comes_back<S>(history: &History<S::Operation, S::Response>) -> Result<(), TestCaseError>
where
    S: Vocabulary,
    S::Operation: Serialize + DeserializeOwned + std::fmt::Debug + Clone + PartialEq,
    S::Response: Serialize + DeserializeOwned + std::fmt::Debug + Clone + PartialEq,
{
    let mut lines = Vec::new();
    json_lines::write(history, &mut lines)?;
    let read = formats::read::<S>(Format::JsonLines, &lines[..]);
    prop_assert_eq!(&read.expect("it was written here"), history);

    let mut lines = Vec::new();
    edn::write::<S>(history, &mut lines).expect("all has a form");
    let read = formats::read::<S>(Format::JepsenEdn, &lines[..]);
    let read = read.unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&lines)));
    let plain = |call: &Call<S::Operation, S::Response>| {
        let end = match &call.end {
            End::Returned { at, response } => (0, Some(at.time), Some(response.clone())),
            End::Unknown => (1, None, None),
            End::DidNotHappen { at } => (2, Some(at.time), None),
        };
        (call.session, call.operation.clone(), call.invoked.time, end)
    };
    // Calls of one instant may be in another order, so each is looked for.
    let mut places = Vec::new();
    for call in history.calls() {
        let is_it = |place: &usize| !places.contains(place) && plain(&read.calls()[*place]) == plain(call);
        let place = (0..read.calls().len()).find(is_it);
        places.push(place.ok_or_else(|| TestCaseError::fail(format!("{call:?} is lost")))?);
    }
    prop_assert_eq!(read.calls().len(), history.calls().len());
    let sorted = |history: &History<S::Operation, S::Response>, calls: &[usize]| {
        let all = history.calls();
        let precede = |(one, other): (&usize, &usize)| all[*one].precedes(&all[*other]);
        calls.iter().flat_map(|one| calls.iter().map(move |other| (one, other))).map(precede).collect::<Vec<_>>()
    };
    let own: Vec<usize> = (0..history.calls().len()).collect();
    prop_assert_eq!(sorted(&read, &places), sorted(history, &own));
    Ok(())
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn registers(history in history(of_a_register())) {
        comes_back::<Register<Value>>(&history)?;
    }

    #[test]
    fn sets(history in history(of_a_set())) {
        comes_back::<Set<Value>>(&history)?;
    }

    #[test]
    fn queues(history in history(of_a_queue())) {
        comes_back::<Queue<Value>>(&history)?;
    }
}

/// Events of a queue as a process has them, with pauses: whether it puts, takes or drains, and what that gives.
fn events_of_a_queue() -> impl Strategy<Value = String> {
    let step = (0..3_usize, 0..3_u8, prop::collection::vec(0..9_u8, 0..3));
    prop::collection::vec(step, 0..16).prop_map(|steps| {
        let mut open: [Option<String>; 3] = Default::default();
        let mut text = String::new();
        let mut event = |process: usize, kind: &str, call: &str| {
            text.push_str(&format!("{{:process {process} :type :{kind} {call}}}\n"));
        };
        for (process, kind, values) in steps {
            if let Some(call) = open[process].take() {
                event(process, "ok", &call);
                continue;
            }
            let call = match (kind, &values[..]) {
                (0, [value, ..]) => format!(":f :enqueue :value {value}"),
                (1, [value, ..]) => format!(":f :dequeue :value {value}"),
                _ => format!(":f :drain :value {values:?}"),
            };
            event(
                process,
                "invoke",
                call.split_once(" :value ").filter(|_| kind > 0).map_or(&*call, |(asked, _)| asked),
            );
            open[process] = Some(call);
        }
        for (process, call) in open.iter().enumerate() {
            call.iter().for_each(|call| event(process, "ok", call));
        }
        text
    })
}

proptest! {
    #![proptest_config(seeded())]

    /// Also those of drains among other events, which are calls that overlap.
    #[test]
    fn what_events_are_comes_back_as_calls(text in events_of_a_queue()) {
        let read = formats::read::<Queue<Value>>(Format::JepsenEdn, text.as_bytes()).expect("all calls end");
        let mut lines = Vec::new();
        json_lines::write(&read, &mut lines)?;
        let again = formats::read::<Queue<Value>>(Format::JsonLines, &lines[..]);
        prop_assert_eq!(&again.unwrap_or_else(|error| panic!("{error}\n{text}")), &read);
    }
}

#[test]
fn what_has_no_form_in_edn_is_refused() {
    let call = |session, event| {
        let moment = |event| Moment { time: Time::ZERO, event: Some(event) };
        let end = End::Returned { at: moment(event + 2), response: register::Response::Done };
        Call::new(Session(session), register::Operation::Write(Value::from(1)), moment(event), end)
    };
    let history = History::from_calls(vec![call(1, 0), call(1, 1)]).expect("both end later");
    let error = edn::write::<Register<Value>>(&history, Vec::new()).expect_err("they overlap");
    assert_eq!(
        error.to_string(),
        "call 1 (session 1, invoked at 0 s, event 1) has no form in EDN: its session has another call at the time; write JSON Lines"
    );
}
