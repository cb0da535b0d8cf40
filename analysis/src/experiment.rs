//! The three experiments of the thesis (sections 4.3 to 4.5): whether what mutants of the simulation say of suites and
//! criteria holds for real implementations.
//!
//! [`experiment`] takes the suites of an [`Analysis`] and what implementations did with every test case of the universe
//! ([`Trials`]). A faulty implementation takes the place of a mutant, so the effectiveness of a suite, the share of the
//! implementations that fail on at least one of its test cases, is computed as a mutant score is, with the same
//! statistics.

mod inputs;
mod predictions;
mod tables;
mod thesis;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, CriterionKind, FORMAT_VERSION, LeftOut, Origin, Outcomes, Subject, Trials};

use crate::analysis::Analysis;
use crate::baseline::RandomBaseline;
use crate::boosting::{self, Faults};
use crate::conventional::{self, CostEffectiveness};
use crate::criteria::CriterionAnalysis;
use crate::detection;
use crate::kills::KillsByCase;
use crate::mutants::MutantClass;
use crate::options::Options;
use crate::ranking::{self, Comparing, Ranking};
use crate::statistics::{Bootstrap, Summary};
use crate::suites::AdequateSuite;

pub use inputs::{Characteristic, Input, Region};
pub use predictions::{Prediction, Share};
pub use tables::experiment_tables;
pub(crate) use tables::{CHANGE, by_rate, left_out, sentences, subject_columns, takes_part};

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
    /// How many test cases of the universe fail on it.
    pub failed: usize,
    /// The share of the universe that fails on it.
    pub failure_rate: f64,
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
    pub(crate) const ALL: [Self; 2] = [Self::Implementations, Self::ImplementationMutants];

    pub(crate) fn has(self, origin: Origin) -> bool {
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
}

