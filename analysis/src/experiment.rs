//! The three experiments of the thesis (sections 4.3 to 4.5): whether what mutants of the simulation say of suites and
//! criteria holds for real implementations.
//!
//! [`experiment`] takes the suites of an [`Analysis`] and what implementations did with every test case of the universe
//! ([`Trials`]). A faulty implementation takes the place of a mutant, so the effectiveness of a suite, the share of the
//! implementations that fail on at least one of its test cases, is computed as a mutant score is, with the same
//! statistics.

mod choosing;
mod correlation;
mod inputs;
mod operators;
mod order;
mod predictions;
mod probability;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, CriterionKind, FORMAT_VERSION, LeftOut, Origin, Outcomes, Subject, Trials};

use crate::analysis::Analysis;
use crate::baseline::RandomBaseline;
use crate::boosting::{self, Faults, Kills};
use crate::conventional::{self, CostEffectiveness};
use crate::criteria::CriterionAnalysis;
use crate::detection;
use crate::expected::KillProbabilities;
use crate::kills::KillsByCase;
use crate::missing::missing_of_suite;
use crate::mutants::MutantClass;
use crate::options::Options;
use crate::ranking::{self, Comparing, Killed, Ranking};
use crate::statistics::{Bootstrap, Summary};
use crate::suites::AdequateSuite;
use crate::suites::built::order_by_kills;

pub use choosing::{Choosing, Curve};
pub use correlation::Correlation;
pub use inputs::{Characteristic, Input, Region};
pub use operators::OperatorWorth;
pub use order::Foreseen;
pub use predictions::{Prediction, SameSizePrediction, Share};
pub use probability::Failing;

/// An implementation that fails on more than this share of the universe is pathological: 0.2 in section 4.2.1.2.
pub const PATHOLOGICAL_ABOVE: f64 = 0.2;

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
    pub options: Options,
    /// How often each test case ran on each implementation.
    pub repetitions: usize,
    /// The implementations (table 4.1).
    pub subjects: Vec<SubjectSummary>,
    /// The implementations that do not take part.
    #[serde(default)]
    pub left_out: Vec<LeftOut>,
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

/// Sizes and mean times, and what they come to: table 4.3.
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

/// The implementations that are judged together. Mutants of an implementation stand apart: they share their operators
/// with the mutants that choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Programs with the faults that people make.
    Implementations,
    /// Mutants of a program.
    ImplementationMutants,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Implementations, Self::ImplementationMutants];

    /// Returns whether an implementation with faults from there is of this kind.
    pub fn has(self, origin: Origin) -> bool {
        (self == Self::ImplementationMutants) == (origin == Origin::Mutant)
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Implementations => "implementations",
            Self::ImplementationMutants => "mutants of an implementation",
        })
    }
}

