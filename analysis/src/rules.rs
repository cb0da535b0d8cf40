//! Rules of thumb that choose test cases by their inputs alone: a baseline that needs no simulation.
//!
//! A *quantity* is a number at a fixed path of the test cases, or the length of a list there. [`rules`] looks at no
//! coverage and no mutant, so a suite that a study chooses has to do better than these to be worth its cost.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use serde_json::Value;

/// Fields of this name are no quantities, wherever they stand: a higher seed is not more of anything.
const SEED: &str = "seed";

/// A rule of thumb, applied to a universe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOfThumb {
    /// What it is called: `highest` or `lowest` with the quantity, the quantity `per second`, `cheapest`, `boundary` or
    /// `pairwise`.
    pub name: String,
    /// All test cases, each once. The first `n` are the rule's suite of size `n`.
    pub order: Vec<usize>,
}

/// A number of each test case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantity {
    /// The path, with dots between names and `[]` after that of a list, whose length it is.
    path: String,
    /// By test case; `None` for those that do not have it.
    pub(crate) values: Vec<Option<f64>>,
}

/// Returns what each rule of thumb makes of `cases`, by the quantities that differ between them.
///
/// - `highest PATH` and `lowest PATH`, for each quantity: by its value, those last that do not have it.
/// - `PATH per second`, for each quantity: the highest value for what the test case takes first; `cheapest`: by that alone.
///   Where all take the same, these are not there.
/// - `boundary`: for each quantity in turn the lowest and the highest that is not in the suite yet.
/// - `pairwise`: the test case next that brings most pairs of quartiles of two quantities which the suite lacks, from
///   the beginning again when there is none (additional greedy, as prioritisation has it). Quartiles are those of the
///   universe; to lack a quantity is a fifth. With one quantity alone, its quartiles are covered.
///
/// Ties are broken by the test case's number. `ignored_paths` are no quantities, nor is what is below them, nor is any
/// field called `seed`. Elements of lists are not looked into. There are no rules without quantities.
///
/// `seconds` has what each test case takes, above 0.
///
/// Cost O(Q N log N) for Q quantities and N test cases, and for `pairwise` O(Q^2 N log N) as long as few gains are
/// out of date, O(Q^2 N^2) at worst.
pub fn rules(cases: &[Value], ignored_paths: &BTreeSet<String>, seconds: &[f64]) -> Vec<RuleOfThumb> {
    let quantities = quantities(cases, ignored_paths);
    if quantities.is_empty() {
        return Vec::new();
    }
    let mut rules = Vec::with_capacity(3 * quantities.len() + 3);
    let takes_time = seconds.iter().any(|second| *second != seconds[0]);
    let mut both_ends: Vec<[Vec<usize>; 2]> = Vec::with_capacity(quantities.len());
    for quantity in &quantities {
        let (lowest, highest) = (quantity.sorted(false), quantity.sorted(true));
        rules.push(RuleOfThumb { name: format!("highest {}", quantity.path), order: highest.clone() });
        rules.push(RuleOfThumb { name: format!("lowest {}", quantity.path), order: lowest.clone() });
        if takes_time {
            let name = format!("{} per second", quantity.path);
            rules.push(RuleOfThumb { name, order: quantity.per(seconds).sorted(true) });
        }
        both_ends.push([lowest, highest]);
    }
    if takes_time {
        let cheapest = Quantity { path: "seconds".into(), values: seconds.iter().copied().map(Some).collect() };
        rules.push(RuleOfThumb { name: "cheapest".into(), order: cheapest.sorted(false) });
    }
    rules.push(RuleOfThumb { name: "boundary".into(), order: in_turn(cases.len(), both_ends.iter().flatten()) });
    rules.push(RuleOfThumb { name: "pairwise".into(), order: pairwise(cases.len(), &quantities) });
    rules
}

