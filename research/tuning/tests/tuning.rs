//! Tuning finds what pays, and the result is one of seeds alone.

use simutant_models::{Bandit, CoverageGuided, Limits, Machine, Step, Strategy, Uniform, Weighted, skip, transition};
use simutant_subjects::{choose_test, list};
use simutant_tuning::{
    Contender, MachineSubject, Measured, Nsga2, Row, Subject, Tradeoff, Tuning, compare, dominates, tune,
};

fn choose() -> impl Subject {
    let limits = Limits { visits: Some(2), ..Limits::default() };
    MachineSubject::new("ChooseTest", limits, || choose_test::instance().expect("it is a machine"))
}

/// A machine that fails after so many steps back to its own state, one of which in two ends the walk by chance.
fn patience(steps: u32) -> Machine<u32> {
    let wait = async move |count: &mut u32, step: &mut Step<'_>| {
        *count += 1;
        step.assert(*count < steps, "it is patient")
    };
    let transitions = [transition("waiting -> waiting", wait), skip("waiting -> gone")];
    Machine::new("patience", ["waiting", "gone"], transitions).expect("it is a machine")
}

fn patient() -> impl Subject {
    MachineSubject::new("patience", Limits { transitions: 20, ..Limits::default() }, || patience(6).with(0))
}

fn tuning(threads: usize, seed: u64) -> Tuning {
    let search = Nsga2 { population: 10, generations: 4, seed, ..Nsga2::default() };
    Tuning { tests: 20, seeds: 6, tradeoff: Tradeoff::UpTo(4.0), search, threads }
}

#[test]
fn neither_threads_nor_their_order_change_the_front() {
    let (choose, patient) = (choose(), patient());
    let found = |threads| tune(&[&choose, &patient], &tuning(threads, 3));
    let alone = found(1);
    assert_eq!(alone, found(4));
    assert_eq!(alone, found(4));
    assert_ne!(alone, tune(&[&choose, &patient], &tuning(1, 4)));
}

#[test]
fn no_candidate_dominates_another_and_none_is_dominated_by_the_defaults() {
    let (choose, patient) = (choose(), patient());
    let front = tune(&[&choose, &patient], &tuning(2, 1));
    assert_eq!(front.objectives.len(), 8);
    assert_eq!(front.objectives[4], "patience: states");
    for one in &front.candidates {
        assert!((one.mean - one.scores.iter().sum::<f64>() / 8.0).abs() < 1e-9);
        assert!(front.candidates.iter().all(|other| !dominates(&other.scores, &one.scores)));
    }
    let defaults: Vec<f64> = [&choose as &dyn Subject, &patient].iter().flat_map(|subject| mean(*subject)).collect();
    assert!(front.candidates.iter().all(|candidate| !dominates(&defaults, &candidate.scores)));
    // The scores are those of a bandit with these rewards.
    let best = &front.candidates[0];
    assert_eq!(best.scores[..4], scores(&choose, || Box::new(best.bandit()))[..]);
}

fn mean(subject: &dyn Subject) -> [f64; 4] {
    scores(subject, || Box::new(Bandit::default()))
}

fn scores(subject: &dyn Subject, strategy: impl Fn() -> Box<dyn Strategy>) -> [f64; 4] {
    let all: Vec<[f64; 4]> = (0..6).map(|seed| subject.suite(strategy(), 20, seed).scores()).collect();
    std::array::from_fn(|score| all.iter().map(|one| one[score]).sum::<f64>() / 6.0)
}

/// Only who goes on sees the failure: the tuned bandit does better than the one it began with.
#[test]
fn tuning_finds_that_patience_pays() {
    let patient = patient();
    let search = Nsga2 { population: 16, generations: 10, ..Nsga2::default() };
    let front = tune(&[&patient], &Tuning { search, ..tuning(2, 1) });
    let failure = |scores: &[f64]| scores[3];
    let best = front.candidates.iter().map(|candidate| failure(&candidate.scores)).fold(0.0, f64::max);
    let before = failure(&mean(&patient));
    assert!(best > before + 5.0, "{best} after {before}");
}

#[test]
fn scores_are_those_of_the_paper() {
    let measured = Measured {
        tests: 50,
        walks: 50,
        tried: 120,
        backtracked: 0,
        states: (3, 4),
        transitions: (0, 0),
        pairs: 9,
        paths: 20,
        first_failure: Some(1),
    };
    // Cov_lip * 2, and 102 - 2 * NTest_fail1, for fifty tests.
    assert_eq!(measured.scores(), [75.0, 0.0, 40.0, 100.0]);
    let failing = |first_failure| Measured { first_failure, ..measured };
    assert_eq!(failing(Some(50)).scores()[3], 2.0);
    assert_eq!(failing(None).scores()[3], 0.0);
    assert_eq!(failing(None).tests_to_failure(), 51);
}

#[test]
fn differences_are_paired_by_seed() {
    let (choose, patient) = (choose(), patient());
    let subjects: [&dyn Subject; 2] = [&choose, &patient];
    let contenders = [
        Contender::new("uniform", || Uniform),
        Contender::new("weighted", || Weighted),
        Contender::new("bandit", Bandit::default),
    ];
    let rows = compare(&subjects, &contenders, 20, 0..12, 3);
    assert_eq!(rows, compare(&subjects, &contenders, 20, 0..12, 1));
    let names: Vec<(&str, &str)> = rows.iter().map(|row| (&*row.subject, &*row.strategy)).collect();
    assert_eq!(names[2..4], [("ChooseTest", "bandit"), ("patience", "uniform")]);
    for row in &rows {
        // Without weights, walks by weight are those of uniform ones, seed by seed.
        if row.strategy != "bandit" {
            assert!(
                row.differences.iter().all(|difference| difference.mean == 0.0 && difference.half == 0.0),
                "{row:?}"
            );
        }
    }
    let length = rows[5].differences[0];
    assert!((length.mean - (rows[5].measures[0].mean - rows[3].measures[0].mean)).abs() < 1e-9);
    let failure = Row::MEASURES.iter().position(|&name| name == "tests to failure").expect("it is one");
    assert_eq!(rows[5].sign(failure), -rows[5].differences[failure].sign());
}

/// On other subjects, ZooKeeper and sockets among them, the example `tuning` measures it.
#[test]
fn walks_by_pairs_are_nowhere_worse_than_walks_by_weight() {
    let limits = Limits { transitions: 100, ..Limits::default() };
    let list = || list::instance::<Vec<u32>>(list::Mistake::PreviousForgets).expect("it is a machine");
    let list = MachineSubject::new("Vec", limits, list);
    let choose = choose();
    let contenders = [Contender::new("weighted", || Weighted), Contender::new("pairs", CoverageGuided::default)];
    for rows in compare(&[&choose, &list], &contenders, 50, 0..60, 2).chunks(2) {
        let signs: Vec<(&str, i8)> = (2..8).map(|measure| (Row::MEASURES[measure], rows[1].sign(measure))).collect();
        assert!(signs.iter().all(|&(_, sign)| sign >= 0), "{}: {signs:?}", rows[1].subject);
        assert!(signs.contains(&("pairs", 1)) && signs.contains(&("score", 1)), "{}: {signs:?}", rows[1].subject);
    }
}
