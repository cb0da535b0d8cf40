//! The results of a suite on an implementation so far, kept in a file so that a run that was killed goes on where it
//! stopped.
//!
//! A line of JSON for each result, in the order in which they came. The last line says that the run ended: the next one
//! begins anew then, since programs may have changed, unless it has more repetitions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_outcomes::{Suite, SuiteCase};

use crate::RunOptions;
use crate::implementation::Implementation;
use crate::lines::{LineFile, TrialLogError};
use crate::report::CaseResult;
use crate::trials::Terms;

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    /// What results that follow rest on.
    Terms(Box<Terms>),
    Result(Box<CaseResult>),
    /// The run ended.
    Ended,
}

/// The results in a file.
#[derive(Debug)]
pub struct ResultLog {
    path: PathBuf,
    terms: Terms,
    /// The file; `None` as long as it is not there and there is nothing to write.
    lines: Option<LineFile>,
    /// Those that were in the file when it was opened, by the test case's name and the repetition.
    results: HashMap<(String, u32), CaseResult>,
    /// Whether the run whose results these are ended.
    has_ended: bool,
}

impl ResultLog {
    /// Opens the file at `path`, if it is there, and keeps all other processes from it. It is made with the first
    /// result.
    ///
    /// It begins anew if `fresh`, or if the run whose results it has was of another implementation, of other programs as
    /// far as its commands name their files, of another testbed, of another specification of histories, with another time
    /// limit or seed, or with another treatment of faults that could not be injected.
    ///
    /// # Errors
    /// [`TrialLogError`], which names the file and the cure.
    pub fn open(
        path: &Path,
        implementation: &Implementation,
        options: &RunOptions,
        fresh: bool,
    ) -> Result<Self, TrialLogError> {
        let own = Terms::new(implementation, options);
        let mut log = Self { path: path.into(), terms: own, lines: None, results: HashMap::new(), has_ended: false };
        if !path.exists() {
            return Ok(log);
        }
        let mut lines = LineFile::open(path)?;
        let mut terms = None;
        if !fresh {
            lines.read(&mut |line| match line {
                Line::Terms(found) => terms = Some(*found),
                Line::Result(result) => {
                    log.has_ended = false;
                    log.results.insert((result.name.clone(), result.repetition), *result);
                }
                Line::Ended => log.has_ended = true,
            })?;
        }
        if terms.as_ref() != Some(&log.terms) {
            log.begin(&mut lines)?;
        }
        log.lines = Some(lines);
        Ok(log)
    }

    /// Returns those of `runs`, test cases of the suite by their places with a repetition each, that there is no result of.
    ///
    /// A run that ended is not repeated in part: if `runs` are more than further repetitions of it, all results go, and
    /// all of them are to be run.
    ///
    /// # Errors
    /// [`TrialLogError::File`] if the file cannot be written.
    pub fn rest(&mut self, suite: &Suite, runs: &[(usize, u32)]) -> Result<Vec<(usize, u32)>, TrialLogError> {
        let is_missing = |&&(place, repetition): &&(usize, u32)| {
            let SuiteCase { name, case, .. } = &suite.cases[place];
            self.get(name, case, repetition).is_none()
        };
        let rest: Vec<(usize, u32)> = runs.iter().filter(is_missing).copied().collect();
        let are_further = !rest.is_empty() && rest.iter().all(|&(_, repetition)| repetition > 1);
        if !self.has_ended || are_further {
            return Ok(rest);
        }
        if let Some(mut lines) = self.lines.take() {
            self.begin(&mut lines)?;
            self.lines = Some(lines);
        }
        Ok(runs.to_vec())
    }

    /// Takes what is in the file away, and writes down what results that follow rest on.
    fn begin(&mut self, lines: &mut LineFile) -> Result<(), TrialLogError> {
        self.results.clear();
        self.has_ended = false;
        lines.clear()?;
        lines.write(&Line::Terms(Box::new(self.terms.clone())))
    }

    /// Returns the result of a repetition of the test case `case` called `name`, if there was one in the file.
    pub fn get(&self, name: &str, case: &Value, repetition: u32) -> Option<&CaseResult> {
        self.results.get(&(name.to_owned(), repetition)).filter(|result| result.case == *case)
    }

    /// Writes a result down at once.
    ///
    /// # Errors
    /// [`TrialLogError::File`] if the file cannot be written.
    pub fn add(&mut self, result: &CaseResult) -> Result<(), TrialLogError> {
        let mut lines = match self.lines.take() {
            Some(lines) => lines,
            None => {
                let mut lines = LineFile::open(&self.path)?;
                self.begin(&mut lines)?;
                lines
            }
        };
        let written = lines.write(&Line::Result(Box::new(result.clone())));
        self.lines = Some(lines);
        written
    }

