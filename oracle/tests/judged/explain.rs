//! Explanations of histories that are impossible.

use crate::judge::{Shape, brute_force, history};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_oracle::specifications::Register;
use simutant_oracle::specifications::register::{Operation, Response};
use simutant_oracle::{Call, Check, End, Explanation, History, Order, Recorder, Revision, Session, Time, What};
use simutant_random::Random;

type RegisterCall = Call<Operation<u8>, Response<u8>>;
type RegisterHistory = History<Operation<u8>, Response<u8>>;

fn made(seed: u64) -> RegisterHistory {
    let operations = [
        Operation::Read,
        Operation::Write(0),
        Operation::Write(1),
        Operation::CompareAndSet { from: 0, to: 1 },
        Operation::CompareAndSet { from: 1, to: 0 },
    ];
    let operation = |random: &mut Random| operations[random.uniform(0..=4_u64) as usize].clone();
    let response = |random: &mut Random, operation: &Operation<u8>| match operation {
        Operation::Read => Response::Value([None, Some(0), Some(1)][random.uniform(0..=2_u64) as usize]),
        Operation::Write(_) => Response::Done,
        Operation::CompareAndSet { .. } => Response::Compared(random.uniform(0..=1_u64) == 1),
    };
    let shape = Shape { calls_max: 7, sessions: 3, unknown: 2, may_be_wrong: true };
    history(&mut Random::from_seed(seed), shape, &Register::default(), operation, response)
}

/// Returns the history of those calls whose ends are kept, and nobody knows what became of the others.
fn with_ends(history: &RegisterHistory, is_kept: impl Fn(usize) -> bool) -> RegisterHistory {
    let forget = |(place, call): (usize, &Call<_, _>)| match call.end {
        End::Returned { .. } if !is_kept(place) => Call { end: End::Unknown, ..call.clone() },
        _ => call.clone(),
    };
    History::from_calls(history.calls().iter().enumerate().map(forget).collect()).expect("ends are as they were")
}

fn explained(seed: u64, order: &Order) -> Option<(RegisterHistory, Explanation<Register<u8>>)> {
    let history = made(seed);
    let explanation = Check { order: order.clone(), ..Check::default() }.explain(&history, &Register::default())?;
    Some((history, explanation))
}

