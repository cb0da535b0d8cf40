//! Test suites that are adequate for a criterion: drawn at random from the universe, as the thesis draws them, and
//! built by a [`Builder`](crate::Builder).

pub(crate) mod budgeted;
pub(crate) mod built;
pub(crate) mod cover;
pub(crate) mod greedy;
pub(crate) mod minimum;
pub(crate) mod prioritised;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Criterion, Outcomes};

use crate::kills::KillsByCase;
use crate::random::NamedStream;
use crate::suites::cover::Cover;

/// One adequate suite, what it cost to find, and what it kills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdequateSuite {
    /// Indices of its test cases in the order in which they were selected; each improved the coverage.
    pub cases: Vec<usize>,
    /// How many candidates were considered, the selected ones included.
    pub considered: usize,
    /// Events of the simulation runs of all candidates considered: the analysis cost of a white-box criterion.
    pub events_considered: u64,
    /// Events of the simulation runs of the selected test cases: the execution cost of the suite.
    pub events_selected: u64,
    /// How many of the analysed mutants it kills.
    pub killed: usize,
    /// How many of the dominator classes it kills.
    pub dominators_killed: usize,
}

/// One of the suites of an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteIndex {
    /// Index into [`Analysis::criteria`](crate::Analysis::criteria).
    pub criterion: usize,
    /// Index into the criterion's suites.
    pub suite: usize,
}

/// Returns the requirements that the universe as a whole covers: the target of every suite.
///
/// The thesis finds infeasible requirements by reading the code; here a requirement counts as feasible if some test
/// case of the universe covers it.
pub fn target(criterion: &Criterion) -> BitSet {
    let mut target = BitSet::with_capacity(criterion.requirements.len());
    criterion.covered.iter().for_each(|covered| target.union_with(covered));
    target
}

/// What the suites of all criteria are scored with.
#[derive(Debug)]
pub(crate) struct Scoring<'a> {
    /// The events of each test case's run: what it costs.
    pub(crate) events: &'a [u64],
    pub(crate) kills: &'a KillsByCase,
    /// The mutants that scores count.
    pub(crate) analysed: &'a BitSet,
    /// One mutant of each dominator class.
    pub(crate) dominators: &'a BitSet,
}

/// Returns the events of each test case's run.
pub(crate) fn events(outcomes: &Outcomes) -> Vec<u64> {
    outcomes.cases.iter().map(|case| case.events).collect()
}

/// Draws `count` suites that are adequate for `criterion`; none if its target is empty.
///
/// A suite is adequate if it covers the target, but of the requirements in a quota no more than that asks for.
/// Black-box criteria are treated alike, as in section 4.2.3 of the thesis.
pub(crate) fn draw(criterion: &Criterion, count: usize, seed: u64, scoring: &Scoring<'_>) -> Vec<AdequateSuite> {
    let mut cover = Cover::new(criterion);
    if cover.target() == 0 {
        return Vec::new();
    }
    let mut stream = NamedStream::new(seed, &format!("suites of {}", criterion.name));
    (0..count).map(|_| draw_one(&mut cover, &mut stream, scoring)).collect()
}

