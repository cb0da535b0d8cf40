//! The state space of two-phase commit has the size that others found.

use std::collections::BTreeSet;

use simutant_nets::{Budget, ExploreError, Net, Paths, Place, StateSpace, any};

type Worker = u8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Vote {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Decision {
    Commit,
    Abort,
}

/// What is observed of a coordinator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Told {
    Worker(Worker, Decision),
    Completed(Decision),
}

/// Whom the coordinator tells its decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tells {
    All,
    /// Those that voted no, if any did: then the others wait for ever (a published coordinator).
    NoVoters,
}

/// Two-phase commit without failures: the coordinator tells its decision to all workers, and waits until those that voted
/// yes have acknowledged it (Wang, Kristensen, Meling, Stolz, VECoS 2018, section 4).
fn two_phase_commit(workers: Worker, tells: Tells) -> (Net<(Worker, Vote), Told>, Place<Decision>) {
    let mut net = Net::with_events("two-phase commit");
    let start = net.place("start", [()]);
    let can_commit = net.place::<Worker>("can commit", []);
    let idle = net.place("idle", 1..=workers);
    let votes = net.place::<(Worker, Vote)>("votes", []);
    let waiting_votes = net.place::<()>("waiting for votes", []);
    let collected = net.place("collected votes", [Vec::<(Worker, Vote)>::new()]);
    let decisions = net.place::<(Worker, Decision)>("decisions", []);
    let waiting_decision = net.place::<Worker>("waiting for the decision", []);
    let acknowledgements = net.place::<Worker>("acknowledgements", []);
    let waiting_acknowledgements = net.place::<(Decision, Vec<Worker>)>("waiting for acknowledgements", []);
    let completed = net.place::<Decision>("completed", []);

    let all = move || (1..=workers).collect::<Vec<_>>();
    net.transition(
        "send can commit",
        start.take(),
        move |()| Some(((), all())),
        (waiting_votes.put(), can_commit.put_all()),
    );
    let vote = |worker: Worker, asked: Worker, vote| (worker == asked).then_some(((worker, vote), worker));
    net.transition(
        "receive can commit",
        (idle.take(), can_commit.take(), any([Vote::Yes, Vote::No])),
        vote,
        (votes.put(), waiting_decision.put()),
    )
    .input(|worker, _, vote| Some((worker, vote)));
    let collect = |(), vote, mut list: Vec<_>| {
        list.insert(0, vote);
        Some(list)
    };
    net.transition(
        "collect one vote",
        (waiting_votes.keep(), votes.take(), collected.take()),
        collect,
        collected.put(),
    );
    let decide = move |(), list: Vec<(Worker, Vote)>| {
        let all_voted = list.len() == usize::from(workers);
        let yes: Vec<Worker> = list.iter().filter(|(_, vote)| *vote == Vote::Yes).map(|(worker, _)| *worker).collect();
        let decision = if yes.len() == list.len() { Decision::Commit } else { Decision::Abort };
        let is_told = |worker: &Worker| {
            tells == Tells::All || decision == Decision::Commit || list.contains(&(*worker, Vote::No))
        };
        let told = (1..=workers).filter(is_told).map(|worker| (worker, decision)).collect();
        all_voted.then_some((Vec::new(), told, (decision, yes)))
    };
    net.transition(
        "all votes collected",
        (waiting_votes.take(), collected.take()),
        decide,
        (collected.put(), decisions.put_all(), waiting_acknowledgements.put()),
    );
    net.transition(
        "receive the decision",
        (waiting_decision.take(), decisions.take()),
        |worker: Worker, (to, _): (Worker, Decision)| (worker == to).then_some((worker, worker)),
        (idle.put(), acknowledgements.put()),
    )
    .output(|worker, (_, decision)| Some(Told::Worker(worker, decision)));
    let complete = |(decision, awaited): (Decision, Vec<Worker>), arrived: Vec<Worker>| {
        let others = arrived.iter().copied().filter(|worker| !awaited.contains(worker)).collect();
        awaited.iter().all(|worker| arrived.contains(worker)).then_some((decision, others))
    };
    net.transition(
        "receive acknowledgements",
        (waiting_acknowledgements.take(), acknowledgements.take_all()),
        complete,
        (completed.put(), acknowledgements.put_all()),
    )
    .output(|(decision, _): (Decision, Vec<Worker>), _| Some(Told::Completed(decision)));
    (net, completed)
}

fn explored(workers: Worker) -> (StateSpace<(Worker, Vote), Told>, Place<Decision>) {
    let (net, completed) = two_phase_commit(workers, Tells::All);
    (net.explore(&Budget::default()).expect("it is small"), completed)
}

