//! The cost oracle and the criteria: scores without and with kills by cost, side by side.
//!
//! Nothing else in an analysis depends on it, unless kills by cost are to count: then they are among the kills of the
//! outcomes, and this says what difference that makes.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{CostOracle, CostRole, MutantNumber, Outcomes};

use crate::criteria::CriterionAnalysis;
use crate::expected::{MeanScore, mean_scores_of};
use crate::kills::KillsByCase;
use crate::mutants::{self, MutantClass};
use crate::options::AnalysisOptions;
use crate::probabilities::KillProbabilities;
use crate::seconds::seconds;
use crate::statistics::kendall_tau_b;

/// What the cost oracle kills, and what that makes of the criteria.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostComparison {
    /// The oracle.
    pub oracle: CostOracle,
    /// Whether its kills count everywhere else in the analysis.
    pub role: CostRole,
    /// How many pairs of a test case and a mutant it kills that pass otherwise.
    pub pairs: u64,
    /// How many mutants that are not judged equivalent no test case kills otherwise.
    pub survivors: usize,
    /// Those of them that a test case kills by cost.
    pub survivors_killed: Vec<MutantNumber>,
    /// The criteria with scores by both, the highest without kills by cost first.
    pub criteria: Vec<CostCriterion>,
    /// How far their orders by mean score agree: Kendall's tau-b; `None` if there are too few, or all score the same.
    pub tau: Option<f64>,
}

/// The suites of a criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CostCriterion {
    /// Index of the criterion.
    pub criterion: usize,
    /// Without kills by cost.
    pub without: MeanScore,
    /// With them.
    pub with: MeanScore,
}

/// Returns what the suites of `criteria` score on average by the kills of `outcomes`; `None` for criteria without
/// suites, and where no mutant counts. The suites are taken as they are, so they can have been drawn for other kills:
/// drawing asks for coverage alone.
pub(crate) fn mean_scores(
    outcomes: &Outcomes,
    criteria: &[CriterionAnalysis],
    options: &AnalysisOptions,
) -> Vec<Option<MeanScore>> {
    let classes = mutants::classify(outcomes, options);
    if let Some(probabilities) = KillProbabilities::of(outcomes, &classes) {
        return mean_scores_of(criteria, &probabilities, &seconds(outcomes, options));
    }
    let analysed = classes.of(MutantClass::Analysed);
    let of = analysed.count_ones(..);
    let kills = KillsByCase::new(outcomes);
    let score_of = |criterion: &CriterionAnalysis| {
        let killed = criterion.suites.iter().map(|suite| kills.of_suite(&suite.cases).intersection(&analysed).count());
        let pairs = of * criterion.suites.len();
        (pairs > 0).then(|| MeanScore { score: killed.sum::<usize>() as f64 / pairs as f64, worth: None })
    };
    criteria.iter().map(score_of).collect()
}

/// Returns outcomes in which kills by cost are no kills.
pub(crate) fn ordinary(outcomes: &Outcomes) -> Cow<'_, Outcomes> {
    match outcomes.cost.as_ref().map(|cost| cost.role) {
        Some(CostRole::Counted) => Cow::Owned(outcomes.without_cost_kills()),
        Some(CostRole::Apart) | None => Cow::Borrowed(outcomes),
    }
}

