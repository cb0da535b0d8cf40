//! The tests of each criterion against each other.

use serde::{Deserialize, Serialize};

use super::Scored;
use crate::options::AnalysisOptions;
use crate::statistics::{
    Alternative, Bootstrap, Interval, PairReplicates, Stratum, Unit, VanElteren, ZTest, a12, a12_jackknife, bca,
    effects_of_clusters, effects_of_units, equivalent_means, holm, mann_whitney, percentile, van_elteren, z_test,
};

/// With fewer suites than this, drawing suites again says little about other suites.
const SUITES_MIN: usize = 5;

/// With mutants of fewer functions than this, drawing functions again says little about other functions.
const FUNCTIONS_MIN: usize = 5;

/// An interval is given if the effect is defined in at least this share of the resamples.
const DEFINED_MIN: f64 = 0.95;

/// The test of the claim that one criterion's suites score higher than another's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairTest {
    /// Index of the criterion that is claimed to be better.
    pub better: usize,
    /// Index of the other one.
    pub worse: usize,
    /// Mean score of the first minus that of the second.
    pub difference: f64,
    /// The test of section 4.2 of the thesis, for comparison with it; `None` if the scores of the first do not vary.
    pub test: Option<ZTest>,
    /// Whether the claim would hold by the thesis's own rule, which knows no correction for the number of pairs: by
    /// `test`, or where that is not defined by the rank test.
    pub thesis_holds: bool,
    /// The two-sided p-value of the Mann-Whitney test, corrected by Holm's method for the number of pairs, each counted
    /// once; `None` if all scores of both are equal.
    pub rank_sum_p: Option<f64>,
    /// The probability that a suite of the first scores higher than one of the second, equals counting half.
    pub effect: f64,
    /// What the effect lies in, at the level `1 - alpha`, were other suites drawn (BCa bootstrap); `None` with fewer
    /// than five suites of one of both, which say little about others.
    pub effect_interval: Option<Interval>,
    /// The same if other functions with their mutants were drawn too (percentile bootstrap); `None` with mutants of
    /// fewer than five functions.
    pub effect_interval_over_functions: Option<Interval>,
    /// The same claim about suites of equal size; `None` if no size is shared, or no score of a shared size varies.
    pub same_size: Option<SameSizeTest>,
    /// The p-value of the claim that the means differ by less than
    /// [`AnalysisOptions::same_within`](crate::AnalysisOptions::same_within), corrected by Holm's method as
    /// `rank_sum_p` is; `None` if neither criterion's scores vary.
    pub equivalent_p: Option<f64>,
    /// Whether the claim holds at the option's alpha: by the corrected rank test, if the test of all criteria together
    /// is significant too, and if mean and effect both say so.
    pub significant: bool,
    /// Whether neither is significantly better, and the means differ significantly by less than the option's margin.
    pub same: bool,
    /// Whether the claim also follows from others that hold: then the graph of the order leaves it out.
    pub implied: bool,
}

/// The test of a claim within sizes of suites (van Elteren).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SameSizeTest {
    /// How many sizes both have.
    pub sizes: usize,
    /// How many suites of the first have one of these sizes.
    pub suites_better: usize,
    /// How many of the second do.
    pub suites_worse: usize,
    /// The probability that a suite of the first scores higher than one of the second of its size, equals counting
    /// half, on average over the sizes.
    pub effect: f64,
    /// What the effect lies in, at the level `1 - alpha`, were other suites drawn (percentile bootstrap); `None` if
    /// resamples often share no size.
    pub interval: Option<Interval>,
    /// The two-sided p-value, corrected by Holm's method for the number of pairs, each counted once.
    pub p: f64,
}

impl PairTest {
    /// Returns the same pair the other way round. What the thesis's test says is not symmetric, and comes from
    /// `thesis`.
    fn mirrored(&self, (test, thesis_holds): (Option<ZTest>, bool)) -> Self {
        Self {
            better: self.worse,
            worse: self.better,
            difference: -self.difference,
            test,
            thesis_holds,
            effect: 1.0 - self.effect,
            effect_interval: self.effect_interval.map(mirrored),
            effect_interval_over_functions: self.effect_interval_over_functions.map(mirrored),
            same_size: self.same_size.map(|same_size| SameSizeTest {
                suites_better: same_size.suites_worse,
                suites_worse: same_size.suites_better,
                effect: 1.0 - same_size.effect,
                interval: same_size.interval.map(mirrored),
                ..same_size
            }),
            ..self.clone()
        }
    }
}

fn mirrored(interval: Interval) -> Interval {
    Interval { lower: 1.0 - interval.upper, upper: 1.0 - interval.lower }
}

