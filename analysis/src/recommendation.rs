//! What to do: the best suite of the best criterion.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::criteria::CriterionAnalysis;
use crate::domination::SuiteValues;
use crate::expected::Expected;
use crate::expected::beside::ScoresInTime;
use crate::probabilities::ExpectedScore;
use crate::score::Score;
use crate::statistics::Summary;
use crate::suites::{AdequateSuite, SuiteIndex};

/// The suite that the ranking scenario ends with (thesis, section 3.3.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// The suite.
    pub choice: SuiteIndex,
    /// The name of its criterion.
    pub criterion: String,
    /// How many test cases it has.
    pub size: usize,
    /// What it kills of the analysed mutants.
    pub score: Score,
    /// What it kills of the dominator classes.
    pub dominator_score: Score,
    /// What it is expected to kill; `None` without re-seedings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedScore>,
    /// What suites that are built, random ones and rules of thumb are expected to kill in the time that it takes; `None`
    /// without re-seedings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_time: Option<ScoresInTime>,
    /// The best suite of the recommended criterion, if this suite dominates it and is recommended in its place: it is
    /// no larger, kills no fewer mutants and no fewer dominators, and is better in one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<SuiteIndex>,
}

impl Recommendation {
    /// Returns the index of the recommended criterion: the one of the suite, or of the suite that it dominates.
    pub fn recommended_criterion(&self) -> usize {
        self.instead_of.unwrap_or(self.choice).criterion
    }
}

/// Picks the best suite of one of these criteria: of those that none of the others dominates, the one with most test
/// cases, of equals that of the first. With one candidate that is its best suite. If another suite of the study
/// dominates it, that one is picked instead.
///
/// The best suite of a criterion kills most of the different kill rows, of equals most dominators, then most mutants,
/// and then is the smallest: many mutants with one kill row say the same about every suite. All of these are expected
/// ones where test cases were re-seeded: mutants that a suite kills on the seeds of its test cases are luck, as a real
/// program has none of these seeds.
pub(crate) fn recommend_largest(
    criteria: &[CriterionAnalysis],
    candidates: &[usize],
    values: &SuiteValues,
    expected: Option<&Expected>,
    sizes: (usize, usize),
) -> Option<Recommendation> {
    let of_candidate = |&criterion: &usize| Some(SuiteIndex { criterion, suite: values.best(criterion)? });
    let size = |of: SuiteIndex| criteria[of.criterion].suites[of.suite].cases.len();
    let larger = |best: SuiteIndex, next: SuiteIndex| if size(next) > size(best) { next } else { best };
    let of_candidates: Vec<SuiteIndex> = candidates.iter().filter_map(of_candidate).collect();
    let is_dominated = |suite: &SuiteIndex| of_candidates.iter().any(|other| values.dominates(*other, *suite));
    let best = of_candidates.iter().filter(|suite| !is_dominated(suite)).copied().reduce(larger)?;
    let dominating = values.dominating(best);
    let choice = dominating.unwrap_or(best);
    let expected = expected.and_then(|expected| expected.of_criterion(choice.criterion));
    Some(Recommendation {
        expected: expected.map(|expected| expected.suites[choice.suite]),
        instead_of: dominating.map(|_| best),
        ..recommendation(criteria, choice, sizes)
    })
}

fn recommendation(
    criteria: &[CriterionAnalysis],
    choice: SuiteIndex,
    (analysed, dominators): (usize, usize),
) -> Recommendation {
    let criterion = &criteria[choice.criterion];
    let chosen = &criterion.suites[choice.suite];
    Recommendation {
        choice,
        criterion: criterion.name.clone(),
        size: chosen.cases.len(),
        score: Score { killed: chosen.killed, of: analysed },
        dominator_score: Score { killed: chosen.dominators_killed, of: dominators },
        expected: None,
        same_time: None,
        instead_of: None,
    }
}

/// Picks the criterion with the highest mean mutant score and its suite with the highest mutant score.
///
/// Ties between criteria: the higher mean dominator score, the smaller mean size, the first. Ties between suites: the
/// higher dominator score, the one drawn first. `None` if no criterion has a suite.
pub(crate) fn recommend(criteria: &[CriterionAnalysis], analysed: usize, dominators: usize) -> Option<Recommendation> {
    let criterion = *best_first(criteria).first()?;
    let suite = best_suite(&criteria[criterion])?;
    Some(recommendation(criteria, SuiteIndex { criterion, suite }, (analysed, dominators)))
}

/// Returns the criteria that have suites, the one to recommend first.
pub(crate) fn best_first(criteria: &[CriterionAnalysis]) -> Vec<usize> {
    let mean = |summary: Option<Summary>| summary.map_or(f64::NEG_INFINITY, |summary| summary.mean);
    let mut order: Vec<usize> = (0..criteria.len()).filter(|&index| !criteria[index].suites.is_empty()).collect();
    order.sort_by(|&left, &right| {
        let (left, right) = (&criteria[left], &criteria[right]);
        mean(right.score)
            .total_cmp(&mean(left.score))
            .then(mean(right.dominator_score).total_cmp(&mean(left.dominator_score)))
            .then(mean(left.size).total_cmp(&mean(right.size)))
    });
    order
}

