//! What a suite that nobody here chose is worth, beside suites of its size from the universe.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Criterion, CriterionKind, Outcomes};

use crate::absent::{AbsentFeature, absent_features};
use crate::analysis::Analysis;
use crate::baseline::RandomBaseline;
use crate::chosen::case_name;
use crate::expected::{random_size, random_size_max};
use crate::kills::KillsByCase;
use crate::mutants::MutantClass;
use crate::probabilities::{ExpectedScore, KillProbabilities};
use crate::score::Score;
use crate::statistics::NamedStream;

/// Random suites that the suite is held against.
const RANDOM_SUITES: usize = 500;

/// The maximum number of inputs of the universe that are said to add something.
const ADDITIONS_MAX: usize = 5;

/// What a suite of test cases of a universe covers, kills, and lacks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assessment {
    /// The system.
    pub system: String,
    /// Test cases of the universe, those of the suite included.
    pub universe: usize,
    /// Test cases of the suite.
    pub inputs: usize,
    /// What it covers of each criterion, on its own seeds.
    pub criteria: Vec<AssessedCriterion>,
    /// What it kills of the mutants that some test case kills, on its own seeds.
    pub mutants: AssessedScore,
    /// What it kills of the dominator classes, on its own seeds.
    pub dominators: AssessedScore,
    /// What it is expected to kill when its chance is drawn anew; `None` without re-seedings.
    pub expected: Option<AssessedExpected>,
    /// Suites of as many test cases that were drawn at random.
    pub random_suites: usize,
    /// How many of them score less: their expected score, or without re-seedings the mutants they kill.
    pub random_below: usize,
    /// What none of its test cases has, though a random suite of its size would.
    pub absent: Vec<AbsentFeature>,
    /// Inputs of the universe that add most, one after the other.
    pub additions: Vec<Addition>,
    /// The mutants that the universe kills and the suite does not, on their own seeds: those first that most test cases
    /// kill.
    pub missed: Vec<Missed>,
}

/// What a suite covers of a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssessedCriterion {
    /// Its name.
    pub name: String,
    /// Where it looks.
    pub kind: CriterionKind,
    /// Requirements that the suite covers.
    pub covered: usize,
    /// Requirements that the universe covers.
    pub feasible: usize,
    /// Requirements that the suite covers, and no other test case of the universe does.
    pub alone: usize,
}

/// How many a suite kills, and how many random suites of its size do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AssessedScore {
    /// Of those that the universe kills.
    pub score: Score,
    /// The expected share that a random suite of as many test cases kills; `None` if the universe kills none.
    pub random: Option<f64>,
}

/// What a suite is expected to kill, each mutant counted by its difficulty.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AssessedExpected {
    /// Of all mutants that count.
    pub score: ExpectedScore,
    /// What a random suite of as many test cases is expected to kill.
    pub random: f64,
    /// How many random inputs one of its inputs is worth.
    pub worth: f64,
}

/// An input that adds to a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Addition {
    /// Its number in the universe.
    pub case: usize,
    /// Its name.
    pub name: String,
    /// The test case.
    pub input: serde_json::Value,
    /// The score of the suite with it, and those before it in the list: expected, or without re-seedings the share of
    /// mutants killed.
    pub score: f64,
}

/// A mutant that the suite does not kill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// Its number.
    pub mutant: usize,
    /// How many test cases of the universe kill it.
    pub killed_by: usize,
}

