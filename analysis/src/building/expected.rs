//! Suites that are built for what they are expected to find.

use std::collections::BTreeMap;

use simutant_outcomes::{FORMAT_VERSION, Outcomes, Suite, SuiteCase};

use crate::absent::absent_features;
use crate::analysis::Analysis;
use crate::chosen::{SuiteScores, case_name, reseeding_name, suite_scores};
use crate::domination::{SuiteValue, dominating_built};
use crate::expected::built::{ExpectedBuilder, ExpectedSuite};
use crate::expected::greedy::{budgeted, greedy, reaching};
use crate::expected::rules_of;
use crate::probabilities::KillProbabilities;
use crate::recommendation::SuiteIndex;
use crate::rules::RuleOfThumb;
use crate::suites::AdequateSuite;

/// The maximum size of a suite that must reach a score.
const SIZE_MAX: usize = 500;

/// Builds a suite for what it is expected to find; `None` without re-seedings, without a mutant that counts, or if no
/// suite of 500 test cases reaches the target.
///
/// # Panics
/// If `analysis` is not one of `outcomes`.
pub fn build_expected(outcomes: &Outcomes, analysis: &Analysis, builder: ExpectedBuilder) -> Option<ExpectedSuite> {
    let of_mutants = KillProbabilities::of(outcomes, &analysis.mutants)?;
    let coupling = analysis.options.coupling;
    let probabilities = of_mutants.coupled(coupling);
    let all: Vec<usize> = (0..outcomes.cases.len()).collect();
    let universe = probabilities.score(&all)?.mean;
    let events: Vec<u64> = outcomes.cases.iter().map(|case| case.events.max(1)).collect();
    let (cases, size_min) = match builder {
        ExpectedBuilder::Inputs(size) => (greedy(&probabilities, size), None),
        ExpectedBuilder::Target(share) => {
            let reaching = reaching(&probabilities, share * universe, SIZE_MAX)?;
            (reaching.cases, Some(reaching.size_min))
        }
        ExpectedBuilder::Budget(budget) => (budgeted(&probabilities, &events, budget), None),
    };
    let size = cases.len();
    let of_rule = |rule: RuleOfThumb| {
        let score = probabilities.score(&rule.order[..size.min(rule.order.len())])?;
        Some((rule.name, score.mean))
    };
    let events_of = |cases: &[usize]| cases.iter().map(|&case| events[case]).sum::<u64>();
    let (found, score) = (probabilities.score(&cases)?, of_mutants.score(&cases)?);
    let dominators = analysis.dominators.representatives(outcomes.sites.mutants.len());
    let on_dominators = of_mutants.share(&cases, &dominators).unwrap_or(0.0);
    let value_of = |choice: SuiteIndex, drawn: &AdequateSuite| {
        let of_criterion = analysis.expected.as_ref()?.of_criterion(choice.criterion)?;
        let mutants = of_criterion.suites.get(choice.suite)?.mean;
        let on_dominators = of_criterion.suites_on_dominators.get(choice.suite).copied().unwrap_or(0.0);
        let size = drawn.cases.len();
        let is_affordable = match builder {
            ExpectedBuilder::Budget(budget) => events_of(&drawn.cases) <= budget,
            ExpectedBuilder::Inputs(_) | ExpectedBuilder::Target(_) => size <= cases.len(),
        };
        let finds_as_much = || Some(probabilities.score(&drawn.cases)?.mean >= found.mean);
        let is_as_good = is_affordable && mutants >= score.mean && finds_as_much()?;
        is_as_good.then(|| SuiteValue::expected(size, mutants, on_dominators, mutants))
    };
    let value = SuiteValue::expected(size, score.mean, on_dominators, score.mean);
    Some(ExpectedSuite {
        builder,
        coupling,
        events: events_of(&cases),
        found,
        score,
        dominated_by: dominating_built(analysis, value, value_of),
        universe,
        random: probabilities.random(size)?.last().copied().unwrap_or(0.0),
        rule: rules_of(outcomes)
            .into_iter()
            .filter_map(of_rule)
            .reduce(|best, next| if next.1 > best.1 { next } else { best }),
        size_min,
        absent: absent_features(outcomes, &cases),
        cases,
    })
}