/// What suites of one criterion are compared by that are drawn for it alone. Sizes do not count: once the scores are saturated, the smallest of the best
/// suites would be the one that knows least about other mutants. The first drawn of equals is as good as a random one.
fn scores(suite: &AdequateSuite) -> (usize, usize) {
    (suite.killed, suite.dominators_killed)
}

pub(crate) fn best_suite(criterion: &CriterionAnalysis) -> Option<usize> {
    let suites = criterion.suites.iter().enumerate();
    suites.min_by_key(|(_, suite)| Reverse(scores(suite))).map(|(index, _)| index)
}

/// Returns how many suites of its criterion a suite shares its scores with, in words.
pub fn standing_of_suite(criterion: &CriterionAnalysis, suite: usize) -> String {
    let own = scores(&criterion.suites[suite]);
    match criterion.suites.iter().filter(|other| scores(other) == own).count() {
        1 => "the only one with these scores".into(),
        sharing => format!("one of {sharing} with these scores"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kills::KillsByCase;
    use simutant_outcomes::{BitSet, Criterion, CriterionKind};
    use simutant_synthetic::from_kills;

    /// A criterion with suites as (killed of 10, dominators killed of 5, size).
    fn criterion(suites: &[(usize, usize, usize)]) -> CriterionAnalysis {
        let criterion = Criterion {
            name: "c".into(),
            kind: CriterionKind::BlackBox,
            requirements: vec!["r".into()],
            quotas: Vec::new(),
            covered: vec![BitSet::with_capacity(1)],
        };
        let suites = suites.iter().map(|&(killed, dominators_killed, size)| AdequateSuite {
            cases: (0..size).collect(),
            considered: size,
            events_considered: 1,
            events_selected: 1,
            killed,
            dominators_killed,
        });
        CriterionAnalysis::new(&criterion, suites.collect(), 10, 5, 10)
    }

    #[track_caller]
    fn check(criteria: &[&[(usize, usize, usize)]], expect: Option<(usize, usize)>) {
        let criteria: Vec<CriterionAnalysis> = criteria.iter().map(|suites| criterion(suites)).collect();
        let found = recommend(&criteria, 10, 5).map(|found| (found.choice.criterion, found.choice.suite));
        assert_eq!(found, expect);
    }

    /// Table 3.1 of the thesis: two suites of three test cases each, five mutants. The first suite kills mutants 2, 4
    /// and 5 in the cells that the table shows, the second kills four of the five.
    #[test]
    fn the_boosting_example_of_the_thesis_scores_60_and_80_percent_and_takes_the_second_suite() {
        let outcomes = from_kills(&["......", "k...k.", "...k.k", "..kk..", "kkkkkk"]);
        let kills = KillsByCase::new(&outcomes);
        let suites: Vec<AdequateSuite> = [vec![0, 1, 2], vec![3, 4, 5]]
            .into_iter()
            .map(|cases| AdequateSuite {
                considered: cases.len(),
                events_considered: 30,
                events_selected: 30,
                killed: kills.of_suite(&cases).count_ones(..),
                dominators_killed: 0,
                cases,
            })
            .collect();
        let scores = suites.iter().map(|suite| Score { killed: suite.killed, of: 5 }.to_string());
        assert_eq!(scores.collect::<Vec<_>>(), ["60.0 % (3 of 5)", "80.0 % (4 of 5)"]);
        let criterion = CriterionAnalysis::new(&outcomes.criteria[0], suites, 5, 0, 10);
        let found = recommend(&[criterion], 5, 0).expect("there are suites");
        assert_eq!((found.choice.suite, found.score.value()), (1, Some(0.8)));
    }

    #[test]
    fn the_best_suite_is_that_of_the_criterion_with_the_best_mean() {
        // The single best suite is the first criterion's, whose mean is lower.
        check(&[&[(10, 5, 1), (0, 0, 1)], &[(6, 1, 1), (7, 1, 1)]], Some((1, 1)));
    }

    #[test]
    fn ties_of_suites_go_to_dominators_then_to_the_first_whatever_its_size() {
        check(&[&[(5, 1, 2), (5, 3, 4), (5, 3, 3), (5, 3, 3)]], Some((0, 1)));
        check(&[&[(4, 5, 1), (5, 0, 3), (5, 0, 1)]], Some((0, 1)));
    }

    #[test]
    fn ties_of_criteria_go_to_dominators_then_to_the_smaller_then_to_the_first() {
        check(&[&[(5, 1, 2)], &[(5, 2, 9)]], Some((1, 0)));
        check(&[&[(5, 2, 9)], &[(5, 2, 8)]], Some((1, 0)));
        check(&[&[(5, 2, 8)], &[(5, 2, 8)]], Some((0, 0)));
    }

    #[test]
    fn suites_with_the_same_scores_are_counted() {
        let criterion = criterion(&[(5, 3, 1), (5, 2, 1), (5, 3, 4), (4, 3, 1)]);
        assert_eq!(standing_of_suite(&criterion, 0), "one of 2 with these scores");
        assert_eq!(standing_of_suite(&criterion, 3), "the only one with these scores");
    }

    #[test]
    fn without_suites_nothing_is_recommended() {
        check(&[], None);
        check(&[&[]], None);
        check(&[&[], &[(0, 0, 1)]], Some((1, 0)));
    }
}
