//! Whether test cases that kill many mutants are those on which many implementations fail.

use serde::{Deserialize, Serialize};
use simutant_outcomes::Outcomes;

use super::probability::Missing;
use crate::analysis::Analysis;
use crate::probabilities::{KillProbabilities, counted};

/// How mutants killed by a test case and implementations that fail on it go together: Pearson's correlation over the
/// test cases of the universe with the mean probability that an implementation fails. `None` where one of both does not
/// vary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// With the number of mutants that the test case kills on its own seed.
    pub own_seeds: Option<f64>,
    /// With the number of mutants that it is expected to kill when its chance is drawn anew; `None` without
    /// re-seedings.
    pub expected: Option<f64>,
    /// With its expected score: the same, each mutant counted by its difficulty.
    pub by_difficulty: Option<f64>,
}

impl Correlation {
    pub(super) fn new(
        outcomes: &Outcomes,
        analysis: &Analysis,
        probabilities: Option<&KillProbabilities>,
        missing: &[Missing],
    ) -> Self {
        let counted = counted(&analysis.mutants);
        let own: Vec<f64> = (0..outcomes.cases.len())
            .map(|case| counted.ones().filter(|&mutant| outcomes.kills[mutant].contains(case)).count() as f64)
            .collect();
        Self {
            own_seeds: pearson(&own, &failing(own.len(), missing)),
            expected: probabilities.and_then(|probabilities| with_failures(probabilities, missing, |_| 1.0)),
            by_difficulty: probabilities.and_then(|probabilities| {
                with_failures(probabilities, missing, |place| probabilities.difficulty[place])
            }),
        }
    }
}

/// Returns the correlation of what test cases are expected to kill, each mutant counted by its weight, with how many
/// implementations are expected to fail on them; `None` if one of both does not vary.
pub(super) fn with_failures(
    probabilities: &KillProbabilities,
    missing: &[Missing],
    weight: impl Fn(usize) -> f64,
) -> Option<f64> {
    let of_mutant = |case, place| weight(place) * (1.0 - probabilities.survival(case, place));
    let kills = |case| (0..probabilities.mutants.len()).map(|place| of_mutant(case, place)).sum();
    let kills: Vec<f64> = (0..probabilities.cases()).map(kills).collect();
    pearson(&kills, &failing(kills.len(), missing))
}

/// Returns how many implementations are expected to fail on each test case.
fn failing(cases: usize, missing: &[Missing]) -> Vec<f64> {
    (0..cases).map(|case| missing.iter().map(|missing| 1.0 - missing[case]).sum()).collect()
}

/// Returns the correlation of pairs of values; `None` if one of both does not vary.
fn pearson(first: &[f64], second: &[f64]) -> Option<f64> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (of_first, of_second) = (mean(first), mean(second));
    let product = |left: &[f64], of_left: f64, right: &[f64], of_right: f64| -> f64 {
        left.iter().zip(right).map(|(left, right)| (left - of_left) * (right - of_right)).sum()
    };
    let squares = product(first, of_first, first, of_first) * product(second, of_second, second, of_second);
    (squares > 0.0).then(|| (product(first, of_first, second, of_second) / squares.sqrt()).clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisOptions, analyse};
    use simutant_outcomes::Reseeded;
    use simutant_synthetic::from_kills;

    #[test]
    fn values_that_rise_together_correlate() {
        assert_eq!(pearson(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]), Some(1.0));
        assert_eq!(pearson(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(pearson(&[1.0, 1.0, 1.0], &[3.0, 2.0, 1.0]), None);
        // 1/2 by hand: deviations -1, 0, 1 and -1, 1, 0.
        assert!((pearson(&[1.0, 2.0, 3.0], &[0.0, 2.0, 1.0]).expect("both vary") - 0.5).abs() < 1e-15);
    }

    #[test]
    fn a_kill_by_luck_correlates_less_than_an_expected_one() {
        // The second test case kills by luck, the fourth one always does; the implementation fails on the fourth.
        let mut outcomes = from_kills(&["ikik", "iiik"]);
        outcomes.reseeded = Some(Reseeded {
            reseedings: 8,
            chance: vec!["seed".into()],
            runs: vec![vec![8; 4]; 2],
            kills: vec![vec![0, 1, 0, 8], vec![0, 0, 0, 8]],
            covered: vec![vec![vec![8; outcomes.criteria[0].requirements.len()]; 4]; outcomes.criteria.len()],
        });
        let analysis = analyse(&outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() })
            .expect("sound outcomes");
        let probabilities = KillProbabilities::of(&outcomes, &analysis.mutants);
        let found = Correlation::new(&outcomes, &analysis, probabilities.as_ref(), &[vec![1.0, 1.0, 1.0, 0.25]]);
        let (own, expected) = (found.own_seeds.expect("both vary"), found.expected.expect("both vary"));
        assert!(own < 0.9 && expected > 0.99, "{own} and {expected}");
    }
}
