//! What a campaign and its worker processes say to each other.
//!
//! A worker is started with the name of a system as its only argument. It reads one [`WorkerRequest`] per line from
//! standard input and writes one [`WorkerAnswer`] per line to standard output, both as JSON; it ends when its input
//! ends. It answers [`WorkerRequest::Execute`] twice: each run, as it ends, is put into the file that the request names
//! ([`read_runs`] has its form), and one [`WorkerAnswer::Executed`] follows when all have ended. So a worker that dies
//! leaves every run that it ended, and the first mutant of the request that is not there is the one that was running;
//! and the campaign is not woken for each run.
//!
//! This is a crate of its own because the two sides share nothing else: the worker is linked with the engine and one
//! instrumented package, the campaign with neither.

mod runs;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use simutant_outcomes::{CostBounds, Coverage, Execution, InputSource, MutantNumber, Quota};
use simutant_sim_core::{Others, RecordedChoice};

pub use runs::{HEADER_BYTES, NoRun, read_runs, runs_length};

/// What the campaign asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerRequest {
    /// Asks for the system's [`Description`].
    Describe,
    /// Asks for test cases `first .. first + count` of a universe.
    Draw {
        /// The universe.
        universe: UniverseSettings,
        /// The number of the first test case.
        first: usize,
        /// How many.
        count: usize,
        /// What the source is to learn before.
        feedback: Feedback,
    },
    /// Asks for a re-seeding of each of some test cases.
    Reseed {
        /// The seed of the universe.
        seed: u64,
        /// Which re-seeding, from 1 on.
        number: u32,
        /// The number of the first test case in its universe; the others follow it.
        first: usize,
        /// The test cases, in the system's own form.
        cases: Vec<Value>,
    },
    /// Asks what runs of some test cases may cost at most.
    BoundCosts {
        /// The test cases, in the system's own form.
        cases: Vec<Value>,
    },
    /// Asks for runs of the original: one as it is, one recorded, one in which each function chooses it among its mutants,
    /// and one with a trace if a criterion looks at it.
    Record {
        /// The test case, in the system's own form.
        case: Value,
        /// When a run is ended.
        limits: RunLimits,
        /// How much there is to record.
        sizes: Sizes,
    },
    /// Asks for one run on each of some mutants.
    Execute {
        /// The test case, in the system's own form.
        case: Value,
        /// When a run is ended.
        limits: RunLimits,
        /// The digest of the original's run.
        digest: u64,
        /// The mutants, in the order in which they are to run.
        mutants: Vec<MutantNumber>,
        /// The file that takes the runs; the worker begins it anew.
        answers: std::path::PathBuf,
    },
    /// Asks for one run that a person wants to look at.
    Simulate {
        /// The test case, in the system's own form.
        case: Value,
        /// When the run is ended.
        limits: RunLimits,
        /// The mutant to run on; `None` is the original.
        mutant: Option<MutantNumber>,
        /// Whether the trace is wanted.
        trace: TraceRecording,
        /// Who makes the choices that the run leaves open.
        choosing: Choosing,
        /// Whether the choices that were made are wanted.
        choices: ChoiceRecording,
    },
}

/// What fixes the test cases of a universe, beside the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniverseSettings {
    /// How they are drawn.
    pub source: InputSource,
    /// From what.
    pub seed: u64,
    /// How many there are; some sources draw others for another number.
    pub size: usize,
}

/// What test cases covered, for a source that learns. A worker keeps what it was told, as long as it is asked for the
/// same universe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// The number of the first of them. If the worker has not learned from all test cases before it, it draws nothing,
    /// and answers [`WorkerAnswer::Unlearned`].
    pub first: usize,
    /// What each of them covered.
    pub coverage: Vec<Coverage>,
}

/// Who makes the choices that a run leaves open: what becomes of a packet, which of simultaneous events comes first,
/// what a component draws. By default the seed makes them all.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choosing {
    /// How the choices are made that are not listed.
    pub others: Others,
    /// By stream, how many nanoseconds packets take whose latency is not imposed; the seed decides for other streams.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latencies: BTreeMap<String, u64>,
    /// The choices that are imposed on the run. Those that the run never reaches have no effect.
    pub choices: Vec<RecordedChoice>,
}

/// Whether a run keeps the choices that were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceRecording {
    /// All are kept.
    Keep,
    /// None is kept.
    Skip,
}

