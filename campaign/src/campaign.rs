//! A campaign: draw the universe, run it on the original, run it on the mutants.

pub(crate) mod original;
pub(crate) mod settings;
pub(crate) mod universe;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_mutator::Fingerprint;
use simutant_outcomes::{BitSet, CostOracle, CostRole, InputSource, MutantNumber, Outcomes, RunEnd, Sites};
use simutant_protocol::{MutantExecution, RunLimits};

pub(crate) use self::original::Baseline;
use self::settings::{CASES, GIVEN, INPUT_SOURCE, SOURCE_HASH, is_of, set_source, settings};
use crate::cases::Cases;
use crate::checks::Checks;
use crate::crew::{Crew, Workshop};
use crate::edit::Edit;
use crate::executor::{Executor, Numbered};
use crate::journal::{Content, Journal, Recording, UniverseSize};
use crate::lock::Lock;
use crate::outcomes::{self, Settings};
use crate::reseeding::Tally;
use crate::{
    CampaignError, CampaignPlan, Existing, Phase, Progress, Pruning, SessionEnd, Statistics, cost, pool, sample,
};

/// What the names of the files begin and end with in which workers leave their runs.
const ANSWERS_PREFIX: &str = "worker-";
const ANSWERS_SUFFIX: &str = ".answers";

/// A campaign in a directory, which no other process can open at the same time.
#[derive(Debug)]
pub struct Campaign {
    directory: PathBuf,
    plan: CampaignPlan,
    journal: Journal,
    session: Session,
    /// Held as long as the journal is open.
    _lock: Lock,
}

/// What this process did.
#[derive(Debug, Default)]
struct Session {
    executed: u64,
    kept: u64,
    kept_checked: u64,
    recordings_kept: u64,
    recordings_checked: u64,
    elapsed: Duration,
    jobs: usize,
    pairs_unlisted: u64,
}

impl Campaign {
    /// Opens the campaign in `directory`, or begins it; nothing is run yet. If the source has changed since, what it
    /// can have changed is forgotten, and runs again. If the plan has more test cases, the universe grows: what is known
    /// of test cases that are the same in the larger one is kept.
    ///
    /// # Errors
    /// If another process has it open, if the directory holds another campaign, or one with more test cases, or if its
    /// journal cannot be used.
    pub fn open(directory: &Path, plan: CampaignPlan, existing: Existing) -> Result<Self, CampaignError> {
        std::fs::create_dir_all(directory).map_err(|source| CampaignError::file(directory, source))?;
        let lock = Lock::take(directory)?;
        if existing == Existing::Delete {
            Journal::delete(directory)?;
        }
        delete_answers(directory)?;
        let mut journal = Journal::open(directory)?;
        if journal.get::<Value>("system")?.is_none() {
            journal.transaction(|journal| set_source(journal, &plan))?;
        }
        let mut campaign =
            Self { directory: directory.to_owned(), plan, journal, session: Session::default(), _lock: lock };
        campaign.check_settings()?;
        campaign.adopt_source()?;
        Ok(campaign)
    }

    /// If the source has changed since the last session, or the universe grows, begins anew with the runs that are the
    /// same.
    fn adopt_source(&mut self) -> Result<(), CampaignError> {
        let Self { plan, journal, .. } = self;
        let sites: Option<Sites> = journal.get("sites")?;
        let sites = sites.ok_or_else(|| journal.damaged("the settings are not complete"))?;
        let (before, after) = (UniverseSize::read(journal)?, UniverseSize::of(plan));
        let given: Option<Vec<Value>> = journal.get(GIVEN)?;
        let is_same = before == after && given.unwrap_or_default() == plan.given;
        if is_same && is_of(journal, &sites, &plan.build)? {
            return Ok(());
        }
        let fingerprint: Option<Fingerprint> = journal.get("fingerprint")?;
        let edit = fingerprint.and_then(|fingerprint| Edit::between(&sites, &fingerprint, &plan.build));
        let content = Settings::read(journal)?.map(|settings| settings.content);
        journal.transaction(|journal| {
            journal.begin_anew(edit.as_ref(), content.as_ref(), &plan.build.sites)?;
            if before != after {
                journal.resize(before, after)?;
            }
            set_source(journal, plan)
        })
    }

