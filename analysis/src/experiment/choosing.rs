//! What suites find in the same time, or with as many test cases, that are chosen by the campaign, by rules of thumb, and
//! at random.
//!
//! A rule of thumb needs no simulation at all ([`rules`](crate::rules)). So what a campaign is worth is what the suites
//! that it chooses find beyond those of the best rule, and not only beyond random ones.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::Outcomes;

use super::probability::Missing;
use crate::expected::rules_of;
use crate::missing::{missing_of_random, missing_of_suite};
use crate::options::AnalysisOptions;
use crate::random::order_streams;
use crate::seconds::seconds;
use crate::statistics::{Bootstrap, Interval, percentile};

/// The largest suite that is compared, in the unit.
pub(super) const SIZE_MAX: usize = 20;

/// With fewer implementations than this, drawing implementations again says little about others.
pub(super) const SUBJECTS_MIN: usize = 5;

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectionCurves {
    /// What sizes are counted in. Of the test case at which a time is up the part counts for which there was room.
    #[serde(default)]
    pub unit: SuiteUnit,
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
    /// What the area lies in, at the level `1 - alpha`, were other implementations drawn (percentile bootstrap);
    /// `None` with fewer than five, which say little about others.
    pub interval: Option<Interval>,
    /// The area of the chosen suites minus this one; 0 for these themselves.
    pub chosen_above: f64,
    /// What that lies in, the same implementations being drawn for both.
    pub chosen_above_interval: Option<Interval>,
}

impl SelectionCurves {
    /// Returns all ways to choose: by mutants, at random, and by each rule.
    pub fn curves(&self) -> impl Iterator<Item = &Curve> {
        [&self.chosen].into_iter().chain(&self.own_seeds).chain([&self.random]).chain(&self.rules)
    }

    /// Compares the ways to choose on the implementations of `missing` by the number of test cases; `None` without test
    /// cases. `orders` are orders of test cases whose beginnings are the chosen suites; of several the mean counts.
    /// `own_seeds` is the order by what test cases kill on their own seeds, if it is another one.
    pub(super) fn new(
        outcomes: &Outcomes,
        missing: &[Missing],
        (orders, own_seeds): (&[Vec<usize>], Option<&[usize]>),
        options: &AnalysisOptions,
        threads: NonZeroUsize,
    ) -> Option<Self> {
        let size_max = SIZE_MAX.min(outcomes.cases.len());
        if size_max == 0 || orders.is_empty() {
            return None;
        }
        let of_order = |order: &[usize]| found_by_beginnings(order, missing, size_max);
        let random = missing.iter().map(|missing| {
            let missing = missing_of_random(missing, size_max);
            missing[1..].iter().map(|missing| 1.0 - missing).collect()
        });
        let chosen = mean(orders.iter().map(|order| of_order(order)));
        let own_seeds = own_seeds.map(|order| ("kills on own seeds".to_owned(), of_order(order)));
        let rules = rules_of(outcomes, &seconds(outcomes, options));
        let rules = rules.into_iter().map(|rule| (rule.name, of_order(&rule.order)));
        Self::of((SuiteUnit::TestCases, chosen), random.collect(), own_seeds, rules, options, threads)
    }

    /// Compares the ways to choose by the time that test cases took: `durations` has a row for each implementation. The
    /// choice and the rules know what the options say of times alone; `order` is the chosen one. `None` without test
    /// cases, or if they took no time.
    pub(super) fn in_time(
        outcomes: &Outcomes,
        missing: &[Missing],
        durations: &[Vec<f64>],
        order: &[usize],
        options: &AnalysisOptions,
        threads: NonZeroUsize,
    ) -> Option<Self> {
        let cases = outcomes.cases.len();
        let units = SIZE_MAX.min(cases);
        let all_took_time = durations.iter().all(|durations| durations.iter().sum::<f64>() > 0.0);
        if units == 0 || !all_took_time {
            return None;
        }
        let of_order = |order: &[usize]| -> Vec<Vec<f64>> {
            missing
                .iter()
                .zip(durations)
                .map(|(missing, durations)| found_in_times(order, missing, durations, units))
                .collect()
        };
        let orders = order_streams(options.seed);
        let orders = orders.map(|mut stream| of_order(&stream.permutation(cases).collect::<Vec<_>>()));
        let rules = rules_of(outcomes, &seconds(outcomes, options));
        let rules = rules.into_iter().map(|rule| (rule.name, of_order(&rule.order)));
        let random = mean(orders);
        Self::of((SuiteUnit::MeanTimes, of_order(order)), random, None, rules, options, threads)
    }

