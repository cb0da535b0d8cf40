//! Trials of implementations, and the pilot that leaves out implementations which are not worth all of them.

use std::num::NonZeroU32;

use simutant_campaign::Existing;
use simutant_harness::{CaseResult, ErrorClass, Implementation, RunOptions, Trial, TrialLog, build_first};
use simutant_outcomes::{BitSet, LeftOut, Origin, Subject, Suite, SuiteCase};

use super::mutants::Mutated;
use super::{CheckedExperiment, ExperimentPlan, TrialEvent, TrialObserver, TrialsEnd, Unfit};
use crate::StudyError;
use crate::testing::run_kept;

/// An implementation that passes its pilot, at more than this many milliseconds a test case, is left out unless it is a
/// known mistake.
const SLOW_MS: u64 = 1_000;

/// Number of test cases in a pilot: the first of the universe, which alone decide whether an implementation that may be
/// left out runs the others.
pub(super) const PILOT: usize = 100;

/// An implementation that fails on more test cases of its pilot than this is left out.
///
/// Implementations that fail on more than 20 % of the universe are pathological and do not count. One that fails on
/// exactly 20 % fails on more than 30 of 100 test cases with a probability of 0.6 % (binomial), so hardly any that
/// counts is lost.
const PILOT_FAILED_MAX: usize = 30;

/// The state of an experiment's trials: the implementations to try, and the results so far.
pub(super) struct Trying<'a> {
    plan: &'a ExperimentPlan,
    mutated: &'a [Mutated<'a>],
    /// Trials of other machines.
    parts: &'a [TrialLog],
    pub(super) universe: &'a Suite,
    pub(super) log: TrialLog,
    pub(super) pilot: Pilot,
    pub(super) observer: &'a mut TrialObserver<'a>,
    subjects: Vec<Subject>,
    left_out: Vec<LeftOut>,
}

/// The trials with the first test cases, which decide whether the others are run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pilot {
    /// Number of test cases.
    pub(super) cases: usize,
    /// If more of them fail, the other test cases are not run.
    pub(super) failed_max: usize,
    /// Whether these are all of the first [`PILOT`] test cases, rather than a shard's part of them.
    pub(super) is_whole: bool,
}

impl<'a> Trying<'a> {
    pub(super) fn new(
        &CheckedExperiment { plan, ref mutated, ref parts }: &'a CheckedExperiment<'_>,
        universe: &'a Suite,
        log: TrialLog,
        observer: &'a mut TrialObserver<'a>,
    ) -> Self {
        let pilot = Pilot { cases: universe.cases.len().min(PILOT), failed_max: PILOT_FAILED_MAX, is_whole: true };
        Self { plan, mutated, parts, universe, log, pilot, observer, subjects: Vec::new(), left_out: Vec::new() }
    }

    /// Tries all implementations, then the mutants of those that have some. Returns the subjects, and the
    /// implementations that are left out.
    pub(super) fn everyone(mut self) -> Result<(Vec<Subject>, Vec<LeftOut>), StudyError> {
        let plan = self.plan;
        for implementation in &plan.implementations {
            self.try_implementation(implementation, &plan.run_options(implementation), plan.unfit)?;
        }
        for mutated in self.mutated {
            mutated.try_all(plan.mutants, &plan.run_options(mutated.implementation), &mut self)?;
        }
        Ok((self.subjects, self.left_out))
    }

    /// Runs the missing trials of an implementation, then adds it to the subjects or, if it is unfit and may be left
    /// out, to those that are.
    pub(super) fn try_implementation(
        &mut self,
        implementation: &Implementation,
        options: &RunOptions,
        unfit: Unfit,
    ) -> Result<(), StudyError> {
        let (name, cases) = (&implementation.name, &self.universe.cases);
        let why_left_out = |error: StudyError| match unfit {
            Unfit::LeaveOut if is_of_implementation(&error) => Ok(Some(first_line(&error))),
            _ => Err(error.of_implementation("cannot test", implementation)),
        };
        let mut options = options.clone();
        let built = build_first(implementation, &mut options).map(|()| None).map_err(StudyError::from);
        if let Some(why) = built.or_else(why_left_out)? {
            self.end_without(implementation, why);
            return Ok(());
        }
        let options = &options;
        let taken = self.begin(implementation, options)?;
        if !self.parts.is_empty() {
            (self.observer)(TrialEvent::Taken(name, taken));
        }
        (self.observer)(TrialEvent::Started(cases.len() * options.repetitions.get() as usize));
        let before = conclusive(&self.log, name, cases, options.repetitions);
        if let Some(why) = self.try_all(implementation, options, unfit).or_else(why_left_out)? {
            self.end_without(implementation, why);
            return Ok(());
        }
        let noted: Vec<&str> = trials(&self.log, name, cases, options.repetitions)
            .filter_map(|trial| trial.notes.first().map(String::as_str))
            .collect();
        let end =
            TrialsEnd::TakesPart { cases: cases.len(), before, noted: noted.len(), first_note: noted.first().copied() };
        (self.observer)(TrialEvent::Ended(name, end));
        self.subjects.push(subject(implementation, self.universe, options.repetitions, &self.log));
        Ok(())
    }

