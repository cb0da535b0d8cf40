//! What implementations did so far, kept in a file so that a run of hours goes on where it stopped.
//!
//! A line of JSON for each test case on each implementation, in the order in which they ended. A process that is killed
//! leaves at most half a line at the end, which the next one drops.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_outcomes::{SuiteCase, Verdict};

use crate::RunOptions;
use crate::history::{DriverHistory, HistoryJudge};
use crate::implementation::{ActiveMutant, DriverCommand, Implementation};
use crate::lines::{self, LineFile, TrialLogError};
use crate::programs;
use crate::report::{CaseResult, MissingFaults, first, is_first};
use crate::testbed::Testbeds;

/// The result of one test case on one implementation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Why it failed; `None` if it did not.
    pub failed: Option<String>,
    /// Why nothing was found out; `None` if something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inconclusive: Option<String>,
    /// See [`CaseResult::remarks`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// See [`CaseResult::duration_ms`].
    pub duration_ms: u64,
    /// See [`CaseResult::mutant_reached`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant_reached: Option<bool>,
}

impl Trial {
    /// Returns whether the implementation fails on the test case. A mutant that no program came to cannot be why
    /// something failed, so it does not fail then.
    ///
    /// ```
    /// use simutant_harness::Trial;
    ///
    /// let trial = |mutant_reached| Trial {
    ///     failed: Some("two holders of lease 3".to_owned()),
    ///     inconclusive: None,
    ///     notes: Vec::new(),
    ///     duration_ms: 150,
    ///     mutant_reached,
    /// };
    /// assert!(trial(None).fails() && trial(Some(true)).fails());
    /// // It failed, but not because of the mutant.
    /// assert!(!trial(Some(false)).fails());
    /// ```
    pub fn fails(&self) -> bool {
        self.failed.is_some() && self.mutant_reached != Some(false)
    }
}

/// A trial in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// The implementation's name.
    implementation: String,
    /// The test case's name.
    name: String,
    /// The test case, in its system's own form.
    case: Value,
    /// See [`CaseResult::repetition`].
    #[serde(default = "first", skip_serializing_if = "is_first")]
    repetition: u32,
    #[serde(flatten)]
    trial: Trial,
}

/// What must be the same for a trial to say what a new one would.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Terms {
    /// See [`crate::RunOptions::seed`].
    seed: u64,
    /// See [`crate::RunOptions::timeout`].
    timeout_ms: u64,
    /// How the implementation is built and started.
    implementation: Implementation,
    /// What its programs are made of.
    #[serde(default)]
    programs: u64,
    /// What its build command made; `None` where nothing was built, and in files of before this was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    built: Option<u64>,
    /// The program that has its testbed; `None` where that is no program of its own, and in files of before this was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    testbed: Option<u64>,
    /// The specification that judges histories, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    specification: Option<u64>,
    /// What its programs are told of mutants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    active_mutant: Option<ActiveMutant>,
    /// See [`crate::RunOptions::missing_faults`]. Test cases passed in files of before this was noted.
    #[serde(default = "pass", skip_serializing_if = "MissingFaults::passes")]
    missing_faults: MissingFaults,
}

fn pass() -> MissingFaults {
    MissingFaults::Pass
}

impl Terms {
    pub(crate) fn new(implementation: &Implementation, options: &RunOptions) -> Self {
        Self {
            seed: options.seed,
            timeout_ms: options.timeout.as_millis().try_into().unwrap_or(u64::MAX),
            // Where the file was found is not in it, and mutants that can be made of a program do not change it.
            implementation: Implementation {
                folder: PathBuf::new(),
                mutants: None,
                sources: Vec::new(),
                active_mutant: None,
                testbeds: Testbeds::NONE,
                driver: implementation.driver.clone().map(|driver| DriverCommand {
                    history: driver.history.map(|history| DriverHistory { judge: None, ..history }),
                    ..driver
                }),
                ..implementation.clone()
            },
            specification: implementation.history_judge().map(HistoryJudge::fingerprint),
            programs: programs::fingerprint(implementation),
            built: options.built,
            testbed: programs::testbed(implementation),
            active_mutant: implementation.active_mutant,
            missing_faults: options.missing_faults,
        }
    }

