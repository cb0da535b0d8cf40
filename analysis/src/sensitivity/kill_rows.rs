//! What suites kill, by kill row: what every variant of an analysis is computed from.

use std::collections::BTreeMap;

use simutant_outcomes::{BitSet, Reseeded};

use super::Measure;
use crate::expected::worth::{mean, random_size, random_size_max};
use crate::missing::missing_of_random;
use crate::probabilities::KillProbabilities;

/// Mutants that the same test cases kill, as likely.
#[derive(Debug)]
pub(super) struct Row<'a> {
    /// Their numbers, ascending; never empty.
    pub(super) mutants: Vec<usize>,
    pub(super) survival: Survival<'a>,
}

/// How likely each test case of the universe lets the mutants of a row survive. It is looked up where it lies: a number for
/// each pair would be most of what a large study needs in memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum Survival<'a> {
    /// These kill the mutants, and the others do not.
    Certain(&'a BitSet),
    /// What re-seedings say of the mutant in this place.
    Likely(&'a KillProbabilities, usize),
    #[cfg(test)]
    Known(&'a [f64]),
}

impl Survival<'_> {
    pub(super) fn of(self, case: usize) -> f64 {
        match self {
            Self::Certain(kills) => f64::from(u8::from(!kills.contains(case))),
            Self::Likely(probabilities, place) => probabilities.survival(case, place),
            #[cfg(test)]
            Self::Known(survival) => survival[case],
        }
    }
}

impl<'a> Row<'a> {
    /// Returns the rows of some mutants of a kill matrix: that of the study, or one of another oracle.
    pub(super) fn certain(kills: &'a [BitSet], of: &BitSet) -> Vec<Self> {
        let mut rows: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
        let of = of.ones().filter(|&mutant| !kills[mutant].is_clear());
        of.for_each(|mutant| rows.entry(kills[mutant].as_slice()).or_default().push(mutant));
        let survival = |mutant: usize| Survival::Certain(&kills[mutant]);
        let mut rows: Vec<Self> =
            rows.into_values().map(|mutants| Self { survival: survival(mutants[0]), mutants }).collect();
        rows.sort_by_key(|row| row.mutants[0]);
        rows
    }

    /// Returns the rows of the mutants that tell suites apart, by what re-seedings say of them.
    pub(super) fn likely(probabilities: &'a KillProbabilities, reseeded: &Reseeded) -> Vec<Self> {
        let mut rows: BTreeMap<[&[u8]; 2], Vec<usize>> = BTreeMap::new();
        probabilities.rows(reseeded).for_each(|(mutant, row)| rows.entry(row).or_default().push(mutant));
        let survival = |mutant: usize| {
            let place = probabilities.mutants.binary_search(&mutant).expect("rows are of mutants that count");
            Survival::Likely(probabilities, place)
        };
        let mut rows: Vec<Self> =
            rows.into_values().map(|mutants| Self { survival: survival(mutants[0]), mutants }).collect();
        rows.sort_by_key(|row| row.mutants[0]);
        rows
    }

    /// Returns how hard the mutants are to kill: the probability that a random one of these test cases lets them survive.
    pub(super) fn difficulty(&self, cases: &[usize]) -> f64 {
        cases.iter().map(|&case| self.survival.of(case)).sum::<f64>() / cases.len() as f64
    }
}

/// What the suites of all criteria kill of each row.
#[derive(Debug)]
pub(super) struct KillRows<'a> {
    pub(super) rows: Vec<Row<'a>>,
    /// The test cases that suites are drawn from, by their numbers in the universe.
    pub(super) cases: Vec<usize>,
    /// The suites of each criterion, as a range of all.
    suites: Vec<std::ops::Range<usize>>,
    /// How many test cases the largest suite has.
    size_max: usize,
    /// What each suite takes, in units of what a test case takes on average.
    times: Vec<f64>,
    /// Shape `rows x suites`: how likely each suite kills the mutants of each row.
    killed: Vec<Vec<f64>>,
    /// Shape `rows x criteria`: the means of these.
    mean_killed: Vec<Vec<f64>>,
    /// Shape `rows x sizes`: the same of random suites of 1 test case and more; empty if nothing is held against them.
    random: Vec<Vec<f64>>,
}

