//! What implementations did so far, kept in a file so that a run of hours goes on where it stopped.
//!
//! A line of JSON for each test case on each implementation, in the order in which they ended. A process that is killed
//! leaves at most half a line at the end, which the next one drops.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Options;
use crate::implementation::{ActiveMutant, Implementation};
use crate::report::{CaseResult, TestOutcome};

/// What one test case on one implementation came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Why it failed; `None` if it passed.
    pub failed: Option<String>,
    /// See [`CaseResult::duration_ms`].
    pub duration_ms: u64,
    /// See [`CaseResult::mutant_reached`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant_reached: Option<bool>,
}

impl Trial {
    /// Returns whether the implementation fails on the test case. A mutant that no program came to cannot be why
    /// something failed, so it does not fail then.
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
    #[serde(flatten)]
    trial: Trial,
}

/// What must be the same for a trial to say what a new one would.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Terms {
    /// See [`crate::Options::seed`].
    seed: u64,
    /// See [`crate::Options::timeout`].
    timeout_ms: u64,
    /// How the implementation is built and started.
    implementation: Implementation,
    /// What its programs are told of mutants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    active_mutant: Option<ActiveMutant>,
}

impl Terms {
    fn new(implementation: &Implementation, options: &Options) -> Self {
        Self {
            seed: options.seed,
            timeout_ms: options.timeout.as_millis().try_into().unwrap_or(u64::MAX),
            // Where the file was found is not in it, and mutants that can be made of a program do not change it.
            implementation: Implementation {
                folder: PathBuf::new(),
                mutants: None,
                active_mutant: None,
                ..implementation.clone()
            },
            active_mutant: implementation.active_mutant,
        }
    }
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// Trials of the implementation that follow are on these terms; earlier ones on others are void.
    Terms(Terms),
    Trial(Entry),
}

/// The trials in a file.
#[derive(Debug)]
pub struct TrialLog {
    path: PathBuf,
    file: File,
    /// By implementation.
    terms: HashMap<String, Terms>,
    /// By implementation and test case's name, with the test case.
    trials: HashMap<(String, String), (Arc<Value>, Trial)>,
    /// By name, those that came last: many implementations are tried with the same ones, which need not be in memory
    /// for each.
    cases: HashMap<String, Arc<Value>>,
}

/// What is wrong with the file of trials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialLogError {
    /// It cannot be read or written.
    #[error("cannot {what} {path}: {source}; make room, or give another folder")]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another process works with it.
    #[error("{path}: another process adds trials to it; wait until it has ended, or give another folder")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A line is not one that was written.
    #[error("{path}, line {line}: {source}; delete the line to run that test case again, or the file to run all")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

