//! What suites find in the same time, or with as many test cases, that are chosen by the campaign, by rules of thumb, and
//! at random.
//!
//! A rule of thumb needs no simulation at all ([`rules`](crate::rules)). So what a campaign is worth is what the suites
//! that it chooses find beyond those of the best rule, and not only beyond random ones.

mod found;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::Outcomes;

use super::observed::{Observed, Resampled, World};
use crate::expected::rules_of;
use crate::options::AnalysisOptions;
use crate::random::order_streams;
use crate::seconds::seconds;
use crate::statistics::{Bootstrap, Interval, percentile};

pub(super) use found::{Measure, Way};

use found::{Found, Suites};

/// The largest suite that is compared, in the unit.
pub(super) const SIZE_MAX: usize = 20;

/// With fewer implementations than this, drawing implementations again says little about others.
pub(super) const SUBJECTS_MIN: usize = 5;

/// Shares of the time of all test cases at which suites are compared: a tenth, a quarter and half.
pub const BUDGETS: [f64; 3] = [0.1, 0.25, 0.5];

/// What suites are measured in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuiteUnit {
    /// Test cases.
    #[default]
    TestCases,
    /// The time that a test case of the universe takes on average on the implementation.
    MeanTimes,
}

/// What suites of sizes from 1 on find of the implementations, by how they are chosen.
///
/// An interval is where a number may lie, at the level `1 - alpha`, were other implementations, test cases and seeds drawn:
/// see [`resampled`](Self::resampled). In a resample the order that was chosen stays, without the test cases that were not
/// drawn, so that suites reach further into it and find less than what they are drawn from. That is no bias of the number. So
/// the interval spans the quantiles of the resamples both as they are and moved so that their mean is the number: it is
/// wider than either.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectionCurves {
    /// What sizes are counted in. Of the test case at which a time is up the part counts for which there was room.
    #[serde(default)]
    pub unit: SuiteUnit,
    /// What is drawn again for intervals.
    #[serde(default)]
    pub resampled: Vec<Resampled>,
    /// The shares of the time of all test cases that [`Curve::at_budgets`] is of; none by the number of test cases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<f64>,
    /// The suites that the campaign chooses.
    pub chosen: Curve,
    /// The suites that kill most mutants on the seeds of the universe; `None` where these are the chosen ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_seeds: Option<Curve>,
    /// Random suites: in closed form, or on average over 200 random orders.
    pub random: Curve,
    /// The suites of each rule of thumb.
    pub rules: Vec<Curve>,
}

/// The expected share of the implementations that suites of each size find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// How the suites are chosen.
    pub name: String,
    /// By size, from 1.
    pub shares: Vec<f64>,
    /// The area under the curve: the mean of `shares`.
    pub area: f64,
    /// What the area lies in; `None` with fewer than five implementations, which say little about others.
    pub interval: Option<Interval>,
    /// The area of the chosen suites minus this one; 0 for these themselves.
    pub chosen_above: f64,
    /// What that lies in, the same being drawn for both.
    pub chosen_above_interval: Option<Interval>,
    /// The same difference by the runs with each seed alone; empty if there is one seed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen_above_by_seed: Vec<f64>,
    /// What suites find within each of [`SelectionCurves::budgets`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at_budgets: Vec<AtBudget>,
}

/// What suites find within a share of the time of all test cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AtBudget {
    /// The expected share of the implementations.
    pub share: f64,
    /// That of the chosen suites minus this one.
    pub chosen_above: f64,
    /// What that lies in, the same being drawn for both; `None` with fewer than five implementations.
    pub chosen_above_interval: Option<Interval>,
    /// The share of the best rule of thumb at this budget, which the result picks, minus this one; `None` without rules.
    pub regret: Option<f64>,
}

impl SelectionCurves {
    /// Returns all ways to choose: by mutants, at random, and by each rule.
    pub fn curves(&self) -> impl Iterator<Item = &Curve> {
        [&self.chosen].into_iter().chain(&self.own_seeds).chain([&self.random]).chain(&self.rules)
    }

