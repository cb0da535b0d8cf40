//! What test cases take on implementations, as trials showed: kept in a study's folder.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use simutant_analysis::{AnalysisOptions, FittedTestTime};
use simutant_mutator::Package;
use simutant_outcomes::{TestTime, TestTimeSource};

use crate::{StudyError, files};

/// The file of the times.
const TEST_TIMES: &str = "test-times.json";

/// Test times, by the name of the implementation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TestTimes(BTreeMap<String, FittedTestTime>);

impl TestTimes {
    /// Reads what is known in a folder; nothing, if no trial has shown it.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn read(out: &Path) -> Result<Self, StudyError> {
        let path = out.join(TEST_TIMES);
        match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(StudyError::file("read", &path, error)),
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| StudyError::file("read", &path, std::io::Error::other(error))),
        }
    }

    /// Adds what trials on implementations took to what is known in a folder, in the place of what was known of these.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn add(out: &Path, fitted: impl IntoIterator<Item = (String, FittedTestTime)>) -> Result<(), StudyError> {
        let mut known = Self::read(out)?;
        let before = known.clone();
        known.0.extend(fitted);
        if known == before { Ok(()) } else { files::write_json(&out.join(TEST_TIMES), &known) }
    }

    /// Returns what a test case takes on an implementation like these, the median of each number; `None` if nothing is
    /// known.
    fn typical(&self) -> Option<TestTime> {
        let median = |number: &dyn Fn(&TestTime) -> f64| {
            let mut numbers: Vec<f64> = self.0.values().map(|fitted| number(&fitted.time)).collect();
            numbers.sort_by(f64::total_cmp);
            numbers.get(numbers.len() / 2).copied()
        };
        Some(TestTime {
            start: median(&|time| time.start)?,
            per_virtual_second: median(&|time| time.per_virtual_second)?,
            per_message: median(&|time| time.per_message)?,
            shortest: median(&|time| time.shortest)?,
        })
    }
}

/// Returns the options of an analysis with what a test case takes: by trials in the folder, or else by the manifest.
///
/// # Errors
/// If what trials took cannot be read.
pub fn with_test_time(options: AnalysisOptions, out: &Path, package: &Package) -> Result<AnalysisOptions, StudyError> {
    let known = TestTimes::read(out)?;
    let of_trials = known.typical().map(|time| {
        let trials = known.0.values().map(|fitted| fitted.trials).sum();
        (time, TestTimeSource::Measured { implementations: known.0.len(), trials })
    });
    let of_manifest = package.test_time().map(|time| (time, TestTimeSource::Manifest));
    let (test_time, test_time_from) = of_trials.or(of_manifest).unwrap_or((options.test_time, options.test_time_from));
    Ok(AnalysisOptions { test_time, test_time_from, ..options })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_trials_took_is_kept_by_implementation_and_the_typical_one_counts() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let fitted = |start: f64| FittedTestTime {
            time: TestTime { start, ..TestTime::default() },
            error: TestTime { start: 0.0, ..TestTime::default() },
            trials: 10,
        };
        assert_eq!(TestTimes::read(folder.path()).expect("nothing is there").typical(), None);
        let add = |name: &str, start| TestTimes::add(folder.path(), [(name.to_owned(), fitted(start))]);
        for (name, start) in [("a", 9.0), ("b", 0.5), ("a", 0.1), ("c", 7.0)] {
            add(name, start).expect("room");
        }
        let known = TestTimes::read(folder.path()).expect("it was written");
        assert_eq!((known.0.len(), known.typical().map(|time| time.start)), (3, Some(0.5)));
        std::fs::write(folder.path().join(TEST_TIMES), "[]").expect("room");
        assert!(TestTimes::read(folder.path()).is_err() && add("d", 1.0).is_err());
    }
}