/// Returns the quantities that have two values at least, by path.
pub(crate) fn quantities(cases: &[Value], ignored_paths: &BTreeSet<String>) -> Vec<Quantity> {
    let mut found = BTreeMap::new();
    for (case, value) in cases.iter().enumerate() {
        leaves(value, "", ignored_paths, &mut |path, leaf| {
            let (path, number) = match leaf {
                Value::Array(elements) => (format!("{path}[]"), Some(elements.len() as f64)),
                leaf => (path.to_owned(), leaf.as_f64()),
            };
            if number.is_some() {
                found.entry(path).or_insert_with(|| vec![None; cases.len()])[case] = number;
            }
        });
    }
    let differs = |values: &Vec<Option<f64>>| {
        let mut numbers = values.iter().flatten();
        let first = numbers.next();
        numbers.any(|number| Some(number) != first)
    };
    found.into_iter().filter(|(_, values)| differs(values)).map(|(path, values)| Quantity { path, values }).collect()
}

/// Gives the values of a test case that have no fields to `take`, with their paths. Lists are such values: elements of
/// them are not looked into. `ignored_paths` are passed over, and so is any field called `seed`.
pub(crate) fn leaves<'a>(
    value: &'a Value,
    path: &str,
    ignored_paths: &BTreeSet<String>,
    take: &mut dyn FnMut(&str, &'a Value),
) {
    let Value::Object(fields) = value else { return take(path, value) };
    for (name, value) in fields {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if name != SEED && !ignored_paths.contains(&path) {
            leaves(value, &path, ignored_paths, take);
        }
    }
}

impl Quantity {
    /// Returns how much of it a second has of each test case.
    fn per(&self, seconds: &[f64]) -> Self {
        let values = self.values.iter().zip(seconds).map(|(value, seconds)| Some((*value)? / seconds));
        Self { path: self.path.clone(), values: values.collect() }
    }

    /// Returns all test cases by value, those last that have none.
    fn sorted(&self, highest_first: bool) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        // Sorting is stable, so equals stay in the order of their numbers.
        order.sort_by(|&one, &other| match (self.values[one], self.values[other]) {
            (Some(one), Some(other)) if highest_first => other.total_cmp(&one),
            (Some(one), Some(other)) => one.total_cmp(&other),
            (one, other) => other.is_some().cmp(&one.is_some()),
        });
        order
    }

    /// Returns the quartile of each test case, from 0; 4 for those without a value.
    fn quartiles(&self) -> Vec<usize> {
        let mut sorted: Vec<f64> = self.values.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let bounds = [1, 2, 3].map(|quarter| sorted[quarter * sorted.len() / 4]);
        let quartile = |value: f64| bounds.iter().filter(|bound| value >= **bound).count();
        self.values.iter().map(|value| value.map_or(bounds.len() + 1, quartile)).collect()
    }
}

/// Takes from each of `orders` in turn the first that was not taken yet.
fn in_turn<'a>(cases: usize, orders: impl Iterator<Item = &'a Vec<usize>>) -> Vec<usize> {
    let mut rests: Vec<_> = orders.map(|order| order.iter().copied()).collect();
    let (mut taken, mut order) = (vec![false; cases], Vec::with_capacity(cases));
    while order.len() < cases {
        for rest in &mut rests {
            if let Some(case) = rest.find(|&case| !taken[case]) {
                taken[case] = true;
                order.push(case);
            }
        }
    }
    order
}

