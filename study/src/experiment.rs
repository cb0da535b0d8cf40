//! An experiment: the universe of a study on real implementations, and whether mutants predicted what was found.

mod event;
mod mutants;
mod trying;

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use simutant_analysis::{
    Analysis, AnalysisOptions, Experiment, FittedTestTime, Reference, analyse_with_threads, case_name, experiment,
};
use simutant_campaign::{Bounds, Existing, Shard, Simulator, TraceRecording, read_outcomes_of, read_universe};
use simutant_harness::{Implementation, MissingFaults, RunOptions, TrialLog};
use simutant_mutator::Build;
use simutant_outcomes::{Judgement, LeftOut, Origin, Outcomes, RunCost, Subject, Suite, SuiteCase, Trials};

pub use self::event::{TrialEvent, TrialObserver, TrialsEnd};
use self::mutants::Mutated;
use self::trying::{PILOT, Pilot, Trying};
use crate::event::Observer;
use crate::test_times::{TestTimes, with_test_time};
use crate::{CampaignSettings, StudiedSystem, StudyError, StudyPlan, SystemRequest};

/// By default, a universe has at most so many test cases, since each is run on each implementation in real
/// time: within some hours on two cores, for the implementations of gbn and lsr that come with Simutant.
const CASES_MAX: usize = 2_500;

/// The same for a system whose test cases take long.
const SLOW_CASES_MAX: usize = 1_000;

/// So many test cases tell what an event costs.
const TIMED_CASES: usize = 500;

/// The file of the trials, in the folder of the study.
const TRIALS: &str = "trials.jsonl";

/// The folder that implementations are built in, in that of the study.
pub(crate) const IMPLEMENTATIONS: &str = "implementations";

/// The plan of an experiment.
///
/// ```no_run
/// use std::sync::atomic::AtomicBool;
/// use simutant_harness::{Implementation, Testbeds};
/// use simutant_study::{CampaignSettings, ExperimentPlan, SystemRequest, TrialEvent};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let implementation: Implementation = Testbeds::NONE.find("leases.toml", &[])?;
/// let plan = ExperimentPlan {
///     mutants: 20,
///     ..ExperimentPlan::new(SystemRequest::new("leases"), CampaignSettings::new("out"), vec![implementation])
/// };
/// let built = plan.check()?.build(&|_| {})?;
/// let outcomes = match built.outcomes() {
///     Some(outcomes) => outcomes,
///     None => built.study()?.run(&|_| {}, &AtomicBool::new(false))?.finished.outcomes,
/// };
/// let completed = built.run(outcomes, &mut |event| {
///     if let TrialEvent::Tried { implementation, done, failed } = event {
///         eprintln!("{implementation}: {done} trials, {failed} failed");
///     }
/// })?;
/// assert_eq!(completed.found.subjects[0].name, "leases");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ExperimentPlan {
    /// The system.
    pub system: SystemRequest,
    /// The folder, the seed, and the number of workers.
    pub campaign: CampaignSettings,
    /// How many test cases the universe has, if the folder has no finished study; `None` for as many as the system asks
    /// for, up to what takes some hours.
    pub cases: Option<NonZeroUsize>,
    /// The implementations, each of the system and with a name of its own.
    pub implementations: Vec<Implementation>,
    /// What becomes of implementations that cannot be built, or whose first test cases tell nothing.
    pub unfit: Unfit,
    /// How many test cases run at a time; `None` for as many on each core as an implementation's testbed says.
    pub jobs: Option<NonZeroUsize>,
    /// Wall-clock time that a test case may take; `None` for what an implementation's file or testbed says.
    pub timeout: Option<Duration>,
    /// How often each test case runs on each implementation.
    pub repetitions: NonZeroU32,
    /// What becomes of trials that are already in the folder.
    pub existing: Existing,
    /// How many mutants of each implementation are tried as well, of those that have any. They are drawn by the seed.
    pub mutants: usize,
    /// Files with trials of parts of the universe: see [`CheckedExperiment::run_part`].
    pub parts: Vec<PathBuf>,
}

