//! Trials of implementations, and who is worth them.

use std::num::NonZeroU32;

use anyhow::Context;
use simutant_analysis::plural;
use simutant_harness::{
    ErrorClass, HarnessError, Implementation, RunOptions, Trial, TrialLog, TrialLogError, VoidTrials, build_first,
    run_some,
};
use simutant_outcomes::{BitSet, LeftOut, Origin, Subject, Suite, SuiteCase};

use super::mutants::Mutated;
use super::{options, repeated};
use crate::arguments::{Common, ExperimentArguments};
use crate::output;
use crate::progress::ProgressPhase;

/// A test case takes long that takes so much, in milliseconds.
const SLOW_MS: u64 = 1_000;

/// Who takes part by default is tried with the first test cases alone to see whether the others are worth their time.
pub(super) const PILOT: usize = 100;

/// More of these fail on one in 100 at most of the implementations that fail on 20 % of all, above which none counts.
const PILOT_FAILED_MAX: usize = 30;

/// What is tried, and what came of it so far.
pub(super) struct Trying<'a> {
    pub(super) universe: &'a Suite,
    pub(super) log: TrialLog,
    /// Trials of other machines.
    pub(super) given: Vec<TrialLog>,
    /// Whether to run again what was run before.
    pub(super) fresh: bool,
    pub(super) pilot: Pilot,
    pub(super) subjects: Vec<Subject>,
    pub(super) left_out: Vec<LeftOut>,
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
    pub(super) fn new(universe: &'a Suite, log: TrialLog, fresh: bool) -> Self {
        let pilot = Pilot { cases: universe.cases.len().min(PILOT), failed_max: PILOT_FAILED_MAX, is_whole: true };
        Self { universe, log, given: Vec::new(), fresh, pilot, subjects: Vec::new(), left_out: Vec::new() }
    }

    /// Tries all implementations, then the mutants of those that are to have any.
    pub(super) fn everyone(
        &mut self,
        implementations: &[Implementation],
        mutated: &[Mutated<'_>],
        arguments: &ExperimentArguments,
        common: &Common,
    ) -> anyhow::Result<()> {
        let options = |implementation: &Implementation| options(implementation, arguments, common);
        for implementation in implementations {
            self.all(implementation, &options(implementation), arguments.implementation.is_empty())?;
        }
        for mutated in mutated {
            mutated.try_all(arguments.mutants, &options(mutated.implementation()), self)?;
        }
        Ok(())
    }

    /// Runs what was not run yet, and adds the implementation to those that take part, or to those that are left out if
    /// it may be.
    pub(super) fn all(
        &mut self,
        implementation: &Implementation,
        options: &RunOptions,
        may_leave_out: bool,
    ) -> anyhow::Result<()> {
        let mut options = options.clone();
        match build_first(implementation, &mut options).map_err(anyhow::Error::from) {
            Err(error) if may_leave_out && is_of_implementation(&error) => {
                let why = first_line(&error);
                output::tell(&format!("{:>12} {}, left out ({why})", "trying", implementation.name));
                self.leave_out(implementation, why);
                return Ok(());
            }
            built => built.with_context(|| format!("cannot test {}", implementation.name))?,
        }
        let options = &options;
        self.agree(implementation, options)?;
        let (name, cases) = (&implementation.name, &self.universe.cases);
        let taken = self.take_given(name)?;
        if !self.given.is_empty() {
            let trials = plural(taken, "trial");
            output::tell(&format!("{:>12} {trials} of {name} from --trials", "taken"));
        }
        let phase = ProgressPhase::counted("trying", cases.len() as u64 * u64::from(options.repetitions.get()));
        let before = tried(name, cases, options.repetitions, &self.log);
        let pilot = if may_leave_out { self.pilot(implementation, options, &phase) } else { Ok(None) };
        let tried = pilot.and_then(|why| match why {
            Some(why) => Ok(Some(why)),
            None => {
                self.first(cases.len(), implementation, options, &phase).map(|()| self.doubt(implementation, options))
            }
        });
        let why = match tried {
            Err(error) if may_leave_out && is_of_implementation(&error) => Some(first_line(&error)),
            tried => tried.with_context(|| format!("cannot test {name}"))?,
        };
        if let Some(why) = why {
            phase.end(&format!("{name}, left out ({why})"));
            self.leave_out(implementation, why);
            return Ok(());
        }
        let (kept, each) = (kept(before), repeated(options.repetitions));
        let noted = self.noted(implementation, options);
        phase.end(&format!("{}{each} on {name}{kept}{noted}", plural(cases.len(), "test case")));
        self.subjects.push(subject(implementation, self.universe, options.repetitions, &self.log));
        Ok(())
    }

    /// Returns why an implementation cannot take part though it was tried: a trial that found out nothing is neither a
    /// pass nor a failure, so effectiveness is not known.
    fn doubt(&self, implementation: &Implementation, options: &RunOptions) -> Option<String> {
        let trials = self.trials(implementation, options);
        let reasons: Vec<&str> = trials.filter_map(|trial| trial.inconclusive.as_deref()).collect();
        let first = reasons.first()?;
        Some(format!(
            "{} of its trials are inconclusive, the first one since {first}; the next run repeats them",
            reasons.len()
        ))
    }

    /// Returns its trials so far.
    fn trials<'b>(
        &'b self,
        implementation: &'b Implementation,
        options: &RunOptions,
    ) -> impl Iterator<Item = &'b Trial> {
        (1..=options.repetitions.get()).flat_map(move |repetition| {
            let trial = move |case: &SuiteCase| self.log.get(&implementation.name, &case.name, &case.case, repetition);
            self.universe.cases.iter().filter_map(trial)
        })
    }

    /// Says of how many trials something was noted, such as a fault that was not injected, and what of the first one.
    fn noted(&self, implementation: &Implementation, options: &RunOptions) -> String {
        let noted: Vec<&Trial> = self.trials(implementation, options).filter(|trial| !trial.notes.is_empty()).collect();
        let first = noted.first().and_then(|trial| trial.notes.first());
        first
            .map(|first| format!("; {} of its trials have notes, the first one: {first}", noted.len()))
            .unwrap_or_default()
    }

    /// Tries an implementation with the first test cases; returns why it is not worth more time, if it is not.
    fn pilot(
        &mut self,
        implementation: &Implementation,
        options: &RunOptions,
        phase: &ProgressPhase,
    ) -> anyhow::Result<Option<String>> {
        let cases = &self.universe.cases;
        let Pilot { cases: count, failed_max, is_whole } = self.pilot;
        let pilot = &cases[..count];
        // One repetition of each tells enough.
        let mut options = RunOptions { repetitions: NonZeroU32::MIN, ..options.clone() };
        // What fails too often need not fail more often, which may take long. Where there are no more test cases, it
        // takes part.
        if pilot.len() < cases.len() {
            let failed = known(&implementation.name, pilot, &self.log).filter(|trial| trial.failed.is_some()).count();
            match failed_max.checked_sub(failed) {
                Some(failures_max) => options.failures_max = failures_max,
                None => return Ok(uninformative(implementation, pilot, (true, failed_max, is_whole), &self.log)),
            }
        }
        self.first(pilot.len(), implementation, &options, phase)?;
        Ok(uninformative(implementation, pilot, (pilot.len() < cases.len(), failed_max, is_whole), &self.log))
    }

    /// Runs those of the first `count` test cases that were not run yet as often as they are to, unless too many fail.
    pub(super) fn first(
        &mut self,
        count: usize,
        implementation: &Implementation,
        options: &RunOptions,
        phase: &ProgressPhase,
    ) -> anyhow::Result<()> {
        let (name, cases, log) = (&implementation.name, &self.universe.cases, &mut self.log);
        // What found out nothing is run again.
        let is_new = |&(index, repetition): &(usize, u32)| {
            let case: &SuiteCase = &cases[index];
            log.get(name, &case.name, &case.case, repetition).is_none_or(|trial| trial.inconclusive.is_some())
        };
        let all =
            (1..=options.repetitions.get()).flat_map(|repetition| (0..count).map(move |index| (index, repetition)));
        let rest: Vec<(usize, u32)> = all.filter(is_new).collect();
        if rest.is_empty() {
            return Ok(());
        }
        let mut done = tried(name, cases, options.repetitions, log) as u64;
        let mut failed = known(name, cases, log).filter(|trial| trial.failed.is_some()).count();
        let mut broken = None::<TrialLogError>;
        run_some(self.universe, implementation, options, &rest, &mut |result| {
            done += 1;
            failed += usize::from(result.verdict.kills());
            phase.at(done, format!("{name}: {failed} failed"));
            if broken.is_none() {
                broken = log.add(name, result).err();
            }
        })?;
        broken.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Makes sure that the trials of an implementation are on these terms, and says which were not.
    pub(super) fn agree(&mut self, implementation: &Implementation, options: &RunOptions) -> anyhow::Result<()> {
        if let Some(VoidTrials { trials, fact }) = self.log.agree(implementation, options, self.fresh)? {
            let (trials, name) = (plural(trials, "trial"), &implementation.name);
            output::tell(&format!("{:>12} {trials} of {name} from before: its {fact} is another one now", "dropped"));
        }
        Ok(())
    }

    /// Takes the trials of an implementation that other machines made, and returns how many.
    pub(super) fn take_given(&mut self, name: &str) -> anyhow::Result<usize> {
        let mut taken = 0;
        for other in &self.given {
            taken += self.log.take(other, name, &self.universe.cases)?;
        }
        Ok(taken)
    }

    pub(super) fn leave_out(&mut self, implementation: &Implementation, why: String) {
        let Implementation { name, origin, .. } = implementation;
        self.left_out.push(LeftOut { name: name.clone(), origin: *origin, why });
    }
}

