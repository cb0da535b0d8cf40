//! What the outcomes of a campaign say: which inputs to run on a real implementation, how good they are likely to be,
//! and which rule for choosing inputs suits the system.
//!
//! [`analyse`] is a pure function of [`Outcomes`](simutant_outcomes::Outcomes) and [`AnalysisOptions`]: it runs
//! nothing, reads no clock and no file, and gives the same bytes for the same input. [`suite`] turns its recommendation
//! into the inputs that a harness runs. [`Difference`] is what changed between two studies. The words are elsewhere:
//! `simutant-report` shows all this to people as sentences, tables and pages.
//!
//! # From outcomes to a recommendation
//!
//! 1. Mutants fall into classes ([`MutantClass`]): those that no test case kills, by how far they get ([`Survivor`])
//!    and by what people say of them, pathological ones, and the rest, on which suites are scored. The minimal kill
//!    rows of all killed mutants, pathological ones too, are [`Dominators`].
//! 2. For each criterion, adequate suites are drawn at random from the universe ([`AdequateSuite`]).
//! 3. Each suite has a mutant score and a dominator score, which stand beside what a random suite of the same size
//!    would score: a closed form, not a sample ([`RandomBaseline`]).
//! 4. The three usage scenarios follow: the conventional one ([`SameSize`], [`CostEffectiveness`], [`Detection`] of
//!    each mutant), [`Boosting`], with its [`Foresight`], and [`Ranking`]. What an earlier experiment found on the
//!    system ([`Reference`]) can stand beside it ([`Comparison`]).
//! 5. The [`Recommendation`] is the best suite of the best criterion; where another one is best under choices that were
//!    not the user's ([`Sensitivity`]), the largest of their best suites. [`build_suite`] builds one instead of drawing
//!    it: greedily, as small as can be, as an order of all test cases, or under a budget of events.
//!
//! The method is that of Matthew J. Rutherford, PhD thesis, University of Colorado, chapters 3 and 4. Departures from
//! it are named where they are made; in short: suites are judged on mutants that did not choose them, random suites are
//! computed rather than sampled, and claims hold by rank tests that are corrected for their number, with effect sizes
//! and intervals ([`statistics`]); the thesis's normal test stands beside them.
//!
//! # Limits
//!
//! A mutant score speaks of the simulation. That it predicts what a suite finds in an implementation is the method's
//! claim, to be checked against implementations. "Feasible" and "never killed" mean: by this universe. A p-value, and
//! an interval, speaks of the drawing of suites from this universe with these mutants, not of other systems; what is
//! said over functions or mutant by mutant speaks of other mutants like these, too.
//!
//! # Determinism
//!
//! Every random draw comes from a stream of its own, named by the option's seed and by what it is for: adding a
//! criterion does not change the suites of the others. Each resample of a bootstrap has a stream of its own, so that
//! any number of threads gives the same bytes. No map with a random order is used. Suites and counts are the same on
//! every platform; the last digits of p-values may differ between platforms with different mathematical libraries.

mod absent;
mod analysis;
mod assessment;
mod baseline;
mod boosting;
mod building;
mod case_names;
mod chosen;
mod conventional;
mod cost;
mod criteria;
mod detection;
mod difference;
mod domination;
mod dominators;
mod error;
mod expected;
mod experiment;
mod histogram;
mod kills;
mod missing;
mod mutants;
mod options;
mod probabilities;
mod random;
mod ranking;
mod recommendation;
mod reference;
mod rules;
mod same_size;
mod scenario;
mod score;
mod seconds;
mod sensitivity;
mod shape;
mod sources;
pub mod statistics;
mod study;
mod suites;
mod survivors;
mod test_time;
mod text;

pub use absent::{AbsentFeature, Feature, FeatureShare};
pub use analysis::{Analysis, CampaignCounts, Checked, VerdictTotals, analyse, analyse_with_threads};
pub use assessment::{Addition, AssessedCriterion, AssessedExpected, AssessedScore, Assessment, Missed, assess};
pub use baseline::{Moments, RandomBaseline};
pub use boosting::{Boosting, BoostingStep, Foresight, HeldOut, TopSuites};
pub use building::{build_expected, build_suite};
pub use case_names::{case_name, reseeding_name, suite_cases};
pub use chosen::{ChosenSuite, SuiteScores, boosted, suite, suite_of, suite_scores};
pub use conventional::{CostEffectiveness, CriterionRelations, RandomSize, Relation};
pub use cost::{CostComparison, CostCriterion};
pub use criteria::CriterionAnalysis;
pub use detection::{Detection, screened};
pub use difference::{
    Change, CriterionDifference, CriterionStanding, Difference, DifferenceError, MutantDifference, MutantState,
    MutantsDifference, SuiteDifference,
};
pub use dominators::{DominatorClass, Dominators};
pub use error::AnalysisError;
pub use expected::beside::{Beside, RuleFinds, RuleInTime, ScoresInTime};
pub use expected::built::{ExpectedBuilder, ExpectedSuite};
pub use expected::worth::Worth;
pub use expected::{Expected, ExpectedCriterion, MeanScore, RuleScores};
pub use experiment::{
    AtBudget, BUDGETS, Characteristic, Correlation, Curve, Experiment, Failing, Findings, Foreseen, Input,
    OperatorWorth, PATHOLOGICAL_ABOVE, Prediction, Preparation, Region, Resampled, SameSizePrediction, SelectionCurves,
    Share, SubjectClass, SubjectKind, SubjectSummary, SuiteUnit, TrialsError, experiment,
};
pub use histogram::histogram;
pub use kills::KillsByCase;
pub use mutants::{ClassCounts, MutantClass, MutantClasses};
pub use options::{AnalysisOptions, OptionsError};
pub use probabilities::{ExpectedScore, KillProbability, kill_probabilities};
pub use ranking::{ByMutant, PairTest, Ranking, SameSizeTest};
pub use recommendation::{Recommendation, standing_of_suite};
pub use reference::{
    Agreement, ClaimComparison, Comparison, Reference, ReferenceClaim, ReferenceCriterion, ReferenceError,
    ReferenceImplementations, ReferenceMutants, ReferencePreparation, ReferenceRelations,
};
pub use rules::{RuleOfThumb, rules};
pub use same_size::SameSize;
pub use scenario::{Cost, Scenario, ScenarioError, scenario};
pub use score::{Score, percent};
pub use seconds::seconds;
pub use sensitivity::{DECIDING_ROWS_MIN, FirstPlace, Measure, OtherChoice, Sensitivity, Variant};
pub use shape::ShapeError;
pub use sources::{BySource, ExpectedOfAny, SourceComparison, compare_sources};
pub use statistics::{Interval, Summary, ZTest};
pub use study::{Study, StudyMismatch};
pub use suites::built::{Builder, BuiltSuite, Earliness, JudgedSuite, MUTANTS};
pub use suites::{AdequateSuite, SuiteIndex, target};
pub use survivors::{Contradiction, ScoreBounds, Survivor};
pub use test_time::FittedTestTime;
pub use text::{count, duration, plural};
