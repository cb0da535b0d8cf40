//! The ranking scenario (thesis, sections 3.3.3 and 4.5): which criterion suits the system.
//!
//! Where the thesis tests each pair by its normal test at the same alpha, here all criteria are tested together first
//! (Kruskal-Wallis), then each pair by ranks, corrected for the number of pairs (Holm). The thesis's test stands
//! beside.

mod pairs;

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Outcomes};

use crate::criteria::CriterionAnalysis;
use crate::options::AnalysisOptions;
use crate::score::Score;
use crate::statistics::{Bootstrap, Friedman, KruskalWallis, Summary, friedman, kruskal_wallis, nemenyi_difference};
use crate::suites::AdequateSuite;

pub use pairs::{PairTest, SameSizeTest};

/// The order of the criteria by the scores of their suites, with what stands behind each step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Indices of the criteria that have scores, highest mean first, equals in the order of the criteria.
    pub order: Vec<usize>,
    /// The mean scores of their suites, in this order.
    pub means: Vec<f64>,
    /// Whether the criteria differ at all, by their suites' scores; `None` with fewer than two criteria, or if all
    /// scores are equal.
    pub all: Option<KruskalWallis>,
    /// The same by mutants instead of suites.
    pub by_mutant: Option<ByMutant>,
    /// How many functions the analysed mutants are of: what intervals over functions rest on.
    pub functions: usize,
    /// One test for each ordered pair of these, in the order of the criteria.
    pub pairs: Vec<PairTest>,
}

/// Whether the criteria differ in how often their suites kill the same mutant: a test over mutants as blocks.
///
/// What is significant here would be expected of other mutants like these, too. Mutants with equal rows of the kill
/// matrix are one block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ByMutant {
    /// Indices of the criteria that have scores, in the order of the criteria.
    pub criteria: Vec<usize>,
    /// How many different rows the analysed mutants have.
    pub blocks: usize,
    /// The test; its mean ranks are in the order of `criteria`.
    pub test: Friedman,
    /// By how much the mean ranks of two criteria must differ to be significant (Nemenyi).
    pub critical_difference: f64,
}

impl Ranking {
    /// Returns the mean score of the suites of a criterion; `None` if they have none.
    pub fn mean(&self, criterion: usize) -> Option<f64> {
        let place = self.order.iter().position(|&other| other == criterion)?;
        Some(self.means[place])
    }

    /// Returns the claims that hold and do not follow from others: the edges of the graph of the order.
    pub fn edges(&self) -> impl Iterator<Item = &PairTest> {
        self.pairs.iter().filter(|pair| pair.significant && !pair.implied)
    }

    /// Returns the test of the claim that `better` scores higher than `worse`.
    pub fn pair(&self, better: usize, worse: usize) -> Option<&PairTest> {
        self.pairs.iter().find(|pair| (pair.better, pair.worse) == (better, worse))
    }

    /// Returns for each criterion of [`Ranking::order`] its layer in the graph: 0 for those that nothing is better
    /// than, otherwise one more than the lowest of those that are better.
    pub fn layers(&self) -> Vec<usize> {
        let mut layers = Vec::with_capacity(self.order.len());
        for (place, &criterion) in self.order.iter().enumerate() {
            let above = (0..place)
                .filter(|&other| self.pair(self.order[other], criterion).is_some_and(|pair| pair.significant));
            let layer = above.map(|other| layers[other] + 1).max().unwrap_or(0);
            layers.push(layer);
        }
        layers
    }
}

/// What criteria are compared on.
#[derive(Debug)]
pub(crate) struct Comparing<'a> {
    /// The function that each mutant is of.
    pub(crate) functions: Vec<usize>,
    /// The mutants that scores count.
    pub(crate) analysed: &'a BitSet,
    /// One of those for each different row of the kill matrix, ascending.
    pub(crate) different: Vec<usize>,
    /// The mutants that each suite of each criterion kills.
    pub(crate) killed: Killed<'a>,
    pub(crate) options: &'a AnalysisOptions,
    /// How many threads draw.
    pub(crate) threads: NonZeroUsize,
}

