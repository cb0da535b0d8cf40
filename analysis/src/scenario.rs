//! The three usage scenarios by themselves (thesis, section 3.3), at the cost that each of them really has.
//!
//! A study runs all mutants on the whole universe, so that it can tell everything. Somebody who only wants a suite
//! needs less:
//!
//! - conventional: one adequate suite; no mutant is run;
//! - boosting: several adequate suites of one criterion, with mutants run on their test cases alone, and the best of
//!   them;
//! - ranking: several suites of several criteria, and the best of the best criterion.
//!
//! All three are one computation, [`scenario`]: some suites of some criteria. The first pass, over outcomes without any
//! runs on mutants, says on which test cases mutants must be run ([`Scenario::scope`]); with these, the second pass
//! chooses.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, CriterionKind, FORMAT_VERSION, Outcomes, Suite};

use crate::baseline::{Moments, RandomBaseline};
use crate::chosen::cases_of;
use crate::conventional;
use crate::criteria::CriterionAnalysis;
use crate::domination::SuiteValues;
use crate::kills::KillsByCase;
use crate::options::{AnalysisOptions, OptionsError};
use crate::ranking::{self, Comparing, Ranking};
use crate::recommendation;
use crate::score::Score;
use crate::suites::{self, AdequateSuite, Scoring, SuiteIndex};

/// A suite that was chosen, and what that cost: plain data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The system.
    pub system: String,
    /// The seed of the universe.
    pub universe_seed: u64,
    /// The settings that matter are the seed, the number of suites of each criterion, alpha and the multiplier.
    pub options: AnalysisOptions,
    /// Test cases of the universe.
    pub cases: usize,
    /// The criteria that were asked for, with their suites.
    pub criteria: Vec<CriterionAnalysis>,
    /// The mutants that count: those that a test case of a suite kills, but not more than the option's share of them.
    /// `None` if there is one suite, which needs none.
    pub mutants: Option<usize>,
    /// The order of the criteria, if there are several.
    pub ranking: Option<Ranking>,
    /// The best suite; its criterion is an index into `criteria`.
    pub choice: SuiteIndex,
    /// The best suite of the best criterion, if the chosen one dominates it: it is no larger, kills no fewer mutants, and
    /// is better in one of these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<SuiteIndex>,
    /// What it cost.
    pub cost: Cost,
}

/// Equation 4.1 of the thesis, `C = c_a + M * c_e`, in events of the simulation.
///
/// A run on a mutant is taken to have as many events as the one on the original. The thesis adds seconds of simulation
/// to seconds of an implementation; events are the same on every machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Test cases that were simulated to see what they cover, once for each suite that considered them.
    pub candidates: usize,
    /// Their events.
    pub candidate_events: u64,
    /// Runs on mutants.
    pub mutant_runs: u64,
    /// Their events.
    pub mutant_events: u64,
    /// `M`: how often the suite will be run.
    pub multiplier: u32,
    /// `c_e`: events of the chosen suite.
    pub execution_events: u64,
    /// `C`.
    pub total: f64,
    /// `C` of a random suite of the same size, which has no `c_a`.
    pub random_same_size: Moments,
    /// How many random test cases could be run for `C`.
    pub random_size: usize,
}

/// Why there is no suite.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ScenarioError {
    /// An option is out of its range.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// There is no criterion with this name.
    #[error("there is no criterion `{name}`; there are: {known}")]
    UnknownCriterion {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// No test case covers anything of the criteria.
    #[error("no test case of the universe covers anything of {names}; choose another criterion, or more test cases")]
    NothingCovered {
        /// The criteria.
        names: String,
    },
}

