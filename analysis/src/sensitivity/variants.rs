//! The order of criteria under each [`OtherChoice`]: with other mutants, test cases, weights or thresholds than the
//! study's.

use std::collections::BTreeMap;
use std::thread;

use simutant_outcomes::{BitSet, Criterion};

use super::kill_rows::{KillRows, Row, Scratch};
use super::{Measure, OtherChoice, Sensitivity, Studied, Variant};
use crate::kills::KillsByCase;
use crate::mutants::MutantClass;
use crate::probabilities::counted;
use crate::suites::{self, AdequateSuite, Scoring};

/// Number of parts of the universe; each is left out once.
const PARTS: usize = 5;

/// The shares of the universe above which a mutant is pathological; the option's own is not among the variants.
const THRESHOLDS: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 1.0];

/// The study as its options have it, which each variant changes in one choice.
#[derive(Debug)]
pub(super) struct Base<'a> {
    pub(super) rows: KillRows<'a>,
    /// The weight of each row in scores; 0 for a row whose mutants do not count.
    pub(super) weights: Vec<f64>,
    /// The share of all test cases that kill the mutants of each row, or the mean probability with re-seedings.
    killed: Vec<f64>,
}

impl<'a> Base<'a> {
    /// Prepares the kill rows of the criteria's suites, with the criteria in this order. Without re-seedings the rows
    /// include pathological mutants, with weight 0: a variant with a higher threshold gives them weight.
    pub(super) fn new(studied: &Studied<'a>, order: &[usize]) -> Self {
        let rows = rows(studied);
        let suites: Vec<Vec<&[usize]>> =
            order.iter().map(|&criterion| of(&studied.criteria[criterion].suites)).collect();
        let rows = KillRows::new(rows, (all(studied), studied.seconds), &suites, Measure::Worth);
        let killed = killed(&rows);
        let weights = weights(&rows, &killed, studied);
        Self { rows, weights, killed }
    }

    /// Returns the variants in which at least one mutant counts.
    ///
    /// A variant is a vector of weights over the same kill rows where the choice concerns mutants alone: what suites
    /// kill does not change, so it is computed once. Only own seeds and left-out test cases need rows of their own.
    pub(super) fn variants(&self, studied: &Studied<'_>, found: &Sensitivity) -> Vec<Variant> {
        let mut variants = self.of_parts(studied, found);
        let mut scratch = Scratch::default();
        let mut add = |rows: &KillRows, choice: OtherChoice, measure: Measure, weights: &[f64]| {
            if let Some(values) = rows.values(weights, measure, &mut scratch) {
                let counting = rows.rows.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
                let mutants = counting.map(|(row, _)| row.mutants.len()).sum();
                variants.push(found.variant(choice, measure, mutants, values));
            }
        };
        let measure = found.measure;
        // A row's weight is that of all its mutants: divided by their number, each row counts as one mutant.
        let once = self.weights.iter().zip(&self.rows.rows);
        let once: Vec<f64> = once.map(|(weight, row)| weight / row.mutants.len() as f64).collect();
        let of_dominators = self.rows.rows.iter().zip(&self.weights).map(|(row, weight)| {
            let count = row.mutants.iter().filter(|&&mutant| studied.dominators.contains(mutant)).count() as f64;
            match studied.probabilities {
                Some(_) => count * weight / row.mutants.len() as f64,
                None => count,
            }
        });
        add(&self.rows, OtherChoice::KillRows, measure, &once);
        add(&self.rows, OtherChoice::Dominators, measure, &of_dominators.collect::<Vec<f64>>());
        match studied.probabilities {
            Some(_) => {
                add(&self.rows, OtherChoice::Unweighted, measure, &self.same());
                add(&self.rows, OtherChoice::ByScore, Measure::Score, &self.weights);
                let own = Row::certain(&studied.outcomes.kills, &analysed(studied));
                let suites: Vec<Vec<&[usize]>> =
                    found.order.iter().map(|&criterion| of(&studied.criteria[criterion].suites)).collect();
                let own = KillRows::new(own, (all(studied), studied.seconds), &suites, measure);
                let weights: Vec<f64> = own.rows.iter().map(|row| row.mutants.len() as f64).collect();
                add(&own, OtherChoice::OwnSeeds, measure, &weights);
            }
            None => {
                let by_difficulty = self.weights.iter().zip(&self.killed);
                let by_difficulty: Vec<f64> = by_difficulty.map(|(weight, killed)| weight * (1.0 - killed)).collect();
                add(&self.rows, OtherChoice::ByDifficulty, measure, &by_difficulty);
                add(&self.rows, OtherChoice::ByWorth, Measure::Worth, &self.weights);
            }
        }
        for threshold in THRESHOLDS {
            let is_own = studied.probabilities.is_none() && threshold == studied.options.pathological_above;
            let same = self.same();
            let weights = if studied.probabilities.is_some() { &self.weights } else { &same };
            // Without re-seedings the study's weights already exclude pathological mutants by its own threshold, so a
            // variant begins with equal weights. With a threshold of 1 mutants that all test cases kill count, too.
            let weights = weights.iter().zip(&self.killed);
            let weights: Vec<f64> = weights
                .map(|(weight, &killed)| if killed > threshold + super::EQUAL { 0.0 } else { *weight })
                .collect();
            if !is_own && weights != self.weights {
                add(&self.rows, OtherChoice::PathologicalAbove(threshold), measure, &weights);
            }
        }
        variants
    }

