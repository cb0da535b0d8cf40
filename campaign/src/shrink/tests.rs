//! Shrinking with runners that are functions.

use std::convert::Infallible;

use proptest::prelude::*;
use serde_json::json;
use simutant_outcomes::Cause;
use simutant_sim_core::ChoiceKind;

use super::*;

const RUNS_MAX: u64 = 10_000;

fn failure() -> Failure {
    failure_with("b returned 17, but 18 was expected")
}

fn failure_with(reason: &str) -> Failure {
    let execution = Execution {
        verdict: RunEnd::Failed,
        cause: Some(Cause::UnexpectedResult),
        reason: reason.to_owned(),
        events: 1,
        steps: 1,
    };
    Failure::of(&execution).expect("it failed")
}

fn seeded(case: Value) -> Candidate {
    Candidate { case, choosing: Choosing::default() }
}

/// A run of a case that says how many packets are sent. The seed loses every packet whose number it divides, and
/// `fails` is told the numbers of those that were lost.
fn run_packets(candidate: &Candidate, keep: ChoiceRecording, fails: impl Fn(&Value, &[u64]) -> bool) -> Ran {
    let Some(packets) = candidate.case["packets"].as_u64() else { return Ran::Refused };
    let seed = candidate.case["seed"].as_u64().unwrap_or(1);
    let is_lost = |index: u64| {
        let imposed = candidate.choosing.choices.iter().find(|choice| choice.index == index);
        imposed.map_or_else(
            || candidate.choosing.others == Others::Seed && seed != 0 && index.is_multiple_of(seed),
            |choice| choice.value == 1,
        )
    };
    let lost: Vec<u64> = (0..packets).filter(|&index| is_lost(index)).collect();
    if !fails(&candidate.case, &lost) {
        return Ran::Passed;
    }
    let made = (0..packets).map(|index| drop_of(index, lost.contains(&index)));
    Ran::Failed { failure: failure(), choices: (keep == ChoiceRecording::Keep).then(|| made.collect()) }
}

fn drop_of(index: u64, is_lost: bool) -> RecordedChoice {
    RecordedChoice { stream: "network a->b".to_owned(), index, kind: ChoiceKind::Drop, value: u64::from(is_lost) }
}

fn shrink_with(start: Candidate, runs_max: u64, mut run: impl FnMut(&Candidate, ChoiceRecording) -> Ran) -> Shrunk {
    shrink(start, &failure(), runs_max, |candidate, keep| Ok::<_, Infallible>(run(candidate, keep)))
        .unwrap_or_else(|error| match error {})
}

/// Shrinks a test case whose failure no choice has to do with.
#[track_caller]
fn check(case: Value, fails: impl Fn(&Value) -> bool, expect: Value) {
    let shrunk = shrink_with(seeded(case), RUNS_MAX, |candidate, _| match fails(&candidate.case) {
        true => Ran::Failed { failure: failure(), choices: Some(Vec::new()) },
        false => Ran::Passed,
    });
    assert_eq!(shrunk.candidate, seeded(expect));
    assert_eq!(shrunk.end, ShrinkEnd::Minimal);
}

#[test]
fn each_kind_of_value_gets_as_small_as_may_be() {
    let number = |case: &Value, field: &str| case[field].as_f64();
    check(json!({"n": 123_456}), |case| number(case, "n") >= Some(777.0), json!({"n": 777}));
    check(json!({"n": -123_456}), |case| number(case, "n").is_some_and(|n| n <= -5.0), json!({"n": -5}));
    check(json!({"p": 0.1379}), |case| number(case, "p") > Some(0.0), json!({"p": 0.1}));
    check(json!({"p": 0.1379}), |case| number(case, "p") >= Some(0.12), json!({"p": 0.12}));
    check(json!({"p": 0.1379}), |case| case["p"].is_f64(), json!({"p": 0.0}));
    check(json!({"is": true, "other": true}), |case| case["is"] == true, json!({"is": true}));
    check(json!({"is": true}), |case| case["is"].is_boolean(), json!({"is": false}));
    check(json!({"a": {"b": 5}, "c": 7}), |case| case.get("a").is_some(), json!({"a": null}));
    check(json!({"name": "long"}), |case| case["name"].is_string(), json!({"name": "long"}));
    check(json!({"seed": 123_456}), |case| case["seed"].as_u64().is_some_and(|seed| seed > 2), json!({"seed": 3}));
}