    /// Compares the ways to choose on the implementations of `observed` by the number of test cases; `None` without test
    /// cases. `orders` are orders of test cases whose beginnings are the chosen suites; of several the mean counts.
    /// `own_seeds` is the order by what test cases kill on their own seeds, if it is another one.
    pub(super) fn new(
        outcomes: &Outcomes,
        observed: &Observed,
        (orders, own_seeds): (&[Vec<usize>], Option<&[usize]>),
        options: &AnalysisOptions,
        threads: NonZeroUsize,
    ) -> Option<Self> {
        let size_max = SIZE_MAX.min(outcomes.cases.len());
        if size_max == 0 || orders.is_empty() {
            return None;
        }
        let mut ways = vec![Way::new("chosen", orders.to_vec()), Way { name: "random".into(), suites: Suites::Random }];
        ways.extend(own_seeds.map(|order| Way::new("kills on own seeds", vec![order.to_vec()])));
        Self::of(ways, own_seeds.is_some(), outcomes, observed, Measure::TestCases(size_max), (options, threads))
    }

    /// Compares the ways to choose by the time that test cases took, and at [`BUDGETS`]. The choice and the rules know what
    /// the options say of times alone; `order` is the chosen one. `None` without test cases, or if they took no time.
    pub(super) fn in_time(
        outcomes: &Outcomes,
        observed: &Observed,
        order: &[usize],
        options: &AnalysisOptions,
        threads: NonZeroUsize,
    ) -> Option<Self> {
        let cases = outcomes.cases.len();
        let units = SIZE_MAX.min(cases);
        let all_took_time = observed.durations.iter().all(|durations| durations.iter().sum::<f64>() > 0.0);
        if units == 0 || !all_took_time {
            return None;
        }
        let random = order_streams(options.seed).map(|mut stream| stream.permutation(cases).collect());
        let ways = vec![Way::new("chosen", vec![order.to_vec()]), Way::new("random", random.collect())];
        Self::of(ways, false, outcomes, observed, Measure::Times(units, BUDGETS.to_vec()), (options, threads))
    }

    /// Compares `ways`, the first of which is the choice and the second chance, and the rules of thumb.
    fn of(
        mut ways: Vec<Way>,
        has_own_seeds: bool,
        outcomes: &Outcomes,
        observed: &Observed,
        measure: Measure,
        (options, threads): (&AnalysisOptions, NonZeroUsize),
    ) -> Option<Self> {
        let rules = rules_of(outcomes, &seconds(outcomes, options));
        ways.extend(rules.into_iter().map(|rule| Way::new(rule.name, vec![rule.order])));
        let resampled = observed.resampled();
        let mut curves = curves(&ways, observed, &measure, &resampled, (options, threads)).into_iter();
        let (chosen, random) = (curves.next()?, curves.next()?);
        let own_seeds = if has_own_seeds { curves.next() } else { None };
        let (unit, budgets) = match measure {
            Measure::TestCases(_) => (SuiteUnit::TestCases, Vec::new()),
            Measure::Times(_, budgets) => (SuiteUnit::MeanTimes, budgets),
        };
        let mut found = Self { unit, resampled, budgets, chosen, own_seeds, random, rules: curves.collect() };
        found.add_regrets();
        Some(found)
    }

    fn add_regrets(&mut self) {
        for budget in 0..self.budgets.len() {
            let best = self.rules.iter().map(|rule| rule.at_budgets[budget].share).reduce(f64::max);
            let Self { chosen, own_seeds, random, rules, .. } = self;
            for curve in [chosen, random].into_iter().chain(own_seeds).chain(rules) {
                let at = &mut curve.at_budgets[budget];
                at.regret = best.map(|best| best - at.share);
            }
        }
    }

    /// Returns the rule with the largest area, the first of equals.
    pub fn best_rule(&self) -> Option<&Curve> {
        self.rules.iter().reduce(|best, other| if other.area > best.area { other } else { best })
    }

    /// Returns the rule with the least regret over the budgets, the first of equals.
    pub fn best_rule_at_budgets(&self) -> Option<&Curve> {
        let rules = self.rules.iter().filter_map(|rule| Some((rule.regret()?, rule)));
        Some(rules.reduce(|best, other| if other.0 < best.0 { other } else { best })?.1)
    }
}

