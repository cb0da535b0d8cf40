//! A suite on a real implementation.

mod costs;
mod junit;
mod rates;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use simutant_analysis::{FittedTestTime, case_name};
use simutant_campaign::{Bounds, Existing, Simulator};
use simutant_harness::{
    CaseResult, Implementation, ResultLog, RunOptions, TestReport, TrialLogError, build_first, run_some,
};
use simutant_outcomes::{Suite, SuiteCase};

pub use self::costs::{CostlyResult, DatagramCosts, SimulatedCost};
pub use self::junit::{junit, listed_remarks};
pub use self::rates::CaseRate;
use crate::event::Observer;
use crate::experiment::IMPLEMENTATIONS;
use crate::{CampaignSettings, StudyError, SystemRequest, TestTimes};

/// A suite, and the implementation that it is run on.
///
/// ```
/// use serde_json::json;
/// use simutant_harness::Testbeds;
/// use simutant_outcomes::{Suite, SuiteCase};
/// use simutant_study::{CaseRate, TestEvent, TestPlan, junit};
/// # use std::path::Path;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = r#"
///     name = "even"
///     system = "any"
///     description = "Takes even numbers"
///     [driver]
///     command = ["sh", "-c", "grep -q [02468]$ {case} && exit; echo '{{\"reason\": \"it is odd\"}}'; exit 1"]
/// "#;
/// let implementation = Testbeds::NONE.parse(text, Path::new("even.toml"), Path::new("."))?;
/// let cases = [2, 3].map(|number| SuiteCase::new(format!("any-{number}"), json!(number)));
/// let suite = Suite::of_cases("any", "by hand", 1, cases);
/// # let folder = tempfile::tempdir()?;
/// # let out = folder.path();
/// let mut plan = TestPlan::new(suite, implementation, out);
/// plan.options.repetitions = 2.try_into()?;
/// let mut results = 0;
/// let report = plan.run(&mut |event| results += usize::from(matches!(event, TestEvent::Result(..))))?;
/// let failed: Vec<usize> = CaseRate::of_report(&report).iter().map(|rate| rate.failed).collect();
/// assert_eq!((results, failed), (4, vec![0, 2]));
/// assert!(junit(&report, 2).to_xml().contains("first in repetition 1"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TestPlan {
    /// The test cases.
    pub suite: Suite,
    /// The implementation.
    pub implementation: Implementation,
    /// How test cases are run.
    pub options: RunOptions,
    /// The folder of the study, in which is kept what test cases took.
    pub out: PathBuf,
    /// The file that has the results so far, so that a run that was killed goes on where it stopped; `None` for a run
    /// that begins anew and keeps none.
    pub log: Option<PathBuf>,
    /// What becomes of results that are already in the file.
    pub existing: Existing,
}

/// Something that happens in a test.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum TestEvent<'a> {
    /// The implementation is built.
    Building,
    /// Test cases are run.
    Started {
        /// How many results were there before.
        before: usize,
        /// How many there are to be.
        total: usize,
    },
    /// A test case ran.
    Result(&'a CaseResult, TestProgress),
    /// No other test case is run.
    Ended(TestProgress),
    /// What a test case takes on the implementation is known.
    TestTime(&'a FittedTestTime),
}

/// The progress of a test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestProgress {
    /// How many results there are, with those of before.
    pub done: usize,
    /// How many of them failed.
    pub failed: usize,
    /// What the suite is expected to find; `None` if nobody estimated it, or test cases run several times.
    pub expected: Option<ExpectedFindings>,
}

/// The expected findings of a suite.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedFindings {
    /// The share of faults that as many test cases as ran are expected to find.
    pub found: f64,
    /// The share that all find.
    pub found_by_all: f64,
    /// What the others are expected to take, in seconds.
    pub seconds_left: f64,
}