/// Tests every ordered pair of `scored` criteria; claims hold only if `any_differs`.
pub(super) fn test(
    scored: &[Scored<'_>],
    any_differs: bool,
    options: &AnalysisOptions,
    bootstrap: &Bootstrap<'_>,
) -> Vec<PairTest> {
    let level = 1.0 - options.alpha;
    let units: Vec<Vec<Unit>> = scored.iter().map(Scored::units).collect();
    let replicates = effects_of_units(&units, &Bootstrap { purpose: "suites drawn again", ..*bootstrap });
    let functions = scored.first().map_or(0, |criterion| criterion.by_function.first().map_or(0, Vec::len));
    let over_functions = if functions < FUNCTIONS_MIN {
        vec![Vec::new(); replicates.len()]
    } else {
        let by_function: Vec<Vec<Vec<u32>>> = scored.iter().map(|criterion| criterion.by_function.clone()).collect();
        effects_of_clusters(&by_function, &Bootstrap { purpose: "suites and functions drawn again", ..*bootstrap })
    };
    let places = (0..scored.len()).flat_map(|one| (one + 1..scored.len()).map(move |other| (one, other)));
    let tests = places.zip(replicates.iter().zip(&over_functions));
    let mut pairs: Vec<PairTest> = tests
        .map(|((one, other), (replicates, over_functions))| {
            pair(&scored[one], &scored[other], replicates, over_functions, level, options.same_within)
        })
        .collect();
    correct(&mut pairs, |pair| pair.rank_sum_p.as_mut());
    correct(&mut pairs, |pair| pair.same_size.as_mut().map(|test| &mut test.p));
    correct(&mut pairs, |pair| pair.equivalent_p.as_mut());

    let place = |index: usize| scored.iter().position(|criterion| criterion.index == index).expect("it has scores");
    let mut both_ways = Vec::with_capacity(2 * pairs.len());
    for mut pair in pairs {
        let (one, other) = (&scored[place(pair.better)], &scored[place(pair.worse)]);
        (pair.test, pair.thesis_holds) = by_thesis(one, other, options.alpha);
        let mut opposite = pair.mirrored(by_thesis(other, one, options.alpha));
        let differs = any_differs && pair.rank_sum_p.is_some_and(|p| p < options.alpha);
        for claim in [&mut pair, &mut opposite] {
            claim.significant = differs && claim.difference > 0.0 && claim.effect > 0.5;
        }
        let is_within = match pair.equivalent_p {
            Some(p) => p < options.alpha,
            // Neither varies: there is nothing to doubt, but with one suite each nobody could know.
            None => one.scores.len().min(other.scores.len()) > 1 && pair.difference.abs() < options.same_within,
        };
        let same = is_within && !pair.significant && !opposite.significant;
        (pair.same, opposite.same) = (same, same);
        both_ways.extend([pair, opposite]);
    }
    both_ways.sort_by_key(|pair| (pair.better, pair.worse));
    both_ways
}

/// What does not depend on the other pairs; p-values are not yet corrected.
fn pair(
    one: &Scored<'_>,
    other: &Scored<'_>,
    replicates: &PairReplicates,
    over_functions: &[f64],
    level: f64,
    same_within: f64,
) -> PairTest {
    let effect = a12(&one.scores, &other.scores).expect("a criterion with a score has suites");
    let corrected = a12_jackknife(&one.scores, &other.scores)
        .and_then(|jackknife| bca(effect, &replicates.overall, &jackknife, level));
    let interval = corrected.or_else(|| percentile(&replicates.overall, level));
    PairTest {
        better: one.index,
        worse: other.index,
        difference: one.summary.mean - other.summary.mean,
        test: None,
        thesis_holds: false,
        rank_sum_p: mann_whitney(&one.scores, &other.scores, Alternative::TwoSided).map(|test| test.p),
        effect,
        effect_interval: interval.filter(|_| one.scores.len().min(other.scores.len()) >= SUITES_MIN),
        effect_interval_over_functions: percentile(over_functions, level),
        same_size: van_elteren(&one.strata_with(other)).map(|test| {
            let VanElteren { p, effect, strata, count_a, count_b, .. } = test;
            let is_defined = replicates.within_strata.len() as f64 >= DEFINED_MIN * replicates.overall.len() as f64;
            let interval = percentile(&replicates.within_strata, level).filter(|_| is_defined);
            SameSizeTest { sizes: strata, suites_better: count_a, suites_worse: count_b, effect, interval, p }
        }),
        equivalent_p: equivalent_means(&one.summary, &other.summary, same_within),
        significant: false,
        same: false,
        implied: false,
    }
}

/// The thesis's test of the claim that `one` is better than `other`, and whether it decides so.
fn by_thesis(one: &Scored<'_>, other: &Scored<'_>, alpha: f64) -> (Option<ZTest>, bool) {
    let test = z_test(&one.summary, other.summary.mean);
    let by_ranks = || mann_whitney(&one.scores, &other.scores, Alternative::Greater).map(|test| test.p);
    let holds = test.map(|test| test.p).or_else(by_ranks).is_some_and(|p| p < alpha);
    (test, holds && one.summary.mean > other.summary.mean)
}

/// Replaces the p-values that `of` finds by corrected ones.
fn correct(pairs: &mut [PairTest], of: fn(&mut PairTest) -> Option<&mut f64>) {
    let known: Vec<f64> = pairs.iter_mut().filter_map(|pair| of(pair).copied()).collect();
    pairs.iter_mut().filter_map(of).zip(holm(&known)).for_each(|(p, corrected)| *p = corrected);
}

impl Scored<'_> {
    fn units(&self) -> Vec<Unit> {
        let unit = |(suite, &value): (&crate::AdequateSuite, &u32)| Unit { stratum: suite.cases.len() as u32, value };
        self.suites.iter().zip(&self.killed).map(unit).collect()
    }

    /// The scores of both by size.
    fn strata_with(&self, other: &Self) -> Vec<Stratum> {
        let mut by_size: std::collections::BTreeMap<usize, Stratum> = std::collections::BTreeMap::new();
        for (suite, score) in self.suites.iter().zip(&self.scores) {
            by_size.entry(suite.cases.len()).or_default().a.push(*score);
        }
        for (suite, score) in other.suites.iter().zip(&other.scores) {
            by_size.entry(suite.cases.len()).or_default().b.push(*score);
        }
        by_size.into_values().collect()
    }
}
