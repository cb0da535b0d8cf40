//! Expected scores: what suites are likely to kill when the chance of their test cases falls otherwise.
//!
//! A real program does not lose the packets that the simulation lost. So a kill that hangs on one seed says little
//! about a program, and what a suite is worth is how likely its test cases kill mutants whatever their seeds: a number
//! for each pair of a test case and a mutant, known from re-seedings ([`Reseeded`]). A mutant is worth as much as it is
//! hard to kill: one that every test case kills tells no suites apart, and one that few kill seldom tells them apart
//! most.
//!
//! Nor is a mutant a fault of a program. A test case that kills a mutant finds a fault of its kind with a probability,
//! the *coupling* ([`AnalysisOptions::coupling`](crate::AnalysisOptions::coupling)). Scores are of mutants; suites are
//! built for the share of such faults that they are expected to find. So they kill each mutant several times, on
//! different inputs, and those inputs come first that kill many.

pub(crate) mod beside;
pub(crate) mod built;
pub(crate) mod greedy;
mod growing;
mod relaxed;
pub(crate) mod worth;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Outcomes, Reseeded};

use crate::criteria::CriterionAnalysis;
use crate::probabilities::{ExpectedScore, KillProbabilities};
use crate::ranking::different;
use crate::rules::{RuleOfThumb, rules};
use crate::statistics::Summary;

use beside::ScoresInTime;
use greedy::{most_in_inputs, most_in_time};
use worth::{RandomSuites, SIZE_MAX, Worth};

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
    /// One entry for each criterion that has suites, by what a minute of them is worth, the highest first.
    pub criteria: Vec<ExpectedCriterion>,
    /// Scores of random suites, by size from 1 to 20.
    pub random: Vec<f64>,
    /// Test cases, each of which adds most to those before it in faults that are expected to be found
    /// ([`AnalysisOptions::coupling`](crate::AnalysisOptions::coupling)); one can be there several times.
    pub greedy: Vec<usize>,
    /// Scores of its beginnings, by size.
    pub greedy_scores: Vec<f64>,
    /// What rules of thumb score that look at no mutant and no coverage.
    pub rules: Vec<RuleScores>,
    /// The same in the times of 1, 2, 3, 6, 12 and 20 mean test cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_time: Option<ScoresInTime>,
}

/// The suites of a criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedCriterion {
    /// Index of the criterion.
    pub criterion: usize,
    /// The expected score of each of its suites.
    pub suites: Vec<ExpectedScore>,
    /// The expected share of the dominator classes that each of its suites kills, as [`Self::dominator_score`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suites_on_dominators: Vec<f64>,
    /// The expected score of each of its suites if mutants with one kill row count once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suites_by_row: Vec<f64>,
    /// Their summary.
    pub score: Summary,
    /// What its suites take on average, in seconds.
    pub seconds: f64,
    /// The mean of the expected scores of random suites that take as long on average.
    pub random_same_time: f64,
    /// The mean of the expected scores of random suites of the same sizes.
    pub random_same_size: f64,
    /// What its suites are worth in random test cases.
    pub worth: Worth,
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

/// What the suites of a criterion score on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MeanScore {
    /// Their mean expected score, or without re-seedings their mean mutant score.
    pub score: f64,
    /// What they are worth in random test cases; `None` without re-seedings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<Worth>,
}

impl MeanScore {
    /// Returns what a criterion is recommended by.
    pub(crate) fn merit(self) -> f64 {
        self.worth.map_or(self.score, |worth| worth.time)
    }
}

impl Expected {
    /// Returns what the criterion's suites are expected to kill.
    pub fn of_criterion(&self, criterion: usize) -> Option<&ExpectedCriterion> {
        self.criteria.iter().find(|expected| expected.criterion == criterion)
    }

