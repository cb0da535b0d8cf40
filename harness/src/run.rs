//! Runs a suite on an implementation, several test cases at a time.

use std::cmp::Reverse;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use simutant_outcomes::{FORMAT_VERSION, Inconclusive, Suite, SuiteCase, Verdict};
use simutant_sim_core::Random;

use crate::attempt::{Attempt, Attempted, Ran};
use crate::building::{build, build_directory};
use crate::error::HarnessError;
use crate::fixture::{Fixture, Place};
use crate::folder::{CaseFolder, write_log};
use crate::implementation::Implementation;
use crate::process::{Guardian, OutputTail, allow_many_files};
use crate::program::TestbedProgram;
use crate::report::{CaseResult, MissingFaults, TestReport};
use crate::side::Side;
use crate::testbed::{Conclusion, Setup, Testbed};

/// How often a test case is started anew because another process took a port of it.
const PORT_ATTEMPTS: usize = 5;

/// Options of running a suite.
///
/// ```
/// use std::num::{NonZeroU32, NonZeroUsize};
/// use std::time::Duration;
/// use simutant_harness::RunOptions;
///
/// let jobs = NonZeroUsize::new(4).expect("it is not 0");
/// let repetitions = NonZeroU32::new(3).expect("it is not 0");
/// // Four test cases at a time, three times each, until one has failed.
/// let options = RunOptions { jobs, repetitions, failures_max: 0, ..RunOptions::new("target/mine") };
/// assert_eq!((options.timeout, options.time), (Duration::from_secs(30), None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOptions {
    /// How many test cases run at a time.
    pub jobs: NonZeroUsize,
    /// Wall-clock time that a test case may take.
    pub timeout: Duration,
    /// Wall-clock time that the build command may take.
    pub build_timeout: Duration,
    /// Decides, together with the test case's own seed, the content of files and the fates of datagrams.
    pub seed: u64,
    /// Where the private folder of the run is made; it is removed afterwards.
    pub work_directory: PathBuf,
    /// Where implementations are built, those with the same folder and build command in a folder of their own; it is
    /// made if need be, and kept, so that the next build is quick. Without a build command it is where the programs are.
    pub build_directory: PathBuf,
    /// What the build command made, if it has been run: see [`build_first`](crate::build_first).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<u64>,
    /// Where the private folders of test cases are kept, each by the test case's name; they are removed if this is
    /// `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_directory: Option<PathBuf>,
    /// Where a file is written for each test case that does not pass, with the last 64 KiB that each process printed to each
    /// stream; a report has the last 4 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_directory: Option<PathBuf>,
    /// How often each test case runs.
    pub repetitions: NonZeroU32,
    /// What a pass is worth without faults that could not be injected.
    #[serde(default)]
    pub missing_faults: MissingFaults,
    /// After so much work of all jobs together no test case is begun; nor is one that is expected to take longer than what
    /// is left. The report has those that ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Duration>,
    /// How many test cases may fail: after one more, no other is started, and the report has those that ran.
    pub failures_max: usize,
}

impl RunOptions {
    /// Returns options for one job, 30 s for a test case, 10 minutes for the build, seed 0, the system's folder for
    /// temporary files, one repetition, and any time and number of failures. A test case whose faults could not be injected does
    /// not pass.
    pub fn new(build_directory: impl Into<PathBuf>) -> Self {
        Self {
            jobs: NonZeroUsize::MIN,
            timeout: Duration::from_secs(30),
            build_timeout: Duration::from_mins(10),
            seed: 0,
            work_directory: std::env::temp_dir(),
            build_directory: build_directory.into(),
            built: None,
            keep_directory: None,
            log_directory: None,
            repetitions: NonZeroU32::MIN,
            missing_faults: MissingFaults::default(),
            time: None,
            failures_max: usize::MAX,
        }
    }

    /// Returns the seed of a repetition, from 1: another one for each, and for the first [`RunOptions::seed`] itself.
    fn seed_of(&self, repetition: u32) -> u64 {
        match repetition {
            1 => self.seed,
            _ => Random::from_seed(self.seed).stream(&format!("repetition/{repetition}")).bits(),
        }
    }
}

