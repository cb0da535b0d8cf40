//! The ranking scenario (thesis, sections 3.3.3 and 4.5): which criterion suits the system.

use serde::{Deserialize, Serialize};

use crate::criteria::CriterionAnalysis;
use crate::score::Score;
use crate::statistics::{ZTest, a12, holm, rank_sum, z_test};

/// The order of the criteria by mutant score, with what stands behind each step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// Indices of the criteria that have scores, highest mean first, equals in the order of the criteria.
    pub order: Vec<usize>,
    /// One test for each ordered pair of these, in the order of the criteria.
    pub pairs: Vec<PairTest>,
}

/// The test of the claim that one criterion's suites score higher than another's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairTest {
    /// Index of the criterion that is claimed to be better.
    pub better: usize,
    /// Index of the other one.
    pub worse: usize,
    /// Mean score of the first minus that of the second.
    pub difference: f64,
    /// The test of section 4.2; `None` if the scores of the first do not vary.
    pub test: Option<ZTest>,
    /// The one-sided p-value of the Mann-Whitney test, corrected by Holm's method for the number of pairs; `None` if
    /// all scores of both are equal.
    pub rank_sum_p: Option<f64>,
    /// The probability that a suite of the first scores higher than one of the second, equals counting half.
    pub effect: f64,
    /// Whether the claim holds at the option's alpha: by the test of section 4.2, or, where that is not defined, by the
    /// rank test.
    pub significant: bool,
    /// Whether the claim also follows from others that hold: then the graph of the order leaves it out.
    pub implied: bool,
}

impl PairTest {
    /// Returns the p-value that `significant` rests on.
    pub fn p(&self) -> Option<f64> {
        self.test.map(|test| test.p).or(self.rank_sum_p)
    }
}

impl Ranking {
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

/// Tests every ordered pair of the criteria that have scores on `analysed` mutants.
pub(crate) fn rank(criteria: &[CriterionAnalysis], analysed: usize, alpha: f64) -> Ranking {
    let scored: Vec<(usize, f64, Vec<f64>)> = criteria
        .iter()
        .enumerate()
        .filter_map(|(index, criterion)| {
            let score = |killed| Score { killed, of: analysed }.value();
            let scores: Option<Vec<f64>> = criterion.suites.iter().map(|suite| score(suite.killed)).collect();
            Some((index, criterion.score?.mean, scores?))
        })
        .collect();
    let mut order: Vec<usize> = (0..scored.len()).collect();
    order.sort_by(|&left, &right| scored[right].1.total_cmp(&scored[left].1));

    let mut pairs = Vec::new();
    for (better, mean, scores) in &scored {
        for (worse, other_mean, other_scores) in scored.iter().filter(|(worse, ..)| worse != better) {
            let summary = criteria[*better].score.expect("only criteria with scores are tested");
            pairs.push(PairTest {
                better: *better,
                worse: *worse,
                difference: mean - other_mean,
                test: z_test(&summary, *other_mean),
                rank_sum_p: rank_sum(scores, other_scores),
                effect: a12(scores, other_scores).expect("a criterion with a score has suites"),
                significant: false,
                implied: false,
            });
        }
    }
    correct(&mut pairs);
    for pair in &mut pairs {
        pair.significant = pair.difference > 0.0 && pair.p().is_some_and(|p| p < alpha);
    }
    let mut ranking = Ranking { order: order.into_iter().map(|place| scored[place].0).collect(), pairs };
    mark_implied(&mut ranking.pairs);
    ranking
}

/// Replaces the p-values of the rank test by corrected ones.
fn correct(pairs: &mut [PairTest]) {
    let known: Vec<f64> = pairs.iter().filter_map(|pair| pair.rank_sum_p).collect();
    let mut corrected = holm(&known).into_iter();
    pairs.iter_mut().filter_map(|pair| pair.rank_sum_p.as_mut()).for_each(|p| {
        *p = corrected.next().expect("there is one corrected value for each");
    });
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
    use crate::suites::AdequateSuite;
    use simutant_outcomes::{BitSet, Criterion, CriterionKind};

    /// Criteria `a`, `b`, ... whose suites kill these numbers of 10 mutants.
    fn ranked(killed: &[&[usize]]) -> Ranking {
        let criteria: Vec<CriterionAnalysis> = killed
            .iter()
            .zip('a'..)
            .map(|(killed, name)| {
                let criterion = Criterion {
                    name: name.to_string(),
                    kind: CriterionKind::BlackBox,
                    requirements: vec!["r".into()],
                    quotas: Vec::new(),
                    covered: vec![BitSet::with_capacity(1)],
                };
                let suites = killed
                    .iter()
                    .map(|&killed| AdequateSuite {
                        cases: vec![0],
                        considered: 1,
                        events_considered: 1,
                        events_selected: 1,
                        killed,
                        dominators_killed: 0,
                    })
                    .collect();
                CriterionAnalysis::new(&criterion, suites, 10, 0, 10)
            })
            .collect();
        rank(&criteria, 10, 0.05)
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
        check(&[&[1, 2, 1, 2], &[5, 6, 5, 6], &[8, 9, 8, 9]], &[2, 1, 0], &[(1, 0), (2, 1)], &[0, 1, 2]);
    }

    #[test]
    fn what_is_not_significant_shares_a_layer() {
        check(&[&[1, 9, 4, 6], &[2, 9, 4, 6], &[0, 0, 1, 0]], &[1, 0, 2], &[(0, 2), (1, 2)], &[0, 0, 1]);
    }

    #[test]
    fn scores_that_do_not_vary_are_told_apart_by_ranks() {
        let ranking = ranked(&[&[3; 10], &[7; 10]]);
        let pair = ranking.pair(1, 0).expect("every ordered pair is tested");
        assert_eq!((pair.test, pair.significant, pair.effect), (None, true, 1.0));
        assert!(!ranking.pair(0, 1).expect("every ordered pair is tested").significant);
    }

    #[test]
    fn equal_scores_decide_nothing() {
        check(&[&[5, 5, 5], &[5, 5, 5]], &[0, 1], &[], &[0, 0]);
        check(&[&[], &[5, 6]], &[1], &[], &[0]);
        check(&[], &[], &[], &[]);
    }
}
