//! Experiment 3: what the mutants said of each pair of criteria beside what the implementations say.

use serde::{Deserialize, Serialize};

use crate::criteria::CriterionAnalysis;
use crate::ranking::{PairTest, Ranking};
use crate::reference::Agreement;
use crate::statistics::{Alternative, a12, holm, mann_whitney};

/// One pair of criteria: tables 4.15 to 4.17.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// Index of the criterion with the higher mean effectiveness, or of the first of equals.
    pub better: usize,
    /// Index of the other one.
    pub worse: usize,
    /// The corrected p-value by mutant scores, see [`PairTest::rank_sum_p`].
    pub mutant_p: Option<f64>,
    /// The same by effectiveness.
    pub effectiveness_p: Option<f64>,
    /// The effect by mutant scores, see [`PairTest::effect`].
    pub mutant_effect: f64,
    /// The same by effectiveness.
    pub effectiveness_effect: f64,
    /// Whether mutants and implementations say the same, by the corrected rank tests. Undecided: one of them says
    /// nothing significant, or both.
    pub agreement: Agreement,
    /// The same by the thesis's own test, which corrects for nothing.
    pub agreement_by_thesis: Agreement,
    /// What both say within sizes of suites; `None` if the criteria have no size in common, or no score varies there.
    pub same_size: Option<SameSizePrediction>,
    /// Whether mutants and implementations say the same within sizes of suites.
    pub agreement_same_size: Agreement,
    /// The probability that a suite of the first is larger than one of the second, equals counting half.
    pub size_effect: f64,
    /// The two-sided p-value that neither's suites are larger (Mann-Whitney), corrected by Holm's method; `None` if all
    /// suites of both have one size.
    pub size_p: Option<f64>,
    /// Whether the criterion with the larger suites is the better one by the implementations: what would be predicted
    /// without any mutant. Undecided: sizes or effectiveness say nothing significant, or both.
    pub agreement_by_size: Agreement,
}

/// What the suites of equal size of two criteria say (van Elteren): see [`SameSizeTest`](crate::SameSizeTest).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SameSizePrediction {
    /// The effect by mutant scores.
    pub mutant_effect: f64,
    /// Its corrected p-value.
    pub mutant_p: f64,
    /// The effect by effectiveness.
    pub effectiveness_effect: f64,
    /// Its corrected p-value.
    pub effectiveness_p: f64,
}

/// How many predictions held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The same was found.
    pub agree: usize,
    /// One of both is not significant, or neither is.
    pub undecided: usize,
    /// The opposite was found.
    pub differ: usize,
}

impl Share {
    /// Counts `agreements`.
    pub fn of(agreements: impl IntoIterator<Item = Agreement>) -> Self {
        let mut share = Self { agree: 0, undecided: 0, differ: 0 };
        for agreement in agreements {
            match agreement {
                Agreement::Agrees => share.agree += 1,
                Agreement::Undecided => share.undecided += 1,
                Agreement::Differs => share.differ += 1,
            }
        }
        share
    }

    /// Returns how many predictions there were.
    pub fn total(self) -> usize {
        self.agree + self.undecided + self.differ
    }
}

/// Compares each pair of the criteria that have scores by both, of which `criteria` have the suites.
pub(super) fn predictions(
    by_mutants: &Ranking,
    by_effectiveness: &Ranking,
    criteria: &[CriterionAnalysis],
    alpha: f64,
) -> Vec<Prediction> {
    let both: Vec<usize> =
        by_effectiveness.order.iter().copied().filter(|index| by_mutants.order.contains(index)).collect();
    let sizes: Vec<Vec<f64>> = criteria
        .iter()
        .map(|criterion| criterion.suites.iter().map(|suite| suite.cases.len() as f64).collect())
        .collect();
    let mut predictions = Vec::new();
    for (place, &better) in both.iter().enumerate() {
        for &worse in &both[place + 1..] {
            let pair = |ranking: &Ranking| {
                let found = |better, worse| ranking.pair(better, worse).cloned();
                found(better, worse).zip(found(worse, better))
            };
            let (Some(mutants), Some(effectiveness)) = (pair(by_mutants), pair(by_effectiveness)) else { continue };
            let same_size =
                mutants.0.same_size.zip(effectiveness.0.same_size).map(|(mutants, effectiveness)| SameSizePrediction {
                    mutant_effect: mutants.effect,
                    mutant_p: mutants.p,
                    effectiveness_effect: effectiveness.effect,
                    effectiveness_p: effectiveness.p,
                });
            predictions.push(Prediction {
                better,
                worse,
                mutant_p: mutants.0.rank_sum_p,
                effectiveness_p: effectiveness.0.rank_sum_p,
                mutant_effect: mutants.0.effect,
                effectiveness_effect: effectiveness.0.effect,
                agreement: agreement(&mutants, &effectiveness, |pair| pair.significant),
                agreement_by_thesis: agreement(&mutants, &effectiveness, |pair| pair.thesis_holds),
                same_size,
                agreement_same_size: same_size.map_or(Agreement::Undecided, |test| {
                    compared(
                        direction(test.mutant_effect, Some(test.mutant_p), alpha),
                        direction(test.effectiveness_effect, Some(test.effectiveness_p), alpha),
                    )
                }),
                size_effect: a12(&sizes[better], &sizes[worse]).expect("criteria with scores have suites"),
                size_p: mann_whitney(&sizes[better], &sizes[worse], Alternative::TwoSided).map(|test| test.p),
                // Known when all p-values are corrected.
                agreement_by_size: Agreement::Undecided,
            });
        }
    }
    let mut ps: Vec<&mut f64> = predictions.iter_mut().filter_map(|pair| pair.size_p.as_mut()).collect();
    let corrected = holm(&ps.iter().map(|p| **p).collect::<Vec<_>>());
    ps.iter_mut().zip(corrected).for_each(|(p, corrected)| **p = corrected);
    for prediction in &mut predictions {
        let pair = |better, worse| by_effectiveness.pair(better, worse).is_some_and(|pair| pair.significant);
        let found = match (pair(prediction.better, prediction.worse), pair(prediction.worse, prediction.better)) {
            (false, false) => None,
            (is_better, _) => Some(is_better),
        };
        prediction.agreement_by_size = compared(direction(prediction.size_effect, prediction.size_p, alpha), found);
    }
    predictions
}

/// Returns whether the first is significantly higher, or the second; `None` if neither is.
fn direction(effect: f64, p: Option<f64>, alpha: f64) -> Option<bool> {
    (p.is_some_and(|p| p < alpha) && effect != 0.5).then_some(effect > 0.5)
}

/// Compares what is predicted with what is found.
fn compared(predicted: Option<bool>, found: Option<bool>) -> Agreement {
    match (predicted, found) {
        (Some(predicted), Some(found)) if predicted == found => Agreement::Agrees,
        (Some(_), Some(_)) => Agreement::Differs,
        _ => Agreement::Undecided,
    }
}

/// Compares which of a claim and its opposite hold by either.
fn agreement(
    by_mutants: &(PairTest, PairTest),
    by_effectiveness: &(PairTest, PairTest),
    holds: fn(&PairTest) -> bool,
) -> Agreement {
    let direction = |(claim, opposite): &(PairTest, PairTest)| match (holds(claim), holds(opposite)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    compared(direction(by_mutants), direction(by_effectiveness))
}