/// When a run is ended, whatever it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunLimits {
    /// Steps of the instrumented code: loop iterations and calls.
    pub steps: u64,
    /// Events of the engine.
    pub events: u64,
    /// Nanoseconds of virtual time.
    pub virtual_time_ns: u64,
    /// Bytes of memory beside those in use when the run begins. A run that uses more is ended at its next step.
    pub memory_bytes: u64,
    /// Bytes of memory that a run which takes no more steps is refused: at least as many, since what grows is copied.
    pub memory_bytes_max: u64,
}

/// How much there is to record in the instrumented code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// How many there are of each kind of thing that the probes measure: blocks, branches, definition-use pairs,
    /// conditions.
    pub measured: Vec<usize>,
    /// Mutants.
    pub mutants: usize,
}

/// How many events of a trace are kept, for people and for criteria: the first ones. A run that does not end would have
/// more than memory holds.
pub const TRACE_EVENTS_MAX: usize = 200_000;

/// Whether a run keeps its trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceRecording {
    /// Every event is kept.
    Keep,
    /// Nothing is kept.
    Skip,
}

/// What the worker answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerAnswer {
    /// To [`WorkerRequest::Describe`].
    Description(Description),
    /// To [`WorkerRequest::Draw`] and [`WorkerRequest::Reseed`].
    Cases(Vec<Value>),
    /// To [`WorkerRequest::Draw`], if the worker has not learned what the feedback takes for known: it replaces one that died.
    Unlearned,
    /// To [`WorkerRequest::BoundCosts`], in the order of the test cases.
    CostBounds(Vec<CostBounds>),
    /// To [`WorkerRequest::Record`].
    Recorded(Box<Recorded>),
    /// To [`WorkerRequest::Execute`], when every run is in the file.
    Executed {
        /// Bytes in use now beyond those in use when the worker began: what runs have leaked. A campaign replaces a
        /// worker before that hurts.
        retained_bytes: u64,
    },
    /// To [`WorkerRequest::Simulate`].
    Simulated(Simulated),
    /// The test case of the request is not one of the system's.
    Refused {
        /// Why, in words.
        message: String,
    },
    /// To [`WorkerRequest::Draw`]: the system panicked while it drew a test case.
    Undrawn {
        /// Where and why, in words.
        message: String,
    },
    /// The request could not be done, and no run is to blame.
    Failed {
        /// Why, in words.
        message: String,
    },
}

/// What a worker knows of its system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// The system's name.
    pub system: String,
    /// How many test cases its universe has, unless the user says otherwise.
    pub universe: usize,
    /// Its black-box criteria, in its own order.
    pub criteria: Vec<CriterionDescription>,
    /// The names of its criteria that look at traces, in its own order.
    #[serde(default)]
    pub trace_criteria: Vec<String>,
    /// Whether machines drive its clients, so that there are sources that walk.
    #[serde(default)]
    pub has_walks: bool,
    /// Whether it has a net that generates test cases.
    #[serde(default)]
    pub has_net: bool,
    /// The features of the processor that it was compiled for: where they are missing, it cannot run.
    #[serde(default)]
    pub target_features: Vec<TargetFeature>,
}

/// A feature of a processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetFeature {
    /// Its name for rustc.
    pub name: String,
    /// The flag by which the kernel says that a processor has it.
    pub flag: String,
}

/// A black-box criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionDescription {
    /// Its name.
    pub name: String,
    /// A label for each requirement.
    pub requirements: Vec<String>,
    /// Requirements that a suite need not cover all of.
    #[serde(default)]
    pub quotas: Vec<Quota>,
}

/// What the original did on a test case. All numbers are in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// How the run ended. If it did not pass, nothing was recorded and the rest is empty.
    pub execution: Execution,
    /// Virtual time at its end, in nanoseconds.
    pub virtual_time_ns: u64,
    /// Packets that it sent.
    #[serde(default)]
    pub messages: u64,
    /// Faults of it that come after its end.
    #[serde(default)]
    pub late_faults: u64,
    /// The digest of its events.
    pub digest: u64,
    /// The most memory that it had in use, in bytes. It varies a little with what the worker ran before.
    pub memory_bytes: u64,
    /// What the probes measured, a list for each kind of [`Sizes::measured`].
    pub measured: Vec<Vec<u32>>,
    /// How many times a definition-use pair was seen that the mutator does not list.
    #[serde(default)]
    pub pairs_unlisted: u64,
    /// Mutants reached.
    pub reached: Vec<MutantNumber>,
    /// Mutants infected.
    pub infected: Vec<MutantNumber>,
    /// The functions that all of this called, from reading the test case to the criteria: function `n` is bit `n % 64`.
    pub entered: u64,
    /// The requirements covered of each black-box criterion, in the order of [`Description::criteria`].
    pub covered: Vec<Vec<u32>>,
    /// What is covered of each criterion that looks at traces, in the order of [`Description::trace_criteria`].
    #[serde(default)]
    pub traced: Vec<TraceCoverage>,
    /// In what the recorded run differs from the one that was not recorded: a simulation must not, or none of its
    /// results can be trusted.
    pub difference: Option<String>,
    /// In what the run differs whose functions choose between the original and their mutants, and choose the original. If
    /// that run is another one, so are those of all mutants.
    #[serde(default)]
    pub choosing_difference: Option<String>,
}

