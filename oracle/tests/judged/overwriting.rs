//! Calls that others overwrite: what the search hides of them changes no verdict, and makes long histories of few values
//! short work.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_oracle::specifications::{KeyValueStore, Register, Set, register, set, store};
use simutant_oracle::{
    Answer, Budget, Call, Check, End, History, Moment, Open, Order, Session, Specification, Strategy, Time,
};
use simutant_random::Random;

use crate::judge::{agree, one_of};

/// What random histories are like.
#[derive(Debug, Clone, Copy)]
struct Shape {
    clients: u64,
    /// How many calls a client makes, one after the other.
    calls: u64,
    /// Of a thousand calls, how many have no known end, and how many reads are answered as another one.
    unknown: u64,
    wrong: u64,
}

/// Returns what clients see of a service that takes each call at some instant while it is under way.
fn made<S>(
    random: &mut Random,
    shape: Shape,
    initial: &S,
    operation: impl Fn(&mut Random) -> S::Operation,
) -> History<S::Operation, S::Response>
where
    S: Specification<Operation: Clone, Response: Clone>,
{
    let mut calls: Vec<(u64, u64, u64, u64)> = Vec::new();
    for client in 0..shape.clients {
        let mut now = random.uniform(0..=100);
        for _ in 0..shape.calls {
            let invoked = now + random.uniform(1..=40_u64);
            let taken = invoked + random.uniform(1..=100_u64);
            now = taken + random.uniform(1..=100_u64);
            calls.push((taken, client, invoked, now));
        }
    }
    calls.sort_unstable();
    let mut state = initial.clone();
    let mut read: Vec<S::Response> = Vec::new();
    let call = |(_, client, invoked, ended)| {
        let at = |time| Moment::from(Time::from_nanos(time));
        let operation = operation(random);
        let mut response = state.step(Session(client), &operation, &mut Open::first());
        if S::footprint(&operation, Some(&response)).is_read() {
            read.push(response.clone());
            if random.uniform(0..=999_u64) < shape.wrong {
                response = one_of(random, &read);
            }
        }
        let is_unknown = random.uniform(0..=999_u64) < shape.unknown;
        let end = if is_unknown { End::Unknown } else { End::Returned { at: at(ended), response } };
        Call::new(Session(client), operation, at(invoked), end)
    };
    History::from_calls(calls.into_iter().map(call).collect()).expect("calls end after their invocations")
}

/// Compares the search that hides with one that has no reductions.
fn compare<S>(seed: u64, initial: &S, operations: &[S::Operation]) -> Result<(), TestCaseError>
where
    S: Specification<Operation: Clone + std::fmt::Debug, Response: Clone + std::fmt::Debug> + std::fmt::Debug,
{
    let random = &mut Random::from_seed(seed);
    let shape = Shape { clients: random.uniform(2..=6), calls: random.uniform(2..=4), unknown: 60, wrong: 150 };
    let history = made(random, shape, initial, |random| one_of(random, operations));
    let with = |strategy, is_partitioned| {
        Check { strategy, is_partitioned, has_fast_paths: false, ..Check::default() }.run(&history, initial)
    };
    let expect = with(Strategy::AnswerOrder, true).is_possible();
    for is_partitioned in [true, false] {
        let checked = with(Strategy::JustInTime, is_partitioned);
        prop_assert_eq!(checked.is_possible(), expect, "{:?} of {:#?}", checked, history);
        if let Answer::Possible { order } | Answer::Impossible { longest: order, .. } = &checked.answer {
            prop_assert!(agree(&history, initial, &Order::linearizability(), order), "{:?} of {:#?}", order, history);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, rng_seed: RngSeed::Fixed(17), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_hidden_changes_no_verdict_on_a_register(seed: u64) {
        use register::Operation::{CompareAndSet, Read, Write};
        compare(seed, &Register::default(), &[Read, Read, Write(0), Write(1)])?;
        let cas = [CompareAndSet { from: 0, to: 1 }, CompareAndSet { from: 1, to: 2 }];
        compare(seed, &Register::default(), &[&[Read, Read, Write(0), Write(1), Write(2)][..], &cas].concat())?;
    }

    #[test]
    fn what_is_hidden_changes_no_verdict_on_keys(seed: u64) {
        let [x, y] = ["x", "y"];
        let put = |key: &str, value: &str| store::Operation::Put { key: key.into(), value: value.into() };
        let get = |key: &str| store::Operation::Get { key: key.into() };
        let append = store::Operation::Append { key: x.into(), value: "a".into() };
        let cas = store::Operation::CompareAndSet { key: x.into(), from: None, to: "b".into() };
        let operations = [
            get(x), get(x), get(x), get(y), put(x, "a"), put(x, "b"), put(y, "a"), append, cas,
            store::Operation::Delete { key: x.into() },
        ];
        compare(seed, &KeyValueStore::default(), &operations)?;
        use set::Operation::{Add, Contains, Read, Remove};
        compare(seed, &Set::default(), &[Add(0), Remove(0), Contains(0), Contains(0), Add(1), Read])?;
    }
}

/// The steps that a check takes are few times the calls, however many clients overlap.
#[test]
fn long_histories_of_few_values_take_few_steps() {
    for (clients, values, steps) in [(10, 5, 6), (30, 5, 16), (30, 2, 6), (100, 5, 16)] {
        let calls = 20_000;
        let shape = Shape { clients, calls: calls / clients, unknown: 0, wrong: 0 };
        let operation = |random: &mut Random| match random.uniform(0..=1_u64) {
            0 => register::Operation::Read,
            _ => register::Operation::Write(random.uniform(1..=values)),
        };
        let history = made(&mut Random::from_seed(1), shape, &Register::default(), operation);
        let budget = Budget { steps: Some(steps * calls), ..Budget::default() };
        let checked = Check { budget, ..Check::default() }.run(&history, &Register::default());
        assert!(checked.is_possible(), "{clients} clients, {values} values: {:?}", checked.explored);
    }
}
