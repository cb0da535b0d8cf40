//! What a suite that nobody here chose is worth, beside suites from the universe that take as long, or are of its size.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Criterion, CriterionKind, Outcomes};

use crate::absent::{AbsentFeature, absent_features};
use crate::analysis::Analysis;
use crate::baseline::RandomBaseline;
use crate::case_names::case_name;
use crate::expected::beside::Beside;
use crate::expected::rules_of;
use crate::expected::worth::{RandomSuites, Worth, mean};
use crate::kills::KillsByCase;
use crate::mutants::MutantClass;
use crate::probabilities::{ExpectedScore, KillProbabilities};
use crate::score::Score;
use crate::seconds::seconds;
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
    /// What these take, one after the other, in seconds.
    pub seconds: f64,
    /// What it covers of each criterion, on its own seeds.
    pub criteria: Vec<AssessedCriterion>,
    /// What it kills of the mutants that some test case kills, on its own seeds.
    pub mutants: AssessedScore,
    /// What it kills of the dominator classes, on its own seeds.
    pub dominators: AssessedScore,
    /// What it is expected to kill when its chance is drawn anew; `None` without re-seedings, and for no test case.
    pub expected: Option<AssessedExpected>,
    /// How many suites were drawn at random that take as long on average, and how many of as many test cases.
    pub random_suites: usize,
    /// How many of those that take as long score less: their expected score, or without re-seedings the mutants they kill.
    pub random_below_same_time: usize,
    /// How many of those of as many test cases score less.
    pub random_below_same_size: usize,
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

/// How many a suite kills, and how many random suites do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AssessedScore {
    /// Of those that the universe kills.
    pub score: Score,
    /// The expected share that random suites kill that take as long on average; `None` if the universe kills none.
    pub random_same_time: Option<f64>,
    /// The expected share that a random suite of as many test cases kills.
    pub random_same_size: Option<f64>,
}

/// What a suite is expected to kill, each mutant counted by its difficulty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssessedExpected {
    /// Of all mutants that count.
    pub score: ExpectedScore,
    /// What random test cases and rules of thumb are expected to kill in the same time.
    pub same_time: Beside,
    /// What they are with as many inputs.
    pub same_size: Beside,
    /// What it is worth in random test cases.
    pub worth: Worth,
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
    let seconds = seconds(outcomes, &analysis.options);
    let time: f64 = cases.iter().map(|&case| seconds[case]).sum();
    let assessed = |of: &BitSet| {
        let baseline = RandomBaseline::new(of.ones().map(|mutant| &outcomes.kills[mutant]), universe);
        let random = |size: f64| baseline.mean_between(size.min(universe as f64));
        AssessedScore {
            score: Score { killed: killed.intersection(of).count(), of: of.count_ones(..) },
            random_same_time: random(time / mean(&seconds)),
            random_same_size: random(cases.len() as f64),
        }
    };
    let expected = probabilities.as_ref().filter(|_| !cases.is_empty()).and_then(|probabilities| {
        let score = probabilities.score(cases)?;
        let rules = rules_of(outcomes, &seconds);
        let beside = |prices: &[f64], limit: f64| {
            Beside::new(probabilities, (prices, limit), (score.mean, &rules), analysis.options.seed)
        };
        Some(AssessedExpected {
            same_time: beside(&seconds, time)?,
            same_size: beside(&vec![1.0; universe], cases.len() as f64)?,
            worth: RandomSuites::new(probabilities, cases.len(), &seconds)?.worth([(cases, score.mean)].into_iter()),
            score,
        })
    });
    let value = |cases: &[usize]| match &probabilities {
        Some(probabilities) => probabilities.score(cases).map_or(0.0, |score| score.mean),
        None => kills.of_suite(cases).intersection(&killable).count() as f64 / killable.count_ones(..).max(1) as f64,
    };
    let own = value(cases);
    let below = |prices: &[f64], limit: f64| {
        let mut stream = NamedStream::new(analysis.options.seed, "assessment");
        (0..RANDOM_SUITES).filter(|_| value(&draw(&mut stream, prices, limit)) < own).count()
    };
    let mut missed: Vec<Missed> = killable
        .difference(&killed)
        .map(|mutant| Missed { mutant, killed_by: outcomes.kills[mutant].count_ones(..) })
        .collect();
    missed.sort_by_key(|missed| (std::cmp::Reverse(missed.killed_by), missed.mutant));
    Assessment {
        system: outcomes.system.clone(),
        universe,
        inputs: cases.len(),
        seconds: time,
        criteria: criteria(outcomes, cases),
        mutants: assessed(&killable),
        dominators: assessed(&analysis.dominators.representatives(outcomes.sites.mutants.len())),
        expected,
        random_suites: RANDOM_SUITES,
        random_below_same_time: below(&seconds, time),
        random_below_same_size: below(&vec![1.0; universe], cases.len() as f64),
        absent: absent_features(outcomes, cases),
        additions: additions(outcomes, cases, &value),
        missed,
    }
}

