//! Test cases that are alike in what transfers to a real program: what happens on one says something about the others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::rules::{leaves, quantities};

/// For each test case all others that are near, the nearest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Neighbours(Vec<Vec<u32>>);

impl Neighbours {
    /// Finds the `count` nearest of each test case; of equally near ones the first. Distances are Euclidean: a number,
    /// or the length of a list, is as far from another as the share of the universe that lies between; texts, truth
    /// values and what one test case has and another lacks are as far apart as the ends of the universe. What is chance
    /// does not count, nor do elements of lists.
    ///
    /// Cost O(cases^2 * (features + log count)).
    pub(super) fn new(cases: &[Value], chance: &BTreeSet<String>, count: usize) -> Self {
        let features = features(cases, chance);
        let distance = |one: usize, other: usize| -> f64 {
            features.iter().map(|feature| feature.squared_distance(one, other)).sum()
        };
        let of_case = |case: usize| {
            let mut others: Vec<(f64, u32)> = (0..cases.len())
                .filter(|other| *other != case)
                .map(|other| (distance(case, other), other as u32))
                .collect();
            let order = |one: &(f64, u32), other: &(f64, u32)| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1));
            if count < others.len() {
                others.select_nth_unstable_by(count, order);
                others.truncate(count);
            }
            others.sort_unstable_by(order);
            others.into_iter().map(|(_, other)| other).collect()
        };
        Self((0..cases.len()).map(of_case).collect())
    }

    /// Returns the nearest of a test case.
    pub(super) fn of(&self, case: usize) -> &[u32] {
        &self.0[case]
    }
}

/// Something that test cases have in common, and that differs between them.
#[derive(Debug)]
enum Feature {
    /// By test case, what share of the universe has a smaller number; `None` where there is none.
    Ranks(Vec<Option<f64>>),
    /// By test case, which of several values it has; 0 where there is none.
    Values(Vec<usize>),
}

impl Feature {
    fn squared_distance(&self, one: usize, other: usize) -> f64 {
        match self {
            Self::Ranks(ranks) => match (ranks[one], ranks[other]) {
                (Some(one), Some(other)) => (one - other) * (one - other),
                (None, None) => 0.0,
                _ => 1.0,
            },
            Self::Values(values) => f64::from(u8::from(values[one] != values[other])),
        }
    }
}

fn features(cases: &[Value], chance: &BTreeSet<String>) -> Vec<Feature> {
    let ranks = quantities(cases, chance).into_iter().map(|quantity| {
        let mut sorted: Vec<f64> = quantity.values.iter().flatten().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1).max(1) as f64;
        // Equal numbers have the rank in their middle.
        let rank = |value: f64| {
            let (first, end) =
                (sorted.partition_point(|other| *other < value), sorted.partition_point(|other| *other <= value));
            (first + end - 1) as f64 / (2.0 * last)
        };
        Feature::Ranks(quantity.values.into_iter().map(|value| value.map(rank)).collect())
    });
    let mut texts: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        leaves(case, "", chance, &mut |path, leaf| {
            if matches!(leaf, Value::Bool(_) | Value::String(_)) {
                texts.entry(path.to_owned()).or_insert_with(|| vec![None; cases.len()])[number] =
                    Some(leaf.to_string());
            }
        });
    }
    let values = texts.into_values().map(|texts| {
        let known: BTreeSet<&String> = texts.iter().flatten().collect();
        let known: BTreeMap<&String, usize> = known.into_iter().zip(1..).collect();
        let number = |text: &Option<String>| text.as_ref().and_then(|text| known.get(text)).copied().unwrap_or(0);
        Feature::Values(texts.iter().map(number).collect())
    });
    ranks.chain(values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(cases: &[Value], count: usize, expect: &[&[u32]]) {
        let found = Neighbours::new(cases, &["seed".to_owned()].into(), count);
        assert_eq!((0..cases.len()).map(|case| found.of(case)).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn those_with_near_numbers_are_near_whatever_their_chance() {
        let case = |loss: u32, seed: u32| json!({ "loss": loss, "seed": seed });
        check(&[case(1, 9), case(2, 1), case(300, 9), case(4, 5)], 2, &[&[1, 3], &[0, 3], &[3, 1], &[1, 2]]);
    }

    #[test]
    fn another_text_is_as_far_as_the_other_end() {
        let case = |loss: u32, topology: &str| json!({ "loss": loss, "topology": topology });
        let cases = [case(1, "line"), case(2, "ring"), case(3, "line"), case(4, "ring")];
        check(&cases, 1, &[&[2], &[3], &[0], &[1]]);
    }

    #[test]
    fn elements_of_lists_count_by_their_number_alone() {
        let case = |list: &[u32]| json!({ "list": list });
        check(&[case(&[7]), case(&[1, 2, 3]), case(&[9])], 1, &[&[2], &[0], &[0]]);
    }
}