    /// Returns weights by which each mutant counts the same.
    fn same(&self) -> Vec<f64> {
        self.rows.rows.iter().map(|row| row.mutants.len() as f64).collect()
    }

    /// Returns the variants that leave out an operator, a function or a fifth of the test cases, each in turn.
    fn of_parts(&self, studied: &Studied<'_>, found: &Sensitivity) -> Vec<Variant> {
        let sites = &studied.outcomes.sites;
        let mut scratch = Scratch::default();
        let mut parts: Vec<(OtherChoice, Vec<usize>)> = Vec::new();
        let mut by_operator: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut by_function: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (row, mutants) in self.rows.rows.iter().enumerate().filter(|(row, _)| self.weights[*row] > 0.0) {
            for &mutant in &mutants.mutants {
                by_operator.entry(&sites.mutants[mutant].operator).or_default().push(row);
                by_function.entry(sites.mutants[mutant].function).or_default().push(row);
            }
        }
        let operators = by_operator.into_iter();
        parts.extend(operators.map(|(name, rows)| (OtherChoice::WithoutOperator(name.to_owned()), rows)));
        let functions = by_function.into_iter();
        parts.extend(
            functions.map(|(number, rows)| (OtherChoice::WithoutFunction(sites.functions[number].path.clone()), rows)),
        );
        let all: usize = self.counting();
        let of_mutants = parts.into_iter().filter_map(|(choice, removed)| {
            let mut weights = self.weights.clone();
            for &row in &removed {
                weights[row] -= self.weights[row] / self.rows.rows[row].mutants.len() as f64;
            }
            for (row, weight) in weights.iter_mut().enumerate() {
                // A row that lost all its mutants must weigh exactly 0; what the subtractions left is rounding error.
                *weight = if *weight < super::EQUAL * self.weights[row] { 0.0 } else { *weight };
            }
            let values = self.rows.values(&weights, found.measure, &mut scratch)?;
            Some(found.variant(choice, found.measure, all - removed.len(), values))
        });
        let of_mutants: Vec<Variant> = of_mutants.collect();
        let without = |part: usize| without_fifth(studied, &found.order, part);
        let fifths: Vec<Option<(usize, Vec<f64>)>> = if studied.threads.get() == 1 {
            (0..PARTS).map(without).collect()
        } else {
            thread::scope(|scope| {
                let halves = [0..PARTS / 2, PARTS / 2..PARTS];
                let without = &without;
                let threads = halves.map(|half| scope.spawn(move || half.map(without).collect::<Vec<_>>()));
                let joined = threads.into_iter().map(|thread| thread.join());
                joined.flat_map(|half| half.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
            })
        };
        let fifths = fifths.into_iter().enumerate().filter_map(|(part, values)| {
            let (mutants, values) = values?;
            Some(found.variant(OtherChoice::WithoutFifth(part), found.measure, mutants, values))
        });
        of_mutants.into_iter().chain(fifths).collect()
    }

    /// Returns the number of mutants that count.
    fn counting(&self) -> usize {
        let rows = self.rows.rows.iter().zip(&self.weights);
        rows.filter(|(_, weight)| **weight > 0.0).map(|(row, _)| row.mutants.len()).sum()
    }
}

/// Returns the kill rows of the study.
fn rows<'a>(studied: &Studied<'a>) -> Vec<Row<'a>> {
    match studied.probabilities.zip(studied.outcomes.reseeded.as_ref()) {
        Some((probabilities, reseeded)) => Row::likely(probabilities, reseeded),
        None => Row::certain(&studied.outcomes.kills, &counted(studied.classes)),
    }
}