    /// Runs the test cases, after a pilot if the implementation may be left out. Returns the reason if it is left out.
    fn try_all(
        &mut self,
        implementation: &Implementation,
        options: &RunOptions,
        unfit: Unfit,
    ) -> Result<Option<String>, StudyError> {
        if unfit == Unfit::LeaveOut
            && let Some(why) = self.pilot(implementation, options)?
        {
            return Ok(Some(why));
        }
        self.first(self.universe.cases.len(), implementation, options)?;
        Ok(self.doubt(implementation, options))
    }

    /// Returns why an implementation cannot take part though all of its trials ran: an inconclusive trial is neither a
    /// pass nor a failure, so effectiveness is unknown.
    fn doubt(&self, implementation: &Implementation, options: &RunOptions) -> Option<String> {
        let trials = trials(&self.log, &implementation.name, &self.universe.cases, options.repetitions);
        let reasons: Vec<&str> = trials.filter_map(|trial| trial.inconclusive.as_deref()).collect();
        let first = reasons.first()?;
        Some(format!(
            "{} of its trials are inconclusive, the first one since {first}; the next run repeats them",
            reasons.len()
        ))
    }

    /// Runs the pilot of an implementation. Returns the reason if the implementation is not worth the other test cases.
    fn pilot(&mut self, implementation: &Implementation, options: &RunOptions) -> Result<Option<String>, StudyError> {
        let (cases, pilot) = (&self.universe.cases, self.pilot);
        // Stop as soon as the pilot has failed too often: further failures may take long and change nothing. If the
        // pilot is the whole universe, the limit of the run holds instead.
        let failures_max = match pilot.cases < cases.len() {
            true => pilot.failed_max.checked_sub(failed(&self.log, &implementation.name, &cases[..pilot.cases])),
            false => Some(options.failures_max),
        };
        if let Some(failures_max) = failures_max {
            // Repetitions estimate rates of failure, which the pilot does not need.
            let options = RunOptions { repetitions: NonZeroU32::MIN, failures_max, ..options.clone() };
            self.first(pilot.cases, implementation, &options)?;
        }
        Ok(uninformative(implementation, cases, pilot, &self.log))
    }

    /// Runs the trials of the first `count` test cases that the log lacks, until too many have failed.
    pub(super) fn first(
        &mut self,
        count: usize,
        implementation: &Implementation,
        options: &RunOptions,
    ) -> Result<(), StudyError> {
        let Self { universe, log, observer, .. } = self;
        let (name, cases, repetitions) = (&implementation.name, &universe.cases, options.repetitions);
        // An inconclusive trial is run again.
        let is_new = |&(index, repetition): &(usize, u32)| {
            let case: &SuiteCase = &cases[index];
            log.get(name, &case.name, &case.case, repetition).is_none_or(|trial| trial.inconclusive.is_some())
        };
        let all = (1..=repetitions.get()).flat_map(|repetition| (0..count).map(move |index| (index, repetition)));
        let rest: Vec<(usize, u32)> = all.filter(is_new).collect();
        if rest.is_empty() {
            return Ok(());
        }
        let mut done = conclusive(log, name, cases, repetitions);
        let mut failed = failed(log, name, cases);
        let mut tell = |result: &CaseResult| {
            done += 1;
            failed += usize::from(result.verdict.kills());
            observer(TrialEvent::Tried { implementation: name, done, failed });
        };
        run_kept(universe, (implementation, options), &rest, &mut tell, &mut |result| log.add(name, result))?;
        Ok(())
    }

    /// Checks the terms of an implementation's logged trials, and copies its trials of other machines into the log.
    /// Returns the number of copied trials.
    pub(super) fn begin(&mut self, implementation: &Implementation, options: &RunOptions) -> Result<usize, StudyError> {
        let name = &implementation.name;
        if let Some(dropped) = self.log.agree(implementation, options, self.plan.existing == Existing::Delete)? {
            (self.observer)(TrialEvent::Dropped(name, dropped));
        }
        let mut taken = 0;
        for part in self.parts {
            taken += self.log.take(part, name, &self.universe.cases)?;
        }
        Ok(taken)
    }

    fn end_without(&mut self, implementation: &Implementation, why: String) {
        (self.observer)(TrialEvent::Ended(&implementation.name, TrialsEnd::LeftOut { why: &why }));
        self.leave_out(implementation, why);
    }

