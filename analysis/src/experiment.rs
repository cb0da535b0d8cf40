//! The three experiments of the thesis (sections 4.3 to 4.5): whether what mutants of the simulation say of suites and
//! criteria holds for real implementations.
//!
//! [`experiment`] takes the suites of an [`Analysis`] and what implementations did with every test case of the universe
//! ([`Trials`]). A faulty implementation takes the place of a mutant, so the effectiveness of a suite, the share of the
//! implementations that fail on at least one of its test cases, is computed as a mutant score is, with the same
//! statistics.

mod choosing;
mod correlation;
mod findings;
mod inputs;
mod observed;
mod operators;
mod order;
mod predictions;
mod preparation;
mod probability;
mod subjects;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, FORMAT_VERSION, LeftOut, Origin, Outcomes, Trials};

use crate::analysis::Analysis;
use crate::building::order_by_kills;
use crate::mutants::ClassCounts;
use crate::options::AnalysisOptions;
use crate::probabilities::KillProbabilities;

use findings::judge;
use preparation::preparation;
use subjects::summary;

pub use choosing::{AtBudget, BUDGETS, Curve, SelectionCurves, SuiteUnit};
pub use correlation::Correlation;
pub use findings::Findings;
pub use inputs::{Characteristic, Input, Region};
pub use observed::Resampled;
pub use operators::OperatorWorth;
pub use order::Foreseen;
pub use predictions::{Prediction, SameSizePrediction, Share};
pub use preparation::Preparation;
pub use probability::Failing;
pub use subjects::{PATHOLOGICAL_ABOVE, SubjectClass, SubjectKind, SubjectSummary};

/// What the experiments found: plain data. No field is ever NaN or infinite: what is not defined is `None`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The system.
    pub system: String,
    /// The seed of the universe.
    pub universe_seed: u64,
    /// How the suites were analysed.
    pub options: AnalysisOptions,
    /// How often each test case ran on each implementation.
    pub repetitions: usize,
    /// With how many seeds it did: fates of datagrams, which are the same for all implementations. One if repetitions do not
    /// differ in them.
    #[serde(default = "one")]
    pub seeds: usize,
    /// The implementations (table 4.1).
    pub subjects: Vec<SubjectSummary>,
    /// The implementations that do not take part.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
    /// The mutants by class (table 4.2).
    #[serde(default)]
    pub mutants: ClassCounts,
    /// How many of them the thesis would use (N_u of table 4.2).
    #[serde(default)]
    pub mutants_used_in_thesis: usize,
    /// What it takes to run everything (table 4.3), on implementations that are no mutants.
    pub preparation: Preparation,
    /// The same on mutants of an implementation, if there are any.
    #[serde(default)]
    pub mutant_preparation: Option<Preparation>,
    /// On which inputs each implementation fails (tables 4.4 to 4.6).
    pub inputs: Vec<Input>,
    /// The experiments, for each kind of implementation by itself that has any which counts.
    pub findings: Vec<Findings>,
}

fn one() -> usize {
    1
}

/// Trials that do not belong to the outcomes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrialsError {
    /// They are of another system or universe.
    #[error("the trials are of {found}, the study is of {expected}")]
    OtherUniverse {
        /// What the trials are of.
        found: String,
        /// What the outcomes are of.
        expected: String,
    },
    /// An implementation was not tried with each test case.
    #[error("`{subject}` was tried with {found} test cases, the universe has {expected}")]
    Incomplete {
        /// The implementation.
        subject: String,
        /// How many test cases it was tried with.
        found: usize,
        /// How many there are.
        expected: usize,
    },
    /// Implementations were tried with different numbers of repetitions.
    #[error("`{subject}` was tried {found} times with each test case, others {expected} times")]
    OtherRepetitions {
        /// One implementation.
        subject: String,
        /// Its number.
        found: usize,
        /// That of the first implementation.
        expected: usize,
    },
}