    /// Returns what is another one in `other`; `None` if all is the same but for what was compiled, which may have other
    /// bytes on another machine.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        let Self {
            seed,
            timeout_ms,
            implementation,
            programs,
            built: _,
            testbed: _,
            specification: _,
            active_mutant,
            missing_faults,
        } = self;
        [
            ("seed", *seed == other.seed),
            ("time limit", *timeout_ms == other.timeout_ms),
            ("description of the implementation", *implementation == other.implementation),
            ("program", *programs == other.programs),
            ("mutant", *active_mutant == other.active_mutant),
            ("judgement of faults that were not injected", *missing_faults == other.missing_faults),
        ]
        .into_iter()
        .find_map(|(fact, is_same)| (!is_same).then_some(fact))
    }
}

/// Trials that say nothing any more of what would happen now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VoidTrials {
    /// How many.
    pub trials: usize,
    /// What is another one now, such as the seed.
    pub fact: &'static str,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// Trials of the implementation that follow are on these terms; earlier ones on others are void.
    Terms(Box<Terms>),
    Trial(Box<Entry>),
}

/// The trials of an implementation, by the test case's name and the repetition, with the test case.
type Trials = BTreeMap<String, BTreeMap<u32, (Arc<Value>, Trial)>>;

/// The trials in a file.
#[derive(Debug)]
pub struct TrialLog {
    path: PathBuf,
    /// Of a log that is read alone there is none.
    lines: Option<LineFile>,
    /// By implementation.
    terms: HashMap<String, Terms>,
    /// By implementation, and by the test case's name and the repetition, with the test case.
    trials: HashMap<String, Trials>,
    /// By name, those that came last: many implementations are tried with the same ones, which need not be in memory
    /// for each.
    cases: HashMap<String, Arc<Value>>,
}

impl TrialLog {
    /// Opens the file at `path`, which is made if need be, and keeps all other processes from it.
    ///
    /// # Errors
    /// [`TrialLogError`], which names the file and the cure.
    pub fn open(path: &Path) -> Result<Self, TrialLogError> {
        let mut lines = LineFile::open(path)?;
        let mut log = Self::new(path);
        lines.read(&mut |line| log.take_line(line))?;
        log.lines = Some(lines);
        Ok(log)
    }

    /// Reads the file at `path`, to which others may add trials meanwhile.
    ///
    /// # Errors
    /// [`TrialLogError`], which names the file and the cure.
    pub fn read(path: &Path) -> Result<Self, TrialLogError> {
        let mut log = Self::new(path);
        lines::read(path, &mut |line| log.take_line(line))?;
        Ok(log)
    }

    fn new(path: &Path) -> Self {
        let (terms, trials, cases) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { path: path.to_owned(), lines: None, terms, trials, cases }
    }