/// What a run covers of a criterion that looks at traces. Its requirements are known by their labels, which are many
/// and the same for most test cases; so a worker numbers them as they come, from 0 on, and says each of them once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceCoverage {
    /// The labels that this worker says for the first time, in the order of their numbers, which go on where they
    /// ended.
    pub new_labels: Vec<String>,
    /// The numbers of the labels that the run covers, in any order.
    pub covered: Vec<u32>,
}

/// One run on one mutant, as it is in the file that [`WorkerRequest::Execute`] names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutantExecution {
    /// The mutant.
    pub mutant: MutantNumber,
    /// Whether the run executed the mutated place.
    pub reached: bool,
    /// Whether its events differ from those of the original's run.
    pub diverged: bool,
    /// The functions that the run called, and that reading its test case called: function `n` is bit `n % 64`.
    pub entered: u64,
    /// How the run ended.
    pub execution: Execution,
    /// What it cost beside events and steps, if it passed with other events than the original's: with the same events
    /// it cost the same, and one that kills is not judged by its cost.
    pub spent: Option<Spent>,
}

/// What a run cost beside events and steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    /// Packets that it sent.
    pub messages: u64,
    /// Virtual time at its end, in nanoseconds.
    pub virtual_time_ns: u64,
}

/// A run for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Simulated {
    /// How the run ended.
    pub execution: Execution,
    /// Virtual time at its end, in nanoseconds.
    pub virtual_time_ns: u64,
    /// Packets that it sent.
    #[serde(default)]
    pub messages: u64,
    /// The digest of its events; 0 if there was no simulation.
    pub digest: u64,
    /// Whether the mutated place was executed; `false` on the original.
    pub reached: bool,
    /// Who still waited when nothing was left to happen, and for what, in words; empty if the run ended otherwise.
    #[serde(default)]
    pub waiting: Vec<String>,
    /// The events of the run, if they were asked for.
    pub trace: Option<TraceText>,
    /// The choices that were made, in their order, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choices: Option<Vec<RecordedChoice>>,
}

/// The events of a run, in the engine's form: an array in JSON, which only those read who need them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TraceText(Box<RawValue>);

impl TraceText {
    /// Writes a trace.
    ///
    /// # Panics
    /// If it has a part that JSON cannot hold; a trace of the engine has none.
    pub fn new<T: Serialize>(trace: &T) -> Self {
        Self(serde_json::value::to_raw_value(trace).expect("a trace is plain data with text as keys"))
    }

    /// Reads the trace.
    ///
    /// # Errors
    /// If it has another form, as that of another release.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0.get())
    }
}

impl PartialEq for TraceText {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// How many seconds a worker may compute while it makes a simulation of a test case.
pub const SETUP_SECONDS_MAX: u64 = 3;

/// Returns the last words of a worker that ends since a test case was not set up in time.
pub fn setup_hang() -> String {
    format!("`configure` did not return within {SETUP_SECONDS_MAX} seconds of computing")
}

/// Returns `message` as one line of JSON, with its end.
///
/// # Panics
/// If the message has a part that JSON cannot hold; none of this crate's types has.
pub fn to_line<T: Serialize>(message: &T) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("messages are plain data with text as keys");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_keeps_every_bit_on_its_way() {
        for bits in (0..10_000_u64).map(|index| 0x3fb0_0000_0000_0000 + index * 0x5d_1234_5679) {
            let probability = f64::from_bits(bits);
            let request = WorkerRequest::Record {
                case: Value::from(probability),
                limits: RunLimits { steps: 1, events: 1, virtual_time_ns: 1, memory_bytes: 1, memory_bytes_max: 1 },
                sizes: Sizes { measured: vec![1, 1], mutants: 1 },
            };
            let line = to_line(&request);
            assert_eq!(line.iter().position(|&byte| byte == b'\n'), Some(line.len() - 1), "a request is one line");
            assert_eq!(serde_json::from_slice::<WorkerRequest>(&line).expect("and back"), request);
        }
    }
}