impl<'a> KillRows<'a> {
    /// Scores `suites`, which has those of each criterion as places in `cases`. `seconds` has what each test case of the
    /// universe takes.
    ///
    /// Cost O(suites * size * rows); with [`Measure::Worth`] O(rows * cases * size) more.
    pub(super) fn new(
        rows: Vec<Row<'a>>,
        (cases, seconds): (Vec<usize>, &[f64]),
        suites: &[Vec<&[usize]>],
        measure: Measure,
    ) -> Self {
        let all = || suites.iter().flatten();
        let mut start = 0;
        let ranges = suites.iter().map(|suites| {
            start += suites.len();
            start - suites.len()..start
        });
        let ranges: Vec<std::ops::Range<usize>> = ranges.collect();
        let killed = |row: &Row<'_>| -> Vec<f64> {
            let survival = |suite: &[usize]| suite.iter().map(|&place| row.survival.of(cases[place])).product::<f64>();
            all().map(|suite| 1.0 - survival(suite)).collect()
        };
        let killed: Vec<Vec<f64>> = rows.iter().map(killed).collect();
        let mean_of = |killed: &[f64]| killed.iter().sum::<f64>() / killed.len().max(1) as f64;
        let means =
            |killed: &Vec<f64>| ranges.iter().map(|suites| mean_of(&killed[suites.clone()])).collect::<Vec<f64>>();
        let seconds: Vec<f64> = cases.iter().map(|&case| seconds[case]).collect();
        let mean_time = mean(&seconds);
        let time = |suite: &&[usize]| suite.iter().map(|&place| seconds[place]).sum::<f64>() / mean_time;
        let mut this = Self {
            mean_killed: killed.iter().map(means).collect(),
            size_max: all().map(|suite| suite.len()).max().unwrap_or(0),
            times: all().map(time).collect(),
            suites: ranges,
            killed,
            random: Vec::new(),
            rows,
            cases,
        };
        if measure == Measure::Worth {
            this.add_random();
        }
        this
    }

    /// Computes what random suites kill.
    pub(super) fn add_random(&mut self) {
        let size_max = random_size_max(self.size_max);
        let random = |row: &Row<'_>| {
            let survival: Vec<f64> = self.cases.iter().map(|&case| row.survival.of(case)).collect();
            let survivals = missing_of_random(&survival, size_max.min(survival.len()));
            survivals[1..].iter().map(|survival| 1.0 - survival).collect()
        };
        self.random = self.rows.iter().map(random).collect();
    }

    /// Returns the value of each criterion if rows count so much; `None` if none counts. A criterion without suites has
    /// the value 0.
    ///
    /// Cost O(rows * criteria), for [`Measure::Worth`] O(rows * (suites + size)).
    pub(super) fn values(&self, weights: &[f64], measure: Measure, scratch: &mut Scratch) -> Option<Vec<f64>> {
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return None;
        }
        match measure {
            Measure::Score => {
                weighted(&mut scratch.scores, self.suites.len(), &self.mean_killed, weights, total);
                Some(scratch.scores.clone())
            }
            Measure::Worth => {
                assert_eq!(self.random.len(), self.rows.len(), "random suites were not asked for");
                let sizes = self.random.first().map_or(0, Vec::len);
                weighted(&mut scratch.scores, self.times.len(), &self.killed, weights, total);
                weighted(&mut scratch.random, sizes, &self.random, weights, total);
                let worth = |suite: usize| random_size(&scratch.random, scratch.scores[suite]) / self.times[suite];
                let mean = |suites: &std::ops::Range<usize>| {
                    suites.clone().map(worth).sum::<f64>() / suites.len().max(1) as f64
                };
                Some(self.suites.iter().map(mean).collect())
            }
        }
    }

    /// Returns whether one criterion kills no row that counts more often than another does.
    pub(super) fn is_never_ahead(&self, weights: &[f64], one: usize, other: usize) -> bool {
        let mut rows = self.mean_killed.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        rows.all(|(means, _)| means[one] <= means[other] + super::EQUAL)
    }

    /// Returns whether two criteria kill each row that counts as often.
    pub(super) fn are_alike(&self, weights: &[f64], one: usize, other: usize) -> bool {
        self.is_never_ahead(weights, one, other) && self.is_never_ahead(weights, other, one)
    }
}

/// What is kept between variants, to save allocations.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    scores: Vec<f64>,
    random: Vec<f64>,
}

/// Makes `sums` the weighted mean of `rows`, which have `length` values each.
fn weighted(sums: &mut Vec<f64>, length: usize, rows: &[Vec<f64>], weights: &[f64], total: f64) {
    sums.clear();
    sums.resize(length, 0.0);
    for (row, weight) in rows.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
    }
    sums.iter_mut().for_each(|sum| *sum /= total);
}