    /// Returns the rule of thumb with the highest score at a size.
    pub fn best_rule(&self, size: usize) -> Option<(&RuleScores, f64)> {
        let scores = self.rules.iter().filter_map(|rule| Some((rule, *rule.scores.get(size.checked_sub(1)?)?)));
        scores.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

/// Scores the suites of all criteria, random suites and rules of thumb; `None` without a mutant that counts. `seconds`
/// has what each test case takes.
/// `dominators` has one mutant of each dominator class.
pub(crate) fn expected(
    outcomes: &Outcomes,
    reseeded: &Reseeded,
    criteria: &[CriterionAnalysis],
    dominators: &BitSet,
    probabilities: &KillProbabilities,
    (coupling, seconds, seed): (f64, &[f64], u64),
) -> Option<Expected> {
    let difficulty = probabilities.total_difficulty()?;
    let score = |cases: &[usize]| probabilities.score(cases);
    let random = random_suites(criteria, probabilities, seconds)?;
    let different: BitSet = different(probabilities.rows(reseeded)).into_iter().collect();
    let by_row = probabilities.restricted(|mutant| different.contains(mutant));
    let of_criterion = |(criterion, analysis): (usize, &CriterionAnalysis)| {
        let suites: Vec<ExpectedScore> = analysis.suites.iter().filter_map(|suite| score(&suite.cases)).collect();
        let means: Vec<f64> = suites.iter().map(|suite| suite.mean).collect();
        let mean = |of_suite: &dyn Fn(&[usize]) -> f64| {
            analysis.suites.iter().map(|suite| of_suite(&suite.cases)).sum::<f64>() / means.len() as f64
        };
        let of_dominators: Option<Vec<f64>> =
            analysis.suites.iter().map(|suite| probabilities.share(&suite.cases, dominators)).collect();
        let covered = &reseeded.covered[criterion];
        let coverage =
            analysis.suites.iter().map(|suite| coverage(&suite.cases, covered, reseeded.reseedings, analysis));
        let best = (0..means.len()).reduce(|best, next| if means[next] > means[best] { next } else { best })?;
        Some(ExpectedCriterion {
            criterion,
            score: Summary::of(&means)?,
            seconds: mean(&|cases| random.seconds(cases)),
            random_same_time: mean(&|cases| random.in_time_of(cases)),
            random_same_size: mean(&|cases| random.scores[cases.len() - 1]),
            worth: random.worth(analysis.suites.iter().map(|suite| suite.cases.as_slice()).zip(means.iter().copied())),
            dominator_score: of_dominators.as_ref().and_then(|shares| Some(Summary::of(shares)?.mean)),
            suites_on_dominators: of_dominators.unwrap_or_default(),
            suites_by_row: analysis.suites.iter().filter_map(|suite| Some(by_row.score(&suite.cases)?.mean)).collect(),
            coverage: coverage.sum::<f64>() / means.len() as f64,
            suites,
            best,
        })
    };
    let mut of_criteria: Vec<ExpectedCriterion> = criteria.iter().enumerate().filter_map(of_criterion).collect();
    of_criteria.sort_by(|one, other| other.worth.time.total_cmp(&one.worth.time));
    let beginnings = |cases: &[usize]| -> Vec<f64> {
        (1..=cases.len()).filter_map(|size| Some(score(&cases[..size])?.mean)).collect()
    };
    let greedy = most_in_inputs(&probabilities.coupled(coupling), SIZE_MAX);
    let rules = rules_of(outcomes, seconds);
    let in_time = scores_in_time(probabilities, (seconds, ScoresInTime::limits(seconds)), &rules, (coupling, seed));
    let of_rule = |rule: RuleOfThumb| {
        let cases: Vec<usize> = rule.order.into_iter().take(SIZE_MAX).collect();
        RuleScores { name: rule.name, scores: beginnings(&cases), cases }
    };
    Some(Expected {
        reseedings: reseeded.reseedings,
        chance: reseeded.chance.clone(),
        mutants: probabilities.mutants.len(),
        difficulty,
        criteria: of_criteria,
        random: random.scores.into_iter().take(SIZE_MAX).collect(),
        greedy_scores: beginnings(&greedy),
        greedy,
        rules: rules.into_iter().map(of_rule).collect(),
        in_time,
    })
}

/// Returns what suites that are built, random ones and rules of thumb are expected to kill in some times, which rise; `None`
/// without a score.
pub(crate) fn scores_in_time(
    probabilities: &KillProbabilities,
    (seconds, limits): (&[f64], Vec<f64>),
    rules: &[RuleOfThumb],
    (coupling, seed): (f64, u64),
) -> Option<ScoresInTime> {
    let built = most_in_time(&probabilities.coupled(coupling), seconds, *limits.last()?);
    ScoresInTime::new(probabilities, (seconds, limits), (&built, rules), seed)
}

/// Returns the orders of test cases by rules of thumb, which do not look at what is chance.
pub(crate) fn rules_of(outcomes: &Outcomes, seconds: &[f64]) -> Vec<RuleOfThumb> {
    let inputs: Vec<serde_json::Value> = outcomes.cases.iter().map(|case| case.case.clone()).collect();
    let chance: BTreeSet<String> = outcomes.reseeded.iter().flat_map(|reseeded| &reseeded.chance).cloned().collect();
    rules(&inputs, &chance, seconds)
}

/// Returns what the suites of each criterion are expected to score on average, with what they are worth; `None` for
/// criteria without suites.
pub(crate) fn mean_scores_of(
    criteria: &[CriterionAnalysis],
    probabilities: &KillProbabilities,
    seconds: &[f64],
) -> Vec<Option<MeanScore>> {
    let random = random_suites(criteria, probabilities, seconds);
    let of_criterion = |analysis: &CriterionAnalysis| {
        let scores = analysis.suites.iter().map(|suite| Some(probabilities.score(&suite.cases)?.mean));
        let scores: Vec<f64> = scores.collect::<Option<_>>()?;
        let score = Summary::of(&scores)?.mean;
        let suites = analysis.suites.iter().map(|suite| suite.cases.as_slice());
        Some(MeanScore { score, worth: Some(random.as_ref()?.worth(suites.zip(scores))) })
    };
    criteria.iter().map(of_criterion).collect()
}

/// Returns the random suites that suites of the criteria are held against.
fn random_suites<'a>(
    criteria: &[CriterionAnalysis],
    probabilities: &KillProbabilities,
    seconds: &'a [f64],
) -> Option<RandomSuites<'a>> {
    let sizes = criteria.iter().flat_map(|criterion| &criterion.suites).map(|suite| suite.cases.len());
    RandomSuites::new(probabilities, sizes.max().unwrap_or(0), seconds)
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

#[cfg(test)]
mod tests {
    use crate::{AnalysisOptions, analyse};
    use simutant_synthetic::reseeded;

