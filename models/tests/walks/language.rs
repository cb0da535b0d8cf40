//! Each part of the language of machines.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::ParseIntError;
use std::rc::Rc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use simutant_models::{
    Bandit, CoverageGuided, End, InstanceId, Limits, Machine, MachineError, Rewards, Script, Step, StepResult, Stop,
    Uniform, Walker, Weighted, skip, transition,
};
use simutant_random::Probability;

/// What happened, in words.
type Log = Rc<RefCell<Vec<String>>>;

fn say(log: &Log, what: impl Into<String>) {
    log.borrow_mut().push(what.into());
}

#[track_caller]
fn refused(states: &[&str], arrows: &[&str], message: &str) {
    let transitions = arrows.iter().map(|arrow| skip::<()>(arrow));
    let error = Machine::new("m", states.iter().copied(), transitions).expect_err("it has a mistake");
    assert_eq!(error.to_string(), message);
}

#[test]
fn mistakes_in_machines_are_told_before_anything_runs() {
    refused(&[], &[], "machine `m` has no states");
    refused(&["a", "b", "a"], &[], "machine `m` names the state `a` twice");
    refused(&["a"], &["a - b"], "machine `m`: `a - b` is no transition; write `FROM -> TO`, or `FROM | FROM -> TO`");
    refused(&["a", "b"], &["a -> c"], "machine `m`: `a -> c` names the state `c`, which is none of a, b");
    refused(&["a", "b"], &["c | a -> b"], "machine `m`: `c | a -> b` names the state `c`, which is none of a, b");
    refused(&["a", "b"], &["a -> b", "a->b"], "machine `m` has two transitions `a -> b`; give one of them a label");
    refused(&["a", "b", "c"], &["a -> b", "c -> b"], "machine `m`: nothing leads from `a` to c");
    refused(
        &["a", "b", "c", "d"],
        &["a -> b", "b -> c", "c -> b", "a -> d"],
        "machine `m`: a walk that is in b, c never ends; add a transition to a state that none leaves",
    );
    let weight = Machine::new("m", ["a", "b"], [skip::<()>("a -> b").weight(-1.0)]);
    assert!(matches!(weight, Err(MachineError::Weight { .. })));
    let target = skip::<()>("a -> b").catches("Odd", "x", |_: &ParseIntError| true);
    assert!(matches!(Machine::new("m", ["a", "b"], [target]), Err(MachineError::UnknownState { .. })));
    // Exceptions and conditions lead somewhere, too.
    let exits =
        [skip::<()>("a -> a").catches("Odd", "b", |_: &ParseIntError| true), skip("b -> a").next_if("c", |()| true)];
    assert!(Machine::new("m", ["a", "b", "c"], exits).is_ok());
}

/// Parses a text, and says what it is.
fn parser(text: &'static str) -> Machine<u32> {
    let read = |text: &'static str| {
        async move |value: &mut u32, _: &mut Step<'_>| {
            *value = text.parse()?;
            Ok::<(), Stop>(())
        }
    };
    let is = |text: &'static str| move |error: &ParseIntError| error.to_string().contains(text);
    Machine::new(
        "parser",
        ["start", "number", "small", "empty"],
        [transition("start -> number", read(text))
            .catches("Empty", "empty", is("empty"))
            .next_if("small", |value| *value < 10)],
    )
    .expect("it is a machine")
}

#[test]
fn exceptions_and_conditions_lead_to_states_of_their_own_and_others_fail() {
    let end = |text| {
        let machine = parser(text);
        let path = Walker::new().run(machine.with(0), 1);
        let state = machine.shape().states[path.taken[0].state as usize].clone();
        (state, path.taken[0].result, path.end)
    };
    assert_eq!(end("123"), ("number".to_owned(), StepResult::Succeeded, End::Finished));
    assert_eq!(end("7"), ("small".to_owned(), StepResult::Exceptional(1), End::Finished));
    assert_eq!(end(""), ("empty".to_owned(), StepResult::Exceptional(0), End::Finished));
    let (state, result, end) = end("x");
    let End::Failed(finding) = end else { panic!("it is no number") };
    assert_eq!((state.as_str(), result), ("start", StepResult::Failed));
    assert_eq!(finding.summary, "parser: start -> number: invalid digit found in string");
}

