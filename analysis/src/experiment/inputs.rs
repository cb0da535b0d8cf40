//! On which inputs implementations fail: tables 4.4 to 4.6, for the fields of any system's test cases.
//!
//! The thesis asks by eye whether failures lie where an input is high. Here each field of a test case that is a
//! quantity is compared between the test cases that fail and those that pass (Mann-Whitney, Vargha-Delaney A12), each
//! that is a kind of thing by its failure rates (Fisher's exact test of one value against all others), corrected for
//! the number of tests of an implementation (Benjamini-Hochberg).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_outcomes::{BitSet, Outcomes, Trials};

use super::subjects::{SubjectClass, SubjectSummary};
use crate::statistics::{Alternative, a12, benjamini_hochberg, fisher_exact, mann_whitney};

/// A field with more values than this is no kind of thing.
const REGIONS_MAX: usize = 16;
/// Integers from here on are no quantities but seeds: no double holds them.
const SEEDS_FROM: f64 = 9_007_199_254_740_992.0;

/// What one field of the test cases has to do with the failures of one implementation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Index into [`Experiment::subjects`](super::Experiment::subjects).
    pub subject: usize,
    /// The field; `[]` after it means the length of a list.
    pub field: String,
    /// What was found.
    pub characteristic: Characteristic,
}

/// How a field and failures go together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Characteristic {
    /// The field is a quantity.
    Quantity {
        /// Its median among the test cases that fail.
        median_failing: f64,
        /// Its median in the universe.
        median: f64,
        /// The probability that it is higher in a test case that fails than in one that passes, equals counting half.
        effect: f64,
        /// The two-sided p-value that it is not different, corrected.
        p: f64,
    },
    /// The field is one of a few things.
    Regions(Vec<Region>),
}

/// The test cases in which a field has one value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// The value.
    pub value: String,
    /// How many test cases have it.
    pub cases: usize,
    /// How many of them fail.
    pub failed: usize,
    /// The two-sided p-value that they fail as often as the others, corrected.
    pub p: f64,
}

/// A field of all test cases.
enum Field {
    Quantity(Vec<f64>),
    Kind(Vec<String>),
}

/// Looks at each field of the test cases for each implementation that counts.
pub(super) fn characterise(outcomes: &Outcomes, trials: &Trials, subjects: &[SubjectSummary]) -> Vec<Input> {
    let fields = fields(outcomes.cases.iter().map(|case| &case.case));
    let mut inputs = Vec::new();
    for (subject, summary) in subjects.iter().enumerate() {
        if summary.class != SubjectClass::Counted {
            continue;
        }
        // Repetitions of one test case are no further inputs: it fails if it does at least once.
        let mut failed = trials.subjects[subject].failed.clone();
        trials.subjects[subject].again.iter().for_each(|again| failed.union_with(again));
        let mut found: Vec<Input> = fields
            .iter()
            .filter_map(|(name, field)| {
                let characteristic = match field {
                    Field::Quantity(values) => quantity(values, &failed)?,
                    Field::Kind(values) => Characteristic::Regions(regions(values, &failed)),
                };
                Some(Input { subject, field: name.clone(), characteristic })
            })
            .collect();
        correct(&mut found);
        inputs.extend(found);
    }
    inputs
}

/// Returns the fields that every test case has, by name.
fn fields<'a>(cases: impl Iterator<Item = &'a Value>) -> BTreeMap<String, Field> {
    let mut values: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    let mut count = 0;
    for case in cases {
        count += 1;
        for (name, value) in case.as_object().into_iter().flatten() {
            values.entry(name.clone()).or_default().push(value);
        }
    }
    values.retain(|_, values| values.len() == count);
    values.into_iter().filter_map(|(name, values)| named_field(name, &values)).collect()
}

fn named_field(name: String, values: &[&Value]) -> Option<(String, Field)> {
    let numbers =
        |of: &dyn Fn(&Value) -> Option<f64>| values.iter().map(|value| of(value)).collect::<Option<Vec<f64>>>();
    if let Some(numbers) = numbers(&|value| value.as_f64()) {
        let is_seed = numbers.iter().any(|number| number.abs() >= SEEDS_FROM);
        return (!is_seed).then_some((name, Field::Quantity(numbers)));
    }
    if let Some(lengths) = numbers(&|value| Some(value.as_array()?.len() as f64)) {
        return Some((format!("{name}[]"), Field::Quantity(lengths)));
    }
    let kind = |value: &&Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Null => Some(value.to_string()),
        _ => None,
    };
    let kinds = values.iter().map(kind).collect::<Option<Vec<String>>>()?;
    let mut different: Vec<&String> = kinds.iter().collect();
    different.sort_unstable();
    different.dedup();
    (different.len() <= REGIONS_MAX).then_some((name, Field::Kind(kinds)))
}

