//! How well the order of the criteria by effectiveness is foreseen: by scores, and by the size of suites alone.
//!
//! Larger suites find more, whatever they were drawn for. So an order that mutants foresee says something for mutants
//! only as far as suite sizes do not foresee it as well.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::choosing::SUBJECTS_MIN;
use crate::analysis::Analysis;
use crate::criteria::CriterionAnalysis;
use crate::options::AnalysisOptions;
use crate::statistics::{Bootstrap, Interval, kendall_tau_b, percentile};

/// Kendall's tau-b with the order of the criteria by mean effectiveness, over the criteria that have scores by both.
///
/// Intervals are at the level `1 - alpha`, were other implementations drawn (percentile bootstrap); `None` with fewer
/// than five implementations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Foreseen {
    /// How many criteria are ordered.
    pub criteria: usize,
    /// Of the mean scores: expected ones, where test cases were re-seeded.
    pub by_mutants: f64,
    /// What that lies in.
    pub by_mutants_interval: Option<Interval>,
    /// Of the mean mutant scores on the test cases' own seeds.
    pub by_own_seeds: f64,
    /// Of the mean sizes of suites.
    pub by_size: f64,
    /// What that lies in.
    pub by_size_interval: Option<Interval>,
    /// What the first minus the second lies in, the same implementations being drawn for both.
    pub difference_interval: Option<Interval>,
}

impl Foreseen {
    /// Compares both orders; `None` if scores, sizes or effectiveness do not vary between criteria. `found` has for
    /// each criterion the mean probability that a suite of it finds each implementation.
    pub(super) fn new(
        analysis: &Analysis,
        criteria: &[CriterionAnalysis],
        found: &[Vec<f64>],
        options: &AnalysisOptions,
        threads: NonZeroUsize,
    ) -> Option<Self> {
        let known = criteria.iter().enumerate().zip(found).filter_map(|((index, criterion), found)| {
            criterion.score?;
            let on_own_seeds = analysis.criteria[index].score?.mean;
            Some(([analysis.ranking.mean(index)?, on_own_seeds, criterion.size?.mean], found.as_slice()))
        });
        let known: Vec<([f64; 3], &[f64])> = known.collect();
        let foreseen = [0, 1, 2].map(|by| known.iter().map(|criterion| criterion.0[by]).collect::<Vec<f64>>());
        let subjects = known.first()?.1.len();
        let taus = |places: &[usize]| {
            // Sums in one order for all criteria, so that equal criteria have equal means.
            let mean = |found: &[f64]| places.iter().map(|&place| found[place]).sum::<f64>() / places.len() as f64;
            let effectiveness: Vec<f64> = known.iter().map(|criterion| mean(criterion.1)).collect();
            let tau = |values: &[f64]| kendall_tau_b(values, &effectiveness).map(|test| test.tau);
            let [by_scores, on_own_seeds, by_size] = foreseen.each_ref().map(|values| tau(values));
            Some([by_scores?, on_own_seeds?, by_size?])
        };
        let [by_mutants, by_own_seeds, by_size] = taus(&(0..subjects).collect::<Vec<_>>())?;
        let resamples = if subjects < SUBJECTS_MIN { 0 } else { options.resamples };
        let bootstrap = Bootstrap { seed: options.seed, purpose: "orders of criteria", resamples, threads };
        let drawn = bootstrap
            .replicates(|| (), |(), stream| taus(&(0..subjects).map(|_| stream.below(subjects)).collect::<Vec<_>>()));
        let interval_of = |value: fn([f64; 3]) -> f64| {
            let values: Vec<f64> = drawn.iter().flatten().map(|taus| value(*taus)).collect();
            percentile(&values, 1.0 - options.alpha)
        };
        Some(Self {
            criteria: known.len(),
            by_mutants,
            by_mutants_interval: interval_of(|[by_scores, _, _]| by_scores),
            by_own_seeds,
            by_size,
            by_size_interval: interval_of(|[_, _, by_size]| by_size),
            difference_interval: interval_of(|[by_scores, _, by_size]| by_scores - by_size),
        })
    }

    /// Returns whether mutants foresee the order significantly better than size alone: by the interval of the
    /// difference, or, where there is none, at all.
    pub fn mutants_are_better(&self) -> bool {
        self.difference_interval.map_or(self.by_mutants > self.by_size, |interval| interval.lower > 0.0)
    }
}