#[test]
fn an_exception_that_has_to_occur_fails_the_test_if_it_does_not() {
    let run = |text: &'static str| {
        let read = async move |value: &mut u32, _: &mut Step<'_>| {
            *value = text.parse()?;
            Ok(())
        };
        let throws = transition("start -> end", read).throws("NoNumber", |_: &ParseIntError| true);
        let machine = Machine::new("parser", ["start", "end"], [throws]).expect("it is a machine");
        Walker::new().run(machine.with(0), 1).end
    };
    assert_eq!(run("x"), End::Finished);
    let End::Failed(finding) = run("3") else { panic!("nothing was thrown") };
    assert_eq!(finding.summary, "parser: start -> end: there is no NoNumber");
}

/// Returns a machine that launches two others, waits for the first one, and stays.
fn parent(log: &Log) -> Box<dyn simutant_models::Instance> {
    let child = |log: &Log, name: &'static str| {
        let step = async move |log: &mut Log, _: &mut Step<'_>| {
            say(log, name);
            Ok(())
        };
        let steps = [transition("one -> two", step), transition("two -> three", step)];
        let machine = Machine::new("child", ["one", "two", "three"], steps).expect("it is a machine");
        let set_up = async move |log: &mut Log, step: &mut Step<'_>| {
            say(log, format!("{name} set up {}", step.choose(0..=1_000_000)));
            Ok(())
        };
        machine
            .setup(set_up)
            .teardown(async move |log: &mut Log| say(log, format!("{name} torn down")))
            .with(log.clone())
    };
    let launch = async move |log: &mut Log, step: &mut Step<'_>| {
        let (first, second) = (step.launch(child(log, "a")), step.launch(child(log, "b")));
        assert_eq!((first, second), (InstanceId(1), InstanceId(2)));
        step.join(first);
        say(log, "launched");
        Ok(())
    };
    let wait = async |log: &mut Log, step: &mut Step<'_>| {
        say(log, format!("joined at {:?}", step.now()));
        step.stay(Duration::from_secs(3));
        Ok(())
    };
    let end = async |log: &mut Log, step: &mut Step<'_>| {
        say(log, format!("ended at {:?}", step.now()));
        Ok(())
    };
    let steps =
        [transition("new -> waiting", launch), transition("waiting -> tired", wait), transition("tired -> end", end)];
    let machine = Machine::new("parent", ["new", "waiting", "tired", "end"], steps).expect("it is a machine");
    machine.with(log.clone())
}

#[test]
fn launched_machines_are_interleaved_joined_and_torn_down() {
    let mut orders = std::collections::BTreeSet::new();
    for seed in 0..50 {
        let log = Log::default();
        let path = Walker::new().run(parent(&log), seed);
        assert_eq!(path.end, End::Finished);
        let log = log.borrow().clone();
        let place = |what: &str| log.iter().position(|said| said.starts_with(what)).expect("it was said");
        let joined = place("joined");
        assert_eq!(log[..joined].iter().filter(|said| *said == "a").count(), 2, "{log:?}");
        assert!(log.contains(&"ended at 3s".to_owned()), "{log:?}");
        assert_eq!(log[log.len() - 2..], ["a torn down", "b torn down"]);
        assert!(place("launched") < place("a set up"), "{log:?}");
        orders.insert(log.into_iter().filter(|said| said.len() == 1).collect::<String>());
    }
    assert_eq!(orders.into_iter().collect::<Vec<_>>(), ["aabb", "abab", "abba", "baab", "baba", "bbaa"]);
}

#[test]
fn a_replay_has_the_same_choices_and_setups_and_tells_where_it_differs() {
    let (first, second) = (Log::default(), Log::default());
    let mut walker = Walker::new();
    let path = walker.run(parent(&first), 5);
    let again = pollster(walker.replay(parent(&second), &path));
    assert_eq!(again.taken, path.taken);
    assert_eq!(first, second);
    let mut other = path;
    other.taken.remove(0);
    assert_eq!(pollster(walker.replay(parent(&Log::default()), &other)).end, End::Diverged(0));
}

fn pollster<T>(future: impl Future<Output = T>) -> T {
    use std::task::{Context, Poll, Waker};
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing waits"),
    }
}

#[test]
fn an_invariant_of_any_instance_fails_the_test() {
    let machine = Machine::new(
        "counter",
        ["counting", "done"],
        [
            transition("counting -> counting", async |count: &mut u32, _: &mut Step<'_>| {
                *count += 1;
                Ok(())
            }),
            skip("counting -> done").weight(0.0),
        ],
    );
    let machine = machine.expect("it is a machine").invariant("below five", |count| *count < 5);
    let mut walker = Walker::new().with_strategy(Weighted);
    let path = walker.run(machine.with(0), 1);
    let End::Failed(finding) = path.end else { panic!("it counts on") };
    assert_eq!((finding.summary.as_str(), path.taken.len()), ("counter: below five", 5));
}