fn quantity(values: &[f64], failed: &BitSet) -> Option<Characteristic> {
    let of = |fails: bool| -> Vec<f64> {
        values.iter().enumerate().filter(|(case, _)| failed.contains(*case) == fails).map(|(_, value)| *value).collect()
    };
    let (failing, passing) = (of(true), of(false));
    Some(Characteristic::Quantity {
        median_failing: median(&failing)?,
        median: median(values)?,
        effect: a12(&failing, &passing)?,
        // All values are equal where there is no test.
        p: mann_whitney(&failing, &passing, Alternative::TwoSided).map_or(1.0, |test| test.p),
    })
}

/// Returns the median; `None` without values.
pub(super) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some(f64::midpoint(sorted[low], sorted[high]))
}

fn regions(values: &[String], failed: &BitSet) -> Vec<Region> {
    let mut counts: BTreeMap<&String, (usize, usize)> = BTreeMap::new();
    for (case, value) in values.iter().enumerate() {
        let (cases, failures) = counts.entry(value).or_default();
        *cases += 1;
        *failures += usize::from(failed.contains(case));
    }
    let (all, all_failed) = (values.len(), failed.count_ones(..));
    counts
        .into_iter()
        .map(|(value, (cases, failed))| {
            let (others, others_failed) = (all - cases, all_failed - failed);
            let table = [[failed, cases - failed], [others_failed, others - others_failed]];
            let p = fisher_exact(table, Alternative::TwoSided).p;
            Region { value: value.clone(), cases, failed, p }
        })
        .collect()
}

/// Corrects the p-values of one implementation for their number.
fn correct(inputs: &mut [Input]) {
    let mut ps: Vec<&mut f64> = inputs
        .iter_mut()
        .flat_map(|input| match &mut input.characteristic {
            Characteristic::Quantity { p, .. } => vec![p],
            Characteristic::Regions(regions) => regions.iter_mut().map(|region| &mut region.p).collect(),
        })
        .collect();
    let corrected = benjamini_hochberg(&ps.iter().map(|p| **p).collect::<Vec<_>>());
    ps.iter_mut().zip(corrected).for_each(|(p, corrected)| **p = corrected);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(cases: &[Value]) -> BTreeMap<String, Field> {
        fields(cases.iter())
    }

    #[test]
    fn fields_are_quantities_kinds_or_neither() {
        let cases = [
            json!({ "drop": 0.1, "seed": 17_446_744_073_709_551_615_u64, "topology": "Duo", "messages": [1, 2], "deep": {}, "some": 1 }),
            json!({ "drop": 0.2, "seed": 3, "topology": "3-Line", "messages": [], "deep": {} }),
        ];
        let found = of(&cases);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["drop", "messages[]", "topology"]);
        assert!(matches!(&found["messages[]"], Field::Quantity(lengths) if lengths == &[2.0, 0.0]));
        assert!(matches!(&found["topology"], Field::Kind(kinds) if kinds == &["Duo", "3-Line"]));
        let names: Vec<Value> = (0..40).map(|name| json!({ "name": name.to_string() })).collect();
        assert!(of(&names).is_empty(), "what differs everywhere is no kind of thing");
        assert!(of(&[json!(7)]).is_empty());
    }

    #[test]
    fn failures_at_high_values_show_in_the_median() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let failed: BitSet = (80..100).collect();
        let Some(Characteristic::Quantity { median_failing, median, effect, p }) = quantity(&values, &failed) else {
            panic!("there are failures and passes")
        };
        assert_eq!((median_failing, median, effect), (89.5, 49.5, 1.0));
        assert!(p < 1e-10, "{p}");
    }

    #[test]
    fn a_region_that_fails_more_often_is_told() {
        let values: Vec<String> = (0..40).map(|case| if case < 10 { "a" } else { "b" }.to_owned()).collect();
        let mut failed: BitSet = (0..8).collect();
        failed.grow(40);
        let found = regions(&values, &failed);
        assert_eq!((found[0].cases, found[0].failed, found[1].cases, found[1].failed), (10, 8, 30, 0));
        // C(10, 8) / C(40, 8): no other table is as unlikely.
        assert!((found[0].p - 45.0 / 76_904_685.0).abs() < 1e-12, "{}", found[0].p);
        assert_eq!(found[0].p, found[1].p);
    }
}
