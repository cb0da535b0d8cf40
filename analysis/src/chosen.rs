//! Any suite as a file for a harness, and what a suite kills.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{FORMAT_VERSION, Outcomes, Suite, SuiteCase};

use crate::absent::{FeatureShare, feature_shares};
use crate::analysis::Analysis;
use crate::case_names::{case_name, suite_cases};
use crate::kills::KillsByCase;
use crate::options::AnalysisOptions;
use crate::recommendation::{best_suite, standing_of_suite};
use crate::score::Score;
use crate::seconds::seconds;
use crate::suites::SuiteIndex;
use crate::survivors::{self, ScoreBounds};

/// Returns the suite of the criterion called `name` with the highest mutant score, ties as for the recommendation: the
/// boosting scenario (thesis, section 3.3.2). `None` if there is no such criterion or it has no suite.
pub fn boosted(analysis: &Analysis, name: &str) -> Option<SuiteIndex> {
    let criterion = analysis.criteria.iter().position(|criterion| criterion.name == name)?;
    let expected = analysis.expected.as_ref().and_then(|expected| expected.of_criterion(criterion));
    let suite = expected.map(|expected| expected.best).or_else(|| best_suite(&analysis.criteria[criterion]))?;
    Some(SuiteIndex { criterion, suite })
}

/// Returns the recommended suite with its inputs, `None` if no criterion has a suite.
///
/// # Panics
/// If `analysis` is not one of `outcomes`.
pub fn suite(outcomes: &Outcomes, analysis: &Analysis) -> Option<Suite> {
    analysis.recommendation.as_ref().map(|recommendation| suite_of(outcomes, analysis, recommendation.choice))
}

/// Returns one suite of the analysis with its inputs.
///
/// # Panics
/// If `analysis` is not one of `outcomes`, or `choice` is not one of its suites.
pub fn suite_of(outcomes: &Outcomes, analysis: &Analysis, choice: SuiteIndex) -> Suite {
    let criterion = &analysis.criteria[choice.criterion];
    let suite = &criterion.suites[choice.suite];
    let score = Score { killed: suite.killed, of: analysis.mutants.counts.analysed };
    let dominator_score = Score { killed: suite.dominators_killed, of: analysis.dominators.classes.len() };
    let (seconds, cases) = cases_of(outcomes, &analysis.options, &suite.cases);
    let mut chosen = format!(
        "suite {} of {} drawn at random that are adequate for {}",
        choice.suite + 1,
        criterion.suites.len(),
        criterion.name
    );
    let expected = analysis.expected.as_ref().and_then(|expected| expected.of_criterion(choice.criterion));
    if let Some(expected) = expected {
        if expected.best == choice.suite {
            chosen.push_str("; no other of them has a higher expected score");
        }
        if analysis.expected.as_ref().is_some_and(|all| all.criteria[0].criterion == choice.criterion) {
            chosen.push_str("; of no other criterion is a minute worth more of random test cases");
        }
    } else if best_suite(criterion) == Some(choice.suite) && score.of > 0 {
        chosen.push_str("; no other of them has a higher mutant score, and it is ");
        chosen.push_str(&standing_of_suite(criterion, choice.suite));
    }
    if expected.is_none() && analysis.ranking.order.first() == Some(&choice.criterion) {
        chosen.push_str("; no other criterion has a higher mean mutant score");
    }
    if analysis.recommendation.as_ref().is_some_and(|recommendation| recommendation.choice == choice) {
        chosen
            .push_str("; no suite of the study that is as small kills as many mutants and dominators, and more of one");
    }
    Suite {
        format_version: FORMAT_VERSION,
        system: analysis.system.clone(),
        criterion: criterion.name.clone(),
        chosen,
        seed: analysis.options.seed,
        mutant_score: score.value(),
        dominator_score: dominator_score.value(),
        seconds: Some(seconds),
        cases,
    }
}

/// Returns test cases of the universe as those of a suite, with their names and what each takes, after what all of them
/// take, in seconds.
pub(crate) fn cases_of(outcomes: &Outcomes, options: &AnalysisOptions, cases: &[usize]) -> (f64, Vec<SuiteCase>) {
    let seconds = seconds(outcomes, options);
    let of_case = |&case: &usize| {
        let (name, run) = (case_name(&outcomes.system, case, outcomes.cases.len()), &outcomes.cases[case]);
        let (cost, seconds) = (Some(run.cost()), Some(seconds[case]));
        SuiteCase { cost, seconds, ..SuiteCase::new(name, run.case.clone()) }
    };
    (cases.iter().map(|&case| seconds[case]).sum(), cases.iter().map(of_case).collect())
}

/// The suite to run, as a page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChosenSuite {
    /// What it was drawn or built for: a criterion, or `expected` for its expected score.
    pub criterion: String,
    /// How it was chosen, in words.
    pub chosen: String,
    /// Its test cases, in its order; one that occurs again runs again, with its chance drawn anew.
    pub cases: Vec<usize>,
    /// What it kills on the seeds of the universe.
    pub scores: SuiteScores,
    /// How many of its test cases have what others of the universe do without, such as faults.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<FeatureShare>,
}

impl ChosenSuite {
    pub(crate) fn of(outcomes: &Outcomes, analysis: &Analysis, suite: &Suite) -> Self {
        let cases = suite_cases(outcomes, suite);
        Self {
            criterion: suite.criterion.clone(),
            chosen: suite.chosen.clone(),
            scores: suite_scores(outcomes, analysis, suite),
            features: feature_shares(outcomes, &cases),
            cases,
        }
    }
}

/// What the test cases of a suite kill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteScores {
    /// Of all mutants.
    pub mutants: ScoreBounds,
    /// Of the dominator classes.
    pub dominators: Score,
}

/// Returns what a suite kills, however it was chosen; test cases that the universe does not have count for nothing.
pub fn suite_scores(outcomes: &Outcomes, analysis: &Analysis, suite: &Suite) -> SuiteScores {
    let cases = suite_cases(outcomes, suite);
    let killed = KillsByCase::new(outcomes).of_suite(&cases);
    let dominators = &analysis.dominators;
    let representatives = dominators.representatives(outcomes.sites.mutants.len());
    SuiteScores {
        mutants: survivors::bounds(&killed, &analysis.mutants),
        dominators: Score { killed: killed.intersection(&representatives).count(), of: dominators.classes.len() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisOptions, analyse};
    use simutant_synthetic::from_kills;

    #[test]
    fn a_suite_is_scored_by_what_its_cases_kill_however_it_was_chosen() {
        let outcomes = from_kills(&["k...", "k...", ".k..", "kk..", "..k.", "...."]);
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let mut suite = suite(&outcomes, &analysis).expect("there are suites");
        suite.cases.retain(|case| case.name.ends_with('0') || case.name.ends_with('3'));
        let scores = suite_scores(&outcomes, &analysis, &suite);
        assert_eq!(scores.mutants.to_string(), "50.0 % (3 of 6)");
        assert_eq!(scores.dominators.to_string(), "33.3 % (1 of 3)");
        suite.cases[0].case = serde_json::json!("of another universe");
        suite.cases[1].name = "x-0003".into();
        assert_eq!(suite_cases(&outcomes, &suite), [0; 0]);
    }
}
