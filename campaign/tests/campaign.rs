//! Whole campaigns on a worker whose mutants do everything that a mutant can do to its process.

#[path = "../examples/counter_campaign/counter.rs"]
mod counter;

use std::collections::{BTreeMap, BTreeSet};
use std::num::{NonZeroU8, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value;
use simutant_campaign::{
    Bounds, Campaign, CampaignError, CampaignPlan, Existing, Phase, Progress, Pruning, SessionEnd, Simulator,
    Statistics, TraceRecording, read_outcomes, read_outcomes_of, read_reseedings,
};
use simutant_mutator::Build;
use simutant_outcomes::{BitSet, Cause, CostKills, CostRole, CriterionKind, InputSource, Outcomes, Quota, RunEnd};
use tempfile::TempDir;

/// A seed whose first [`CASES`] limits are small and large, even and odd, and of whose first [`MANY`] none is 16, where a
/// mutant hangs, which takes time.
const SEED: u64 = 181;
/// A seed of whose first [`CASES`] limits one is 16.
const SEED_WITH_HANG: u64 = 28;
const CASES: usize = 8;
/// Enough test cases that a campaign can be disturbed before it ends.
const MANY: usize = 24;
/// Long enough for the other runs on a machine that is busy with the other tests.
const HANG: Duration = Duration::from_secs(2);

fn build() -> Build {
    counter::build(&std::env::current_exe().expect("a test has a program"))
}

fn plan() -> CampaignPlan {
    let bounds = Bounds { hang: HANG, ..Bounds::default() };
    let build = build();
    let (input_source, pruning) = (InputSource::Uniform, Pruning::Infected);
    CampaignPlan {
        build,
        seed: SEED,
        input_source,
        cases: CASES,
        given: Vec::new(),
        reseedings: NonZeroU8::MIN,
        pruning,
        bounds,
    }
}

fn jobs(jobs: usize) -> NonZeroUsize {
    NonZeroUsize::new(jobs).expect("at least one")
}

fn run(directory: &Path, plan: CampaignPlan, jobs_: usize) -> Outcomes {
    let worker = plan.build.worker.clone();
    let mut campaign = Campaign::open(directory, plan, Existing::Continue).expect("it opens");
    let plain = worker;
    let end = campaign.run(&plain, jobs(jobs_), &mut |_| {}, &AtomicBool::new(false)).expect("it runs");
    assert_eq!(end, SessionEnd::Finished);
    let outcomes = campaign.outcomes().expect("it is finished");
    check_references(directory);
    outcomes
}

/// Checks that every row that names another one names one that is there.
#[track_caller]
fn check_references(directory: &Path) {
    let journal = Connection::open(directory.join("journal.sqlite")).expect("it is a journal");
    let mut check = journal.prepare("SELECT \"table\", parent FROM pragma_foreign_key_check").expect("it is SQL");
    let broken = check.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("it can be read");
    let broken: Vec<(String, String)> = broken.collect::<Result<_, _>>().expect("these are names");
    assert_eq!(broken, [], "rows that name what is not there");
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

#[test]
fn every_end_of_a_run_has_its_verdict_and_reason() {
    let outcomes = run(folder().path(), CampaignPlan { seed: SEED_WITH_HANG, ..plan() }, 2);
    let limits: Vec<u64> = outcomes.cases.iter().map(|case| case.case["limit"].as_u64().expect("a limit")).collect();
    assert!(limits.contains(&16) && limits.iter().any(|&limit| limit < 4), "the seed must show it: {limits:?}");
    let steps = 3 * outcomes.cases.iter().map(|case| case.steps).max().expect("some cases");
    let events = 3 * outcomes.cases.iter().map(|case| case.events).max().expect("some cases");
    #[track_caller]
    fn check(outcomes: &Outcomes, mutant: usize, kills: usize, cause: Cause, reason: &str) {
        assert_eq!(outcomes.kills[mutant].count_ones(..), kills, "mutant {mutant}: {:?}", outcomes.reasons[mutant]);
        assert_eq!(outcomes.causes[mutant], [(cause, kills as u32)].into(), "mutant {mutant}");
        // Results and checks are no events: a run with the same ones can still be wrong.
        let is_wrong_by_events = cause.verdict() != RunEnd::Failed;
        let diverged = &outcomes.diverged[mutant];
        assert!(!is_wrong_by_events || outcomes.kills[mutant].is_subset(diverged), "mutant {mutant}: {diverged:?}");
        let first = &outcomes.reasons[mutant][0];
        assert_eq!((first.verdict, first.cause), (cause.verdict(), cause), "{first:?}");
        assert!(first.reason.contains(reason), "{first:?} does not say `{reason}`");
    }
    let all = CASES;
    let with = |wanted: fn(u64) -> bool| limits.iter().filter(|&&limit| wanted(limit)).count();
    check(&outcomes, 0, with(|limit| limit >= 8), Cause::UnexpectedResult, "adder returned ");
    check(&outcomes, 1, all, Cause::Panic, "adder panicked at ");
    check(&outcomes, 1, all, Cause::Panic, "examples/counter_worker/main.rs:");
    check(&outcomes, 2, all, Cause::Steps, &format!("the limit of {steps} steps was used up"));
    check(&outcomes, 3, all, Cause::StackOverflow, "stack overflow");
    // It takes no steps, so that its worker has to die.
    check(&outcomes, 4, all, Cause::Memory, "memory used up");
    check(&outcomes, 5, all, Cause::Abort, "aborted (signal 6)");
    check(&outcomes, 6, all, Cause::Exit, "the process exited with code 3");
    check(&outcomes, 8, all, Cause::Events, &format!("the limit of {events} events was used up"));
    check(&outcomes, 11, with(|limit| limit == 16), Cause::Hang, "hung");
    check(&outcomes, 13, with(|limit| limit < 4), Cause::UnexpectedResult, "adder returned ");
    check(&outcomes, 14, all, Cause::Memory, "memory used up: more than 64 MiB");
    check(&outcomes, 15, all, Cause::VirtualTime, "the limit of virtual time, 0.003 s, was reached");
    check(&outcomes, 16, all, Cause::NoResult, "adder did not return, but ");
    check(&outcomes, 17, all, Cause::CheckFailed, "check \"the books balance\" failed: they say ");
    for survivor in [7, 9, 10, 12, 18] {
        assert!(outcomes.kills[survivor].is_clear(), "mutant {survivor}: {:?}", outcomes.reasons[survivor]);
        assert!(outcomes.causes[survivor].is_empty(), "mutant {survivor}: {:?}", outcomes.causes[survivor]);
        assert_eq!(outcomes.diverged[survivor].is_clear(), survivor != 18, "mutant {survivor}");
    }
    let causes: BTreeSet<Cause> = outcomes.causes.iter().flat_map(|causes| causes.keys().copied()).collect();
    let of_kills = Cause::ALL.iter().filter(|cause| cause.verdict().kills());
    assert!(causes.iter().eq(of_kills), "each cause of a kill is shown: {causes:?}");
    let undecided = outcomes.verdicts[19];
    assert_eq!((undecided.inconclusive, undecided.passed, undecided.kills()), (all as u32, 0, 0));
    assert!(outcomes.kills[19].is_clear() && outcomes.reasons[19].is_empty(), "an inconclusive run kills nothing");
    let panics: Vec<u32> = outcomes.reasons[1].iter().map(|reason| reason.count).collect();
    assert_eq!((panics.len(), panics.iter().sum::<u32>()), (1, all as u32), "equal reasons are counted");
    assert_eq!(outcomes.verdicts[1].abnormal, all as u32);
    assert_eq!(outcomes.verdicts[12].passed, all as u32);
}

#[test]
fn criteria_are_blocks_branches_and_those_of_the_system_on_test_cases_and_on_traces() {
    let outcomes = run(folder().path(), plan(), 1);
    let names: Vec<(&str, CriterionKind)> =
        outcomes.criteria.iter().map(|criterion| (criterion.name.as_str(), criterion.kind)).collect();
    let white = CriterionKind::WhiteBox;
    let own = [("parity", CriterionKind::BlackBox), ("last-digits", CriterionKind::Trace)];
    assert_eq!(names, [[("all-blocks", white), ("all-branches", white)], own].concat());
    assert!(outcomes.criteria[..2].iter().all(|criterion| criterion.quotas.is_empty()));
    assert_eq!(outcomes.criteria[2].quotas, [Quota { requirements: 0..2, covered_min: 1 }]);
    assert_eq!(
        outcomes.criteria[1].requirements,
        ["src/counter.rs:2: true branch of `0..limit`", "src/counter.rs:2: false branch of `0..limit`"]
    );
    for (number, case) in outcomes.cases.iter().enumerate() {
        let odd = usize::from(case.case["limit"].as_u64().expect("a limit") % 2 == 1);
        let covered = |criterion: usize| outcomes.criteria[criterion].covered[number].ones().collect::<Vec<_>>();
        assert_eq!((covered(0), covered(1), covered(2)), (vec![0, 1 + odd], vec![odd], vec![odd]));
    }
}

#[test]
fn requirements_from_traces_are_what_the_universe_covers_in_the_order_of_their_labels() {
    let outcomes = run(folder().path(), plan(), 3);
    let built_in = ["message-faults", "timeouts", "send-receive-pairs", "interleavings", "faults-in-phases"];
    assert_eq!(outcomes.left_out, built_in, "a system without messages has none of these");
    let limits = outcomes.cases.iter().map(|case| case.case["limit"].as_u64().expect("a limit"));
    let labels = limits.map(|limit| format!("adder returns a number with {} at its end", limit * (limit - 1) / 2 % 10));
    let labels: Vec<String> = labels.collect();
    let criterion = &outcomes.criteria[3];
    assert_eq!(criterion.requirements, labels.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>());
    for (label, covered) in labels.iter().zip(&criterion.covered) {
        let covered: Vec<&String> = covered.ones().map(|index| &criterion.requirements[index]).collect();
        assert_eq!(covered, [label]);
    }
}

#[test]
fn outcomes_do_not_depend_on_workers_or_on_pruning() {
    let plan = || CampaignPlan { seed: SEED_WITH_HANG, ..plan() };
    let expected = run(folder().path(), plan(), 1);
    for (workers, pruning) in [(2, Pruning::Infected), (3, Pruning::Reached), (2, Pruning::None)] {
        let outcomes = run(folder().path(), CampaignPlan { pruning, ..plan() }, workers);
        assert!(outcomes == expected, "{workers} workers, {pruning:?}");
    }
}

/// Returns a path of the worker by which it makes a mistake.
fn mistaken(folder: &Path, mistake: &str) -> PathBuf {
    let path = folder.join(format!("counter_worker-{mistake}"));
    std::os::unix::fs::symlink(build().worker, &path).expect("a new name in a new folder");
    path
}

#[test]
fn pairs_that_are_pruned_are_checked_on_a_sample_which_workers_do_not_change() {
    for (workers, pruning) in
        [(1, Pruning::Infected), (3, Pruning::Infected), (2, Pruning::Reached), (2, Pruning::None)]
    {
        let folder = folder();
        let mut campaign =
            Campaign::open(folder.path(), CampaignPlan { pruning, ..plan() }, Existing::Continue).expect("it opens");
        campaign.run(&build().worker, jobs(workers), &mut |_| {}, &AtomicBool::new(false)).expect("it runs");
        let statistics = campaign.statistics().expect("it can be read");
        // So few pairs are all in the sample.
        assert_eq!(statistics.pairs_checked, statistics.pairs_pruned, "{pruning:?}");
        assert_eq!(statistics.pairs_checked == 0, pruning == Pruning::None);
        assert_eq!(statistics.pairs_executed, statistics.pairs - statistics.pairs_pruned, "{pruning:?}");
        assert_eq!(statistics.cases_compared, CASES as u64);
    }
}

#[test]
fn an_infection_that_is_not_reported_is_an_error_and_no_kill() {
    for workers in 1..4 {
        let folder = folder();
        let mut plan = plan();
        plan.build.worker = mistaken(folder.path(), "silent");
        let mut campaign = Campaign::open(&folder.path().join("out"), plan, Existing::Continue).expect("it opens");
        let error = campaign
            .run(&build().worker, jobs(workers), &mut |_| {}, &AtomicBool::new(false))
            .expect_err("mutant 1 panics");
        assert!(matches!(error, CampaignError::PrunedWrongly { number: 0, mutant: 1, .. }), "{error}");
        let text = error.to_string();
        for part in [
            "test case 0 of seed 181 on mutant 1 of counter ",
            "did not pass (abnormal): adder panicked at ",
            "HAND at src/counter.rs:2, where `sum()` becomes `mutant_1()`",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(campaign.statistics().expect("it can be read").pairs_executed, 0, "the test case is not done");
    }
}

#[test]
fn a_body_that_chooses_something_else_than_the_original_is_an_error_before_any_mutant_runs() {
    let folder = folder();
    let mut plan = plan();
    plan.build.worker = mistaken(folder.path(), "skewed");
    let mut campaign = Campaign::open(&folder.path().join("out"), plan, Existing::Continue).expect("it opens");
    let error = campaign
        .run(&build().worker, jobs(2), &mut |_| {}, &AtomicBool::new(false))
        .expect_err("the adder returns one too many");
    assert!(matches!(error, CampaignError::NotAsChosen { number: 0, .. }), "{error}");
    let text = error.to_string();
    for part in [
        "the verdict is failed adder returned 1, but 0 was expected there, and passed in the original; ",
        "chooses the original among mutants",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(campaign.statistics().expect("it can be read").pairs_executed, 0);
}

#[test]
fn an_original_that_is_not_the_package_as_it_is_written_is_an_error_with_the_first_event_that_differs() {
    for workers in 1..4 {
        let folder = folder();
        let plain = mistaken(folder.path(), "late");
        let mut campaign = Campaign::open(&folder.path().join("out"), plan(), Existing::Continue).expect("it opens");
        let error =
            campaign.run(&plain, jobs(workers), &mut |_| {}, &AtomicBool::new(false)).expect_err("it takes longer");
        assert!(matches!(error, CampaignError::NotAsWritten { number: 0, .. }), "{error}");
        let text = error.to_string();
        for part in ["the virtual time at the end is 2000000 ns as it is written, and 1000000 ns in ", "; from event "]
        {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(campaign.statistics().expect("it can be read").cases_compared, 0);
    }
}

#[test]
fn a_plain_build_that_is_no_worker_is_an_error_with_its_path() {
    let folder = folder();
    let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
    let error = campaign
        .run("/bin/false".as_ref(), jobs(2), &mut |_| {}, &AtomicBool::new(false))
        .expect_err("it is no worker");
    assert!(matches!(error, CampaignError::Worker { .. }) && error.to_string().contains("/bin/false"), "{error}");
}

#[test]
fn the_universe_can_be_drawn_before_there_is_a_plain_build() {
    let (folder, expected) = (folder(), run(folder().path(), plan(), 1));
    let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
    let mut drawn = Vec::new();
    for _ in 0..2 {
        let mut note = |progress: Progress| drawn.push((progress.phase, progress.done));
        let end = campaign.draw(&mut note, &AtomicBool::new(false)).expect("it draws");
        assert_eq!(end, SessionEnd::Finished);
    }
    assert_eq!(drawn, [(Phase::Universe, CASES)], "the second time there is nothing to do");
    campaign
        .run(
            &build().worker,
            jobs(2),
            &mut |progress| assert_ne!(progress.phase, Phase::Universe),
            &AtomicBool::new(false),
        )
        .expect("it runs");
    assert_eq!(campaign.outcomes().expect("it is finished"), expected);
}

/// The universe of the guided source, drawn and read back; `stop_after` test cases a session stops, and another goes on.
fn guided(plan: CampaignPlan, stop_after: Option<usize>) -> Vec<Value> {
    let folder = folder();
    let plan = CampaignPlan { input_source: InputSource::Guided, ..plan };
    for stop_after in stop_after.into_iter().chain([usize::MAX]) {
        let mut campaign = Campaign::open(folder.path(), plan.clone(), Existing::Continue).expect("it opens");
        let stop = AtomicBool::new(false);
        let mut note = |progress: Progress| stop.store(progress.done >= stop_after, Relaxed);
        let end = campaign.draw(&mut note, &stop).expect("it draws");
        assert_eq!(end, if stop_after < plan.cases { SessionEnd::Stopped } else { SessionEnd::Finished });
    }
    cases_in(folder.path())
}

/// Returns the test cases in a journal.
fn cases_in(directory: &Path) -> Vec<Value> {
    let journal = Connection::open(directory.join("journal.sqlite")).expect("it is a journal");
    let mut cases = journal.prepare("SELECT input FROM cases ORDER BY number").expect("it is SQL");
    let cases = cases.query_map([], |row| row.get::<_, String>(0)).expect("it can be read");
    cases.map(|case| serde_json::from_str(&case.expect("it is text")).expect("it is JSON")).collect()
}

#[test]
fn a_source_that_learns_draws_the_same_for_any_size_and_number_of_workers_and_after_an_interruption() {
    let of_size = |cases| CampaignPlan { cases, ..plan() };
    let drawn = guided(of_size(MANY), None);
    assert_eq!(drawn.len(), MANY);
    assert_eq!(guided(of_size(MANY), Some(3)), drawn);
    assert_eq!(guided(of_size(CASES), None), drawn[..CASES]);
    let build = build();
    let mut simulator = Simulator::new(&build, plan().bounds);
    let uniform = (0..MANY).map(|number| simulator.draw(SEED, number).expect("it is drawn"));
    assert_ne!(uniform.collect::<Vec<_>>(), drawn, "none was mutated");
    let guided = || CampaignPlan { input_source: InputSource::Guided, ..plan() };
    let outcomes = [1, 3].map(|workers| run(folder().path(), guided(), workers));
    assert_eq!(outcomes[0], outcomes[1]);
    assert!(outcomes[0].cases.iter().map(|case| &case.case).eq(&drawn[..CASES]));
}

#[test]
fn a_source_that_learns_says_at_once_that_the_original_fails() {
    let folder = folder();
    let mut fragile = CampaignPlan { cases: 4 * MANY, input_source: InputSource::Guided, ..plan() };
    fragile.build.worker = mistaken(folder.path(), "fragile");
    let mut campaign = Campaign::open(&folder.path().join("out"), fragile, Existing::Continue).expect("it opens");
    let mut drawn = 0;
    let mut count = |progress: Progress| drawn = progress.done;
    let error = campaign.draw(&mut count, &AtomicBool::new(false)).expect_err("the original fails");
    let CampaignError::BaselineFailed { number, case, .. } = &error else { panic!("{error}") };
    assert!([5, 7].contains(&case["limit"].as_u64().expect("a number")), "{error}");
    assert_eq!(drawn, number + 1, "no test case is drawn after it");
}

#[test]
fn a_panic_while_a_test_case_is_drawn_says_which_and_why() {
    let built = build();
    let mut simulator = Simulator::new(&built, Bounds::default());
    let drawn = (0..MANY).map(|number| simulator.draw(SEED, number).expect("it is drawn"));
    let large = |case: &Value| case["limit"].as_u64().is_some_and(|limit| limit > 12);
    let (number, case) = drawn.enumerate().find(|(_, case)| large(case)).expect("one is large");
    let folder = folder();
    let mut plan = CampaignPlan { cases: MANY, ..plan() };
    plan.build.worker = mistaken(folder.path(), "undrawable");
    let mut campaign = Campaign::open(&folder.path().join("out"), plan, Existing::Continue).expect("it opens");
    let error = campaign.draw(&mut |_| {}, &AtomicBool::new(false)).expect_err("it panics");
    assert!(matches!(error, CampaignError::SamplePanicked { .. }), "{error:?}");
    let error = error.to_string();
    assert!(error.starts_with("sample panicked at "), "{error}");
    assert!(error.ends_with(&format!(" (test case {number}): {} is above 12", case["limit"])), "{error}");
}

#[test]
fn a_campaign_that_is_stopped_anywhere_goes_on_and_runs_nothing_twice() {
    // No limit of these is 16 either.
    const FEW: usize = 6;
    let plan = || CampaignPlan { seed: 29, cases: FEW, ..plan() };
    let expected = run(folder().path(), plan(), 1);
    let executions = expected.pairs_infected();
    // The universe is one call of the progress, the baseline and the mutants are one for each test case.
    for stop_after in 1..=2 * FEW {
        let folder = folder();
        let stop = AtomicBool::new(false);
        let mut calls = 0;
        let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
        let mut count = |_| {
            calls += 1;
            stop.store(calls >= stop_after, Relaxed);
        };
        let end = campaign.run(&build().worker, jobs(1 + stop_after % 3), &mut count, &stop).expect("it runs");
        let first = campaign.statistics().expect("it can be read");
        drop(campaign);
        let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens again");
        campaign.run(&build().worker, jobs(2), &mut |_| {}, &AtomicBool::new(false)).expect("it goes on");
        let second = campaign.statistics().expect("it can be read");
        assert!(campaign.outcomes().expect("it is finished") == expected, "stopped after {stop_after}: {end:?}");
        assert_eq!(first.session_executed + second.session_executed, executions, "stopped after {stop_after}");
        assert_eq!((second.pairs_executed, second.pairs - second.pairs_pruned), (executions, executions));
        assert_eq!((second.pairs_checked, second.cases_compared), (second.pairs_pruned, FEW as u64));
    }
}

/// A plan of a system in which everything is chance, run so often.
fn with_chance(folder: &Path, reseedings: u8) -> CampaignPlan {
    let mut build = build();
    let worker = folder.join("counter_worker-chance");
    build.worker = if worker.exists() { worker } else { mistaken(folder, "chance") };
    let reseedings = NonZeroU8::new(reseedings).expect("once at least");
    // No limit of these is 16 either.
    CampaignPlan { build, seed: 31, cases: 4, reseedings, ..plan() }
}

#[test]
fn re_seedings_change_nothing_of_what_the_universe_does() {
    let programs = folder();
    let once = run(folder().path(), with_chance(programs.path(), 1), 2);
    assert_eq!(once.reseeded, None);
    let expected = run(folder().path(), with_chance(programs.path(), 6), 1);
    assert_eq!(run(folder().path(), with_chance(programs.path(), 6), 3), expected, "of several workers");
    let reseeded = expected.reseeded.as_ref().expect("it was asked for");
    assert_eq!((reseeded.reseedings, &reseeded.chance), (6, &vec!["limit".to_owned()]));
    assert_eq!(Outcomes { reseeded: None, ..expected.clone() }, once);

    let counts = |mutant: usize| reseeded.runs[mutant].iter().zip(&reseeded.kills[mutant]);
    assert!(reseeded.runs[19].iter().all(|&runs| runs == 0), "of inconclusive runs it is not known whether they kill");
    for mutant in (0..expected.kills.len()).filter(|&mutant| mutant != 19) {
        for (case, (&runs, &kills)) in counts(mutant).enumerate() {
            assert!(kills <= runs && (3..=6).contains(&runs), "{kills} of {runs}");
            assert!(kills > 0 || !expected.kills[mutant].contains(case), "its own run is one of them");
            // What is closed after three runs is open again when a re-seeding does not infect the mutant.
            assert!(kills == 0 || kills == runs || runs > 3, "{kills} of {runs} is open");
        }
    }
    assert!((0..expected.kills.len()).any(|mutant| counts(mutant).any(|(runs, kills)| 0 < *kills && kills < runs)));
    for (criterion, counts) in expected.criteria.iter().zip(&reseeded.covered) {
        for (covered, counts) in criterion.covered.iter().zip(counts) {
            assert_eq!(counts.len(), criterion.requirements.len(), "{}", criterion.name);
            assert!(counts.iter().all(|&count| count <= 6));
            assert!(covered.ones().all(|requirement| counts[requirement] > 0), "{}", criterion.name);
        }
    }
}

/// Judges a finished campaign by a cost oracle; nothing is run for it.
fn judged(directory: &Path, plan: CampaignPlan, oracle: &str, role: CostRole) -> Result<Outcomes, CampaignError> {
    let worker = plan.build.worker.clone();
    let mut campaign = Campaign::open(directory, plan, Existing::Continue).expect("it opens");
    campaign.run(&worker, jobs(1), &mut |_| {}, &AtomicBool::new(false)).expect("it runs");
    campaign.judge_cost(Some((&oracle.parse().expect("it is an oracle"), role)))?;
    assert_eq!(campaign.statistics().expect("it can be read").session_executed, 0, "nothing is run");
    let outcomes = campaign.outcomes()?;
    assert_eq!(read_outcomes(directory).expect("it is finished"), outcomes, "the journal keeps what was asked for");
    Ok(outcomes)
}

/// Returns which mutants are killed by cost, each with how many test cases do it.
fn killed_by_cost(cost: &CostKills) -> Vec<(usize, usize)> {
    let counts = cost.kills.iter().map(|kills| kills.count_ones(..)).enumerate();
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Mutant 18 passes, and waits once more than the original: three events in place of two, and twice the time.
#[test]
fn the_cost_oracle_judges_runs_that_pass_and_runs_nothing_for_it() {
    let (programs, one_folder, other_folder) = (folder(), folder(), folder());
    let plan = || with_chance(programs.path(), 6);
    let before = run(one_folder.path(), plan(), 1);
    assert_eq!(before.cost, None);
    assert_eq!(run(other_folder.path(), plan(), 3), before);
    for (oracle, kills) in [
        ("events=49%", true),
        ("events=50%", false),
        ("time=99%", true),
        ("time=100%", false),
        ("messages=0%", false),
        ("messages=0%,time=20%", true),
    ] {
        let outcomes = judged(one_folder.path(), plan(), oracle, CostRole::Apart).expect("it is finished");
        let of_other = judged(other_folder.path(), plan(), oracle, CostRole::Apart).expect("it is finished");
        assert_eq!(of_other, outcomes, "of several workers");
        let cost = outcomes.cost.clone().expect("it was asked for");
        assert_eq!(killed_by_cost(&cost), if kills { vec![(18, 4)] } else { Vec::new() }, "{oracle}");
        let (reseeded, by_cost) = (before.reseeded.as_ref().expect("it is"), cost.reseeded.as_ref().expect("it is"));
        for (mutant, (runs, by_cost)) in reseeded.runs.iter().zip(by_cost).enumerate() {
            let expect = if mutant == 18 && kills { runs.clone() } else { vec![0; runs.len()] };
            assert_eq!(*by_cost, expect, "mutant {mutant} by {oracle}");
        }
        assert_eq!(Outcomes { cost: None, ..outcomes.clone() }, before, "{oracle}: nothing else changes");
        let counted = judged(one_folder.path(), plan(), oracle, CostRole::Counted).expect("it is finished");
        assert_eq!(counted, outcomes.with_cost_kills());
        assert_eq!(counted.kills[18].count_ones(..), if kills { 4 } else { 0 }, "{oracle}");
    }
    let mut campaign = Campaign::open(one_folder.path(), plan(), Existing::Continue).expect("it opens");
    campaign.judge_cost(None).expect("it can be written");
    let text = |outcomes: &Outcomes| serde_json::to_string(outcomes).expect("plain data");
    assert_eq!(text(&campaign.outcomes().expect("it is finished")), text(&before), "byte for byte as before");
}

#[test]
fn a_test_case_on_which_no_run_is_known_is_killed_by_no_cost() {
    let folder = folder();
    let expected = run(folder.path(), plan(), 2);
    judged(folder.path(), plan(), "time=20%", CostRole::Apart).expect("it is finished");
    let campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
    let scope = [0, 3].into_iter().collect();
    let outcomes = campaign.outcomes_in(&scope).expect("it is finished");
    let cost = outcomes.cost.expect("the journal says it");
    assert_eq!(cost.kills[18].ones().collect::<Vec<_>>(), [0, 3]);
    assert_eq!((cost.reseeded, expected.reseeded), (None, None));
}

#[test]
fn a_system_that_states_its_costs_is_judged_by_that_too() {
    let (programs, folder) = (folder(), folder());
    let mut build = build();
    build.worker = mistaken(programs.path(), "bounded");
    let plan = || CampaignPlan { build: build.clone(), ..plan() };
    run(folder.path(), plan(), 2);
    let outcomes = judged(folder.path(), plan(), "messages=0%", CostRole::Apart).expect("it is finished");
    assert_eq!(killed_by_cost(&outcomes.cost.expect("it was asked for")), [(18, CASES)]);
}

/// A journal of before messages and virtual time were noted.
#[test]
fn the_events_of_an_old_journal_are_judged_and_nothing_else() {
    let folder = folder();
    let before = run(folder.path(), plan(), 2);
    let journal = Connection::open(folder.path().join("journal.sqlite")).expect("it is a journal");
    journal.execute_batch("ALTER TABLE recordings DROP COLUMN messages").expect("it is there");
    let mut select = journal.prepare("SELECT test_case, runs FROM units").expect("it is SQL");
    let rows =
        select.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?))).expect("it can be read");
    let rows: Vec<(i64, String)> = rows.collect::<Result<_, _>>().expect("these are rows");
    let mut longer = 0;
    for (case, text) in rows {
        let mut runs: Vec<Vec<i64>> = serde_json::from_str(&text).expect("runs are numbers");
        longer += runs.iter().filter(|run| run.len() == 10).count();
        runs.iter_mut().for_each(|run| run.truncate(8));
        let runs = serde_json::to_string(&runs).expect("plain data");
        let sql = "UPDATE units SET runs = ?2 WHERE test_case = ?1";
        journal.execute(sql, rusqlite::params![case, runs]).expect("it can be written");
    }
    assert_eq!(longer, CASES, "only runs that pass with other events say more: those of mutant 18");
    drop(select);
    drop(journal);
    assert_eq!(read_outcomes(folder.path()).expect("it is finished"), before);
    let outcomes = judged(folder.path(), plan(), "events=20%", CostRole::Apart).expect("events were always noted");
    assert_eq!(killed_by_cost(&outcomes.cost.expect("it was asked for")), [(18, CASES)]);
    for oracle in ["time=20%", "messages=20%,events=20%"] {
        let error = judged(folder.path(), plan(), oracle, CostRole::Apart).expect_err("nobody knows");
        assert!(error.to_string().contains("begin anew with --fresh, or give --cost events alone"), "{error}");
        let cost = read_outcomes(folder.path()).expect("it is as it was").cost.expect("it was asked for before");
        assert_eq!(cost.oracle.to_string(), "events=20%");
    }
}

#[test]
fn where_nothing_is_chance_re_seedings_add_nothing() {
    let reseedings = NonZeroU8::new(5).expect("it is 5");
    let expected = run(folder().path(), plan(), 2);
    assert_eq!(run(folder().path(), CampaignPlan { reseedings, ..plan() }, 2), expected);
}

#[test]
fn more_and_fewer_re_seedings_go_on_with_what_there_is() {
    let (programs, one_folder) = (folder(), folder());
    let expected = |reseedings| run(folder().path(), with_chance(programs.path(), reseedings), 2);
    assert_eq!(read_reseedings(one_folder.path()).get(), 1, "there is no campaign yet");
    for reseedings in [2, 5, 1, 3, 5] {
        let campaign = with_chance(programs.path(), reseedings);
        let opened = Campaign::open(one_folder.path(), campaign.clone(), Existing::Continue);
        drop(opened.expect("another number of re-seedings is no other campaign"));
        assert_eq!(run(one_folder.path(), campaign, 2), expected(reseedings), "{reseedings}");
        assert_eq!(read_outcomes(one_folder.path()).expect("it is finished"), expected(reseedings), "{reseedings}");
        assert_eq!(read_reseedings(one_folder.path()).get(), reseedings);
    }
    let mut campaign =
        Campaign::open(one_folder.path(), with_chance(programs.path(), 5), Existing::Continue).expect("it opens");
    campaign
        .run(&with_chance(programs.path(), 5).build.worker, jobs(1), &mut |_| {}, &AtomicBool::new(false))
        .expect("it runs");
    assert_eq!(campaign.statistics().expect("it can be read").session_executed, 0, "all of it was done before");
}

#[test]
fn a_campaign_with_re_seedings_that_is_stopped_anywhere_goes_on_to_the_same() {
    let programs = folder();
    let expected = run(folder().path(), with_chance(programs.path(), 4), 1);
    // One call for the universe, 16 for recordings, 16 for runs on mutants.
    for stop_after in [1, 2, 9, 17, 18, 20, 21, 22, 25, 31, 32] {
        let folder = folder();
        let stop = AtomicBool::new(false);
        let mut calls = 0;
        let mut count = |_| {
            calls += 1;
            stop.store(calls >= stop_after, Relaxed);
        };
        let plan = || with_chance(programs.path(), 4);
        let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
        campaign.run(&plan().build.worker, jobs(1 + stop_after % 3), &mut count, &stop).expect("it runs");
        drop(campaign);
        assert_eq!(run(folder.path(), plan(), 2), expected, "stopped after {stop_after}");
    }
}

fn spawn_campaign(folder: &Path, cases: usize) -> Child {
    let worker = build().worker;
    let program = worker.with_file_name("counter_campaign");
    Command::new(program)
        .arg(folder)
        .args([SEED.to_string(), cases.to_string(), "2".to_owned()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("it is built with the tests")
}

fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited for a minute: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The processes that `parent` started and that are still there.
fn children(parent: u32) -> Vec<u32> {
    let status = |entry: std::fs::DirEntry| {
        let process: u32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, its_parent) = (fields.next()?, fields.next()?);
        (state != "Z" && its_parent == parent.to_string()).then_some(process)
    };
    std::fs::read_dir("/proc").expect("Linux").flatten().filter_map(status).collect()
}

fn exists(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[test]
fn a_killed_campaign_loses_nothing_and_leaves_no_process() {
    let expected = run(folder().path(), CampaignPlan { cases: MANY, ..plan() }, 2);
    let folder = folder();
    for delay_ms in [30, 150, 400] {
        let mut campaign = spawn_campaign(folder.path(), MANY);
        wait_until("workers", || !children(campaign.id()).is_empty());
        std::thread::sleep(Duration::from_millis(delay_ms));
        let workers = children(campaign.id());
        campaign.kill().expect("it is ours");
        campaign.wait().expect("it was killed");
        wait_until("the end of the workers", || !workers.iter().any(|&worker| exists(worker)));
    }
    let outcomes = run(folder.path(), CampaignPlan { cases: MANY, ..plan() }, 2);
    assert!(outcomes == expected);
    let left: Vec<_> = std::fs::read_dir(folder.path()).expect("it is there").flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().contains("answers")), "{left:?}");
}

#[test]
fn a_worker_that_someone_kills_kills_no_mutant() {
    let expected = run(folder().path(), CampaignPlan { cases: MANY, ..plan() }, 2);
    let folder = folder();
    let mut campaign = spawn_campaign(folder.path(), MANY);
    // Three times at one run would be too often for the campaign.
    for _ in 0..2 {
        wait_until("workers", || {
            !children(campaign.id()).is_empty() || campaign.try_wait().is_ok_and(|status| status.is_some())
        });
        for worker in children(campaign.id()) {
            let process = rustix::process::Pid::from_raw(worker.cast_signed()).expect("a process has a number");
            // It may have died of a mutant in the meantime.
            _ = rustix::process::kill_process(process, rustix::process::Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let output = campaign.wait_with_output().expect("it ends");
    assert!(output.status.success());
    assert!(output.stdout == serde_json::to_vec(&expected).expect("outcomes are plain data"));
}

#[test]
fn outcomes_can_be_read_without_the_build() {
    let folder = folder();
    let expected = run(folder.path(), plan(), 2);
    assert!(read_outcomes(folder.path()).expect("it is finished") == expected);
    let nowhere = read_outcomes(&folder.path().join("nowhere")).expect_err("nothing is there");
    assert!(matches!(nowhere, CampaignError::File { .. }), "{nowhere}");
}

#[test]
fn outcomes_of_other_source_are_not_taken_for_those_of_a_build() {
    let folder = folder();
    let expected = run(folder.path(), plan(), 2);
    let of = |build: &Build| read_outcomes_of(build, folder.path()).expect("it is finished");
    assert!(of(&build()) == Some(expected));
    let mut other = build();
    other.source_hash ^= 1;
    assert!(of(&other).is_none(), "the same mutants, in another system around them");
    other = build();
    other.sites.mutants.pop();
    assert!(of(&other).is_none(), "other mutants");
}

#[test]
fn an_unfinished_campaign_has_no_outcomes() {
    let folder = folder();
    let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
    let stop = AtomicBool::new(false);
    let end = campaign.run(&build().worker, jobs(1), &mut |_| stop.store(true, Relaxed), &stop).expect("it runs");
    assert_eq!(end, SessionEnd::Stopped);
    let error = campaign.outcomes().expect_err("it is not finished");
    assert!(matches!(error, CampaignError::Unfinished { executed: 0, cases: CASES }), "{error}");
}

#[test]
fn another_campaign_in_the_folder_is_an_error_that_names_what_differs() {
    let folder = folder();
    drop(Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens"));
    let check = |plan: CampaignPlan, expect: &str| {
        let error = Campaign::open(folder.path(), plan, Existing::Continue).expect_err("it is another");
        assert!(error.to_string().contains(expect), "{error}");
        assert!(error.to_string().contains("--fresh"), "{error}");
    };
    check(CampaignPlan { seed: 2, ..plan() }, "with seed 181, but seed 2 was asked for");
    check(CampaignPlan { cases: 7, ..plan() }, "with cases 8, but cases 7 was asked for");
    let other = CampaignPlan { seed: 2, ..plan() };
    drop(Campaign::open(folder.path(), other, Existing::Delete).expect("the old one is deleted"));
}

/// Returns the plan with a second function, which no run calls, and which is as `hash` says.
fn with_uncalled(hash: u64) -> CampaignPlan {
    let mut plan = plan();
    plan.build.source_hash = hash;
    plan.build.fingerprint.functions.push(hash);
    plan.build.sites.functions.push(plan.build.sites.functions[0].clone());
    plan.build.sites.functions[1].path = "counter::uncalled".to_owned();
    plan
}

fn run_again(directory: &Path, plan: CampaignPlan) -> Statistics {
    let mut campaign = Campaign::open(directory, plan, Existing::Continue).expect("it opens");
    let end = campaign.run(&build().worker, jobs(2), &mut |_| {}, &AtomicBool::new(false)).expect("it runs");
    assert_eq!(end, SessionEnd::Finished);
    let statistics = campaign.statistics().expect("it can be read");
    check_references(directory);
    statistics
}

/// Finishes the campaign, and returns how many pairs were executed and how many kept.
fn finish(directory: &Path, plan: CampaignPlan) -> (u64, u64) {
    let statistics = run_again(directory, plan);
    assert_eq!(statistics.pairs_executed, statistics.session_executed + statistics.session_kept);
    // So few are all in the samples.
    assert_eq!(statistics.session_kept_checked, statistics.session_kept);
    assert_eq!(statistics.session_recordings_checked, statistics.session_recordings_kept);
    // Whoever keeps a run of a test case keeps what was recorded of it.
    assert_eq!(statistics.session_recordings_kept, if statistics.session_kept > 0 { CASES as u64 } else { 0 });
    assert_eq!((statistics.pairs_checked, statistics.cases_compared), (statistics.pairs_pruned, CASES as u64));
    (statistics.session_executed, statistics.session_kept)
}

#[test]
fn runs_that_called_nothing_that_has_changed_are_kept() {
    let folder = folder();
    let (all, kept) = finish(folder.path(), with_uncalled(1));
    assert_eq!(kept, 0);
    let expected = read_outcomes(folder.path()).expect("it is finished");
    let lost = |outcomes: &Outcomes| -> u64 {
        // Who ends the process says nothing any more.
        let silent = [Cause::StackOverflow, Cause::Abort, Cause::Exit, Cause::Hang];
        let of = |causes: &BTreeMap<Cause, u32>| -> u64 {
            silent.iter().filter_map(|cause| causes.get(cause)).map(|&count| u64::from(count)).sum()
        };
        // Mutant 4 takes memory without a step.
        outcomes.causes.iter().map(of).sum::<u64>() + CASES as u64
    };

    let changed = finish(folder.path(), with_uncalled(2));
    assert_eq!(changed, (lost(&expected), all - lost(&expected)), "of {all}");
    assert!(read_outcomes(folder.path()).expect("it is finished") == expected);

    // The function that all runs call.
    let mut hot = with_uncalled(2);
    hot.build.source_hash = 3;
    hot.build.fingerprint.functions[0] += 1;
    assert_eq!(finish(folder.path(), hot.clone()), (all, 0));

    // Something that is not a function.
    hot.build.source_hash = 4;
    hot.build.fingerprint.fixed += 1;
    assert_eq!(finish(folder.path(), hot.clone()), (all, 0));
    assert!(read_outcomes(folder.path()).expect("it is finished") == expected);
    let executed = run_again(folder.path(), hot).session_executed;
    assert_eq!(executed, 0, "the source is the same");
}

#[test]
fn on_no_test_case_nothing_but_the_original_is_run() {
    let folder = folder();
    let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
    let end = campaign.run_in(&build().worker, &BitSet::new(), jobs(2), &mut |_| {}, &AtomicBool::new(false));
    assert_eq!(end.expect("it runs"), SessionEnd::Finished);
    let statistics = campaign.statistics().expect("it can be read");
    assert_eq!((statistics.cases_compared, statistics.pairs_executed), (CASES as u64, 0));
    assert!(campaign.limits().expect("it can be read").is_some(), "they follow from the original");
}

/// From the end of a campaign, from its middle, and from its beginning; twice, so that re-seedings move twice.
#[test]
fn a_universe_that_grows_keeps_its_runs_and_comes_to_what_a_larger_one_comes_to() {
    let programs = folder();
    let of = |cases, reseedings| CampaignPlan { cases, ..with_chance(programs.path(), reseedings) };
    for (reseedings, executed_before) in [(1, u64::MAX), (3, u64::MAX), (3, 30), (3, 0)] {
        let expected = run(folder().path(), of(4, reseedings), 2);
        let folder = folder();
        for cases in [2, 3] {
            let plan = of(cases, reseedings);
            let plain = plan.build.worker.clone();
            let mut campaign = Campaign::open(folder.path(), plan, Existing::Continue).expect("it opens");
            let stop = AtomicBool::new(false);
            let mut stop_when_executed = |progress: Progress| {
                stop.store(progress.phase == Phase::Mutants && progress.executions >= executed_before, Relaxed);
            };
            campaign.run(&plain, jobs(2), &mut stop_when_executed, &stop).expect("it runs");
        }
        let before: i64 = Connection::open(folder.path().join("journal.sqlite"))
            .and_then(|journal| journal.query_row("SELECT count(*) FROM executions", [], |row| row.get(0)))
            .expect("as documented");
        let plan = of(4, reseedings);
        let plain = plan.build.worker.clone();
        let mut campaign = Campaign::open(folder.path(), plan, Existing::Continue).expect("it opens");
        campaign.run(&plain, jobs(2), &mut |_| {}, &AtomicBool::new(false)).expect("it runs");
        let statistics = campaign.statistics().expect("it can be read");
        assert_eq!(statistics.session_recordings_kept, 3 * u64::from(reseedings));
        assert!(
            executed_before < u64::MAX || statistics.session_kept * 10 > before.cast_unsigned() * 9,
            "{statistics:?}"
        );
        drop(campaign);
        check_references(folder.path());
        assert!(read_outcomes(folder.path()).expect("it is finished") == expected, "{reseedings}, {executed_before}");
    }
}

/// Test cases of a person join the universe, are replaced, and leave it, while it grows.
#[test]
fn test_cases_that_are_given_follow_those_that_are_drawn() {
    let programs = folder();
    let case = |limit: u64| serde_json::json!({ "limit": limit });
    let of = |cases, given: &[u64]| CampaignPlan {
        cases,
        given: given.iter().copied().map(case).collect(),
        ..with_chance(programs.path(), 3)
    };
    let folder = folder();
    for (cases, given, recordings_kept) in
        [(2, &[5, 6][..], 0), (2, &[5, 7], 11), (3, &[5, 7, 2], 8), (3, &[7], 11), (3, &[], 9), (3, &[9], 9)]
    {
        let expected = run(self::folder().path(), of(cases, given), 2);
        let plain = of(cases, given).build.worker;
        let mut campaign = Campaign::open(folder.path(), of(cases, given), Existing::Continue).expect("it opens");
        campaign.run(&plain, jobs(2), &mut |_| {}, &AtomicBool::new(false)).expect("it runs");
        let kept = campaign.statistics().expect("it can be read").session_recordings_kept;
        drop(campaign);
        check_references(folder.path());
        let outcomes = read_outcomes(folder.path()).expect("it is finished");
        assert!(outcomes == expected, "{cases} and {given:?}");
        let last: Vec<_> = outcomes.cases[cases..].iter().map(|outcome| outcome.case.clone()).collect();
        assert_eq!(last, given.iter().copied().map(case).collect::<Vec<_>>());
        // All of this system is chance: re-seedings depend on a test case's place alone.
        assert_eq!(kept, recordings_kept, "{cases} and {given:?}");
    }
    let mut campaign =
        Campaign::open(folder.path(), CampaignPlan { given: vec![Value::Null], ..of(3, &[]) }, Existing::Continue)
            .expect("it opens");
    let refused =
        campaign.run(&build().worker, jobs(1), &mut |_| {}, &AtomicBool::new(false)).expect_err("no test case");
    assert!(matches!(refused, CampaignError::CaseRefused { .. }), "{refused}");
}

#[test]
fn nothing_is_kept_of_a_test_case_that_is_another_one_after_an_edit() {
    let other = folder();
    let (all, _) = finish(other.path(), with_uncalled(1));
    let (_, kept) = finish(other.path(), with_uncalled(2));
    let expected = read_outcomes(other.path()).expect("it is finished");

    let folder = folder();
    finish(folder.path(), with_uncalled(1));
    let journal = Connection::open(folder.path().join("journal.sqlite")).expect("a journal");
    // As in the test above: who ends the process, and mutant 4.
    let of_one = "SELECT count(*) FROM executions
        WHERE test_case = 3 AND cause NOT IN ('hang', 'stack-overflow', 'abort', 'exit') AND mutant <> 4";
    let of_one = journal.query_row(of_one, [], |row| row.get::<_, i64>(0)).expect("as documented").cast_unsigned();
    let change = "UPDATE cases SET input = (SELECT input FROM cases WHERE number = 4) WHERE number = 3";
    assert_eq!(journal.execute(change, []).expect("it can be written"), 1);
    let statistics = run_again(folder.path(), with_uncalled(2));
    assert_eq!((statistics.session_executed, statistics.session_kept), (all - kept + of_one, kept - of_one));
    assert_eq!(statistics.session_recordings_kept, CASES as u64 - 1);
    assert!(of_one > 0 && read_outcomes(folder.path()).expect("it is finished") == expected);
}

#[test]
fn a_run_that_is_kept_and_would_be_another_one_now_is_an_error() {
    let folder = folder();
    finish(folder.path(), with_uncalled(1));
    for workers in 1..3 {
        let mut plan = with_uncalled(2);
        plan.build.worker =
            if workers == 1 { mistaken(folder.path(), "calm") } else { folder.path().join("counter_worker-calm") };
        let mut campaign = Campaign::open(folder.path(), plan, Existing::Continue).expect("it opens");
        let error = campaign
            .run(&build().worker, jobs(workers), &mut |_| {}, &AtomicBool::new(false))
            .expect_err("mutant 1 panicked");
        assert!(matches!(error, CampaignError::KeptWrongly { number: 0, mutant: 1, .. }), "{error}");
        let text = error.to_string();
        for part in [
            "test case 0 of seed 181 on mutant 1 of counter called nothing that has changed",
            "the verdict was abnormal adder panicked at ",
            ", and is passed",
            "HAND at src/counter.rs:2, where `sum()` becomes `mutant_1()`",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(campaign.statistics().expect("it can be read").pairs_executed, 0, "the test case is not done");
    }
}

#[test]
fn a_recording_that_is_kept_and_would_be_another_one_now_is_an_error() {
    let folder = folder();
    finish(folder.path(), with_uncalled(1));
    let mut plan = with_uncalled(2);
    plan.build.worker = mistaken(folder.path(), "silent");
    let mut campaign = Campaign::open(folder.path(), plan, Existing::Continue).expect("it opens");
    let error = campaign
        .run(&build().worker, jobs(2), &mut |_| {}, &AtomicBool::new(false))
        .expect_err("mutant 1 was infected");
    assert!(matches!(error, CampaignError::RecordingKeptWrongly { number: 0, .. }), "{error}");
    let text = error.to_string();
    for part in
        ["test case 0 of seed 181 calls nothing of counter that has changed", "mutants infected, and has", "--fresh"]
    {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn recordings_are_kept_of_the_test_cases_that_call_nothing_that_has_changed() {
    let folder = folder();
    finish(folder.path(), with_uncalled(1));
    let expected = read_outcomes(folder.path()).expect("it is finished");
    // Another session of the same source, and one that was stopped before the universe was drawn.
    assert_eq!(run_again(folder.path(), with_uncalled(1)).session_recordings_kept, 0);
    drop(Campaign::open(folder.path(), with_uncalled(2), Existing::Continue).expect("it opens"));
    assert_eq!(run_again(folder.path(), with_uncalled(2)).session_recordings_kept, CASES as u64);
    // One that was stopped before the sample was checked.
    let mut campaign = Campaign::open(folder.path(), with_uncalled(3), Existing::Continue).expect("it opens");
    let stop = AtomicBool::new(false);
    let mut when_drawn = |progress: Progress| {
        stop.store(progress.phase == Phase::Universe, Relaxed);
    };
    assert_eq!(campaign.run(&build().worker, jobs(1), &mut when_drawn, &stop).expect("it runs"), SessionEnd::Stopped);
    drop(campaign);
    let statistics = run_again(folder.path(), with_uncalled(3));
    assert_eq!((statistics.session_recordings_kept, statistics.session_recordings_checked), (0, CASES as u64));
    assert!(read_outcomes(folder.path()).expect("it is finished") == expected);
}

#[test]
fn a_second_edit_before_the_end_keeps_what_the_first_one_kept() {
    let folder = folder();
    finish(folder.path(), with_uncalled(1));
    let expected = read_outcomes(folder.path()).expect("it is finished");
    let changed = finish(folder.path(), with_uncalled(2));
    let mut campaign = Campaign::open(folder.path(), with_uncalled(3), Existing::Continue).expect("it opens");
    let stop = AtomicBool::new(false);
    let mut after_three = |progress: Progress| {
        stop.store(progress.phase == Phase::Mutants && progress.done >= 3, Relaxed);
    };
    assert_eq!(campaign.run(&build().worker, jobs(1), &mut after_three, &stop).expect("it runs"), SessionEnd::Stopped);
    drop(campaign);
    assert_eq!(finish(folder.path(), with_uncalled(4)), changed);
    assert!(read_outcomes(folder.path()).expect("it is finished") == expected);
}

#[test]
fn two_campaigns_in_one_folder_exclude_each_other() {
    let folder = folder();
    let first = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
    for existing in [Existing::Continue, Existing::Delete] {
        let error = Campaign::open(folder.path(), plan(), existing).expect_err("the first has it");
        assert!(matches!(error, CampaignError::InUse(_)), "{error}");
    }
    drop(first);
    Campaign::open(folder.path(), plan(), Existing::Continue).expect("the first is gone");
}

#[test]
fn a_damaged_journal_is_an_error_with_its_path() {
    let whole = folder();
    run(whole.path(), plan(), 2);
    let bytes = std::fs::read(whole.path().join("journal.sqlite")).expect("a journal");
    let check = |damaged: &[u8], sure: bool| {
        let folder = folder();
        let path = folder.path().join("journal.sqlite");
        std::fs::write(&path, damaged).expect("there is room");
        let outcomes =
            Campaign::open(folder.path(), plan(), Existing::Continue).and_then(|campaign| campaign.outcomes());
        match outcomes {
            Err(error @ CampaignError::Damaged { .. }) => {
                let text = error.to_string();
                assert!(text.contains(&*path.to_string_lossy()) && text.contains("--fresh"), "{text}");
            }
            other => assert!(!sure, "{other:?}"),
        }
    };
    check(b"this was never a database, but it is long enough to look at: 0123456789", true);
    check(&bytes[..bytes.len() / 2], true);
    // Wherever a block is overwritten: an error, or what was there was not needed, but never a panic.
    for start in (0..bytes.len()).step_by(bytes.len() / 23) {
        let mut damaged = bytes.clone();
        let end = (start + 200).min(damaged.len());
        damaged[start..end].fill(0xa5);
        check(&damaged, false);
    }
}

#[test]
fn a_journal_of_an_earlier_release_gets_the_views_of_this_one() {
    let folder = folder();
    finish(folder.path(), with_uncalled(1));
    let journal = || Connection::open(folder.path().join("journal.sqlite")).expect("a journal");
    let numbers = "DROP VIEW executions; CREATE VIEW executions AS SELECT test_case, value ->> 1 AS verdict FROM units, json_each(runs)";
    journal().execute_batch(numbers).expect("it can be written");
    read_outcomes(folder.path()).expect("it is finished");
    let verdicts = "SELECT count(*) FROM executions WHERE verdict = 'passed'";
    let passed: i64 = journal().query_row(verdicts, [], |row| row.get(0)).expect("as documented");
    assert!(passed > 0);
}

#[test]
fn a_journal_of_another_version_says_so() {
    let folder = folder();
    run(folder.path(), plan(), 2);
    let journal = Connection::open(folder.path().join("journal.sqlite")).expect("a journal");
    let changed = journal.execute("UPDATE meta SET value = '4' WHERE key = 'format_version'", []);
    assert_eq!(changed.expect("it can be written"), 1);
    let error = read_outcomes(folder.path()).expect_err("it is of another version");
    assert!(matches!(error, CampaignError::OtherFormat { found: 4, .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("journal.sqlite is of another version of Simutant") && text.contains("--fresh"), "{text}");
    drop(journal);
    let campaign = Campaign::open(folder.path(), plan(), Existing::Delete).expect("it begins anew");
    assert_eq!(campaign.statistics().expect("it can be read").pairs_executed, 0);
}

#[test]
fn runs_that_are_not_what_was_written_are_an_error() {
    let folder = folder();
    run(folder.path(), plan(), 2);
    let check = |change: &str, expect: &str| {
        let journal = Connection::open(folder.path().join("journal.sqlite")).expect("a journal");
        let before: (String, i64) = journal
            .query_row("SELECT runs, executions FROM units WHERE test_case = 3", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .expect("as documented");
        journal.execute(&format!("UPDATE units SET {change} WHERE test_case = 3"), []).expect("it can be written");
        let error = read_outcomes(folder.path()).expect_err("it is damaged");
        assert!(matches!(error, CampaignError::Damaged { .. }) && error.to_string().contains(expect), "{error}");
        let restore = "UPDATE units SET runs = ?1, executions = ?2 WHERE test_case = 3";
        journal.execute(restore, (before.0, before.1)).expect("it can be written");
    };
    check("runs = ''", "runs of test case 3: not an array");
    check("runs = replace(runs, '],', ',')", "runs of test case 3: number 0 is not a run");
    check("runs = json_set(runs, '$[0][0]', 1000)", "runs of test case 3: they are not in the order of mutants");
    check("runs = json_insert(runs, '$[#]', json(runs ->> '$[#-1]'))", "not in the order of mutants");
    check("runs = json_set(runs, '$[#-1][0]', 1000)", "number 1000 is not below ");
    check("runs = json_set(runs, '$[0][4]', 1000)", "a run without a reason");
    check("runs = json_set(runs, '$[0][1]', 4)", "has verdict 4 by cause ");
    check("runs = json_remove(runs, '$[0]')", "runs were written down, ");
    read_outcomes(folder.path()).expect("it is as it was");
}

#[test]
fn a_failing_baseline_names_the_first_case_for_any_number_of_workers() {
    // The system refuses nothing that it draws, so the journal is given a test case on which the original fails.
    for workers in 1..4 {
        let folder = folder();
        let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
        let stop = AtomicBool::new(true);
        campaign.run(&build().worker, jobs(1), &mut |_| {}, &stop).expect("the universe is drawn");
        drop(campaign);
        let journal = Connection::open(folder.path().join("journal.sqlite")).expect("a journal");
        let changed = journal.execute("UPDATE cases SET input = '{\"limit\":17}' WHERE number IN (3, 4, 6)", []);
        assert_eq!(changed.expect("it can be written"), 3);
        drop(journal);
        let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
        let error =
            campaign.run(&build().worker, jobs(workers), &mut |_| {}, &AtomicBool::new(false)).expect_err("17 fails");
        let text = error.to_string();
        assert!(matches!(error, CampaignError::BaselineFailed { number: 3, .. }), "{text}");
        assert!(text.contains("adder returned 136, but 0 was expected"), "{text}");
        assert!(text.contains(r#"{"limit":17}"#), "{text}");
        assert_eq!(campaign.statistics().expect("it can be read").pairs_executed, 0);
    }
}

#[test]
fn programs_that_are_no_workers_are_errors() {
    let check = |program: &str, system: &str, expect: &str| {
        let folder = folder();
        let mut plan = plan();
        plan.build.worker = program.into();
        plan.build.sites.system = system.to_owned();
        let mut campaign = Campaign::open(folder.path(), plan, Existing::Continue).expect("it opens");
        let error =
            campaign.run(&build().worker, jobs(2), &mut |_| {}, &AtomicBool::new(false)).expect_err("it is no worker");
        assert!(matches!(error, CampaignError::Worker { .. }), "{error}");
        assert!(error.to_string().contains(expect), "{error}");
    };
    check("/bin/echo", "counter", "answered `counter`, which is not of the protocol");
    check("/bin/false", "counter", "exited with code 1");
    check("/bin/sleep", "100", "does not say what it is");
    check("/nowhere/worker", "counter", "No such file");
    let worker = build().worker;
    check(&worker.to_string_lossy(), "gbn", "give the name of a system as the only argument: counter");
}

#[test]
fn a_single_run_has_the_verdict_of_the_campaign() {
    let folder = folder();
    let mut campaign = Campaign::open(folder.path(), plan(), Existing::Continue).expect("it opens");
    campaign.run(&build().worker, jobs(2), &mut |_| {}, &AtomicBool::new(false)).expect("it runs");
    let outcomes = campaign.outcomes().expect("it is finished");
    let limits = campaign.limits().expect("it can be read");
    assert!(limits.is_some());
    let build = build();
    let mut simulator = Simulator::new(&build, plan().bounds);
    assert_eq!(simulator.universe().expect("the worker says so"), 16);
    for (number, case) in outcomes.cases.iter().enumerate().take(3) {
        assert_eq!(simulator.draw(SEED, number).expect("it is drawn"), case.case);
        let original = simulator.simulate(&case.case, None, TraceRecording::Keep, limits).expect("it runs");
        assert_eq!(original.execution.verdict, RunEnd::Passed);
        assert_eq!(original.virtual_time_ns, case.virtual_time_ns);
        assert!(original.trace.is_some_and(|trace| trace.read::<Vec<Value>>().is_ok_and(|events| !events.is_empty())));
        for mutant in [0, 1, 2, 3, 5, 8, 14, 15, 16, 17] {
            for trace in [TraceRecording::Skip, TraceRecording::Keep] {
                let run = simulator.simulate(&case.case, Some(mutant), trace, limits).expect("it runs");
                let killed = outcomes.kills[mutant as usize].contains(number);
                assert_eq!(run.execution.verdict.kills(), killed, "mutant {mutant}: {:?}", run.execution);
                let causes = &outcomes.causes[mutant as usize];
                assert!(run.execution.cause.is_none_or(|cause| causes.contains_key(&cause)), "{:?}", run.execution);
            }
        }
    }
    let refused = simulator.simulate(&serde_json::json!({"limit": 99}), None, TraceRecording::Skip, None);
    let error = refused.expect_err("99 is out of the domain");
    assert_eq!(error.to_string(), "this is not a test case of `counter`: limit is 99: it must be from 1 to 17");
}
