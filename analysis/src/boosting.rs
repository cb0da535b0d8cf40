//! The boosting scenario (thesis, sections 3.3.2 and 4.4): of several adequate suites, the one with the best score.

mod foresight;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, MutantNumber};

use crate::kills::KillsByCase;
use crate::options::AnalysisOptions;
use crate::probabilities::KillProbabilities;
use crate::random::NamedStream;
use crate::score::Score;
use crate::statistics::{Summary, ZTest, z_test};
use crate::suites::AdequateSuite;

pub use foresight::{Foresight, TopSuites};

/// The two halves of the analysed mutants: one chooses suites, the other judges the choice.
///
/// The thesis chooses by mutants and judges by implementations. Where only mutants are at hand, judging a suite by the
/// mutants that chose it would reward luck, so the judges are held out. Mutants with equal rows of the kill matrix are
/// kept together: one of them in each half would let the choosers see the verdict. The halves are therefore only as
/// equal as these groups allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldOut {
    /// The mutants that choose, ascending.
    pub choosing: Vec<MutantNumber>,
    /// The mutants that judge, ascending.
    pub judging: Vec<MutantNumber>,
}

/// What choosing among several suites of one criterion brings, judged by the held-out mutants: tables 4.12 to 4.14.
///
/// As in the thesis, each number of suites is tested at the same alpha, without a correction for having looked before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Boosting {
    /// The mean score of all suites on the judging mutants: what a suite taken at random brings.
    pub baseline: f64,
    /// One step per number of suites, from 2 up to the first that is significantly better than the baseline.
    pub steps: Vec<BoostingStep>,
    /// The least number of suites that is significantly better, `None` if none was up to the limit.
    pub suites_min: Option<usize>,
    /// Whether the scores that choose say anything about those that judge.
    pub foresight: Foresight,
}

/// Choosing the best of a number of suites, repeated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BoostingStep {
    /// How many suites there are to choose from.
    pub suites: usize,
    /// The scores of the chosen suites on the judging mutants, over the repetitions.
    pub score: Summary,
    /// Whether they are better than the baseline; `None` if they do not vary, which is never counted as significant.
    pub better: Option<ZTest>,
    /// The p-value of the opposite, that they are worse than the baseline, which the thesis never saw: one minus that
    /// of `better`.
    pub worse_p: Option<f64>,
}

impl Boosting {
    /// Returns the step that was significantly better, if there is one.
    pub fn boosted(&self) -> Option<&BoostingStep> {
        self.steps.iter().find(|step| Some(step.suites) == self.suites_min)
    }
}

/// Splits mutants into halves, each given with its row of the kill matrix; `None` if there are fewer than two different
/// rows.
pub(crate) fn hold_out<R: Ord>(mutants: impl Iterator<Item = (usize, R)>, seed: u64) -> Option<HeldOut> {
    // The map only finds equal rows. The groups are in the order of their first mutants, which no word size changes.
    let mut group_of: BTreeMap<R, usize> = BTreeMap::new();
    let mut groups: Vec<Vec<MutantNumber>> = Vec::new();
    for (mutant, row) in mutants {
        let group = *group_of.entry(row).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(mutant as MutantNumber);
    }
    if groups.len() < 2 {
        return None;
    }
    // The largest groups are dealt first, so that the small ones even out what they leave; equal ones in random order.
    let mut order: Vec<usize> = NamedStream::new(seed, "halves of the mutants").permutation(groups.len()).collect();
    order.sort_by_key(|&group| Reverse(groups[group].len()));
    let (mut choosing, mut judging) = (Vec::new(), Vec::new());
    for group in order {
        let half = if choosing.len() <= judging.len() { &mut choosing } else { &mut judging };
        half.extend_from_slice(&groups[group]);
    }
    choosing.sort_unstable();
    judging.sort_unstable();
    Some(HeldOut { choosing, judging })
}

