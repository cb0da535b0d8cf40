//! Expected scores: what suites are likely to kill when the chance of their test cases falls otherwise.
//!
//! A real program does not lose the packets that the simulation lost. So a kill that hangs on one seed says little about
//! a program, and what a suite is worth is how likely its test cases kill mutants whatever their seeds: a number for each
//! pair of a test case and a mutant, known from re-seedings ([`Reseeded`]). A mutant is worth as much as it is hard to
//! kill: one that every test case kills tells no suites apart, and one that few kill seldom tells them apart most.

pub(crate) mod built;
mod greedy;
mod probabilities;
mod words;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Outcomes, Reseeded};

use crate::criteria::CriterionAnalysis;
use crate::mutants::{MutantClass, MutantClasses};
use crate::rules::rules;
use crate::statistics::Summary;

use greedy::greedy;
pub use probabilities::ExpectedScore;
pub(crate) use probabilities::KillProbabilities;
pub(crate) use words::{baselines_table, criteria_table};

/// The largest suites that are compared with rules of thumb.
const SIZE_MAX: usize = 20;

/// What re-seedings say of suites.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// How often each test case was run at most.
    pub reseedings: u32,
    /// What is chance in a test case: the paths of fields.
    pub chance: Vec<String>,
    /// How many mutants scores count: those that some run kills, but for duplicates.
    pub mutants: usize,
    /// The sum of their difficulties, each between 0 and 1: the probability that a random test case does not kill it.
    pub difficulty: f64,
    /// One entry for each criterion that has suites, by expected score, the highest first.
    pub criteria: Vec<ExpectedCriterion>,
    /// Scores of random suites, by size from 1 to 20.
    pub random: Vec<f64>,
    /// The test cases that add most to those before them; one can be there several times.
    pub greedy: Vec<usize>,
    /// Scores of its beginnings, by size.
    pub greedy_scores: Vec<f64>,
    /// What rules of thumb score that look at no mutant and no coverage.
    pub rules: Vec<RuleScores>,
}

/// The suites of a criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedCriterion {
    /// Index of the criterion.
    pub criterion: usize,
    /// The expected score of each of its suites.
    pub suites: Vec<ExpectedScore>,
    /// Their summary.
    pub score: Summary,
    /// The mean of the expected scores of random suites of the same sizes.
    pub random: f64,
    /// The mean expected share of the dominator classes that its suites kill; `None` if there are none.
    pub dominator_score: Option<f64>,
    /// The mean expected share of the requirements that the universe covers and its suites cover when their chance is
    /// drawn anew. On their own seeds they cover all that adequacy asks for.
    pub coverage: f64,
    /// The suite with the highest expected score, the first of equals.
    pub best: usize,
}

/// A rule of thumb.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleScores {
    /// What it takes first, for example `highest drop`.
    pub name: String,
    /// Its first test cases.
    pub cases: Vec<usize>,
    /// Scores of their beginnings, by size.
    pub scores: Vec<f64>,
}

impl Expected {
    /// Returns what the criterion's suites are expected to kill.
    pub(crate) fn of_criterion(&self, criterion: usize) -> Option<&ExpectedCriterion> {
        self.criteria.iter().find(|expected| expected.criterion == criterion)
    }