/// The mutants that each suite of each criterion kills.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Killed<'a> {
    /// Those on own seeds.
    Certain(&'a [Vec<BitSet>]),
    /// How likely each of them is killed.
    Likely {
        /// Shape `criteria x suites x mutants`.
        probabilities: &'a [Vec<Vec<f64>>],
        /// How much each mutant counts.
        weights: &'a [f64],
    },
}

impl<'a> Comparing<'a> {
    /// Compares criteria on the mutants of `outcomes`.
    pub(crate) fn of(
        outcomes: &'a Outcomes,
        analysed: &'a BitSet,
        killed: &'a [Vec<BitSet>],
        options: &'a AnalysisOptions,
        threads: NonZeroUsize,
    ) -> Self {
        let functions = outcomes.sites.mutants.iter().map(|mutant| mutant.function).collect();
        let different = different(analysed.ones().map(|mutant| (mutant, outcomes.kills[mutant].as_slice())));
        Self { functions, analysed, different, killed: Killed::Certain(killed), options, threads }
    }
}

/// Returns the first of each set of mutants with equal rows.
pub(crate) fn different<R: Ord>(rows: impl Iterator<Item = (usize, R)>) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    rows.filter_map(|(mutant, row)| seen.insert(row).then_some(mutant)).collect()
}

/// A criterion that has scores.
struct Scored<'a> {
    index: usize,
    summary: Summary,
    suites: &'a [AdequateSuite],
    scores: Vec<f64>,
    /// How much each suite kills, as a number that orders suites as scores do.
    killed: Vec<u32>,
    /// The same of the analysed mutants of each function; functions without any are left out.
    by_function: Vec<Vec<u32>>,
}

/// What is drawn again costs as much as there are numbers, so probabilities are counted in this part of all weights.
const LEVELS: f64 = 500.0;

/// Tests every ordered pair of the criteria that have scores.
pub(crate) fn rank(criteria: &[CriterionAnalysis], comparing: &Comparing<'_>) -> Ranking {
    let Comparing { ref functions, analysed, killed, options, threads, .. } = *comparing;
    let of = analysed.count_ones(..);
    let place = places_of_functions(functions, analysed);
    let functions = place.iter().flatten().max().map_or(0, |last| last + 1);
    let by_function = |killed: &BitSet| {
        let mut counts = vec![0; functions];
        killed.intersection(analysed).filter_map(|mutant| place[mutant]).for_each(|function| counts[function] += 1);
        counts
    };
    let scored: Vec<Scored<'_>> = criteria
        .iter()
        .enumerate()
        .filter_map(|(index, criterion)| {
            let suites = &criterion.suites;
            Some(match killed {
                Killed::Certain(killed) => {
                    let scores = suites.iter().map(|suite| Score { killed: suite.killed, of }.value());
                    let counts = suites.iter().map(|suite| suite.killed as u32).collect();
                    let by_function = killed[index].iter().map(by_function).collect();
                    let scores = scores.collect::<Option<_>>()?;
                    Scored { index, summary: criterion.score?, suites, scores, killed: counts, by_function }
                }
                Killed::Likely { probabilities, weights } => {
                    let total: f64 = weights.iter().sum();
                    let level = |share: f64| (LEVELS * share / total).round() as u32;
                    let weighted =
                        |found: &[f64]| found.iter().zip(weights).map(|(found, weight)| found * weight).sum();
                    let sums: Vec<f64> = probabilities[index].iter().map(|found| weighted(found)).collect();
                    let by_function = |found: &Vec<f64>| {
                        let mut sums = vec![0.0; functions];
                        for (mutant, (found, weight)) in found.iter().zip(weights).enumerate() {
                            place[mutant].into_iter().for_each(|function| sums[function] += found * weight);
                        }
                        sums.into_iter().map(level).collect()
                    };
                    let scores: Vec<f64> = sums.iter().map(|sum| sum / total).collect();
                    Scored {
                        index,
                        summary: Summary::of(&scores)?,
                        suites,
                        scores,
                        killed: sums.into_iter().map(level).collect(),
                        by_function: probabilities[index].iter().map(by_function).collect(),
                    }
                }
            })
        })
        .collect();
    let mut order: Vec<usize> = (0..scored.len()).collect();
    order.sort_by(|&left, &right| scored[right].summary.mean.total_cmp(&scored[left].summary.mean));

    let all = kruskal_wallis(&scored.iter().map(|criterion| criterion.scores.as_slice()).collect::<Vec<_>>());
    let any_differs = all.is_some_and(|test| test.p < options.alpha);
    let bootstrap = Bootstrap { seed: options.seed, purpose: "ranking", resamples: options.resamples, threads };
    let mut pairs = pairs::test(&scored, any_differs, options, &bootstrap);
    mark_implied(&mut pairs);
    let by_mutant = by_mutant(&scored, comparing);
    Ranking {
        means: order.iter().map(|&place| scored[place].summary.mean).collect(),
        order: order.into_iter().map(|place| scored[place].index).collect(),
        all,
        functions,
        by_mutant,
        pairs,
    }
}