/// The treatment of implementations that cannot be built or started, that fail on more than 30 of the first 100 test
/// cases, or, being releases whose test cases take a second or more, on none of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unfit {
    /// They are left out.
    LeaveOut,
    /// They take part; one that cannot be built or started is an error.
    #[default]
    TakePart,
}

/// An experiment of which is known that it can be begun.
#[derive(Debug)]
pub struct CheckedExperiment<'a> {
    plan: &'a ExperimentPlan,
    mutated: Vec<Mutated<'a>>,
    parts: Vec<TrialLog>,
}

/// A part of an experiment's trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TriedPart {
    /// How many test cases it has.
    pub cases: usize,
    /// The names of the implementations that were tried with all of them.
    pub implementations: Vec<String>,
    /// The others.
    pub left_out: Vec<LeftOut>,
}

/// An experiment whose system is built.
#[derive(Debug)]
pub struct BuiltExperiment<'a> {
    checked: CheckedExperiment<'a>,
    system: StudiedSystem,
    built: Build,
    judgements: BTreeMap<String, Judgement>,
    reference: Option<Reference>,
}

/// The results of an experiment.
#[derive(Debug)]
pub struct CompletedExperiment {
    /// Whether mutants predicted what was found.
    pub found: Experiment,
    /// What the study's outcomes say.
    pub analysis: Analysis,
    /// What an earlier experiment reports about the system; `None` if nothing is known.
    pub reference: Option<Reference>,
}

impl ExperimentPlan {
    /// Returns the plan of an experiment in which all these take part, with each test case once and without mutants of
    /// them.
    pub fn new(system: SystemRequest, campaign: CampaignSettings, implementations: Vec<Implementation>) -> Self {
        Self {
            system,
            campaign,
            cases: None,
            implementations,
            unfit: Unfit::default(),
            jobs: None,
            timeout: None,
            repetitions: NonZeroU32::MIN,
            existing: Existing::Continue,
            mutants: 0,
            parts: Vec::new(),
        }
    }

    /// Finds the programs that are mutated, and reads the trials of parts, so that what cannot be used is told before
    /// anything is built or run.
    ///
    /// # Errors
    /// [`StudyError::NoMutatedPrograms`] and [`StudyError::OfImplementation`] if no mutants can be made;
    /// [`StudyError::NoPart`] and [`StudyError::TrialLog`] of files with parts.
    pub fn check(&self) -> Result<CheckedExperiment<'_>, StudyError> {
        let mutated = mutants::find(&self.implementations, self.mutants)?;
        let read = |path: &PathBuf| match path.is_file() {
            true => Ok(TrialLog::read(path)?),
            false => Err(StudyError::NoPart(path.clone())),
        };
        let parts = self.parts.iter().map(read).collect::<Result<_, _>>()?;
        Ok(CheckedExperiment { plan: self, mutated, parts })
    }

    /// Returns how test cases are run on an implementation.
    fn run_options(&self, implementation: &Implementation) -> RunOptions {
        let system = &self.system.system;
        let for_each_core = NonZeroUsize::new(implementation.jobs_for_each_core(system)).unwrap_or(NonZeroUsize::MIN);
        RunOptions {
            jobs: self.jobs.unwrap_or_else(|| self.campaign.jobs.saturating_mul(for_each_core)),
            timeout: self.timeout.unwrap_or_else(|| implementation.timeout(system)),
            seed: self.campaign.seed,
            repetitions: self.repetitions,
            // What an implementation fails on is counted, not what it passes; how many trials lack faults is reported.
            missing_faults: MissingFaults::Pass,
            ..RunOptions::new(self.campaign.out.join(IMPLEMENTATIONS))
        }
    }

    /// Returns how many test cases are tried unless the user says.
    fn cases_max(&self) -> usize {
        let is_slow = |one: &Implementation| one.timeout(&self.system.system) > Duration::from_mins(1);
        if self.implementations.iter().any(is_slow) { SLOW_CASES_MAX } else { CASES_MAX }
    }
}

