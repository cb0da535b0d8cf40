//! The suites of a criterion beside random suites of exactly their sizes.

use serde::{Deserialize, Serialize};

use crate::baseline::RandomBaseline;
use crate::score::Score;
use crate::statistics::{Bootstrap, Interval, Summary, ZTest, bca, percentile, t_test, z_test};
use crate::suites::AdequateSuite;

/// The suites of a criterion, each beside the random suites of exactly its size: size cannot explain what is left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SameSize {
    /// The expected score of a random suite, on average over the sizes of the criterion's suites.
    pub random_mean: f64,
    /// Score minus expected score of a random suite of the same size, over the suites.
    pub gain: Summary,
    /// What the mean gain lies in, at the level `1 - alpha`, were other suites drawn (BCa bootstrap).
    pub gain_interval: Interval,
    /// Whether the gain is above 0 on average, by the test of section 4.2; `None` if the gain does not vary.
    pub test: Option<ZTest>,
    /// The two-sided p-value that the mean gain is 0, corrected by Holm's method for the number of criteria, by
    /// [`t_test`]: scores of random suites are skewed about their mean, so that a test of ranks would find gains where
    /// there are none. By the sign test if the gains do not vary. `None` for one suite, or if all gains are 0.
    pub gain_p: Option<f64>,
}

impl SameSize {
    /// Whether the suites score higher than random ones of their sizes, at the level `alpha`.
    pub fn gains(&self, alpha: f64) -> bool {
        self.gain.mean > 0.0 && self.gain_p.is_some_and(|p| p < alpha)
    }
}