impl HeldOut {
    /// Boosts with one half of the mutants, and judges by the other; `None` without suites.
    pub(crate) fn boost(
        &self,
        name: &str,
        suites: &[AdequateSuite],
        kills: Kills<'_>,
        options: &AnalysisOptions,
    ) -> Option<Boosting> {
        let half = |mutants: &[MutantNumber]| mutants.iter().map(|&mutant| mutant as usize).collect::<BitSet>();
        let (choosing, judging) = (half(&self.choosing), half(&self.judging));
        boost(name, suites, Faults { kills, counted: &choosing }, Faults { kills, counted: &judging }, options)
    }
}

/// Faults that a suite can find: mutants, or faulty implementations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Faults<'a> {
    pub(crate) kills: Kills<'a>,
    /// The numbers of those that scores count.
    pub(crate) counted: &'a BitSet,
}

/// Which test cases find which faults.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kills<'a> {
    /// A test case finds a fault or does not.
    Certain(&'a KillsByCase),
    /// A test case finds a fault with a probability.
    Likely(&'a KillProbabilities),
}

impl Faults<'_> {
    /// Returns how many test cases there are.
    fn cases(&self) -> usize {
        match self.kills {
            Kills::Certain(kills) => kills.cases(),
            Kills::Likely(probabilities) => probabilities.cases(),
        }
    }

    /// Returns the share of the faults that a suite finds, or is expected to find; `None` if none counts.
    fn score(&self, cases: &[usize]) -> Option<f64> {
        match self.kills {
            Kills::Certain(kills) => {
                let killed = kills.of_suite(cases).intersection_count(self.counted);
                Score { killed, of: self.counted.count_ones(..) }.value()
            }
            Kills::Likely(probabilities) => probabilities.score_on(cases, self.counted),
        }
    }
}

/// Tries growing numbers of suites of the criterion `name` until choosing among them, by what they find of the faults
/// `by`, is significantly better in what they find of the faults `judges`; `None` without suites or judges.
pub(crate) fn boost(
    name: &str,
    suites: &[AdequateSuite],
    by: Faults<'_>,
    judges: Faults<'_>,
    options: &AnalysisOptions,
) -> Option<Boosting> {
    let scores = PairedScores::of(suites, by, judges)?;
    let PairedScores { choosing, judging } = &scores;
    let baseline = Summary::of(judging)?.mean;
    let mut stream = NamedStream::new(options.seed, &format!("boosting of {name}"));
    let mut steps = Vec::new();
    let mut suites_min = None;
    for count in 2..=options.boosting_suites_max.min(suites.len()) {
        let scores: Vec<f64> = (0..options.boosting_repetitions)
            .map(|_| {
                // The first drawn of equals wins, which is a random one.
                let drawn = stream.permutation(suites.len()).take(count);
                let best = drawn.reduce(|best, next| if choosing[next] > choosing[best] { next } else { best });
                judging[best.expect("at least two suites are drawn")]
            })
            .collect();
        let score = Summary::of(&scores)?;
        let better = z_test(&score, baseline);
        steps.push(BoostingStep { suites: count, score, better, worse_p: better.map(|test| 1.0 - test.p) });
        if better.is_some_and(|test| test.p < options.alpha) {
            suites_min = Some(count);
            break;
        }
    }
    let foresight = foresight::foresight(name, suites, &scores, judges, options.seed);
    Some(Boosting { baseline, steps, suites_min, foresight })
}

/// The suites' scores by those that choose and those that judge.
#[derive(Debug)]
struct PairedScores {
    choosing: Vec<f64>,
    judging: Vec<f64>,
}