impl<'a> CheckedExperiment<'a> {
    /// Tries a part of the universe of the study in the folder, on any machine that has a copy of the folder, and keeps
    /// the trials in the file `into`; what it has is not tried again. Nothing is analysed: [`ExperimentPlan::parts`]
    /// takes the files of all parts.
    ///
    /// # Errors
    /// [`StudyError::NoUniverse`] if the folder has no study of the plan's seed; others if an implementation cannot be
    /// run, or the file not be written.
    pub fn run_part(
        &self,
        shard: Shard,
        into: &Path,
        observer: &mut TrialObserver<'_>,
    ) -> Result<TriedPart, StudyError> {
        let ExperimentPlan { system: SystemRequest { system, .. }, campaign, .. } = self.plan;
        let cases = campaign.studied_cases()?.ok_or_else(|| StudyError::NoUniverse {
            folder: campaign.out.clone(),
            system: system.clone(),
            seed: campaign.seed,
        })?;
        let mut universe = universe(system, campaign.seed, cases);
        shard.retain(&mut universe.cases);
        let pilot = (0..PILOT).filter(|&number| shard.contains(number)).count().min(universe.cases.len());
        let mut trying = Trying::new(self, &universe, TrialLog::open(into)?, observer);
        // The whole experiment decides by the first test cases who is left out. A part of these tells it only of who
        // fails on most; others are tried, perhaps in vain.
        trying.pilot = Pilot { cases: pilot, failed_max: pilot.div_ceil(2), is_whole: false };
        let (subjects, left_out) = trying.everyone()?;
        let implementations = subjects.into_iter().map(|subject| subject.name).collect();
        Ok(TriedPart { cases: universe.cases.len(), implementations, left_out })
    }

    /// Finds the system and builds it with its mutants.
    ///
    /// # Errors
    /// If it cannot be found or does not compile, or what its manifest names cannot be read.
    pub fn build(self, observer: &Observer<'_>) -> Result<BuiltExperiment<'a>, StudyError> {
        let system = self.plan.system.find()?;
        let (judgements, reference) = (system.judgements()?, system.reference()?);
        let built = system.instrument(observer)?;
        Ok(BuiltExperiment { checked: self, system, built, judgements, reference })
    }
}

impl BuiltExperiment<'_> {
    /// Returns the outcomes of the study in the folder: `None` unless it is finished, and of the source that was built
    /// and the universe of the plan's seed.
    pub fn outcomes(&self) -> Option<Outcomes> {
        let CampaignSettings { out, seed, .. } = &self.checked.plan.campaign;
        read_outcomes_of(&self.built, out).ok().flatten().filter(|outcomes| outcomes.seed == *seed)
    }

    /// Returns the plan of the study whose outcomes [`BuiltExperiment::run`] takes.
    ///
    /// # Errors
    /// If the system does not say how many test cases it has.
    pub fn study(&self) -> Result<StudyPlan, StudyError> {
        let plan = self.checked.plan;
        let cases = match plan.cases {
            Some(cases) => Some(cases),
            None => {
                let universe = Simulator::new(&self.built, Bounds::default()).universe()?;
                NonZeroUsize::new(universe.min(plan.cases_max()))
            }
        };
        let given = read_universe(&plan.campaign.out).map(|known| known.given).unwrap_or_default();
        Ok(StudyPlan { cases, given, ..StudyPlan::new(plan.system.clone(), plan.campaign.clone()) })
    }

