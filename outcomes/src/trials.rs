//! What real implementations did with the test cases of a universe.

use serde::{Deserialize, Serialize};

use crate::BitSet;

/// Where an implementation's faults come from. Results are told apart by it: what holds for one need not hold for
/// another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Somebody's program as it is.
    #[default]
    Release,
    /// A mistake that people make, put into a right program on purpose.
    Mistake,
    /// A mutation operator. Such faults share their operators with the mutants that choose suites, and so flatter
    /// these.
    Mutant,
}

impl Origin {
    /// All of them, those that say most first.
    pub const ALL: [Self; 3] = [Self::Release, Self::Mistake, Self::Mutant];
}

impl std::fmt::Display for Origin {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Release => "release",
            Self::Mistake => "mistake",
            Self::Mutant => "mutant",
        })
    }
}

/// What implementations did with every test case of a universe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trials {
    /// The system.
    pub system: String,
    /// The seed of the universe.
    pub seed: u64,
    /// Whether each repetition of a test case had fates of its own, the same ones for all implementations.
    pub redraws: bool,
    /// The implementations.
    pub subjects: Vec<Subject>,
    /// Implementations that were not tried with each test case.
    pub left_out: Vec<LeftOut>,
    /// What the test cases cost on the simulation, in nanoseconds of a core for an event.
    pub simulation_ns_per_event: u64,
}

/// An implementation, and what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// Where its faults come from.
    pub origin: Origin,
    /// What it is; of a mutant, what it changes and where.
    pub description: String,
    /// The test cases that failed on it, out of as many as the universe has.
    pub failed: BitSet,
    /// The same of each further repetition: verdicts of real programs need not repeat. There are none if each test case
    /// ran once.
    pub again: Vec<BitSet>,
    /// Wall-clock time of each test case, in milliseconds; of several repetitions the mean.
    pub durations_ms: Vec<u64>,
}

impl Subject {
    /// Returns the test cases that failed in each repetition; there is one at least.
    pub fn repetitions(&self) -> impl Iterator<Item = &BitSet> + Clone {
        std::iter::once(&self.failed).chain(&self.again)
    }
}

/// An implementation that is left out of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Where its faults come from.
    #[serde(default)]
    pub origin: Origin,
    /// Why, in words that follow the name; of mutants, the same words for the same reason.
    pub why: String,
}
