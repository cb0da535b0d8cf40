//! What test cases of the universe have, and none of a suite does: faults that only this shows, it cannot find.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_outcomes::Outcomes;

use crate::score::percent;

/// How likely a random suite has none of what is called absent, at most.
const BY_CHANCE_MAX: f64 = 0.05;

/// The maximum number of features that are named.
const NAMED_MAX: usize = 5;

/// The maximum number of features whose shares are shown.
const SHARES_MAX: usize = 12;

/// What a larger share of the universe has, nearly all test cases have.
const SOME_MAX: f64 = 0.95;

/// Something that a test case has or has not.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feature {
    /// A list that is not empty.
    Some(String),
    /// A number that is not 0.
    NotZero(String),
    /// A switch that is on.
    IsTrue(String),
    /// A field with this text.
    Is(String, String),
}

/// A feature that no test case of a suite has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AbsentFeature {
    /// What none has.
    pub feature: Feature,
    /// The share of the universe that has it.
    pub share: f64,
}

/// How many test cases have something that others do without.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureShare {
    /// What they have.
    pub feature: Feature,
    /// The share of the suite that has it.
    pub suite: f64,
    /// The share of the universe that has it, between 0 and 1.
    pub universe: f64,
}

impl FeatureShare {
    /// Returns whether the suite has less than half of the universe's share.
    pub fn is_rare(&self) -> bool {
        2.0 * self.suite < self.universe
    }
}

impl Feature {
    /// Returns the path of the field that it is about.
    fn path(&self) -> &str {
        match self {
            Self::Some(path) | Self::NotZero(path) | Self::IsTrue(path) | Self::Is(path, _) => path,
        }
    }
}

impl std::fmt::Display for Feature {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Some(path) => formatter.write_str(path),
            Self::NotZero(path) => write!(formatter, "{path} other than 0"),
            Self::IsTrue(path) => write!(formatter, "{path}: true"),
            Self::Is(path, text) => write!(formatter, "{path}: {text}"),
        }
    }
}

impl std::fmt::Display for AbsentFeature {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({} of the universe)", self.feature, percent(self.share))
    }
}

/// Returns what no test case of the suite has, though a random suite of its size would have had it with a probability
/// of 95 %; what most have first, at most five features. Of a list that is absent its elements are not named.
pub(crate) fn absent_features(outcomes: &Outcomes, suite: &[usize]) -> Vec<AbsentFeature> {
    let chance = chance(outcomes);
    let of_case = |case: usize| features(outcomes, &chance, case);
    let universe = outcomes.cases.len();
    let mut counts: BTreeMap<Feature, usize> = BTreeMap::new();
    (0..universe).flat_map(of_case).for_each(|feature| *counts.entry(feature).or_default() += 1);
    let present: BTreeSet<Feature> = suite.iter().flat_map(|&case| of_case(case)).collect();
    let mut absent: Vec<AbsentFeature> = counts
        .into_iter()
        .filter(|(feature, _)| !present.contains(feature))
        .map(|(feature, count)| AbsentFeature { feature, share: count as f64 / universe as f64 })
        .filter(|absent| (1.0 - absent.share).powi(suite.len() as i32) <= BY_CHANCE_MAX)
        .collect();
    let lists: Vec<String> = absent
        .iter()
        .filter_map(|absent| match &absent.feature {
            Feature::Some(path) => Some(format!("{path}[]")),
            _ => None,
        })
        .collect();
    absent.retain(|absent| !lists.iter().any(|list| absent.feature.path().starts_with(list.as_str())));
    absent.sort_by(|one, other| other.share.total_cmp(&one.share).then_with(|| one.feature.cmp(&other.feature)));
    absent.truncate(NAMED_MAX);
    absent
}

/// Returns of what some test cases of the universe have and others do without, as faults are, how many of the suite and
/// of the universe have it; what most have first. What is in the elements of lists, and texts, are left out.
pub(crate) fn feature_shares(outcomes: &Outcomes, suite: &[usize]) -> Vec<FeatureShare> {
    if suite.is_empty() {
        return Vec::new();
    }
    let chance = chance(outcomes);
    let mut counts: BTreeMap<Feature, (usize, usize)> = BTreeMap::new();
    let of_case = |case: usize| {
        let is_shown = |feature: &Feature| !matches!(feature, Feature::Is(..)) && !feature.path().contains("[]");
        features(outcomes, &chance, case).into_iter().filter(is_shown)
    };
    let universe = outcomes.cases.len();
    (0..universe).flat_map(of_case).for_each(|feature| counts.entry(feature).or_default().1 += 1);
    suite.iter().flat_map(|&case| of_case(case)).for_each(|feature| counts.entry(feature).or_default().0 += 1);
    let share = |(feature, (of_suite, of_universe)): (Feature, (usize, usize))| FeatureShare {
        feature,
        suite: of_suite as f64 / suite.len() as f64,
        universe: of_universe as f64 / universe as f64,
    };
    let mut shares: Vec<FeatureShare> = counts.into_iter().map(share).collect();
    shares.retain(|share| share.universe <= SOME_MAX);
    shares.sort_by(|one, other| other.universe.total_cmp(&one.universe).then_with(|| one.feature.cmp(&other.feature)));
    shares.truncate(SHARES_MAX);
    shares
}

