//! What a campaign is to do, and what it tells while it does it.

use std::num::NonZeroU8;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_mutator::Build;
use simutant_outcomes::InputSource;
use simutant_protocol::RunLimits;

/// What a campaign does.
#[derive(Debug, Clone)]
pub struct CampaignPlan {
    /// The instrumented system.
    pub build: Build,
    /// The seed that the universe is drawn from.
    pub seed: u64,
    /// How it is drawn.
    pub input_source: InputSource,
    /// How many test cases are drawn.
    pub cases: usize,
    /// Test cases that follow these in the universe, as a person wrote them.
    pub given: Vec<Value>,
    /// How often each test case is run at most, itself included: with its chance drawn anew from the second time on.
    /// With 1, there are no re-seedings.
    pub reseedings: NonZeroU8,
    /// Which pairs of a test case and a mutant are not run.
    pub pruning: Pruning,
    /// What bounds a run where nothing else does.
    pub bounds: Bounds,
}

impl CampaignPlan {
    /// Returns how many test cases the universe has: those that are drawn, and those that are given.
    pub fn universe(&self) -> usize {
        self.cases + self.given.len()
    }
}

/// Which pairs of a test case and a mutant are run. The outcomes are the same: a run of a mutant that is not infected
/// is the run of the original.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pruning {
    /// Only those where the recorded run infected the mutant.
    #[default]
    Infected,
    /// Those where it reached the mutant.
    Reached,
    /// All.
    None,
}

/// What bounds a run where the limits that are measured do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Steps of a run of the original. Runs of mutants have three times the most that the original took.
    pub baseline_steps: u64,
    /// Events of a run of the original. Runs of mutants have three times the most that the original took.
    pub baseline_events: u64,
    /// Bytes of memory that a run may use. Runs of mutants are stopped earlier: see [`RunLimits::memory_bytes`].
    pub memory_bytes: u64,
    /// Time on the wall within which a run must end. A run that loops outside of instrumented code comes to no other
    /// bound; it is run once more by itself before that is its verdict. It must be far above three times the longest
    /// run of the original, or a slow run is taken for one that hangs.
    pub hang: Duration,
}

/// 10^9 steps and 10^8 events of the original, 1 GiB, 20 s.
impl Default for Bounds {
    fn default() -> Self {
        Self {
            baseline_steps: 1_000_000_000,
            baseline_events: 100_000_000,
            memory_bytes: 1 << 30,
            hang: Duration::from_secs(20),
        }
    }
}

impl Bounds {
    /// Returns the limits of runs of the original.
    pub(crate) fn baseline_limits(&self) -> RunLimits {
        RunLimits {
            steps: self.baseline_steps,
            events: self.baseline_events,
            virtual_time_ns: u64::MAX,
            memory_bytes: self.memory_bytes,
            memory_bytes_max: self.memory_bytes,
        }
    }
}

/// What becomes of a campaign that is already in the directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Existing {
    /// It goes on, if it is the same.
    #[default]
    Continue,
    /// It is deleted.
    Delete,
}

/// What a campaign does, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Runs each test case on the package as it is written, before the instrumented build: see
    /// [`PlainCheck`](crate::PlainCheck).
    Plain,
    /// Draws the test cases.
    Universe,
    /// Runs each test case on the original, recorded.
    Baseline,
    /// Runs each test case on the mutants.
    Mutants,
}

/// How far a campaign is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What it is doing.
    pub phase: Phase,
    /// Test cases that are done in this phase, those of earlier sessions included; a re-seeding counts as one.
    pub done: usize,
    /// Test cases in all, with their re-seedings.
    pub total: usize,
    /// Runs on mutants of this session.
    pub executions: u64,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// All is done.
    Finished,
    /// It was stopped; the next session resumes it.
    Stopped,
}

/// What a campaign cost; not part of its outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Pairs of a test case and a mutant.
    pub pairs: u64,
    /// Pairs that the recorded runs saved, of the test cases recorded so far.
    pub pairs_pruned: u64,
    /// Pairs executed, in all sessions.
    pub pairs_executed: u64,
    /// Runs of re-seedings on mutants, in all sessions; they are not counted as pairs executed.
    #[serde(default)]
    pub reseeded_executed: u64,
    /// Test cases, and re-seedings of them, whose runs on the original and on the package as it is written were
    /// compared, and were equal: when they were recorded, if that was kept after an edit.
    pub cases_compared: u64,
    /// Pairs that pruning left out and that were run all the same, as a sample; they ended as the original. They are
    /// not counted as executed.
    pub pairs_checked: u64,
    /// Runs on mutants in this session, those of re-seedings included.
    pub session_executed: u64,
    /// Pairs whose runs from before an edit of the source were kept in this session.
    pub session_kept: u64,
    /// Runs among these that were made again in this session, as a sample; they were what was kept. They are not
    /// counted as executed.
    pub session_kept_checked: u64,
    /// Test cases whose recordings from before an edit were kept in this session.
    pub session_recordings_kept: u64,
    /// Test cases among these that were recorded again in this session, as a sample; they were what was kept.
    pub session_recordings_checked: u64,
    /// Seconds that this session spent on executing pairs.
    pub session_seconds: f64,
    /// Worker processes of this session.
    pub session_jobs: usize,
    /// Definition-use pairs that this session's recorded runs saw and the mutator does not list: more than 0 is an
    /// error of the mutator, and all-uses, all-p-uses and all-defs may miss something.
    pub session_pairs_unlisted: u64,
}

impl Statistics {
    /// Returns how many pairs a worker executed per second in this session; `None` if none was.
    pub fn executions_per_second_and_worker(&self) -> Option<f64> {
        let worker_seconds = self.session_seconds * self.session_jobs as f64;
        (self.session_executed > 0 && worker_seconds > 0.0).then(|| self.session_executed as f64 / worker_seconds)
    }
}