fn orders() -> [Order; 3] {
    [Order::linearizability(), Order::sequential(), Order::ordered_sequential()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_impossible_is_explained_and_nothing_else(seed: u64) {
        for order in orders() {
            let is_possible = brute_force(&made(seed), &Register::default(), &order);
            prop_assert_eq!(explained(seed, &order).is_none(), is_possible);
        }
    }

    #[test]
    fn a_core_is_impossible_and_nothing_of_it_can_be_forgotten(seed: u64) {
        for order in orders() {
            let Some((history, explanation)) = explained(seed, &order) else { continue };
            let core = &explanation.core;
            let is_possible = |but: Option<usize>| {
                let is_kept = |place| Some(place) != but && core.iter().any(|known| known.call == place);
                brute_force(&with_ends(&history, is_kept), &Register::default(), &order)
            };
            prop_assert!(!is_possible(None), "{core:?} of {history:#?}");
            // Without the answers that do not matter less could be forgotten, so each by itself is tried with all.
            for known in core {
                prop_assert!(is_possible(Some(known.call)), "{known:?} of {core:?} of {history:#?}");
            }
        }
    }

    #[test]
    fn with_an_answer_that_is_allowed_all_up_to_it_is_possible(seed: u64) {
        for order in orders() {
            let Some((history, explanation)) = explained(seed, &order) else { continue };
            // By another order, what was observed can be an answer that comes too late.
            prop_assert!(!explanation.allowed.is_empty() || order != Order::linearizability());
            let end = history.calls()[explanation.stuck].end.at().expect("it returned");
            for allowed in &explanation.allowed {
                let calls = history.calls().iter().enumerate().map(|(place, call)| match &call.end {
                    End::Returned { at, .. } if place == explanation.stuck => {
                        Call { end: End::Returned { at: *at, response: allowed.response.clone() }, ..call.clone() }
                    }
                    // Moments of one time need not be in order, so what ends then is as good as later.
                    End::Returned { at, .. } if at.time >= end.time => Call { end: End::Unknown, ..call.clone() },
                    _ => call.clone(),
                });
                let changed = History::from_calls(calls.collect()).expect("ends are as they were");
                prop_assert!(brute_force(&changed, &Register::default(), &order), "{allowed:?} {history:#?}");
            }
        }
    }
}

#[test]
fn an_explanation_says_what_the_specification_says() {
    let recorder: Recorder<Operation<u8>, Response<u8>> = Recorder::new();
    let at = Time::from_nanos;
    for (time, session) in [(0, 1), (20, 2)] {
        let write = recorder.invoke(Session(session), Operation::Write(session as u8), at(time));
        recorder.returned(write, Response::Done, at(time + 10)).expect("it ends once");
    }
    let read = recorder.invoke(Session(1), Operation::Read, at(40));
    recorder.returned(read, Response::Value(Some(1)), at(50)).expect("it ends once");
    let explanation = Check::default().explain(&recorder.history(), &Register::default()).expect("it is impossible");
    assert_eq!(explanation.stuck, 2);
    assert_eq!(explanation.maximal.len(), 1);
    assert_eq!(explanation.maximal[0].order, [0, 1]);
    assert_eq!(explanation.allowed[0].response, Response::Value(Some(2)));
    assert_eq!(explanation.allowed[0].reason.as_deref(), Some("the register has the value 2"));
    let core: Vec<(usize, What)> = explanation.core.iter().map(|known| (known.call, known.what)).collect();
    // The first write must have ended before the second, and the second before the read, whatever they were answered.
    assert_eq!(core, [(0, What::Ended), (1, What::Ended), (2, What::Answer)]);
}

/// Where a search foresees that a read is out of reach, what people are told is the read all the same.
#[test]
fn the_answer_that_is_wrong_is_named_and_not_the_one_that_leads_to_it() {
    use simutant_oracle::specifications::store::{KeyValueStore, Operation, Response};
    let recorder = Recorder::new();
    let append = |value: &str| Operation::Append { key: "x".into(), value: value.into() };
    let read = Operation::Get { key: "x".into() };
    let value = |value: &str| Response::Value(Some(value.into()));
    let calls = [(append("a"), Response::Done), (append("b"), Response::Done), (read, value("a"))];
    for (time, (operation, response)) in (0..).map(|number| 2 * number).zip(calls) {
        let call = recorder.invoke(Session(1), operation, Time::from_nanos(time));
        recorder.returned(call, response, Time::from_nanos(time + 1)).expect("it was invoked");
    }
    let explanation = Check::default().explain(&recorder.history(), &KeyValueStore::default());
    let explanation = explanation.expect("`b` is missing");
    assert_eq!(explanation.stuck, 2);
    assert_eq!(explanation.allowed[0].response, value("ab"));
}

fn revised(
    session: u64,
    operation: Operation<u8>,
    period: (u64, u64),
    response: Response<u8>,
    revision: u64,
) -> RegisterCall {
    let moment = |nanos| Time::from_nanos(nanos).into();
    let end = End::Returned { at: moment(period.1), response };
    Call { revision: Some(Revision(revision)), ..Call::new(Session(session), operation, moment(period.0), end) }
}

#[test]
fn revisions_that_contradict_times_or_answers_are_named() {
    use Operation::{Read, Write};
    use Response::{Done, Value};
    #[track_caller]
    fn check(calls: Vec<RegisterCall>, order: Order, expect: Option<Option<(usize, usize)>>) {
        let history = History::from_calls(calls).expect("they end later");
        let check = Check { order: order.with_revisions(), ..Check::default() };
        let explanation = check.explain(&history, &Register::default()).expect("it is impossible");
        assert_eq!(explanation.revisions.map(|conflict| conflict.calls), expect);
        let verdict = check.verdict(&history, &Register::default());
        let kind = if expect.is_some() { "contradicting-revisions" } else { "impossible-history" };
        assert_eq!(verdict.finding().map(|finding| finding.kind.as_str()), Some(kind));
    }
    let late = || vec![revised(1, Write(1), (0, 5), Done, 7), revised(2, Write(2), (10, 15), Done, 6)];
    check(late(), Order::linearizability(), Some(Some((0, 1))));
    let of_one = || late().into_iter().map(|call| Call { session: Session(1), ..call }).collect();
    check(of_one(), Order::sequential(), Some(Some((0, 1))));
    check(late(), Order::ordered_sequential(), Some(Some((0, 1))));
    check(late(), Order::partial(vec![(0, 1)]), Some(Some((0, 1))));
    // The read had the value before it was written.
    let early = vec![revised(1, Write(1), (0, 20), Done, 7), revised(2, Read, (0, 20), Value(Some(1)), 6)];
    check(early, Order::linearizability(), Some(Some((0, 1))));
    // It takes all three: the second write has no place between the first one and the read.
    let three = vec![
        revised(1, Write(1), (0, 20), Done, 1),
        revised(2, Write(2), (0, 20), Done, 2),
        revised(3, Read, (0, 20), Value(Some(1)), 3),
    ];
    check(three, Order::linearizability(), Some(None));
    // Nobody wrote 9, whatever the revisions are.
    let wrong = [late(), vec![revised(3, Read, (20, 25), Value(Some(9)), 8)]].concat();
    check(wrong, Order::linearizability(), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, rng_seed: RngSeed::Fixed(8), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn revisions_are_blamed_where_the_rest_is_possible(seed: u64, revisions: [u8; 7]) {
        for order in orders() {
            let calls = made(seed).into_calls().into_iter().zip(revisions);
            let calls = calls.map(|(call, revision)| {
                let revision = call.end.response().map(|_| Revision(u64::from(revision % 8)));
                Call { revision, ..call }
            });
            let history = History::from_calls(calls.collect()).expect("ends are as they were");
            let revised = order.clone().with_revisions();
            let explanation = Check { order: revised.clone(), ..Check::default() }.explain(&history, &Register::default());
            let Some(explanation) = explanation else { continue };
            let is_possible = brute_force(&history, &Register::default(), &order);
            prop_assert_eq!(explanation.revisions.is_some(), is_possible);
            // The two alone are impossible, and their revisions are in the wrong order.
            if let Some((one, other)) = explanation.revisions.and_then(|conflict| conflict.calls) {
                prop_assert!(history.calls()[one].revision > history.calls()[other].revision);
                let two = with_ends(&history, |place| [one, other].contains(&place));
                prop_assert!(!brute_force(&two, &Register::default(), &revised), "{one}, {other} of {history:#?}");
            }
        }
    }
}
