//! Experiment 3: what the mutants said of each pair of criteria beside what the implementations say.

use serde::{Deserialize, Serialize};

use crate::ranking::{PairTest, Ranking};
use crate::reference::Agreement;

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

/// Compares each pair of the criteria that have scores by both.
pub(super) fn predictions(by_mutants: &Ranking, by_effectiveness: &Ranking) -> Vec<Prediction> {
    let both: Vec<usize> =
        by_effectiveness.order.iter().copied().filter(|index| by_mutants.order.contains(index)).collect();
    let mut predictions = Vec::new();
    for (place, &better) in both.iter().enumerate() {
        for &worse in &both[place + 1..] {
            let pair = |ranking: &Ranking| {
                let found = |better, worse| ranking.pair(better, worse).cloned();
                found(better, worse).zip(found(worse, better))
            };
            let (Some(mutants), Some(effectiveness)) = (pair(by_mutants), pair(by_effectiveness)) else { continue };
            predictions.push(Prediction {
                better,
                worse,
                mutant_p: mutants.0.rank_sum_p,
                effectiveness_p: effectiveness.0.rank_sum_p,
                mutant_effect: mutants.0.effect,
                effectiveness_effect: effectiveness.0.effect,
                agreement: agreement(&mutants, &effectiveness, |pair| pair.significant),
                agreement_by_thesis: agreement(&mutants, &effectiveness, |pair| pair.thesis_holds),
            });
        }
    }
    predictions
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
    match (direction(by_mutants), direction(by_effectiveness)) {
        (Some(predicted), Some(found)) if predicted == found => Agreement::Agrees,
        (Some(_), Some(_)) => Agreement::Differs,
        _ => Agreement::Undecided,
    }
}
