//! The net of Paxos has the test cases that others found, and keeps what consensus demands.

use simutant_nets::{Budget, StateSpace};
use simutant_paxos::net::{Failures, Level, Observation, Replica, Stimulus, paxos};

fn explored(replicas: Replica, failures: (u8, u8), level: Level) -> StateSpace<Stimulus, Observation> {
    let (phase_one, phase_two) = failures;
    paxos(replicas, Failures { phase_one, phase_two }, level).explore(&Budget::default()).expect("it is small")
}

/// How often leaders may fail in phases one and two.
const FAILURES: [(u8, u8); 3] = [(0, 0), (0, 1), (1, 0)];

#[test]
fn two_replicas_have_as_many_tests_as_others_found() {
    // What Wang's files for two replicas have: 10, 10, 6 and 5.
    for (level, counts) in [(Level::Prepare, [2, 4, 4]), (Level::Accept, [2, 4, 4]), (Level::Commit, [2, 2, 2])] {
        let found = FAILURES.map(|failures| explored(2, failures, level).calls().len());
        assert_eq!(found, counts, "{level:?}");
    }
    let found =
        FAILURES.map(|failures| explored(2, failures, Level::System).tests().expect("they are few").cases.len());
    assert_eq!(found, [1, 2, 2]);
}

#[test]
fn consensus_is_reached_by_two_replicas_with_a_failure_in_each_phase() {
    let mut space = explored(2, (1, 1), Level::System);
    for checked in space.check() {
        assert_eq!(checked.witness, None, "{}", checked.name);
    }
    let (markings, arcs) = (space.graph().markings(), space.graph().arcs());
    println!("{markings} {arcs}");
    assert!(markings < 2_000, "{markings} markings, {arcs} arcs");
}

#[test]
fn scratch() {
    for replicas in [3, 5] {
        for failures in FAILURES.into_iter().chain([(1, 1), (0, 2), (2, 0)]) {
            if replicas == 3 && failures.0 + failures.1 > 1 { continue; }
            for level in [Level::System, Level::Prepare, Level::Accept, Level::Commit] {
                let (phase_one, phase_two) = failures;
                let begun = std::time::Instant::now();
                match paxos(replicas, Failures { phase_one, phase_two }, level).explore(&Budget::default()) {
                    Ok(mut space) => {
                        let count = if level == Level::System { space.tests().map(|t| t.cases.len()).unwrap_or(0) } else { space.calls().len() };
                        println!("{replicas} {failures:?} {level:?}: {} markings, {} tests, {:?}", space.graph().markings(), count, begun.elapsed());
                    }
                    Err(error) => println!("{replicas} {failures:?} {level:?}: {error} {:?}", begun.elapsed()),
                }
            }
        }
    }
}
