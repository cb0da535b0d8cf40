//! The conventional scenario (thesis, sections 3.3.1 and 4.3): any adequate suite, against random ones.

use serde::{Deserialize, Serialize};

use crate::baseline::{Moments, RandomBaseline};
use crate::criteria::CriterionAnalysis;
use crate::options::AnalysisOptions;
use crate::statistics::{Summary, holm, z_test};

/// Random suites of one size.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RandomSize {
    /// How many test cases.
    pub size: usize,
    /// Their mutant score, `None` if no mutant counts.
    pub score: Option<Moments>,
    /// Their score on the dominator classes, `None` if there are none.
    pub dominator_score: Option<Moments>,
    /// Their cost in events: `M * c_e`, since random suites need no analysis.
    pub cost: Moments,
}

/// Cost and score of each criterion against random suites of each size: tables 4.9 to 4.11 of the thesis.
///
/// The cost is equation 4.1 in events of the simulation: the thesis adds seconds of simulation to seconds of an
/// implementation, here both parts are events, so that the result is the same on every machine. The score takes the
/// place of the effectiveness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostEffectiveness {
    /// The random suites, by size from 1.
    pub random: Vec<RandomSize>,
    /// One entry per criterion that has suites.
    pub criteria: Vec<CriterionRelations>,
}

/// One criterion against the random suites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionRelations {
    /// Index of the criterion.
    pub criterion: usize,
    /// Its cost, by random size.
    pub cost: Vec<Relation>,
    /// Its mutant score, by random size; empty if no mutant counts.
    pub score: Vec<Relation>,
}

/// How a criterion compares with random suites of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Relation {
    /// Significantly worse: costs more, or scores lower.
    #[serde(rename = "-")]
    Worse,
    /// No significant difference.
    #[serde(rename = "=")]
    Equivalent,
    /// Significantly better: costs less, or scores higher.
    #[serde(rename = "+")]
    Better,
}

impl std::fmt::Display for Relation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Worse => "-",
            Self::Equivalent => "=",
            Self::Better => "+",
        })
    }
}

impl Relation {
    /// Relates a sample, in which more is better, to a mean that is known exactly.
    ///
    /// A sample that does not vary leaves no doubt about its mean, so the means alone decide then.
    fn of(sample: &Summary, known: f64, alpha: f64) -> Self {
        let (above, below) = match z_test(sample, known) {
            Some(test) => (test.p < alpha, 1.0 - test.p < alpha),
            None => {
                let margin = 1e-9 * known.abs().max(1.0);
                (sample.mean > known + margin, sample.mean < known - margin)
            }
        };
        match (above, below) {
            (true, _) => Self::Better,
            (_, true) => Self::Worse,
            _ => Self::Equivalent,
        }
    }

    fn opposite(self) -> Self {
        match self {
            Self::Worse => Self::Better,
            Self::Equivalent => Self::Equivalent,
            Self::Better => Self::Worse,
        }
    }
}

/// Corrects the tests of the gains of all criteria for their number.
pub(crate) fn correct(criteria: &mut [CriterionAnalysis]) {
    let mut tests: Vec<&mut f64> =
        criteria.iter_mut().filter_map(|criterion| criterion.same_size.as_mut()?.gain_p.as_mut()).collect();
    let corrected = holm(&tests.iter().map(|p| **p).collect::<Vec<_>>());
    tests.iter_mut().zip(corrected).for_each(|(p, corrected)| **p = corrected);
}

/// Returns what random suites of each size up to the option's limit score and cost, where each test case costs as much
/// as `costs` say.
pub(crate) fn random_sizes(
    costs: &[f64],
    baseline: &RandomBaseline,
    dominator_baseline: &RandomBaseline,
    options: &AnalysisOptions,
) -> Vec<RandomSize> {
    let universe = costs.len() as f64;
    let multiplier = f64::from(options.cost_multiplier);
    let mean = costs.iter().sum::<f64>() / universe;
    let squares: f64 = costs.iter().map(|cost| (cost - mean).powi(2)).sum();
    (1..=options.random_size_max.min(costs.len()))
        .map(|size| {
            // Drawing without replacement: the variance of the sum shrinks to 0 as the suite becomes the universe.
            let drawn = size as f64;
            let left = if costs.len() > 1 { (universe - drawn) / (universe - 1.0) } else { 0.0 };
            let variance = drawn * squares / universe * left;
            RandomSize {
                size,
                score: baseline.at(size),
                dominator_score: dominator_baseline.at(size),
                cost: Moments { mean: multiplier * drawn * mean, sd: multiplier * variance.sqrt() },
            }
        })
        .collect()
}

/// Compares every criterion that has suites with the random suites.
///
/// The thesis tests against 200 random suites per size; here the expected score and cost of the random suites are
/// known, so that only the criterion's side is uncertain.
pub(crate) fn cost_effectiveness(
    criteria: &[CriterionAnalysis],
    random: Vec<RandomSize>,
    alpha: f64,
) -> CostEffectiveness {
    let criteria = criteria
        .iter()
        .enumerate()
        .filter_map(|(index, criterion)| {
            let cost = criterion.cost?;
            Some(CriterionRelations {
                criterion: index,
                cost: random.iter().map(|size| Relation::of(&cost, size.cost.mean, alpha).opposite()).collect(),
                score: random
                    .iter()
                    .filter_map(|size| Some(Relation::of(&criterion.score?, size.score?.mean, alpha)))
                    .collect(),
            })
        })
        .collect();
    CostEffectiveness { random, criteria }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], known: f64, expect: Relation) {
        assert_eq!(Relation::of(&Summary::of(values).expect("there are values"), known, 0.05), expect);
    }

    #[test]
    fn a_relation_needs_significance() {
        check(&[0.4, 0.5, 0.6], 0.49, Relation::Equivalent);
        check(&[0.4, 0.5, 0.6], 0.40, Relation::Better);
        check(&[0.4, 0.5, 0.6], 0.60, Relation::Worse);
    }

    #[test]
    fn without_variation_the_means_decide() {
        check(&[0.5; 3], 0.5 + 1e-12, Relation::Equivalent);
        check(&[0.5; 3], 0.49, Relation::Better);
        check(&[0.5; 3], 0.51, Relation::Worse);
    }

    #[test]
    fn random_costs_agree_with_the_enumeration_of_all_pairs() {
        let baseline = RandomBaseline::new([], 4);
        let options = AnalysisOptions { cost_multiplier: 1, ..AnalysisOptions::default() };
        let found = random_sizes(&[10.0, 20.0, 30.0, 60.0], &baseline, &baseline, &options);
        // All pairs: 30, 40, 70, 50, 80, 90; mean 60, variance (900 + 400 + 100 + 100 + 400 + 900) / 6.
        assert_eq!(found.len(), 4);
        assert!((found[1].cost.mean - 60.0).abs() < 1e-12);
        assert!((found[1].cost.sd.powi(2) - 2800.0 / 6.0).abs() < 1e-9);
        assert_eq!(found[3].cost.sd, 0.0);
    }
}