    #[test]
    fn coverage_is_what_re_seedings_cover() {
        let mut outcomes = reseeded(&[&[5, 0, 0, 1], &[0, 0, 1, 4]]);
        let analysis = analyse(&outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() })
            .expect("sound outcomes");
        let expected = analysis.expected.as_ref().expect("mutants count");
        assert_eq!(expected.criteria[0].coverage, 1.0, "every re-seeding covers what the test case does");
        outcomes.reseeded.as_mut().expect("there are re-seedings").covered[0][2][2] = 4;
        let analysis = analyse(&outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() })
            .expect("sound outcomes");
        // One of the four requirements is covered half of the time.
        assert_eq!(analysis.expected.expect("mutants count").criteria[0].coverage, 0.875);
    }

    /// A parameter that says it all, and one that says nothing.
    #[test]
    fn a_quantity_is_a_rule_and_chance_is_none() {
        let mut outcomes = reseeded(&[&[0, 0, 1, 8], &[0, 1, 2, 8], &[0, 0, 3, 7]]);
        for (number, case) in outcomes.cases.iter_mut().enumerate() {
            case.case = serde_json::json!({ "loss": number, "length": 5 * number % 4, "seed": 9 - number });
        }
        let analysis = analyse(&outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() })
            .expect("sound outcomes");
        let expected = analysis.expected.as_ref().expect("mutants count");
        let names: Vec<&str> = expected.rules.iter().map(|rule| rule.name.as_str()).collect();
        assert!(names.contains(&"highest loss") && !names.contains(&"highest seed"), "{names:?}");
        assert_eq!(expected.greedy[0], 3);
    }
}