#[test]
fn lists_keep_what_matters_in_its_order() {
    let has = |case: &Value, wanted: u64| case["list"].as_array().is_some_and(|list| list.contains(&wanted.into()));
    let list: Vec<u64> = (0..200).collect();
    check(json!({"list": list}), |case| has(case, 17) && has(case, 140), json!({"list": [17, 140]}));
    check(json!({"list": [[1, 2], [3, 4]]}), |case| case["list"].is_array(), json!({"list": []}));
}

#[test]
fn what_is_refused_and_what_fails_otherwise_is_skipped() {
    let other = failure_with("c panicked");
    let shrunk =
        shrink_with(seeded(json!({"n": 1_000})), RUNS_MAX, |candidate, _| match candidate.case["n"].as_u64() {
            Some(n) if n % 2 == 1 => Ran::Refused,
            Some(n) if n < 100 => Ran::Failed { failure: other.clone(), choices: None },
            Some(_) => Ran::Failed { failure: failure(), choices: None },
            None => Ran::Refused,
        });
    let n = shrunk.candidate.case["n"].as_u64().expect("a number");
    assert!(n >= 100 && n.is_multiple_of(2), "{n}");
    assert!(n < 1_000, "{n}");
}

#[test]
fn failures_are_the_same_but_for_numbers() {
    assert_eq!(failure_with("b returned 3, but 4 was expected"), failure());
    assert_ne!(failure_with("a returned 17, but 18 was expected"), failure());
    let place = |line| failure_with(&format!("b panicked at src/b.rs:{line}: 5 is odd"));
    assert_ne!(place(7), place(8));
    let abnormal = Execution {
        verdict: RunEnd::Abnormal,
        cause: Some(Cause::Panic),
        reason: "b returned 17, but 18 was expected".to_owned(),
        events: 1,
        steps: 1,
    };
    assert_ne!(Failure::of(&abnormal), Some(failure()));
    assert_eq!(Failure::of(&Execution { verdict: RunEnd::Passed, cause: None, ..abnormal }), None);
}

#[test]
fn drops_that_do_not_matter_are_undone() {
    let start = seeded(json!({"packets": 100, "seed": 3}));
    // Two losses that are not neighbours.
    let fails = |_: &Value, lost: &[u64]| lost.iter().any(|first| lost.contains(&(first + 6)));
    let shrunk = shrink_with(start, RUNS_MAX, |candidate, keep| run_packets(candidate, keep, fails));
    assert_eq!(shrunk.candidate.case["packets"], 7);
    let expect = Choosing {
        others: Others::Simplest,
        latencies: BTreeMap::new(),
        choices: vec![drop_of(0, true), drop_of(6, true)],
    };
    assert_eq!(shrunk.candidate.choosing, expect);
    assert_eq!(shrunk.end, ShrinkEnd::Minimal);
}

#[test]
fn drops_move_to_earlier_packets() {
    let losing =
        |index| Choosing { others: Others::Simplest, latencies: BTreeMap::new(), choices: vec![drop_of(index, true)] };
    let start = Candidate { case: json!({"packets": 100}), choosing: losing(90) };
    let fails = |_: &Value, lost: &[u64]| lost.iter().any(|&index| index >= 4);
    let shrunk = shrink_with(start, RUNS_MAX, |candidate, keep| run_packets(candidate, keep, fails));
    assert_eq!(shrunk.candidate, Candidate { case: json!({"packets": 5}), choosing: losing(4) });
}

#[test]
fn a_fault_at_the_end_moves_with_the_end() {
    let losing =
        |index| Choosing { others: Others::Simplest, latencies: BTreeMap::new(), choices: vec![drop_of(index, true)] };
    let start = Candidate { case: json!({"packets": 100}), choosing: losing(99) };
    let fails = |case: &Value, lost: &[u64]| {
        let packets = case["packets"].as_u64().unwrap_or(0);
        packets >= 3 && lost.contains(&(packets - 1))
    };
    let shrunk = shrink_with(start, RUNS_MAX, |candidate, keep| run_packets(candidate, keep, fails));
    assert_eq!(shrunk.candidate, Candidate { case: json!({"packets": 3}), choosing: losing(2) });
}

