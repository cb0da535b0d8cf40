//! Checks as things happen, against the check of what was recorded up to then.

use crate::judge::{Shape, history};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_oracle::specifications::{Keyed, Lease, Log, Register, keyed, lock, log, register};
use simutant_oracle::{Answer, Call, Check, End, History, Online, OnlineBudget, OnlineError, Order, Specification};
use simutant_random::Random;

const SHAPE: Shape = Shape { calls_max: 6, sessions: 3, unknown: 2, may_be_wrong: true };

/// Returns the history with events that are all in one order, and those events: the call, and whether it is its end.
fn in_order<O, R>(history: History<O, R>) -> (History<O, R>, Vec<(usize, bool)>) {
    let mut events: Vec<_> = Vec::new();
    for (place, call) in history.calls().iter().enumerate() {
        events.push(((call.invoked.time, call.invoked.event), false, place));
        events.extend(call.end.at().map(|at| ((at.time, at.event), true, place)));
    }
    // Of events that are not in an order, invocations come first.
    events.sort_by_key(|&((time, _), is_end, place)| (time, is_end, place));
    let number = |place, is_end| {
        let position = events.iter().position(|event| (event.1, event.2) == (is_end, place)).expect("it is there");
        simutant_oracle::Moment { time: simutant_oracle::Time::ZERO, event: Some(position as u64) }
    };
    let calls: Vec<Call<O, R>> = history
        .into_calls()
        .into_iter()
        .enumerate()
        .map(|(place, call)| {
            let end = match call.end {
                End::Returned { response, .. } => End::Returned { at: number(place, true), response },
                End::DidNotHappen { .. } => End::DidNotHappen { at: number(place, true) },
                End::Unknown => End::Unknown,
            };
            Call { invoked: number(place, false), end, ..call }
        })
        .collect();
    let order: Vec<(usize, bool)> = events.iter().map(|&(_, is_end, place)| (place, is_end)).collect();
    // Calls may have changed their places, as those of one time are in the order of their events now.
    let mut places: Vec<usize> = (0..calls.len()).collect();
    places.sort_by_key(|&place| calls[place].invoked.event);
    let moved = |place: usize| places.iter().position(|&other| other == place).expect("it is there");
    let order = order.into_iter().map(|(place, is_end)| (moved(place), is_end)).collect();
    (History::from_calls(calls).expect("ends come later"), order)
}

fn check<S: Specification>(
    seed: u64,
    initial: &S,
    operation: impl Fn(&mut Random) -> S::Operation,
    response: impl Fn(&mut Random, &S::Operation) -> S::Response,
) where
    S::Operation: Clone + std::fmt::Debug,
    S::Response: Clone + std::fmt::Debug,
{
    let history = history(&mut Random::from_seed(seed), SHAPE, initial, operation, response);
    let (history, events) = in_order(history);
    check_in(
        Order::linearizability(),
        Online::new(initial.clone(), OnlineBudget::default()),
        &history,
        &events,
        initial,
    );
    let order = Order { sessions: true, ..Order::linearizability() };
    let online = Online::new(initial.clone(), OnlineBudget::default()).in_session_order();
    check_in(order, online, &history, &events, initial);
}

