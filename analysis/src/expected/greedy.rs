//! Suites that are expected to find most for what they take, by time or by another price of test cases: greedily, then
//! by exchanges.

use std::cmp::Ordering;

use crate::probabilities::KillProbabilities;

use super::growing::{Greedily, Growing};
use super::relaxed::{Goal, Relaxation, relaxed};

/// Exchanges take test cases from so many, those that add most for their price in the relaxation.
const POOL: usize = 96;

/// How many probabilities are looked at in exchanges, about: no clock decides, so that slow machines choose the same.
const LOOKS_MAX: usize = 50_000_000;

/// Exchanges end when the suite is this near to the bound, as a share of its price.
const NEAR: f64 = 1e-3;

/// Scores that differ by less than this share of all difficulty are equal: sums in another order differ in their last
/// digits.
const EQUAL: f64 = 1e-12;

/// Returns `size` test cases, each the one that adds most to those before it, or fewer where nothing is left to be
/// killed.
///
/// Each beginning is expected to kill at least `1 - (1 - 1/n)^n`, more than 63.2 %, of what the best suite of as many
/// is (Nemhauser, Wolsey and Fisher, "An analysis of approximations for maximizing submodular set functions",
/// Mathematical Programming 14, 1978).
pub(crate) fn most_in_inputs(probabilities: &KillProbabilities, size: usize) -> Vec<usize> {
    let each = vec![1.0; probabilities.cases()];
    let mut greedily = Greedily::new(Growing::new(probabilities), &each, 0..each.len());
    while greedily.growing.cases.len() < size && greedily.take_next(|_| true).is_some() {}
    greedily.growing.cases
}

/// Returns test cases until they take as much together as `limit`, or more, each the one that adds most for its price to
/// those before it.
pub(crate) fn most_in_time(probabilities: &KillProbabilities, prices: &[f64], limit: f64) -> Vec<usize> {
    let mut greedily = Greedily::new(Growing::new(probabilities), prices, 0..prices.len());
    let mut price = 0.0;
    while price < limit
        && let Some(case) = greedily.take_next(|_| true)
    {
        price += prices[case];
    }
    greedily.growing.cases
}

/// Returns the test cases of a suite in an order of which each beginning is good for its price: each adds most for its
/// price of those that are left.
pub(crate) fn ordered(probabilities: &KillProbabilities, prices: &[f64], cases: &[usize]) -> Vec<usize> {
    let mut left = vec![0_usize; probabilities.cases()];
    cases.iter().for_each(|&case| left[case] += 1);
    let mut growing = Growing::new(probabilities);
    while growing.cases.len() < cases.len() {
        let rated =
            (0..left.len()).filter(|&case| left[case] > 0).map(|case| (growing.gain(case) / prices[case], case));
        let Some((_, case)) = rated.reduce(|best, next| if next.0 > best.0 { next } else { best }) else { break };
        left[case] -= 1;
        growing.take(case);
    }
    growing.cases
}

/// Returns what the beginnings of a suite are expected to score, by size from 1; nothing without a score. Cost
/// O(cases * mutants).
pub(crate) fn scores_of_beginnings(probabilities: &KillProbabilities, cases: &[usize]) -> Vec<f64> {
    let Some(total) = probabilities.total_difficulty() else { return Vec::new() };
    let mut growing = Growing::new(probabilities);
    let score = |&case: &usize| {
        growing.take(case);
        (total - growing.left()) / total
    };
    cases.iter().map(score).collect()
}

/// A suite that keeps within a price.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Within {
    /// The test cases, in the order in which they are best run.
    pub(crate) cases: Vec<usize>,
    /// No suite within the price scores more.
    pub(crate) score_max: f64,
}