    /// Writes down that the run ended.
    ///
    /// # Errors
    /// [`TrialLogError::File`] if the file cannot be written.
    pub fn end(&mut self) -> Result<(), TrialLogError> {
        self.lines.as_mut().map_or(Ok(()), |lines| lines.write(&Line::Ended))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_support::{self, copying};

    fn implementation(sender: &str) -> Implementation {
        copying("true", sender)
    }

    fn result(repetition: u32) -> CaseResult {
        CaseResult { repetition, ..test_support::result("a", false) }
    }

    /// Which of the first three repetitions a log has that is opened on these terms.
    #[track_caller]
    fn check(folder: &Path, sender: &str, seed: u64, fresh: bool, expect: [bool; 3]) -> ResultLog {
        let options = RunOptions { seed, ..RunOptions::new("/nowhere") };
        let log = ResultLog::open(&folder.join("test.jsonl"), &implementation(sender), &options, fresh);
        let log = log.expect("it can be opened");
        let case = json!({ "n": 1 });
        assert_eq!([1, 2, 3].map(|repetition| log.get("a", &case, repetition) == Some(&result(repetition))), expect);
        assert_eq!(log.get("a", &json!({ "n": 2 }), 1), None, "it was another test case");
        log
    }

    #[test]
    fn results_are_there_again_until_the_run_ends() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = check(folder.path(), "true", 1, false, [false; 3]);
        log.add(&result(1)).expect("room");
        log.add(&result(3)).expect("room");
        assert_eq!(log.get("a", &json!({ "n": 1 }), 1), None, "the file has it, and memory does not");
        drop(log);
        let path = folder.path().join("test.jsonl");
        let whole = std::fs::read_to_string(&path).expect("it is there");
        std::fs::write(&path, format!("{whole}{{\"result\":{{\"na")).expect("room");
        let mut log = check(folder.path(), "true", 1, false, [true, false, true]);
        log.add(&result(2)).expect("room");
        log.end().expect("room");
        drop(log);
        check_rest(folder.path(), 3, &[(0, 1), (0, 2), (0, 3)]);
        check(folder.path(), "true", 1, false, [false; 3]);
    }

    /// Checks which runs are left of so many repetitions of the test case.
    #[track_caller]
    fn check_rest(folder: &Path, repetitions: u32, expect: &[(usize, u32)]) {
        let options = RunOptions { seed: 1, ..RunOptions::new("/nowhere") };
        let log = ResultLog::open(&folder.join("test.jsonl"), &implementation("true"), &options, false);
        let suite = Suite::of_cases("copy", "by hand", 1, [SuiteCase::new("a", json!({ "n": 1 }))]);
        let runs: Vec<(usize, u32)> = (1..=repetitions).map(|repetition| (0, repetition)).collect();
        let mut log = log.expect("it can be opened");
        assert_eq!(log.rest(&suite, &runs).expect("room"), expect);
    }

    #[test]
    fn further_repetitions_go_on_with_a_run_that_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = check(folder.path(), "true", 1, false, [false; 3]);
        for number in [1, 2] {
            log.add(&result(number)).expect("room");
        }
        log.end().expect("room");
        drop(log);
        check_rest(folder.path(), 3, &[(0, 3)]);
        let mut log = check(folder.path(), "true", 1, false, [true, true, false]);
        log.add(&result(3)).expect("room");
        drop(log);
        // It was killed: there is nothing to begin anew.
        check_rest(folder.path(), 2, &[]);
        check(folder.path(), "true", 1, false, [true; 3]).end().expect("room");
        check_rest(folder.path(), 2, &[(0, 1), (0, 2)]);
    }

    #[test]
    fn results_of_a_program_that_is_built_anew_are_not_those_of_the_old_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = "name = \"mine\"\nsystem = \"copy\"\ndescription = \"d\"\n\
                    build = [\"cp\", \"{here}/source\", \"{build}/program\"]\n\
                    [driver]\ncommand = [\"{build}/program\", \"{case}\"]\n";
        let implementation =
            test_support::TESTBEDS.parse(text, Path::new("mine.toml"), folder.path()).expect("it is right");
        let log = folder.path().join("test.jsonl");
        let kept_of = |source: &str| {
            std::fs::write(folder.path().join("source"), source).expect("there is room");
            let mut options = RunOptions::new(folder.path().join("built"));
            crate::build_first(&implementation, &mut options).expect("it is copied");
            let mut log = ResultLog::open(&log, &implementation, &options, false).expect("it can be opened");
            let is_kept = log.get("a", &json!({ "n": 1 }), 1).is_some();
            log.add(&result(1)).expect("there is room");
            is_kept
        };
        let kept = ["one", "one", "two", "two", "one"].map(kept_of);
        assert_eq!(kept, [false, true, false, true, false]);
    }

    #[test]
    fn results_on_other_terms_are_not_used() {
        for (sender, seed, fresh) in [("false", 1, false), ("true", 2, false), ("true", 1, true)] {
            let folder = tempfile::tempdir().expect("a folder");
            check(folder.path(), "true", 1, false, [false; 3]).add(&result(1)).expect("room");
            check(folder.path(), sender, seed, fresh, [false; 3]);
        }
    }
}
