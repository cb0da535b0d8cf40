//! The suites of an analysis, judged by implementations of one kind.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, CriterionKind, Outcomes, Subject, Trials};

use super::choosing::SelectionCurves;
use super::correlation::Correlation;
use super::inputs;
use super::observed::Observed;
use super::operators::{OperatorWorth, operators};
use super::order::Foreseen;
use super::predictions::{Prediction, predictions};
use super::preparation::ms_of_events;
use super::subjects::SubjectKind;
use crate::analysis::Analysis;
use crate::baseline::RandomBaseline;
use crate::boosting::{self, Faults, Kills};
use crate::conventional::{self, CostEffectiveness};
use crate::criteria::CriterionAnalysis;
use crate::expected::greedy::most_in_time;
use crate::kills::KillsByCase;
use crate::missing::missing_of_suite;
use crate::mutants::MutantClass;
use crate::options::AnalysisOptions;
use crate::probabilities::KillProbabilities;
use crate::ranking::{self, Comparing, Killed, Ranking};
use crate::seconds::seconds;
use crate::statistics::{Bootstrap, Summary};
use crate::suites::AdequateSuite;
use crate::{detection, same_size};

/// The experiments with implementations of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// Which ones.
    pub kind: SubjectKind,
    /// Indices into [`Experiment::subjects`](crate::Experiment::subjects) of those that count.
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
    pub choosing: Option<SelectionCurves>,
    /// The same by the time that test cases take; `None` without re-seedings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choosing_in_time: Option<SelectionCurves>,
    /// Whether test cases that kill many mutants are those on which many of the implementations fail.
    pub correlation: Correlation,
    /// What the mutants of each operator say of the implementations; empty if test cases were not re-seeded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<OperatorWorth>,
}

/// Verdicts of one repetition say what is found for certain; of several, what is found with which probability. Scores
/// are expected shares then. Boosting is judged in each repetition by itself, and on average over these, and detection
/// by the first one.
pub(super) fn judge(
    outcomes: &Outcomes,
    (analysis, by): (&Analysis, Option<&KillProbabilities>),
    trials: &Trials,
    (kind, subjects): (SubjectKind, Vec<usize>),
    chosen: (&[Vec<usize>], Option<&[usize]>),
    threads: NonZeroUsize,
) -> Findings {
    let options = &analysis.options;
    let cases = outcomes.cases.len();
    let counted = || subjects.iter().map(|&subject| &trials.subjects[subject]);
    let failures: Vec<BitSet> = counted().map(|subject| subject.failed.clone()).collect();
    let in_each: Vec<BitSet> = counted().flat_map(Subject::repetitions).cloned().collect();
    let observed = Observed::new(counted(), trials.redraws);
    let missing = &observed.missing;
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
        RandomBaseline::of_probabilities(missing, cases, size_max)
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
        let same_size = same_size::same_size_of(&suites, expected, &baseline, (level, &bootstrap));
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
    let choosing_in_time = by.and_then(|by| {
        let seconds = seconds(outcomes, options);
        // Programs may take other times than those that are expected, so the order is longer than the largest budget.
        let order = most_in_time(&by.coupled(options.coupling), &seconds, seconds.iter().sum());
        SelectionCurves::in_time(outcomes, &observed, &order, options, threads)
    });
    Findings {
        kind,
        subjects,
        cost_effectiveness: conventional::cost_effectiveness(&criteria, random, options.alpha),
        predictions: predictions(&analysis.ranking, &ranking, &criteria, options.alpha),
        foreseen: Foreseen::new(analysis, &criteria, &found_on_average, options, threads),
        choosing: SelectionCurves::new(outcomes, &observed, chosen, options, threads),
        choosing_in_time,
        correlation: Correlation::new(outcomes, analysis, by, missing),
        operators: by.map_or_else(Vec::new, |by| {
            operators(outcomes, &by.coupled(options.coupling), &observed, options, threads)
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
fn costs_ms(trials: &Trials, kind: SubjectKind, cases: usize) -> Vec<f64> {
    let subjects: Vec<&Subject> = trials.subjects.iter().filter(|subject| kind.has(subject.origin)).collect();
    let median = |case: usize| {
        let durations: Vec<f64> = subjects.iter().map(|subject| subject.durations_ms[case] as f64).collect();
        inputs::median(&durations).expect("there is an implementation of the kind")
    };
    (0..cases).map(median).collect()
}

/// Equation 4.1 in milliseconds: what the analysis of a suite takes on the simulation, and its test cases on an
/// implementation.
fn cost_ms(
    suite: &AdequateSuite,
    kind: CriterionKind,
    trials: &Trials,
    costs_ms: &[f64],
    options: &AnalysisOptions,
) -> f64 {
    let analysis = match kind {
        CriterionKind::WhiteBox | CriterionKind::Trace => ms_of_events(suite.events_considered as f64, trials),
        CriterionKind::BlackBox => 0.0,
    };
    let execution: f64 = suite.cases.iter().map(|&case| costs_ms[case]).sum();
    analysis + f64::from(options.cost_multiplier) * execution
}