/// Judges the suites of `analysis` by what implementations did; any number of threads gives the same bytes.
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
    threads: NonZeroUsize,
) -> Result<Experiment, TrialsError> {
    validate(outcomes, trials)?;
    let cases = outcomes.cases.len();
    let subjects: Vec<SubjectSummary> = trials.subjects.iter().map(|subject| summary(subject, cases)).collect();
    let findings = Kind::ALL.into_iter().filter_map(|kind| {
        let has = |place: &usize| subjects[*place].class == SubjectClass::Counted && kind.has(subjects[*place].origin);
        let counted: Vec<usize> = (0..subjects.len()).filter(has).collect();
        (!counted.is_empty()).then(|| judge(outcomes, analysis, trials, (kind, counted), threads))
    });
    let findings = findings.collect();
    Ok(Experiment {
        format_version: FORMAT_VERSION,
        system: outcomes.system.clone(),
        universe_seed: outcomes.seed,
        options: analysis.options.clone(),
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
    for Subject { name, failed, durations_ms, .. } in &trials.subjects {
        let found = failed.len().min(durations_ms.len());
        if (failed.len(), durations_ms.len()) != (expected, expected) {
            return Err(TrialsError::Incomplete { subject: name.clone(), found, expected });
        }
    }
    Ok(())
}

fn summary(subject: &Subject, cases: usize) -> SubjectSummary {
    let failed = subject.failed.count_ones(..);
    let failure_rate = if cases == 0 { 0.0 } else { failed as f64 / cases as f64 };
    let class = match failed {
        0 => SubjectClass::NeverFails,
        _ if failure_rate > PATHOLOGICAL_ABOVE => SubjectClass::Pathological,
        _ => SubjectClass::Counted,
    };
    let durations: Vec<f64> = subject.durations_ms.iter().map(|&duration| duration as f64).collect();
    SubjectSummary {
        name: subject.name.clone(),
        origin: subject.origin,
        description: subject.description.clone(),
        failed,
        failure_rate,
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

fn judge(
    outcomes: &Outcomes,
    analysis: &Analysis,
    trials: &Trials,
    (kind, subjects): (Kind, Vec<usize>),
    threads: NonZeroUsize,
) -> Findings {
    let options = &analysis.options;
    let cases = outcomes.cases.len();
    let failures: Vec<BitSet> = subjects.iter().map(|&subject| trials.subjects[subject].failed.clone()).collect();
    let count = failures.len();
    let all: BitSet = (0..count).collect();
    let (mutants, found) = (KillsByCase::new(outcomes), KillsByCase::of_rows(&failures, cases));
    let analysed = analysis.mutants.of(MutantClass::Analysed);
    let baseline = RandomBaseline::new(&failures, cases);
    let costs = costs_ms(trials, kind, cases);
    let level = 1.0 - options.alpha;

    let mut found_by_suites: Vec<Vec<BitSet>> = Vec::with_capacity(analysis.criteria.len());
    let mut criteria: Vec<CriterionAnalysis> = Vec::with_capacity(analysis.criteria.len());
    for (criterion, by_mutants) in outcomes.criteria.iter().zip(&analysis.criteria) {
        let found_by_suite: Vec<BitSet> = by_mutants.suites.iter().map(|suite| found.of_suite(&suite.cases)).collect();
        let suites: Vec<AdequateSuite> = by_mutants
            .suites
            .iter()
            .zip(&found_by_suite)
            .map(|(suite, found)| AdequateSuite { killed: found.count_ones(..), dominators_killed: 0, ..suite.clone() })
            .collect();
        let purpose = format!("effectiveness of {}", criterion.name);
        let bootstrap = Bootstrap { seed: options.seed, purpose: &purpose, resamples: options.resamples, threads };
        let same_size = conventional::same_size(&suites, count, &baseline, (level, &bootstrap));
        let detection = detection::detections(&suites, &found_by_suite, &all, &failures, level);
        let by = Faults { kills: &mutants, counted: &analysed };
        let judges = Faults { kills: &found, counted: &all };
        let boosting = boosting::boost(&criterion.name, &suites, by, judges, options);
        let costs = suites.iter().map(|suite| cost_ms(suite, criterion.kind, trials, &costs, options));
        let cost = Summary::of(&costs.collect::<Vec<f64>>());
        let summary = CriterionAnalysis::new(criterion, suites, count, 0, options.cost_multiplier);
        criteria.push(CriterionAnalysis { same_size, boosting, detection, cost, ..summary });
        found_by_suites.push(found_by_suite);
    }
    conventional::correct(&mut criteria);

    let no_classes = RandomBaseline::new([], cases);
    let random = conventional::random_sizes(&costs, &baseline, &no_classes, options);
    let comparing = Comparing {
        kills: &failures,
        functions: (0..count).collect(),
        analysed: &all,
        killed: &found_by_suites,
        options,
        threads,
    };
    let ranking = ranking::rank(&criteria, &comparing);
    Findings {
        kind,
        subjects,
        cost_effectiveness: conventional::cost_effectiveness(&criteria, random, options.alpha),
        predictions: predictions::predictions(&analysis.ranking, &ranking),
        criteria,
        ranking,
    }
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
    use crate::reference::Agreement;
    use crate::synthetic::{from_kills, of_the_thesis, synthetic};
    use crate::{analyse, experiment_report, experiment_tables};

    fn few_resamples() -> Options {
        Options { resamples: 200, ..Options::default() }
    }

    /// A subject that fails on the test cases that kill a mutant.
    fn subject(name: &str, origin: Origin, outcomes: &Outcomes, mutant: usize) -> Subject {
        Subject {
            name: name.into(),
            origin,
            description: format!("ROR at src/a.rs:{mutant}"),
            failed: outcomes.kills[mutant].clone(),
            durations_ms: (0..outcomes.cases.len() as u64).map(|case| 20 + case % 7).collect(),
        }
    }

    fn trials(outcomes: &Outcomes, subjects: Vec<Subject>) -> Trials {
        let why = || "its program is not there".into();
        let left_out = vec![LeftOut { name: "absent".into(), origin: Origin::Release, why: why() }];
        Trials {
            system: outcomes.system.clone(),
            seed: outcomes.seed,
            subjects,
            left_out,
            simulation_ns_per_event: 100,
        }
    }

    #[track_caller]
    fn run(outcomes: &Outcomes, subjects: Vec<Subject>) -> (Analysis, Experiment) {
        let analysis = analyse(outcomes, &few_resamples()).expect("sound outcomes");
        let found = experiment(outcomes, &analysis, &trials(outcomes, subjects), NonZeroUsize::MIN).expect("trials");
        let json = serde_json::to_string(&found).expect("plain data");
        let read: Experiment = serde_json::from_str(&json).expect("an experiment can be read back");
        assert_eq!(read.subjects.len(), found.subjects.len());
        for shown in [format!("{found:?}"), experiment_tables(&found, &analysis), experiment_report(&found, &analysis)]
        {
            let undefined = shown.split(|c: char| !c.is_alphanumeric()).find(|word| matches!(*word, "NaN" | "inf"));
            assert_eq!(undefined, None, "{shown}");
        }
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

    #[test]
    fn the_opposite_of_what_mutants_say_is_told() {
        // Criterion `first` asks for the one half, which kills all mutants; implementations fail in the other.
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
    fn mutants_of_implementations_have_tables_of_their_own() {
        let outcomes = from_kills(&["k.........", "kkk.......", ".k........"]);
        let subjects = vec![
            subject("release", Origin::Release, &outcomes, 0),
            subject("release~1", Origin::Mutant, &outcomes, 2),
            subject("release~2", Origin::Mutant, &outcomes, 1),
        ];
        let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
        let mut trials = trials(&outcomes, subjects);
        let left_out = |name: &str, why: &str| LeftOut { name: name.into(), origin: Origin::Mutant, why: why.into() };
        trials.left_out.extend([
            left_out("release~3", "none of the first 10 test cases reaches it"),
            left_out("release~4", "too many fail"),
            left_out("release~5", "none of the first 10 test cases reaches it"),
        ]);
        let found = experiment(&outcomes, &analysis, &trials, NonZeroUsize::MIN).expect("trials");
        assert_eq!(found.left_out.len(), 4, "each with its name");
        let text = experiment_tables(&found, &analysis);
        assert!(text.contains("10 test cases on 1 implementation, and 2 mutants of an implementation"), "{text}");
        // From its title to the next empty line.
        let table = |title: &str| {
            let at = text.find(title).unwrap_or_else(|| panic!("no {title} in {text}"));
            text[at..].split("\n\n").next().expect("there is a first part")
        };
        let own = table("Mutants of an implementation, as table 4.1");
        let others = table("Implementations (table 4.1)");
        assert!(own.contains("release~1") && own.contains("ROR at src/a.rs:2"), "{own}");
        assert!(!others.contains('~'), "{others}");
        assert!(own.contains("Left out, 2 mutants: none of the first 10 test cases reaches it."), "{own}");
        assert!(own.contains("Left out, 1 mutant: too many fail."), "{own}");
        assert!(!own.contains("absent") && others.contains("Left out, absent: "), "{own}{others}");
        let page = experiment_report(&found, &analysis);
        let (before, mutants) = page.split_once("<section id=\"mutants\">").expect("they have a section");
        assert!(!before.contains("release~") && mutants.contains("Left out, 2 mutants: "), "{page}");
        assert!(mutants.contains("release~1") && mutants.contains("ROR at src/a.rs:2"), "{page}");
    }

    #[test]
    fn nothing_that_counts_is_said_and_not_judged() {
        let outcomes = from_kills(&["k...", ".k..", "...."]);
        let (analysis, found) = run(&outcomes, vec![subject("right", Origin::Release, &outcomes, 2)]);
        assert_eq!((found.findings.len(), found.inputs.len()), (0, 0));
        assert!(experiment_tables(&found, &analysis).contains("there is nothing to judge suites by"));
        for shown in [experiment_tables(&found, &analysis), experiment_report(&found, &analysis)] {
            assert!(shown.contains("absent: its program is not there."), "{shown}");
            assert!(!shown.contains("-0 ms"), "{shown}");
        }
        run(&outcomes, Vec::new());
    }

    #[test]
    fn trials_of_another_universe_are_refused() {
        let outcomes = from_kills(&["k...", ".k.."]);
        let analysis = analyse(&outcomes, &few_resamples()).expect("sound outcomes");
        let check = |trials: &Trials, expect: &str| {
            let error = experiment(&outcomes, &analysis, trials, NonZeroUsize::MIN).expect_err("they do not fit");
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
            let found = experiment(&outcomes, &analysis, &trials, threads).expect("trials");
            serde_json::to_string(&found).expect("plain data")
        };
        assert!(with(1) == with(3));
    }

    #[test]
    fn the_tables_stand_beside_those_of_the_thesis() {
        let outcomes = of_the_thesis(120, 1);
        let analysis = analyse(&outcomes, &Options::default()).expect("sound outcomes");
        let failing =
            (0..outcomes.kills.len()).filter(|&mutant| (2..=24).contains(&outcomes.kills[mutant].count_ones(..)));
        let subjects =
            failing.step_by(2).map(|mutant| subject(&format!("m{mutant}"), Origin::Mistake, &outcomes, mutant));
        let trials = trials(&outcomes, subjects.collect());
        let found = experiment(&outcomes, &analysis, &trials, NonZeroUsize::MIN).expect("trials");
        insta::assert_snapshot!(experiment_tables(&found, &analysis));
    }
}