/// Says how many results were there before.
fn kept(before: usize) -> String {
    if before == 0 { String::new() } else { format!(", {before} of them before") }
}

/// Returns how many trials of an implementation there are that found something out, of so many repetitions.
fn tried(implementation: &str, cases: &[SuiteCase], repetitions: NonZeroU32, log: &TrialLog) -> usize {
    let is_tried = move |case: &&SuiteCase, repetition| {
        let trial = log.get(implementation, &case.name, &case.case, repetition);
        trial.is_some_and(|trial| trial.inconclusive.is_none())
    };
    let tried = |repetition| cases.iter().filter(|case| is_tried(case, repetition)).count();
    (1..=repetitions.get()).map(tried).sum()
}

/// Returns the first trials of an implementation with test cases.
pub(super) fn known<'a>(
    implementation: &'a str,
    cases: &'a [SuiteCase],
    log: &'a TrialLog,
) -> impl Iterator<Item = &'a Trial> {
    cases.iter().filter_map(move |case| log.get(implementation, &case.name, &case.case, 1))
}

/// Returns whether the implementation is what is missing, and others may be there.
pub(super) fn is_of_implementation(error: &anyhow::Error) -> bool {
    error.downcast_ref::<HarnessError>().is_some_and(|error| error.class() == ErrorClass::Implementation)
}