/// Covers the pairs of quartiles of two quantities greedily, again and again.
fn pairwise(cases: usize, quantities: &[Quantity]) -> Vec<usize> {
    const LEVELS: usize = 5;
    let levels: Vec<Vec<usize>> = quantities.iter().map(Quantity::quartiles).collect();
    // Each pair of quantities, or the one with itself, and what a test case covers of it.
    let mut pairs: Vec<(usize, usize)> =
        (0..levels.len()).flat_map(|one| (one + 1..levels.len()).map(move |other| (one, other))).collect();
    if pairs.is_empty() {
        pairs.push((0, 0));
    }
    let covers = |case: usize| {
        let (pairs, levels) = (&pairs, &levels);
        pairs.iter().enumerate().map(move |(place, &(one, other))| {
            place * LEVELS * LEVELS + levels[one][case] * LEVELS + levels[other][case]
        })
    };
    let mut order = Vec::with_capacity(cases);
    let mut rest: Vec<usize> = (0..cases).collect();
    while !rest.is_empty() {
        let mut covered = vec![false; pairs.len() * LEVELS * LEVELS];
        // Gains only fall, so one that is on top and still true is the highest, and of the lowest number of those.
        let mut queue: BinaryHeap<(usize, Reverse<usize>)> =
            rest.iter().map(|&case| (pairs.len(), Reverse(case))).collect();
        rest.clear();
        while let Some((gain, Reverse(case))) = queue.pop() {
            let gain_now = covers(case).filter(|&pair| !covered[pair]).count();
            if gain_now == 0 {
                rest.push(case);
            } else if gain_now == gain {
                covers(case).for_each(|pair| covered[pair] = true);
                order.push(case);
            } else {
                queue.push((gain_now, Reverse(case)));
            }
        }
        rest.sort_unstable();
    }
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn order<'a>(rules: &'a [RuleOfThumb], name: &str) -> &'a [usize] {
        let names: Vec<&str> = rules.iter().map(|rule| rule.name.as_str()).collect();
        &rules.iter().find(|rule| rule.name == name).unwrap_or_else(|| panic!("no {name} in {names:?}")).order
    }

    fn paths(cases: &[Value], ignored: &[&str]) -> Vec<String> {
        let ignored = ignored.iter().map(|&path| path.to_owned()).collect();
        quantities(cases, &ignored).into_iter().map(|quantity| quantity.path).collect()
    }

    #[test]
    fn quantities_are_numbers_at_fixed_paths_and_lengths_of_lists() {
        let cases = [
            json!({ "drop": 0.1, "seed": 1, "link": { "delay": 3, "seed": 1, "name": "a" }, "sent": [1, 2], "same": 1, "flag": true }),
            json!({ "drop": 0.2, "seed": 2, "link": { "delay": 4, "seed": 2, "name": "b" }, "sent": [], "same": 1, "flag": false }),
        ];
        assert_eq!(paths(&cases, &[]), ["drop", "link.delay", "sent[]"]);
        assert_eq!(paths(&cases, &["link", "sent"]), ["drop"]);
        assert_eq!(paths(&cases, &["link.delay"]), ["drop", "sent[]"]);
        assert_eq!(rules(&cases[..1], &BTreeSet::new(), &[1.0]), [], "nothing differs");
        assert_eq!(rules(&[], &BTreeSet::new(), &[]), []);
    }

    #[test]
    fn the_highest_and_the_lowest_come_first_and_those_without_a_value_last() {
        let cases = [json!({}), json!({ "a": 2 }), json!({ "a": null }), json!({ "a": 5.5 }), json!({ "a": 2 })];
        let rules = rules(&cases, &BTreeSet::new(), &vec![1.0; cases.len()]);
        assert_eq!(order(&rules, "highest a"), [3, 1, 4, 0, 2]);
        assert_eq!(order(&rules, "lowest a"), [1, 4, 3, 0, 2]);
    }

    #[test]
    fn a_second_counts_where_test_cases_take_different_times() {
        let cases: Vec<Value> = [8, 4, 1].map(|a| json!({ "a": a })).into();
        let names = |rules: Vec<RuleOfThumb>| rules.into_iter().map(|rule| rule.name).collect::<Vec<_>>();
        assert_eq!(
            names(rules(&cases, &BTreeSet::new(), &[1.0; 3])),
            ["highest a", "lowest a", "boundary", "pairwise"]
        );
        let rules = rules(&cases, &BTreeSet::new(), &[4.0, 1.0, 2.0]);
        assert_eq!(order(&rules, "a per second"), [1, 0, 2]);
        assert_eq!(order(&rules, "cheapest"), [1, 2, 0]);
    }

    #[test]
    fn boundary_takes_both_ends_of_each_quantity_in_turn() {
        let cases: Vec<Value> = [(5, 1), (1, 2), (9, 3), (2, 9), (3, 4)].map(|(a, b)| json!({ "a": a, "b": b })).into();
        let rules = rules(&cases, &BTreeSet::new(), &vec![1.0; cases.len()]);
        // Lowest a, highest a, lowest b, highest b, and what is left.
        assert_eq!(order(&rules, "boundary"), [1, 2, 0, 3, 4]);
    }

    #[test]
    fn pairwise_of_one_quantity_covers_its_quartiles() {
        let cases: Vec<Value> = (0..8).map(|a| json!({ "a": a })).collect();
        assert_eq!(
            order(&rules(&cases, &BTreeSet::new(), &vec![1.0; cases.len()]), "pairwise"),
            [0, 2, 4, 6, 1, 3, 5, 7]
        );
    }

    /// Which pairs of quartiles of two quantities a test case has.
    fn pairs(cases: &[Value]) -> Vec<BTreeSet<(usize, usize, usize, usize)>> {
        let quartiles: Vec<Vec<usize>> = quantities(cases, &BTreeSet::new()).iter().map(Quantity::quartiles).collect();
        let of = |case: usize| {
            let all = (0..quartiles.len()).flat_map(|one| (one + 1..quartiles.len()).map(move |other| (one, other)));
            all.map(|(one, other)| (one, other, quartiles[one][case], quartiles[other][case])).collect()
        };
        (0..cases.len()).map(of).collect()
    }

    fn universe() -> impl Strategy<Value = Vec<Value>> {
        let case = (prop::option::weighted(0.9, 0..6_i32), -3.0..3.0, 0..4_usize)
            .prop_map(|(a, b, length)| json!({ "a": a, "deep": { "b": b }, "c": vec![0; length] }));
        prop::collection::vec(case, 0..40)
    }

    proptest! {
        #[test]
        fn every_order_has_each_test_case_once(cases in universe()) {
            for rule in rules(&cases, &BTreeSet::new(), &vec![1.0; cases.len()]) {
                let mut sorted = rule.order.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..cases.len()).collect::<Vec<_>>(), "{}", rule.name);
            }
        }

        #[test]
        fn pairwise_takes_most_new_pairs_each_time(cases in universe()) {
            let (rules, pairs) = (rules(&cases, &BTreeSet::new(), &vec![1.0; cases.len()]), pairs(&cases));
            prop_assume!(pairs.first().is_some_and(|pairs| !pairs.is_empty()));
            let order = order(&rules, "pairwise");
            let mut covered = BTreeSet::new();
            for (place, &taken) in order.iter().enumerate() {
                let best = |covered: &BTreeSet<_>| {
                    let gain = |case: usize| pairs[case].difference(covered).count();
                    let rest = (0..cases.len()).filter(|case| !order[..place].contains(case));
                    rest.map(|case| (gain(case), Reverse(case))).max().expect("one is left")
                };
                if best(&covered).0 == 0 {
                    covered.clear();
                }
                prop_assert_eq!(best(&covered).1, Reverse(taken));
                covered.extend(&pairs[taken]);
            }
        }

        #[test]
        fn both_ends_are_sorted_by_value_and_number(cases in universe()) {
            let rules = rules(&cases, &BTreeSet::new(), &vec![1.0; cases.len()]);
            for quantity in quantities(&cases, &BTreeSet::new()) {
                for (end, sign) in [("highest", -1.0), ("lowest", 1.0)] {
                    let order = order(&rules, &format!("{end} {}", quantity.path));
                    let key = |&case: &usize| (quantity.values[case].map_or(f64::INFINITY, |value| sign * value), case);
                    prop_assert!(order.iter().map(key).is_sorted());
                }
            }
        }
    }
}
