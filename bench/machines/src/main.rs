//! Prints how many transitions a second each generator takes on a model of a stack that is tested against a vector, as
//! JSON: `{"simutant": …, "proptest": …}`. The argument is the number of rounds, of which the fastest counts.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Instant;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use proptest_state_machine::ReferenceStateMachine;
use simutant_models::{Limits, Machine, Step, Walker, Weighted, skip, transition};

/// How many transitions a test case has.
const LENGTH: usize = 100;

/// How many test cases are measured at once.
const CASES: u32 = 1_000;

/// A stack, and the vector that it is held against.
#[derive(Debug, Clone, Default)]
struct Stack {
    under_test: Vec<u32>,
    expected: Vec<u32>,
}

impl Stack {
    fn push(&mut self, value: u32) {
        self.under_test.push(value);
        self.expected.push(value);
    }

    /// Returns whether both have the same at their top.
    fn pop(&mut self) -> bool {
        self.under_test.pop() == self.expected.pop()
    }

    fn clear(&mut self) {
        self.under_test.clear();
        self.expected.clear();
    }
}

/// Takes walks, with coverage of states, transitions, pairs and paths, and returns how many transitions they had.
fn simutant() -> u64 {
    let machine = Machine::new(
        "stack",
        ["empty", "filled", "done"],
        [
            transition("empty | filled -> filled", async |stack: &mut Stack, step: &mut Step<'_>| {
                let value = step.choose(0..=1_000);
                stack.push(value);
                Ok(())
            })
            .weight(3.0),
            transition("filled -> filled", async |stack: &mut Stack, step: &mut Step<'_>| {
                step.require(stack.expected.len() > 1)?;
                let is_same = stack.pop();
                step.assert(is_same, "the top is the expected one")
            })
            .label("pop")
            .weight(2.0),
            transition("filled -> empty", async |stack: &mut Stack, _: &mut Step<'_>| {
                stack.clear();
                Ok(())
            })
            .weight(0.1),
            skip("empty -> done").weight(0.0),
        ],
    );
    let machine = machine.expect("it is a machine");
    let mut walker =
        Walker::new().with_strategy(Weighted).with_limits(Limits { transitions: LENGTH, ..Limits::default() });
    let walks = (0..u64::from(CASES)).map(|seed| walker.run(machine.with(Stack::default()), seed).taken.len() as u64);
    walks.sum()
}

/// A transition of the peer.
#[derive(Debug, Clone)]
enum Transition {
    Push(u32),
    Pop,
    Clear,
}

struct Reference;

impl ReferenceStateMachine for Reference {
    type State = Vec<u32>;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<Vec<u32>> {
        Just(Vec::new()).boxed()
    }

    fn transitions(_: &Vec<u32>) -> BoxedStrategy<Transition> {
        prop_oneof![
            30 => (0..=1_000_u32).prop_map(Transition::Push),
            20 => Just(Transition::Pop),
            1 => Just(Transition::Clear),
        ]
        .boxed()
    }

    fn apply(mut state: Vec<u32>, transition: &Transition) -> Vec<u32> {
        match transition {
            Transition::Push(value) => state.push(*value),
            Transition::Pop => drop(state.pop()),
            Transition::Clear => state.clear(),
        }
        state
    }

    fn preconditions(state: &Vec<u32>, transition: &Transition) -> bool {
        !matches!(transition, Transition::Pop) || state.len() > 1
    }
}

/// The same by the peer, which measures no coverage.
fn peer() -> u64 {
    let count = Cell::new(0);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let tests = runner.run(&Reference::sequential_strategy(LENGTH), |(_, transitions, _)| {
        let mut stack = Stack::default();
        for transition in transitions {
            count.set(count.get() + 1);
            match transition {
                Transition::Push(value) => stack.push(value),
                Transition::Pop => prop_assert!(stack.pop()),
                Transition::Clear => stack.clear(),
            }
        }
        Ok(())
    });
    tests.expect("the stack is right");
    count.get()
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    let mut fastest: BTreeMap<&str, f64> = BTreeMap::new();
    for _ in 0..rounds {
        for (name, take) in [("simutant", simutant as fn() -> u64), ("proptest", peer)] {
            let begun = Instant::now();
            let count = take();
            let per_s = count as f64 / begun.elapsed().as_secs_f64();
            fastest.entry(name).and_modify(|fastest| *fastest = fastest.max(per_s)).or_insert(per_s);
        }
    }
    println!("{}", serde_json::to_string(&fastest).expect("numbers are JSON"));
}