    pub(super) fn leave_out(&mut self, implementation: &Implementation, why: String) {
        let Implementation { name, origin, .. } = implementation;
        self.left_out.push(LeftOut { name: name.clone(), origin: *origin, why });
    }
}

/// Returns the trials of an implementation with test cases, in this many repetitions.
fn trials<'a>(
    log: &'a TrialLog,
    implementation: &'a str,
    cases: &'a [SuiteCase],
    repetitions: NonZeroU32,
) -> impl Iterator<Item = &'a Trial> {
    let trial = move |case: &SuiteCase, repetition| log.get(implementation, &case.name, &case.case, repetition);
    (1..=repetitions.get()).flat_map(move |repetition| cases.iter().filter_map(move |case| trial(case, repetition)))
}

/// Returns the number of trials with a pass or a failure.
fn conclusive(log: &TrialLog, implementation: &str, cases: &[SuiteCase], repetitions: NonZeroU32) -> usize {
    trials(log, implementation, cases, repetitions).filter(|trial| trial.inconclusive.is_none()).count()
}

/// Returns the first trials of an implementation with test cases.
pub(super) fn first_trials<'a>(
    log: &'a TrialLog,
    implementation: &'a str,
    cases: &'a [SuiteCase],
) -> impl Iterator<Item = &'a Trial> {
    trials(log, implementation, cases, NonZeroU32::MIN)
}

/// Returns the number of first trials that failed, for whatever reason.
pub(super) fn failed(log: &TrialLog, implementation: &str, cases: &[SuiteCase]) -> usize {
    first_trials(log, implementation, cases).filter(|trial| trial.failed.is_some()).count()
}

/// Returns whether the error concerns one implementation, such as a missing program, so that others may still run.
pub(super) fn is_of_implementation(error: &StudyError) -> bool {
    matches!(error, StudyError::Harness(error) if error.class() == ErrorClass::Implementation)
}

/// Returns why the pilot of an implementation rules out the other test cases, if it does. A shard's part of the pilot
/// rules them out only by its failures: it does not show what the rest of the pilot reaches, fails or takes.
fn uninformative(
    implementation: &Implementation,
    cases: &[SuiteCase],
    Pilot { cases: count, failed_max, is_whole }: Pilot,
    log: &TrialLog,
) -> Option<String> {
    if count == 0 {
        return None;
    }
    let trials = || first_trials(log, &implementation.name, &cases[..count]);
    let failed = trials().filter(|trial| trial.fails()).count();
    if is_whole && failed == 0 && trials().all(|trial| trial.mutant_reached == Some(false)) {
        return Some(format!("none of the first {count} test cases reaches it"));
    }
    if count == cases.len() {
        return None;
    }
    if failed > failed_max {
        return Some(format!("more than {failed_max} of the first {count} test cases fail, too many for it to count"));
    }
    // A known mistake stays, however seldom it fails. A mutant may be equivalent, so a slow one that never fails does
    // not.
    let is_right = failed == 0 && implementation.origin != Origin::Mistake;
    let total_ms: u64 = trials().map(|trial| trial.duration_ms).sum();
    (is_whole && is_right && total_ms > SLOW_MS * count as u64)
        .then(|| format!("none of the first {count} test cases fails, and the others would take long"))
}

/// Returns what is known of an implementation that was tried with the whole universe.
fn subject(implementation: &Implementation, universe: &Suite, repetitions: NonZeroU32, log: &TrialLog) -> Subject {
    let repetitions = repetitions.get();
    let mut durations_ms = vec![0; universe.cases.len()];
    let mut failed_in = |repetition| {
        let mut failed = BitSet::with_capacity(universe.cases.len());
        for (index, case) in universe.cases.iter().enumerate() {
            let Some(trial) = log.get(&implementation.name, &case.name, &case.case, repetition) else { continue };
            failed.set(index, trial.fails());
            durations_ms[index] += trial.duration_ms;
        }
        failed
    };
    let failed = failed_in(1);
    let again = (2..=repetitions).map(failed_in).collect();
    durations_ms.iter_mut().for_each(|duration| *duration /= u64::from(repetitions));
    let Implementation { name, origin, description, .. } = implementation.clone();
    Subject { name, origin, description, failed, again, durations_ms }
}

