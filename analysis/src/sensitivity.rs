//! Sensitivity: how the recommendation stands under other choices that were not the user's.
//!
//! Nobody chose the mutation operators, the functions that have mutants, the test cases of the universe, or where a
//! mutant is too easy to count. So the criteria are put in order again without each operator, each function, and each
//! fifth of the universe, by other counts of kills, and with other thresholds; and the kill rows are drawn again, since
//! the mutants are a sample of those that there could be. Where another criterion comes first, the choice hangs on what
//! nobody chose.
//!
//! Every variant is a set of weights of the same kill rows, but for fifths of the universe: there suites are drawn
//! anew, as a study without these test cases draws them. Suites that lie in the other four fifths would be too few (of
//! suites of 10 test cases one in ten), and the small ones among them. The probabilities of the test cases that stay
//! are those of the whole universe.

mod kill_rows;
#[cfg(test)]
mod tests;
mod variants;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::Outcomes;

use crate::criteria::CriterionAnalysis;
use crate::expected::Expected;
use crate::mutants::MutantClasses;
use crate::options::AnalysisOptions;
use crate::probabilities::KillProbabilities;
use crate::recommendation;
use crate::statistics::{Bootstrap, kendall_tau_b};

use kill_rows::{KillRows, Scratch};

/// Values that differ by less are equal: sums in another order differ in their last bits.
const EQUAL: f64 = 1e-9;

/// With fewer kill rows than this between the first criterion and the second, the first place rests on few.
pub const DECIDING_ROWS_MIN: usize = 5;

/// What criteria are put in order by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The mean score of their suites.
    Score,
    /// How many minutes of random test cases a minute of their suites is worth.
    Worth,
}

/// A choice that was not the user's, and is made otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OtherChoice {
    /// The mutants of this operator do not count.
    WithoutOperator(String),
    /// The mutants of this function do not count.
    WithoutFunction(String),
    /// Every fifth test case of the universe, from this one on, is not there: suites are drawn from the others.
    WithoutFifth(usize),
    /// Kills count on the own seeds of test cases, of analysed mutants, each the same.
    OwnSeeds,
    /// Each mutant counts the same.
    Unweighted,
    /// Each mutant counts by its difficulty.
    ByDifficulty,
    /// Criteria are in the order of the mean scores of their suites. This and the next one ask another question, how
    /// much suites find in all rather than in a minute, which their sizes answer first; so they make no candidates.
    ByScore,
    /// Criteria are in the order of what a minute of their suites is worth.
    ByWorth,
    /// One mutant of each dominator class counts.
    Dominators,
    /// Mutants with one kill row count once.
    KillRows,
    /// Mutants that more than this share of the universe kills, on average over re-seedings, do not count.
    PathologicalAbove(f64),
}

/// The criteria under one other choice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// What is chosen otherwise.
    pub choice: OtherChoice,
    /// What criteria are put in order by.
    pub measure: Measure,
    /// How many mutants count.
    pub mutants: usize,
    /// The values of the criteria, in the order of [`Sensitivity::order`].
    pub values: Vec<f64>,
    /// Index of the criterion that comes first; of equals, the one that does in the study.
    pub first: usize,
    /// Kendall's tau-b with the values of the study; `None` where one of both does not vary.
    pub tau: Option<f64>,
    /// How far the value of the recommended criterion is below that of the first; without a recommendation, that of the
    /// first of the study.
    pub regret: f64,
}

/// How sure the first place among criteria is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstPlace {
    /// The same criterion comes first whatever is chosen.
    Firm,
    /// The same criterion comes first whatever is chosen, but few kill rows decide; none of all speaks for the second.
    FewRows,
    /// Another criterion comes first under some other choice or in some resamples, or few kill rows decide.
    Open,
    /// No mutant tells the candidates apart.
    Undecided,
}