/// The algorithm of section 4.2.3: candidates come at random, one that improves the coverage is kept, and the target
/// ends it.
///
/// A candidate is not drawn a second time. That changes no suite's probability, since a test case that was kept or
/// discarded can never improve the coverage again; `considered` counts different test cases.
fn draw_one(cover: &mut Cover<'_>, stream: &mut NamedStream, scoring: &Scoring<'_>) -> AdequateSuite {
    cover.clear();
    let mut cases = Vec::new();
    let (mut considered, mut events_considered, mut events_selected) = (0, 0, 0);
    for candidate in stream.permutation(scoring.events.len()) {
        let events = scoring.events[candidate];
        considered += 1;
        events_considered += events;
        if cover.take(candidate) == 0 {
            continue;
        }
        cases.push(candidate);
        events_selected += events;
        if cover.is_met() {
            break;
        }
    }
    assert!(cover.is_met(), "the whole universe meets the target of {}", cover.criterion().name);
    let killed = scoring.kills.of_suite(&cases);
    AdequateSuite {
        cases,
        considered,
        events_considered,
        events_selected,
        killed: killed.intersection_count(scoring.analysed),
        dominators_killed: killed.intersection_count(scoring.dominators),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simutant_outcomes::{CaseOutcome, CriterionKind, Quota};
    use simutant_synthetic::synthetic;

    /// Criteria of at most so many test cases and requirements, about half of them with quotas.
    pub(super) fn any_criterion(cases_max: usize, requirements_max: usize) -> impl Strategy<Value = Criterion> {
        (1..=cases_max, 1..=requirements_max, 1..10_u32).prop_flat_map(|(cases, requirements, tenths)| {
            let covers = proptest::bool::weighted(f64::from(tenths) / 10.0);
            let rows = proptest::collection::vec(proptest::collection::vec(covers, requirements), cases);
            let cuts = (0..=requirements, 0..=requirements, 0..=requirements, 0..=requirements, 0..=requirements);
            (rows, cuts, any::<bool>()).prop_map(|(rows, (first, second, third, least, other), has_quotas)| {
                let mut ends = [first, second, third];
                ends.sort_unstable();
                let quotas = vec![
                    Quota { requirements: ends[0]..ends[1], covered_min: least },
                    Quota { requirements: ends[1]..ends[2], covered_min: other / 2 },
                ];
                criterion_of(&rows, if has_quotas { quotas } else { Vec::new() })
            })
        })
    }

    /// Runs with these numbers of events.
    pub(super) fn runs(events: &[u64]) -> Vec<CaseOutcome> {
        let run = |&events: &u64| CaseOutcome {
            case: serde_json::Value::Null,
            events,
            steps: 0,
            virtual_time_ns: 0,
            messages: 0,
            late_faults: 0,
            reached: BitSet::new(),
            infected: BitSet::new(),
        };
        events.iter().map(run).collect()
    }

    /// How far a suite comes, without a [`Cover`].
    pub(super) fn progress(criterion: &Criterion, suite: &[usize]) -> usize {
        let mut covered = BitSet::with_capacity(criterion.requirements.len());
        suite.iter().for_each(|&case| covered.union_with(&criterion.covered[case]));
        criterion.progress(&covered)
    }

    #[track_caller]
    pub(super) fn check_adequate(criterion: &Criterion, suite: &[usize]) {
        assert_eq!(progress(criterion, suite), criterion.progress(&target(criterion)), "{suite:?} of {criterion:?}");
        let mut sorted = suite.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), suite.len(), "a test case is taken twice");
    }

    pub(super) fn criterion_of(covered: &[Vec<bool>], quotas: Vec<Quota>) -> Criterion {
        let requirements = covered.first().map_or(0, Vec::len);
        Criterion {
            name: "c".into(),
            kind: CriterionKind::BlackBox,
            requirements: (0..requirements).map(|index| index.to_string()).collect(),
            quotas,
            covered: covered
                .iter()
                .map(|row| {
                    let mut set = BitSet::with_capacity(requirements);
                    set.extend((0..requirements).filter(|&requirement| row[requirement]));
                    set
                })
                .collect(),
        }
    }

    fn draw_from(
        covered: &[Vec<bool>],
        quotas: Vec<Quota>,
        count: usize,
        seed: u64,
    ) -> (Criterion, Vec<AdequateSuite>) {
        let criterion = criterion_of(covered, quotas);
        let mut outcomes = synthetic(covered.len(), 1);
        outcomes.criteria = vec![criterion.clone()];
        let mutants = outcomes.sites.mutants.len();
        let scoring = Scoring {
            events: &events(&outcomes),
            kills: &KillsByCase::new(&outcomes),
            analysed: &BitSet::with_capacity(mutants),
            dominators: &BitSet::with_capacity(mutants),
        };
        let suites = draw(&criterion, count, seed, &scoring);
        (criterion, suites)
    }

    proptest! {
        #[test]
        fn a_suite_is_adequate_and_every_case_improved_it(
            covered in (1..40_usize, 1..12_usize).prop_flat_map(|(cases, requirements)|
                proptest::collection::vec(proptest::collection::vec(any::<bool>(), requirements), cases)),
            seed: u64,
        ) {
            let (criterion, suites) = draw_from(&covered, Vec::new(), 5, seed);
            let target = target(&criterion);
            prop_assert_eq!(suites.is_empty(), target.is_clear());
            for suite in suites {
                let mut joint = BitSet::with_capacity(criterion.requirements.len());
                for &case in &suite.cases {
                    let before = joint.count_ones(..);
                    joint.union_with(&criterion.covered[case]);
                    prop_assert!(joint.count_ones(..) > before, "case {} improved nothing", case);
                }
                prop_assert_eq!(&joint, &target);
                prop_assert!(suite.cases.len() <= suite.considered && suite.considered <= covered.len());
                prop_assert!(suite.events_selected <= suite.events_considered);
            }
        }
    }

    /// Twelve cases with a requirement each: all of the first four are asked for, three of the others.
    #[test]
    fn of_a_quota_a_suite_covers_as_many_as_are_asked_for() {
        let covered: Vec<Vec<bool>> = (0..12).map(|case| (0..12).map(|other| other == case).collect()).collect();
        let mut chosen_ever = [false; 12];
        for suite in draw_from(&covered, vec![Quota { requirements: 4..12, covered_min: 3 }], 100, 1).1 {
            assert_eq!(suite.cases.iter().filter(|&&case| case < 4).count(), 4);
            assert_eq!(suite.cases.len(), 4 + 3);
            suite.cases.iter().for_each(|&case| chosen_ever[case] = true);
        }
        assert_eq!(chosen_ever, [true; 12], "no requirement of a quota is preferred");
    }

    #[test]
    fn a_quota_asks_for_no_more_than_the_universe_covers() {
        let quotas = vec![Quota { requirements: 0..3, covered_min: 2 }];
        let (criterion, suites) = draw_from(&[vec![true, false, false], vec![false; 3]], quotas, 1, 1);
        assert_eq!(criterion.progress(&target(&criterion)), 1);
        assert_eq!(suites[0].cases, [0]);
    }

    #[test]
    fn a_criterion_without_a_feasible_requirement_has_no_suite() {
        assert_eq!(draw_from(&[vec![false, false], vec![false, false]], Vec::new(), 3, 1).1, []);
    }

    #[test]
    fn the_first_candidate_is_drawn_evenly() {
        // One requirement that every case covers: a suite is its first candidate.
        let (_, suites) = draw_from(&vec![vec![true]; 4], Vec::new(), 4000, 9);
        let mut counts = [0_u32; 4];
        suites.iter().for_each(|suite| counts[suite.cases[0]] += 1);
        // Five standard deviations of a binomial(4000, 1/4) are 137.
        assert!(counts.iter().all(|&count| count.abs_diff(1000) < 137), "{counts:?}");
    }
}
