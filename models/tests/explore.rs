//! State spaces of machines, beside what walks find and what a search by hand finds.

use std::collections::BTreeSet;
use std::time::Duration;

use simutant_models::{Machine, Step, Stop, Walker, skip, transition};
use simutant_nets::{Budget, ExploreError};

/// Two accounts: a deposit of one to three up to a limit, a transfer of all, and an exception where there is nothing.
fn bank(limit: u32) -> Machine<(u32, u32)> {
    #[derive(Debug, thiserror::Error)]
    #[error("nothing")]
    struct Nothing;

    let deposit = transition("open -> open", async move |model: &mut (u32, u32), step: &mut Step<'_>| {
        let amount = step.choose(1..=3);
        step.require(model.0 + amount <= limit)?;
        model.0 += amount;
        Ok(())
    })
    .label("deposit");
    let transfer = transition("open -> open", async |model: &mut (u32, u32), step: &mut Step<'_>| {
        if model.0 == 0 {
            return Err(Stop::from(Nothing));
        }
        let part = *step.one_of(&[model.0, 1]);
        *model = (model.0 - part, (model.1 + part) % 5);
        Ok(())
    })
    .label("transfer")
    .catches("Nothing", "empty", |Nothing| true);
    let states = ["open", "empty", "closed"];
    Machine::new("bank", states, [deposit, transfer, skip("open | empty -> closed")]).expect("it has no mistake")
}

/// A state of the bank, with its model.
type State = (&'static str, (u32, u32));

/// Returns the states and the number of arcs of the bank, by hand.
fn by_hand(limit: u32) -> (BTreeSet<State>, usize) {
    let mut known = BTreeSet::from([("open", (0, 0))]);
    let mut open = vec![("open", (0, 0))];
    let mut arcs = 0;
    while let Some((state, (one, other))) = open.pop() {
        let mut after = Vec::new();
        if state == "open" {
            after.extend((1..=3).filter(|amount| one + amount <= limit).map(|amount| ("open", (one + amount, other))));
            match one {
                0 => after.push(("empty", (0, other))),
                _ => after.extend([one, 1].map(|part| ("open", (one - part, (other + part) % 5)))),
            }
        }
        if state != "closed" {
            after.push(("closed", (one, other)));
        }
        arcs += after.len();
        open.extend(after.into_iter().filter(|state| known.insert(*state)));
    }
    (known, arcs)
}

#[test]
fn all_states_are_found_over_all_choices() {
    for limit in [0, 1, 4, 9] {
        let space = bank(limit).explore((0, 0), &Budget::default()).expect("it can be explored");
        let found: BTreeSet<_> = (0..space.graph().markings()).map(|number| space.state(number)).collect();
        let (states, arcs) = by_hand(limit);
        assert_eq!(found, states.iter().map(|(state, model)| (*state, model)).collect());
        assert_eq!((space.graph().markings(), space.graph().arcs()), (states.len(), arcs), "limit {limit}");
        assert!(space.failed().is_empty());
        assert!(space.graph().dead().iter().all(|&dead| space.state(dead).0 == "closed"));
    }
}

#[test]
fn a_failure_that_walks_seldom_find_is_found() {
    let press = transition("on -> on", async |digits: &mut Vec<u32>, step: &mut Step<'_>| {
        step.require(digits.len() < 4)?;
        digits.push(step.choose(0..=9));
        step.assert(digits[..] != [7, 0, 9, 3], "the code is secret")
    });
    let machine = Machine::new("lock", ["on", "off"], [press, skip("on -> off")]).expect("it has no mistake");
    let space = machine.explore(Vec::new(), &Budget::default()).expect("it can be explored");
    assert_eq!(space.graph().markings(), 2 * (1 + 10 + 100 + 1_000 + 9_999));
    let [failed] = space.failed() else { panic!("{:?}", space.failed()) };
    assert_eq!((space.state(failed.state), &failed.taken.choices[..]), (("on", &vec![7, 0, 9]), &[3][..]));
    let choices: Vec<u32> = space.way_to(failed.state).into_iter().flat_map(|taken| taken.choices).collect();
    assert_eq!(choices, [7, 0, 9]);
    let mut walker = Walker::new();
    assert!((0..500).all(|seed| walker.run(machine.with(Vec::new()), seed).verdict().passes()));
}

#[test]
fn invariants_and_exceptions_fail_as_on_walks() {
    let grow = transition("on -> on", async |size: &mut u8, _: &mut Step<'_>| {
        *size = size.checked_add(100).ok_or(std::fmt::Error)?;
        Ok(())
    });
    let machine = Machine::new("m", ["on", "off"], [grow, skip("on -> off")]).expect("it has no mistake");
    let failed = |machine: &Machine<u8>| {
        let space = machine.explore(0, &Budget::default()).expect("it can be explored");
        space.failed().iter().map(|failed| (*space.state(failed.state).1, failed.message.clone())).collect::<Vec<_>>()
    };
    assert_eq!(failed(&machine), [(200, std::fmt::Error.to_string())]);
    let bounded = machine.invariant("it is small", |size| *size < 150);
    assert_eq!(failed(&bounded), [(100, "it is small".to_owned())]);
}

#[track_caller]
fn check_refused<F>(action: F, expect: &str)
where
    F: for<'a, 'b> AsyncFn(&'a mut u64, &'a mut Step<'b>) -> Result<(), Stop> + 'static,
{
    let machine = Machine::new("m", ["on", "off"], [transition("on -> on", action), skip("on -> off")]);
    let budget = Budget { markings: Some(100), bytes: None };
    let error = machine.expect("it has no mistake").explore(0, &budget).expect_err("it cannot be explored");
    assert!(error.to_string().contains(expect), "{error}");
}

#[test]
fn what_cannot_be_explored_is_refused() {
    check_refused(async |_, _| std::future::pending().await, "machine `m`: `on -> on` waits");
    check_refused(
        async |_, step| {
            step.stay(Duration::from_secs(1));
            Ok(())
        },
        "launches, joins or stays",
    );
    check_refused(
        async |_, step| {
            step.choose(0..=1 << 20);
            Ok(())
        },
        "chooses from more than 10000 options",
    );
    check_refused(
        async |count, _| {
            *count += 1;
            Ok(())
        },
        "the machine `m` has more and more states",
    );
    let machine = Machine::new("m", ["on", "off"], [skip("on -> off")]).expect("it has no mistake");
    let set_up = machine.setup(async |_: &mut u64, _: &mut Step<'_>| Ok(()));
    let error = set_up.explore(0, &Budget::default()).expect_err("it has a setup");
    assert!(matches!(error, ExploreError::Refused { .. }), "{error}");
}
