//! What else finds in the same time, or with as many inputs: random test cases and rules of thumb.

use serde::{Deserialize, Serialize};

use crate::probabilities::KillProbabilities;
use crate::random::{ORDERS, order_streams};
use crate::rules::RuleOfThumb;

use super::growing::Growing;
use super::worth::mean;

/// What a suite is expected to find, beside what else is in the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// What the suite is expected to find.
    pub chosen: f64,
    /// What random test cases are, on average over 200 random orders.
    pub random: f64,
    /// What rules of thumb are, the best first.
    pub rules: Vec<RuleFinds>,
}

/// What a rule of thumb is expected to find.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleFinds {
    /// What it takes first, for example `highest drop`.
    pub name: String,
    /// The expected share.
    pub found: f64,
}

/// What ways to choose test cases are expected to kill in times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoresInTime {
    /// The times, in seconds.
    pub seconds: Vec<f64>,
    /// Scores of test cases each of which adds most for its time, by time.
    pub built: Vec<f64>,
    /// Those of random ones, on average over 200 random orders.
    pub random: Vec<f64>,
    /// Those of rules of thumb.
    pub rules: Vec<RuleInTime>,
}

/// A rule of thumb, by time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleInTime {
    /// What it takes first.
    pub name: String,
    /// What it is expected to kill, by time.
    pub scores: Vec<f64>,
}

/// The times that a study looks at, in mean test cases.
const TIMES: [f64; 6] = [1.0, 2.0, 3.0, 6.0, 12.0, 20.0];

/// Orders of test cases, and what they find at prices.
struct Orders<'a> {
    probabilities: &'a KillProbabilities,
    total: f64,
    /// The price of each test case, above 0.
    prices: &'a [f64],
}

impl<'a> Orders<'a> {
    /// `None` without a score.
    fn new(probabilities: &'a KillProbabilities, prices: &'a [f64]) -> Option<Self> {
        Some(Self { probabilities, total: probabilities.total_difficulty()?, prices })
    }

    /// Returns what an order is expected to find at each of some prices, which rise; of the test case at which one is used
    /// up the part counts for which there is room.
    fn found(&self, order: impl IntoIterator<Item = usize>, limits: &[f64]) -> Vec<f64> {
        let (mut growing, mut price, mut found) = (Growing::new(self.probabilities), 0.0, Vec::new());
        for case in order {
            while let Some(limit) = limits.get(found.len()).filter(|limit| price + self.prices[case] > **limit) {
                let part = growing.gain(case) * (limit - price) / self.prices[case];
                found.push((self.total - growing.left() + part) / self.total);
            }
            if found.len() == limits.len() {
                return found;
            }
            price += self.prices[case];
            growing.take(case);
        }
        found.resize(limits.len(), (self.total - growing.left()) / self.total);
        found
    }

    /// Returns what random orders are expected to find, on average.
    fn random(&self, limits: &[f64], seed: u64) -> Vec<f64> {
        let mut sums = vec![0.0; limits.len()];
        for mut stream in order_streams(seed) {
            let found = self.found(stream.permutation(self.prices.len()), limits);
            sums.iter_mut().zip(found).for_each(|(sum, found)| *sum += found / f64::from(ORDERS));
        }
        sums
    }
}

impl Beside {
    /// Returns what test cases in random orders and in those of rules are expected to find at one price. `prices` has
    /// one for each test case.
    pub(crate) fn new(
        probabilities: &KillProbabilities,
        (prices, limit): (&[f64], f64),
        (chosen, rules): (f64, &[RuleOfThumb]),
        seed: u64,
    ) -> Option<Self> {
        let orders = Orders::new(probabilities, prices)?;
        let of_rule = |rule: &RuleOfThumb| {
            let found = orders.found(rule.order.iter().copied(), &[limit]);
            RuleFinds { name: rule.name.clone(), found: found[0] }
        };
        let mut rules: Vec<RuleFinds> = rules.iter().map(of_rule).collect();
        rules.sort_by(|one, other| other.found.total_cmp(&one.found));
        Some(Self { chosen, random: orders.random(&[limit], seed)[0], rules })
    }
}

impl ScoresInTime {
    /// Returns what is expected to be killed in some times, which rise. `built` has test cases until the last one is up;
    /// `None` without a score.
    pub(crate) fn new(
        probabilities: &KillProbabilities,
        (seconds, limits): (&[f64], Vec<f64>),
        (built, rules): (&[usize], &[RuleOfThumb]),
        seed: u64,
    ) -> Option<Self> {
        let orders = Orders::new(probabilities, seconds)?;
        let of_rule = |rule: &RuleOfThumb| RuleInTime {
            name: rule.name.clone(),
            scores: orders.found(rule.order.iter().copied(), &limits),
        };
        Some(Self {
            built: orders.found(built.iter().copied(), &limits),
            random: orders.random(&limits, seed),
            rules: rules.iter().map(of_rule).collect(),
            seconds: limits,
        })
    }

    /// Returns the times that are looked at, the last one last.
    pub(crate) fn limits(seconds: &[f64]) -> Vec<f64> {
        TIMES.iter().map(|times| times * mean(seconds)).collect()
    }

    /// Returns the rule of thumb with the highest score in the last time.
    pub fn best_rule(&self) -> Option<(&RuleInTime, f64)> {
        let scores = self.rules.iter().filter_map(|rule| Some((rule, *rule.scores.last()?)));
        scores.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::tests::known;

    #[test]
    fn orders_count_until_the_time_is_up() {
        // Each of two test cases kills one mutant for certain, and the third none.
        let probabilities = known(&[vec![0.0, 1.0], vec![1.0, 0.0], vec![1.0, 1.0]]);
        let rules = [
            RuleOfThumb { name: "last".into(), order: vec![2, 1, 0] },
            RuleOfThumb { name: "first".into(), order: vec![0, 1, 2] },
        ];
        let beside =
            |limit| Beside::new(&probabilities, (&[1.0, 2.0, 1.0], limit), (0.7, &rules), 1).expect("there is a score");
        let found = beside(2.0);
        let rules: Vec<(&str, f64)> = found.rules.iter().map(|rule| (rule.name.as_str(), rule.found)).collect();
        assert_eq!(rules, [("first", 0.75), ("last", 0.25)]);
        // Of the six orders: 0.75, 0.5, 0.5, 0.5, 0.5 and 0.25.
        assert!((found.random - 0.5).abs() < 0.03, "{found:?}");
        assert!((beside(9.0).random - 1.0).abs() < 1e-9, "all of them");
    }

    #[test]
    fn several_times_are_as_each_by_itself() {
        let probabilities = known(&[vec![0.0, 1.0, 0.5], vec![1.0, 0.0, 0.5], vec![1.0, 1.0, 0.2]]);
        let orders = Orders::new(&probabilities, &[1.0, 2.5, 0.25]).expect("there is a score");
        let limits = [0.5, 0.75, 1.0, 1.2, 3.6, 9.0];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            let each = limits.iter().map(|&limit| orders.found(order, &[limit])[0]);
            assert_eq!(orders.found(order, &limits), each.collect::<Vec<_>>());
        }
    }
}
