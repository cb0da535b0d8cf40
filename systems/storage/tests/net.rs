//! The net of the storage has the test cases that others found, and its outcomes are those of a regular register.

use std::collections::{BTreeMap, BTreeSet};

use simutant_nets::{Budget, StateSpace};
use simutant_storage::net::{Combined, Driver, Level, Observation, Reply, Stimulus, storage};
use simutant_storage::protocol;
use simutant_storage_programs::{Behaviour, Content, Correct, Timestamp};

fn explored(driver: Driver, level: Level) -> StateSpace<Stimulus, Observation> {
    storage(3, driver, level).explore(&Budget::default()).expect("it is small")
}

const DRIVERS: [Driver; 6] = [
    Driver::Read,
    Driver::Write,
    Driver::ReadThenWrite,
    Driver::WriteThenRead,
    Driver::WriteBesideRead,
    Driver::WriteBesideReadThenRead,
];

#[test]
fn there_are_as_many_tests_of_quorum_functions_as_others_found() {
    // Table 13.1 of Wang's thesis (2021), for three servers.
    for (driver, count) in DRIVERS.into_iter().zip([3, 3, 7, 12, 17, 17]) {
        let calls = explored(driver, Level::QuorumFunctions).calls();
        assert_eq!(calls.len(), count, "{driver:?}: {calls:?}");
        assert!(calls.values().all(|results| results.len() == 1), "a quorum function is one");
    }
}

/// Returns what the quorum functions of the simulation make of replies.
fn specified(replies: &[Reply]) -> Option<Combined> {
    let version = |reply: &Reply| match reply {
        Reply::Holds(version) => Some(protocol::Version {
            timestamp: protocol::Timestamp { number: version.timestamp.into(), writer: 1 },
            value: Some(version.value.into()),
        }),
        Reply::Written => None,
    };
    match replies.iter().map(version).collect::<Option<Vec<_>>>() {
        Some(versions) => protocol::newest(&versions, 2)
            .map(|version| Combined::Value(version.value.expect("each has a value") as u8)),
        None => protocol::written(&vec![(); replies.len()], 2).map(|()| Combined::Done),
    }
}

/// Returns what those of the programs make of them, for three servers.
fn programmed(replies: &[Reply]) -> Option<Combined> {
    let content = |reply: &Reply| match reply {
        Reply::Holds(version) => Some(Content {
            timestamp: Timestamp { number: version.timestamp.into(), writer: 1 },
            value: Some(version.value.into()),
        }),
        Reply::Written => None,
    };
    match replies.iter().map(content).collect::<Option<Vec<_>>>() {
        Some(contents) => Correct.reads(&contents, 3).map(|content| Combined::Value(content.value.unwrap_or(0) as u8)),
        None => Correct.writes(replies.len(), 3).map(|()| Combined::Done),
    }
}

#[test]
fn the_quorum_functions_of_the_simulation_and_of_the_programs_pass_the_tests_of_the_net() {
    let mut tested = 0;
    for driver in DRIVERS {
        for (stimulus, expected) in explored(driver, Level::QuorumFunctions).calls() {
            let Stimulus::Replies(replies) = &stimulus else { panic!("{stimulus:?} is no list of replies") };
            for combined in [specified(replies), programmed(replies)] {
                assert_eq!(expected, BTreeSet::from([Observation::Combined(combined)]), "{stimulus:?}");
            }
            tested += 1;
        }
    }
    assert_eq!(tested, 3 + 3 + 7 + 12 + 17 + 17);
}

/// Returns the orders in which calls are invoked and return, of all runs.
fn orders(driver: Driver) -> BTreeSet<Vec<String>> {
    let mut space = explored(driver, Level::Calls);
    let mut orders: BTreeMap<usize, BTreeSet<Vec<String>>> = BTreeMap::from([(0, BTreeSet::from([Vec::new()]))]);
    let mut ended = BTreeSet::new();
    // It has no cycles: each marking is left when all ways to it are known.
    let components = space.graph().components();
    let mut markings: Vec<usize> = (0..space.graph().markings()).collect();
    markings.sort_by_key(|&marking| std::cmp::Reverse(components[marking]));
    for marking in markings {
        let before = orders.remove(&marking).expect("it is reached");
        let firings = space.firings(marking);
        if firings.is_empty() {
            ended.extend(before.iter().cloned());
        }
        for fired in firings {
            let after = before.iter().cloned().map(|mut order| {
                match fired.transition.as_str() {
                    "invoke a call" | "return" => order.push(format!("{} {}", fired.transition, call(&fired.binding))),
                    _ => {}
                }
                order
            });
            orders.entry(fired.marking).or_default().extend(after);
        }
    }
    ended
}

/// Returns the number of the call that is bound.
fn call(binding: &[String]) -> char {
    binding[0].chars().find(char::is_ascii_digit).expect("a call has a number")
}

#[test]
fn there_are_as_many_orders_of_calls_as_others_found() {
    for (driver, count) in DRIVERS.into_iter().zip([1, 1, 1, 1, 6, 6]) {
        assert_eq!(orders(driver).len(), count, "{driver:?}");
    }
}

/// Returns what calls return in the outcomes of the one test case without failures.
fn results(driver: Driver) -> BTreeSet<Vec<Option<Combined>>> {
    let tests = explored(driver, Level::Calls).tests().expect("they are few");
    let [case] = &tests.cases[..] else { panic!("all calls are made in each run") };
    let result = |observation: &Observation| match observation {
        Observation::Returned { result, .. } => *result,
        Observation::Combined(_) => panic!("no quorum function is observed"),
    };
    case.outcomes.iter().map(|outcome| outcome.iter().map(result).collect()).collect()
}

#[test]
fn a_read_beside_a_write_may_return_either_value_and_a_later_one_the_new_one() {
    let (done, old, new) = (Some(Combined::Done), Some(Combined::Value(0)), Some(Combined::Value(42)));
    assert_eq!(results(Driver::Read), BTreeSet::from([vec![old]]));
    assert_eq!(results(Driver::ReadThenWrite), BTreeSet::from([vec![old, done]]));
    assert_eq!(results(Driver::WriteThenRead), BTreeSet::from([vec![done, new]]));
    assert_eq!(results(Driver::WriteBesideRead), BTreeSet::from([vec![done, old], vec![done, new]]));
    let both = BTreeSet::from([vec![done, old, new], vec![done, new, new]]);
    assert_eq!(results(Driver::WriteBesideReadThenRead), both);
}

#[test]
fn calls_fail_where_two_of_three_servers_have_failed_and_only_there() {
    for failures in 0..=3 {
        let tests = explored(Driver::WithFailures(failures), Level::Calls).tests().expect("they are few");
        // Which servers fail.
        assert_eq!(tests.cases.len(), [1, 3, 3, 1][usize::from(failures)]);
        for case in &tests.cases {
            for observation in case.outcomes.iter().flatten() {
                let Observation::Returned { call, result } = observation else { panic!("{observation:?}") };
                assert_eq!(result.is_none(), *call > 3 && failures >= 2, "{failures} failures: {observation:?}");
            }
        }
    }
}

#[test]
fn all_calls_end() {
    for driver in DRIVERS.into_iter().chain((0..=3).map(Driver::WithFailures)) {
        let mut space = explored(driver, Level::Calls);
        assert!(space.check().iter().all(|checked| checked.witness.is_none()), "{driver:?}");
        let (markings, arcs) = (space.graph().markings(), space.graph().arcs());
        assert!(markings < 11_000, "{driver:?}: {markings} markings, {arcs} arcs");
    }
}