impl TestPlan {
    /// Returns the plan of a test in the folder `out`, with the limits of the implementation and the options of
    /// [`RunOptions::new`]. What programs print in test cases that do not pass is kept in the folder.
    pub fn new(suite: Suite, implementation: Implementation, out: &Path) -> Self {
        let mut options = RunOptions::new(out.join(IMPLEMENTATIONS));
        options.timeout = implementation.timeout(&suite.system);
        options.log_directory = Some(out.join("logs").join(&implementation.name));
        let log = Some(out.join(format!("test-{}.jsonl", implementation.name)));
        Self { suite, implementation, options, out: out.to_owned(), log, existing: Existing::Continue }
    }

    /// Builds the implementation and runs what an earlier run has no results of, which was killed, or had fewer
    /// repetitions. Returns the results of both, in the order of the suite.
    ///
    /// # Errors
    /// [`StudyError::OfImplementation`] if the implementation cannot be built or run, [`StudyError::TrialLog`] if the
    /// file of results cannot be used, and others if what test cases took cannot be kept.
    pub fn run(&self, observer: &mut dyn FnMut(TestEvent<'_>)) -> Result<TestReport, StudyError> {
        let Self { suite, implementation, .. } = self;
        let cannot_test = |error: StudyError| error.of_implementation("cannot test", implementation);
        let mut options = self.options.clone();
        observer(TestEvent::Building);
        build_first(implementation, &mut options).map_err(|error| cannot_test(error.into()))?;
        let is_fresh = self.existing == Existing::Delete;
        let log = self.log.as_ref().map(|path| ResultLog::open(path, implementation, &options, is_fresh));
        let mut log = log.transpose()?;
        let repetitions = options.repetitions.get();
        let all = (0..suite.cases.len()).flat_map(|case| (1..=repetitions).map(move |repetition| (case, repetition)));
        let all: Vec<(usize, u32)> = all.collect();
        let rest = match &mut log {
            Some(log) => log.rest(suite, &all)?,
            None => all.clone(),
        };
        let before = |&(case, repetition): &(usize, u32)| {
            let SuiteCase { name, case, .. } = &suite.cases[case];
            log.as_ref()?.get(name, case, repetition).cloned()
        };
        let earlier: Vec<CaseResult> = all.iter().filter_map(before).collect();
        let spent = Duration::from_millis(earlier.iter().map(|result| result.duration_ms).sum());
        options.time = options.time.map(|time| time.saturating_sub(spent));

        let before = earlier.len();
        observer(TestEvent::Started { before, total: before + rest.len() });
        let expected = |done| if repetitions == 1 { expected(suite, done) } else { None };
        let failed = earlier.iter().filter(|result| result.verdict.kills()).count();
        let mut progress = TestProgress { done: before, failed, expected: expected(before) };
        let mut tell = |result: &CaseResult| {
            let (done, failed) = (progress.done + 1, progress.failed + usize::from(result.verdict.kills()));
            progress = TestProgress { done, failed, expected: expected(done) };
            observer(TestEvent::Result(result, progress));
        };
        let mut keep = |result: &CaseResult| log.as_mut().map_or(Ok(()), |log| log.add(result));
        let ran = run_kept(suite, (implementation, &options), &rest, &mut tell, &mut keep);
        let mut report = ran.map_err(|error| match error {
            StudyError::Harness(_) => cannot_test(error),
            error => error,
        })?;
        if let Some(log) = &mut log {
            log.end()?;
        }
        let places = places(suite);
        report.results.extend(earlier);
        report.results.sort_by_key(|result| (places.get(&*result.name), result.repetition));
        observer(TestEvent::Ended(progress));
        self.keep_test_time(&report, &places, observer)?;
        Ok(report)
    }

    /// Fits what a test case takes to what those took that passed, and keeps it for studies.
    fn keep_test_time(
        &self,
        report: &TestReport,
        places: &BTreeMap<&str, usize>,
        observer: &mut dyn FnMut(TestEvent<'_>),
    ) -> Result<(), StudyError> {
        // What failed may have run into a limit.
        let passed = report.results.iter().filter(|result| result.verdict.passes());
        let trials = passed.filter_map(|result| {
            let cost = self.suite.cases[*places.get(&*result.name)?].cost?;
            Some((cost, result.duration_ms as f64 / 1000.0))
        });
        let Some(fitted) = FittedTestTime::fit(&trials.collect::<Vec<_>>()) else { return Ok(()) };
        observer(TestEvent::TestTime(&fitted));
        TestTimes::add(&self.out, [(report.implementation.clone(), fitted)])
    }
}

/// Returns what a suite is expected to find when `done` test cases have run.
fn expected(suite: &Suite, done: usize) -> Option<ExpectedFindings> {
    let (ran, left) = suite.cases.split_at_checked(done)?;
    let found = |cases: &[SuiteCase]| cases.last().map_or(Some(0.0), |last| last.found);
    let seconds_left = left.iter().map(|case| case.seconds).sum::<Option<f64>>()?;
    Some(ExpectedFindings { found: found(ran)?, found_by_all: found(&suite.cases)?, seconds_left })
}

/// Returns the place of each test case in a suite, by its name.
fn places(suite: &Suite) -> BTreeMap<&str, usize> {
    suite.cases.iter().map(|case| &*case.name).zip(0..).collect()
}

/// Returns the first `count` test cases of the universe as a suite: of the study in the folder, however that was drawn,
/// as far as it is of the seed and has as many; the others are drawn uniformly.
///
/// # Errors
/// If the system cannot be built or draws no test case, or the study cannot be read.
pub fn first_cases(
    request: &SystemRequest,
    campaign: &CampaignSettings,
    count: usize,
    observer: &Observer<'_>,
) -> Result<Suite, StudyError> {
    let system = &request.system;
    let plain = request.find()?.build_plain(observer)?;
    let mut simulator = Simulator::of_plain(&plain, system, Bounds::default());
    // Names do not depend on how many are run, but for universes that are larger than usual.
    let universe = simulator.universe()?.max(count);
    let mut cases = campaign.studied_cases()?.unwrap_or_default();
    cases.truncate(count);
    for number in cases.len()..count {
        cases.push(simulator.draw(campaign.seed, number)?);
    }
    let case = |(number, case)| SuiteCase::new(case_name(system, number, universe), case);
    let chosen = format!("the first {count} test cases of the universe");
    Ok(Suite::of_cases(system, chosen, campaign.seed, cases.into_iter().enumerate().map(case)))
}

/// Runs test cases of a suite in repetitions of them as [`run_some`] does, and keeps each result with `keep`. If that
/// fails once, the runs go on, nothing more is kept, and the error is returned in the end.
pub(crate) fn run_kept(
    suite: &Suite,
    (implementation, options): (&Implementation, &RunOptions),
    runs: &[(usize, u32)],
    tell: &mut dyn FnMut(&CaseResult),
    keep: &mut dyn FnMut(&CaseResult) -> Result<(), TrialLogError>,
) -> Result<TestReport, StudyError> {
    let mut kept = Ok(());
    let report = run_some(suite, implementation, options, runs, &mut |result| {
        tell(result);
        if kept.is_ok() {
            kept = keep(result);
        }
    })?;
    kept?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_found_grows_with_the_test_cases_and_is_unknown_if_one_was_not_estimated() {
        let case = |(name, found): (&str, f64)| SuiteCase {
            seconds: Some(2.0),
            found: Some(found),
            ..SuiteCase::new(name, json!({}))
        };
        let mut suite = Suite::of_cases("any", "by hand", 1, [("a", 0.5), ("b", 0.75)].map(case));
        let found = |suite: &Suite, done| {
            expected(suite, done).map(|expected| [expected.found, expected.found_by_all, expected.seconds_left])
        };
        let all = [0, 1, 2, 3].map(|done| found(&suite, done));
        assert_eq!(all, [Some([0.0, 0.75, 4.0]), Some([0.5, 0.75, 2.0]), Some([0.75, 0.75, 0.0]), None]);
        suite.cases[1].seconds = None;
        assert_eq!([1, 2].map(|done| found(&suite, done)), [None, Some([0.75, 0.75, 0.0])]);
    }
}