/// Assesses the suite of these test cases of the universe.
///
/// # Panics
/// If `analysis` is not one of `outcomes`, or a number is none of a test case.
pub fn assess(outcomes: &Outcomes, analysis: &Analysis, cases: &[usize]) -> Assessment {
    let universe = outcomes.cases.len();
    let kills = KillsByCase::new(outcomes);
    let probabilities = KillProbabilities::of(outcomes, &analysis.mutants);
    let (killed, classes) = (kills.of_suite(cases), &analysis.mutants);
    let mut killable = classes.of(MutantClass::Analysed);
    killable.union_with(&classes.of(MutantClass::Pathological));
    let random = |of: &BitSet| RandomBaseline::new(of.ones().map(|mutant| &outcomes.kills[mutant]), universe);
    let assessed = |of: &BitSet| AssessedScore {
        score: Score { killed: killed.intersection(of).count(), of: of.count_ones(..) },
        random: random(of).at(cases.len().min(universe)).map(|moments| moments.mean),
    };
    let expected = probabilities.as_ref().and_then(|probabilities| {
        let random = probabilities.random(random_size_max(cases.len()))?;
        let score = probabilities.score(cases)?;
        let worth = random_size(&random, score.mean) / cases.len().max(1) as f64;
        let random = cases.len().checked_sub(1).and_then(|last| random.get(last)).copied().unwrap_or_default();
        Some(AssessedExpected { score, random, worth })
    });
    let value = |cases: &[usize]| match &probabilities {
        Some(probabilities) => probabilities.score(cases).map_or(0.0, |score| score.mean),
        None => kills.of_suite(cases).intersection(&killable).count() as f64 / killable.count_ones(..).max(1) as f64,
    };
    let (mut stream, own) = (NamedStream::new(analysis.options.seed, "assessment"), value(cases));
    let size = cases.len().min(universe);
    let is_below = |_: &usize| value(&draw(&mut stream, universe, size)) < own;
    let mut missed: Vec<Missed> = killable
        .difference(&killed)
        .map(|mutant| Missed { mutant, killed_by: outcomes.kills[mutant].count_ones(..) })
        .collect();
    missed.sort_by_key(|missed| (std::cmp::Reverse(missed.killed_by), missed.mutant));
    Assessment {
        system: outcomes.system.clone(),
        universe,
        inputs: cases.len(),
        criteria: criteria(outcomes, cases),
        mutants: assessed(&killable),
        dominators: assessed(&analysis.dominators.representatives(outcomes.sites.mutants.len())),
        expected,
        random_suites: RANDOM_SUITES,
        random_below: (0..RANDOM_SUITES).filter(is_below).count(),
        absent: absent_features(outcomes, cases),
        additions: additions(outcomes, cases, &value),
        missed,
    }
}

/// Returns different test cases, drawn at random.
fn draw(stream: &mut NamedStream, universe: usize, size: usize) -> Vec<usize> {
    // Floyd's algorithm: each set of this size is as likely as any other.
    let mut drawn = Vec::with_capacity(size);
    for last in universe - size..universe {
        let case = stream.below(last + 1);
        drawn.push(if drawn.contains(&case) { last } else { case });
    }
    drawn
}

fn criteria(outcomes: &Outcomes, cases: &[usize]) -> Vec<AssessedCriterion> {
    let of_criterion = |criterion: &Criterion| {
        let union = |keeps: &dyn Fn(&usize) -> bool| {
            let mut union = BitSet::new();
            (0..outcomes.cases.len()).filter(keeps).for_each(|case| union.union_with(&criterion.covered[case]));
            union
        };
        let (covered, others) = (union(&|case| cases.contains(case)), union(&|case| !cases.contains(case)));
        AssessedCriterion {
            name: criterion.name.clone(),
            kind: criterion.kind,
            covered: covered.count_ones(..),
            feasible: union(&|_| true).count_ones(..),
            alone: covered.difference(&others).count(),
        }
    };
    outcomes.criteria.iter().map(of_criterion).collect()
}