/// How the recommendation stands under other choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sensitivity {
    /// What criteria are put in order by.
    pub measure: Measure,
    /// Indices of the criteria that have suites, the first of the study first.
    pub order: Vec<usize>,
    /// Their values; all 0 if no mutant counts.
    pub values: Vec<f64>,
    /// How sure the first place is.
    pub first_place: FirstPlace,
    /// Indices of the criteria that may be first, in the order of the study: those that are under some other choice
    /// with the same measure or in some share of the resamples (the significance level), and the second if few rows
    /// decide and some speak for it.
    pub candidates: Vec<usize>,
    /// How many different kill rows count.
    pub rows: usize,
    /// How many of them, taken away one by one, are enough for the second criterion to catch up with the first; `None`
    /// if it takes five or more.
    pub deciding_rows: Option<usize>,
    /// The criteria under each other choice.
    pub variants: Vec<Variant>,
    /// How often kill rows were drawn again.
    pub resamples: usize,
    /// The share of these in which each criterion comes first, in the order of the study.
    pub first_in_resamples: Vec<f64>,
}

/// What a sensitivity is a function of.
#[derive(Debug)]
pub(crate) struct Studied<'a> {
    pub(crate) outcomes: &'a Outcomes,
    pub(crate) options: &'a AnalysisOptions,
    /// What each test case of the universe takes.
    pub(crate) seconds: &'a [f64],
    pub(crate) classes: &'a MutantClasses,
    pub(crate) criteria: &'a [CriterionAnalysis],
    /// One mutant of each dominator class.
    pub(crate) dominators: &'a simutant_outcomes::BitSet,
    pub(crate) probabilities: Option<&'a KillProbabilities>,
    pub(crate) expected: Option<&'a Expected>,
    pub(crate) threads: NonZeroUsize,
}

impl Studied<'_> {
    /// Returns the criteria that have suites, the first of the study first.
    fn order(&self) -> Vec<usize> {
        match self.expected {
            Some(expected) => expected.criteria.iter().map(|of_criterion| of_criterion.criterion).collect(),
            None => recommendation::best_first(self.criteria),
        }
    }

    fn measure(&self) -> Measure {
        if self.expected.is_some() { Measure::Worth } else { Measure::Score }
    }
}

/// Returns how the first place stands under other choices; `None` with fewer than two criteria that have suites.
/// Regrets are those of the first; [`Sensitivity::recommend`] makes them those of another.
///
/// Cost as of drawing suites five times, and O(rows * suites) for each variant and each resample.
pub(crate) fn sensitivity(studied: &Studied<'_>) -> Option<Sensitivity> {
    let order = studied.order();
    if order.len() < 2 {
        return None;
    }
    let base = variants::Base::new(studied, &order);
    let mut scratch = Scratch::default();
    let measure = studied.measure();
    let (rows, weights) = (&base.rows, &base.weights);
    let mut found = Sensitivity {
        measure,
        rows: weights.iter().filter(|weight| **weight > 0.0).count(),
        values: vec![0.0; order.len()],
        first_place: FirstPlace::Undecided,
        candidates: order.clone(),
        deciding_rows: None,
        variants: Vec::new(),
        resamples: 0,
        first_in_resamples: Vec::new(),
        order,
    };
    let Some(values) = rows.values(weights, measure, &mut scratch) else { return Some(found) };
    found.values = values;
    found.variants = base.variants(studied, &found);
    found.resamples = studied.options.resamples;
    found.first_in_resamples = first_in_resamples(&base, &found, studied);
    found.deciding_rows = deciding_rows(rows, weights, measure, &mut scratch);
    let share_min = studied.options.alpha;
    let is_alike = |place: usize| rows.are_alike(weights, 0, place);
    let is_behind = !is_alike(1) && rows.is_never_ahead(weights, 1, 0);
    let is_candidate = |place: &usize| {
        *place == 0
            || *place == 1 && found.deciding_rows.is_some() && !is_behind
            || found.like_study().any(|variant| variant.first == found.order[*place])
            || found.first_in_resamples[*place] >= share_min
    };
    let places: Vec<usize> = (0..found.order.len()).filter(is_candidate).collect();
    found.first_place = match places[..] {
        [_] if found.deciding_rows.is_some() => FirstPlace::FewRows,
        [_] => FirstPlace::Firm,
        _ if places.iter().all(|&place| is_alike(place)) => FirstPlace::Undecided,
        _ => FirstPlace::Open,
    };
    found.candidates = places.into_iter().map(|place| found.order[place]).collect();
    Some(found)
}