/// The probability of a transition is its weight's share, and a walk with a weight of zero alone ends.
#[test]
fn weights_are_shares() {
    let arrows = [("a -> b", 1.0), ("a -> c", 3.0), ("a -> d", 0.0)];
    let machine =
        Machine::new("m", ["a", "b", "c", "d"], arrows.map(|(arrow, weight)| skip::<()>(arrow).weight(weight)));
    let machine = machine.expect("it is a machine");
    let mut walker = Walker::new().with_strategy(Weighted);
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for seed in 0..4_000 {
        *counts.entry(walker.run(machine.with(()), seed).taken[0].state).or_default() += 1;
    }
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [1, 2]);
    // Five standard deviations.
    assert!((864..=1_136).contains(&counts[&1]), "{counts:?}");
    let never = Machine::new("m", ["a", "b"], [skip::<()>("a -> b").weight(0.0)]).expect("it is a machine");
    assert_eq!(walker.run(never.with(()), 1).end, End::Stuck);
}

/// UCB1 by hand: a transition that leads on is worth more than one that stays, so it is taken more often, but not alone.
#[test]
fn the_bandit_takes_each_once_and_then_what_pays() {
    let rewards = Rewards { to_other: 1.0, to_self: 0.0, ..Rewards::default() };
    let machine =
        Machine::new("m", ["a", "b", "end"], [skip::<()>("a -> a"), skip("a -> b"), skip("b -> a"), skip("b -> end")]);
    let machine = machine.expect("it is a machine");
    let mut walker = Walker::new()
        .with_strategy(Bandit::new(rewards, 2.0))
        .with_limits(Limits { transitions: 1_000, ..Limits::default() });
    let mut counts = [0_u32; 4];
    for seed in 0..1_000 {
        for taken in walker.run(machine.with(()), seed).taken {
            counts[taken.transition as usize] += 1;
        }
    }
    assert!(counts[1] > 10 * counts[0] && counts[0] > 5, "{counts:?}");
    // Both lead to another state.
    assert!(counts[2].abs_diff(counts[3]) <= 1, "{counts:?}");
}

/// The arrows of random machines: some from each state to the next one, so that none is a mistake, and others.
fn machines() -> impl Strategy<Value = Vec<(usize, usize)>> {
    let others = proptest::collection::vec((0..5_usize, 0..6_usize), 0..12);
    others.prop_map(|others| others.into_iter().chain((0..5).map(|state| (state, state + 1))).collect())
}

#[test]
fn walks_are_paths_of_the_machine_and_replay() {
    let config = Config { cases: 300, rng_seed: RngSeed::Fixed(7), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let property = |arrows: Vec<(usize, usize)>| {
        let names = ["a", "b", "c", "d", "e", "end"];
        let transitions = arrows.iter().enumerate().map(|(number, (from, to))| {
            let choose = async |_: &mut (), step: &mut Step<'_>| {
                let chosen = step.choose(0..=3);
                step.require(chosen > 0)
            };
            transition(&format!("{} -> {}", names[*from], names[*to]), choose).label(&number.to_string())
        });
        let machine = Machine::new("m", names, transitions).expect("it is a machine");
        let limits = Limits { transitions: 50, ..Limits::default() };
        let walkers = [
            Walker::new().with_strategy(Uniform),
            Walker::new().with_strategy(Bandit::default()),
            Walker::new().with_strategy(CoverageGuided::default()),
        ];
        for mut walker in walkers.map(|walker| walker.with_limits(limits)) {
            for seed in 0..5 {
                let path = walker.run(machine.with(()), seed);
                let mut state = 0;
                for taken in &path.taken {
                    let described = &machine.shape().transitions[taken.transition as usize];
                    prop_assert_eq!(described.origin, state);
                    let is_taken = taken.result == StepResult::Succeeded;
                    prop_assert_eq!(is_taken, taken.choices[0] > 0);
                    prop_assert_eq!(taken.state, if is_taken { described.target } else { state });
                    state = taken.state;
                }
                prop_assert_eq!(path.end == End::Finished, machine.shape().is_final(state));
                let again = pollster(walker.replay(machine.with(()), &path));
                prop_assert_eq!(again.taken, path.taken);
            }
            let (covered, all) = walker.coverage().transitions();
            prop_assert!(covered <= all && all == machine.shape().transitions.len());
        }
        Ok(())
    };
    runner.run(&machines(), property).expect("walks are paths");
}

