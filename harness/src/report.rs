//! What running a suite on an implementation gives: plain data.

use serde::{Deserialize, Serialize};

use crate::process::{Exit, OutputTail};
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
    /// The seed of the run, see [`crate::Options::seed`].
    pub seed: u64,
    /// One result per test case, in the order of the suite.
    pub results: Vec<CaseResult>,
}

impl TestReport {
    /// Returns the results of the test cases that failed, in the order of the suite.
    pub fn failures(&self) -> impl Iterator<Item = &CaseResult> {
        self.results.iter().filter(|result| !result.outcome.passed())
    }
}

/// The result of one test case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The test case's name in the suite.
    pub name: String,
    /// The test case, in its system's own form.
    pub case: serde_json::Value,
    /// Whether it passed, and why not.
    pub outcome: TestOutcome,
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
}

/// Whether a test case passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestOutcome {
    /// Every side ended as it should, and what they left is right.
    Passed,
    /// Something is wrong.
    Failed {
        /// What.
        reason: FailureReason,
        /// What the sides printed, in the order in which they were started.
        outputs: Vec<SideOutput>,
    },
}

impl TestOutcome {
    /// Returns whether this is [`TestOutcome::Passed`].
    pub fn passed(&self) -> bool {
        *self == Self::Passed
    }
}

/// What one side printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideOutput {
    /// The side.
    pub side: String,
    /// The end of its standard output.
    pub stdout: OutputTail,
    /// The end of its standard error.
    pub stderr: OutputTail,
}

/// What is wrong with a run; its `Display` is a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureReason {
    /// A side ended otherwise than with exit code 0.
    Exited {
        /// The side.
        side: String,
        /// How it ended.
        exit: Exit,
    },
    /// A side ended well, but before it was ready.
    EndedBeforeReady {
        /// The side.
        side: String,
    },
    /// A side was not ready in time.
    NotReady {
        /// The side.
        side: String,
        /// The time limit of the test case, in milliseconds.
        limit_ms: u64,
    },
    /// Sides still ran at the end of the time limit.
    TimedOut {
        /// The sides that still ran.
        running: Vec<String>,
        /// The time limit of the test case, in milliseconds.
        limit_ms: u64,
    },
    /// Every side ended well, but the output file is not there.
    NoOutput,
    /// Every side ended well, but the output file differs from the input file.
    OutputDiffers {
        /// The offset of the first byte that differs or is there in one file only.
        offset: u64,
        /// How many bytes the input file has.
        expected_bytes: u64,
        /// How many bytes the output file has.
        found_bytes: u64,
    },
    /// Every side ended well, but a program did not deliver what it should have.
    WrongDeliveries {
        /// The program.
        side: String,
        /// What is wrong with what it delivered, as the simulation's oracle says it.
        failure: String,
    },
    /// A question was answered wrongly.
    WrongAnswer {
        /// The query's place in the test case.
        query: usize,
        /// What was asked: name and type.
        question: String,
        /// What is wrong with the answer.
        wrong: String,
        /// The right answer, by the name space.
        expected: String,
        /// The answer, as it came.
        found: String,
    },
    /// A question got no answer, or none but that the answer could not be found out.
    NoAnswer {
        /// The query's place in the test case.
        query: usize,
        /// What was asked: name and type.
        question: String,
        /// How often it was asked.
        tries: u32,
        /// For how long, in milliseconds.
        waited_ms: u64,
        /// How many of the tries were answered, with the message that says so (SERVFAIL).
        refusals: u32,
    },
}

impl std::fmt::Display for FailureReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited { side, exit } => write!(formatter, "the {side} ended with {exit}"),
            Self::EndedBeforeReady { side } => write!(formatter, "the {side} ended before it was ready"),
            Self::NotReady { side, limit_ms } => write!(formatter, "the {side} was not ready after {limit_ms} ms"),
            Self::TimedOut { running, limit_ms } => {
                write!(formatter, "still running after {limit_ms} ms: {}", running.join(", "))
            }
            Self::WrongDeliveries { side, failure } => write!(formatter, "{side}: {failure}"),
            Self::WrongAnswer { query, question, wrong, expected, found } => {
                write!(formatter, "query {query} ({question}): {wrong}; right is {expected}, the answer was {found}")
            }
            Self::NoAnswer { query, question, tries, waited_ms, refusals } => write!(
                formatter,
                "query {query} ({question}) was asked {tries} times in {waited_ms} ms and not answered; {refusals} times the resolver said that it could not find out"
            ),
            Self::NoOutput => formatter.write_str("there is no output file"),
            Self::OutputDiffers { offset, expected_bytes, found_bytes } if offset == found_bytes => {
                write!(formatter, "the output ends after {found_bytes} of {expected_bytes} bytes")
            }
            Self::OutputDiffers { offset, expected_bytes, found_bytes } if offset == expected_bytes => {
                write!(formatter, "the output has {found_bytes} bytes, {} too many", found_bytes - expected_bytes)
            }
            Self::OutputDiffers { offset, expected_bytes, found_bytes } => write!(
                formatter,
                "the output differs from the input at byte {offset}; it has {found_bytes} bytes, the input {expected_bytes}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(offset: u64, expected_bytes: u64, found_bytes: u64, expect: &str) {
        assert_eq!(FailureReason::OutputDiffers { offset, expected_bytes, found_bytes }.to_string(), expect);
    }

    #[test]
    fn a_difference_says_whether_the_output_is_short_long_or_wrong() {
        check(10, 20, 10, "the output ends after 10 of 20 bytes");
        check(20, 20, 30, "the output has 30 bytes, 10 too many");
        check(5, 20, 20, "the output differs from the input at byte 5; it has 20 bytes, the input 20");
    }
}
