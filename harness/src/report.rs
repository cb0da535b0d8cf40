//! What running a suite on an implementation gives: plain data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use simutant_outcomes::Verdict;

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
    /// What somebody who reads the verdict should know, such as faults that could not be injected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
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