impl PairedScores {
    /// Returns the scores of `suites`, `None` without choosers or judges.
    fn of(suites: &[AdequateSuite], by: Faults<'_>, judges: Faults<'_>) -> Option<Self> {
        let scores =
            |faults: Faults<'_>| suites.iter().map(|suite| faults.score(&suite.cases)).collect::<Option<Vec<f64>>>();
        Some(Self { choosing: scores(by)?, judging: scores(judges)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_outcomes::Outcomes;
    use simutant_synthetic::from_kills;

    fn split(outcomes: &Outcomes, seed: u64) -> Option<HeldOut> {
        hold_out(outcomes.kills.iter().map(BitSet::as_slice).enumerate(), seed)
    }

    fn suites(cases: usize) -> Vec<AdequateSuite> {
        (0..cases)
            .map(|case| AdequateSuite {
                cases: vec![case],
                considered: 1,
                events_considered: 1,
                events_selected: 1,
                killed: 0,
                dominators_killed: 0,
            })
            .collect()
    }

    #[test]
    fn the_halves_share_nothing_and_split_no_equal_rows() {
        let rows = ["k...", "k...", ".k..", ".k..", "..k.", "..k.", "...k", "...k"];
        let outcomes = from_kills(&rows);
        for seed in 0..20 {
            let halves = split(&outcomes, seed).expect("there are several rows");
            assert_eq!((halves.choosing.len(), halves.judging.len()), (4, 4));
            for (one, other) in halves.choosing.iter().flat_map(|one| halves.judging.iter().map(move |o| (one, o))) {
                assert_ne!(rows[*one as usize], rows[*other as usize], "seed {seed}");
            }
        }
    }

    #[test]
    fn large_groups_are_dealt_first_so_that_the_halves_are_even() {
        let outcomes = from_kills(&["k....", "k....", "k....", "k....", ".k...", "..k..", "...k.", "....k"]);
        for seed in 0..20 {
            let halves = split(&outcomes, seed).expect("there are several rows");
            assert_eq!((halves.choosing.len(), halves.judging.len()), (4, 4), "seed {seed}");
        }
    }

    #[test]
    fn one_row_cannot_be_split() {
        let outcomes = from_kills(&["k..", "k.."]);
        assert_eq!(split(&outcomes, 1), None);
    }

    /// Cases 0 to 9 kill nothing, cases 10 to 19 everything: the choosers' favourite is the judges' favourite.
    #[test]
    fn boosting_finds_what_choosers_and_judges_agree_on() {
        let row = format!("{}{}", ".".repeat(10), "k".repeat(10));
        let outcomes = from_kills(&[row.as_str(); 4]);
        let halves = HeldOut { choosing: vec![0, 1], judging: vec![2, 3] };
        let found = halves
            .boost("c", &suites(20), Kills::Certain(&KillsByCase::new(&outcomes)), &AnalysisOptions::default())
            .expect("there are suites");
        assert_eq!(found.baseline, 0.5);
        assert_eq!(found.suites_min, Some(2));
        // Both of two are bad with probability 9/38.
        let mean = found.boosted().expect("it is significant").score.mean;
        assert!((mean - 29.0 / 38.0).abs() < 0.15, "{mean}");
    }

    /// What kills the choosers says nothing about the judges, so that nothing can be gained.
    #[test]
    fn luck_with_the_choosers_is_not_rewarded() {
        let outcomes = from_kills(&["kk..kk..kk..kk..", "k.k.k.k.k.k.k.k."]);
        let halves = HeldOut { choosing: vec![0], judging: vec![1] };
        let options = AnalysisOptions { alpha: 1e-6, ..AnalysisOptions::default() };
        let found =
            halves.boost("c", &suites(16), Kills::Certain(&KillsByCase::new(&outcomes)), &options).expect("suites");
        assert_eq!(found.suites_min, None);
        assert_eq!(found.steps.iter().map(|step| step.suites).collect::<Vec<_>>(), [2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn suites_that_all_score_alike_are_never_significant() {
        let outcomes = from_kills(&["kkkk", "kkkk"]);
        let halves = HeldOut { choosing: vec![0], judging: vec![1] };
        let found = halves
            .boost("c", &suites(4), Kills::Certain(&KillsByCase::new(&outcomes)), &AnalysisOptions::default())
            .expect("suites");
        assert!(found.steps.iter().all(|step| step.better.is_none()));
        assert_eq!(found.suites_min, None);
    }
}