impl Sensitivity {
    /// Returns the variants that put criteria in order by what the study does.
    pub fn like_study(&self) -> impl Iterator<Item = &Variant> {
        self.variants.iter().filter(|variant| variant.measure == self.measure)
    }

    /// Makes regrets those of this criterion.
    pub(crate) fn recommend(&mut self, criterion: usize) {
        let place = self.order.iter().position(|&other| other == criterion).expect("it has suites");
        for variant in &mut self.variants {
            variant.regret = regret(&variant.values, place);
        }
    }

    /// Returns how the values of a variant stand to those of the study.
    fn variant(&self, choice: OtherChoice, measure: Measure, mutants: usize, values: Vec<f64>) -> Variant {
        Variant {
            choice,
            measure,
            mutants,
            first: self.order[first(&values)],
            tau: kendall_tau_b(&rounded(&self.values), &rounded(&values)).map(|kendall| kendall.tau),
            regret: regret(&values, 0),
            values,
        }
    }
}

/// The place of the highest value; of equals, the first.
fn first(values: &[f64]) -> usize {
    (0..values.len()).reduce(|best, next| if values[next] > values[best] + EQUAL { next } else { best }).unwrap_or(0)
}

fn regret(values: &[f64], place: usize) -> f64 {
    let regret = values[first(values)] - values[place];
    if regret > EQUAL { regret } else { 0.0 }
}

/// What is equal but for rounding is equal.
fn rounded(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| (value / EQUAL).round()).collect()
}

/// The share of resamples of the kill rows in which each criterion comes first.
fn first_in_resamples(base: &variants::Base<'_>, found: &Sensitivity, studied: &Studied<'_>) -> Vec<f64> {
    let rows: Vec<usize> = (0..base.weights.len()).filter(|&row| base.weights[row] > 0.0).collect();
    let bootstrap = Bootstrap {
        seed: studied.options.seed,
        purpose: "sensitivity",
        resamples: found.resamples,
        threads: studied.threads,
    };
    let scratch = || (Scratch::default(), vec![0.0; base.weights.len()]);
    let firsts = bootstrap.replicates(scratch, |(scratch, weights), stream| {
        weights.fill(0.0);
        for _ in &rows {
            let row = rows[stream.below(rows.len())];
            weights[row] += base.weights[row];
        }
        let values = base.rows.values(weights, found.measure, scratch);
        first(&values.expect("every drawn row counts"))
    });
    let mut shares = vec![0.0; found.order.len()];
    firsts.iter().for_each(|&place| shares[place] += 1.0 / firsts.len() as f64);
    shares
}

/// How many rows, each taken away where that helps the second criterion most, are enough for it to catch up; `None` if
/// these are not fewer than [`DECIDING_ROWS_MIN`]. For mean scores that is the least number, for what minutes are
/// worth an upper bound of it.
fn deciding_rows(rows: &KillRows<'_>, weights: &[f64], measure: Measure, scratch: &mut Scratch) -> Option<usize> {
    let mut weights = weights.to_vec();
    let mut lead = |weights: &[f64]| {
        let values = rows.values(weights, measure, scratch);
        values.map_or(0.0, |values| values[0] - values[1])
    };
    for taken in 0..DECIDING_ROWS_MIN {
        if lead(&weights) <= EQUAL {
            return Some(taken);
        }
        let mut without = |row: usize| {
            let weight = std::mem::take(&mut weights[row]);
            // The number of mutants left changes the unit of a lead, not its sign: what counts is the lead in weights.
            let total: f64 = weights.iter().sum();
            let lead = lead(&weights) * if measure == Measure::Score { total } else { 1.0 };
            weights[row] = weight;
            lead
        };
        let least =
            (0..rows.rows.len()).map(|row| (without(row), row)).min_by(|one, other| one.0.total_cmp(&other.0))?;
        weights[least.1] = 0.0;
    }
    None
}