#[test]
fn a_loss_that_only_shifted_the_others_is_undone() {
    // What is not lost is not sent again: the packets that are sent are the losses and `packets` others.
    let fails = |_: &Value, lost: &[u64]| lost.iter().zip(1..).any(|(&index, count)| index == 4 + count);
    let choices = vec![drop_of(2, true), drop_of(6, true)];
    let start = Candidate {
        case: json!({"packets": 10}),
        choosing: Choosing { others: Others::Simplest, latencies: BTreeMap::new(), choices },
    };
    let shrunk = shrink_with(start, RUNS_MAX, |candidate, keep| run_packets(candidate, keep, fails));
    let expect = Choosing { others: Others::Simplest, latencies: BTreeMap::new(), choices: vec![drop_of(5, true)] };
    assert_eq!(shrunk.candidate, Candidate { case: json!({"packets": 6}), choosing: expect });
}

#[test]
fn latencies_that_do_not_matter_are_all_the_same() {
    let stream = "network a->b";
    // Packet n takes n + 2 ns by the seed; it fails if packet 3 takes as long as is wanted.
    let run = |wanted: u64| {
        move |candidate: &Candidate, _| {
            let Some(packets) = candidate.case["packets"].as_u64() else { return Ran::Refused };
            let Choosing { choices, latencies, .. } = &candidate.choosing;
            let imposed = |index| choices.iter().find(|choice| choice.index == index).map(|choice| choice.value);
            let latency = |index| imposed(index).or(latencies.get(stream).copied()).unwrap_or(index + 2);
            let made = |index| RecordedChoice {
                stream: stream.to_owned(),
                index,
                kind: ChoiceKind::Latency,
                value: latency(index),
            };
            if packets <= 3 || latency(3) < wanted {
                return Ran::Passed;
            }
            Ran::Failed { failure: failure(), choices: Some((0..packets).map(made).collect()) }
        }
    };
    let shrunk = |wanted| {
        let shrunk = shrink_with(seeded(json!({"packets": 50})), RUNS_MAX, run(wanted));
        assert_eq!((shrunk.candidate.case, shrunk.end), (json!({"packets": 4}), ShrinkEnd::Minimal));
        shrunk.candidate.choosing
    };
    let latencies = BTreeMap::from([(stream.to_owned(), 2)]);
    let third = RecordedChoice { stream: stream.to_owned(), index: 3, kind: ChoiceKind::Latency, value: 5 };
    let expect = |choices| Choosing { others: Others::Simplest, latencies: latencies.clone(), choices };
    assert_eq!(shrunk(2), expect(Vec::new()));
    assert_eq!(shrunk(5), expect(vec![third]));
}

#[test]
fn choices_are_left_to_the_seed_if_none_is_left() {
    let start = seeded(json!({"packets": 100, "seed": 3}));
    let fails = |case: &Value, _: &[u64]| case["packets"].as_u64() >= Some(10);
    // Without a seed the first packet is lost, so the list, which is empty, has to say that none is.
    let shrunk = shrink_with(start.clone(), RUNS_MAX, |candidate, keep| run_packets(candidate, keep, fails));
    let nothing = Choosing { others: Others::Simplest, latencies: BTreeMap::new(), choices: Vec::new() };
    assert_eq!(shrunk.candidate, Candidate { case: json!({"packets": 10}), choosing: nothing });
    // Here seeds cannot be left out, and seed 0 loses nothing.
    let shrunk = shrink_with(start, RUNS_MAX, |candidate, keep| match candidate.case.get("seed") {
        Some(Value::Number(_)) => run_packets(candidate, keep, fails),
        _ => Ran::Refused,
    });
    assert_eq!(shrunk.candidate, seeded(json!({"packets": 10, "seed": 0})));
}

#[test]
fn a_run_that_leaves_no_record_is_shrunk_without() {
    let shrunk = shrink_with(seeded(json!({"packets": 100, "seed": 3})), RUNS_MAX, |candidate, _| {
        run_packets(candidate, ChoiceRecording::Skip, |_, lost| lost.contains(&6))
    });
    assert_eq!(shrunk.candidate.choosing, Choosing::default());
    assert_eq!(shrunk.candidate.case["packets"], 7);
}

