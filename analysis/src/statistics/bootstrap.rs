//! Intervals by drawing again from what was found: the bootstrap of Efron (1979).

use std::num::NonZeroUsize;
use std::thread;

use serde::{Deserialize, Serialize};

use super::{normal_quantile, upper_tail};
use crate::random::NamedStream;

/// A range that holds the true value with the probability of its level, were the whole repeated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its lower end.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
}

impl Interval {
    /// Returns whether all of it is within `margin` of `centre`: with a level of `1 - 2 alpha` this is the test at
    /// alpha that the value is practically `centre` (Schuirmann 1987, by the interval).
    pub fn is_within(self, margin: f64, centre: f64) -> bool {
        self.lower > centre - margin && self.upper < centre + margin
    }
}

/// Draws from data again and again.
///
/// Each resample has a stream of its own, named by its number, so that any number of threads gives the same bytes.
#[derive(Debug, Clone, Copy)]
pub struct Bootstrap<'a> {
    /// Where the random draws start.
    pub seed: u64,
    /// What they are for: other purposes have other draws.
    pub purpose: &'a str,
    /// How often to draw.
    pub resamples: usize,
    /// How many threads draw.
    pub threads: NonZeroUsize,
}

impl Bootstrap<'_> {
    /// Returns what `replicate` makes of each resample, in their order. `scratch` is made once for a thread, to save
    /// allocations: what `replicate` returns must not depend on what it finds there.
    pub fn replicates<S, T: Send>(
        &self,
        scratch: impl Fn() -> S + Sync,
        replicate: impl Fn(&mut S, &mut NamedStream) -> T + Sync,
    ) -> Vec<T> {
        let run = |numbers: std::ops::Range<usize>| -> Vec<T> {
            let mut scratch = scratch();
            numbers
                .map(|number| {
                    replicate(&mut scratch, &mut NamedStream::numbered(self.seed, self.purpose, number as u64))
                })
                .collect()
        };
        let share = self.resamples.div_ceil(self.threads.get()).max(1);
        if share >= self.resamples {
            return run(0..self.resamples);
        }
        thread::scope(|scope| {
            let starts = (0..self.resamples).step_by(share);
            let run = &run;
            let threads: Vec<_> =
                starts.map(|start| scope.spawn(move || run(start..self.resamples.min(start + share)))).collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined.flat_map(|part| part.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }
}

/// Returns the interval between the quantiles `(1 - level) / 2` and `(1 + level) / 2` of `replicates`, `None` if there
/// are none.
///
/// Quantiles are interpolated between the two nearest replicates (Hyndman and Fan's definition 7).
pub fn percentile(replicates: &[f64], level: f64) -> Option<Interval> {
    let sorted = sorted(replicates);
    Some(Interval {
        lower: quantile(&sorted, (1.0 - level) / 2.0)?,
        upper: quantile(&sorted, f64::midpoint(1.0, level))?,
    })
}

/// Returns the interval that is corrected for bias and for skewness: BCa (Efron 1987).
///
/// Its ends are the quantiles `alpha_i = Phi(z0 + (z0 + z_i) / (1 - a (z0 + z_i)))` of `replicates`, where `z_i` are
/// the normal quantiles of the level's ends, `z0 = Phi^-1(share of replicates below the estimate, equals counting
/// half)`, and `a = sum(l^3) / (6 sum(l^2)^1.5)` over the values' influences `l`, which `jackknife` gives: the
/// estimates without each of the values, by sample (Davison and Hinkley 1997, section 5.3.2).
///
/// `None` where the correction is not defined: without replicates, if all of them lie on one side of the estimate, or
/// if no single value makes a difference. [`percentile`] is then what is left.
pub fn bca(estimate: f64, replicates: &[f64], jackknife: &[Vec<f64>], level: f64) -> Option<Interval> {
    let sorted = sorted(replicates);
    let below = sorted.partition_point(|replicate| *replicate < estimate);
    let not_above = sorted.partition_point(|replicate| *replicate <= estimate);
    if not_above == 0 || below == sorted.len() {
        return None;
    }
    let bias = normal_quantile((below + not_above) as f64 / (2 * sorted.len()) as f64);
    let (mut cubes, mut squares) = (0.0, 0.0);
    // Rounding would give estimates that do not vary an influence.
    let varies = |without: &&Vec<f64>| without.iter().any(|estimate| *estimate != without[0]);
    for without in jackknife.iter().filter(varies) {
        let count = without.len() as f64;
        let mean = without.iter().sum::<f64>() / count;
        let influences = || without.iter().map(|estimate| (count - 1.0) * (mean - estimate));
        cubes += influences().map(|influence| influence.powi(3)).sum::<f64>() / count.powi(3);
        squares += influences().map(|influence| influence.powi(2)).sum::<f64>() / count.powi(2);
    }
    if squares <= 0.0 || !bias.is_finite() {
        return None;
    }
    let acceleration = cubes / (6.0 * squares.powf(1.5));
    let end = |p: f64| {
        let sum = bias + normal_quantile(p);
        let shrunk = 1.0 - acceleration * sum;
        // Beyond this the correction turns round: the data are too skewed for it.
        (shrunk > 0.0).then(|| upper_tail(-(bias + sum / shrunk)))
    };
    Some(Interval {
        lower: quantile(&sorted, end((1.0 - level) / 2.0)?)?,
        upper: quantile(&sorted, end(f64::midpoint(1.0, level))?)?,
    })
}

fn sorted(replicates: &[f64]) -> Vec<f64> {
    let mut sorted = replicates.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let at = p * (sorted.len().checked_sub(1)?) as f64;
    let (below, part) = (at.floor() as usize, at.fract());
    let above = (below + 1).min(sorted.len() - 1);
    Some(sorted[below] + part * (sorted[above] - sorted[below]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicates(threads: usize) -> Vec<usize> {
        let threads = NonZeroUsize::new(threads).expect("not zero");
        let bootstrap = Bootstrap { seed: 3, purpose: "a test", resamples: 23, threads };
        bootstrap.replicates(|| (), |(), stream| stream.below(1_000_000))
    }

    #[test]
    fn any_number_of_threads_draws_the_same() {
        let one = replicates(1);
        for threads in [2, 3, 7, 23, 100] {
            assert_eq!(replicates(threads), one, "{threads} threads");
        }
        let mut different = one.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), one.len(), "each resample has draws of its own");
    }

    #[test]
    fn what_is_not_defined_is_none() {
        assert_eq!(percentile(&[], 0.95), None);
        assert_eq!(percentile(&[0.3], 0.95), Some(Interval { lower: 0.3, upper: 0.3 }));
        let jackknife = [vec![0.1, 0.2, 0.4]];
        assert_eq!(bca(0.5, &[], &jackknife, 0.95), None);
        assert_eq!(bca(0.9, &[0.1, 0.2], &jackknife, 0.95), None, "all are below");
        assert_eq!(bca(0.2, &[0.1, 0.2, 0.3], &[vec![0.2; 3]], 0.95), None, "no value makes a difference");
        assert!(bca(0.2, &[0.1, 0.2, 0.3], &jackknife, 0.95).is_some());
    }

    #[test]
    fn an_interval_is_within_a_margin_as_a_whole() {
        let interval = Interval { lower: 0.47, upper: 0.54 };
        assert!(interval.is_within(0.05, 0.5) && !interval.is_within(0.03, 0.5));
    }
}