/// Numbers the functions that have analysed mutants; returns that of each analysed mutant.
fn places_of_functions(functions: &[usize], analysed: &BitSet) -> Vec<Option<usize>> {
    let mut analysed_functions: Vec<usize> = analysed.ones().map(|mutant| functions[mutant]).collect();
    analysed_functions.sort_unstable();
    analysed_functions.dedup();
    let place = |mutant: usize| analysed_functions.binary_search(&functions[mutant]).ok();
    (0..functions.len()).map(|mutant| place(mutant).filter(|_| analysed.contains(mutant))).collect()
}

fn by_mutant(scored: &[Scored<'_>], comparing: &Comparing<'_>) -> Option<ByMutant> {
    let share = |criterion: &Scored<'_>, mutant: usize| match comparing.killed {
        Killed::Certain(killed) => {
            let killed = &killed[criterion.index];
            killed.iter().filter(|killed| killed.contains(mutant)).count() as f64 / killed.len() as f64
        }
        Killed::Likely { probabilities, .. } => {
            let found = &probabilities[criterion.index];
            found.iter().map(|found| found[mutant]).sum::<f64>() / found.len() as f64
        }
    };
    let of_criteria = |&mutant: &usize| scored.iter().map(|criterion| share(criterion, mutant)).collect();
    let blocks: Vec<Vec<f64>> = comparing.different.iter().map(of_criteria).collect();
    let test = friedman(&blocks)?;
    let critical_difference = nemenyi_difference(scored.len(), blocks.len(), comparing.options.alpha)?;
    let criteria = scored.iter().map(|criterion| criterion.index).collect();
    Some(ByMutant { criteria, blocks: blocks.len(), test, critical_difference })
}