#[test]
fn there_are_no_more_runs_than_allowed_and_what_is_found_by_then_fails() {
    let start = seeded(json!({"packets": 100, "list": (0..50).collect::<Vec<u64>>(), "seed": 3}));
    let fails =
        |case: &Value, lost: &[u64]| lost.contains(&6) && case["list"].as_array().is_some_and(|list| list.len() > 5);
    for runs_max in [0, 1, 2, 10, 40] {
        let mut runs = 0;
        let shrunk = shrink_with(start.clone(), runs_max, |candidate, keep| {
            runs += 1;
            run_packets(candidate, keep, fails)
        });
        assert!(runs <= runs_max, "{runs} of {runs_max}");
        assert_eq!((shrunk.runs, shrunk.end), (runs, ShrinkEnd::RunsUsedUp));
        assert!(matches!(run_packets(&shrunk.candidate, ChoiceRecording::Skip, fails), Ran::Failed { .. }));
    }
}

#[test]
fn an_error_of_the_runner_ends_it() {
    let shrunk = shrink(seeded(json!({"n": 5})), &failure(), RUNS_MAX, |_, _| Err("no worker"));
    assert_eq!(shrunk, Err("no worker"));
}

/// Test cases with a number, a real number, a list and a map.
fn cases() -> impl Strategy<Value = Value> {
    let list = proptest::collection::vec(0_u64..50, 0..12);
    (0_u64..60, 0_u32..10_000, list, any::<bool>(), any::<u64>()).prop_map(|(packets, p, list, is, seed)| {
        json!({"packets": packets, "p": f64::from(p) / 10_000.0, "list": list, "map": {"is": is}, "seed": seed % 20})
    })
}

/// Returns a failure that depends on all of a test case and its losses, but on nothing in order.
fn fails_by_hash(salt: u64) -> impl Fn(&Value, &[u64]) -> bool {
    move |case, lost| {
        let mut hasher = DefaultHasher::new();
        (salt, case.to_string(), lost).hash(&mut hasher);
        hasher.finish().is_multiple_of(3)
    }
}

/// Whether all parts are there that a system might ask for.
fn is_case(case: &Value) -> bool {
    case["p"].is_f64() && case["list"].is_array() && case["map"]["is"].is_boolean() && case["seed"].is_u64()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever fails, what comes out fails, is no greater, cannot be made smaller by one step, and is the same again.
    #[test]
    fn the_result_fails_and_no_step_makes_it_smaller(case in cases(), salt in any::<u64>()) {
        let fails = fails_by_hash(salt);
        let run = |candidate: &Candidate, keep| match is_case(&candidate.case) {
            true => run_packets(candidate, keep, &fails),
            false => Ran::Refused,
        };
        let start = seeded(case);
        prop_assume!(run(&start, ChoiceRecording::Skip) != Ran::Passed);
        let shrunk = shrink_with(start.clone(), u64::MAX, run);
        prop_assert_eq!(shrunk.end, ShrinkEnd::Minimal);
        prop_assert_eq!(&shrink_with(start.clone(), u64::MAX, run), &shrunk);
        prop_assert!(Measure::of(&shrunk.candidate) <= Measure::of(&start));
        let is_failing = |candidate: &Candidate| matches!(run(candidate, ChoiceRecording::Skip), Ran::Failed { .. });
        prop_assert!(is_failing(&shrunk.candidate));

        let Candidate { case, choosing } = &shrunk.candidate;
        let mut neighbours = Vec::new();
        let mut with = |change: &dyn Fn(&mut Value)| {
            let mut neighbour = case.clone();
            change(&mut neighbour);
            neighbours.push(Candidate { case: neighbour, choosing: choosing.clone() });
        };
        let packets = case["packets"].as_u64().unwrap_or(0);
        let smaller = [packets.checked_sub(1), (packets > 0).then_some(0), (packets > 1).then_some(1), Some(packets / 2)];
        for packets in smaller.into_iter().flatten() {
            with(&|case| case["packets"] = packets.into());
        }
        with(&|case| case["p"] = json!(0.0));
        with(&|case| case["map"]["is"] = false.into());
        for index in 0..case["list"].as_array().map_or(0, Vec::len) {
            with(&|case| drop(case["list"].as_array_mut().map(|list| list.remove(index))));
            with(&|case| case["list"][index] = 0.into());
        }
        for index in 0..choosing.choices.len() {
            let mut fewer = choosing.clone();
            fewer.choices.remove(index);
            neighbours.push(Candidate { case: case.clone(), choosing: fewer });
        }
        for neighbour in neighbours {
            let is_smaller = Measure::of(&neighbour) < Measure::of(&shrunk.candidate);
            prop_assert!(!(is_smaller && is_failing(&neighbour)), "{:?} is smaller than {:?}", neighbour, shrunk);
        }
    }
}