/// Returns the inputs that add most to a suite's value, each to those before it; the first of equals.
fn additions(outcomes: &Outcomes, cases: &[usize], value: &dyn Fn(&[usize]) -> f64) -> Vec<Addition> {
    let universe = outcomes.cases.len();
    let mut suite = cases.to_vec();
    let mut additions = Vec::new();
    let mut score = value(&suite);
    // What an input adds only shrinks as the suite grows: no other one is looked up than those that may be the best.
    let mut gains: Vec<(f64, usize)> =
        (0..universe).filter(|case| !cases.contains(case)).map(|case| (f64::INFINITY, case)).collect();
    while additions.len() < ADDITIONS_MAX {
        gains.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let mut best: Option<(f64, usize)> = None;
        for (gain, case) in &mut gains {
            if best.is_some_and(|(most, _)| *gain <= most) {
                break;
            }
            suite.push(*case);
            *gain = value(&suite) - score;
            suite.pop();
            if best.is_none_or(|(most, first)| (*gain, std::cmp::Reverse(*case)) > (most, std::cmp::Reverse(first))) {
                best = Some((*gain, *case));
            }
        }
        let Some((_, case)) = best.filter(|(gain, _)| *gain > 0.0) else { break };
        gains.retain(|(_, other)| *other != case);
        suite.push(case);
        score = value(&suite);
        let name = case_name(&outcomes.system, case, universe);
        additions.push(Addition { case, name, input: outcomes.cases[case].case.clone(), score });
    }
    additions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisOptions, analyse};
    use simutant_synthetic::{from_kills, reseeded};

    fn options() -> AnalysisOptions {
        AnalysisOptions { resamples: 100, ..AnalysisOptions::default() }
    }

    #[test]
    fn a_suite_is_held_against_what_the_universe_kills_and_against_random_suites() {
        let outcomes = from_kills(&["k...", "k...", ".k..", "kk..", "..k.", "...."]);
        let analysis = analyse(&outcomes, &options()).expect("sound outcomes");
        let of = |cases: &[usize]| assess(&outcomes, &analysis, cases);
        let first = of(&[0]);
        assert_eq!(first.mutants.score, Score { killed: 3, of: 5 });
        // Test cases 0 to 3 kill 3, 2, 1 and 0 of five mutants.
        assert!((first.mutants.random.expect("some are killed") - 0.3).abs() < 1e-12);
        assert_eq!(first.missed, [Missed { mutant: 2, killed_by: 1 }, Missed { mutant: 4, killed_by: 1 }]);
        assert_eq!(first.additions.iter().map(|addition| addition.case).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(first.additions.last().map(|addition| addition.score), Some(1.0));
        // Three of four random suites of one test case score less.
        let share = first.random_below as f64 / first.random_suites as f64;
        assert!((share - 0.75).abs() < 0.08, "{share}");
        let none = of(&[3]);
        assert_eq!((none.mutants.score.killed, none.random_below), (0, 0));
        let all = of(&[0, 1, 2, 3]);
        assert!(all.missed.is_empty() && all.additions.is_empty());
        for criterion in &all.criteria {
            assert_eq!((criterion.covered, criterion.alone), (criterion.feasible, criterion.feasible));
        }
    }

    #[test]
    fn with_re_seedings_a_suite_is_assessed_by_what_it_is_expected_to_kill() {
        let outcomes = reseeded(&[&[8, 0, 0, 1], &[0, 4, 1, 4], &[0, 0, 7, 0]]);
        let analysis = analyse(&outcomes, &options()).expect("sound outcomes");
        let suite = assess(&outcomes, &analysis, &[0]);
        let expected = suite.expected.expect("there are re-seedings");
        assert!(expected.score.mean > expected.random * expected.worth.min(1.0) && expected.worth > 0.0);
        let scores: Vec<f64> = suite.additions.iter().map(|addition| addition.score).collect();
        assert!(scores.is_sorted() && scores[0] > expected.score.mean, "{scores:?}");
        // Exhaustively: no other single input adds more than the first one.
        let probabilities = KillProbabilities::of(&outcomes, &analysis.mutants).expect("there are re-seedings");
        let best = (1..4).filter_map(|case| Some(probabilities.score(&[0, case])?.mean)).fold(0.0, f64::max);
        assert_eq!(scores[0], best);
    }
}