    /// Tries the universe on all implementations and on mutants of them, as far as that was not done before, and
    /// analyses what was found. Trials are kept in `trials.jsonl`, and what test cases took in `test-times.json`.
    ///
    /// # Errors
    /// [`StudyError::OfImplementation`] if an implementation that must take part cannot be run; others if the mutated
    /// programs cannot be built, a file cannot be read or written, or the outcomes cannot be analysed.
    pub fn run(self, outcomes: Outcomes, observer: &mut TrialObserver<'_>) -> Result<CompletedExperiment, StudyError> {
        let Self { checked, system: studied, built, judgements, reference } = self;
        let ExperimentPlan { system: SystemRequest { system, .. }, campaign, implementations, .. } = checked.plan;
        let CampaignSettings { out, jobs, .. } = campaign;
        let universe = universe(system, outcomes.seed, outcomes.cases.iter().map(|case| case.case.clone()).collect());
        let log = TrialLog::open(&out.join(TRIALS))?;
        let (subjects, left_out) = Trying::new(&checked, &universe, log, observer).everyone()?;
        let simulation_ns_per_event = time_events(&built, &outcomes)?;
        let redraws = implementations.iter().any(|implementation| implementation.redraws(system));
        let (system, seed) = (outcomes.system.clone(), outcomes.seed);
        let trials = Trials { system, seed, redraws, subjects, left_out, simulation_ns_per_event };
        keep_test_times(&outcomes, &trials, out)?;
        observer(TrialEvent::Analysing);
        let options = AnalysisOptions { seed: campaign.seed, judgements, ..AnalysisOptions::default() };
        let options = with_test_time(options, out, &studied.package)?;
        let analysis = analyse_with_threads(&outcomes, &options, *jobs)?;
        let found = experiment(&outcomes, &analysis, &trials, &[], *jobs)?;
        Ok(CompletedExperiment { found, analysis, reference })
    }
}

/// Returns all test cases of a study as a suite.
fn universe(system: &str, seed: u64, cases: Vec<Value>) -> Suite {
    let count = cases.len();
    let case = |(index, case)| SuiteCase::new(case_name(system, index, count), case);
    Suite::of_cases(system, "all test cases of the universe", seed, cases.into_iter().enumerate().map(case))
}

/// Fits what a test case takes to what those took that did not fail, and keeps it for studies in the folder `out`.
fn keep_test_times(outcomes: &Outcomes, trials: &Trials, out: &Path) -> Result<(), StudyError> {
    let of_subject = |subject: &Subject| {
        let passed = |case: &usize| !subject.repetitions().any(|failed| failed.contains(*case));
        let trial = |case: usize| (outcomes.cases[case].cost(), subject.durations_ms[case] as f64 / 1000.0);
        let trials: Vec<(RunCost, f64)> = (0..outcomes.cases.len()).filter(passed).map(trial).collect();
        Some((subject.name.clone(), FittedTestTime::fit(&trials)?))
    };
    let programs = trials.subjects.iter().filter(|subject| subject.origin != Origin::Mutant);
    TestTimes::add(out, programs.filter_map(of_subject))
}

/// Measures what an event of the simulation costs, with all that comes with asking for a run.
fn time_events(built: &Build, outcomes: &Outcomes) -> Result<u64, StudyError> {
    let mut simulator = Simulator::new(built, Bounds::default());
    let cases = &outcomes.cases[..outcomes.cases.len().min(TIMED_CASES)];
    let Some(first) = cases.first() else { return Ok(0) };
    // The first request starts the worker.
    simulator.simulate(&first.case, None, TraceRecording::Skip, None)?;
    let started = Instant::now();
    let mut events = 0;
    for case in cases {
        events += simulator.simulate(&case.case, None, TraceRecording::Skip, None)?.execution.events;
    }
    let elapsed = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
    Ok(elapsed / events.max(1))
}

#[cfg(test)]
mod tests {
    use simutant_harness::Testbeds;

    use super::*;

    #[test]
    fn test_cases_that_take_long_are_fewer_and_more_at_a_time() {
        let of = |settings: &str| {
            let text =
                format!("name = 'one'\nsystem = 'any'\ndescription = ''\n[driver]\ncommand = ['true']\n{settings}");
            let one = Testbeds::NONE.parse(&text, Path::new("one.toml"), Path::new("/")).expect("a good file");
            ExperimentPlan::new(SystemRequest::new("any"), CampaignSettings::new("out"), vec![one])
        };
        let (fast, slow) = (of(""), of("timeout_s = 90\njobs_for_each_core = 20"));
        let jobs = |plan: &ExperimentPlan| plan.run_options(&plan.implementations[0]).jobs;
        assert_eq!(jobs(&slow).get(), 20 * jobs(&fast).get());
        assert_eq!([fast.cases_max(), slow.cases_max()], [2_500, 1_000]);
        assert_eq!(jobs(&ExperimentPlan { jobs: NonZeroUsize::new(3), ..slow }).get(), 3);
    }
}