/// Compares the criteria without and with kills by cost; `None` if no cost oracle was asked for.
pub(crate) fn compare(
    outcomes: &Outcomes,
    criteria: &[CriterionAnalysis],
    options: &AnalysisOptions,
) -> Option<CostComparison> {
    let cost = outcomes.cost.as_ref()?;
    let without = ordinary(outcomes);
    let classes = mutants::classify(&without, options).classes;
    let survives = |class: MutantClass| class.survives() && class != MutantClass::Equivalent;
    let survivors: Vec<usize> = (0..classes.len()).filter(|&mutant| survives(classes[mutant])).collect();
    let scores =
        [mean_scores(&without, criteria, options), mean_scores(&outcomes.with_cost_kills(), criteria, options)];
    let of_criterion = |criterion: usize| {
        let (without, with) = (scores[0][criterion]?, scores[1][criterion]?);
        Some(CostCriterion { criterion, without, with })
    };
    let mut of_criteria: Vec<CostCriterion> = (0..criteria.len()).filter_map(of_criterion).collect();
    of_criteria.sort_by(|one, other| other.without.score.total_cmp(&one.without.score));
    let means = |of: fn(&CostCriterion) -> MeanScore| -> Vec<f64> {
        of_criteria.iter().map(|criterion| of(criterion).score).collect()
    };
    Some(CostComparison {
        oracle: cost.oracle.clone(),
        role: cost.role,
        pairs: cost.kills.iter().map(|kills| kills.count_ones(..) as u64).sum(),
        survivors: survivors.len(),
        survivors_killed: survivors
            .into_iter()
            .filter(|&mutant| !cost.kills[mutant].is_clear())
            .map(|mutant| mutant as MutantNumber)
            .collect(),
        tau: kendall_tau_b(&means(|criterion| criterion.without), &means(|criterion| criterion.with))
            .map(|kendall| kendall.tau),
        criteria: of_criteria,
    })
}

