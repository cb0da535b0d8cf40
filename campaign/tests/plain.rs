//! The check of the package as it is written, on a worker that makes mistakes by its name.

#[path = "../examples/counter_campaign/counter.rs"]
mod counter;

use std::num::{NonZeroU8, NonZeroUsize};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use simutant_campaign::{Bounds, CampaignError, Phase, PlainCheck, Progress, SessionEnd, Share, Simulator};
use simutant_outcomes::{Cause, InputSource};

const SEED: u64 = 28;
const CASES: usize = 24;
const HANG: Duration = Duration::from_secs(180);

/// Checks the worker that makes `mistake`, and returns the limits of its test cases as well.
fn checked(mistake: &str, jobs: usize) -> (Result<SessionEnd, CampaignError>, Vec<u64>) {
    checked_with_reseedings(mistake, jobs, NonZeroU8::MIN, CASES)
}

/// Checks as above, with re-seedings: `total` test cases with these.
fn checked_with_reseedings(
    mistake: &str,
    jobs: usize,
    reseedings: NonZeroU8,
    total: usize,
) -> (Result<SessionEnd, CampaignError>, Vec<u64>) {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let build = counter::build(&std::env::current_exe().expect("a test has a program"));
    let plain: PathBuf = folder.path().join(format!("counter_worker-{mistake}"));
    std::os::unix::fs::symlink(&build.worker, &plain).expect("a new name in a new folder");
    // Long enough for what a worker ends by itself, on a machine that is busy.
    let (input_source, bounds) = (InputSource::Uniform, Bounds { hang: HANG, ..Bounds::default() });
    let cases = NonZeroUsize::new(CASES);
    let (system, seed, given) = ("counter", SEED, &[]);
    let check = PlainCheck { plain: &plain, system, seed, input_source, cases, given, reseedings, bounds };
    let mut done = Vec::new();
    let mut progress = |progress: Progress| done.push((progress.phase, progress.done, progress.total));
    let end = check.run(NonZeroUsize::new(jobs).expect("at least one"), &mut progress, &AtomicBool::new(false));
    assert_eq!(done.remove(0), (Phase::Plain, 0, CASES));
    assert!(done.iter().enumerate().all(|(index, done)| *done == (Phase::Plain, index + 1, total)), "{done:?}");
    let mut simulator = Simulator::new(&build, bounds);
    let drawn = (0..CASES).map(|number| simulator.draw(SEED, number).expect("it is drawn"));
    (end, drawn.map(|case| case["limit"].as_u64().expect("a number")).collect())
}

#[test]
fn a_package_that_is_right_passes() {
    assert!(matches!(checked("right", 2).0, Ok(SessionEnd::Finished)));
}

#[test]
fn all_test_cases_that_fail_are_counted_and_the_first_is_named() {
    for jobs in [1, 3] {
        let (end, limits) = checked("fragile", jobs);
        let fails = |limit: &u64| [5, 7].contains(limit);
        let expect = Share { of: limits.iter().filter(|limit| fails(limit)).count(), among: CASES };
        assert!(expect.of > 1, "the seed must show it: {limits:?}");
        let error = end.expect_err("some fail");
        let CampaignError::BaselineFailed { number, share, .. } = &error else { panic!("{error}") };
        assert_eq!((Some(*number), *share), (limits.iter().position(fails), Some(expect)));
        assert!(error.to_string().contains(&format!("; {} of {CASES} test cases fail; ", expect.of)), "{error}");
    }
}

#[test]
fn reseedings_that_fail_are_told_before_anything_is_instrumented() {
    let reseedings = NonZeroU8::new(3).expect("not 0");
    for jobs in [1, 3] {
        let (end, limits) = checked_with_reseedings("unlucky", jobs, reseedings, 3 * CASES);
        let error = end.expect_err("some fail");
        let CampaignError::OfReseeding { reseeding: 1, case, error: of_case } = &error else { panic!("{error}") };
        let CampaignError::BaselineFailed { number, share, .. } = &**of_case else { panic!("{error}") };
        assert_eq!((Some(*number), case["limit"].as_u64()), (limits.iter().position(|limit| *limit > 12), Some(17)));
        let of = 2 * limits.iter().filter(|limit| **limit > 12).count();
        assert_eq!(*share, Some(Share { of, among: 3 * CASES }));
        let told = error.to_string();
        assert!(
            told.starts_with(&format!("under re-seeding 1, test case {number} of seed {SEED} does not pass")),
            "{told}"
        );
        assert_eq!(told.matches(r#"{"limit":17}"#).count(), 1, "{told}");
    }
    // Where nothing is chance, there are none.
    assert!(matches!(checked_with_reseedings("right", 1, reseedings, CASES).0, Ok(SessionEnd::Finished)));
}

#[test]
fn test_cases_that_do_not_repeat_are_counted_and_the_first_is_named() {
    let (end, limits) = checked("fickle", 2);
    let error = end.expect_err("some differ");
    let CampaignError::NotDeterministic { number, share, .. } = &error else { panic!("{error}") };
    let differing = limits.iter().filter(|limit| **limit > 12).count();
    assert_eq!(Some(*number), limits.iter().position(|limit| *limit > 12));
    assert_eq!(*share, Some(Share { of: differing, among: CASES }));
    assert!(
        error.to_string().contains("virtual time at the end is")
            && error.to_string().contains("two more differ from event ")
            && error.to_string().contains("getrandom"),
        "{error}"
    );
}

#[test]
fn a_test_case_that_is_never_set_up_is_told_with_its_test_case_before_the_bound_of_runs() {
    let begun = Instant::now();
    let (end, limits) = checked("stuck", 1);
    let error = end.expect_err("one hangs");
    let CampaignError::BaselineFailed { number, case, execution, share, .. } = &error else { panic!("{error}") };
    let hangs = limits.iter().position(|limit| *limit > 12).expect("one is large");
    assert_eq!((*number, case["limit"].as_u64()), (hangs, Some(limits[hangs])));
    assert_eq!((execution.cause, execution.reason.contains("`configure` did not return")), (Some(Cause::Hang), true));
    assert_eq!(*share, Some(Share { of: 1, among: hangs + 1 }), "no more were begun");
    // It is the processor's time that counts: a busy machine takes longer.
    assert!(begun.elapsed() < HANG, "{:?}", begun.elapsed());
}

#[test]
fn a_check_that_is_stopped_says_so() {
    let build = counter::build(&std::env::current_exe().expect("a test has a program"));
    let (input_source, bounds, cases, reseedings) = (InputSource::Guided, Bounds::default(), None, NonZeroU8::MIN);
    let (plain, system, seed, given) = (&build.worker, "counter", SEED, &[]);
    let check = PlainCheck { plain, system, seed, input_source, cases, given, reseedings, bounds };
    let stop = AtomicBool::new(false);
    let mut stop_soon = |_: Progress| stop.store(true, Relaxed);
    assert!(matches!(check.run(NonZeroUsize::MIN, &mut stop_soon, &stop), Ok(SessionEnd::Stopped)));
}