fn check_in<S: Specification>(
    order: Order,
    mut online: Online<S>,
    history: &History<S::Operation, S::Response>,
    events: &[(usize, bool)],
    initial: &S,
) where
    S::Operation: Clone + std::fmt::Debug,
    S::Response: Clone + std::fmt::Debug,
{
    let offline = Check { order, ..Check::default() };
    let mut numbers = vec![None; history.calls().len()];
    for (at, &(place, is_end)) in events.iter().enumerate() {
        let call = &history.calls()[place];
        let number = match numbers[place].filter(|_| is_end) {
            None => {
                numbers[place] = Some(online.invoked(call.session, call.operation.clone()));
                continue;
            }
            Some(number) => number,
        };
        let observed = match &call.end {
            End::Returned { response, .. } => online.returned(number, response.clone()),
            _ => online.did_not_happen(number),
        };
        // What was recorded by now: later ends are unknown, and later calls are not there.
        let seen = &events[..=at];
        let calls = history.calls().iter().enumerate().filter(|(place, _)| seen.contains(&(*place, false)));
        let calls = calls.map(|(place, call)| {
            let end = if seen.contains(&(place, true)) { call.end.clone() } else { End::Unknown };
            Call { end, ..call.clone() }
        });
        let recorded = History::from_calls(calls.collect()).expect("ends come later");
        let checked = offline.run(&recorded, initial);
        match observed {
            Ok(()) => assert!(checked.is_possible(), "{history:#?} at event {at}"),
            Err(OnlineError::Impossible { call }) => {
                assert!(matches!(checked.answer, Answer::Impossible { .. }), "{history:#?} at event {at}");
                assert_eq!(call, number);
                return;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_register_is_judged_at_each_observation(seed: u64) {
        use register::{Operation, Response};
        let operations = [Operation::Read, Operation::Write(0), Operation::Write(1), Operation::CompareAndSet { from: 0, to: 1 }];
        check(
            seed,
            &Register::<u8>::default(),
            |random| operations[random.uniform(0..=3_u64) as usize].clone(),
            |random, operation| match operation {
                Operation::Read => Response::Value([None, Some(0), Some(1)][random.uniform(0..=2_u64) as usize]),
                Operation::Write(_) => Response::Done,
                Operation::CompareAndSet { .. } => Response::Compared(random.uniform(0..=1_u64) == 1),
            },
        );
    }

    #[test]
    fn registers_of_keys_are_judged_at_each_observation(seed: u64) {
        use register::{Operation, Response};
        check(
            seed,
            &Keyed::<Register<u8>>::default(),
            |random| {
                let operation = match random.uniform(0..=2_u8) {
                    0 => Operation::Read,
                    value => Operation::Write(value - 1),
                };
                keyed::Operation { key: ["a", "b"][random.uniform(0..=1_u64) as usize].into(), operation }
            },
            |random, asked| match asked.operation {
                Operation::Read => Response::Value([None, Some(0), Some(1)][random.uniform(0..=2_u64) as usize]),
                _ => Response::Done,
            },
        );
    }

    #[test]
    fn a_lease_that_runs_out_is_judged_at_each_observation(seed: u64) {
        use lock::{Operation, Response};
        check(
            seed,
            &Lease::default(),
            |random| [Operation::Acquire, Operation::Renew, Operation::Release][random.uniform(0..=2_u64) as usize],
            |random, _| [Response::Refused, Response::Granted { fence: Some(1) }][random.uniform(0..=1_u64) as usize],
        );
    }

    #[test]
    fn a_log_that_tells_offsets_later_is_judged_at_each_observation(seed: u64) {
        use log::{Operation, Response};
        check(
            seed,
            &Log::<u8>::default(),
            |random| match random.uniform(0..=2_u64) {
                0 => Operation::Read { from: 0 },
                value => Operation::Append(value as u8),
            },
            |random, operation| match operation {
                Operation::Append(_) => Response::Appended { offset: Some(random.uniform(0..=3_u64)) },
                Operation::Read { .. } => Response::Records(vec![(random.uniform(0..=2_u64), 1)]),
            },
        );
    }
}

#[test]
fn a_budget_ends_in_undecided() {
    let budget = OnlineBudget { steps: 50, possibilities: 1000 };
    let mut online = Online::new(Register::default(), budget);
    for value in 0..8 {
        online.invoked(simutant_oracle::Session(value), register::Operation::Write(value));
    }
    let read = online.invoked(simutant_oracle::Session(9), register::Operation::Read);
    let error = online.returned(read, register::Response::Value(Some(3))).expect_err("too many orders");
    assert!(matches!(error, OnlineError::Undecided { .. }), "{error}");
    assert!(matches!(online.returned(read, register::Response::Value(None)), Err(OnlineError::NotUnderWay { .. })));
    // Nothing is impossible from here on.
    let [answered, refused] =
        [10, 11].map(|session| online.invoked(simutant_oracle::Session(session), register::Operation::Read));
    let value = register::Response::Value(Some(3));
    assert!(matches!(online.returned(answered, value), Err(OnlineError::Undecided { .. })));
    assert!(matches!(online.did_not_happen(refused), Err(OnlineError::Undecided { .. })));
}