/// Draws as many suites as the options say for each of the criteria called `names`, or for all if there are none, and
/// chooses the best.
///
/// One suite of one criterion is chosen without mutants. Otherwise `outcomes` need to know what mutants do on the test
/// cases of [`Scenario::scope`], and on no others; as long as they do not, the choice means nothing.
///
/// # Errors
/// [`ScenarioError`] if a criterion is not there or has no suite.
pub fn scenario(
    outcomes: &Outcomes,
    names: &[String],
    suites: NonZeroUsize,
    options: &AnalysisOptions,
    threads: NonZeroUsize,
) -> Result<Scenario, ScenarioError> {
    options.validate()?;
    let wanted = wanted(outcomes, names)?;
    let kills = KillsByCase::new(outcomes);
    let none = BitSet::with_capacity(outcomes.sites.mutants.len());
    let events = suites::events(outcomes);
    let scoring = Scoring { events: &events, kills: &kills, analysed: &none, dominators: &none };
    let draw = |&index: &usize| suites::draw(&outcomes.criteria[index], suites.get(), options.seed, &scoring);
    let mut drawn: Vec<Vec<AdequateSuite>> = wanted.iter().map(draw).collect();
    let mut scope = BitSet::with_capacity(outcomes.cases.len());
    drawn.iter().flatten().for_each(|suite| suite.cases.iter().for_each(|&case| scope.insert(case)));
    let has_one = drawn.iter().map(Vec::len).sum::<usize>() == 1;
    let analysed = if has_one { none.clone() } else { analysed(outcomes, &scope, options.pathological_above) };
    let analysed_count = analysed.count_ones(..);

    // Which mutants count is known only now.
    let mut killed: Vec<Vec<BitSet>> = Vec::with_capacity(drawn.len());
    for suites in &mut drawn {
        let of_suites: Vec<BitSet> = suites.iter().map(|suite| kills.of_suite(&suite.cases)).collect();
        for (suite, of_suite) in suites.iter_mut().zip(&of_suites) {
            suite.killed = of_suite.intersection_count(&analysed);
        }
        killed.push(of_suites);
    }
    let criteria: Vec<CriterionAnalysis> = wanted
        .iter()
        .zip(drawn)
        .map(|(&index, suites)| {
            CriterionAnalysis::new(&outcomes.criteria[index], suites, analysed_count, 0, options.cost_multiplier)
        })
        .collect();
    let recommendation =
        recommendation::recommend(&criteria, analysed_count, 0).ok_or_else(|| ScenarioError::NothingCovered {
            names: criteria.iter().map(|criterion| criterion.name.as_str()).collect::<Vec<_>>().join(", "),
        })?;
    let best = recommendation.choice;
    let different: BitSet = ranking::different(analysed.ones().map(|mutant| {
        let killing: Vec<usize> = outcomes.kills[mutant].intersection(&scope).collect();
        (mutant, killing)
    }))
    .into_iter()
    .collect();
    let values = SuiteValues::new(&criteria, None, &kills, &different);
    let dominating = values.dominating(best);
    let choice = dominating.unwrap_or(best);
    let comparing = Comparing::of(outcomes, &analysed, &killed, options, threads);
    let ranking = (criteria.len() > 1).then(|| ranking::rank(&criteria, &comparing));
    Ok(Scenario {
        format_version: FORMAT_VERSION,
        system: outcomes.system.clone(),
        universe_seed: outcomes.seed,
        options: AnalysisOptions { suites: suites.get(), ..options.clone() },
        cases: outcomes.cases.len(),
        mutants: (!has_one).then_some(analysed_count),
        ranking,
        choice,
        instead_of: dominating.map(|_| best),
        cost: cost(outcomes, &criteria, choice, (!has_one).then_some(&scope), options),
        criteria,
    })
}

/// Returns the indices of the criteria called `names`, or of all.
fn wanted(outcomes: &Outcomes, names: &[String]) -> Result<Vec<usize>, ScenarioError> {
    if names.is_empty() {
        return Ok((0..outcomes.criteria.len()).collect());
    }
    let find = |name: &String| outcomes.criteria.iter().position(|criterion| criterion.name == *name);
    let known = || outcomes.criteria.iter().map(|criterion| criterion.name.as_str()).collect::<Vec<_>>().join(", ");
    let unknown = |name: &String| ScenarioError::UnknownCriterion { name: name.clone(), known: known() };
    let mut wanted = Vec::with_capacity(names.len());
    for name in names {
        let index = find(name).ok_or_else(|| unknown(name))?;
        if !wanted.contains(&index) {
            wanted.push(index);
        }
    }
    Ok(wanted)
}

/// Returns the mutants that some of the test cases in `scope` kill, and not more than a share of `above`.
fn analysed(outcomes: &Outcomes, scope: &BitSet, above: f64) -> BitSet {
    let of = scope.count_ones(..) as f64;
    let counts = |kills: &BitSet| {
        let killing = kills.intersection_count(scope);
        killing > 0 && killing as f64 <= above * of
    };
    (0..outcomes.kills.len()).filter(|&mutant| counts(&outcomes.kills[mutant])).collect()
}