/// Returns different test cases, drawn at random until a price is used up. The one at which it is, is among them with the
/// probability that makes the mean price of all that are drawn the given one.
fn draw(stream: &mut NamedStream, prices: &[f64], limit: f64) -> Vec<usize> {
    const PARTS: usize = 1 << 30;
    let (mut drawn, mut left) = (Vec::new(), limit);
    let part = stream.below(PARTS) as f64 / PARTS as f64;
    for case in stream.permutation(prices.len()) {
        if prices[case] * part >= left {
            break;
        }
        drawn.push(case);
        left -= prices[case];
        if left <= 0.0 {
            break;
        }
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
    use proptest::prelude::*;
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
        assert!((first.mutants.random_same_size.expect("some are killed") - 0.3).abs() < 1e-12);
        assert_eq!(first.missed, [Missed { mutant: 2, killed_by: 1 }, Missed { mutant: 4, killed_by: 1 }]);
        assert_eq!(first.additions.iter().map(|addition| addition.case).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(first.additions.last().map(|addition| addition.score), Some(1.0));
        // Three of four random suites of one test case score less.
        let share = first.random_below_same_size as f64 / first.random_suites as f64;
        assert!((share - 0.75).abs() < 0.08, "{share}");
        let none = of(&[3]);
        assert_eq!((none.mutants.score.killed, none.random_below_same_size, none.random_below_same_time), (0, 0, 0));
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
        let expected = suite.expected.as_ref().expect("there are re-seedings");
        assert!(expected.score.mean > expected.same_size.random * expected.worth.inputs.min(1.0));
        let scores: Vec<f64> = suite.additions.iter().map(|addition| addition.score).collect();
        assert!(scores.is_sorted() && scores[0] > expected.score.mean, "{scores:?}");
        // Exhaustively: no other single input adds more than the first one.
        let probabilities = KillProbabilities::of(&outcomes, &analysis.mutants).expect("there are re-seedings");
        let best = (1..4).filter_map(|case| Some(probabilities.score(&[0, case])?.mean)).fold(0.0, f64::max);
        assert_eq!(scores[0], best);
    }

    #[test]
    fn a_suite_is_held_against_what_takes_as_long_first() {
        let mut outcomes = reseeded(&[&[8, 0, 0, 1], &[0, 4, 1, 4], &[0, 0, 7, 0], &[8, 8, 0, 0]]);
        outcomes.cases.iter_mut().for_each(|case| case.virtual_time_ns = 0);
        let assessed = |outcomes: &Outcomes, cases: &[usize]| {
            assess(outcomes, &analyse(outcomes, &options()).expect("sound outcomes"), cases)
        };
        let equal = assessed(&outcomes, &[0]);
        let of_equal = equal.expected.as_ref().expect("there are re-seedings");
        assert_eq!((equal.random_below_same_time, equal.seconds), (equal.random_below_same_size, 0.3));
        assert!((of_equal.worth.time - of_equal.worth.inputs).abs() < 1e-12);
        assert_eq!(of_equal.same_time.random, of_equal.same_size.random);
        // The first test case takes ten times as long as each of the others.
        outcomes.cases[0].virtual_time_ns = 2_700_000_000;
        let dear = assessed(&outcomes, &[0]);
        let of_dear = dear.expected.as_ref().expect("there are re-seedings");
        assert!((dear.seconds - 3.0).abs() < 1e-12);
        assert_eq!(of_dear.worth.inputs, of_equal.worth.inputs);
        assert!((of_dear.worth.time - of_dear.worth.inputs * (3.9 / 4.0) / 3.0).abs() < 1e-12, "{of_dear:?}");
        assert_eq!(dear.random_below_same_size, equal.random_below_same_size);
        assert!(dear.random_below_same_time < equal.random_below_same_time, "{dear:?}");
        assert!(
            of_dear.same_time.random > of_equal.same_time.random
                && dear.mutants.random_same_time > dear.mutants.random_same_size
        );
    }

    proptest! {
        /// All that are drawn cost as much as was asked for on average.
        #[test]
        fn random_suites_cost_on_average_what_they_may(
            prices in prop::collection::vec(0.1..9.0_f64, 1..8),
            part in 0.05..0.9_f64,
            seed: u64,
        ) {
            const DRAWN: usize = 4_000;
            let limit = part * prices.iter().sum::<f64>();
            let mut stream = NamedStream::new(seed, "a test");
            let mean = (0..DRAWN).map(|_| draw(&mut stream, &prices, limit).iter().map(|&case| prices[case]).sum::<f64>()).sum::<f64>() / DRAWN as f64;
            prop_assert!((mean - limit).abs() < 9.0 * 4.5 / (DRAWN as f64).sqrt(), "{} is not {}", mean, limit);
            let ones = vec![1.0; prices.len()];
            prop_assert_eq!(draw(&mut stream, &ones, 1.0).len(), 1);
        }
    }
}