/// Returns a suite with a price of at most `limit` that leaves no room for a test case that adds anything; `None`
/// without a score. `prices` has one for each test case, above 0.
///
/// It scores at least as much as each of three: what is taken greedily for its price, greedily by gain alone, and the
/// best single test case. That is at least 31.6 % of what is possible, `(1 - 1/e) / 2` (Khuller, Moss and Naor, "The
/// budgeted maximum coverage problem", Information Processing Letters 70, 1999); exchanges of one and two test cases
/// make it better.
pub(crate) fn within(probabilities: &KillProbabilities, prices: &[f64], limit: f64) -> Option<Within> {
    let total = probabilities.total_difficulty()?;
    let goal = Goal::Within(limit * (1.0 + EQUAL));
    let relaxation = relaxed(probabilities, prices, goal);
    let search = Search { probabilities, prices, goal, size_max: usize::MAX, equal: total * EQUAL };
    let all = || 0..prices.len();
    let same = vec![1.0; prices.len()];
    let alone = all().filter(|&case| prices[case] <= limit).map(|case| search.priced([case]));
    let nothing = || search.priced([]);
    let greedily = [search.filled(nothing(), prices, all()), search.filled(nothing(), &same, all())];
    let rounded = search.rounded(&relaxation, limit).and_then(|rounded| search.filled(rounded, prices, all()));
    let best =
        greedily.into_iter().flatten().chain(rounded).chain(alone).reduce(|best, next| search.better(best, next))?;
    let best = search.filled(search.exchanged(best, &relaxation), prices, all())?;
    let cases = ordered(probabilities, prices, &best.growing.cases);
    Some(Within { cases, score_max: (total - relaxation.bound) / total })
}

/// A suite that is expected to reach a score.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reaching {
    /// The test cases, in the order in which they are best run.
    pub(crate) cases: Vec<usize>,
    /// No suite that reaches the score has a lower price.
    pub(crate) price_min: f64,
}

/// Returns a suite that is expected to score `target`, at a price as low as the greedy order, leaving out of its test
/// cases and exchanges of one and two make it, of equals with fewer test cases; `None` if `size_max` test cases do not.
pub(crate) fn reaching(
    probabilities: &KillProbabilities,
    prices: &[f64],
    target: f64,
    size_max: usize,
) -> Option<Reaching> {
    let total = probabilities.total_difficulty()?;
    // What is reached is reached in any order of the sum.
    let goal = Goal::Left(total * (1.0 - target - EQUAL));
    let search = Search { probabilities, prices, goal, size_max, equal: total * EQUAL };
    let greedy = search.filled(search.priced([]), prices, 0..prices.len())?;
    let relaxation = relaxed(probabilities, prices, goal);
    let mut best = search.exchanged(greedy, &relaxation);
    if !search.is_near(&best, &relaxation)
        && let Some(rounded) = search.rounded(&relaxation, best.price)
        && let Some(rounded) = search.filled(rounded, prices, 0..prices.len())
    {
        best = search.better(best, search.exchanged(rounded, &relaxation));
    }
    let cases = ordered(probabilities, prices, &best.growing.cases);
    Some(Reaching { cases, price_min: relaxation.bound.min(best.price) })
}

/// A suite with its price.
#[derive(Debug, Clone)]
struct Priced<'a> {
    growing: Growing<'a>,
    price: f64,
}

/// What looks for a suite.
#[derive(Debug, Clone, Copy)]
struct Search<'a> {
    probabilities: &'a KillProbabilities,
    prices: &'a [f64],
    goal: Goal,
    /// How many test cases a suite has at most that is to reach a score.
    size_max: usize,
    /// Scores that differ by less are equal.
    equal: f64,
}