impl Curve {
    /// Returns whether the chosen suites find significantly more: by the interval, or, where there is none, at all.
    pub fn is_beaten(&self) -> bool {
        self.chosen_above_interval.map_or(self.chosen_above > 0.0, |interval| interval.lower > 0.0)
    }

    /// Returns whether the seed decides if the chosen suites find more than these: with one they do, with another they find
    /// less.
    pub fn seed_decides(&self) -> bool {
        let any = |is_so: fn(f64) -> bool| self.chosen_above_by_seed.iter().any(|above| is_so(*above));
        any(|above| above > EQUAL) && any(|above| above < -EQUAL)
    }

    /// Returns the mean regret over the budgets; `None` without budgets or rules.
    pub fn regret(&self) -> Option<f64> {
        let regrets: Option<Vec<f64>> = self.at_budgets.iter().map(|at| at.regret).collect();
        let regrets = regrets.filter(|regrets| !regrets.is_empty())?;
        Some(regrets.iter().sum::<f64>() / regrets.len() as f64)
    }
}

/// Shares that differ by less are equal: sums in another order differ in their last digits.
const EQUAL: f64 = 1e-12;

/// Summarises ways to choose, the first of which is the one that the others are held against. There are no regrets yet.
pub(super) fn curves(
    ways: &[Way],
    observed: &Observed,
    measure: &Measure,
    resampled: &[Resampled],
    (options, threads): (&AnalysisOptions, NonZeroUsize),
) -> Vec<Curve> {
    let in_world = |world: &World| measure.found(ways, observed, world);
    let found = in_world(&observed.world());
    let by_seed: Vec<Vec<Found>> = match observed.seeds {
        1 => Vec::new(),
        seeds => (0..seeds).map(|seed| in_world(&observed.of_seed(seed))).collect(),
    };
    let subjects = observed.implementations();
    let resamples = if subjects < SUBJECTS_MIN { 0 } else { options.resamples };
    let bootstrap = Bootstrap { seed: options.seed, purpose: "implementations drawn again", resamples, threads };
    let drawn: Vec<Vec<Measured>> = bootstrap.replicates(
        || observed.world(),
        |world, stream| {
            observed.draw_into(world, resampled, stream);
            measure.found_again(ways, observed, world).into_iter().map(Measured::from).collect()
        },
    );
    let interval_of = |estimate: f64, least: f64, value: &dyn Fn(&[Measured]) -> f64| {
        let values: Vec<f64> = drawn.iter().map(|of_ways| value(of_ways)).collect();
        let Interval { lower, upper } = percentile(&values, 1.0 - options.alpha)?;
        let moved = estimate - values.iter().sum::<f64>() / values.len() as f64;
        let (lower, upper) = (lower + moved.min(0.0), upper + moved.max(0.0));
        Some(Interval { lower: lower.max(least).min(estimate), upper: upper.min(1.0).max(estimate) })
    };
    let curve = |(way, Way { name, .. }): (usize, &Way)| {
        let area = found[way].area();
        let chosen_above = found[0].area() - area;
        let at_budget = |(budget, share): (usize, &f64)| {
            let chosen_above = found[0].at_budgets[budget] - share;
            let above = |of_ways: &[Measured]| of_ways[0].at_budgets[budget] - of_ways[way].at_budgets[budget];
            AtBudget {
                share: *share,
                chosen_above,
                chosen_above_interval: interval_of(chosen_above, -1.0, &above),
                regret: None,
            }
        };
        Curve {
            name: name.clone(),
            shares: found[way].shares.clone(),
            area,
            interval: interval_of(area, 0.0, &|of_ways| of_ways[way].area),
            chosen_above,
            chosen_above_interval: interval_of(chosen_above, -1.0, &|of_ways| of_ways[0].area - of_ways[way].area),
            chosen_above_by_seed: by_seed.iter().map(|found| found[0].area() - found[way].area()).collect(),
            at_budgets: found[way].at_budgets.iter().enumerate().map(at_budget).collect(),
        }
    };
    ways.iter().enumerate().map(curve).collect()
}

/// What is kept of a resample.
struct Measured {
    area: f64,
    at_budgets: Vec<f64>,
}

impl From<Found> for Measured {
    fn from(found: Found) -> Self {
        Self { area: found.area(), at_budgets: found.at_budgets }
    }
}

#[cfg(test)]
mod tests;