    fn check_settings(&self) -> Result<(), CampaignError> {
        let differs = |field, found: String, expected: String| {
            Err(CampaignError::OtherCampaign { directory: self.directory.clone(), field, found, expected })
        };
        for (field, expected) in settings(&self.plan) {
            // Before there were others, every universe was drawn uniformly.
            let unsaid = || match field {
                INPUT_SOURCE => InputSource::Uniform.name().into(),
                GIVEN => Value::Array(Vec::new()),
                _ => Value::Null,
            };
            let found: Value = self.journal.get(field)?.unwrap_or_else(unsaid);
            // Test cases are added, and those of a person replaced.
            let is_free = match field {
                SOURCE_HASH | GIVEN => true,
                CASES => UniverseSize::read(&self.journal)?.drawn <= self.plan.cases,
                _ => false,
            };
            if found != expected && !is_free {
                return differs(field, found.to_string(), expected.to_string());
            }
        }
        Ok(())
    }

    /// Draws the universe, if that was not done before; what runs the campaign does so, too. For a source that learns,
    /// each test case is run on the original. A universe that is not drawn to its end when `stop` is set is drawn anew by the next session.
    ///
    /// # Errors
    /// If the worker cannot be used, or the journal not be written.
    pub fn draw(&mut self, progress: &mut dyn FnMut(Progress), stop: &AtomicBool) -> Result<SessionEnd, CampaignError> {
        let cases = self.draw_universe(progress, stop)?;
        Ok(if cases.is_some() { SessionEnd::Finished } else { SessionEnd::Stopped })
    }

    pub(crate) fn plan(&self) -> &CampaignPlan {
        &self.plan
    }