/// Marks the edges that a longer path of edges replaces: the transitive reduction. Significant claims go from higher to
/// lower means, so they make no cycle and the reduction is unique.
fn mark_implied(pairs: &mut [PairTest]) {
    let edges: Vec<(usize, usize)> =
        pairs.iter().filter(|pair| pair.significant).map(|pair| (pair.better, pair.worse)).collect();
    for pair in pairs.iter_mut().filter(|pair| pair.significant) {
        let mut seen: Vec<usize> =
            edges.iter().filter(|&&(from, to)| from == pair.better && to != pair.worse).map(|&(_, to)| to).collect();
        let mut next = 0;
        while next < seen.len() {
            let reached: Vec<usize> =
                edges.iter().filter(|&&(from, to)| from == seen[next] && !seen.contains(&to)).map(|e| e.1).collect();
            seen.extend(reached);
            next += 1;
        }
        pair.implied = seen.contains(&pair.worse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;
    use simutant_outcomes::{Criterion, CriterionKind};
    use simutant_synthetic::from_kills;

    /// Criteria `a`, `b`, ... with a suite for each number, which kills that many of 10 mutants; the suites of a
    /// criterion have these sizes in turn.
    fn ranked_with_sizes(killed: &[&[usize]], sizes: &[&[usize]]) -> Ranking {
        let outcomes = from_kills(&["k."; 10]);
        let analysed: BitSet = (0..10).collect();
        let criteria: Vec<CriterionAnalysis> = killed
            .iter()
            .zip(sizes)
            .zip('a'..)
            .map(|((killed, sizes), name)| {
                let criterion = Criterion {
                    name: name.to_string(),
                    kind: CriterionKind::BlackBox,
                    requirements: vec!["r".into()],
                    quotas: Vec::new(),
                    covered: vec![BitSet::with_capacity(1)],
                };
                let suites = killed.iter().zip(sizes.iter().cycle()).map(|(&killed, &size)| AdequateSuite {
                    cases: vec![0; size],
                    considered: 1,
                    events_considered: 1,
                    events_selected: 1,
                    killed,
                    dominators_killed: 0,
                });
                CriterionAnalysis::new(&criterion, suites.collect(), 10, 0, 10)
            })
            .collect();
        let first = |&count: &usize| {
            let mut set = BitSet::with_capacity(10);
            set.insert_range(..count);
            set
        };
        let killed: Vec<Vec<BitSet>> = killed.iter().map(|killed| killed.iter().map(first).collect()).collect();
        let options = AnalysisOptions { resamples: 200, ..AnalysisOptions::default() };
        rank(&criteria, &Comparing::of(&outcomes, &analysed, &killed, &options, NonZeroUsize::MIN))
    }

    fn ranked(killed: &[&[usize]]) -> Ranking {
        ranked_with_sizes(killed, &vec![&[1_usize][..]; killed.len()])
    }

    #[track_caller]
    fn check(killed: &[&[usize]], order: &[usize], edges: &[(usize, usize)], layers: &[usize]) {
        let ranking = ranked(killed);
        assert_eq!(ranking.order, order);
        assert_eq!(ranking.edges().map(|pair| (pair.better, pair.worse)).collect::<Vec<_>>(), edges);
        assert_eq!(ranking.layers(), layers);
    }

    #[test]
    fn a_chain_has_no_edge_that_others_imply() {
        check(
            &[&[1, 2, 1, 2, 1, 2], &[5, 6, 5, 6, 5, 6], &[8, 9, 8, 9, 8, 9]],
            &[2, 1, 0],
            &[(1, 0), (2, 1)],
            &[0, 1, 2],
        );
    }

    #[test]
    fn what_is_not_significant_shares_a_layer() {
        let killed: [&[usize]; 3] = [&[1, 9, 4, 6, 5, 7, 3, 8], &[2, 9, 4, 6, 5, 7, 3, 8], &[0, 0, 1, 0, 0, 1, 0, 0]];
        check(&killed, &[1, 0, 2], &[(0, 2), (1, 2)], &[0, 0, 1]);
    }

    #[test]
    fn scores_that_do_not_vary_are_told_apart_by_ranks() {
        let ranking = ranked(&[&[3; 10], &[7; 10]]);
        let pair = ranking.pair(1, 0).expect("every ordered pair is tested");
        assert_eq!((pair.test, pair.significant, pair.effect, pair.thesis_holds), (None, true, 1.0, true));
        assert_eq!(pair.effect_interval, Some(Interval { lower: 1.0, upper: 1.0 }));
        assert!(!ranking.pair(0, 1).expect("every ordered pair is tested").significant);
    }

    #[test]
    fn equal_scores_decide_nothing_and_are_the_same() {
        check(&[&[5, 5, 5], &[5, 5, 5]], &[0, 1], &[], &[0, 0]);
        let ranking = ranked(&[&[5, 5, 5], &[5, 5, 5]]);
        assert_eq!(ranking.all, None);
        let pair = ranking.pair(0, 1).expect("every ordered pair is tested");
        assert_eq!((pair.rank_sum_p, pair.equivalent_p, pair.same_size, pair.same), (None, None, None, true));
        check(&[&[], &[5, 6]], &[1], &[], &[0]);
        check(&[], &[], &[], &[]);
    }

    /// Two suites each: the thesis's test takes the other mean as known and holds, ranks of four values cannot.
    #[test]
    fn a_claim_does_not_hold_by_the_test_of_the_thesis_alone() {
        let ranking = ranked(&[&[5, 5], &[6, 7]]);
        let pair = ranking.pair(1, 0).expect("every ordered pair is tested");
        assert!(pair.test.is_some_and(|test| test.p < 0.05) && pair.thesis_holds);
        assert!(!pair.significant && pair.rank_sum_p.is_some_and(|p| p > 0.3), "{pair:?}");
        assert_eq!(ranking.edges().count(), 0);
    }

    #[test]
    fn one_suite_each_decides_nothing() {
        let ranking = ranked(&[&[3], &[5]]);
        let pair = ranking.pair(1, 0).expect("every ordered pair is tested");
        assert_eq!((pair.rank_sum_p, pair.effect, pair.test), (Some(1.0), 1.0, None));
        assert!(!pair.significant && !pair.same && !pair.thesis_holds, "{pair:?}");
    }

    #[test]
    fn the_two_sides_of_a_pair_mirror_each_other() {
        let ranking = ranked_with_sizes(&[&[1, 4, 6, 2, 7, 5], &[5, 9, 4, 8, 6, 7]], &[&[1, 2], &[2, 3]]);
        let (one, other) = (ranking.pair(0, 1).expect("tested"), ranking.pair(1, 0).expect("tested"));
        assert_eq!(one.difference, -other.difference);
        assert!((one.effect + other.effect - 1.0).abs() < 1e-12);
        let [own, others] = [one, other].map(|pair| pair.effect_interval.expect("there are suites enough"));
        assert!((own.lower + others.upper - 1.0).abs() < 1e-12);
        assert!(own.lower < one.effect && one.effect < own.upper);
        let (one, other) = (one.same_size.expect("they share a size"), other.same_size.expect("they share a size"));
        // The three suites of size 2 are 4, 2, 5 and 5, 4, 6.
        assert_eq!((one.sizes, one.suites_better, one.suites_worse), (1, 3, 3));
        assert!((one.effect - 2.0 / 9.0).abs() < 1e-12 && (one.effect + other.effect - 1.0).abs() < 1e-12);
    }

    #[test]
    fn means_within_the_margin_are_the_same_if_they_are_sure() {
        let many: Vec<usize> = (0..400).map(|index| 5 + usize::from(index % 50 == 0)).collect();
        let ranking = ranked(&[&many, &many, &[4, 6, 5]]);
        assert!(ranking.pair(0, 1).expect("tested").same, "{:?}", ranking.pair(0, 1));
        assert!(!ranking.pair(0, 2).expect("tested").same, "three suites are not sure");
    }

    #[test]
    fn mutants_are_blocks_once_for_each_row() {
        let mut outcomes = from_kills(&["k.....", "k.....", ".k....", "..k...", "...kk."]);
        let mut some = outcomes.criteria[0].clone();
        some.name = "the first case".into();
        some.covered.iter_mut().skip(1).for_each(|covered| covered.clear());
        outcomes.criteria.push(some);
        let analysis = crate::analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let by_mutant = analysis.ranking.by_mutant.expect("the criteria differ");
        assert_eq!((by_mutant.criteria, by_mutant.blocks), (vec![0, 1], 4));
        // Both kill the first mutant, the first criterion the others.
        assert_eq!(by_mutant.test.mean_ranks, [1.875, 1.125]);
        assert!((by_mutant.critical_difference - 0.979_982).abs() < 1e-5, "{}", by_mutant.critical_difference);
    }
}