/// Returns all test cases of the universe.
fn all(studied: &Studied<'_>) -> Vec<usize> {
    (0..studied.outcomes.cases.len()).collect()
}

/// Returns the share of the test cases that kill the mutants of each row, or the mean probability with re-seedings.
fn killed(rows: &KillRows<'_>) -> Vec<f64> {
    rows.rows.iter().map(|row| 1.0 - row.difficulty(&rows.cases)).collect()
}

/// Returns the weights of rows, given the share of test cases that kills each.
fn weights(rows: &KillRows<'_>, killed: &[f64], studied: &Studied<'_>) -> Vec<f64> {
    let cases = rows.cases.len() as f64;
    let weight = |(row, &killed): (&Row<'_>, &f64)| {
        let count = row.mutants.len() as f64;
        match studied.probabilities {
            Some(_) => count * (1.0 - killed),
            None if (killed * cases).round() > studied.options.pathological_above * cases => 0.0,
            None => count,
        }
    };
    rows.rows.iter().zip(killed).map(weight).collect()
}

fn of(suites: &[AdequateSuite]) -> Vec<&[usize]> {
    suites.iter().map(|suite| suite.cases.as_slice()).collect()
}

fn analysed(studied: &Studied<'_>) -> BitSet {
    studied.classes.of(MutantClass::Analysed)
}

/// Returns the number of mutants that count, and the values of the criteria, with suites drawn from the universe
/// without every fifth test case from `part` on; `None` if no mutant counts.
fn without_fifth(studied: &Studied<'_>, order: &[usize], part: usize) -> Option<(usize, Vec<f64>)> {
    let outcomes = studied.outcomes;
    let kept: Vec<usize> = (0..outcomes.cases.len()).filter(|case| case % PARTS != part).collect();
    let mut rows = rows(studied);
    // A mutant that none of the remaining test cases kills does not count.
    rows.retain(|row| match &outcomes.reseeded {
        Some(reseeded) => kept.iter().any(|&case| reseeded.kills[row.mutants[0]][case] > 0),
        None => kept.iter().any(|&case| row.survival.of(case) < 1.0),
    });
    let events: Vec<u64> = kept.iter().map(|&case| outcomes.cases[case].events).collect();
    let none = BitSet::new();
    let kills = KillsByCase::of_rows(&[], events.len());
    let scoring = Scoring { events: &events, kills: &kills, analysed: &none, dominators: &none };
    let draw = |&criterion: &usize| {
        let criterion = &outcomes.criteria[criterion];
        let covered = kept.iter().map(|&case| criterion.covered[case].clone()).collect();
        let criterion = Criterion {
            name: criterion.name.clone(),
            kind: criterion.kind,
            requirements: criterion.requirements.clone(),
            quotas: criterion.quotas.clone(),
            covered,
        };
        suites::draw(&criterion, studied.options.suites, studied.options.seed, &scoring)
    };
    let drawn: Vec<Vec<AdequateSuite>> = order.iter().map(draw).collect();
    let drawn: Vec<Vec<&[usize]>> = drawn.iter().map(|suites| of(suites)).collect();
    let rows = KillRows::new(rows, (kept, studied.seconds), &drawn, studied.measure());
    let weights = weights(&rows, &killed(&rows), studied);
    let values = rows.values(&weights, studied.measure(), &mut Scratch::default())?;
    let counting = rows.rows.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
    Some((counting.map(|(row, _)| row.mutants.len()).sum(), values))
}
