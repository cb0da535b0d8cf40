//! The effects of every pair of several samples, drawn again: one resample serves all pairs.
//!
//! In the analysis a sample is a criterion, and a unit is one of its suites. Units are drawn again within their sample,
//! since another study would draw other suites. Where mutants are to vary too, they are drawn in clusters, since those
//! of one function are killed together: the two-way bootstrap of Owen (2007), conservative if anything.

use super::Bootstrap;
use crate::random::NamedStream;

/// A unit of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// What it is only compared with its like in: in the analysis the size of a suite.
    pub stratum: u32,
    /// What is compared.
    pub value: u32,
}

/// The effects of one pair of samples, one for each resample in which they are defined.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PairReplicates {
    /// A12 of the first sample over the second.
    pub overall: Vec<f64>,
    /// A12 within strata, as [`van_elteren`](super::van_elteren) averages it.
    pub within_strata: Vec<f64>,
}

/// Returns the effects of each pair of `samples`, `(0, 1), (0, 2), …, (1, 2), …`, when their units are drawn again.
///
/// Cost O(resamples * (units + pairs * different units)). A sample without units has no effects.
pub fn effects_of_units(samples: &[Vec<Unit>], bootstrap: &Bootstrap<'_>) -> Vec<PairReplicates> {
    let keys = Keys::of(samples);
    let replicates = bootstrap.replicates(
        || (0..samples.len()).map(|_| Tally::new(&keys)).collect::<Vec<_>>(),
        |tallies, stream| {
            for (tally, numbers) in tallies.iter_mut().zip(&keys.of_sample) {
                tally.draw(numbers, &keys, stream);
            }
            pairs(samples.len())
                .map(|(one, other)| {
                    let (one, other) = (&tallies[one], &tallies[other]);
                    (one.overall(other), one.within_strata(other, &keys))
                })
                .collect::<Vec<_>>()
        },
    );
    let mut found = vec![PairReplicates::default(); pairs(samples.len()).count()];
    for replicate in replicates {
        for (pair, (overall, within_strata)) in found.iter_mut().zip(replicate) {
            pair.overall.extend(overall);
            pair.within_strata.extend(within_strata);
        }
    }
    found
}

/// Returns A12 of each pair of `samples`, in the order of [`effects_of_units`], when their units and the clusters are
/// drawn again.
///
/// `samples[s][u]` has an entry for each cluster: what the unit has of it, in the analysis the mutants of a function
/// that a suite kills. The value of a unit is the sum over the clusters that were drawn. Cost O(resamples * units *
/// clusters).
///
/// # Panics
/// If a unit has another number of clusters than the first one.
pub fn effects_of_clusters(samples: &[Vec<Vec<u32>>], bootstrap: &Bootstrap<'_>) -> Vec<Vec<f64>> {
    let units = || samples.iter().flatten();
    let clusters = units().next().map_or(0, Vec::len);
    assert!(units().all(|unit| unit.len() == clusters), "every unit has each of the {clusters} clusters");
    let largest: Vec<u32> = (0..clusters).map(|cluster| units().map(|unit| unit[cluster]).max().unwrap_or(0)).collect();
    let count = samples.len();
    let replicates = bootstrap.replicates(
        || (vec![0_u32; clusters], vec![Histogram::default(); count]),
        |(weights, histograms), stream| {
            weights.fill(0);
            (0..clusters).for_each(|_| weights[stream.below(clusters)] += 1);
            let value =
                |unit: &[u32]| unit.iter().zip(&*weights).map(|(has, weight)| has * weight).sum::<u32>() as usize;
            let most = value(&largest);
            for (histogram, units) in histograms.iter_mut().zip(samples) {
                histogram.clear(most + 1);
                (0..units.len()).for_each(|_| histogram.add(value(&units[stream.below(units.len())])));
                histogram.sum_up();
            }
            pairs(count).map(|(one, other)| histograms[one].effect(&histograms[other])).collect::<Vec<_>>()
        },
    );
    let mut found = vec![Vec::new(); pairs(count).count()];
    for replicate in replicates {
        found.iter_mut().zip(replicate).for_each(|(pair, effect)| pair.extend(effect));
    }
    found
}

/// The pairs of `count` samples, in the order of the results.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |one| (one + 1..count).map(move |other| (one, other)))
}