    fn of(
        (unit, chosen): (SuiteUnit, Vec<Vec<f64>>),
        random: Vec<Vec<f64>>,
        own_seeds: Option<(String, Vec<Vec<f64>>)>,
        rules: impl Iterator<Item = (String, Vec<Vec<f64>>)>,
        options: &AnalysisOptions,
        threads: NonZeroUsize,
    ) -> Option<Self> {
        let has_own_seeds = own_seeds.is_some();
        let mut ways = vec![("chosen".to_owned(), chosen), ("random".to_owned(), random)];
        ways.extend(own_seeds.into_iter().chain(rules));
        let mut curves = curves(&ways, options, threads).into_iter();
        let (chosen, random) = (curves.next()?, curves.next()?);
        let own_seeds = if has_own_seeds { curves.next() } else { None };
        Some(Self { unit, chosen, own_seeds, random, rules: curves.collect() })
    }

    /// Returns the rule with the largest area, the first of equals.
    pub fn best_rule(&self) -> Option<&Curve> {
        self.rules.iter().reduce(|best, other| if other.area > best.area { other } else { best })
    }
}

impl Curve {
    /// Returns whether the chosen suites find significantly more: by the interval, or, where there is none, at all.
    pub fn is_beaten(&self) -> bool {
        self.chosen_above_interval.map_or(self.chosen_above > 0.0, |interval| interval.lower > 0.0)
    }
}

/// Returns the probability that the beginnings of an order of test cases, of sizes from 1 to `size_max`, find each
/// implementation; shape `implementations x sizes`.
pub(super) fn found_by_beginnings(order: &[usize], missing: &[Missing], size_max: usize) -> Vec<Vec<f64>> {
    let found = |missing: &Missing| {
        (1..=size_max).map(|size| 1.0 - missing_of_suite(missing, &order[..size.min(order.len())])).collect()
    };
    missing.iter().map(found).collect()
}

/// Returns the probability that what an order begins with finds an implementation within 1 to `units` times of what a
/// test case takes on it on average.
fn found_in_times(order: &[usize], missing: &[f64], durations: &[f64], units: usize) -> Vec<f64> {
    let unit = durations.iter().sum::<f64>() / durations.len() as f64;
    let (mut rest, mut is_missed, mut found) = (unit, 1.0, Vec::with_capacity(units));
    for &case in order {
        let whole = durations[case].max(unit * 1e-6);
        let (mut duration, mut part) = (whole, 1.0);
        while duration > rest {
            // The part that there is room for; the next unit goes on with it.
            part -= rest / whole;
            let after = is_missed * (missing[case] + (1.0 - missing[case]) * part);
            found.push(1.0 - after);
            if found.len() == units {
                return found;
            }
            duration -= rest;
            rest = unit;
        }
        rest -= duration;
        is_missed *= missing[case];
    }
    found.resize(units, 1.0 - is_missed);
    found
}

/// Returns the mean of tables of one shape.
fn mean(tables: impl ExactSizeIterator<Item = Vec<Vec<f64>>>) -> Vec<Vec<f64>> {
    let count = tables.len() as f64;
    let sum = tables.reduce(|mut sum, table| {
        sum.iter_mut().flatten().zip(table.iter().flatten()).for_each(|(sum, value)| *sum += value);
        sum
    });
    let mut mean = sum.unwrap_or_default();
    mean.iter_mut().flatten().for_each(|value| *value /= count);
    mean
}

