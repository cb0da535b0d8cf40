//! The results of a suite on an implementation so far, kept in a file so that a run that was killed goes on where it
//! stopped.
//!
//! A line of JSON for each result, in the order in which they came. The last line says that the run ended:
//! the next one begins anew then, since programs may have changed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// By the test case's name and the repetition.
    results: HashMap<(String, u32), CaseResult>,
}

impl ResultLog {
    /// Opens the file at `path`, if it is there, and keeps all other processes from it. It is made with the first
    /// result.
    ///
    /// It begins anew if `fresh`, if the run whose results it has ended, or if that was of another implementation, of
    /// other programs as far as its commands name their files, of another testbed, or with another time limit or seed.
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
        let mut log = Self { path: path.into(), terms: own, lines: None, results: HashMap::new() };
        if !path.exists() {
            return Ok(log);
        }
        let mut lines = LineFile::open(path)?;
        let (mut terms, mut has_ended) = (None, false);
        if !fresh {
            lines.read(&mut |line| match line {
                Line::Terms(found) => terms = Some(*found),
                Line::Result(result) => _ = log.results.insert((result.name.clone(), result.repetition), *result),
                Line::Ended => has_ended = true,
            })?;
        }
        if has_ended || terms.as_ref() != Some(&log.terms) {
            log.results.clear();
            log.begin(&mut lines)?;
        }
        log.lines = Some(lines);
        Ok(log)
    }

    /// Takes what is in the file away, and writes down what results that follow rest on.
    fn begin(&self, lines: &mut LineFile) -> Result<(), TrialLogError> {
        lines.clear()?;
        lines.write(&Line::Terms(Box::new(self.terms.clone())))
    }

    /// Returns the result of a repetition of the test case `case` called `name`, if there is one.
    pub fn get(&self, name: &str, case: &Value, repetition: u32) -> Option<&CaseResult> {
        self.results.get(&(name.to_owned(), repetition)).filter(|result| result.case == *case)
    }

    /// Adds a result, and writes it down at once.
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
        written?;
        self.results.insert((result.name.clone(), result.repetition), result.clone());
        Ok(())
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
    use simutant_outcomes::{Finding, Verdict};

    use super::*;
    use crate::proxy::ProxyCounts;
    use crate::test_support::copying;

    fn implementation(sender: &str) -> Implementation {
        copying("true", sender)
    }

    fn result(repetition: u32) -> CaseResult {
        CaseResult {
            name: "a".into(),
            case: json!({ "n": 1 }),
            repetition,
            verdict: Verdict::Fail(Finding::wrong_result("no-output", "there is no output file")),
            notes: Vec::new(),
            processes: Vec::new(),
            network: ProxyCounts::default(),
            duration_ms: 5,
            mutant_reached: None,
            folder: None,
        }
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
        drop(log);
        let path = folder.path().join("test.jsonl");
        let whole = std::fs::read_to_string(&path).expect("it is there");
        std::fs::write(&path, format!("{whole}{{\"result\":{{\"na")).expect("room");
        let mut log = check(folder.path(), "true", 1, false, [true, false, true]);
        log.add(&result(2)).expect("room");
        log.end().expect("room");
        drop(log);
        check(folder.path(), "true", 1, false, [false; 3]);
    }

    #[test]
    fn results_of_a_program_that_is_built_anew_are_not_those_of_the_old_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let text = "name = \"mine\"\nsystem = \"copy\"\ndescription = \"d\"\n\
                    build = [\"cp\", \"{here}/source\", \"{build}/program\"]\n\
                    [driver]\ncommand = [\"{build}/program\", \"{case}\"]\n";
        let implementation =
            crate::test_support::TESTBEDS.parse(text, Path::new("mine.toml"), folder.path()).expect("it is right");
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
