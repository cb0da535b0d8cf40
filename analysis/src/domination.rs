//! Which suites dominate others: they are no larger and no worse, and better in something.

use std::cmp::Reverse;

use simutant_outcomes::BitSet;

use crate::criteria::CriterionAnalysis;
use crate::expected::Expected;
use crate::kills::KillsByCase;
use crate::suites::{AdequateSuite, SuiteIndex};

/// Shares that differ by less are equal: sums in another order differ in their last bits.
const EQUAL: f64 = 1e-9;

/// What a suite is held against others by, as whole numbers. The order is that of preference: many mutants with one
/// kill row count once before they count each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SuiteValue {
    /// What it kills if each kill row counts once.
    rows: i64,
    /// What it kills of the dominator classes.
    dominators: i64,
    /// What it kills of the mutants.
    mutants: i64,
    /// How many test cases it has.
    size: Reverse<usize>,
}

impl SuiteValue {
    /// Returns the value of a suite that is expected to kill these shares.
    pub(crate) fn expected(size: usize, mutants: f64, dominators: f64, rows: f64) -> Self {
        let whole = |share: f64| (share / EQUAL).round() as i64;
        Self { rows: whole(rows), dominators: whole(dominators), mutants: whole(mutants), size: Reverse(size) }
    }

    /// Returns the value of a suite that kills so many.
    pub(crate) fn killed(size: usize, mutants: usize, dominators: usize, rows: usize) -> Self {
        Self { rows: rows as i64, dominators: dominators as i64, mutants: mutants as i64, size: Reverse(size) }
    }

    /// Returns whether the suite is no larger than another, kills no fewer mutants and no fewer dominators, and is
    /// better in one of these.
    pub(crate) fn dominates(self, other: Self) -> bool {
        let values = |value: Self| (value.size, value.mutants, value.dominators);
        let (own, others) = (values(self), values(other));
        own.0 >= others.0 && own.1 >= others.1 && own.2 >= others.2 && own != others
    }
}

/// The values of all suites of a study.
#[derive(Debug)]
pub(crate) struct SuiteValues(Vec<Vec<SuiteValue>>);

impl SuiteValues {
    /// Returns the values by expected scores where test cases were re-seeded, and else by what suites kill on the
    /// seeds of the universe; `rows` has one mutant of each different kill row.
    pub(crate) fn new(
        criteria: &[CriterionAnalysis],
        expected: Option<&Expected>,
        kills: &KillsByCase,
        rows: &BitSet,
    ) -> Self {
        let of_criterion = |(index, criterion): (usize, &CriterionAnalysis)| {
            let expected = expected.and_then(|expected| expected.of_criterion(index));
            let value = |(number, suite): (usize, &AdequateSuite)| match expected {
                Some(expected) => SuiteValue::expected(
                    suite.cases.len(),
                    expected.suites[number].mean,
                    expected.suites_on_dominators.get(number).copied().unwrap_or(0.0),
                    expected.suites_by_row[number],
                ),
                None => SuiteValue::killed(
                    suite.cases.len(),
                    suite.killed,
                    suite.dominators_killed,
                    kills.of_suite(&suite.cases).intersection_count(rows),
                ),
            };
            criterion.suites.iter().enumerate().map(value).collect()
        };
        Self(criteria.iter().enumerate().map(of_criterion).collect())
    }

    /// Returns the preferred suite of a criterion, of equals the one drawn first; `None` if it has none.
    pub(crate) fn best(&self, criterion: usize) -> Option<usize> {
        let suites = self.0[criterion].iter().enumerate();
        suites.min_by_key(|(_, value)| Reverse(**value)).map(|(suite, _)| suite)
    }

    /// Returns whether a suite dominates another.
    pub(crate) fn dominates(&self, suite: SuiteIndex, other: SuiteIndex) -> bool {
        let value = |of: SuiteIndex| self.0[of.criterion][of.suite];
        value(suite).dominates(value(other))
    }

    /// Returns the preferred one of the suites that dominate a suite and are themselves not dominated; `None` if no
    /// suite dominates it.
    pub(crate) fn dominating(&self, suite: SuiteIndex) -> Option<SuiteIndex> {
        let mut found = None;
        let mut value = self.0[suite.criterion][suite.suite];
        // Each is better in something than the one before, and worse in nothing, so that this ends.
        while let Some((next, of_next)) = self.preferred(|other| other.dominates(value)) {
            found = Some(next);
            value = of_next;
        }
        found
    }

    /// Returns the preferred suite among some.
    fn preferred(&self, is_kept: impl Fn(SuiteValue) -> bool) -> Option<(SuiteIndex, SuiteValue)> {
        let of_criterion = |(criterion, values): (usize, &Vec<SuiteValue>)| {
            let suites = values.iter().enumerate();
            suites.map(|(suite, value)| (SuiteIndex { criterion, suite }, *value)).collect::<Vec<_>>()
        };
        let all = self.0.iter().enumerate().flat_map(of_criterion);
        all.filter(|(_, value)| is_kept(*value)).min_by_key(|(_, value)| Reverse(*value))
    }
}

