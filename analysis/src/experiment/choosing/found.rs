//! What suites find of implementations, of which each beginning counts.

use crate::experiment::observed::{Observed, World};
use crate::missing::missing_of_random;

/// A test case that takes less than this share of a mean one is taken to take as much.
const LEAST: f64 = 1e-6;

/// Where implementations are missed with a lower probability than this, further test cases change nothing.
const CERTAIN: f64 = 1e-15;

/// Of so many orders the mean is taken in a resample: what they differ by is little beside what programs differ by.
const ORDERS_RESAMPLED: usize = 40;

/// How suites are chosen.
#[derive(Debug, Clone)]
pub(in crate::experiment) enum Suites {
    /// The beginnings of orders of test cases, on average over the orders.
    Orders(Vec<Vec<usize>>),
    /// Random suites, in closed form; by the number of test cases alone.
    Random,
}

/// A way to choose suites.
#[derive(Debug)]
pub(in crate::experiment) struct Way {
    pub(in crate::experiment) name: String,
    pub(in crate::experiment) suites: Suites,
}

impl Way {
    pub(in crate::experiment) fn new(name: impl Into<String>, orders: Vec<Vec<usize>>) -> Self {
        Self { name: name.into(), suites: Suites::Orders(orders) }
    }
}

/// What suites are measured at.
#[derive(Debug, Clone)]
pub(in crate::experiment) enum Measure {
    /// At each number of test cases from 1 to this one.
    TestCases(usize),
    /// At times of 1 to this many mean test cases, and then at these shares of the time of all test cases.
    Times(usize, Vec<f64>),
}

/// The expected share of the implementations that suites find.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::experiment) struct Found {
    /// By size or time, from 1.
    pub(in crate::experiment) shares: Vec<f64>,
    /// At each budget.
    pub(in crate::experiment) at_budgets: Vec<f64>,
}

impl Found {
    /// Returns the mean over sizes or times.
    pub(in crate::experiment) fn area(&self) -> f64 {
        self.shares.iter().sum::<f64>() / self.shares.len() as f64
    }
}

impl Measure {
    /// Returns what the suites of each way to choose find in a world of what was observed. Where that has a part of the test
    /// cases alone, the order that was chosen stays, without the others.
    pub(in crate::experiment) fn found(&self, ways: &[Way], observed: &Observed, world: &World) -> Vec<Found> {
        self.found_by(ways, observed, world, usize::MAX)
    }

    /// Returns the same in a resample, where of many orders some are enough.
    pub(in crate::experiment) fn found_again(&self, ways: &[Way], observed: &Observed, world: &World) -> Vec<Found> {
        self.found_by(ways, observed, world, ORDERS_RESAMPLED)
    }

    fn found_by(&self, ways: &[Way], observed: &Observed, world: &World, orders_max: usize) -> Vec<Found> {
        let times: Vec<Vec<f64>> = match self {
            Self::TestCases(_) => Vec::new(),
            Self::Times(units, budgets) => {
                let times = |durations: &Vec<f64>| Self::times(durations, world, *units, budgets);
                observed.durations.iter().map(times).collect()
            }
        };
        let on = |order: &[usize], place: usize| {
            let (missing, durations) = (&world.missing[place], &observed.durations[place]);
            match self {
                Self::TestCases(sizes) => found_with(order, missing, *sizes),
                Self::Times(units, _) => {
                    let (units, budgets) = times[place].split_at(*units);
                    let mut found = found_in(order, missing, durations, units);
                    found.extend(found_in(order, missing, durations, budgets));
                    found
                }
            }
        };
        let (sizes, budgets) = match self {
            Self::TestCases(sizes) => (*sizes, 0),
            Self::Times(units, budgets) => (*units, budgets.len()),
        };
        let count = f64::from(world.implementations.iter().sum::<u32>());
        let drawn = || (0..world.implementations.len()).filter(|&place| world.implementations[place] > 0);
        let found_of = |way: &Way| {
            let mut sum = vec![0.0; sizes + budgets];
            let mut add = |place: usize, part: f64, found: &[f64]| {
                let weight = f64::from(world.implementations[place]) * part;
                sum.iter_mut().zip(found).for_each(|(sum, found)| *sum += weight * found);
            };
            match &way.suites {
                Suites::Random => {
                    let all: Vec<usize> = there(0..world.has_case.len(), world).collect();
                    drawn().for_each(|place| add(place, 1.0, &random(&all, &world.missing[place], sizes)));
                }
                Suites::Orders(orders) => {
                    let orders = &orders[..orders.len().min(orders_max)];
                    for order in orders {
                        let order: Vec<usize> = there(order.iter().copied(), world).collect();
                        drawn().for_each(|place| add(place, 1.0 / orders.len() as f64, &on(&order, place)));
                    }
                }
            }
            sum.iter_mut().for_each(|sum| *sum /= count);
            let at_budgets = sum.split_off(sizes);
            Found { shares: sum, at_budgets }
        };
        ways.iter().map(found_of).collect()
    }