impl TrialLog {
    /// Opens the file at `path`, which is made if need be, and keeps all other processes from it.
    ///
    /// # Errors
    /// [`TrialLogError`], which names the file and the cure.
    pub fn open(path: &Path) -> Result<Self, TrialLogError> {
        let failed = |what| move |source| TrialLogError::File { what, path: path.into(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed("make the folder of"))?;
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path).map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Err(TrialLogError::InUse { path: path.into() }),
            Err(std::fs::TryLockError::Error(source)) => return Err(failed("lock")(source)),
        }
        let mut log =
            Self { path: path.into(), file, terms: HashMap::new(), trials: HashMap::new(), cases: HashMap::new() };
        log.read()?;
        Ok(log)
    }

    /// Reads all whole lines, and cuts off half of one.
    fn read(&mut self) -> Result<(), TrialLogError> {
        let path = self.path.clone();
        let failed = |what| {
            let path = path.clone();
            move |source| TrialLogError::File { what, path, source }
        };
        self.file.seek(SeekFrom::Start(0)).map_err(failed("read"))?;
        let mut reader = BufReader::new(self.file.try_clone().map_err(failed("read"))?);
        let (mut text, mut whole_bytes) = (Vec::new(), 0);
        for line in 1.. {
            text.clear();
            let bytes = reader.read_until(b'\n', &mut text).map_err(failed("read"))?;
            if text.last() != Some(&b'\n') {
                break;
            }
            whole_bytes += bytes as u64;
            let parsed = serde_json::from_slice(&text);
            match parsed.map_err(|source| TrialLogError::Malformed { path: path.clone(), line, source })? {
                Line::Terms(terms) => self.begin(terms),
                Line::Trial(entry) => self.keep(entry),
            }
        }
        self.file.set_len(whole_bytes).map_err(failed("write"))
    }

    /// Voids the trials of an implementation on other terms.
    fn begin(&mut self, terms: Terms) {
        let name = terms.implementation.name.clone();
        self.trials.retain(|(implementation, _), _| *implementation != name);
        self.terms.insert(name, terms);
    }

    fn keep(&mut self, Entry { implementation, name, case, trial }: Entry) {
        let case = match self.cases.get(&name) {
            Some(known) if **known == case => Arc::clone(known),
            _ => {
                let case = Arc::new(case);
                self.cases.insert(name.clone(), Arc::clone(&case));
                case
            }
        };
        self.trials.insert((implementation, name), (case, trial));
    }

    /// Makes sure that the trials of `implementation` are on these terms: those on others, and if `fresh` all, are
    /// void.
    ///
    /// # Errors
    /// [`TrialLogError::File`] if the file cannot be written.
    pub fn agree(
        &mut self,
        implementation: &Implementation,
        options: &Options,
        fresh: bool,
    ) -> Result<(), TrialLogError> {
        let terms = Terms::new(implementation, options);
        if !fresh && self.terms.get(&implementation.name) == Some(&terms) {
            return Ok(());
        }
        self.write(&Line::Terms(terms.clone()))?;
        self.begin(terms);
        Ok(())
    }

    /// Returns what `implementation` did with the test case `case` called `name`, if it was tried.
    pub fn get(&self, implementation: &str, name: &str, case: &Value) -> Option<&Trial> {
        let (of, trial) = self.trials.get(&(implementation.to_owned(), name.to_owned()))?;
        (**of == *case).then_some(trial)
    }

    /// Adds a trial, and writes it down at once.
    ///
    /// # Errors
    /// [`TrialLogError::File`] if the file cannot be written.
    pub fn add(&mut self, implementation: &str, result: &CaseResult) -> Result<(), TrialLogError> {
        let failed = match &result.outcome {
            TestOutcome::Passed => None,
            TestOutcome::Failed { reason, .. } => Some(reason.to_string()),
        };
        let line = Line::Trial(Entry {
            implementation: implementation.to_owned(),
            name: result.name.clone(),
            case: result.case.clone(),
            trial: Trial { failed, duration_ms: result.duration_ms, mutant_reached: result.mutant_reached },
        });
        self.write(&line)?;
        if let Line::Trial(entry) = line {
            self.keep(entry);
        }
        Ok(())
    }

    fn write(&mut self, line: &Line) -> Result<(), TrialLogError> {
        let mut text = serde_json::to_string(line).expect("a line is plain data");
        text.push('\n');
        let failed = |source| TrialLogError::File { what: "write", path: self.path.clone(), source };
        let whole_bytes = self.file.metadata().map_err(failed)?.len();
        self.file.write_all(text.as_bytes()).map_err(|error| {
            // A part of a line would run into the next one. If it cannot be taken away, that is found when the log is
            // read.
            _ = self.file.set_len(whole_bytes);
            failed(error)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::proxy::ProxyCounts;
    use crate::report::FailureReason;
    use crate::{MutatedPackage, SideOutput};

    fn implementation(sender: &str) -> Implementation {
        let text = format!(
            "name = \"one\"\nsystem = \"gbn\"\ndescription = \"d\"\n[[side]]\nname = \"receiver\"\ncommand = [\"true\"]\n\
             [[side]]\nname = \"sender\"\ncommand = [\"{sender}\"]\n"
        );
        Implementation::parse(&text, Path::new("one.toml"), Path::new("/")).expect("a good file")
    }

    fn result(name: &str, passes: bool) -> CaseResult {
        let outcome = match passes {
            true => TestOutcome::Passed,
            false => TestOutcome::Failed { reason: FailureReason::NoOutput, outputs: Vec::<SideOutput>::new() },
        };
        CaseResult {
            name: name.into(),
            case: json!({ "n": 1 }),
            outcome,
            network: ProxyCounts::default(),
            duration_ms: 5,
            mutant_reached: None,
        }
    }

    fn options() -> Options {
        Options::new("/nowhere")
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
            assert_eq!(log.get("one", "a", &json!({ "n": 1 })).map(|trial| trial.failed.clone()), Some(None));
            let failed = log.get("one", "b", &json!({ "n": 1 })).and_then(|trial| trial.failed.clone());
            assert_eq!(failed.as_deref(), Some("there is no output file"));
            assert_eq!(log.get("one", "a", &json!({ "n": 2 })), None, "another test case has the name");
            assert_eq!(log.get("two", "a", &json!({ "n": 1 })), None);
            log.add("one", &result("c", true)).expect("room");
        });
        with_log(folder.path(), |log| assert!(log.get("one", "c", &json!({ "n": 1 })).is_some()));
    }

    #[test]
    fn what_was_tried_on_other_terms_is_void() {
        let folder = tempfile::tempdir().expect("a folder");
        let case = json!({ "n": 1 });
        with_log(folder.path(), |log| log.add("one", &result("a", true)).expect("room"));
        with_log(folder.path(), |log| {
            log.agree(&implementation("false"), &options(), false).expect("room");
            assert_eq!(log.get("one", "a", &case), None);
            log.add("one", &result("a", false)).expect("room");
            log.agree(&implementation("false"), &Options { seed: 2, ..options() }, false).expect("room");
            assert_eq!(log.get("one", "a", &case), None);
            log.add("one", &result("a", false)).expect("room");
            log.agree(&implementation("false"), &Options { seed: 2, ..options() }, false).expect("room");
            assert!(log.get("one", "a", &case).is_some());
            log.agree(&implementation("false"), &Options { seed: 2, ..options() }, true).expect("room");
            assert_eq!(log.get("one", "a", &case), None);
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
            let is_known = log.get("one", "a", &case).is_some();
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
        let trial = log.get("one", "a", &case).expect("it was tried");
        assert_eq!((trial.failed.is_some(), trial.mutant_reached, trial.fails()), (true, Some(false), false));
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
            assert!(log.get("one", "a", &json!({ "n": 1 })).is_some());
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