/// Compares each suite with the random suites of its size; `None` if there is no suite or no mutant counts.
///
/// The p-value of the gain is not yet corrected: [`correct`](crate::conventional::correct) does that for all criteria.
pub(crate) fn same_size(
    suites: &[AdequateSuite],
    analysed: usize,
    baseline: &RandomBaseline,
    drawn: (f64, &Bootstrap<'_>),
) -> Option<SameSize> {
    let score = |suite: &AdequateSuite| Score { killed: suite.killed, of: analysed }.value();
    same_size_of(suites, &suites.iter().map(score).collect::<Option<Vec<f64>>>()?, baseline, drawn)
}

/// The same of suites with these scores.
pub(crate) fn same_size_of(
    suites: &[AdequateSuite],
    scores: &[f64],
    baseline: &RandomBaseline,
    (level, bootstrap): (f64, &Bootstrap<'_>),
) -> Option<SameSize> {
    let size_max = suites.iter().map(|suite| suite.cases.len()).max()?;
    let mut expected = vec![None; size_max + 1];
    let mut gains = Vec::with_capacity(suites.len());
    let mut random_sum = 0.0;
    for (suite, score) in suites.iter().zip(scores) {
        let size = suite.cases.len();
        let random = match expected[size] {
            Some(random) => random,
            None => *expected[size].insert(baseline.at(size)?.mean),
        };
        random_sum += random;
        gains.push(exact(score - random));
    }
    let gain = Summary::of(&gains)?;
    Some(SameSize {
        random_mean: random_sum / suites.len() as f64,
        gain,
        gain_interval: mean_interval(&gains, gain.mean, level, bootstrap)?,
        test: z_test(&gain, 0.0),
        gain_p: gain_p(&gain),
    })
}

/// Takes away what rounding has added to a difference of shares: gains that are equal, or 0, are so to the last digit.
fn exact(gain: f64) -> f64 {
    const DIGITS: f64 = 1e12;
    // Adding 0 makes -0 one.
    (gain * DIGITS).round() / DIGITS + 0.0
}

/// Returns the two-sided p-value that the mean gain is 0.
fn gain_p(gain: &Summary) -> Option<f64> {
    if let Some(test) = t_test(gain, 0.0) {
        return Some(test.p);
    }
    // All are on one side: as coins would fall with this probability.
    (gain.count > 1 && gain.mean != 0.0).then(|| 0.5_f64.powi(gain.count as i32 - 1))
}

fn mean_interval(values: &[f64], mean: f64, level: f64, bootstrap: &Bootstrap<'_>) -> Option<Interval> {
    // Values that do not vary have sums that do, by rounding.
    if values.iter().all(|value| *value == values[0]) {
        return Some(Interval { lower: mean, upper: mean });
    }
    let count = values.len() as f64;
    let replicates = bootstrap.replicates(
        || (),
        |(), stream| (0..values.len()).map(|_| values[stream.below(values.len())]).sum::<f64>() / count,
    );
    let without: Vec<f64> = values.iter().map(|value| (count * mean - value) / (count - 1.0)).collect();
    bca(mean, &replicates, &[without], level).or_else(|| percentile(&replicates, level))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::num::NonZeroUsize;

    use simutant_outcomes::{BitSet, Outcomes};
    use simutant_synthetic::{from_kills, synthetic};

    use super::*;
    use crate::statistics::NamedStream;

    #[test]
    fn the_gain_is_over_random_suites_of_the_same_size() {
        let outcomes = from_kills(&["k...", ".k.."]);
        let baseline = RandomBaseline::new(&outcomes.kills, 4);
        let suite = |cases: Vec<usize>, killed| AdequateSuite {
            considered: cases.len(),
            cases,
            events_considered: 1,
            events_selected: 1,
            killed,
            dominators_killed: 0,
        };
        // A random test case kills a quarter of the mutants on average, two kill half of them.
        let bootstrap = Bootstrap { seed: 1, purpose: "a test", resamples: 200, threads: NonZeroUsize::MIN };
        let drawn = (0.95, &bootstrap);
        let found =
            same_size(&[suite(vec![0], 1), suite(vec![0, 1], 2)], 2, &baseline, drawn).expect("there are suites");
        assert_eq!(found.random_mean, 0.375);
        assert_eq!((found.gain.min, found.gain.max), (0.25, 0.5));
        assert_eq!((found.gain_interval.lower, found.gain_interval.upper), (0.25, 0.5));
        // t = 3 with one degree of freedom.
        let expect = 1.0 - 2.0 * 3.0_f64.atan() / std::f64::consts::PI;
        assert!((found.gain_p.expect("the gains vary") - expect).abs() < 1e-12, "{found:?}");
        assert_eq!(same_size(&[], 2, &baseline, drawn), None);
        let equal = same_size(&[suite(vec![0], 1), suite(vec![1], 1)], 2, &baseline, drawn).expect("there are suites");
        assert_eq!((equal.gain_interval.lower, equal.gain_interval.upper, equal.test), (0.25, 0.25, None));
        assert_eq!(equal.gain_p, Some(0.5), "both of two are above 0, or both below");
    }

    /// A suite of `size` different test cases, each as likely as any other.
    fn random_suite(outcomes: &Outcomes, size: usize, stream: &mut NamedStream) -> AdequateSuite {
        let mut cases = BTreeSet::new();
        while cases.len() < size {
            cases.insert(stream.below(outcomes.cases.len()));
        }
        let kills = |kills: &&BitSet| cases.iter().any(|&case| kills.contains(case));
        AdequateSuite {
            killed: outcomes.kills.iter().filter(kills).count(),
            considered: size,
            cases: cases.into_iter().collect(),
            events_considered: 1,
            events_selected: 1,
            dominators_killed: 0,
        }
    }

    #[test]
    fn random_suites_gain_nothing() {
        // Few test cases kill much, so that scores of random suites are skewed.
        let outcomes = synthetic(300, 6);
        let analysed = outcomes.kills.len();
        let baseline = RandomBaseline::new(&outcomes.kills, 300);
        let bootstrap = Bootstrap { seed: 1, purpose: "a test", resamples: 2, threads: NonZeroUsize::MIN };
        for size in [1, 3, 8] {
            let found = (0..200).filter(|study| {
                let mut stream = NamedStream::new(*study, &format!("random suites of {size}"));
                let suites: Vec<AdequateSuite> = (0..200).map(|_| random_suite(&outcomes, size, &mut stream)).collect();
                let same_size = same_size(&suites, analysed, &baseline, (0.95, &bootstrap)).expect("there are suites");
                same_size.gain_p.is_some_and(|p| p < 0.05)
            });
            let count = found.count();
            assert!(
                (1..=20).contains(&count),
                "{count} of 200 tests at 5 % find that random suites of {size} are not random"
            );
        }
    }

    #[test]
    fn gains_that_are_equal_in_size_are_so_to_the_last_digit() {
        assert_eq!(exact(0.2 - 0.3), -0.1);
        assert_eq!(exact(0.4 - 0.3), 0.1);
        assert_eq!(exact(0.1 + 0.2 - 0.3), 0.0);
        assert!(exact(-1e-17).is_sign_positive());
    }
}