/// Builds `implementation`, runs every test case of `suite` on it, as often as the options say, and returns the results
/// in the order of the suite.
///
/// What a test case leaves open, such as the fates of datagrams, is drawn anew for each repetition. `on_result` is
/// called on this thread, with each result as it comes, in any order. A test case that fails does not end the run,
/// unless it is one more than [`RunOptions::failures_max`]. This process may have as many files open afterwards as its
/// hard limit allows, since the jobs need them. When this returns, and also when this process is killed, no process and
/// no folder of the run is left, but for those that [`RunOptions::keep_directory`] asks for.
///
/// # Errors
/// [`HarnessError`] if the suite is not for this implementation, if it cannot be built or started, if the system lacks
/// folders, ports or processes, or if a proxy fails. Test cases that run at that moment are waited for, and then the
/// run ends.
pub fn run_suite(
    suite: &Suite,
    implementation: &Implementation,
    options: &RunOptions,
    on_result: &mut dyn FnMut(&CaseResult),
) -> Result<TestReport, HarnessError> {
    let repetitions = 1..=options.repetitions.get();
    let runs: Vec<(usize, u32)> =
        repetitions.flat_map(|repetition| (0..suite.cases.len()).map(move |case| (case, repetition))).collect();
    run_some(suite, implementation, options, &runs, on_result)
}

/// Runs some test cases of `suite` as [`run_suite`] does, in some of their repetitions: `runs` are places in the suite
/// and repetitions from 1. The report has these alone.
///
/// # Errors
/// As for [`run_suite`].
///
/// # Panics
/// If a place is none of the suite.
pub fn run_some(
    suite: &Suite,
    implementation: &Implementation,
    options: &RunOptions,
    runs: &[(usize, u32)],
    on_result: &mut dyn FnMut(&CaseResult),
) -> Result<TestReport, HarnessError> {
    let testbed = testbed_of(suite, implementation)?;
    let results = if let Some(program) = testbed.program() {
        TestbedProgram::new(program).run(suite, implementation, options, runs, on_result)?
    } else {
        let mut results = Vec::with_capacity(runs.len());
        run_here(suite, (testbed, implementation), options, runs, &mut |run, result| {
            on_result(&result);
            results.push((run, result));
        })?;
        results.sort_unstable_by_key(|(run, _)| *run);
        results.into_iter().map(|(_, result)| result).collect()
    };
    Ok(TestReport {
        format_version: FORMAT_VERSION,
        system: suite.system.clone(),
        implementation: implementation.name.clone(),
        seed: options.seed,
        results,
    })
}

/// Runs some test cases of `suite` in this process, and gives each result away with its place and repetition.
///
/// # Errors
/// As for [`run_suite`].
pub(crate) fn run_here(
    suite: &Suite,
    (testbed, implementation): (&dyn Testbed, &Implementation),
    options: &RunOptions,
    runs: &[(usize, u32)],
    on_result: &mut dyn FnMut((usize, u32), CaseResult),
) -> Result<(), HarnessError> {
    allow_many_files();
    let build_directory = build_directory(implementation, options)?;
    let run_folder = tempfile::Builder::new()
        .prefix("simutant-run-")
        .tempdir_in(&options.work_directory)
        .map_err(HarnessError::file("make a folder in", &options.work_directory))?;
    let run_path = run_folder.path().canonicalize().map_err(HarnessError::file("find", run_folder.path()))?;
    let guardian = Arc::new(Guardian::start(&run_path).map_err(HarnessError::Guardian)?);
    if options.built.is_none() {
        build(implementation, &build_directory, options.build_timeout, &guardian)?;
    }
    let run = Run {
        implementation,
        testbed,
        sides: implementation.sides(),
        options,
        build_directory,
        run_folder: run_path,
        guardian,
    };
    run.all(&suite.cases, runs, on_result)
}

/// Returns the testbed for both, after a check of every test case.
pub(crate) fn testbed_of<'a>(
    suite: &'a Suite,
    implementation: &'a Implementation,
) -> Result<&'a dyn Testbed, HarnessError> {
    let other_system = || HarnessError::OtherSystem {
        suite: suite.system.clone(),
        implementation: implementation.name.clone(),
        system: implementation.system.clone(),
    };
    let testbed = implementation.testbed_for(&suite.system).ok_or_else(other_system)?;
    for SuiteCase { name, case, .. } in &suite.cases {
        testbed.check(case).map_err(|source| HarnessError::InvalidCase { name: name.clone(), source })?;
    }
    Ok(testbed)
}