/// Units as small numbers that stand in the same order, so that counting replaces sorting.
#[derive(Debug)]
struct Keys {
    /// For each unit of each sample: the places of its value among all values, and among those by stratum.
    of_sample: Vec<Vec<(usize, usize)>>,
    /// How many different values there are.
    values: usize,
    /// Where the values of each stratum end among those by stratum.
    strata_ends: Vec<usize>,
}

impl Keys {
    fn of(samples: &[Vec<Unit>]) -> Self {
        let mut units: Vec<Unit> = samples.iter().flatten().copied().collect();
        units.sort_unstable();
        units.dedup();
        let mut values: Vec<u32> = units.iter().map(|unit| unit.value).collect();
        values.sort_unstable();
        values.dedup();
        let ends = units.chunk_by(|left, right| left.stratum == right.stratum).scan(0, |end, stratum| {
            *end += stratum.len();
            Some(*end)
        });
        let key = |unit: &Unit| {
            let value = values.binary_search(&unit.value).expect("every value is listed");
            (value, units.binary_search(unit).expect("every unit is listed"))
        };
        Self {
            of_sample: samples.iter().map(|sample| sample.iter().map(key).collect()).collect(),
            values: values.len(),
            strata_ends: ends.collect(),
        }
    }
}

/// How often each value was drawn, of one sample.
#[derive(Debug)]
struct Tally {
    all: Histogram,
    by_stratum: Histogram,
    /// How many units of each stratum were drawn.
    strata: Vec<u32>,
}

impl Tally {
    fn new(keys: &Keys) -> Self {
        Self { all: Histogram::default(), by_stratum: Histogram::default(), strata: vec![0; keys.strata_ends.len()] }
    }

    fn draw(&mut self, units: &[(usize, usize)], keys: &Keys, stream: &mut NamedStream) {
        self.all.clear(keys.values);
        self.by_stratum.clear(keys.strata_ends.last().copied().unwrap_or(0));
        for _ in 0..units.len() {
            let (value, by_stratum) = units[stream.below(units.len())];
            self.all.add(value);
            self.by_stratum.add(by_stratum);
        }
        self.all.sum_up();
        self.by_stratum.sum_up();
        let mut start = 0;
        for (drawn, &end) in self.strata.iter_mut().zip(&keys.strata_ends) {
            *drawn = self.by_stratum.counts[start..end].iter().sum();
            start = end;
        }
    }

    fn overall(&self, other: &Self) -> Option<f64> {
        self.all.effect(&other.all)
    }

    fn within_strata(&self, other: &Self, keys: &Keys) -> Option<f64> {
        let (mut wins, mut pairs, mut start, mut below) = (0.0, 0.0, 0, 0);
        for (stratum, &end) in keys.strata_ends.iter().enumerate() {
            let (own, others) = (self.strata[stratum], other.strata[stratum]);
            if own > 0 && others > 0 {
                // What lies in lower strata counts as below in the sums, and is taken off.
                let twice = self.by_stratum.twice_wins(&other.by_stratum, start..end) - 2 * u64::from(own) * below;
                let weight = 1.0 / f64::from(own + others + 1);
                wins += weight * twice as f64 / 2.0;
                pairs += weight * f64::from(own) * f64::from(others);
            }
            below += u64::from(others);
            start = end;
        }
        (pairs > 0.0).then(|| wins / pairs)
    }
}

/// How often each small number occurs.
#[derive(Debug, Clone, Default)]
struct Histogram {
    counts: Vec<u32>,
    /// For each number twice the count of lower ones, and once that of equal ones.
    twice_below: Vec<u32>,
    total: u32,
}

impl Histogram {
    fn clear(&mut self, numbers: usize) {
        self.counts.clear();
        self.counts.resize(numbers, 0);
        self.total = 0;
    }

    fn add(&mut self, number: usize) {
        self.counts[number] += 1;
        self.total += 1;
    }

    fn sum_up(&mut self) {
        let mut below = 0;
        self.twice_below.clear();
        self.twice_below.extend(self.counts.iter().map(|&count| {
            let twice = 2 * below + count;
            below += count;
            twice
        }));
    }

    /// Returns twice the number of pairs with `other` in which a number of this one, of those in `range`, is higher,
    /// equals counting half.
    fn twice_wins(&self, other: &Self, range: std::ops::Range<usize>) -> u64 {
        let own = &self.counts[range.clone()];
        own.iter().zip(&other.twice_below[range]).map(|(&count, &below)| u64::from(count) * u64::from(below)).sum()
    }