fn cost(
    outcomes: &Outcomes,
    criteria: &[CriterionAnalysis],
    choice: SuiteIndex,
    mutated: Option<&BitSet>,
    options: &AnalysisOptions,
) -> Cost {
    let pays = criteria.iter().filter(|criterion| criterion.kind != CriterionKind::BlackBox);
    let considered: Vec<(usize, u64)> =
        pays.flat_map(|criterion| &criterion.suites).map(|suite| (suite.considered, suite.events_considered)).collect();
    let candidate_events: u64 = considered.iter().map(|(_, events)| events).sum();
    let runs = |case: usize| outcomes.cases[case].infected.count_ones(..) as u64;
    let (mut mutant_runs, mut mutant_events) = (0, 0);
    for case in mutated.iter().flat_map(|scope| scope.ones()) {
        mutant_runs += runs(case);
        mutant_events += runs(case) * outcomes.cases[case].events;
    }
    let chosen = &criteria[choice.criterion].suites[choice.suite];
    let multiplier = f64::from(options.cost_multiplier);
    let total = (candidate_events + mutant_events) as f64 + multiplier * chosen.events_selected as f64;
    let events: Vec<f64> = outcomes.cases.iter().map(|case| case.events as f64).collect();
    let nothing = RandomBaseline::new([], events.len());
    let sizes = AnalysisOptions { random_size_max: chosen.cases.len(), ..options.clone() };
    let random = conventional::random_sizes(&events, &nothing, &nothing, &sizes);
    let mean = multiplier * events.iter().sum::<f64>() / events.len().max(1) as f64;
    Cost {
        candidates: considered.iter().map(|(candidates, _)| candidates).sum(),
        candidate_events,
        mutant_runs,
        mutant_events,
        multiplier: options.cost_multiplier,
        execution_events: chosen.events_selected,
        total,
        random_same_size: random.last().map_or(Moments { mean: 0.0, sd: 0.0 }, |size| size.cost),
        random_size: if mean > 0.0 { (total / mean) as usize } else { 0 },
    }
}

impl Scenario {
    /// Returns the index of the criterion that is best: that of the chosen suite, or of the one that it dominates.
    pub fn best_criterion(&self) -> usize {
        self.instead_of.unwrap_or(self.choice).criterion
    }

    /// Returns the test cases that mutants must be run on; none if one suite is all that there is.
    pub fn scope(&self) -> BitSet {
        let mut scope = BitSet::with_capacity(self.cases);
        if self.mutants.is_some() {
            let suites = self.criteria.iter().flat_map(|criterion| &criterion.suites);
            suites.for_each(|suite| suite.cases.iter().for_each(|&case| scope.insert(case)));
        }
        scope
    }