/// The experiments with implementations of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Which ones.
    pub kind: Kind,
    /// Indices into [`Experiment::subjects`] of those that count.
    pub subjects: Vec<usize>,
    /// The criteria of the analysis, with implementations in the place of mutants: a score is an effectiveness, a
    /// detection is of a place in `subjects`, boosting is chosen by mutants and judged by implementations (experiments
    /// 1 and 2). Costs are in milliseconds.
    pub criteria: Vec<CriterionAnalysis>,
    /// Cost and effectiveness against random suites of each size (experiment 1), in milliseconds.
    pub cost_effectiveness: CostEffectiveness,
    /// The order of the criteria by effectiveness.
    pub ranking: Ranking,
    /// What the mutants said of each pair of criteria, and what the implementations say (experiment 3).
    pub predictions: Vec<Prediction>,
    /// How well mutants foresee the order of the criteria, and how well sizes of suites alone do; `None` if there is
    /// no order.
    pub foreseen: Option<Foreseen>,
    /// The expected share of the implementations that each suite of each criterion finds.
    pub expected: Vec<Vec<f64>>,
    /// What chosen suites of each size find, beside rules of thumb and random ones; `None` without test cases.
    pub choosing: Option<Choosing>,
    /// Whether test cases that kill many mutants are those on which many of the implementations fail.
    pub correlation: Correlation,
    /// What the mutants of each operator say of the implementations; empty if test cases were not re-seeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<OperatorWorth>,
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
    let findings = Kind::ALL.into_iter().filter_map(|kind| {
        let has = |place: &usize| subjects[*place].class == SubjectClass::Counted && kind.has(subjects[*place].origin);
        let counted: Vec<usize> = (0..subjects.len()).filter(has).collect();
        (!counted.is_empty())
            .then(|| judge(outcomes, (analysis, probabilities), trials, (kind, counted), (chosen, own_seeds), threads))
    });
    let findings = findings.collect();
    Ok(Experiment {
        format_version: FORMAT_VERSION,
        system: outcomes.system.clone(),
        universe_seed: outcomes.seed,
        options: analysis.options.clone(),
        repetitions: trials.subjects.first().map_or(1, |subject| subject.repetitions().count()),
        preparation: preparation(outcomes, analysis, trials, Kind::Implementations, &subjects),
        mutant_preparation: subjects
            .iter()
            .any(|subject| subject.origin == Origin::Mutant)
            .then(|| preparation(outcomes, analysis, trials, Kind::ImplementationMutants, &subjects)),
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

fn summary(subject: &Subject, cases: usize, alpha: f64) -> SubjectSummary {
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

fn preparation(
    outcomes: &Outcomes,
    analysis: &Analysis,
    trials: &Trials,
    kind: Kind,
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

fn ms_of_events(events: f64, trials: &Trials) -> f64 {
    events * trials.simulation_ns_per_event as f64 / 1e6
}

/// Verdicts of one repetition say what is found for certain; of several, what is found with which probability. Scores
/// are expected shares then. Boosting is judged in each repetition by itself, and on average over these, and detection
/// by the first one.
fn judge(
    outcomes: &Outcomes,
    (analysis, by): (&Analysis, Option<&KillProbabilities>),
    trials: &Trials,
    (kind, subjects): (Kind, Vec<usize>),
    chosen: (&[Vec<usize>], Option<&[usize]>),
    threads: NonZeroUsize,
) -> Findings {
    let options = &analysis.options;
    let cases = outcomes.cases.len();
    let counted = || subjects.iter().map(|&subject| &trials.subjects[subject]);
    let failures: Vec<BitSet> = counted().map(|subject| subject.failed.clone()).collect();
    let in_each: Vec<BitSet> = counted().flat_map(Subject::repetitions).cloned().collect();
    let missing: Vec<Vec<f64>> = counted().map(probability::missing).collect();
    let is_certain = in_each.len() == failures.len();
    let count = failures.len();
    let all: BitSet = (0..count).collect();
    let (mutants, found) = (KillsByCase::new(outcomes), KillsByCase::of_rows(&failures, cases));
    let (found_in_each, all_in_each) = (KillsByCase::of_rows(&in_each, cases), (0..in_each.len()).collect());
    let choosing: BitSet = match by {
        Some(probabilities) => probabilities.mutants.iter().copied().collect(),
        None => analysis.mutants.of(MutantClass::Analysed),
    };
    let kills = by.map_or(Kills::Certain(&mutants), Kills::Likely);
    let choosing = Faults { kills, counted: &choosing };
    let baseline = if is_certain {
        RandomBaseline::new(&failures, cases)
    } else {
        let sizes = analysis.criteria.iter().flat_map(|criterion| &criterion.suites).map(|suite| suite.cases.len());
        let size_max = sizes.max().unwrap_or(0).max(options.random_size_max.min(cases));
        RandomBaseline::of_probabilities(&missing, cases, size_max)
    };
    let costs = costs_ms(trials, kind, cases);
    let level = 1.0 - options.alpha;

    let mut found_by_suites: Vec<Vec<BitSet>> = Vec::with_capacity(analysis.criteria.len());
    let mut criteria: Vec<CriterionAnalysis> = Vec::with_capacity(analysis.criteria.len());
    // Shape `criteria x suites x implementations`.
    let probabilities: Vec<Vec<Vec<f64>>> = analysis
        .criteria
        .iter()
        .map(|criterion| {
            let found = |suite: &AdequateSuite| {
                missing.iter().map(|missing| 1.0 - missing_of_suite(missing, &suite.cases)).collect()
            };
            criterion.suites.iter().map(found).collect()
        })
        .collect();
    let mean = |found: &Vec<f64>| found.iter().sum::<f64>() / count as f64;
    let expected: Vec<Vec<f64>> = probabilities.iter().map(|found| found.iter().map(mean).collect()).collect();
    for ((criterion, by_mutants), expected) in outcomes.criteria.iter().zip(&analysis.criteria).zip(&expected) {
        let found_by_suite: Vec<BitSet> = by_mutants.suites.iter().map(|suite| found.of_suite(&suite.cases)).collect();
        let suites: Vec<AdequateSuite> = by_mutants
            .suites
            .iter()
            .zip(&found_by_suite)
            .map(|(suite, found)| AdequateSuite { killed: found.count_ones(..), dominators_killed: 0, ..suite.clone() })
            .collect();
        let purpose = format!("effectiveness of {}", criterion.name);
        let bootstrap = Bootstrap { seed: options.seed, purpose: &purpose, resamples: options.resamples, threads };
        let same_size = conventional::same_size_of(&suites, expected, &baseline, (level, &bootstrap));
        let detection = detection::detections(&suites, &found_by_suite, &all, &failures, level);
        let judges = Faults { kills: Kills::Certain(&found_in_each), counted: &all_in_each };
        let boosting = boosting::boost(&criterion.name, &suites, choosing, judges, options);
        let costs = suites.iter().map(|suite| cost_ms(suite, criterion.kind, trials, &costs, options));
        let cost = Summary::of(&costs.collect::<Vec<f64>>());
        let summary = CriterionAnalysis::new(criterion, suites, count, 0, options.cost_multiplier);
        let score = Summary::of(expected);
        criteria.push(CriterionAnalysis { score, same_size, boosting, detection, cost, ..summary });
        found_by_suites.push(found_by_suite);
    }
    conventional::correct(&mut criteria);

    let no_classes = RandomBaseline::new([], cases);
    let random = conventional::random_sizes(&costs, &baseline, &no_classes, options);
    let rows: Vec<BitSet> = counted().map(|subject| in_a_row(subject, cases)).collect();
    let weights = vec![1.0; count];
    let comparing = Comparing {
        functions: (0..count).collect(),
        analysed: &all,
        different: ranking::different(rows.iter().map(BitSet::as_slice).enumerate()),
        killed: if is_certain {
            Killed::Certain(&found_by_suites)
        } else {
            Killed::Likely { probabilities: &probabilities, weights: &weights }
        },
        options,
        threads,
    };
    let ranking = ranking::rank(&criteria, &comparing);
    let found_on_average: Vec<Vec<f64>> = probabilities
        .iter()
        .map(|suites| {
            let mean = |subject: usize| suites.iter().map(|found| found[subject]).sum::<f64>() / suites.len() as f64;
            (0..count).map(mean).collect()
        })
        .collect();
    Findings {
        kind,
        subjects,
        cost_effectiveness: conventional::cost_effectiveness(&criteria, random, options.alpha),
        predictions: predictions::predictions(&analysis.ranking, &ranking, &criteria, options.alpha),
        foreseen: Foreseen::new(analysis, &criteria, &found_on_average, options, threads),
        choosing: Choosing::new(outcomes, &missing, chosen, options, threads),
        correlation: Correlation::new(outcomes, analysis, by, &missing),
        operators: by.map_or_else(Vec::new, |by| {
            operators::operators(outcomes, &by.coupled(options.coupling), &missing, options, threads)
        }),
        expected,
        criteria,
        ranking,
    }
}

/// Returns what failed in all repetitions, one after the other.
fn in_a_row(subject: &Subject, cases: usize) -> BitSet {
    let failed = subject.repetitions().enumerate();
    let mut row = BitSet::with_capacity(cases * subject.repetitions().count());
    row.extend(failed.flat_map(|(repetition, failed)| failed.ones().map(move |case| repetition * cases + case)));
    row
}

/// What each test case takes on an implementation, in milliseconds: the median over all of the kind, so that one that
/// hangs counts for no more than one that is slow.
fn costs_ms(trials: &Trials, kind: Kind, cases: usize) -> Vec<f64> {
    let subjects: Vec<&Subject> = trials.subjects.iter().filter(|subject| kind.has(subject.origin)).collect();
    let median = |case: usize| {
        let durations: Vec<f64> = subjects.iter().map(|subject| subject.durations_ms[case] as f64).collect();
        inputs::median(&durations).expect("there is an implementation of the kind")
    };
    (0..cases).map(median).collect()
}

/// Equation 4.1 in milliseconds: what the analysis of a suite takes on the simulation, and its test cases on an
/// implementation.
fn cost_ms(suite: &AdequateSuite, kind: CriterionKind, trials: &Trials, costs_ms: &[f64], options: &Options) -> f64 {
    let analysis = match kind {
        CriterionKind::WhiteBox | CriterionKind::Trace => ms_of_events(suite.events_considered as f64, trials),
        CriterionKind::BlackBox => 0.0,
    };
    let execution: f64 = suite.cases.iter().map(|&case| costs_ms[case]).sum();
    analysis + f64::from(options.cost_multiplier) * execution
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use crate::reference::Agreement;
    use simutant_synthetic::{eight_subjects, from_kills, subject, synthetic, trials};

    fn few_resamples() -> Options {
        Options { resamples: 200, ..Options::default() }
    }

    #[track_caller]
    fn run(outcomes: &Outcomes, subjects: Vec<Subject>) -> (Analysis, Experiment) {
        let analysis = analyse(outcomes, &few_resamples()).expect("sound outcomes");
        let found =
            experiment(outcomes, &analysis, &trials(outcomes, subjects), &[], NonZeroUsize::MIN).expect("trials");
        let json = serde_json::to_string(&found).expect("plain data");
        let read: Experiment = serde_json::from_str(&json).expect("an experiment can be read back");
        assert_eq!(read.subjects.len(), found.subjects.len());
        let undefined = format!("{found:?}");
        let undefined = undefined.split(|c: char| !c.is_alphanumeric()).find(|word| matches!(*word, "NaN" | "inf"));
        assert_eq!(undefined, None, "{found:?}");
        (analysis, found)
    }

    /// Mutants whose rows are implementations' too: what is predicted is what is found.
    #[test]
    fn implementations_that_are_as_the_mutants_agree_with_them() {
        let outcomes = synthetic(300, 2);
        let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
        let mutants: Vec<usize> = analysis
            .mutants
            .of(MutantClass::Analysed)
            .ones()
            .filter(|&mutant| outcomes.kills[mutant].count_ones(..) <= 60)
            .collect();
        assert!(mutants.len() > 5, "{mutants:?}");
        let subjects = mutants.iter().map(|&mutant| subject(&format!("m{mutant}"), Origin::Mistake, &outcomes, mutant));
        let (analysis, found) = run(&outcomes, subjects.collect());
        let findings = &found.findings[0];
        assert_eq!(findings.subjects.len(), mutants.len());
        let share = Share::of(findings.predictions.iter().map(|prediction| prediction.agreement));
        assert_eq!(share.differ, 0, "{share:?}");
        assert!(share.agree >= share.total() / 2, "{share:?}");
        // Each suite finds the implementations whose mutants it kills.
        let kills = KillsByCase::new(&outcomes);
        let counted: BitSet = mutants.iter().copied().collect();
        for (judged, by_mutants) in findings.criteria.iter().zip(&analysis.criteria) {
            for (found, suite) in judged.suites.iter().zip(&by_mutants.suites) {
                assert_eq!(found.killed, kills.of_suite(&suite.cases).intersection_count(&counted));
            }
        }
    }

    /// Returns what is predicted of two criteria: `first` asks for one of the eight test cases that kill all mutants,
    /// `second` for one of the next eight, of which implementations fail on six.
    fn contrary_prediction() -> Prediction {
        let half = format!("{}{}", "k".repeat(8), ".".repeat(32));
        let mut outcomes = from_kills(&[&half, &half, &half]);
        let requirement = |name: &str, cases: std::ops::Range<usize>| {
            let mut criterion = outcomes.criteria[0].clone();
            criterion.name = name.into();
            criterion.requirements = vec!["it".into()];
            criterion.covered = (0..40).map(|case| (0..usize::from(cases.contains(&case))).collect()).collect();
            criterion.covered.iter_mut().for_each(|covered: &mut BitSet| covered.grow(1));
            criterion
        };
        outcomes.criteria = vec![requirement("first", 0..8), requirement("second", 8..16)];
        let mut failing = subject("contrary", Origin::Release, &outcomes, 0);
        failing.failed = (8..14).collect();
        failing.failed.grow(40);
        let (_, found) = run(&outcomes, vec![failing]);
        let [prediction] = found.findings[0].predictions.as_slice() else { panic!("{:?}", found.findings) };
        *prediction
    }

    #[test]
    fn the_opposite_of_what_mutants_say_is_told() {
        // Criterion `first` asks for the one half, which kills all mutants; implementations fail in the other.
        let prediction = contrary_prediction();
        assert_eq!((prediction.better, prediction.worse), (1, 0));
        assert_eq!((prediction.agreement, prediction.agreement_by_thesis), (Agreement::Differs, Agreement::Differs));
    }

    #[test]
    fn implementations_are_counted_by_kind_and_rate() {
        let outcomes = from_kills(&["k.........", "kkk.......", ".........."]);
        let subjects = vec![
            subject("release", Origin::Release, &outcomes, 0),
            subject("mutant", Origin::Mutant, &outcomes, 0),
            subject("pathological", Origin::Mistake, &outcomes, 1),
            subject("right", Origin::Release, &outcomes, 2),
        ];
        let (_, found) = run(&outcomes, subjects);
        let classes: Vec<SubjectClass> = found.subjects.iter().map(|subject| subject.class).collect();
        let expected =
            [SubjectClass::Counted, SubjectClass::Counted, SubjectClass::Pathological, SubjectClass::NeverFails];
        assert_eq!(classes, expected);
        let findings: Vec<(Kind, &[usize])> =
            found.findings.iter().map(|judged| (judged.kind, judged.subjects.as_slice())).collect();
        assert_eq!(findings, [(Kind::Implementations, &[0][..]), (Kind::ImplementationMutants, &[1][..])]);
        assert_eq!(found.preparation.subjects, 1);
        assert_eq!(found.mutant_preparation.map(|preparation| preparation.subjects), Some(1));
    }

    #[test]
    fn verdicts_that_repeat_say_what_one_run_says() {
        let outcomes = synthetic(120, 4);
        let (_, once) = run(&outcomes, eight_subjects(&outcomes, |_| Vec::new()));
        let (_, thrice) = run(&outcomes, eight_subjects(&outcomes, |failed| vec![failed.clone(); 2]));
        assert_eq!((once.repetitions, thrice.repetitions), (1, 3));
        let (once, thrice) = (&once.findings[0], &thrice.findings[0]);
        assert_eq!(once.expected, thrice.expected);
        assert_eq!(once.ranking, thrice.ranking);
        assert_eq!(once.predictions, thrice.predictions);
        assert_eq!(once.foreseen, thrice.foreseen);
        assert_eq!(once.choosing, thrice.choosing);
        let near = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one} is not {other}");
        for (once, thrice) in once.criteria.iter().zip(&thrice.criteria) {
            assert_eq!((&once.score, &once.detection), (&thrice.score, &thrice.detection));
            let (once, thrice) = (once.same_size.as_ref().expect("suites"), thrice.same_size.as_ref().expect("suites"));
            near(once.random_mean, thrice.random_mean);
            near(once.gain.mean, thrice.gain.mean);
        }
        let boosted = |findings: &Findings| {
            let steps =
                findings.criteria.iter().flat_map(|criterion| &criterion.boosting).flat_map(|found| &found.steps);
            steps.map(|step| step.score.mean).collect::<Vec<f64>>()
        };
        assert!(!boosted(once).is_empty());
        boosted(once).into_iter().zip(boosted(thrice)).for_each(|(once, thrice)| near(once, thrice));
        for (once, thrice) in once.cost_effectiveness.random.iter().zip(&thrice.cost_effectiveness.random) {
            let (once, thrice) = (once.score.expect("moments"), thrice.score.expect("moments"));
            near(once.mean, thrice.mean);
            // A square root makes much of what rounding leaves of a difference.
            assert!((once.sd - thrice.sd).abs() < 1e-6, "{once:?} {thrice:?}");
        }
    }

    #[test]
    fn effectiveness_is_the_expected_share_over_repetitions() {
        let outcomes = from_kills(&["k.........", ".k........", "..k......."]);
        let set = |cases: &[usize]| {
            let mut set: BitSet = cases.iter().copied().collect();
            set.grow(10);
            set
        };
        let failing = |name: &str, each: &[&[usize]]| Subject {
            failed: set(each[0]),
            again: each[1..].iter().map(|cases| set(cases)).collect(),
            ..subject(name, Origin::Release, &outcomes, 0)
        };
        // In one of four on test case 0; in two of four on each of 1 and 2.
        let subjects = vec![failing("seldom", &[&[], &[0], &[], &[]]), failing("often", &[&[1], &[1, 2], &[2], &[]])];
        let (analysis, found) = run(&outcomes, subjects);
        let seldom = &found.subjects[0];
        assert_eq!((seldom.failed, seldom.failed_always, seldom.failure_rate), (1, 0, 1.0 / 40.0));
        assert_eq!((seldom.failing[0].case, seldom.failing[0].failed, seldom.failing[0].probability), (0, 1, 0.25));
        // Wilson's interval of 1 of 4, by statsmodels: proportion_confint(1, 4, method='wilson').
        let interval = seldom.failing[0].interval;
        assert!(
            (interval.lower - 0.045_587_269).abs() < 1e-6 && (interval.upper - 0.699_358_157).abs() < 1e-6,
            "{interval:?}"
        );
        let findings = &found.findings[0];
        for (expected, criterion) in findings.expected.iter().zip(&analysis.criteria) {
            for (expected, suite) in expected.iter().zip(&criterion.suites) {
                let has = |case: usize| f64::from(u8::from(suite.cases.contains(&case)));
                let missed = (1.0 - 0.25 * has(0)) + (1.0 - 0.5 * has(1)) * (1.0 - 0.5 * has(2));
                assert!((expected - (1.0 - missed / 2.0)).abs() < 1e-12, "{expected} of {:?}", suite.cases);
            }
        }
    }

    #[test]
    fn repetitions_are_of_one_number() {
        let outcomes = from_kills(&["k...", ".k.."]);
        let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
        let mut subjects =
            vec![subject("one", Origin::Release, &outcomes, 0), subject("two", Origin::Release, &outcomes, 1)];
        subjects[1].again.push(outcomes.kills[0].clone());
        let error = experiment(&outcomes, &analysis, &trials(&outcomes, subjects), &[], NonZeroUsize::MIN);
        let error = error.expect_err("one ran once, the other twice").to_string();
        assert!(error.contains("`two` was tried 2 times with each test case, others 1 times"), "{error}");
    }

    #[test]
    fn orders_of_the_campaign_are_chosen_by() {
        let outcomes = from_kills(&["k.....", ".k...."]);
        let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
        let trials = trials(&outcomes, vec![subject("one", Origin::Release, &outcomes, 0)]);
        let shares = |chosen: &[Vec<usize>]| {
            let found = experiment(&outcomes, &analysis, &trials, chosen, NonZeroUsize::MIN).expect("trials");
            found.findings[0].choosing.clone().expect("test cases").chosen.shares
        };
        assert_eq!(shares(&[vec![5, 4, 3, 2, 0, 1]]), [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
        assert_eq!(shares(&[])[1], 1.0, "two test cases kill all mutants");
    }

    #[test]
    fn at_equal_size_the_opposite_can_be_found() {
        // Each criterion asks for a quarter of the universe, so all suites have one test case. Mutants are killed in
        // the first quarter, implementations fail in the second.
        let prediction = contrary_prediction();
        assert_eq!(prediction.agreement_same_size, Agreement::Differs);
        let same_size = prediction.same_size.expect("all suites have one size");
        assert!(same_size.mutant_effect < 0.1 && same_size.effectiveness_effect > 0.8, "{same_size:?}");
        assert_eq!((prediction.size_effect, prediction.size_p), (0.5, None));
        assert_eq!(prediction.agreement_by_size, Agreement::Undecided);
    }

    #[test]
    fn trials_of_another_universe_are_refused() {
        let outcomes = from_kills(&["k...", ".k.."]);
        let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
        let check = |trials: &Trials, expect: &str| {
            let error = experiment(&outcomes, &analysis, trials, &[], NonZeroUsize::MIN).expect_err("they do not fit");
            assert!(error.to_string().contains(expect), "{error}");
        };
        let good = trials(&outcomes, vec![subject("one", Origin::Release, &outcomes, 0)]);
        check(&Trials { seed: 77, ..good.clone() }, "with seed 77, the study is of");
        let mut short = good;
        short.subjects[0].durations_ms.pop();
        check(&short, "`one` was tried with 3 test cases, the universe has 4");
    }

    #[test]
    fn any_number_of_threads_gives_the_same() {
        let outcomes = synthetic(80, 3);
        let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
        let subjects = (0..6).map(|mutant| subject(&mutant.to_string(), Origin::Release, &outcomes, 3 * mutant));
        let trials = trials(&outcomes, subjects.collect());
        let with = |threads| {
            let threads = NonZeroUsize::new(threads).expect("not 0");
            let found = experiment(&outcomes, &analysis, &trials, &[], threads).expect("trials");
            serde_json::to_string(&found).expect("plain data")
        };
        assert!(with(1) == with(3));
    }
}
