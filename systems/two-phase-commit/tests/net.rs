//! The state space of two-phase commit has the size that others found.

use std::collections::BTreeSet;

use simutant_nets::{Budget, Checked, Paths, StateSpace};
use simutant_two_phase_commit::net::{Decision, Observation, Stimulus, Vote, Worker, telling, two_phase_commit};

fn explored(workers: Worker) -> StateSpace<Stimulus, Observation> {
    two_phase_commit(workers).explore(&Budget::default()).expect("it is small")
}

/// Returns the vote of a stimulus.
fn vote(stimulus: &Stimulus) -> Vote {
    let Stimulus::Vote { vote, .. } = stimulus;
    *vote
}

#[test]
fn its_state_space_has_the_known_size() {
    for (workers, markings, arcs, dead) in
        [(1, 13, 13, 2), (2, 59, 85, 4), (3, 357, 654, 8), (4, 2_811, 5_957, 16), (5, 27_809, 64_978, 32)]
    {
        let space = explored(workers);
        assert_eq!(
            (space.graph().markings(), space.graph().arcs(), space.graph().dead().len()),
            (markings, arcs, dead),
            "{workers} workers"
        );
        assert!(space.graph().home().is_empty(), "each vector of votes ends somewhere else");
    }
}

#[test]
fn six_workers_need_more_contents_of_a_place_than_sixteen_bits_count() {
    let space = explored(6);
    assert_eq!((space.graph().markings(), space.graph().arcs(), space.graph().dead().len()), (332_303, 839_771, 64));
}

#[test]
fn a_commit_needs_that_all_vote_yes() {
    let mut space = explored(3);
    let dead = space.graph().dead();
    let commits: Vec<usize> =
        dead.into_iter().filter(|&dead| space.marking(dead).to_string().contains("completed: Commit")).collect();
    assert_eq!(commits.len(), 1);
    let firings = space.firings_to(commits[0]);
    let votes = firings.iter().filter(|fired| fired.transition == "receive can commit").count();
    assert_eq!((votes, firings.last().map(|fired| fired.marking)), (3, Some(commits[0])));
    // Send, vote, collect, decide, be told, complete.
    assert_eq!(firings.len(), 1 + 3 + 3 + 1 + 3 + 1);
}

/// Returns what must be observed where the workers vote so.
fn expected(votes: &BTreeSet<Stimulus>) -> BTreeSet<Observation> {
    let all_yes = votes.iter().all(|stimulus| vote(stimulus) == Vote::Yes);
    let decision = if all_yes { Decision::Commit } else { Decision::Abort };
    let told = votes.iter().map(|&Stimulus::Vote { worker, .. }| Observation::Told { worker, decision });
    told.chain([Observation::Completed { decision }]).collect()
}

#[test]
fn there_is_a_test_case_for_each_vector_of_votes_with_its_one_outcome() {
    for workers in 2..=5 {
        let tests = explored(workers).tests().expect("they are few");
        assert_eq!((tests.cases.len(), tests.paths, tests.endless), (1 << workers, Paths::All, 0));
        for case in &tests.cases {
            assert_eq!(case.outcomes, BTreeSet::from([expected(&case.inputs)]));
            assert!(tests.judge(case, &expected(&case.inputs)).passes());
        }
    }
}

#[test]
fn a_coordinator_that_tells_the_no_voters_only_fails_each_mixed_test_case() {
    let workers = 3;
    let tests = explored(workers).tests().expect("they are few");
    let mut faulty = telling(workers, |decision, vote| decision == Decision::Commit || vote == Vote::No);
    let seen = faulty.simulate(500, 1, 1_000).expect("it is small");
    assert_eq!(seen.cases.len(), tests.cases.len());
    for (case, seen) in tests.cases.iter().zip(&seen.cases) {
        assert_eq!(case.inputs, seen.inputs);
        let different: BTreeSet<Vote> = case.inputs.iter().map(vote).collect();
        let fails = seen.outcomes.iter().all(|observed| !tests.judge(case, observed).passes());
        assert_eq!(fails, different.len() == 2, "{:?}", case.inputs);
    }
}

#[test]
fn simulations_find_as_many_vectors_of_votes_as_chance_does() {
    // Table 13.3 of Wang's thesis (2021), whose column of steps counts runs.
    for (workers, runs) in [(2, 5), (2, 10), (3, 10), (3, 20), (4, 50), (4, 100), (5, 100), (5, 200), (10, 5_000)] {
        let tests = two_phase_commit(workers).simulate(runs, 1, 1_000).expect("it is small");
        let (vectors, n) = (f64::from(1 << workers), runs as i32);
        let (missed, both_missed) = ((1.0 - 1.0 / vectors).powi(n), (1.0 - 2.0 / vectors).powi(n));
        let mean = vectors * (1.0 - missed);
        let variance = vectors * (vectors - 1.0) * both_missed + vectors * missed - (vectors * missed).powi(2);
        let found = tests.cases.len() as f64;
        assert!((found - mean).abs() <= 3.29 * variance.sqrt(), "{workers} workers: {found}, expected {mean}");
        assert!(tests.cases.iter().all(|case| case.outcomes == BTreeSet::from([expected(&case.inputs)])));
        assert_eq!((tests.paths, tests.endless), (Paths::Simulated, 0));
    }
}

#[test]
fn it_always_comes_to_an_end_and_a_coordinator_that_tells_some_does_not() {
    let done = |mut space: StateSpace<Stimulus, Observation>| {
        let [Checked { witness, .. }] = &space.check()[..] else { panic!("it has one property") };
        witness.clone()
    };
    assert_eq!(done(explored(3)), None);
    let telling_no = telling(2, |_, vote| vote == Vote::No).explore(&Budget::default()).expect("it is small");
    let witness = done(telling_no).expect("who voted yes waits for ever");
    assert!(witness.cycle.is_empty() && witness.marking.contains("waiting for the decision"), "{witness:?}");
}
