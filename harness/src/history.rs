//! Histories that programs leave: what clients saw, judged by a specification of the service.
//!
//! This crate has no specification. Whoever runs test cases brings one, as a [`HistoryJudge`].

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_outcomes::{Inconclusive, Verdict};

use crate::error::HarnessError;
use crate::implementation::{ImplementationError, fill_text, validate_texts};
use crate::testbed::Placeholders;

/// The placeholders of the file that programs add to.
const PLACEHOLDERS: [&str; 2] = ["work", "fixture"];

/// The table `[driver.history]`: the specification that judges histories.
///
/// ```toml
/// [driver.history]
/// specification = "tickets"            # one of the package, or a ready-made one such as "register"
/// order = "sequential"                 # optional, as are all others: "linearizability" by default
/// format = "jepsen-edn"                # by default what the content of the file or its name tells
/// revisions = true                     # as `check --revisions`
/// initial = { alice = 10, bob = 5 }    # the first state, of a ready-made specification
/// file = "{fixture}/calls.jsonl"       # by default the one that the driver's answer names
/// ```
///
/// `file` is one that programs add to, such as a fixture that outlives the test case, or a proxy that records what
/// passes: what was added during the test case is its history. `{work}` and `{fixture}` are known in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverHistory {
    /// The name of the specification.
    pub specification: String,
    /// What may be assumed of the order of calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// The format of histories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Whether calls with smaller revisions were taken before those with larger ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revisions: bool,
    /// The state that the service begins in, if the specification is a ready-made one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<Value>,
    /// The file that programs add to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The judge.
    #[serde(skip)]
    pub judge: Option<HistoryJudge>,
}

impl DriverHistory {
    pub(crate) fn validate(&self, has_fixture: bool, path: &Path) -> Result<(), ImplementationError> {
        let known = if has_fixture { &PLACEHOLDERS[..] } else { &PLACEHOLDERS[..1] };
        validate_texts(&self.file, known, path, "`file` of `[driver.history]`")?;
        match &self.file {
            Some(file) if Path::new(file).is_absolute() => {
                Err(ImplementationError::SharedHistory { path: path.into(), file: file.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// Judges histories by a specification.
pub trait JudgeHistories: Send + Sync {
    /// Returns whether the specification can have done what the history in a file says. A file that is none, and one
    /// without calls, are inconclusive.
    fn judge(&self, file: &Path) -> Verdict;

    /// Returns a number that changes with the specification, and with what else verdicts rest on.
    fn fingerprint(&self) -> u64;
}

/// A judge of histories. Two are equal that judge in the same way.
#[derive(Clone)]
pub struct HistoryJudge(Arc<dyn JudgeHistories>);

impl HistoryJudge {
    /// Returns the judge that `judge` is.
    pub fn new(judge: impl JudgeHistories + 'static) -> Self {
        Self(Arc::new(judge))
    }

    /// See [`JudgeHistories::fingerprint`].
    pub(crate) fn fingerprint(&self) -> u64 {
        self.0.fingerprint()
    }
}

impl PartialEq for HistoryJudge {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint() == other.fingerprint()
    }
}

impl Eq for HistoryJudge {}

impl fmt::Debug for HistoryJudge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("HistoryJudge").field(&self.fingerprint()).finish()
    }
}

/// The history of a test case: where it will be, and who judges it.
#[derive(Debug)]
pub(crate) struct ExpectedHistory {
    /// `None` if the implementation's file has no specification.
    settings: Option<DriverHistory>,
    /// The private folder of the test case.
    folder: PathBuf,
    /// The file that programs add to, and how long it was before the test case.
    record: Option<(PathBuf, u64)>,
}

impl ExpectedHistory {
    /// Returns the history of a test case that begins now, in its private folder.
    pub(crate) fn new(settings: Option<&DriverHistory>, folder: &Path, fixture: &Placeholders) -> Self {
        let record = settings.and_then(|settings| settings.file.as_ref()).map(|file| {
            let mut values: Placeholders = PLACEHOLDERS.iter().map(|name| (*name, OsString::new())).collect();
            values.extend(fixture.iter().map(|(name, value)| (*name, value.clone())));
            values.insert("work", folder.into());
            let path = folder.join(fill_text(file, &values));
            let bytes = path.metadata().map_or(0, |metadata| metadata.len());
            (path, bytes)
        });
        Self { settings: settings.cloned(), folder: folder.to_owned(), record }
    }

    /// Returns the verdict on the test case, whose driver came to a verdict of its own and named a history, or did not.
    /// What the history shows to be wrong is wrong, also where the driver found nothing out.
    ///
    /// # Errors
    /// [`HarnessError::File`] if the history of the test case cannot be copied.
    pub(crate) fn verdict(&self, of_driver: Verdict, named: Option<&str>) -> Result<Verdict, HarnessError> {
        if of_driver.kills() {
            return Ok(of_driver);
        }
        let inconclusive = |reason: String| Verdict::Inconclusive(Inconclusive { reason });
        let Some(settings) = &self.settings else {
            return Ok(match named {
                None => of_driver,
                Some(_) => inconclusive(
                    "the driver answers with a history, and the implementation's file has no `[driver.history]` that names \
                     its specification"
                        .into(),
                ),
            });
        };
        let (file, is_there) = match (named, &self.record) {
            (Some(named), _) => (self.folder.join(named), true),
            (None, Some((record, begin))) => (self.copy_added(record, *begin)?, record.is_file()),
            (None, None) if of_driver.passes() => {
                let expected = "such as {\"history\": \"calls.jsonl\"}";
                return Ok(inconclusive(format!("the driver's answer names no history, {expected}")));
            }
            (None, None) => return Ok(of_driver),
        };
        let judged = match &settings.judge {
            _ if !is_there => inconclusive("nobody wrote the `file` of `[driver.history]`".into()),
            None => inconclusive(format!("nobody judges histories of {} here", settings.specification)),
            Some(judge) => judge.0.judge(&file),
        };
        Ok(if of_driver.passes() || judged.kills() { judged } else { of_driver })
    }

    /// Copies what was added to a file into the private folder; all of it if it was begun anew.
    fn copy_added(&self, record: &Path, begin: u64) -> Result<PathBuf, HarnessError> {
        // Its name tells the format.
        let name = record.file_name().unwrap_or_default();
        let copy = self.folder.join(["history-".as_ref(), name].into_iter().collect::<OsString>());
        let copied = || -> io::Result<()> {
            let mut from = match File::open(record) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                opened => opened?,
            };
            let bytes = from.metadata()?.len();
            from.seek(SeekFrom::Start(if bytes < begin { 0 } else { begin }))?;
            io::copy(&mut from, &mut File::create(&copy)?).map(drop)
        };
        copied().map_err(HarnessError::file("copy the history", record))?;
        Ok(copy)
    }
}