    /// Returns the times on an implementation at which it is measured.
    fn times(durations: &[f64], world: &World, units: usize, budgets: &[f64]) -> Vec<f64> {
        let durations = there(0..durations.len(), world).map(|case| durations[case]);
        let (count, all) = durations.fold((0.0, 0.0), |(count, sum), duration| (count + 1.0, sum + duration));
        let mean = all / count;
        (1..=units).map(|unit| unit as f64 * mean).chain(budgets.iter().map(|budget| budget * all)).collect()
    }
}

/// Leaves out the test cases that are not in the world.
fn there(order: impl Iterator<Item = usize>, world: &World) -> impl Iterator<Item = usize> {
    order.filter(|&case| world.has_case[case])
}

/// Returns the probability that random suites of test cases, of sizes from 1 to `size_max`, find an implementation.
fn random(cases: &[usize], missing: &[f64], size_max: usize) -> Vec<f64> {
    let missing: Vec<f64> = cases.iter().map(|&case| missing[case]).collect();
    let missing = missing_of_random(&missing, size_max.min(cases.len()));
    let mut found: Vec<f64> = missing[1..].iter().map(|missing| 1.0 - missing).collect();
    found.resize(size_max, found.last().copied().unwrap_or(0.0));
    found
}

/// Returns the probability that the beginnings of an order of test cases, of sizes from 1 to `size_max`, find an
/// implementation.
fn found_with(order: &[usize], missing: &[f64], size_max: usize) -> Vec<f64> {
    let mut found = Vec::with_capacity(size_max);
    let mut is_missed = 1.0;
    for &case in order.iter().take(size_max) {
        is_missed *= missing[case];
        found.push(1.0 - is_missed);
    }
    found.resize(size_max, 1.0 - is_missed);
    found
}

/// Returns the probability that what an order begins with finds an implementation within each of `times`, which rise. Of
/// the test case at which a time is up the part counts for which there was room.
fn found_in(order: &[usize], missing: &[f64], durations: &[f64], times: &[f64]) -> Vec<f64> {
    let least = LEAST * durations.iter().sum::<f64>() / durations.len() as f64;
    let (mut time, mut is_missed, mut found) = (0.0, 1.0, Vec::with_capacity(times.len()));
    for &case in order {
        let duration = durations[case].max(least);
        while let Some(&limit) = times.get(found.len())
            && time + duration > limit
        {
            let part = (limit - time) / duration;
            found.push(1.0 - is_missed * (1.0 - (1.0 - missing[case]) * part));
        }
        if found.len() == times.len() || is_missed < CERTAIN {
            break;
        }
        time += duration;
        is_missed *= missing[case];
    }
    found.resize(times.len(), 1.0 - is_missed);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_test_case_at_which_a_time_is_up_a_part_counts() {
        // The first takes one and a half of 2, the second a quarter, the third one and a quarter.
        let times = [2.0, 4.0, 6.0, 8.0];
        let found = found_in(&[0, 1, 2], &[0.0, 0.5, 1.0], &[3.0, 0.5, 2.5], &times);
        assert_eq!(found, [2.0 / 3.0, 1.0, 1.0, 1.0]);
        let found = found_in(&[2, 1, 0], &[0.0, 0.5, 1.0], &[3.0, 0.5, 2.5], &times);
        for (found, expect) in found.into_iter().zip([0.0, 1.0 - 0.5 * (1.0 - 1.0 / 3.0), 1.0, 1.0]) {
            assert!((found - expect).abs() < 1e-12, "{found} is not {expect}");
        }
        assert_eq!(found_in(&[1], &[0.0, 0.5, 1.0], &[3.0, 0.5, 2.5], &times[..3]), [0.5, 0.5, 0.5]);
    }

    #[test]
    fn a_test_case_that_was_not_drawn_is_not_there() {
        let observed = Observed::of_missing(&[vec![0.5, 0.5, 0.0, 1.0]]);
        let mut world = observed.world();
        world.has_case = vec![true, false, true, false];
        let ways = [Way::new("order", vec![vec![1, 0, 2, 3]]), Way { name: "random".into(), suites: Suites::Random }];
        let found = Measure::TestCases(3).found_again(&ways, &observed, &world);
        assert_eq!([&*found[0].shares, &found[1].shares], [[0.5, 1.0, 1.0], [0.75, 1.0, 1.0]]);
        let in_time = Measure::Times(3, vec![0.25, 0.75]).found_again(&ways[..1], &observed, &world);
        assert_eq!((&*in_time[0].shares, &*in_time[0].at_budgets), (&[0.5, 1.0, 1.0][..], &[0.25, 0.75][..]));
    }
}