    fn effect(&self, other: &Self) -> Option<f64> {
        let pairs = 2.0 * f64::from(self.total) * f64::from(other.total);
        (pairs > 0.0).then(|| self.twice_wins(other, 0..self.counts.len()) as f64 / pairs)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::super::a12;
    use super::*;

    fn bootstrap(threads: usize) -> Bootstrap<'static> {
        let threads = NonZeroUsize::new(threads).expect("not zero");
        Bootstrap { seed: 5, purpose: "a test", resamples: 40, threads }
    }

    fn samples() -> Vec<Vec<Unit>> {
        let units = |numbers: &[(u32, u32)]| -> Vec<Unit> {
            numbers.iter().map(|&(stratum, value)| Unit { stratum, value }).collect()
        };
        vec![
            units(&[(1, 5), (1, 7), (2, 7), (2, 9), (3, 9), (2, 8)]),
            units(&[(1, 5), (1, 4), (2, 7), (2, 6), (4, 20)]),
            units(&[(9, 1), (9, 2)]),
        ]
    }

    /// What the counting finds is what the plain definitions find on the same draws.
    #[test]
    fn the_effects_are_those_of_the_definitions() {
        let samples = samples();
        let found = effects_of_units(&samples, &bootstrap(1));
        let mut expected = vec![PairReplicates::default(); 3];
        for number in 0..40 {
            let mut stream = NamedStream::numbered(5, "a test", number);
            let drawn: Vec<Vec<Unit>> = samples
                .iter()
                .map(|units| (0..units.len()).map(|_| units[stream.below(units.len())]).collect())
                .collect();
            for (pair, (one, other)) in expected.iter_mut().zip(pairs(3)) {
                let values = |units: &[Unit], stratum: Option<u32>| -> Vec<f64> {
                    let kept = units.iter().filter(|unit| stratum.is_none_or(|stratum| unit.stratum == stratum));
                    kept.map(|unit| f64::from(unit.value)).collect()
                };
                pair.overall.extend(a12(&values(&drawn[one], None), &values(&drawn[other], None)));
                let (mut wins, mut weights) = (0.0, 0.0);
                for stratum in 0..10 {
                    let [one, other] = [one, other].map(|sample| values(&drawn[sample], Some(stratum)));
                    if let Some(effect) = a12(&one, &other) {
                        let weight = (one.len() * other.len()) as f64 / (one.len() + other.len() + 1) as f64;
                        wins += weight * effect;
                        weights += weight;
                    }
                }
                pair.within_strata.extend((weights > 0.0).then(|| wins / weights));
            }
        }
        for (found, expected) in found.iter().zip(&expected) {
            let close = |found: &[f64], expected: &[f64]| {
                found.len() == expected.len()
                    && found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-12)
            };
            assert!(close(&found.overall, &expected.overall), "{found:?} {expected:?}");
            assert!(close(&found.within_strata, &expected.within_strata), "{found:?} {expected:?}");
        }
        assert!(found[0].within_strata.len() > 30 && found[1].within_strata.is_empty());
    }

    #[test]
    fn clusters_that_agree_give_the_effect_of_the_units() {
        let samples = vec![vec![vec![2, 2], vec![3, 3]], vec![vec![1, 1], vec![1, 1], vec![0, 0]]];
        assert_eq!(effects_of_clusters(&samples, &bootstrap(1)), [vec![1.0; 40]]);
        let opposite = vec![vec![vec![1, 0]], vec![vec![0, 1]]];
        let found = effects_of_clusters(&opposite, &bootstrap(1)).remove(0);
        assert!([0.0, 0.5, 1.0].iter().all(|effect| found.contains(effect)), "the clusters decide: {found:?}");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_and_nothing_gives_nothing() {
        assert_eq!(effects_of_units(&samples(), &bootstrap(1)), effects_of_units(&samples(), &bootstrap(3)));
        assert_eq!(effects_of_units(&[], &bootstrap(1)), []);
        assert_eq!(effects_of_units(&[vec![], vec![]], &bootstrap(2)), [PairReplicates::default()]);
        assert_eq!(effects_of_clusters(&[vec![], vec![]], &bootstrap(2)), [Vec::<f64>::new()]);
    }
}
