//! The state space of two-phase commit has the size that others found.

use simutant_nets::{Budget, ExploreError, Net, Place, StateSpace, any};

type Worker = u8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Vote {
    Yes,
    No,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Decision {
    Commit,
    Abort,
}

/// Two-phase commit without failures: the coordinator tells its decision to all workers, and waits until those that voted
/// yes have acknowledged it (Wang, Kristensen, Meling, Stolz, VECoS 2018, section 4).
fn two_phase_commit(workers: Worker) -> (Net, Place<Decision>) {
    let mut net = Net::new("two-phase commit");
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
    );
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
        let told = (1..=workers).map(|worker| (worker, decision)).collect();
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
    );
    let complete = |(decision, awaited): (Decision, Vec<Worker>), arrived: Vec<Worker>| {
        let others = arrived.iter().copied().filter(|worker| !awaited.contains(worker)).collect();
        awaited.iter().all(|worker| arrived.contains(worker)).then_some((decision, others))
    };
    net.transition(
        "receive acknowledgements",
        (waiting_acknowledgements.take(), acknowledgements.take_all()),
        complete,
        (completed.put(), acknowledgements.put_all()),
    );
    (net, completed)
}

fn explored(workers: Worker) -> (StateSpace, Place<Decision>) {
    let (net, completed) = two_phase_commit(workers);
    (net.explore(&Budget::default()).expect("it is small"), completed)
}

#[test]
fn its_state_space_has_the_known_size() {
    for (workers, markings, arcs, dead) in
        [(1, 13, 13, 2), (2, 59, 85, 4), (3, 357, 654, 8), (4, 2_811, 5_957, 16), (5, 27_809, 64_978, 32)]
    {
        let (space, completed) = explored(workers);
        assert_eq!((space.markings(), space.arcs(), space.dead().len()), (markings, arcs, dead), "{workers} workers");
        assert_eq!(space.bounds(completed), (0, 1));
        assert!(space.home().is_empty(), "each vector of votes ends somewhere else");
        assert!(space.dead().iter().all(|&dead| space.marking(dead).count(completed) == 1));
    }
}

#[test]
fn six_workers_need_more_contents_of_a_place_than_sixteen_bits_count() {
    let (space, _) = explored(6);
    assert_eq!((space.markings(), space.arcs(), space.dead().len()), (332_303, 839_771, 64));
}

#[test]
fn a_commit_needs_that_all_vote_yes() {
    let (mut space, completed) = explored(3);
    let is_commit = |(decision, _): (&Decision, u32)| *decision == Decision::Commit;
    let commits: Vec<usize> =
        space.dead().into_iter().filter(|&dead| space.marking(dead).tokens(completed).any(is_commit)).collect();
    assert_eq!(commits.len(), 1);
    let firings = space.firings_to(commits[0]);
    let votes = firings.iter().filter(|fired| fired.transition == "receive can commit").count();
    assert_eq!((votes, firings.last().map(|fired| fired.marking)), (3, Some(commits[0])));
    // Send, vote, collect, decide, be told, complete.
    assert_eq!(firings.len(), 1 + 3 + 3 + 1 + 3 + 1);
}

#[test]
fn it_always_comes_to_an_end() {
    let (space, completed) = explored(3);
    assert_eq!(space.avoiding(|marking| marking.count(completed) == 1), None);
    // Most runs end without a commit.
    let is_commit = |(decision, _): (&Decision, u32)| *decision == Decision::Commit;
    let run = space.avoiding(|marking| marking.tokens(completed).any(is_commit)).expect("some vote no");
    assert!(run.cycle.is_empty() && space.dead().contains(&run.begin), "{run:?}");
}

#[test]
fn a_budget_that_runs_out_names_the_place_that_grows() {
    let mut net = Net::new("counter");
    let count = net.place("count", [0_u64]);
    let tick = net.place("tick", [()]);
    net.transition("count", (count.take(), tick.keep()), |count, ()| Some(count + 1), count.put());
    let error = net.explore(&Budget { markings: Some(1_000), bytes: None }).expect_err("it counts for ever");
    let ExploreError::Exhausted { place, markings, .. } = &error else { panic!("{error}") };
    assert_eq!((place.as_str(), *markings), ("count", 1_001));
}
