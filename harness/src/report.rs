//! What running a suite on an implementation gives: plain data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{Inconclusive, Verdict};

use crate::process::{OutputTail, ProcessExit};
use crate::proxy::ProxyCounts;

/// The results of a suite on an implementation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestReport {
    /// [`simutant_outcomes::FORMAT_VERSION`].
    pub format_version: u32,
    /// The system.
    pub system: String,
    /// The implementation's name.
    pub implementation: String,
    /// The seed of the run, see [`crate::RunOptions::seed`].
    pub seed: u64,
    /// One result per test case and repetition, in the order of the suite.
    pub results: Vec<CaseResult>,
}

impl TestReport {
    /// Returns the results of the test cases that failed, in the order of the suite.
    pub fn failures(&self) -> impl Iterator<Item = &CaseResult> {
        self.results.iter().filter(|result| matches!(result.verdict, Verdict::Fail(_)))
    }
}

/// The result of one test case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The test case's name in the suite.
    pub name: String,
    /// The test case, in its system's own form.
    pub case: serde_json::Value,
    /// Which repetition of the test case this is, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub repetition: u32,
    /// Whether what the implementation did is right.
    pub verdict: Verdict,
    /// Faults of the test case that could not be injected, each in words: see [`MissingFaults`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_injected: Vec<String>,
    /// Faults of the test case that were due when it had ended, each in words: the verdict says nothing of them. A
    /// simulation may be over before a fault, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_faults: Vec<String>,
    /// What else somebody who reads the verdict should know, such as faults that were without effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The rules that the implementation may break, and kept all the same: see
    /// [`Implementation::waive`](crate::Implementation::waive).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// The processes and what they printed, in the order in which they were started; none if the test case passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<EndedProcess>,
    /// What the network did to the programs' datagrams.
    pub network: ProxyCounts,
    /// Wall-clock time, in milliseconds, from before the start of the first program until what they left was judged and
    /// the last of them was gone. Includes the waits for sides to be ready and, if need be, for a side to heed SIGTERM.
    /// Leaves out the build, the making of the input file, and earlier attempts whose port another process had taken.
    pub duration_ms: u64,
    /// Whether a program came to the mutant that was active in it; `None` if none was. One that failed without it
    /// failed for another reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mutant_reached: Option<bool>,
    /// The private folder, if it was kept: see [`crate::RunOptions::keep_directory`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The file with more of what the processes printed than is here, if it was written: see
    /// [`crate::RunOptions::log_directory`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
}

impl CaseResult {
    /// Returns whether the test case passed, but counts as inconclusive because some of its faults could not be injected.
    pub fn passes_without_faults(&self) -> bool {
        self.verdict == MissingFaults::Inconclusive.verdict(Verdict::Pass, &self.not_injected) && !self.verdict.passes()
    }

    /// Returns whether the test case passed, but ended before one of its faults was due.
    pub fn passes_before_fault(&self) -> bool {
        self.verdict.passes() && !self.late_faults.is_empty()
    }

    /// Returns what to say of the result beside its verdict: faults that were not injected or came too late, and notes.
    ///
    /// ```
    /// use simutant_harness::{CaseResult, ProxyCounts};
    /// use serde_json::json;
    ///
    /// let result: CaseResult = serde_json::from_value(json!({
    ///     "name": "a",
    ///     "case": {"seed": 7},
    ///     "verdict": "pass",
    ///     "late_faults": ["crash of server at 900 ms"],
    ///     "network": ProxyCounts::default(),
    ///     "duration_ms": 150,
    /// }))?;
    /// // It passed, and says nothing of the crash.
    /// assert!(result.passes_before_fault());
    /// let remarks: Vec<String> = result.remarks().collect();
    /// assert_eq!(remarks, ["too late: crash of server at 900 ms: the test case had ended"]);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        let not_injected = self.not_injected.iter().map(|fault| format!("not injected: {fault}"));
        let late = self.late_faults.iter().map(|fault| format!("too late: {fault}: the test case had ended"));
        not_injected.chain(late).chain(self.notes.iter().cloned())
    }
}

/// The verdict on a test case that passes although some of its faults could not be injected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingFaults {
    /// The implementation was not shown what the test case has for it, so nothing was found out.
    #[default]
    Inconclusive,
    /// It passes all the same.
    Pass,
}

impl MissingFaults {
    /// Returns the verdict on a test case without these of its faults.
    pub(crate) fn verdict(self, verdict: Verdict, not_injected: &[String]) -> Verdict {
        match (self, &verdict) {
            (Self::Inconclusive, Verdict::Pass) if !not_injected.is_empty() => {
                Verdict::Inconclusive(without_faults(not_injected))
            }
            _ => verdict,
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub(crate) fn passes(&self) -> bool {
        *self == Self::Pass
    }
}

/// Returns why a test case that passes without these faults is inconclusive.
fn without_faults(not_injected: &[String]) -> Inconclusive {
    let count = match not_injected.len() {
        1 => "a fault".to_owned(),
        count => format!("{count} faults"),
    };
    Inconclusive { reason: format!("it passed, but {count} could not be injected") }
}

/// Returns the first repetition.
pub(crate) fn first() -> u32 {
    1
}

/// Returns whether this is the first repetition.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(crate) fn is_first(repetition: &u32) -> bool {
    *repetition == first()
}

/// A process that was started, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndedProcess {
    /// What reports call it.
    pub process: String,
    /// How it ended; `None` if it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<ProcessExit>,
    /// The end of its standard output.
    pub stdout: OutputTail,
    /// The end of its standard error.
    pub stderr: OutputTail,
}

impl EndedProcess {
    /// Returns the lines that it printed to standard output and to standard error, as far as they were kept, each after the
    /// names of process and stream. A driver's plan is none of them: the harness has read it.
    pub fn printed(&self) -> [Vec<String>; 2] {
        [("stdout", &self.stdout), ("stderr", &self.stderr)].map(|(stream, tail)| {
            let omitted = match tail.omitted_bytes {
                0 => None,
                bytes => Some(format!("{} {stream}: … {bytes} bytes before …", self.process)),
            };
            let lines = tail.text.lines().filter(|line| !line.starts_with("{\"processes\":"));
            omitted.into_iter().chain(lines.map(|line| format!("{} {stream}: {line}", self.process))).collect()
        })
    }
}