/// What all test cases of a run share.
struct Run<'a> {
    implementation: &'a Implementation,
    testbed: &'a dyn Testbed,
    sides: Vec<Side>,
    options: &'a RunOptions,
    build_directory: PathBuf,
    run_folder: PathBuf,
    guardian: Arc<Guardian>,
}

impl Run<'_> {
    /// Runs the test cases on `jobs` threads; each takes the next one that nobody has taken. They come in the order of the
    /// suite if that says what each beginning of it is expected to find; or else those first that take longest, so that in
    /// the end nobody waits for one of them alone.
    fn all(
        &self,
        cases: &[SuiteCase],
        runs: &[(usize, u32)],
        on_result: &mut dyn FnMut((usize, u32), CaseResult),
    ) -> Result<(), HarnessError> {
        let (next, failures, over) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        let mut order = runs.to_vec();
        let is_ordered = cases.iter().any(|case| case.found.is_some());
        order.sort_by_cached_key(|&(index, repetition)| {
            let longest_first = (!is_ordered).then(|| Reverse(self.testbed.duration(&cases[index].case)));
            (repetition, longest_first)
        });
        let (sender, receiver) = channel();
        let (started, jobs) = (Instant::now(), self.options.jobs.get().min(runs.len()));
        let is_in_time = |case: &SuiteCase| {
            let Some(limit) = self.options.time else { return true };
            let done = started.elapsed().as_secs_f64() * jobs as f64;
            done < limit.as_secs_f64() && done + case.seconds.unwrap_or(0.0) <= limit.as_secs_f64()
        };
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                let (sender, next, failures, over) = (sender.clone(), &next, &failures, &over);
                let (order, is_in_time) = (&order, &is_in_time);
                scope.spawn(move || {
                    let mut fixture = None;
                    while !over.load(Ordering::Relaxed) {
                        let Some(&run) = order.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                        if !is_in_time(&cases[run.0]) {
                            // Nobody takes another one; those before it were taken, and are run.
                            next.store(order.len(), Ordering::Relaxed);
                            return;
                        }
                        let result = self.one(&cases[run.0], run.1, &mut fixture);
                        over.fetch_or(result.is_err(), Ordering::Relaxed);
                        // Here, since this job would take the next one before anybody else looks at the result.
                        if result.as_ref().is_ok_and(|result| result.verdict.kills()) {
                            let before = failures.fetch_add(1, Ordering::Relaxed);
                            over.fetch_or(before >= self.options.failures_max, Ordering::Relaxed);
                        }
                        sender.send((run, result)).expect("the receiver lives until all senders are gone");
                    }
                });
            }
            drop(sender);
            let mut first_error = None;
            for (run, result) in receiver {
                match result {
                    Ok(result) => on_result(run, result),
                    Err(error) => first_error = first_error.or(Some(error)),
                }
            }
            first_error.map_or(Ok(()), Err)
        })
    }

    /// Returns where fixtures are started.
    fn place(&self) -> Place<'_> {
        Place {
            implementation: self.implementation,
            build_directory: &self.build_directory,
            run_folder: &self.run_folder,
            guardian: &self.guardian,
        }
    }

    /// Runs one test case, again if another process takes one of its ports, or may have done so.
    ///
    /// `fixture` is that of the job, if it has one. It is left only if it served a test case that passed.
    fn one(
        &self,
        case: &SuiteCase,
        repetition: u32,
        fixture: &mut Option<Fixture>,
    ) -> Result<CaseResult, HarnessError> {
        let mut attempts_left = PORT_ATTEMPTS;
        let mut ended_early = false;
        loop {
            let folder = match &self.options.keep_directory {
                Some(kept) => CaseFolder::kept(kept, &case.name, repetition)?,
                None => CaseFolder::temporary(&self.run_folder)?,
            };
            let seed = self.options.seed_of(repetition);
            if fixture.as_ref().is_none_or(|fixture| fixture.exit().is_some()) {
                *fixture = Fixture::start(&self.place())?;
            }
            let placeholders = fixture.as_ref().map(Fixture::placeholders);
            let setup = Setup {
                name: &case.name,
                case: &case.case,
                seed,
                folder: folder.path(),
                input: self.implementation.input,
                fixture: placeholders,
                fixture_side: self.implementation.fixture().map(|fixture| fixture.side()),
                waived: &self.implementation.waive,
            };
            let environment = self.testbed.set_up(&setup)?;
            let attempt = Attempt {
                implementation: self.implementation,
                sides: &self.sides,
                environment: environment.as_ref(),
                build_directory: &self.build_directory,
                folder: folder.path(),
                timeout: self.options.timeout,
                guardian: &self.guardian,
            };
            let start = Instant::now();
            let attempted = attempt.run()?;
            let duration_ms = start.elapsed().as_millis().try_into().unwrap_or(u64::MAX);
            // First of all: a network that broke down is no failure of the programs.
            let own_network = environment.network()?;
            attempts_left -= 1;
            match attempted {
                Attempted::EndedEarly(_) if !ended_early && attempts_left > 0 => ended_early = true,
                Attempted::Ran(ran) | Attempted::EndedEarly(ran) => {
                    let Ran { judgement, late_faults, mut processes, network } = ran;
                    let Conclusion { mut verdict, not_injected, mut notes, kept } = judgement;
                    let network = network.unwrap_or(own_network);
                    notes.extend(network.trouble());
                    if let Some(exit) = fixture.as_ref().and_then(Fixture::exit) {
                        let said = fixture.take().map(Fixture::last_words).unwrap_or_default();
                        let reason = format!("the fixture ended with {exit} during the test case{said}");
                        verdict = Verdict::Inconclusive(Inconclusive { reason });
                    }
                    fixture.take_if(|_| !verdict.passes());
                    let logs = self.options.log_directory.as_ref();
                    let log =
                        logs.map(|logs| write_log(logs, (&case.name, repetition), &processes)).transpose()?.flatten();
                    let streams = processes.iter_mut().flat_map(|ended| [&mut ended.stdout, &mut ended.stderr]);
                    streams.for_each(OutputTail::shorten);
                    let mutant = self.implementation.active_mutant;
                    return Ok(CaseResult {
                        name: case.name.clone(),
                        case: case.case.clone(),
                        repetition,
                        verdict: self.options.missing_faults.verdict(verdict, &not_injected),
                        not_injected,
                        late_faults,
                        notes,
                        kept,
                        processes,
                        network,
                        duration_ms,
                        mutant_reached: mutant.and_then(|mutant| mutant.was_reached(folder.path())),
                        folder: folder.into_kept(),
                        log,
                    });
                }
                Attempted::PortTaken { process, port } if attempts_left == 0 => {
                    return Err(HarnessError::PortTaken { side: process, port });
                }
                Attempted::PortTaken { .. } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::proxy::{Links, ProxyCounts, ProxyError, broken_links};
    use crate::test_support::parse_with;
    use crate::testbed::{Environment, InvalidCase, Left, Process, Role, Testbeds};

    /// A testbed whose network breaks down.
    struct Broken;

    struct BrokenNetwork(Links);

    impl Testbed for Broken {
        fn system(&self) -> &str {
            "broken"
        }

        fn roles(&self) -> &[Role] {
            &[Role { name: "program", placeholders: &[], listens: false }]
        }

        fn check(&self, _case: &Value) -> Result<(), InvalidCase> {
            Ok(())
        }

        fn set_up(&self, _setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
            Ok(Box::new(BrokenNetwork(broken_links())))
        }
    }

    impl Environment for BrokenNetwork {
        fn processes(&self, role: &str) -> Vec<Process> {
            vec![Process { name: role.into(), placeholders: Default::default(), port: None, start: Duration::ZERO }]
        }

        fn network(&self) -> Result<ProxyCounts, HarnessError> {
            self.0.check()?;
            Ok(ProxyCounts { forward: self.0.counts(), ..ProxyCounts::default() })
        }

        fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
            Ok(Verdict::Pass.into())
        }
    }

    #[test]
    fn a_network_that_broke_down_is_an_error_of_ours_and_no_verdict() {
        let side = "[[side]]\nname = 'program'\ncommand = ['true']\n";
        let implementation = parse_with(Testbeds::new(&[&Broken]), "broken", side);
        let suite = Suite::of_cases("broken", "by hand", 1, [SuiteCase::new("a", json!({}))]);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = run_suite(&suite, &implementation, &RunOptions::new(folder.path()), &mut |_| {});
        let error = error.expect_err("the proxy is broken");
        assert!(matches!(error, HarnessError::Proxy(ProxyError::Broken(_))), "{error:?}");
    }
}