/// Summarises ways to choose, the first of which is the one that the others are held against. Each has a row for each
/// implementation with the probability that suites of each size find it.
pub(super) fn curves(ways: &[(String, Vec<Vec<f64>>)], options: &AnalysisOptions, threads: NonZeroUsize) -> Vec<Curve> {
    let areas: Vec<Vec<f64>> = ways
        .iter()
        .map(|(_, rows)| rows.iter().map(|row| row.iter().sum::<f64>() / row.len() as f64).collect())
        .collect();
    let subjects = areas[0].len();
    let resamples = if subjects < SUBJECTS_MIN { 0 } else { options.resamples };
    let bootstrap = Bootstrap { seed: options.seed, purpose: "implementations drawn again", resamples, threads };
    let drawn = bootstrap.replicates(
        || (),
        |(), stream| {
            let places: Vec<usize> = (0..subjects).map(|_| stream.below(subjects)).collect();
            let area = |areas: &Vec<f64>| places.iter().map(|&place| areas[place]).sum::<f64>() / subjects as f64;
            areas.iter().map(area).collect::<Vec<f64>>()
        },
    );
    let level = 1.0 - options.alpha;
    let mean_of = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let chosen = mean_of(&areas[0]);
    let curve = |(way, (name, rows)): (usize, &(String, Vec<Vec<f64>>))| {
        let sizes = rows[0].len();
        let share = |size: usize| mean_of(&rows.iter().map(|row| row[size]).collect::<Vec<_>>());
        let area = mean_of(&areas[way]);
        let interval_of =
            |value: &dyn Fn(&Vec<f64>) -> f64| percentile(&drawn.iter().map(value).collect::<Vec<_>>(), level);
        Curve {
            name: name.clone(),
            shares: (0..sizes).map(share).collect(),
            area,
            interval: interval_of(&|areas| areas[way]),
            chosen_above: chosen - area,
            chosen_above_interval: interval_of(&|areas| areas[0] - areas[way]),
        }
    };
    ways.iter().enumerate().map(curve).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use simutant_synthetic::from_kills;

    fn few_resamples() -> AnalysisOptions {
        AnalysisOptions { resamples: 500, ..AnalysisOptions::default() }
    }

    /// A universe whose test case `i` has `a = i`, and implementations with these probabilities of passing.
    fn choosing(missing: &[&[f64]], orders: &[Vec<usize>]) -> SelectionCurves {
        let mut outcomes = from_kills(&[&"k".repeat(missing[0].len())]);
        for (number, case) in outcomes.cases.iter_mut().enumerate() {
            case.case = json!({ "a": number, "seed": 100 - number });
        }
        let missing: Vec<Missing> = missing.iter().map(|missing| missing.to_vec()).collect();
        SelectionCurves::new(&outcomes, &missing, (orders, None), &few_resamples(), NonZeroUsize::MIN)
            .expect("there are test cases")
    }

    #[test]
    fn shares_are_expected_and_by_size() {
        let found = choosing(&[&[1.0, 0.5, 0.5], &[0.0, 1.0, 1.0]], &[vec![1, 0, 2]]);
        assert_eq!(found.chosen.shares, [0.25, 0.75, 0.875]);
        assert!((found.chosen.area - 1.875 / 3.0).abs() < 1e-15);
        let names: Vec<&str> = found.rules.iter().map(|rule| rule.name.as_str()).collect();
        assert_eq!(names, ["highest a", "lowest a", "boundary", "pairwise"]);
        assert_eq!(found.rules[0].shares, [0.25, 0.375, 0.875]);
        assert_eq!(found.rules[1].shares, [0.5, 0.75, 0.875]);
        // Means of 3, 3 and 1 suites.
        let random = [(0.5 + 0.5 + 1.0) / 6.0, (0.5 + 1.0 + 0.5 + 1.0 + 0.75) / 6.0, 0.875];
        for (found, expect) in found.random.shares.iter().zip(random) {
            assert!((found - expect).abs() < 1e-15, "{found} is not {expect}");
        }
        assert_eq!((found.chosen.interval, found.best_rule().map(|rule| rule.name.as_str())), (None, Some("lowest a")));
        assert!(!found.rules[1].is_beaten() && found.rules[0].is_beaten());
    }

    #[test]
    fn of_the_test_case_at_which_a_time_is_up_a_part_counts() {
        // A unit is 2: the first takes one and a half of it, the second a quarter, the third one and a quarter.
        let found = found_in_times(&[0, 1, 2], &[0.0, 0.5, 1.0], &[3.0, 0.5, 2.5], 4);
        assert_eq!(found, [2.0 / 3.0, 1.0, 1.0, 1.0]);
        let found = found_in_times(&[2, 1, 0], &[0.0, 0.5, 1.0], &[3.0, 0.5, 2.5], 4);
        for (found, expect) in found.into_iter().zip([0.0, 1.0 - 0.5 * (1.0 - 1.0 / 3.0), 1.0, 1.0]) {
            assert!((found - expect).abs() < 1e-12, "{found} is not {expect}");
        }
        assert_eq!(found_in_times(&[1], &[0.0, 0.5, 1.0], &[3.0, 0.5, 2.5], 3), [0.5, 0.5, 0.5]);
    }

    #[test]
    fn what_takes_the_same_finds_the_same_in_as_much_time_as_with_as_many() {
        let missing: Vec<Missing> =
            (0..6).map(|at| (0..4).map(|case| f64::from((at + case) % 3) / 2.0).collect()).collect();
        let outcomes = from_kills(&["kk..", "..kk"]);
        let order = vec![0, 3, 1, 2];
        let (one, options) = (NonZeroUsize::MIN, few_resamples());
        let by_count = SelectionCurves::new(&outcomes, &missing, (std::slice::from_ref(&order), None), &options, one);
        let in_time = SelectionCurves::in_time(&outcomes, &missing, &vec![vec![7.0; 4]; 6], &order, &options, one);
        let (by_count, in_time) = (by_count.expect("there are test cases"), in_time.expect("they took time"));
        assert_eq!((by_count.chosen, by_count.rules), (in_time.chosen, in_time.rules));
        for (exact, drawn) in by_count.random.shares.into_iter().zip(in_time.random.shares) {
            assert!((exact - drawn).abs() < 0.05, "{exact} and {drawn}");
        }
    }

    #[test]
    fn several_orders_count_by_their_mean() {
        let found = choosing(&[&[0.0, 1.0]], &[vec![0, 1], vec![1, 0]]);
        assert_eq!(found.chosen.shares, [0.5, 1.0]);
        assert_eq!(found.random.shares, found.chosen.shares);
    }

    #[test]
    fn the_difference_is_paired_by_implementation() {
        // What the chosen suites find varies much between implementations, and is always 0.1 more than the rule's.
        let rows: Vec<Vec<f64>> =
            (0..8).map(|number| vec![1.0 - 0.1 * f64::from(number) - 0.1, 1.0 - 0.1 * f64::from(number)]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(Vec::as_slice).collect();
        let found = choosing(&rows, &[vec![0]]);
        let (own, rule) = (found.chosen.interval.expect("there are 8"), &found.rules[0]);
        assert!(own.upper - own.lower > 0.2, "{own:?}");
        let above = rule.chosen_above_interval.expect("there are 8");
        assert!(above.upper - above.lower < own.upper - own.lower, "{above:?}");
        assert_eq!(found.chosen.chosen_above_interval, Some(Interval { lower: 0.0, upper: 0.0 }));
    }

    #[test]
    fn any_number_of_threads_gives_the_same() {
        let outcomes = from_kills(&["kk..", "..kk"]);
        let missing: Vec<Missing> =
            (0..6).map(|at| (0..4).map(|case| f64::from((at + case) % 3) / 2.0).collect()).collect();
        let with = |threads| {
            let threads = NonZeroUsize::new(threads).expect("not 0");
            SelectionCurves::new(&outcomes, &missing, (&[vec![0, 3, 1, 2]], None), &few_resamples(), threads)
        };
        assert_eq!(with(1), with(3));
    }
}