/// The paths of what is drawn anew when a test case is re-seeded.
fn chance(outcomes: &Outcomes) -> BTreeSet<&str> {
    outcomes.reseeded.iter().flat_map(|reseeded| &reseeded.chance).map(String::as_str).collect()
}

/// What a test case has, but for chance.
fn features(outcomes: &Outcomes, chance: &BTreeSet<&str>, case: usize) -> BTreeSet<Feature> {
    let mut features = BTreeSet::new();
    add(&outcomes.cases[case].case, "", &mut features);
    features.retain(|feature| !chance.contains(feature.path()));
    features
}

fn add(value: &Value, path: &str, features: &mut BTreeSet<Feature>) {
    match value {
        Value::Null | Value::Bool(false) => {}
        Value::Bool(true) => _ = features.insert(Feature::IsTrue(path.to_owned())),
        Value::Number(number) if number.as_f64() == Some(0.0) => {}
        Value::Number(_) => _ = features.insert(Feature::NotZero(path.to_owned())),
        Value::String(text) => _ = features.insert(Feature::Is(path.to_owned(), text.clone())),
        Value::Array(elements) => {
            if !elements.is_empty() {
                features.insert(Feature::Some(path.to_owned()));
            }
            elements.iter().for_each(|element| add(element, &format!("{path}[]"), features));
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                add(value, &path, features);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use simutant_synthetic::reseeded;

    use super::*;

    /// Test cases of which the first half has crashes and the last quarter another mode; all have packets and a seed.
    fn outcomes() -> Outcomes {
        let rows = [[1_u8; 40]; 1];
        let mut outcomes = reseeded(&[&rows[0]]);
        for (number, case) in outcomes.cases.iter_mut().enumerate() {
            let crashes = if number < 20 { vec![json!({ "at": 5, "who": "server" })] } else { Vec::new() };
            let mode = if number < 30 { "calm" } else { "wild" };
            let lossy = number % 10 == 0;
            case.case =
                json!({ "crashes": crashes, "packets": 9, "mode": mode, "lossy": lossy, "seed": number, "none": null });
        }
        outcomes
    }

    #[test]
    fn what_many_test_cases_have_and_none_of_the_suite_is_absent() {
        let outcomes = outcomes();
        let check = |suite: &[usize], expect: &[&str]| {
            let absent: Vec<String> = absent_features(&outcomes, suite).iter().map(ToString::to_string).collect();
            assert_eq!(absent, expect, "{suite:?}");
        };
        let calm: Vec<usize> = (21..30).collect();
        // One of ten has `lossy`: of nine at random all may lack it.
        check(&calm, &["crashes (50.0 % of the universe)"]);
        check(&(1..10).chain(11..20).collect::<Vec<_>>(), &["mode: wild (25.0 % of the universe)"]);
        check(&[21, 22], &[]);
        check(&[0, 35], &[]);
        check(&[], &[]);
    }

    #[test]
    fn shares_are_of_what_some_test_cases_do_without() {
        let outcomes = outcomes();
        let shares: Vec<(String, f64, f64, bool)> = feature_shares(&outcomes, &[0, 21, 22, 23, 25])
            .iter()
            .map(|share| (share.feature.to_string(), share.suite, share.universe, share.is_rare()))
            .collect();
        assert_eq!(shares, [("crashes".to_owned(), 0.2, 0.5, true), ("lossy: true".to_owned(), 0.2, 0.1, false)]);
        assert_eq!(feature_shares(&outcomes, &[]), []);
    }

    #[test]
    fn what_is_chance_is_no_feature() {
        let mut outcomes = outcomes();
        outcomes.reseeded.as_mut().expect("there are re-seedings").chance =
            vec!["crashes".into(), "crashes[].at".into(), "crashes[].who".into()];
        assert_eq!(absent_features(&outcomes, &(21..30).collect::<Vec<_>>()), []);
    }
}
