//! What it takes to run everything: table 4.3 of the thesis.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{Outcomes, Trials};

use super::subjects::{SubjectClass, SubjectKind, SubjectSummary};
use crate::analysis::Analysis;
use crate::mutants::MutantClass;

/// Sizes, mean times and their totals: table 4.3.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// Test cases of the universe, `N`.
    pub cases: usize,
    /// Mutants that are not pathological, `N_m`.
    pub mutants: usize,
    /// Implementations that count, `N_i`.
    pub subjects: usize,
    /// Mean time of a simulation, `T_s`, in milliseconds of a core.
    pub simulation_ms: f64,
    /// Mean time of a test case on an implementation, `T_i`, in milliseconds of wall clock.
    pub execution_ms: f64,
    /// Equation 4.2: `N * T_s * (N_m + 1) + N * T_i * N_i`, in seconds, were nothing pruned and nothing done side by
    /// side.
    pub total_s: f64,
}

pub(super) fn preparation(
    outcomes: &Outcomes,
    analysis: &Analysis,
    trials: &Trials,
    kind: SubjectKind,
    subjects: &[SubjectSummary],
) -> Preparation {
    let cases = outcomes.cases.len();
    let mutants = analysis.mutants.counts.total() - analysis.mutants.counts.of(MutantClass::Pathological);
    let counts = |subject: &&SubjectSummary| subject.class == SubjectClass::Counted && kind.has(subject.origin);
    let counted: Vec<&SubjectSummary> = subjects.iter().filter(counts).collect();
    let events: u64 = outcomes.cases.iter().map(|case| case.events).sum();
    let simulation_ms = ms_of_events(events as f64 / cases.max(1) as f64, trials);
    let means = counted.iter().filter_map(|subject| Some(subject.duration_ms?.mean));
    // Not `sum`, which has -0 for nothing.
    let execution_ms = means.fold(0.0, |sum, mean| sum + mean) / counted.len().max(1) as f64;
    let total_ms = cases as f64 * (simulation_ms * (mutants + 1) as f64 + execution_ms * counted.len() as f64);
    Preparation { cases, mutants, subjects: counted.len(), simulation_ms, execution_ms, total_s: total_ms / 1e3 }
}

/// Returns how long so many events of the simulation take.
pub(super) fn ms_of_events(events: f64, trials: &Trials) -> f64 {
    events * trials.simulation_ns_per_event as f64 / 1e6
}
