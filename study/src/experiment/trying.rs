//! Trials of implementations, and who is worth them.

use std::num::NonZeroU32;

use simutant_campaign::Existing;
use simutant_harness::{CaseResult, ErrorClass, Implementation, RunOptions, Trial, TrialLog, build_first};
use simutant_outcomes::{BitSet, LeftOut, Origin, Subject, Suite, SuiteCase};

use super::mutants::Mutated;
use super::{CheckedExperiment, ExperimentPlan, TrialEvent, TrialObserver, TrialsEnd, Unfit};
use crate::StudyError;
use crate::testing::run_kept;

/// A test case takes long that takes so much, in milliseconds.
const SLOW_MS: u64 = 1_000;

/// Who takes part by default is tried with the first test cases alone to see whether the others are worth their time.
pub(super) const PILOT: usize = 100;

/// More of these fail on one in 100 at most of the implementations that fail on 20 % of all, above which none counts.
const PILOT_FAILED_MAX: usize = 30;

/// What is tried, and what came of it so far.
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

/// The trials with the first test cases, which tell whether the others are worth their time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pilot {
    /// How many test cases.
    pub(super) cases: usize,
    /// If more of them fail, the others are not tried.
    pub(super) failed_max: usize,
    /// Whether they are all of the first test cases, and not a part of them.
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

    /// Tries all implementations, then the mutants of those that are to have any. Returns who takes part, and who is left out.
    pub(super) fn everyone(mut self) -> Result<(Vec<Subject>, Vec<LeftOut>), StudyError> {
        let plan = self.plan;
        for implementation in &plan.implementations {
            self.all(implementation, &plan.run_options(implementation), plan.unfit)?;
        }
        for mutated in self.mutated {
            mutated.try_all(plan.mutants, &plan.run_options(mutated.implementation), &mut self)?;
        }
        Ok((self.subjects, self.left_out))
    }

    /// Runs what was not run yet, and adds the implementation to those that take part, or to those that are left out if
    /// it may be.
    pub(super) fn all(
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

    /// Runs the test cases, the first ones alone before the others if the implementation may be left out; returns why it
    /// is, if it is.
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

    /// Returns why an implementation cannot take part though it was tried: a trial that found out nothing is neither a
    /// pass nor a failure, so effectiveness is not known.
    fn doubt(&self, implementation: &Implementation, options: &RunOptions) -> Option<String> {
        let trials = trials(&self.log, &implementation.name, &self.universe.cases, options.repetitions);
        let reasons: Vec<&str> = trials.filter_map(|trial| trial.inconclusive.as_deref()).collect();
        let first = reasons.first()?;
        Some(format!(
            "{} of its trials are inconclusive, the first one since {first}; the next run repeats them",
            reasons.len()
        ))
    }

    /// Tries an implementation with the first test cases; returns why it is not worth more time, if it is not.
    fn pilot(&mut self, implementation: &Implementation, options: &RunOptions) -> Result<Option<String>, StudyError> {
        let (cases, pilot) = (&self.universe.cases, self.pilot);
        // What fails too often need not fail more often, which may take long. Where there are no more test cases, it
        // takes part.
        let failures_max = match pilot.cases < cases.len() {
            true => pilot.failed_max.checked_sub(failed(&self.log, &implementation.name, &cases[..pilot.cases])),
            false => Some(options.failures_max),
        };
        if let Some(failures_max) = failures_max {
            // One repetition of each tells enough.
            let options = RunOptions { repetitions: NonZeroU32::MIN, failures_max, ..options.clone() };
            self.first(pilot.cases, implementation, &options)?;
        }
        Ok(uninformative(implementation, cases, pilot, &self.log))
    }

    /// Runs those of the first `count` test cases that were not run yet as often as they are to, unless too many fail.
    pub(super) fn first(
        &mut self,
        count: usize,
        implementation: &Implementation,
        options: &RunOptions,
    ) -> Result<(), StudyError> {
        let Self { universe, log, observer, .. } = self;
        let (name, cases, repetitions) = (&implementation.name, &universe.cases, options.repetitions);
        // What found out nothing is run again.
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

    /// Makes sure that the trials of an implementation are on these terms, and takes those of it that other machines made;
    /// returns how many these are.
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

/// Returns how many trials there are that found something out.
fn conclusive(log: &TrialLog, implementation: &str, cases: &[SuiteCase], repetitions: NonZeroU32) -> usize {
    trials(log, implementation, cases, repetitions).filter(|trial| trial.inconclusive.is_none()).count()
}

/// Returns the first trials of an implementation with test cases.
pub(super) fn known<'a>(
    log: &'a TrialLog,
    implementation: &'a str,
    cases: &'a [SuiteCase],
) -> impl Iterator<Item = &'a Trial> {
    trials(log, implementation, cases, NonZeroU32::MIN)
}

/// Returns how many of the first trials failed, for whatever reason.
pub(super) fn failed(log: &TrialLog, implementation: &str, cases: &[SuiteCase]) -> usize {
    known(log, implementation, cases).filter(|trial| trial.failed.is_some()).count()
}

/// Returns whether the implementation is what is missing, and others may be there.
pub(super) fn is_of_implementation(error: &StudyError) -> bool {
    matches!(error, StudyError::Harness(error) if error.class() == ErrorClass::Implementation)
}

/// Returns why an implementation is not worth more time, by what it did with the first test cases, if it is not. If there
/// are others, they are not worth it where too many of these fail; of a part of the first test cases nothing else is known.
fn uninformative(
    implementation: &Implementation,
    cases: &[SuiteCase],
    Pilot { cases: count, failed_max, is_whole }: Pilot,
    log: &TrialLog,
) -> Option<String> {
    if count == 0 {
        return None;
    }
    let trials = || known(log, &implementation.name, &cases[..count]);
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
    // What is known to be faulty may fail as seldom as it likes; of mutants that is not known.
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
