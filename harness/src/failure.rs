//! What can be wrong with processes, whatever system they implement.

use std::time::Duration;

use serde::Serialize;
use simutant_outcomes::{Finding, FindingClass};

use crate::process::ProcessExit;

/// A failure of processes; its `Display` is a sentence without a full stop.
///
/// A [`Finding`] that is made of one has it as its detail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ProcessFailure {
    /// A process was not ready in time.
    NotReady {
        /// The process.
        process: String,
        /// The time limit of the test case, in milliseconds.
        limit_ms: u64,
    },
    /// Processes still ran at the end of the time limit.
    TimedOut {
        /// The processes that still ran.
        running: Vec<String>,
        /// The time limit of the test case, in milliseconds.
        limit_ms: u64,
        /// Whether the programs were stuck or slow, by what the network heard of them; `None` if they have a network of
        /// their own.
        #[serde(skip_serializing_if = "Option::is_none")]
        traffic: Option<Traffic>,
    },
    /// A process ended otherwise than its side says.
    Exited {
        /// The process.
        process: String,
        /// How it ended.
        exit: ProcessExit,
    },
    /// A process ended well, but before it was ready.
    EndedBeforeReady {
        /// The process.
        process: String,
    },
}

impl ProcessFailure {
    /// Returns the class of the finding, and its kind.
    fn kind(&self) -> (FindingClass, &'static str) {
        match self {
            Self::NotReady { .. } => (FindingClass::NotTerminated, "not-ready"),
            Self::TimedOut { .. } => (FindingClass::NotTerminated, "timed-out"),
            Self::Exited { .. } => (FindingClass::Abnormal, "exited"),
            Self::EndedBeforeReady { .. } => (FindingClass::Abnormal, "ended-before-ready"),
        }
    }
}

impl From<ProcessFailure> for Finding {
    fn from(failure: ProcessFailure) -> Self {
        let (class, kind) = failure.kind();
        let (kind, summary) = (kind.into(), failure.to_string());
        Self { class, kind, summary, detail: serde_json::to_value(failure).expect("failures are plain data") }
    }
}

impl std::fmt::Display for ProcessFailure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited { process, exit } => write!(formatter, "the {process} ended with {exit}"),
            Self::EndedBeforeReady { process } => write!(formatter, "the {process} ended before it was ready"),
            Self::NotReady { process, limit_ms } => {
                write!(formatter, "the {process} was not ready after {limit_ms} ms")
            }
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
        }
    }
}

/// The traffic of programs that did not end in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Whether they were stuck.
    pub pace: Pace,
    /// Datagrams that they sent.
    pub datagrams: u64,
    /// How long before the end the last of them came, in milliseconds; if none did, how long the test case took.
    pub silent_ms: u64,
}

/// Why programs did not end in time, as far as the network can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_timed_out(traffic: Option<Traffic>, expect: &str) {
        let running = vec!["receiver".to_owned(), "sender".to_owned()];
        let reason = ProcessFailure::TimedOut { running, limit_ms: 30_000, traffic };
        assert_eq!(reason.to_string(), expect);
        let finding = Finding::from(reason);
        assert_eq!((finding.class, finding.kind.as_str()), (FindingClass::NotTerminated, "timed-out"));
        assert_eq!(finding.detail["limit_ms"], 30_000);
        assert_eq!(finding.detail.get("traffic").is_some(), traffic.is_some());
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
    }
}