impl CostComparison {
    /// Returns the criteria that are recommended without and with kills by cost: those of equal merit together.
    pub fn first(&self) -> [Vec<usize>; 2] {
        let best = |of: fn(&CostCriterion) -> MeanScore| {
            let merit = |criterion: &CostCriterion| of(criterion).merit();
            let highest = self.criteria.iter().map(merit).fold(f64::NEG_INFINITY, f64::max);
            let mut best: Vec<usize> = self
                .criteria
                .iter()
                .filter(|criterion| merit(criterion) == highest)
                .map(|criterion| criterion.criterion)
                .collect();
            best.sort_unstable();
            best
        };
        [best(|criterion| criterion.without), best(|criterion| criterion.with)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analysis, Study, analyse};
    use simutant_outcomes::Reseeded;
    use simutant_synthetic::{from_kills, synthetic, two_criteria, with_cost};

    fn options() -> AnalysisOptions {
        AnalysisOptions { resamples: 100, ..AnalysisOptions::default() }
    }

    #[test]
    fn kills_by_cost_stand_beside_the_others_and_change_no_other_number() {
        let kills = ["kiii", ".dii", ".d..", "...."];
        let outcomes = two_criteria(&kills, &["....", ".c..", ".c..", "...."]);
        let analysis = analyse(&outcomes, &options()).expect("sound outcomes");
        let without = analyse(&Outcomes { cost: None, ..outcomes.clone() }, &options()).expect("sound outcomes");
        let cost = analysis.cost.clone().expect("there is an oracle");
        assert_eq!(Analysis { cost: None, ..analysis.clone() }, without);
        assert_eq!((cost.pairs, cost.survivors, cost.survivors_killed.clone()), (2, 3, vec![1, 2]));
        let scores: Vec<_> = cost.criteria.iter().map(|of| (of.criterion, of.without.score, of.with.score)).collect();
        assert_eq!(scores, [(0, 1.0, 1.0 / 3.0), (1, 0.0, 2.0 / 3.0)]);
        assert_eq!((cost.tau, cost.first()), (Some(-1.0), [vec![0], vec![1]]));
    }

    #[test]
    fn kills_by_cost_that_count_are_kills_and_what_they_change_is_known_all_the_same() {
        let apart = two_criteria(&["kiii", ".dii", ".d..", "...."], &["....", ".c..", ".c..", "...."]);
        let counted = apart.with_cost_kills();
        assert_eq!(counted.with_cost_kills(), counted);
        assert_eq!(counted.without_cost_kills(), apart);
        assert_eq!((counted.kills[1].count_ones(..), counted.verdicts[1].failed), (1, 1));
        let found = [&apart, &counted].map(|outcomes| analyse(outcomes, &options()).expect("sound outcomes"));
        let [of_apart, of_counted] = found.each_ref().map(|analysis| analysis.cost.as_ref().expect("an oracle"));
        assert_eq!(*of_counted, CostComparison { role: CostRole::Counted, ..of_apart.clone() });
        let recommended =
            found.each_ref().map(|analysis| analysis.recommendation.as_ref().expect("suites").criterion.as_str());
        assert_eq!(recommended, ["first-case", "second-case"]);
        Study::new(&counted, &found[1], None).expect("they belong together");
        Study::new(&apart, &found[1], None).expect_err("its kills are others");
    }

    #[test]
    fn a_judgement_is_about_results_and_no_kill_by_cost_contradicts_it() {
        let outcomes = with_cost(from_kills(&["k...", ".d.."]), &["....", ".c.."]).with_cost_kills();
        let judgement =
            simutant_outcomes::Judgement { judged: simutant_outcomes::Judged::Equivalent, reason: "so".into() };
        let judgements = [(outcomes.sites.mutants[1].identity.clone(), judgement)].into();
        let analysis = analyse(&outcomes, &AnalysisOptions { judgements, ..options() }).expect("sound outcomes");
        assert!(analysis.contradictions.is_empty());
        assert_eq!(analysis.cost.expect("an oracle").survivors, 0, "it is judged equivalent");
    }

    #[test]
    fn expected_scores_count_kills_by_cost_of_re_seedings() {
        let kills: [&[u8]; 2] = [&[8, 0], &[0, 0]];
        let mut outcomes = two_criteria(&["ki", "id"], &["..", ".c"]);
        outcomes.reseeded = Some(Reseeded {
            reseedings: 8,
            chance: vec!["seed".into()],
            runs: vec![vec![8; 2]; 2],
            kills: kills.iter().map(|row| row.to_vec()).collect(),
            covered: vec![vec![vec![8; 2]; 2]; 2],
        });
        outcomes.cost.as_mut().expect("an oracle").reseeded = Some(vec![vec![0, 0], vec![0, 8]]);
        let analysis = analyse(&outcomes, &options()).expect("sound outcomes");
        let cost = analysis.cost.as_ref().expect("an oracle");
        let second = cost.criteria.iter().find(|of| of.criterion == 1).expect("it has suites");
        assert!(second.without.score < 0.1 && second.with.score > 0.4, "{second:?}");
        let expected = analysis.expected.as_ref().and_then(|expected| expected.of_criterion(1)).expect("it has scores");
        assert_eq!(second.without, MeanScore { score: expected.score.mean, worth: Some(expected.worth) });
        let counted = outcomes.with_cost_kills();
        assert_eq!(counted.reseeded.as_ref().expect("re-seedings").kills, [[8, 0], [0, 8]]);
        assert_eq!(counted.without_cost_kills(), outcomes);
        let counted = analyse(&counted, &options()).expect("sound outcomes");
        let expected = counted.expected.as_ref().and_then(|expected| expected.of_criterion(1)).expect("it has scores");
        assert_eq!(second.with.score, expected.score.mean);
    }

    #[test]
    fn what_counts_can_be_taken_away_again_from_any_outcomes() {
        let outcomes = synthetic(80, 3);
        let passes = |mutant: usize, case: usize| {
            outcomes.diverged[mutant].contains(case) && !outcomes.kills[mutant].contains(case)
        };
        let rows: Vec<String> = (0..outcomes.kills.len())
            .map(|mutant| {
                (0..80).map(|case| if passes(mutant, case) && (mutant + case) % 3 > 0 { 'c' } else { '.' }).collect()
            })
            .collect();
        let outcomes = with_cost(outcomes.clone(), &rows.iter().map(String::as_str).collect::<Vec<_>>());
        let counted = outcomes.with_cost_kills();
        assert_eq!(counted.without_cost_kills(), outcomes);
        let cost = analyse(&counted, &options()).expect("sound outcomes").cost.expect("an oracle");
        assert_eq!(cost.pairs, rows.iter().map(|row| row.matches('c').count() as u64).sum::<u64>());
        let own = analyse(&outcomes, &options()).expect("sound outcomes");
        for of in &cost.criteria {
            let mean = own.criteria[of.criterion].score.expect("it has suites").mean;
            assert!((of.without.score - mean).abs() < 1e-12, "{} is not {mean}", of.without.score);
        }
    }
}