impl ExpectedSuite {
    /// Returns the suite with its inputs. `reseed` returns re-seeding `number`, from 1 on, of a test case.
    ///
    /// # Errors
    /// What `reseed` returns.
    ///
    /// # Panics
    /// If it is not one of `outcomes`.
    pub fn suite<E>(
        &self,
        outcomes: &Outcomes,
        analysis: &Analysis,
        mut reseed: impl FnMut(usize, u32) -> Result<serde_json::Value, E>,
    ) -> Result<Suite, E> {
        let mut times: BTreeMap<usize, u32> = BTreeMap::new();
        let mut cases = Vec::with_capacity(self.cases.len());
        for &case in &self.cases {
            let time = times.entry(case).or_default();
            let name = reseeding_name(&case_name(&analysis.system, case, analysis.campaign.cases), *time);
            let input = if *time == 0 { outcomes.cases[case].case.clone() } else { reseed(case, *time)? };
            *time += 1;
            cases.push(SuiteCase { name, case: input });
        }
        let mut suite = Suite {
            format_version: FORMAT_VERSION,
            system: analysis.system.clone(),
            criterion: "expected".into(),
            chosen: self.chosen(),
            seed: analysis.options.seed,
            mutant_score: None,
            dominator_score: None,
            cases,
        };
        let SuiteScores { mutants, dominators } = suite_scores(outcomes, analysis, &suite);
        suite.mutant_score = mutants.upper().value();
        suite.dominator_score = dominators.value();
        Ok(suite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisOptions, Study, analyse};
    use simutant_synthetic::reseeded;

    fn analysed(outcomes: &Outcomes) -> Analysis {
        analyse(outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() }).expect("sound outcomes")
    }

    #[test]
    fn an_input_that_is_there_again_is_re_seeded() {
        let mut outcomes = reseeded(&[&[5, 0, 0, 1], &[0, 0, 1, 4]]);
        for (number, case) in outcomes.cases.iter_mut().enumerate() {
            case.case = serde_json::json!({ "loss": number, "seed": 7 });
        }
        let analysis = analysed(&outcomes);
        let built = build_expected(&outcomes, &analysis, ExpectedBuilder::Inputs(4)).expect("mutants count");
        let reseed = |case: usize, number| Ok::<_, ()>(serde_json::json!({ "loss": case, "seed": 1000 + number }));
        let suite = built.suite(&outcomes, &analysis, reseed).expect("nothing fails");
        let mut names: Vec<&str> = suite.cases.iter().map(|case| case.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["small-0000", "small-0000+1", "small-0003", "small-0003+1"]);
        let study = Study::new(&outcomes, &analysis, Some(&suite));
        assert!(study.is_ok(), "a re-seeding is of the study: {study:?}");
        assert!(suite.cases.iter().all(|case| case.name.contains('+') != (case.case["seed"] == 7)));
        let mut other = suite.clone();
        other.cases.iter_mut().for_each(|case| case.case["loss"] = 9.into());
        assert!(Study::new(&outcomes, &analysis, Some(&other)).is_err(), "more than its chance differs");
    }

    #[test]
    fn a_target_is_reached_and_a_budget_is_kept() {
        let outcomes = reseeded(&[&[5, 0, 0, 1], &[0, 0, 1, 4], &[1, 1, 6, 0]]);
        let analysis = analysed(&outcomes);
        let build = |builder| build_expected(&outcomes, &analysis, builder);
        let found = build(ExpectedBuilder::Target(0.9)).expect("it can be reached");
        assert!(found.found.mean >= 0.9 * found.universe && found.size_min <= Some(found.cases.len()));
        assert_eq!(build(ExpectedBuilder::Target(1.01 / found.universe)), None, "no suite finds more than all");
        let of_two: u64 = outcomes.cases.iter().map(|case| case.events).take(2).sum();
        let found = build(ExpectedBuilder::Budget(of_two)).expect("something fits");
        assert!(found.events <= of_two && !found.cases.is_empty());
        let mut without = outcomes.clone();
        without.reseeded = None;
        let analysis = analysed(&without);
        assert_eq!(build_expected(&without, &analysis, ExpectedBuilder::Inputs(2)), None);
    }
}
