//! Which mutation operators foresee failures of implementations: suites chosen by the mutants of one operator alone,
//! and by those of all others.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::Outcomes;

use super::choosing::{Curve, Measure, SIZE_MAX, Way, curves};
use super::correlation::with_failures;
use super::observed::Observed;
use crate::expected::greedy::most_in_inputs;
use crate::options::AnalysisOptions;
use crate::probabilities::KillProbabilities;

/// What the mutants of an operator say of implementations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OperatorWorth {
    /// The operator's name.
    pub operator: String,
    /// How many of its mutants scores count.
    pub mutants: usize,
    /// Suites with the highest expected score on its mutants; `None` if these tell no suites apart.
    pub alone: Option<Curve>,
    /// Suites with the highest expected score on the mutants of all other operators; `None` if these tell no suites
    /// apart.
    pub without: Option<Curve>,
    /// The correlation over test cases of the expected score on its mutants with the mean probability that an
    /// implementation fails; `None` if one of both does not vary.
    pub correlation: Option<f64>,
}

/// Returns one entry for each operator that has a mutant that scores count, the one first whose mutants alone choose
/// best. The curves are held against those of suites that all mutants choose.
///
/// Cost O(operators * mutants * cases).
pub(super) fn operators(
    outcomes: &Outcomes,
    probabilities: &KillProbabilities,
    observed: &Observed,
    options: &AnalysisOptions,
    threads: NonZeroUsize,
) -> Vec<OperatorWorth> {
    let size_max = SIZE_MAX.min(outcomes.cases.len());
    let operator = |mutant: usize| outcomes.sites.mutants[mutant].operator.as_str();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    probabilities.mutants.iter().for_each(|&mutant| *counts.entry(operator(mutant)).or_default() += 1);
    if size_max == 0 || probabilities.total_difficulty().is_none() {
        return Vec::new();
    }
    // None if the mutants tell no suites apart.
    let way = |name: String, by: &KillProbabilities| {
        by.total_difficulty().map(|_| Way::new(name, vec![most_in_inputs(by, size_max)]))
    };
    let mut ways = vec![way("all mutants".into(), probabilities).expect("some mutant tells suites apart")];
    let mut found: Vec<(OperatorWorth, [Option<usize>; 2])> = Vec::with_capacity(counts.len());
    for (name, mutants) in counts {
        let [own, others] =
            [true, false].map(|is_own| probabilities.restricted(|mutant| (operator(mutant) == name) == is_own));
        let mut place = |way: Option<Way>| {
            ways.push(way?);
            Some(ways.len() - 1)
        };
        let places = [place(way(format!("{name} alone"), &own)), place(way(format!("without {name}"), &others))];
        let correlation = with_failures(&own, &observed.missing, |place| own.difficulty[place]);
        let worth = OperatorWorth { operator: name.to_owned(), mutants, alone: None, without: None, correlation };
        found.push((worth, places));
    }
    // The same draws for all.
    let curves = curves(&ways, observed, &Measure::TestCases(size_max), &observed.resampled(), (options, threads));
    let with_curves = |(worth, places): (OperatorWorth, [Option<usize>; 2])| {
        let [alone, without] = places.map(|place| Some(curves[place?].clone()));
        OperatorWorth { alone, without, ..worth }
    };
    let mut found: Vec<OperatorWorth> = found.into_iter().map(with_curves).collect();
    let area = |worth: &OperatorWorth| worth.alone.as_ref().map_or(f64::NEG_INFINITY, |curve| curve.area);
    found.sort_by(|one, other| area(other).total_cmp(&area(one)));
    found
}

impl OperatorWorth {
    /// Returns whether suites find significantly more without its mutants, by the interval of the difference.
    pub fn misleads(&self) -> bool {
        let interval = self.without.as_ref().and_then(|curve| curve.chosen_above_interval);
        interval.is_some_and(|interval| interval.upper < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, analyse, experiment};
    use simutant_outcomes::Origin;
    use simutant_synthetic::{reseeded, subject, trials};

    /// The mutant of one operator dies where implementations fail; those of the other each on one other test case.
    fn outcomes() -> Outcomes {
        let mut kills = vec![vec![0; 32]; 7];
        kills[0][..6].fill(8);
        kills[0][6] = 1;
        (1..7).for_each(|mutant| kills[mutant][6 + mutant] = 8);
        let mut outcomes = reseeded(&kills.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for (number, mutant) in outcomes.sites.mutants.iter_mut().enumerate() {
            mutant.operator = if number == 0 { "AOR" } else { "ROR" }.to_owned();
        }
        outcomes
    }

    fn found(outcomes: &Outcomes) -> Experiment {
        let options = AnalysisOptions { resamples: 100, ..AnalysisOptions::default() };
        let analysis = analyse(outcomes, &options).expect("sound outcomes");
        // They fail on the first six test cases alone.
        let failing = |number: usize| subject(&format!("s{number}"), Origin::Mistake, outcomes, 0);
        let trials = trials(outcomes, (0..6).map(failing).collect());
        experiment(outcomes, &analysis, &trials, &[], NonZeroUsize::MIN).expect("trials of the universe")
    }

    #[test]
    fn an_operator_whose_mutants_die_elsewhere_misleads() {
        let outcomes = outcomes();
        let found = found(&outcomes);
        let operators = &found.findings[0].operators;
        let names: Vec<(&str, usize)> = operators.iter().map(|of| (of.operator.as_str(), of.mutants)).collect();
        assert_eq!(names, [("AOR", 1), ("ROR", 6)]);
        let share = |curve: &Option<Curve>| curve.as_ref().expect("mutants count").shares[0];
        assert_eq!([share(&operators[0].alone), share(&operators[0].without)], [1.0, 0.0]);
        assert_eq!([share(&operators[1].alone), share(&operators[1].without)], [0.0, 1.0]);
        assert!(operators[0].correlation > Some(0.9) && operators[1].correlation < Some(0.0), "{operators:?}");
        assert_eq!(operators.iter().map(OperatorWorth::misleads).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn one_operator_has_no_others() {
        let mut outcomes = outcomes();
        outcomes.sites.mutants.iter_mut().for_each(|mutant| mutant.operator = "ROR".to_owned());
        let found = found(&outcomes);
        let operators = &found.findings[0].operators;
        assert!(operators.len() == 1 && operators[0].without.is_none() && !operators[0].misleads(), "{operators:?}");
        assert_eq!(operators[0].alone.as_ref().expect("mutants count").chosen_above, 0.0);
    }

    #[test]
    fn without_re_seedings_nothing_is_said_of_operators() {
        let outcomes = Outcomes { reseeded: None, ..outcomes() };
        assert!(found(&outcomes).findings.iter().all(|findings| findings.operators.is_empty()));
    }
}