/// Judges the suites of `analysis` by what implementations did; any number of threads gives the same bytes.
///
/// `chosen` are orders of test cases, each beginning of which the campaign chooses for its size. If there are none, it
/// is the order in which each test case is expected to kill most that those before it do not, or, without re-seedings,
/// the one in which it does on its own seed.
///
/// # Errors
/// [`TrialsError`] if the trials are not of the universe of `outcomes`.
///
/// # Panics
/// If `analysis` is not one of `outcomes`.
pub fn experiment(
    outcomes: &Outcomes,
    analysis: &Analysis,
    trials: &Trials,
    chosen: &[Vec<usize>],
    threads: NonZeroUsize,
) -> Result<Experiment, TrialsError> {
    validate(outcomes, trials)?;
    let cases = outcomes.cases.len();
    let own_seeds = order_by_kills(outcomes, analysis);
    let by_default = vec![analysis.expected.as_ref().map_or(&own_seeds, |expected| &expected.greedy).clone()];
    let chosen = if chosen.is_empty() { &by_default } else { chosen };
    let own_seeds = analysis.expected.is_some().then_some(&*own_seeds);
    let probabilities = KillProbabilities::of(outcomes, &analysis.mutants);
    let probabilities = probabilities.as_ref();
    let alpha = analysis.options.alpha;
    let subjects: Vec<SubjectSummary> = trials.subjects.iter().map(|subject| summary(subject, cases, alpha)).collect();
    let findings = SubjectKind::ALL.into_iter().filter_map(|kind| {
        let has = |place: &usize| subjects[*place].class == SubjectClass::Counted && kind.has(subjects[*place].origin);
        let counted: Vec<usize> = (0..subjects.len()).filter(has).collect();
        (!counted.is_empty())
            .then(|| judge(outcomes, (analysis, probabilities), trials, (kind, counted), (chosen, own_seeds), threads))
    });
    let findings = findings.collect();
    let repetitions = trials.subjects.first().map_or(1, |subject| subject.repetitions().count());
    Ok(Experiment {
        format_version: FORMAT_VERSION,
        system: outcomes.system.clone(),
        universe_seed: outcomes.seed,
        options: analysis.options.clone(),
        repetitions,
        seeds: if trials.redraws { repetitions } else { 1 },
        mutants: analysis.mutants.counts,
        mutants_used_in_thesis: analysis.mutants.counts.used_in_thesis(),
        preparation: preparation(outcomes, analysis, trials, SubjectKind::Implementations, &subjects),
        mutant_preparation: subjects
            .iter()
            .any(|subject| subject.origin == Origin::Mutant)
            .then(|| preparation(outcomes, analysis, trials, SubjectKind::ImplementationMutants, &subjects)),
        inputs: inputs::characterise(outcomes, trials, &subjects),
        subjects,
        left_out: trials.left_out.clone(),
        findings,
    })
}

fn validate(outcomes: &Outcomes, trials: &Trials) -> Result<(), TrialsError> {
    if (&outcomes.system, outcomes.seed) != (&trials.system, trials.seed) {
        let name = |system: &str, seed: u64| format!("{system} with seed {seed}");
        return Err(TrialsError::OtherUniverse {
            found: name(&trials.system, trials.seed),
            expected: name(&outcomes.system, outcomes.seed),
        });
    }
    let expected = outcomes.cases.len();
    let repetitions = trials.subjects.first().map_or(1, |subject| subject.repetitions().count());
    for subject in &trials.subjects {
        let name = || subject.name.clone();
        let mut counts = subject.repetitions().map(BitSet::len).chain([subject.durations_ms.len()]);
        if let Some(found) = counts.clone().min().filter(|_| counts.any(|count| count != expected)) {
            return Err(TrialsError::Incomplete { subject: name(), found, expected });
        }
        let found = subject.repetitions().count();
        if found != repetitions {
            return Err(TrialsError::OtherRepetitions { subject: name(), found, expected: repetitions });
        }
    }
    Ok(())
}