    /// Returns the rule of thumb with the highest score at a size.
    pub(crate) fn best_rule(&self, size: usize) -> Option<(&RuleScores, f64)> {
        let scores = self.rules.iter().filter_map(|rule| Some((rule, *rule.scores.get(size.checked_sub(1)?)?)));
        scores.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

/// Returns the mutants that scores count, if some run kills them: all but those that stand for others.
pub(crate) fn counted(classes: &MutantClasses) -> BitSet {
    let mut counted = BitSet::with_capacity(classes.classes.len());
    let counts = |class: MutantClass| !matches!(class, MutantClass::Duplicate | MutantClass::Equivalent);
    counted.extend((0..classes.classes.len()).filter(|&mutant| counts(classes.classes[mutant])));
    counted
}

/// Scores the suites of all criteria, random suites and rules of thumb; `None` without a mutant that counts.
/// `dominators` has one mutant of each dominator class.
pub(crate) fn expected(
    outcomes: &Outcomes,
    reseeded: &Reseeded,
    criteria: &[CriterionAnalysis],
    dominators: &BitSet,
    probabilities: &KillProbabilities,
) -> Option<Expected> {
    let difficulty = probabilities.total_difficulty()?;
    let score = |cases: &[usize]| probabilities.score(cases);
    let sizes = criteria.iter().flat_map(|criterion| &criterion.suites).map(|suite| suite.cases.len());
    let random = probabilities.random(sizes.max().unwrap_or(0).max(SIZE_MAX))?;
    let of_criterion = |(criterion, analysis): (usize, &CriterionAnalysis)| {
        let suites: Vec<ExpectedScore> = analysis.suites.iter().filter_map(|suite| score(&suite.cases)).collect();
        let means: Vec<f64> = suites.iter().map(|suite| suite.mean).collect();
        let of_random = analysis.suites.iter().map(|suite| random[suite.cases.len() - 1]).sum::<f64>();
        let of_dominators: Option<Vec<f64>> =
            analysis.suites.iter().map(|suite| probabilities.share(&suite.cases, dominators)).collect();
        let covered = &reseeded.covered[criterion];
        let coverage =
            analysis.suites.iter().map(|suite| coverage(&suite.cases, covered, reseeded.reseedings, analysis));
        let best = (0..means.len()).reduce(|best, next| if means[next] > means[best] { next } else { best })?;
        Some(ExpectedCriterion {
            criterion,
            score: Summary::of(&means)?,
            random: of_random / means.len() as f64,
            dominator_score: of_dominators.and_then(|shares| Some(Summary::of(&shares)?.mean)),
            coverage: coverage.sum::<f64>() / means.len() as f64,
            suites,
            best,
        })
    };
    let mut of_criteria: Vec<ExpectedCriterion> = criteria.iter().enumerate().filter_map(of_criterion).collect();
    of_criteria.sort_by(|one, other| other.score.mean.total_cmp(&one.score.mean));
    let beginnings = |cases: &[usize]| -> Vec<f64> {
        (1..=cases.len()).filter_map(|size| Some(score(&cases[..size])?.mean)).collect()
    };
    let greedy = greedy(probabilities, SIZE_MAX);
    let inputs: Vec<serde_json::Value> = outcomes.cases.iter().map(|case| case.case.clone()).collect();
    let ignored: BTreeSet<String> = reseeded.chance.iter().cloned().collect();
    let of_rule = |rule: crate::Rule| {
        let cases: Vec<usize> = rule.order.into_iter().take(SIZE_MAX).collect();
        RuleScores { name: rule.name, scores: beginnings(&cases), cases }
    };
    Some(Expected {
        reseedings: reseeded.reseedings,
        chance: reseeded.chance.clone(),
        mutants: probabilities.mutants.len(),
        difficulty,
        criteria: of_criteria,
        random: random.into_iter().take(SIZE_MAX).collect(),
        greedy_scores: beginnings(&greedy),
        greedy,
        rules: rules(&inputs, &ignored).into_iter().map(of_rule).collect(),
    })
}

/// Returns the expected share of the requirements that the universe covers and a suite covers when the chance of its
/// test cases is drawn anew; `covered` counts the re-seedings of each test case that cover each requirement.
fn coverage(cases: &[usize], covered: &[Vec<u8>], reseedings: u32, analysis: &CriterionAnalysis) -> f64 {
    let feasible =
        (0..analysis.requirements).filter(|requirement| analysis.uncovered.binary_search(requirement).is_err());
    let probability = |requirement: usize| {
        let misses = cases.iter().map(|&case| 1.0 - f64::from(covered[case][requirement]) / f64::from(reseedings));
        1.0 - misses.product::<f64>()
    };
    feasible.map(probability).sum::<f64>() / analysis.feasible() as f64
}
