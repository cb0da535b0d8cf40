//! The conventional scenario (thesis, sections 3.3.1 and 4.3): any adequate suite, against random ones.

use serde::{Deserialize, Serialize};

use crate::baseline::{Moments, RandomBaseline};
use crate::criteria::CriterionAnalysis;
use crate::options::Options;
use crate::score::Score;
use crate::statistics::{Bootstrap, Interval, Summary, ZTest, bca, holm, percentile, t_test, z_test};
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

/// Compares each suite with the random suites of its size; `None` if there is no suite or no mutant counts.
///
/// The p-value of the gain is not yet corrected: [`correct`] does that for all criteria.
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
    options: &Options,
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
    use std::collections::BTreeSet;
    use std::num::NonZeroUsize;

    use simutant_outcomes::{BitSet, Outcomes};

    use super::*;
    use crate::statistics::Stream;
    use simutant_synthetic::{from_kills, synthetic};

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
        let options = Options { cost_multiplier: 1, ..Options::default() };
        let found = random_sizes(&[10.0, 20.0, 30.0, 60.0], &baseline, &baseline, &options);
        // All pairs: 30, 40, 70, 50, 80, 90; mean 60, variance (900 + 400 + 100 + 100 + 400 + 900) / 6.
        assert_eq!(found.len(), 4);
        assert!((found[1].cost.mean - 60.0).abs() < 1e-12);
        assert!((found[1].cost.sd.powi(2) - 2800.0 / 6.0).abs() < 1e-9);
        assert_eq!(found[3].cost.sd, 0.0);
    }

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
    fn random_suite(outcomes: &Outcomes, size: usize, stream: &mut Stream) -> AdequateSuite {
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
                let mut stream = Stream::new(*study, &format!("random suites of {size}"));
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