/// Returns the preferred one of the drawn suites that dominate a suite that was built; `None` if none does. `value_of`
/// gives the values of drawn suites, `None` for those that cannot stand for the built one.
pub(crate) fn dominating_built(
    criteria: &[CriterionAnalysis],
    built: SuiteValue,
    value_of: impl Fn(SuiteIndex, &AdequateSuite) -> Option<SuiteValue>,
) -> Option<SuiteIndex> {
    let of_criterion = |(index, criterion): (usize, &CriterionAnalysis)| {
        let suites = criterion.suites.iter().enumerate();
        let dominating = suites.filter_map(|(suite, drawn)| {
            let choice = SuiteIndex { criterion: index, suite };
            value_of(choice, drawn).filter(|value| value.dominates(built)).map(|value| (choice, value))
        });
        dominating.collect::<Vec<_>>()
    };
    let all = criteria.iter().enumerate().flat_map(of_criterion);
    all.min_by_key(|(_, value)| Reverse(*value)).map(|(choice, _)| choice)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use simutant_synthetic::{from_kills, on_own_seeds, synthetic, tagged};

    use crate::{Analysis, AnalysisOptions, analyse};

    fn options() -> AnalysisOptions {
        AnalysisOptions {
            suites: 8,
            resamples: 100,
            boosting_repetitions: 2,
            boosting_suites_max: 2,
            ..AnalysisOptions::default()
        }
    }

    /// What is shown of each suite: its size, and what it kills of mutants and of dominators.
    fn shown(analysis: &Analysis) -> Vec<Vec<(usize, f64, f64)>> {
        let of_criterion = |(number, criterion): (usize, &crate::CriterionAnalysis)| {
            let expected = analysis.expected.as_ref().and_then(|expected| expected.of_criterion(number));
            let of_suite = |(suite, drawn): (usize, &crate::AdequateSuite)| match expected {
                Some(expected) => {
                    let dominators = expected.suites_on_dominators.get(suite).copied().unwrap_or(0.0);
                    (drawn.cases.len(), expected.suites[suite].mean, dominators)
                }
                None => (drawn.cases.len(), drawn.killed as f64, drawn.dominators_killed as f64),
            };
            criterion.suites.iter().enumerate().map(of_suite).collect()
        };
        analysis.criteria.iter().enumerate().map(of_criterion).collect()
    }

    #[track_caller]
    fn check_not_dominated(analysis: &Analysis) {
        let Some(recommendation) = &analysis.recommendation else { return };
        let shown = shown(analysis);
        let (size, mutants, dominators) = shown[recommendation.choice.criterion][recommendation.choice.suite];
        assert_eq!(recommendation.size, size);
        for other in shown.iter().flatten() {
            let is_no_worse = other.0 <= size && other.1 >= mutants - 1e-8 && other.2 >= dominators - 1e-8;
            let is_better = other.0 < size || other.1 > mutants + 1e-8 || other.2 > dominators + 1e-8;
            assert!(!(is_no_worse && is_better), "{other:?} dominates {:?}", (size, mutants, dominators));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn the_recommended_suite_is_not_dominated(
            mutants in prop::collection::vec((prop::collection::vec(prop_oneof![3 => Just(0), 1 => 0..=8_u8], 11), 0..9_usize), 1..12),
            criteria in prop::collection::vec(prop::collection::vec(prop::collection::vec(prop::bool::weighted(0.3), 4), 11), 2..5),
            is_reseeded: bool,
        ) {
            let outcomes = if is_reseeded { tagged(&mutants, &criteria) } else { on_own_seeds(&mutants, &criteria) };
            check_not_dominated(&analyse(&outcomes, &options()).expect("sound outcomes"));
        }
    }

    #[test]
    fn of_larger_studies_no_dominated_suite_is_recommended_either() {
        for seed in 1..6 {
            check_not_dominated(&analyse(&synthetic(60, seed), &options()).expect("sound outcomes"));
        }
    }

    /// Each suite is one test case. The first kills six mutants with one kill row, the second two with other rows.
    #[test]
    fn many_mutants_with_one_kill_row_count_once() {
        let mut outcomes = from_kills(&["k...", "k...", "k...", "k...", "k...", "k...", ".kk.", ".k.k"]);
        let criterion = &mut outcomes.criteria[0];
        criterion.requirements.truncate(1);
        criterion.covered = (0..4).map(|_| std::iter::once(0).collect()).collect();
        let options = AnalysisOptions { suites: 40, ..options() };
        let analysis = analyse(&outcomes, &options).expect("sound outcomes");
        let recommendation = analysis.recommendation.expect("there are suites");
        let choice = recommendation.choice;
        assert_eq!(analysis.criteria[choice.criterion].suites[choice.suite].cases, [1]);
    }
}