impl<'a> Search<'a> {
    fn priced(&self, cases: impl IntoIterator<Item = usize>) -> Priced<'a> {
        let growing = Growing::of(self.probabilities, cases);
        let price = growing.cases.iter().map(|&case| self.prices[case]).sum();
        Priced { growing, price }
    }

    /// Returns the better of two suites that do what they are to do, the first of equals.
    fn better(&self, one: Priced<'a>, other: Priced<'a>) -> Priced<'a> {
        if self.is_better(&other, &one) { other } else { one }
    }

    fn is_better(&self, one: &Priced<'_>, other: &Priced<'_>) -> bool {
        let differ = |one: f64, other: f64, equal: f64| match one - other {
            difference if difference < -equal => Ordering::Less,
            difference if difference > equal => Ordering::Greater,
            _ => Ordering::Equal,
        };
        let left = differ(one.growing.left(), other.growing.left(), self.equal);
        let price = differ(one.price, other.price, EQUAL * other.price);
        let size = one.growing.cases.len().cmp(&other.growing.cases.len());
        match self.goal {
            Goal::Within(_) => left.then(price).then(size) == Ordering::Less,
            Goal::Left(_) => price.then(size) == Ordering::Less,
        }
    }

    /// Adds test cases of `pool` greedily, those first that add most for their `rates`, until the suite
    /// reaches its goal; `None` if it does not reach it.
    fn filled(&self, from: Priced<'a>, rates: &'a [f64], pool: impl Iterator<Item = usize>) -> Option<Priced<'a>> {
        let Priced { growing, mut price } = from;
        let mut greedily = Greedily::new(growing, rates, pool);
        match self.goal {
            Goal::Within(limit) => {
                while let Some(case) = greedily.take_next(|case| price + self.prices[case] <= limit) {
                    price += self.prices[case];
                }
                Some(Priced { growing: greedily.growing, price })
            }
            Goal::Left(most) => {
                let mut best: Option<Priced<'a>> = None;
                loop {
                    let missing = greedily.growing.left() - most;
                    let is_dearer = best.as_ref().is_some_and(|best| price >= best.price);
                    if missing <= 0.0 && !is_dearer {
                        return Some(Priced { growing: greedily.growing, price });
                    }
                    if is_dearer || greedily.growing.cases.len() >= self.size_max {
                        return best;
                    }
                    // The greedy order may be about to take what is not worth it, where one dear test case is enough.
                    let below = best.as_ref().map_or(f64::INFINITY, |best| best.price - price);
                    let enough =
                        greedily.may_add(missing, below).filter(|&case| greedily.growing.gain(case) >= missing);
                    let last = enough
                        .min_by(|&one, &other| self.prices[one].total_cmp(&self.prices[other]).then(one.cmp(&other)));
                    if let Some(last) = last {
                        let mut growing = greedily.growing.clone();
                        growing.take(last);
                        best = Some(Priced { growing, price: price + self.prices[last] });
                    }
                    let Some(case) = greedily.take_next(|_| true) else { return best };
                    price += self.prices[case];
                }
            }
        }
    }

    /// Returns the whole runs of the relaxation; `None` if they have a higher price than this.
    fn rounded(&self, relaxation: &Relaxation, price_max: f64) -> Option<Priced<'a>> {
        // An amount of nearly 1 is 1 in other sums.
        let whole = || relaxation.amounts.iter().map(|&(case, amount)| (case, (amount + EQUAL).floor()));
        let price: f64 = whole().map(|(case, times)| times * self.prices[case]).sum();
        let cases = whole().flat_map(|(case, times)| vec![case; times as usize]);
        (price <= price_max).then(|| self.priced(cases))
    }

    /// Returns whether no suite is much better.
    fn is_near(&self, suite: &Priced<'_>, relaxation: &Relaxation) -> bool {
        let reached = match self.goal {
            Goal::Within(_) => suite.growing.left(),
            Goal::Left(_) => suite.price,
        };
        reached - relaxation.bound <= NEAR * relaxation.bound
    }

    /// Exchanges one test case, or two, for others for as long as that makes the suite better.
    fn exchanged(&self, mut best: Priced<'a>, relaxation: &Relaxation) -> Priced<'a> {
        let mut pool: Vec<usize> = (0..self.prices.len()).collect();
        pool.sort_by(|&one, &other| relaxation.rates[other].total_cmp(&relaxation.rates[one]));
        pool.truncate(POOL);
        let looks = (best.growing.cases.len() + POOL) * self.probabilities.difficulty.len();
        let mut trials = LOOKS_MAX / looks.max(1);
        while trials > 0 && !self.is_near(&best, relaxation) {
            let size = best.growing.cases.len();
            let ones = (0..size).map(|place| [place, place]);
            let twos = (0..size).flat_map(|one| (0..one).map(move |other| [one, other]));
            let without = |[one, other]: [usize; 2]| {
                let kept = (0..size).filter(|place| *place != one && *place != other);
                let kept = self.priced(kept.map(|place| best.growing.cases[place]));
                self.filled(kept, self.prices, pool.iter().copied())
            };
            let better = |exchanged: &Priced<'a>| self.is_better(exchanged, &best);
            let mut tried = ones.chain(twos).take(trials).enumerate();
            let found = tried.find_map(|(number, pair)| Some((number, without(pair).filter(better)?)));
            let Some((number, exchanged)) = found else { break };
            trials -= number + 1;
            best = exchanged;
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::tests::probabilities;
    use proptest::prelude::*;
    use simutant_synthetic::reseeded;

    #[test]
    fn a_limit_is_spent_where_most_comes_for_it() {
        let probabilities = probabilities(&reseeded(&[&[8, 0, 0, 0], &[0, 8, 0, 0], &[8, 8, 8, 0]]));
        let within = |prices: &[f64], limit| within(&probabilities, prices, limit).expect("there is a score").cases;
        assert_eq!(within(&[10.0, 10.0, 1.0, 1.0], 10.0), [0], "more than the cheap one");
        let mut both = within(&[10.0, 10.0, 10.0, 1.0], 20.0);
        both.sort_unstable();
        assert_eq!(both, [0, 1]);
        assert_eq!(within(&[10.0; 4], 9.0), [0; 0]);
    }

    /// The greedy order takes the first test case twice, each time for more than the second adds for its price; the
    /// second alone costs less.
    #[test]
    fn one_dear_test_case_can_be_cheaper_than_many() {
        let probabilities = probabilities(&reseeded(&[&[4, 8, 0, 0, 0, 0]]));
        let found = reaching(&probabilities, &[1.0, 2.5, 9.0, 9.0, 9.0, 9.0], 0.95, 10).expect("it can be reached");
        assert_eq!(found.cases, [1]);
        assert!(found.price_min <= 2.5 && found.price_min > 1.0, "{found:?}");
    }

    /// All multisets of test cases with a price of at most `limit`.
    fn suites(prices: &[f64], limit: f64) -> Vec<Vec<usize>> {
        let Some((&price, rest)) = prices.split_last() else { return vec![Vec::new()] };
        let case = rest.len();
        let times = (limit / price).floor() as usize;
        let with = |times: usize| {
            let others = suites(rest, limit - times as f64 * price);
            others.into_iter().map(move |others| [others, vec![case; times]].concat())
        };
        (0..=times).flat_map(with).collect()
    }

    /// Kills out of eight, by mutant and test case, and prices.
    fn any_kills() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<f64>)> {
        (1..5_usize, 1..6_usize).prop_flat_map(|(mutants, cases)| {
            let kills = prop::collection::vec(prop::collection::vec(0..=8_u8, cases), mutants);
            (kills, prop::collection::vec((2..9_u8).prop_map(|price| f64::from(price) / 2.0), cases))
        })
    }

    fn price_of(prices: &[f64], cases: &[usize]) -> f64 {
        cases.iter().map(|&case| prices[case]).sum()
    }

    proptest! {
        #[test]
        fn suites_keep_their_guarantee_within_a_price_and_bounds_hold((kills, prices) in any_kills(), limit in 1..9_u8) {
            let rows: Vec<&[u8]> = kills.iter().map(Vec::as_slice).collect();
            let probabilities = probabilities(&reseeded(&rows)).coupled(0.5);
            let score = |cases: &[usize]| probabilities.score(cases).map_or(0.0, |score| score.mean);
            let limit = f64::from(limit) / 2.0;
            let Some(found) = within(&probabilities, &prices, limit) else { return Ok(()) };
            let (all, price, own) = (suites(&prices, limit), price_of(&prices, &found.cases), score(&found.cases));
            let best = all.iter().map(|suite| score(suite)).fold(0.0, f64::max);
            prop_assert!(price <= limit + 1e-9, "{price} of {limit}");
            prop_assert!(own >= (1.0 - (-1.0_f64).exp()) / 2.0 * best, "{own} of {best}");
            prop_assert!(found.score_max >= best - 1e-9, "{} but {best}", found.score_max);
            // It leaves no room.
            for (case, dearer) in prices.iter().enumerate() {
                let more = [&found.cases[..], &[case]].concat();
                prop_assert!(price + dearer > limit + 1e-9 || score(&more) <= own + 1e-9, "room for {case}");
            }
            // What reaches a score costs no less than the bound, and no suite that does costs less than that.
            let target = 0.9 * best;
            if target > 0.0 && let Some(reaching) = reaching(&probabilities, &prices, target, 50) {
                prop_assert!(score(&reaching.cases) >= target);
                let price = price_of(&prices, &reaching.cases);
                prop_assert!(reaching.price_min <= price + 1e-9);
                let enough = all.iter().filter(|suite| score(suite) >= target);
                let cheapest = enough.map(|suite| price_of(&prices, suite)).fold(f64::INFINITY, f64::min);
                prop_assert!(reaching.price_min <= cheapest + 1e-9, "{} and {cheapest}", reaching.price_min);
                for place in 0..reaching.cases.len() {
                    let mut fewer = reaching.cases.clone();
                    fewer.remove(place);
                    prop_assert!(score(&fewer) < target, "{place} of {:?} can be left out", reaching.cases);
                }
            }
        }

        #[test]
        fn no_exchange_of_one_or_two_test_cases_for_one_saves_anything((kills, prices) in any_kills(), share in 0.1..0.95_f64) {
            let rows: Vec<&[u8]> = kills.iter().map(Vec::as_slice).collect();
            let probabilities = probabilities(&reseeded(&rows)).coupled(0.25);
            let score = |cases: &[usize]| probabilities.score(cases).map_or(0.0, |score| score.mean);
            let target = share * score(&(0..prices.len()).cycle().take(20 * prices.len()).collect::<Vec<_>>());
            let Some(found) = reaching(&probabilities, &prices, target, 200) else { return Ok(()) };
            let price = price_of(&prices, &found.cases);
            for one in 0..found.cases.len() {
                for other in 0..=one {
                    let mut suite = found.cases.clone();
                    suite.remove(one);
                    if other < one {
                        suite.remove(other);
                    }
                    for case in 0..prices.len() {
                        suite.push(case);
                        let saves = price_of(&prices, &suite) < (1.0 - NEAR) * price - 1e-9;
                        prop_assert!(!saves || score(&suite) < target, "{suite:?} for {:?}", found.cases);
                        suite.pop();
                    }
                }
            }
        }

        #[test]
        fn lazy_gains_choose_what_all_gains_choose((kills, _) in any_kills()) {
            let rows: Vec<&[u8]> = kills.iter().map(Vec::as_slice).collect();
            let probabilities = probabilities(&reseeded(&rows));
            let score = |cases: &[usize]| probabilities.score(cases).map_or(0.0, |score| score.mean);
            let found = most_in_inputs(&probabilities, 4);
            for size in 0..found.len() {
                let with = |case: usize| score(&[&found[..size], &[case]].concat());
                let best = (0..rows[0].len()).map(with).fold(0.0, f64::max);
                prop_assert!(with(found[size]) >= best - 1e-12, "{found:?} at {size}");
            }
        }

        #[test]
        fn an_order_has_what_the_suite_has_and_begins_with_most_for_its_price(
            (kills, prices) in any_kills(), mut suite in prop::collection::vec(0..5_usize, 0..6),
        ) {
            let rows: Vec<&[u8]> = kills.iter().map(Vec::as_slice).collect();
            let probabilities = probabilities(&reseeded(&rows));
            suite.retain(|&case| case < prices.len());
            let mut order = ordered(&probabilities, &prices, &suite);
            let rate = |case: usize| Growing::new(&probabilities).gain(case) / prices[case];
            if let Some(&first) = order.first() {
                prop_assert!(suite.iter().all(|&case| rate(case) <= rate(first)));
            }
            order.sort_unstable();
            suite.sort_unstable();
            prop_assert_eq!(order, suite);
        }
    }

    /// Where inputs are many, the bound tells how little can be better; exchanges and the relaxation go both ways there.
    #[test]
    fn suites_of_many_test_cases_are_near_to_their_bound() {
        const CASES: u64 = 120;
        let kills = |mutant: u64, case: u64| match (mutant * 31 + case * case * 7 + mutant * mutant * case) % 23 {
            kills @ 0..=8 if case % 3 == mutant % 3 => kills as u8,
            _ => 0,
        };
        let rows: Vec<Vec<u8>> = (0..40).map(|mutant| (0..CASES).map(|case| kills(mutant, case)).collect()).collect();
        let probabilities = probabilities(&reseeded(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>())).coupled(0.25);
        let prices: Vec<f64> = (0..CASES).map(|case| 0.5 + (case * 17 % 29) as f64 / 29.0).collect();
        let found = reaching(&probabilities, &prices, 0.8, 500).expect("it can be reached");
        let price = price_of(&prices, &found.cases);
        assert!(found.cases.len() > 40, "{}", found.cases.len());
        assert!(price <= 1.01 * found.price_min, "{price} but {} is not ruled out", found.price_min);
        let within = within(&probabilities, &prices, price).expect("there is a score");
        let score = probabilities.score(&within.cases).expect("there is a score").mean;
        assert!(score >= 0.99 * within.score_max, "{score} but {} is not ruled out", within.score_max);
    }

    #[test]
    fn a_test_case_that_kills_by_chance_is_taken_again() {
        let probabilities = probabilities(&reseeded(&[&[5, 0, 0, 1], &[0, 0, 1, 4]]));
        let mut suite = most_in_inputs(&probabilities, 4);
        suite.sort_unstable();
        assert_eq!(suite, [0, 0, 3, 3]);
    }
}
