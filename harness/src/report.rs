//! What running a suite on an implementation gives: plain data.

use std::time::Duration;

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
    /// One result per test case and repetition, in the order of the suite.
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
    /// Which repetition of the test case this is, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub repetition: u32,
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

/// Returns the first repetition.
pub(crate) fn first() -> u32 {
    1
}

/// Returns whether this is the first repetition.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(crate) fn is_first(repetition: &u32) -> bool {
    *repetition == first()
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

/// What the network heard of programs that did not end in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Whether they were stuck.
    pub pace: Pace,
    /// Datagrams that they sent.
    pub datagrams: u64,
    /// How long before the end the last of them came, in milliseconds; if none did, how long the test case took.
    pub silent_ms: u64,
}

/// Why programs did not end in time, as far as the network can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pace {
    /// They sent nothing for a tenth of the time limit or longer: more time would hardly have helped.
    Stuck,
    /// They sent datagrams until the end: more time may have helped. That they made progress is not known; who says the
    /// same for ever is slow, too.
    Slow,
}

impl Traffic {
    /// Programs are stuck that are silent for this part of the time limit: protocols wait for less before they repeat
    /// what was lost.
    const STUCK_PART: u32 = 10;

    pub(crate) fn new(datagrams: u64, silent: Duration, limit: Duration) -> Self {
        let pace = if silent >= limit / Self::STUCK_PART { Pace::Stuck } else { Pace::Slow };
        Self { pace, datagrams, silent_ms: silent.as_millis().try_into().unwrap_or(u64::MAX) }
    }
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
        /// Whether the programs were stuck or slow, by what the network heard of them; `None` if they have a network of
        /// their own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        traffic: Option<Traffic>,
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
            Self::TimedOut { running, limit_ms, traffic: None } => {
                write!(formatter, "still running after {limit_ms} ms: {}", running.join(", "))
            }
            Self::TimedOut { running, limit_ms, traffic: Some(Traffic { pace, datagrams, silent_ms }) } => {
                let [limit, silent] = [*limit_ms, *silent_ms].map(|ms| ms as f64 / 1e3);
                match pace {
                    Pace::Stuck if *datagrams == 0 => write!(formatter, "stuck: no datagram in {limit} s")?,
                    Pace::Stuck => {
                        write!(formatter, "stuck: no datagram for {silent:.1} s of {limit} s, {datagrams} before")?;
                    }
                    Pace::Slow => write!(formatter, "slow: datagrams until the end of {limit} s, {datagrams} so far")?,
                }
                write!(formatter, "; still running: {}", running.join(", "))
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

    #[track_caller]
    fn check_timed_out(traffic: Option<Traffic>, expect: &str) {
        let running = vec!["receiver".to_owned(), "sender".to_owned()];
        let reason = FailureReason::TimedOut { running, limit_ms: 30_000, traffic };
        assert_eq!(reason.to_string(), expect);
        let json = serde_json::to_string(&reason).expect("plain data");
        assert_eq!(serde_json::from_str::<FailureReason>(&json).expect("it can be read back"), reason);
    }

    #[test]
    fn a_time_limit_says_whether_programs_were_stuck_or_slow() {
        let traffic = |datagrams, silent_ms| {
            Some(Traffic::new(datagrams, Duration::from_millis(silent_ms), Duration::from_secs(30)))
        };
        check_timed_out(None, "still running after 30000 ms: receiver, sender");
        let stuck = "stuck: no datagram for 28.1 s of 30 s, 12 before; still running: receiver, sender";
        check_timed_out(traffic(12, 28_090), stuck);
        check_timed_out(traffic(0, 30_001), "stuck: no datagram in 30 s; still running: receiver, sender");
        let slow = "slow: datagrams until the end of 30 s, 412 so far; still running: receiver, sender";
        check_timed_out(traffic(412, 2_999), slow);
        assert_eq!(traffic(412, 3_000).map(|traffic| traffic.pace), Some(Pace::Stuck));
        let old: FailureReason = serde_json::from_str(r#"{"timed-out":{"running":["receiver"],"limit_ms":300}}"#)
            .expect("reports from before have no traffic");
        assert_eq!(old.to_string(), "still running after 300 ms: receiver");
    }

    #[test]
    fn a_difference_says_whether_the_output_is_short_long_or_wrong() {
        check(10, 20, 10, "the output ends after 10 of 20 bytes");
        check(20, 20, 30, "the output has 30 bytes, 10 too many");
        check(5, 20, 20, "the output differs from the input at byte 5; it has 20 bytes, the input 20");
    }
}