/// Returns why an implementation is not worth more time, by what it did with the first test cases, if it is not.
/// `are_more`: whether there are others, which are not worth it if more than `failed_max` fail; of a part of the first
/// test cases nothing else is known.
fn uninformative(
    implementation: &Implementation,
    cases: &[SuiteCase],
    (are_more, failed_max, is_whole): (bool, usize, bool),
    log: &TrialLog,
) -> Option<String> {
    if cases.is_empty() {
        return None;
    }
    let trials = || known(&implementation.name, cases, log);
    let (count, failed) = (cases.len(), trials().filter(|trial| trial.fails()).count());
    if is_whole && failed == 0 && trials().all(|trial| trial.mutant_reached == Some(false)) {
        return Some(format!("none of the first {count} test cases reaches it"));
    }
    if !are_more {
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
pub(super) fn first_line(error: &anyhow::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;
    use simutant_harness::{CaseResult, ProxyCounts, Testbeds};
    use simutant_outcomes::{Finding, Inconclusive, Verdict};

    use super::*;

    /// Checks whether an implementation is left out of which `failed` of 100 test cases failed, in so much time each.
    #[track_caller]
    fn check(origin: &str, failed: usize, duration_ms: u64, expect: Option<&str>) {
        check_mutant(origin, failed, duration_ms, None, expect);
    }

    /// The same of a mutant that all test cases reach, or none.
    #[track_caller]
    fn check_mutant(origin: &str, failed: usize, duration_ms: u64, mutant_reached: Option<bool>, expect: Option<&str>) {
        let text = format!(
            "name = 'one'\nsystem = 'any'\ndescription = ''\norigin = '{origin}'\n[driver]\ncommand = ['true']"
        );
        let implementation = Testbeds::NONE.parse(&text, Path::new("one.toml"), Path::new("/")).expect("a good file");
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = TrialLog::open(&folder.path().join("trials.jsonl")).expect("room");
        let cases = (0..100).map(|index| SuiteCase::new(index.to_string(), json!({})));
        let cases: Vec<SuiteCase> = cases.collect();
        for (index, SuiteCase { name, case, .. }) in cases.iter().enumerate() {
            let failure = || Verdict::Fail(Finding::wrong_result("no-output", "there is no output file"));
            let result = CaseResult {
                name: name.clone(),
                case: case.clone(),
                repetition: 1,
                verdict: if index < failed { failure() } else { Verdict::Pass },
                not_injected: Vec::new(),
                late_faults: Vec::new(),
                notes: Vec::new(),
                processes: Vec::new(),
                network: ProxyCounts::default(),
                duration_ms,
                mutant_reached,
                folder: None,
                log: None,
            };
            log.add("one", &result).expect("room");
        }
        assert_eq!(uninformative(&implementation, &cases, (true, PILOT_FAILED_MAX, true), &log).as_deref(), expect);
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
        let text = "name = 'one'\nsystem = 'any'\ndescription = ''\n[driver]\ncommand = ['true']\n";
        let one = Testbeds::NONE.parse(text, Path::new("one.toml"), Path::new("/")).expect("a good file");
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = TrialLog::open(&folder.path().join("trials.jsonl")).expect("room");
        let verdicts = [Verdict::Pass, Verdict::Inconclusive(Inconclusive { reason: "there is no quorum".into() })];
        let cases = (0..2).map(|index| SuiteCase::new(index.to_string(), json!({}))).collect::<Vec<_>>();
        for (case, verdict) in cases.iter().zip(verdicts) {
            let result = CaseResult {
                name: case.name.clone(),
                case: case.case.clone(),
                repetition: 1,
                verdict,
                not_injected: vec![format!("crash of {}", case.name)],
                late_faults: Vec::new(),
                notes: Vec::new(),
                processes: Vec::new(),
                network: ProxyCounts::default(),
                duration_ms: 1,
                mutant_reached: None,
                folder: None,
                log: None,
            };
            log.add("one", &result).expect("room");
        }
        let suite = Suite::of_cases("any", "all", 1, cases);
        let trying = Trying::new(&suite, log, false);
        let doubt = trying.doubt(&one, &RunOptions::new("/nowhere")).expect("one trial found out nothing");
        assert!(
            doubt.starts_with("1 of its trials are inconclusive, the first one since there is no quorum"),
            "{doubt}"
        );
        let noted = trying.noted(&one, &RunOptions::new("/nowhere"));
        assert_eq!(noted, "; 2 of its trials have notes, the first one: not injected: crash of 0");
    }
}