/// Returns the first line of an error, as it stands in a sentence.
pub(super) fn first_line(error: &StudyError) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;
    use simutant_harness::{HarnessError, ProxyCounts, Testbeds};
    use simutant_outcomes::{Finding, Inconclusive, Verdict};

    use super::*;
    use crate::{CampaignSettings, SystemRequest};

    /// An implementation, and what each of some test cases came to.
    struct Tried {
        implementation: Implementation,
        universe: Suite,
        log: TrialLog,
        _folder: tempfile::TempDir,
    }

    /// Returns what is known after `results` with the first of so many test cases; `with` completes each.
    fn tried(origin: &str, cases: usize, results: Vec<Verdict>, with: &dyn Fn(&mut CaseResult)) -> Tried {
        let text = format!(
            "name = 'one'\nsystem = 'any'\ndescription = ''\norigin = '{origin}'\n[driver]\ncommand = ['true']"
        );
        let implementation = Testbeds::NONE.parse(&text, Path::new("one.toml"), Path::new("/")).expect("a good file");
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = TrialLog::open(&folder.path().join("trials.jsonl")).expect("room");
        let cases = (0..cases).map(|index| SuiteCase::new(index.to_string(), json!({})));
        let universe = Suite::of_cases("any", "all", 1, cases);
        for (case, verdict) in universe.cases.iter().zip(results) {
            let SuiteCase { name, case, .. } = case;
            let network = ProxyCounts::default();
            let result = json!({"name": name, "case": case, "verdict": verdict, "network": network, "duration_ms": 1});
            let mut result = serde_json::from_value(result).expect("all that a result needs");
            with(&mut result);
            log.add("one", &result).expect("room");
        }
        Tried { implementation, universe, log, _folder: folder }
    }

    /// Checks whether an implementation is left out of which `failed` of 100 test cases failed, in so much time each.
    #[track_caller]
    fn check(origin: &str, failed: usize, duration_ms: u64, expect: Option<&str>) {
        check_mutant(origin, failed, duration_ms, None, expect);
    }

    /// The same of a mutant that all test cases reach, or none.
    #[track_caller]
    fn check_mutant(origin: &str, failed: usize, duration_ms: u64, mutant_reached: Option<bool>, expect: Option<&str>) {
        let mut verdicts = vec![Verdict::Fail(Finding::wrong_result("no-output", "there is no output file")); failed];
        verdicts.resize(100, Verdict::Pass);
        let Tried { implementation, universe, log, .. } = tried(origin, 101, verdicts, &|result| {
            (result.duration_ms, result.mutant_reached) = (duration_ms, mutant_reached);
        });
        let pilot = Pilot { cases: 100, failed_max: PILOT_FAILED_MAX, is_whole: true };
        assert_eq!(uninformative(&implementation, &universe.cases, pilot, &log).as_deref(), expect);
    }

    #[test]
    fn what_fails_too_often_or_never_is_not_worth_more_time() {
        let too_many = "more than 30 of the first 100 test cases fail, too many for it to count";
        check("release", 30, 9_000, None);
        check("release", 31, 9_000, Some(too_many));
        check("mistake", 31, 10, Some(too_many));
        let right = "none of the first 100 test cases fails, and the others would take long";
        check("release", 0, 9_000, Some(right));
        check("release", 0, 10, None);
        check("mistake", 0, 9_000, None);
        check("release", 1, 9_000, None);
    }

    #[test]
    fn a_mutant_that_is_not_reached_is_not_worth_more_time_and_does_not_fail() {
        let unreached = Some("none of the first 100 test cases reaches it");
        check_mutant("mutant", 0, 10, Some(false), unreached);
        check_mutant("mutant", 40, 10, Some(false), unreached);
        check_mutant("mutant", 0, 10, Some(true), None);
        check_mutant("mutant", 3, 10, Some(true), None);
        let right = "none of the first 100 test cases fails, and the others would take long";
        check_mutant("mutant", 0, 9_000, Some(true), Some(right));
    }

    #[test]
    fn what_is_missing_of_one_implementation_is_no_reason_to_leave_all() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let one = HarnessError::SideNotStarted {
            implementation: "one".into(),
            side: "resolver".into(),
            program: "one".into(),
            why: missing,
        };
        assert!(is_of_implementation(&one.into()));
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        let all = HarnessError::ServiceNotStarted { system: "dns".into(), program: "nsd".into(), source: missing };
        assert!(!is_of_implementation(&all.into()));
    }

    #[test]
    fn an_implementation_with_an_inconclusive_trial_takes_no_part() {
        let verdicts = vec![Verdict::Pass, Verdict::Inconclusive(Inconclusive { reason: "there is no quorum".into() })];
        let Tried { implementation, universe, log, .. } = tried("release", 2, verdicts, &|_| {});
        let plan = ExperimentPlan::new(SystemRequest::new("any"), CampaignSettings::new("/nowhere"), Vec::new());
        let checked = plan.check().expect("nothing is asked for");
        let mut observer = |_: TrialEvent<'_>| {};
        let trying = Trying::new(&checked, &universe, log, &mut observer);
        let doubt = trying.doubt(&implementation, &RunOptions::new("/nowhere")).expect("one trial found out nothing");
        let expect = "1 of its trials are inconclusive, the first one since there is no quorum";
        assert!(doubt.starts_with(expect), "{doubt}");
    }
}
