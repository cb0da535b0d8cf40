//! The implementations that suites are judged by.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{Origin, Subject};

use super::probability::{self, Failing};
use crate::statistics::Summary;

/// An implementation that fails on more than this share of the universe is pathological: 0.2 in section 4.2.1.2.
pub const PATHOLOGICAL_ABOVE: f64 = 0.2;

/// One implementation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SubjectSummary {
    /// Its name.
    pub name: String,
    /// Where its faults come from.
    pub origin: Origin,
    /// What it is; of a mutant, what it changes and where.
    #[serde(default)]
    pub description: String,
    /// How many test cases of the universe fail on it, in one repetition at least.
    pub failed: usize,
    /// How many of them fail in every repetition.
    pub failed_always: usize,
    /// The share of the universe that fails on it, on average over the repetitions.
    pub failure_rate: f64,
    /// Each test case that fails, with how often it does; empty if each ran once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failing: Vec<Failing>,
    /// Whether it counts.
    pub class: SubjectClass,
    /// How long a test case takes on it, in milliseconds.
    pub duration_ms: Option<Summary>,
}

/// Whether an implementation counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectClass {
    /// No test case fails on it: it tells nothing about suites.
    NeverFails,
    /// Some do, and at most a share of [`PATHOLOGICAL_ABOVE`].
    Counted,
    /// So many do that nearly every suite finds it.
    Pathological,
}

impl std::fmt::Display for SubjectClass {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::NeverFails => "never fails",
            Self::Counted => "counted",
            Self::Pathological => "pathological",
        })
    }
}

/// The implementations that are judged together. Mutants of an implementation stand apart: they share their operators
/// with the mutants that choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// Programs with the faults that people make.
    Implementations,
    /// Mutants of a program.
    ImplementationMutants,
}

impl SubjectKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Implementations, Self::ImplementationMutants];

    /// Returns whether an implementation with faults from there is of this kind.
    pub fn has(self, origin: Origin) -> bool {
        (self == Self::ImplementationMutants) == (origin == Origin::Mutant)
    }
}

impl std::fmt::Display for SubjectKind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Implementations => "implementations",
            Self::ImplementationMutants => "mutants of an implementation",
        })
    }
}

/// Returns what an implementation did with the test cases of a universe.
pub(super) fn summary(subject: &Subject, cases: usize, alpha: f64) -> SubjectSummary {
    let failing = probability::failing(subject, alpha);
    let repetitions = subject.repetitions().count();
    let failures: usize = failing.iter().map(|failing| failing.failed).sum();
    let failure_rate = if cases == 0 { 0.0 } else { failures as f64 / (cases * repetitions) as f64 };
    let class = match failures {
        0 => SubjectClass::NeverFails,
        _ if failure_rate > PATHOLOGICAL_ABOVE => SubjectClass::Pathological,
        _ => SubjectClass::Counted,
    };
    let durations: Vec<f64> = subject.durations_ms.iter().map(|&duration| duration as f64).collect();
    SubjectSummary {
        name: subject.name.clone(),
        origin: subject.origin,
        description: subject.description.clone(),
        failed: failing.len(),
        failed_always: failing.iter().filter(|failing| failing.failed == repetitions).count(),
        failure_rate,
        failing: if repetitions > 1 { failing } else { Vec::new() },
        class,
        duration_ms: Summary::of(&durations),
    }
}
