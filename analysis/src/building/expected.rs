//! Suites that are built for what they are expected to find.

use std::collections::BTreeMap;

use simutant_outcomes::{FORMAT_VERSION, Outcomes, Suite, SuiteCase};

use crate::absent::absent_features;
use crate::analysis::Analysis;
use crate::case_names::{case_name, reseeding_name};
use crate::chosen::{SuiteScores, suite_scores};
use crate::expected::beside::Beside;
use crate::expected::built::{ExpectedBuilder, ExpectedSuite};
use crate::expected::greedy::{most_in_inputs, ordered, reaching, scores_of_beginnings, within};
use crate::expected::rules_of;
use crate::probabilities::KillProbabilities;
use crate::seconds::seconds;

/// The maximum size of a suite that must reach a score.
const SIZE_MAX: usize = 2_000;

/// Builds a suite for what it is expected to find; `None` without re-seedings, without a mutant that counts, or if no
/// suite of 2,000 test cases reaches the target.
///
/// # Panics
/// If `analysis` is not one of `outcomes`.
pub fn build_expected(outcomes: &Outcomes, analysis: &Analysis, builder: ExpectedBuilder) -> Option<ExpectedSuite> {
    let of_mutants = KillProbabilities::of(outcomes, &analysis.mutants)?;
    let coupling = analysis.options.coupling;
    let probabilities = of_mutants.coupled(coupling);
    let all: Vec<usize> = (0..outcomes.cases.len()).collect();
    let universe = probabilities.score(&all)?.mean;
    let seconds = seconds(outcomes, &analysis.options);
    let in_order = |cases: Vec<usize>| ordered(&probabilities, &seconds, &cases);
    let (cases, seconds_min, found_max) = match builder {
        ExpectedBuilder::Inputs(size) => (in_order(most_in_inputs(&probabilities, size)), None, None),
        ExpectedBuilder::Target(share) => {
            let reaching = reaching(&probabilities, &seconds, share * universe, SIZE_MAX)?;
            (reaching.cases, Some(reaching.price_min), None)
        }
        ExpectedBuilder::Time(limit) => {
            let within = within(&probabilities, &seconds, limit)?;
            (within.cases, None, Some(within.score_max))
        }
        ExpectedBuilder::Budget(budget) => {
            let events: Vec<f64> = outcomes.cases.iter().map(|case| case.events.max(1) as f64).collect();
            let within = within(&probabilities, &events, budget as f64)?;
            (in_order(within.cases), None, Some(within.score_max))
        }
    };
    let seconds_of_cases: Vec<f64> = cases.iter().map(|&case| seconds[case]).collect();
    let whole = seconds_of_cases.iter().sum();
    let found = probabilities.score(&cases)?;
    let found_after = scores_of_beginnings(&probabilities, &cases);
    let chosen = found_after.last().copied().unwrap_or(0.0);
    let rules = rules_of(outcomes, &seconds);
    let beside = |prices: &[f64], limit: f64| {
        Beside::new(&probabilities, (prices, limit), (chosen, &rules), analysis.options.seed)
    };
    Some(ExpectedSuite {
        builder,
        coupling,
        seconds: whole,
        found_after,
        events: cases.iter().map(|&case| outcomes.cases[case].events.max(1)).sum(),
        found,
        score: of_mutants.score(&cases)?,
        universe,
        universe_seconds: seconds.iter().sum(),
        same_time: beside(&seconds, whole)?,
        same_size: beside(&vec![1.0; seconds.len()], cases.len() as f64)?,
        seconds_min,
        found_max,
        absent: absent_features(outcomes, &cases),
        seconds_of_cases,
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
        for (place, &case) in self.cases.iter().enumerate() {
            let time = times.entry(case).or_default();
            let name = reseeding_name(&case_name(&analysis.system, case, analysis.campaign.cases), *time);
            let input = if *time == 0 { outcomes.cases[case].case.clone() } else { reseed(case, *time)? };
            let (seconds, found) = (Some(self.seconds_of_cases[place]), Some(self.found_after[place]));
            let cost = (*time == 0).then(|| outcomes.cases[case].cost());
            cases.push(SuiteCase { name, case: input, cost, seconds, found });
            *time += 1;
        }
        let mut suite = Suite {
            format_version: FORMAT_VERSION,
            system: analysis.system.clone(),
            criterion: "expected".into(),
            chosen: self.chosen(),
            seed: analysis.options.seed,
            mutant_score: None,
            dominator_score: None,
            seconds: Some(self.seconds),
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
        assert!(found.found.mean >= 0.9 * found.universe && found.seconds_min <= Some(found.seconds));
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