    /// Returns how many runs on mutants this session made, and how many recordings it made again.
    pub(crate) fn session_counts(&self) -> (u64, u64) {
        (self.session.executed, self.session.recordings_checked)
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(crate) fn journal_mut(&mut self) -> &mut Journal {
        &mut self.journal
    }

    /// Goes on to the end, or until `stop` is set: then test cases that were begun are finished, and no more are begun.
    ///
    /// `plain` is the worker of the same system with nothing put in ([`build_plain`](simutant_mutator::build_plain)):
    /// every test case must do the same there. `jobs` worker processes run at a time, one test case each; the outcomes
    /// do not depend on how many. `progress` is called after each test case.
    ///
    /// # Errors
    /// [`CampaignError::BaselineFailed`] if a test case fails on the original; no mutant is run before all have passed.
    /// After any error the journal holds what was done until shortly before, and another session can go on.
    pub fn run(
        &mut self,
        plain: &Path,
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<SessionEnd, CampaignError> {
        self.run_on((plain, None), jobs, progress, stop)
    }

    /// Goes on as [`Campaign::run`] does, but runs the mutants on the test cases of `scope` alone; on an empty one,
    /// nothing but the original is run. What is run is there for a session with a larger scope.
    ///
    /// # Errors
    /// As for [`Campaign::run`].
    pub fn run_in(
        &mut self,
        plain: &Path,
        scope: &BitSet,
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<SessionEnd, CampaignError> {
        self.run_on((plain, Some(scope)), jobs, progress, stop)
    }

    fn run_on(
        &mut self,
        (plain, scope): (&Path, Option<&BitSet>),
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<SessionEnd, CampaignError> {
        match self.run_baseline(plain, jobs, progress, stop)? {
            None => Ok(SessionEnd::Stopped),
            Some(baseline) => self.run_mutants(&baseline, scope, jobs, progress, stop),
        }
    }

    /// Returns what the finished campaign found out.
    ///
    /// # Errors
    /// [`CampaignError::Unfinished`] before that; others if the journal cannot be read.
    pub fn outcomes(&self) -> Result<Outcomes, CampaignError> {
        outcomes::read(&self.journal)
    }

    /// Returns what is known of the original on all test cases, and of the mutants on those of `scope`. Others kill
    /// nothing there, whatever is known of them.
    ///
    /// # Errors
    /// [`CampaignError::Unfinished`] if a test case was not run on the original, or one of the scope not on the
    /// mutants; others if the journal cannot be read.
    pub fn outcomes_in(&self, scope: &BitSet) -> Result<Outcomes, CampaignError> {
        outcomes::read_in(&self.journal, scope)
    }

    /// Lets outcomes say from now on, also when they are read by another process, what a cost oracle kills of the runs
    /// that there are; with `None`, nothing. Nothing is run for it.
    ///
    /// # Errors
    /// [`CampaignError::CostUnknown`] if an older release began the journal and did not note what the oracle asks for,
    /// [`CampaignError::CostStatedWrongly`] if the original costs more than its system states; others if the worker
    /// cannot be used, or the journal not be written. Then outcomes are as they were.
    pub fn judge_cost(&mut self, oracle: Option<(&CostOracle, CostRole)>) -> Result<(), CampaignError> {
        let Some((oracle, role)) = oracle else { return cost::forget(&self.journal) };
        let mut crew = Crew::new(workshop(&self.plan));
        cost::judge(&mut self.journal, &mut crew, oracle, role)
    }

    /// Returns the limits of runs on mutants; `None` before every test case has been run on the original.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn limits(&self) -> Result<Option<RunLimits>, CampaignError> {
        self.journal.get("limits")
    }

    /// Returns what the campaign cost so far.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn statistics(&self) -> Result<Statistics, CampaignError> {
        let mutants = self.plan.build.sites.mutants.len();
        let (mut recordings, mut units) = match Settings::read(&self.journal)? {
            Some(settings) => (self.journal.recordings(&settings.content)?, self.journal.units(&settings.content)?),
            None => (Vec::new(), Vec::new()),
        };
        let reseeded = units.split_off(self.plan.universe().min(units.len()));
        let cases_compared = recordings.iter().flatten().count() as u64;
        recordings.truncate(self.plan.universe());
        let recordings: Vec<Recording> = recordings.into_iter().flatten().collect();
        // There is a sample when all test cases are recorded.
        let sampled = if recordings.len() == units.len() { self.sampled(0, &recordings) } else { Vec::new() };
        let checked =
            sampled.iter().zip(&units).filter(|(_, unit)| unit.is_some()).map(|(pairs, _)| pairs.len() as u64);
        Ok(Statistics {
            pairs: self.plan.universe() as u64 * mutants as u64,
            pairs_pruned: recordings.iter().map(|recording| (mutants - self.selected(recording).count()) as u64).sum(),
            cases_compared,
            pairs_checked: checked.sum(),
            pairs_executed: units.iter().flatten().sum(),
            reseeded_executed: reseeded.iter().flatten().sum(),
            session_executed: self.session.executed,
            session_kept: self.session.kept,
            session_kept_checked: self.session.kept_checked,
            session_recordings_kept: self.session.recordings_kept,
            session_recordings_checked: self.session.recordings_checked,
            session_seconds: self.session.elapsed.as_secs_f64(),
            session_jobs: self.session.jobs,
            session_pairs_unlisted: self.session.pairs_unlisted,
        })
    }

    /// Runs the mutants on the test cases of `scope`, on all if there is none.
    pub(crate) fn run_mutants(
        &mut self,
        baseline: &Baseline,
        scope: Option<&BitSet>,
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<SessionEnd, CampaignError> {
        if scope.is_some_and(BitSet::is_clear) {
            return Ok(SessionEnd::Finished);
        }
        let begun = Instant::now();
        self.session.jobs = jobs.get();
        let end = self.run_rounds(baseline, scope, jobs, progress, stop);
        self.session.elapsed += begun.elapsed();
        end
    }

    fn run_rounds(
        &mut self,
        baseline: &Baseline,
        scope: Option<&BitSet>,
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<SessionEnd, CampaignError> {
        let Baseline { settings, cases, recordings } = baseline;
        let [limits, of_reseedings] = baseline.limits(&self.plan);
        let mut tally = Tally::new(self.plan.universe(), settings.content.mutants);
        let in_scope = |number: &usize| scope.is_none_or(|scope| scope.contains(*number));
        let numbers: Vec<usize> = (0..self.plan.universe()).filter(in_scope).collect();
        let reseedings = baseline.rounds(&self.plan);
        for round in 0..reseedings {
            let limits = if round == 0 { limits } else { of_reseedings };
            let round = Round { number: round, of: reseedings, cases, recordings, numbers: &numbers };
            if self.run_round(&round, &tally, (settings, limits), jobs, progress, stop)? == SessionEnd::Stopped {
                return Ok(SessionEnd::Stopped);
            }
            // Nobody asks about the last one.
            if round.number + 1 < reseedings {
                add_round(&self.journal, &settings.content, &round.numbers_in_journal(), recordings, &mut tally)?;
            }
        }
        Ok(SessionEnd::Finished)
    }

    /// Runs one round on the mutants that `tally` leaves open.
    fn run_round(
        &mut self,
        round: &Round<'_>,
        tally: &Tally,
        (settings, limits): (&Settings, RunLimits),
        jobs: NonZeroUsize,
        progress: &mut dyn FnMut(Progress),
        stop: &AtomicBool,
    ) -> Result<SessionEnd, CampaignError> {
        let &Round { cases, recordings, .. } = round;
        let universe = self.plan.universe();
        let first = round.number * universe;
        let units = self.journal.units(&settings.content)?;
        let mut todo = round.numbers_in_journal();
        todo.retain(|&number| units[number].is_none());
        let of_round = &recordings[first..first + universe];
        let sampled = self.sampled(round.number, of_round);
        let pruning = self.plan.pruning;
        let is_selected =
            |case: usize, mutant| is_selected(pruning, &of_round[case], mutant) && tally.is_open(case, mutant);
        let kept = self.journal.transaction(|journal| journal.settle_kept(first..first + universe, is_selected))?;
        let seed = sample::of_round(self.plan.seed, round.number);
        let again = sample::kept_pairs(seed, self.plan.build.sites.mutants.len(), &kept);
        let checks = Checks { pruned: sampled, kept: self.journal.kept_runs(first, &again)? };
        let Self { plan, journal, session, directory, .. } = self;
        let (checks, kept, mutants) = (&checks, &kept, plan.build.sites.mutants.len());
        let to_run = |number: usize| {
            let case = number - first;
            let is_new = move |mutant: &MutantNumber| !kept[case].contains(*mutant as usize);
            let selected = selected(plan.pruning, &of_round[case], mutants);
            checks.mutants(case).chain(selected.filter(move |&mutant| tally.is_open(case, mutant)).filter(is_new))
        };
        // Where all runs are kept, and none of them is a check, there is nothing to do.
        let idle: Vec<usize> = todo.extract_if(.., |number| to_run(*number).next().is_none()).collect();
        journal.transaction(|journal| idle.iter().try_for_each(|&number| journal.add_executions(number, &[])))?;
        session.kept += idle.iter().map(|&number| kept[number - first].count_ones(..) as u64).sum::<u64>();
        let executors = (0..jobs.get().min(todo.len()))
            .map(|job| {
                let answers = directory.join(format!("{ANSWERS_PREFIX}{job}{ANSWERS_SUFFIX}"));
                Executor::new(Crew::new(workshop(plan)), answers)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let total = round.numbers.len();
        let mut done = total - todo.len();
        let work = |executor: &mut Executor<'_>, number: usize| {
            let Recording { digest, ref reached, .. } = recordings[number];
            let input = cases.get(number);
            let case = Numbered { number, case: &input, digest, reached };
            let mut mutants: Vec<MutantNumber> = to_run(number).collect();
            mutants.sort_unstable();
            let run = |executor: &mut Executor<'_>| {
                let mut runs = executor.execute(case, limits, &mutants)?;
                checks.take(plan, number, first, &mut runs)?;
                Ok(runs)
            };
            run(executor).map_err(|error: CampaignError| error.of_reseeding(universe, &input))
        };
        let seen = |number: usize, runs: &Vec<MutantExecution>| {
            done += 1;
            session.executed += runs.len() as u64;
            session.kept += kept[number - first].count_ones(..) as u64;
            session.kept_checked += again[number - first].len() as u64;
            progress(Progress {
                phase: Phase::Mutants,
                done: round.number * total + done,
                total: round.of * total,
                executions: session.executed,
            });
        };
        let write = |finished: &[(usize, Vec<MutantExecution>)]| {
            journal.transaction(|journal| {
                finished.iter().try_for_each(|(number, runs)| journal.add_executions(*number, runs))
            })
        };
        pool::run(executors, &todo, stop, work, seen, write)
    }

    fn selected<'a>(&self, recording: &'a Recording) -> impl Iterator<Item = MutantNumber> + use<'a> {
        selected(self.plan.pruning, recording, self.plan.build.sites.mutants.len())
    }

    /// Returns the mutants that each test case of a round is run on beside those that are selected, as a check.
    fn sampled(&self, round: usize, recordings: &[Recording]) -> Vec<Vec<MutantNumber>> {
        let seed = sample::of_round(self.plan.seed, round);
        let selected = |case: usize| self.selected(&recordings[case]).collect();
        sample::pruned_pairs(seed, self.plan.build.sites.mutants.len(), recordings.len(), selected)
    }
}

/// Returns the mutants that a test case is run on as long as its pairs are open, in ascending order.
fn selected(pruning: Pruning, recording: &Recording, mutants: usize) -> impl Iterator<Item = MutantNumber> + use<'_> {
    (0..mutants as MutantNumber).filter(move |&mutant| is_selected(pruning, recording, mutant))
}

fn is_selected(pruning: Pruning, recording: &Recording, mutant: MutantNumber) -> bool {
    match pruning {
        Pruning::Infected => recording.infected.contains(mutant as usize),
        Pruning::Reached => recording.reached.contains(mutant as usize),
        Pruning::None => true,
    }
}

/// The universe, or a re-seeding of it.
struct Round<'a> {
    /// Its number; the universe is 0.
    number: usize,
    /// How many rounds there are.
    of: usize,
    /// The test cases of all rounds, one round after the other.
    cases: &'a Cases,
    /// What was recorded on each of them.
    recordings: &'a [Recording],
    /// The numbers in the universe of the test cases to run.
    numbers: &'a [usize],
}