#[test]
fn its_state_space_has_the_known_size() {
    for (workers, markings, arcs, dead) in
        [(1, 13, 13, 2), (2, 59, 85, 4), (3, 357, 654, 8), (4, 2_811, 5_957, 16), (5, 27_809, 64_978, 32)]
    {
        let (space, completed) = explored(workers);
        assert_eq!(
            (space.graph().markings(), space.graph().arcs(), space.graph().dead().len()),
            (markings, arcs, dead),
            "{workers} workers"
        );
        assert_eq!(space.bounds(completed), (0, 1));
        assert!(space.graph().home().is_empty(), "each vector of votes ends somewhere else");
        assert!(space.graph().dead().iter().all(|&dead| space.marking(dead).count(completed) == 1));
    }
}

#[test]
fn six_workers_need_more_contents_of_a_place_than_sixteen_bits_count() {
    let (space, _) = explored(6);
    assert_eq!((space.graph().markings(), space.graph().arcs(), space.graph().dead().len()), (332_303, 839_771, 64));
}

#[test]
fn a_commit_needs_that_all_vote_yes() {
    let (mut space, completed) = explored(3);
    let is_commit = |(decision, _): (&Decision, u32)| *decision == Decision::Commit;
    let commits: Vec<usize> =
        space.graph().dead().into_iter().filter(|&dead| space.marking(dead).tokens(completed).any(is_commit)).collect();
    assert_eq!(commits.len(), 1);
    let firings = space.firings_to(commits[0]);
    let votes = firings.iter().filter(|fired| fired.transition == "receive can commit").count();
    assert_eq!((votes, firings.last().map(|fired| fired.marking)), (3, Some(commits[0])));
    // Send, vote, collect, decide, be told, complete.
    assert_eq!(firings.len(), 1 + 3 + 3 + 1 + 3 + 1);
}

/// Returns what must be observed where the workers vote so.
fn expected(votes: &BTreeSet<(Worker, Vote)>) -> BTreeSet<Told> {
    let all_yes = votes.iter().all(|(_, vote)| *vote == Vote::Yes);
    let decision = if all_yes { Decision::Commit } else { Decision::Abort };
    let told = votes.iter().map(|&(worker, _)| Told::Worker(worker, decision));
    told.chain([Told::Completed(decision)]).collect()
}

#[test]
fn there_is_a_test_case_for_each_vector_of_votes_with_its_one_outcome() {
    for workers in 2..=5 {
        let tests = explored(workers).0.tests().expect("they are few");
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
    let tests = explored(workers).0.tests().expect("they are few");
    let mut faulty = two_phase_commit(workers, Tells::NoVoters).0;
    let seen = faulty.simulate(500, 1, 1_000).expect("it is small");
    assert_eq!(seen.cases.len(), tests.cases.len());
    for (case, seen) in tests.cases.iter().zip(&seen.cases) {
        assert_eq!(case.inputs, seen.inputs);
        let different: BTreeSet<Vote> = case.inputs.iter().map(|(_, vote)| *vote).collect();
        let fails = seen.outcomes.iter().all(|observed| !tests.judge(case, observed).passes());
        assert_eq!(fails, different.len() == 2, "{:?}", case.inputs);
    }
}

#[test]
fn simulations_find_as_many_vectors_of_votes_as_chance_does() {
    // Table 13.3 of Wang's thesis (2021), whose column of steps counts runs.
    for (workers, runs) in [(2, 5), (2, 10), (3, 10), (3, 20), (4, 50), (4, 100), (5, 100), (5, 200), (10, 5_000)] {
        let tests = two_phase_commit(workers, Tells::All).0.simulate(runs, 1, 1_000).expect("it is small");
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
fn it_always_comes_to_an_end() {
    let (space, completed) = explored(3);
    assert_eq!(space.avoiding(|marking| marking.count(completed) == 1), None);
    // Most runs end without a commit.
    let is_commit = |(decision, _): (&Decision, u32)| *decision == Decision::Commit;
    let run = space.avoiding(|marking| marking.tokens(completed).any(is_commit)).expect("some vote no");
    assert!(run.cycle.is_empty() && space.graph().dead().contains(&run.begin), "{run:?}");
}

#[test]
fn a_budget_that_runs_out_names_the_place_that_grows() {
    let mut net = Net::new("counter");
    let count = net.place("count", [0_u64]);
    let tick = net.place("tick", [()]);
    net.transition("count", (count.take(), tick.keep()), |count, ()| Some(count + 1), count.put());
    let error = net.explore(&Budget { markings: Some(1_000), bytes: None }).expect_err("it counts for ever");
    let ExploreError::Exhausted { grows, markings, .. } = &error else { panic!("{error}") };
    assert_eq!(
        (grows.as_str(), *markings),
        ("the place `count` has had 1002 different contents, of up to 1 tokens", 1_001)
    );
}