    /// Returns where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn take_line(&mut self, line: Line) {
        match line {
            Line::Terms(terms) => {
                self.begin(*terms);
            }
            Line::Trial(entry) => self.keep(*entry),
        }
    }

    fn write_line(&mut self, line: &Line) -> Result<(), TrialLogError> {
        self.lines.as_mut().expect("what is only read is not written to").write(line)
    }

    /// Voids the trials of an implementation on other terms; returns how many there were.
    fn begin(&mut self, terms: Terms) -> usize {
        let name = terms.implementation.name.clone();
        let void = self.trials.remove(&name).unwrap_or_default();
        self.terms.insert(name, terms);
        void.values().map(BTreeMap::len).sum()
    }

    fn keep(&mut self, Entry { implementation, name, case, repetition, trial }: Entry) {
        let case = match self.cases.get(&name) {
            Some(known) if **known == case => Arc::clone(known),
            _ => {
                let case = Arc::new(case);
                self.cases.insert(name.clone(), Arc::clone(&case));
                case
            }
        };
        let trials = self.trials.entry(implementation).or_default();
        trials.entry(name).or_default().insert(repetition, (case, trial));
    }

    /// Makes sure that the trials of `implementation` are on these terms: those on others, and if `fresh` all, are
    /// void. Returns what was voided for a term that is another one now.
    ///
    /// # Errors
    /// [`TrialLogError::File`] if the file cannot be written.
    pub fn agree(
        &mut self,
        implementation: &Implementation,
        options: &RunOptions,
        fresh: bool,
    ) -> Result<Option<VoidTrials>, TrialLogError> {
        let terms = Terms::new(implementation, options);
        let known = self.terms.get(&implementation.name);
        if !fresh && known == Some(&terms) {
            return Ok(None);
        }
        let compiled = |known: &Terms| match known {
            _ if known.testbed != terms.testbed => "testbed",
            _ if known.specification != terms.specification => "specification",
            _ => "build",
        };
        let fact = known.filter(|known| **known != terms);
        let fact = fact.map(|known| known.difference(&terms).unwrap_or_else(|| compiled(known)));
        self.write_line(&Line::Terms(Box::new(terms.clone())))?;
        let trials = self.begin(terms);
        Ok(fact.filter(|_| trials > 0).map(|fact| VoidTrials { trials, fact }))
    }

    /// Returns what `implementation` did in a repetition of the test case `case` called `name`, if it was tried;
    /// repetitions are counted from 1.
    pub fn get(&self, implementation: &str, name: &str, case: &Value, repetition: u32) -> Option<&Trial> {
        let (of, trial) = self.trials.get(implementation)?.get(name)?.get(&repetition)?;
        (**of == *case).then_some(trial)
    }

    /// Takes the trials of `implementation` with test cases of `universe` from the log of another machine, those that found
    /// something out and that are not known here; returns how many. This log must agree with the implementation already.
    /// What was compiled, programs and testbed, is not compared: it may have other bytes on another machine.
    ///
    /// # Errors
    /// [`TrialLogError::OtherTerms`] if they are on other terms; [`TrialLogError::File`] if the file cannot be written.
    pub fn take(&mut self, other: &Self, implementation: &str, universe: &[SuiteCase]) -> Result<usize, TrialLogError> {
        let (Some(here), Some(there)) = (self.terms.get(implementation), other.terms.get(implementation)) else {
            return Ok(0);
        };
        if let Some(fact) = here.difference(there) {
            let (path, implementation) = (other.path.clone(), implementation.to_owned());
            return Err(TrialLogError::OtherTerms { path, implementation, fact });
        }
        let cases: HashMap<&str, &Value> = universe.iter().map(|case| (&*case.name, &case.case)).collect();
        let trials = other.trials.get(implementation).into_iter().flatten();
        let trials = trials.flat_map(|(name, trials)| trials.iter().map(move |(&number, trial)| (name, number, trial)));
        let is_new = |(name, repetition, (case, trial)): &(&String, u32, &(Arc<Value>, Trial))| {
            trial.inconclusive.is_none()
                && cases.get(&***name).is_some_and(|own| **own == **case)
                && self.get(implementation, name, case, *repetition).is_none_or(|known| known.inconclusive.is_some())
        };
        let new: Vec<_> = trials.filter(is_new).collect();
        let count = new.len();
        for (name, repetition, (case, trial)) in new {
            self.write(Entry {
                implementation: implementation.to_owned(),
                name: name.clone(),
                case: (**case).clone(),
                repetition,
                trial: trial.clone(),
            })?;
        }
        Ok(count)
    }

    /// Adds a trial, and writes it down at once.
    ///
    /// # Errors
    /// [`TrialLogError::File`] if the file cannot be written.
    pub fn add(&mut self, implementation: &str, result: &CaseResult) -> Result<(), TrialLogError> {
        let (failed, inconclusive) = match &result.verdict {
            Verdict::Pass => (None, None),
            Verdict::Fail(finding) => (Some(finding.summary.clone()), None),
            Verdict::Inconclusive(inconclusive) => (None, Some(inconclusive.reason.clone())),
        };
        self.write(Entry {
            implementation: implementation.to_owned(),
            name: result.name.clone(),
            case: result.case.clone(),
            repetition: result.repetition,
            trial: Trial {
                failed,
                inconclusive,
                notes: result.remarks().collect(),
                duration_ms: result.duration_ms,
                mutant_reached: result.mutant_reached,
            },
        })
    }

    fn write(&mut self, entry: Entry) -> Result<(), TrialLogError> {
        let line = Line::Trial(Box::new(entry));
        self.write_line(&line)?;
        if let Line::Trial(entry) = line {
            self.keep(*entry);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;
    use simutant_outcomes::Inconclusive;

    use super::*;
    use crate::MutatedPackage;
    use crate::test_support::{copying, result};

    fn implementation(sender: &str) -> Implementation {
        copying("true", sender)
    }

    fn options() -> RunOptions {
        RunOptions::new("/nowhere")
    }

    /// Opens the log of a folder, agrees, and gives it to `act`.
    fn with_log<T>(folder: &Path, act: impl FnOnce(&mut TrialLog) -> T) -> T {
        let mut log = TrialLog::open(&folder.join("trials.jsonl")).expect("it can be opened");
        log.agree(&implementation("true"), &options(), false).expect("it can be written");
        act(&mut log)
    }

    #[test]
    fn trials_are_there_again_and_half_a_line_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        with_log(folder.path(), |log| {
            log.add("one", &result("a", true)).expect("room");
            log.add("one", &result("b", false)).expect("room");
        });
        let path = folder.path().join("trials.jsonl");
        let whole = std::fs::read_to_string(&path).expect("it is there");
        std::fs::write(&path, format!("{whole}{{\"trial\":{{\"implem")).expect("room");
        with_log(folder.path(), |log| {
            assert_eq!(log.get("one", "a", &json!({ "n": 1 }), 1).map(|trial| trial.failed.clone()), Some(None));
            let failed = log.get("one", "b", &json!({ "n": 1 }), 1).and_then(|trial| trial.failed.clone());
            assert_eq!(failed.as_deref(), Some("there is no output file"));
            assert_eq!(log.get("one", "a", &json!({ "n": 2 }), 1), None, "another test case has the name");
            assert_eq!(log.get("two", "a", &json!({ "n": 1 }), 1), None);
            log.add("one", &result("c", true)).expect("room");
        });
        with_log(folder.path(), |log| assert!(log.get("one", "c", &json!({ "n": 1 }), 1).is_some()));
    }

    #[test]
    fn a_trial_that_found_out_nothing_does_not_fail() {
        let folder = tempfile::tempdir().expect("a folder");
        let verdict = Verdict::Inconclusive(Inconclusive { reason: "no quorum".into() });
        with_log(folder.path(), |log| log.add("one", &CaseResult { verdict, ..result("a", true) }).expect("room"));
        with_log(folder.path(), |log| {
            let trial = log.get("one", "a", &json!({ "n": 1 }), 1).expect("it was tried");
            assert_eq!((trial.fails(), trial.inconclusive.as_deref()), (false, Some("no quorum")));
        });
    }

    #[test]
    fn what_was_tried_on_other_terms_is_void() {
        let folder = tempfile::tempdir().expect("a folder");
        let case = json!({ "n": 1 });
        with_log(folder.path(), |log| log.add("one", &result("a", true)).expect("room"));
        with_log(folder.path(), |log| {
            let is_known = |log: &TrialLog| log.get("one", "a", &case, 1).is_some();
            let agree = |log: &mut TrialLog, options: RunOptions, fresh, expect: Option<&'static str>| {
                let void = log.agree(&implementation("false"), &options, fresh).expect("room");
                assert_eq!(void, expect.map(|fact| VoidTrials { trials: 1, fact }));
            };
            agree(log, options(), false, Some("description of the implementation"));
            assert!(!is_known(log));
            agree(log, RunOptions { seed: 2, ..options() }, false, None);
            log.add("one", &result("a", false)).expect("room");
            agree(log, options(), false, Some("seed"));
            assert!(!is_known(log));
            log.add("one", &result("a", false)).expect("room");
            agree(log, options(), false, None);
            assert!(is_known(log));
            agree(log, RunOptions { built: Some(1), ..options() }, false, Some("build"));
            assert!(!is_known(log));
            log.add("one", &result("a", false)).expect("room");
            agree(log, RunOptions { built: Some(1), ..options() }, true, None);
            assert!(!is_known(log));
        });
    }

    #[test]
    fn mutants_of_other_programs_are_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let case = json!({ "n": 1 });
        let mutant = |number, programs| {
            let active = ActiveMutant { number, programs };
            implementation("true").with_mutant("one".into(), String::new(), active)
        };
        let mut log = TrialLog::open(&folder.path().join("trials.jsonl")).expect("it can be opened");
        let mut is_known = |implementation: &Implementation| {
            log.agree(implementation, &options(), false).expect("room");
            let is_known = log.get("one", "a", &case, 1).is_some();
            let result = CaseResult { mutant_reached: Some(false), ..result("a", false) };
            log.add("one", &result).expect("room");
            is_known
        };
        assert!(!is_known(&mutant(Some(1), 5)));
        assert!(is_known(&mutant(Some(1), 5)));
        assert!(!is_known(&mutant(Some(1), 6)), "the programs are others");
        assert!(!is_known(&mutant(Some(2), 6)));
        assert!(!is_known(&mutant(None, 6)));
        drop(log);
        let mut log = TrialLog::open(&folder.path().join("trials.jsonl")).expect("it can be opened");
        log.agree(&mutant(None, 6), &options(), false).expect("room");
        let trial = log.get("one", "a", &case, 1).expect("it was tried");
        assert_eq!((trial.failed.is_some(), trial.mutant_reached, trial.fails()), (true, Some(false), false));
    }

    #[test]
    fn repetitions_are_trials_of_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let repeated = |repetition, passes| CaseResult { repetition, ..result("a", passes) };
        with_log(folder.path(), |log| {
            log.add("one", &repeated(1, true)).expect("room");
            log.add("one", &repeated(3, false)).expect("room");
        });
        let text = std::fs::read_to_string(folder.path().join("trials.jsonl")).expect("it is there");
        assert_eq!(text.matches("repetition").count(), 1, "the first is written as trials without repetitions are");
        with_log(folder.path(), |log| {
            let case = json!({ "n": 1 });
            let fails = [1, 2, 3].map(|repetition| log.get("one", "a", &case, repetition).map(Trial::fails));
            assert_eq!(fails, [Some(false), None, Some(true)]);
        });
    }

    #[test]
    fn the_mutants_of_an_implementation_do_not_change_it() {
        let folder = tempfile::tempdir().expect("a folder");
        with_log(folder.path(), |log| {
            log.add("one", &result("a", true)).expect("room");
            let package = MutatedPackage {
                manifest: "Cargo.toml".into(),
                specification: Vec::new(),
                features: Vec::new(),
                default_features: true,
                operators: None,
            };
            let with_mutants = Implementation { mutants: Some(package), ..implementation("true") };
            log.agree(&with_mutants, &options(), false).expect("room");
            assert!(log.get("one", "a", &json!({ "n": 1 }), 1).is_some());
        });
    }

    #[test]
    fn trials_of_another_machine_are_taken_once_if_they_are_on_the_same_terms() {
        let (here, there) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let case = json!({ "n": 1 });
        let unknown = Verdict::Inconclusive(Inconclusive { reason: "no quorum".into() });
        with_log(there.path(), |log| {
            for result in
                [result("a", false), result("b", true), CaseResult { verdict: unknown.clone(), ..result("c", true) }]
            {
                log.add("one", &result).expect("room");
            }
        });
        let other = TrialLog::open(&there.path().join("trials.jsonl")).expect("it is there");
        let universe = ["a", "b", "c"].map(|name| SuiteCase::new(name, case.clone()));
        let of_others = ["a", "b", "c"].map(|name| SuiteCase::new(name, json!({ "n": 2 })));
        with_log(here.path(), |log| {
            assert_eq!(log.take(&other, "one", &of_others).expect("room"), 0, "other test cases have these names");
            log.add("one", &result("a", true)).expect("room");
            log.add("one", &CaseResult { verdict: unknown.clone(), ..result("b", true) }).expect("room");
            assert_eq!(log.take(&other, "one", &universe).expect("room"), 1, "a is known, and c found nothing out");
            assert_eq!(log.take(&other, "one", &universe).expect("room"), 0);
            assert_eq!(log.take(&other, "two", &universe).expect("room"), 0);
        });
        with_log(here.path(), |log| {
            let failed = |name| {
                log.get("one", name, &case, 1).map(|trial| (trial.failed.is_some(), trial.inconclusive.is_some()))
            };
            assert_eq!(["a", "b", "c"].map(failed), [Some((false, false)), Some((false, false)), None]);
            for (implementation, options, fact) in [
                (implementation("false"), options(), "description of the implementation"),
                (implementation("true"), RunOptions { seed: 2, ..options() }, "seed"),
                (implementation("true"), RunOptions { timeout: Duration::from_secs(7), ..options() }, "time limit"),
            ] {
                log.agree(&implementation, &options, false).expect("room");
                let error = log.take(&other, "one", &universe).expect_err("other terms").to_string();
                assert!(error.contains(&format!("its trials of one are with another {fact} than")), "{error}");
            }
        });
    }

    #[test]
    fn a_file_in_use_and_a_damaged_one_are_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trials.jsonl");
        with_log(folder.path(), |_| {
            let error = TrialLog::open(&path).expect_err("it is locked").to_string();
            assert!(error.contains("another process adds trials to it"), "{error}");
        });
        std::fs::write(&path, "{}\n").expect("room");
        let error = TrialLog::open(&path).expect_err("it is damaged").to_string();
        assert!(error.contains("trials.jsonl, line 1: "), "{error}");
    }
}