impl Round<'_> {
    /// Returns the numbers that the test cases to run have in this round.
    fn numbers_in_journal(&self) -> Vec<usize> {
        let universe = self.cases.len() / self.of;
        self.numbers.iter().map(|number| self.number * universe + number).collect()
    }
}

/// Counts what the journal has of the test cases of a round, by the `numbers` that they have in it.
pub(crate) fn add_round(
    journal: &Journal,
    content: &Content,
    numbers: &[usize],
    recordings: &[Recording],
    tally: &mut Tally,
) -> Result<(), CampaignError> {
    let universe = tally.cases();
    for &number in numbers {
        tally.add_uninfected(number % universe, &recordings[number].infected);
    }
    let range = numbers.first().copied().unwrap_or(0)..numbers.last().map_or(0, |last| last + 1);
    let mut is_counted = BitSet::with_capacity(content.cases);
    is_counted.extend(numbers.iter().copied());
    journal.runs_in(range, content, |number, run| {
        // A run that was made although it is not infected has been counted.
        let mutant = run.mutant as usize;
        if is_counted.contains(number) && recordings[number].infected.contains(mutant) {
            match run.verdict() {
                RunEnd::Inconclusive => {}
                verdict => tally.add_run(number % universe, mutant, verdict.kills()),
            }
        }
    })
}

fn workshop(plan: &CampaignPlan) -> Workshop<'_> {
    Workshop { program: &plan.build.worker, system: &plan.build.sites.system, bounds: plan.bounds }
}

/// Returns whether a file's name is that of a worker's answers.
fn is_answers(name: &str) -> bool {
    let job = name.strip_prefix(ANSWERS_PREFIX).and_then(|name| name.strip_suffix(ANSWERS_SUFFIX));
    job.is_some_and(|job| job.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Deletes what the workers of a session that was killed left.
fn delete_answers(directory: &Path) -> Result<(), CampaignError> {
    let failed = |source| CampaignError::file(directory, source);
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name().to_str().is_some_and(is_answers) {
            std::fs::remove_file(entry.path()).map_err(failed)?;
        }
    }
    Ok(())
}