    /// Returns the chosen suite with its inputs.
    ///
    /// # Panics
    /// If the scenario is not one of `outcomes`.
    pub fn suite(&self, outcomes: &Outcomes) -> Suite {
        let criterion = &self.criteria[self.choice.criterion];
        let chosen = &criterion.suites[self.choice.suite];
        let score = self.mutants.and_then(|of| Score { killed: chosen.killed, of }.value());
        let how = match (self.mutants, criterion.suites.len()) {
            (Some(_), suites) if self.instead_of.is_some() => format!(
                "suite {} of {suites} drawn at random that are adequate for {}; it is no larger than the best suite of the best \
                 criterion, kills no fewer mutants, and is better in one of these",
                self.choice.suite + 1,
                criterion.name
            ),
            (None, _) => format!("drawn at random, adequate for {}", criterion.name),
            (Some(_), suites) => format!(
                "suite {} of {suites} drawn at random that are adequate for {}; no other of them has a higher mutant score",
                self.choice.suite + 1,
                criterion.name
            ),
        };
        let (seconds, cases) = cases_of(outcomes, &self.options, &chosen.cases);
        Suite {
            format_version: FORMAT_VERSION,
            system: self.system.clone(),
            criterion: criterion.name.clone(),
            chosen: how,
            seed: self.options.seed,
            mutant_score: score,
            dominator_score: None,
            seconds: Some(seconds),
            cases,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_synthetic::{from_kills, synthetic};

    fn choose(outcomes: &Outcomes, names: &[&str], suites: usize) -> Result<Scenario, ScenarioError> {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        let suites = NonZeroUsize::new(suites).expect("not 0");
        let options = AnalysisOptions { resamples: 200, ..AnalysisOptions::default() };
        scenario(outcomes, &names, suites, &options, NonZeroUsize::MIN)
    }

    /// The same outcomes as a campaign gives them that ran mutants on some test cases only.
    fn known_in(outcomes: &Outcomes, scope: &BitSet) -> Outcomes {
        let mut known = outcomes.clone();
        known.kills.iter_mut().for_each(|kills| kills.intersect_with(scope));
        known
    }

    #[test]
    fn one_suite_needs_no_mutant() {
        let outcomes = synthetic(200, 1);
        let unknown = known_in(&outcomes, &BitSet::new());
        let found = choose(&unknown, &["all-branches"], 1).expect("there is a suite");
        assert_eq!((found.mutants, found.scope().count_ones(..)), (None, 0));
        let Cost { candidates, candidate_events, mutant_runs, execution_events, total, .. } = found.cost;
        let suite = &found.criteria[0].suites[0];
        assert_eq!((candidates, mutant_runs), (suite.considered, 0));
        assert_eq!((candidate_events, execution_events), (suite.events_considered, suite.events_selected));
        assert_eq!(total, (candidate_events + 10 * execution_events) as f64);
        let written = found.suite(&unknown);
        assert_eq!((written.cases.len(), written.mutant_score), (suite.cases.len(), None));
    }

    #[test]
    fn a_criterion_of_inputs_costs_no_simulation() {
        let found = choose(&synthetic(200, 1), &["IP-1"], 1).expect("there is a suite");
        assert_eq!((found.cost.candidates, found.cost.candidate_events), (0, 0));
        assert!((found.cost.random_same_size.mean - found.cost.total).abs() < found.cost.total, "{:?}", found.cost);
    }

    #[test]
    fn the_best_of_several_is_chosen_by_runs_on_their_test_cases_alone() {
        let outcomes = synthetic(200, 1);
        let first = choose(&known_in(&outcomes, &BitSet::new()), &["all-branches"], 8).expect("there are suites");
        let scope = first.scope();
        assert!(!scope.is_clear() && scope.count_ones(..) < 60, "{}", scope.count_ones(..));
        let found = choose(&known_in(&outcomes, &scope), &["all-branches"], 8).expect("there are suites");
        assert_eq!(found.scope(), scope, "what is run does not depend on what was found");
        let scores: Vec<usize> = found.criteria[0].suites.iter().map(|suite| suite.killed).collect();
        assert_eq!(Some(&scores[found.choice.suite]), scores.iter().max());
        let sizes = found.criteria[0].suites.iter().map(|suite| suite.cases.len());
        let of_best = sizes.zip(&scores).filter(|(_, score)| Some(*score) == scores.iter().max());
        let smallest = of_best.map(|(size, _)| size).min();
        assert_eq!(Some(found.criteria[0].suites[found.choice.suite].cases.len()), smallest, "{scores:?}");
        assert!(scores.iter().any(|&score| score < scores[found.choice.suite]), "all score the same: {scores:?}");
        assert!(found.cost.mutant_runs > 0 && found.ranking.is_none());
        // More knowledge than the scope has would not change it.
        let all = choose(&outcomes, &["all-branches"], 8).expect("there are suites");
        assert_eq!((all.choice, all.mutants), (found.choice, found.mutants));
    }

    #[test]
    fn several_criteria_are_ranked() {
        let outcomes = synthetic(200, 1);
        let found = choose(&outcomes, &[], 20).expect("there are suites");
        let ranking = found.ranking.as_ref().expect("there are several");
        assert_eq!(ranking.order.first(), Some(&found.best_criterion()));
        let json = serde_json::to_string(&found).expect("plain data");
        let read: Scenario = serde_json::from_str(&json).expect("a scenario can be read back");
        assert_eq!(read.choice, found.choice);
    }

    #[test]
    fn no_suite_is_chosen_that_another_dominates() {
        let mut replaced = 0;
        for seed in 1..20 {
            let outcomes = synthetic(60, seed);
            for (names, suites) in [(&[][..], 6), (&["all-branches"], 12), (&["all-branches", "IP-1"], 3)] {
                let found = choose(&outcomes, names, suites).expect("there are suites");
                let value = |of: SuiteIndex| {
                    let suite = &found.criteria[of.criterion].suites[of.suite];
                    (suite.cases.len(), suite.killed)
                };
                let (size, killed) = value(found.choice);
                for other in found.criteria.iter().flat_map(|criterion| &criterion.suites) {
                    let is_no_worse = other.cases.len() <= size && other.killed >= killed;
                    assert!(!is_no_worse || (other.cases.len(), other.killed) == (size, killed), "{names:?} {seed}");
                }
                if let Some(best) = found.instead_of {
                    replaced += 1;
                    let of_best = value(best);
                    assert!(size <= of_best.0 && killed >= of_best.1 && (size, killed) != of_best, "{names:?} {seed}");
                    assert!(found.suite(&outcomes).chosen.contains("it is no larger than the best suite"));
                }
            }
        }
        assert!(replaced > 0, "nothing was dominated");
    }

    #[test]
    fn what_cannot_be_chosen_is_named() {
        let outcomes = from_kills(&["k..."]);
        let error = choose(&outcomes, &["nothing"], 1).expect_err("there is no such criterion").to_string();
        assert_eq!(error, "there is no criterion `nothing`; there are: every-case");
        let mut bare = outcomes;
        bare.criteria[0].covered.iter_mut().for_each(BitSet::clear);
        let error = choose(&bare, &["every-case"], 1).expect_err("nothing is covered").to_string();
        assert!(error.contains("covers anything of every-case"), "{error}");
    }
}