/// Returns a machine with an arrow for each pair of states, whose transitions have weights, choices and preconditions.
fn machine_of(arrows: &[(usize, usize)]) -> Machine<Vec<u32>> {
    let names = ["a", "b", "c", "d", "e", "end"];
    let transitions = arrows.iter().enumerate().map(|(number, (from, to))| {
        let choose = async |chosen: &mut Vec<u32>, step: &mut Step<'_>| {
            let options = step.choose(1..=300);
            chosen.extend([options, step.choose(0..=options), u32::from(step.maybe())]);
            step.require(options > 40)
        };
        let weight = [0.0, 1.0, 0.25, 100.0][number % 4];
        let arrow = format!("{} -> {}", names[*from], names[*to]);
        transition(&arrow, choose).label(&number.to_string()).weight(weight)
    });
    Machine::new("m", names, transitions).expect("it is a machine")
}

#[test]
fn the_script_of_a_walk_makes_the_same_decisions_and_any_other_is_a_walk() {
    let config = Config { cases: 200, rng_seed: RngSeed::Fixed(7), ..Config::default() };
    let mut runner = TestRunner::new(config);
    let steps = proptest::collection::vec(proptest::collection::vec(any::<u16>(), 0..4), 0..40);
    let property = |(arrows, steps): (Vec<(usize, usize)>, Vec<Vec<u16>>)| {
        let machine = machine_of(&arrows);
        let limits = Limits { transitions: 30, abort: Probability::new(0.02).expect("it is one"), ..Limits::default() };
        let walkers = [
            Walker::new().with_strategy(Weighted),
            Walker::new().with_strategy(Bandit::default()),
            Walker::new().with_strategy(CoverageGuided::default()),
        ];
        for mut walker in walkers.map(|walker| walker.with_limits(limits)) {
            for seed in 0..3 {
                let mut script = Script::default();
                let path = pollster(walker.walk_noted(machine.with(Vec::new()), seed, &mut script));
                let again = pollster(walker.follow(machine.with(Vec::new()), &script));
                prop_assert_eq!(&again.taken, &path.taken);
                let is_same = again.end == path.end || again.end == End::Stuck && path.end == End::Cut;
                prop_assert!(is_same, "{:?} {:?}", again.end, path.end);
                let weights = &machine.shape().transitions;
                prop_assert!(path.taken.iter().all(|taken| weights[taken.transition as usize].weight > 0.0));
            }
        }
        let seen = Rc::new(RefCell::new(Vec::new()));
        let told = seen.clone();
        let mut walker = Walker::new()
            .with_limits(limits)
            .with_observer(move |observed| told.borrow_mut().push(observed.taken.clone()));
        let script = Script { steps };
        let path = pollster(walker.follow(machine.with(Vec::new()), &script));
        prop_assert_eq!(&*seen.borrow(), &path.taken);
        prop_assert!(path.taken.len() <= script.steps.len().min(limits.transitions));
        prop_assert_eq!(pollster(walker.follow(machine.with(Vec::new()), &script)).taken, path.taken);
        Ok(())
    };
    runner.run(&(machines(), steps), property).expect("scripts are walks");
}

#[test]
fn what_a_script_does_not_say_is_the_first_option() {
    let choose = async |chosen: &mut Vec<u32>, step: &mut Step<'_>| {
        chosen.extend([step.choose(7..=9), u32::from(step.maybe())]);
        step.assert(*chosen == [7, 0], "both are the first option")
    };
    let machine = |weight| {
        let arrows =
            [transition("a -> b", choose).weight(weight), transition("a -> b", choose).label("other").weight(0.0)];
        Machine::new("m", ["a", "b"], arrows).expect("it is a machine").with(Vec::new())
    };
    let script = Script { steps: vec![Vec::new(); 9] };
    let path = pollster(Walker::new().follow(machine(1.0), &script));
    assert_eq!((path.taken[0].transition, path.end), (0, End::Finished));
    let path = pollster(Walker::new().follow(machine(0.0), &script));
    assert_eq!((path.taken.len(), path.end), (0, End::Stuck), "nothing that can be taken weighs anything");
}
