//! What an earlier experiment found on a system, beside what these outcomes say.
//!
//! Its effectiveness is the share of faulty implementations that a suite finds. A mutant score is another quantity, so
//! what can be compared is which criterion is better than which, not the numbers.

mod published;

use serde::{Deserialize, Serialize};

use crate::criteria::CriterionAnalysis;
use crate::ranking::{PairTest, Ranking};

pub use published::{
    Reference, ReferenceClaim, ReferenceCriterion, ReferenceError, ReferenceImplementations, ReferenceMutants,
    ReferencePreparation, ReferenceRelations,
};

/// How these outcomes stand to the claims of an earlier experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The claims about criteria that both have.
    pub claims: Vec<ClaimComparison>,
    /// Criteria of that experiment that these outcomes do not have, or that have no score here, in its order.
    pub only_there: Vec<String>,
    /// Criteria with scores here that it does not have.
    pub only_here: Vec<String>,
}

/// One claim of that experiment beside the test of it here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimComparison {
    /// The criterion that is better there.
    pub better: String,
    /// The other one.
    pub worse: String,
    /// What is found here, by the corrected rank test.
    pub agreement: Agreement,
    /// What is found here by the thesis's own test, without a correction.
    pub agreement_by_thesis: Agreement,
}

/// Whether a claim of an earlier experiment holds here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// It holds here significantly.
    Agrees,
    /// Neither it nor its opposite is significant here.
    Undecided,
    /// The opposite holds here significantly.
    Differs,
}

impl std::fmt::Display for Agreement {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Agrees => "agrees",
            Self::Undecided => "undecided",
            Self::Differs => "differs",
        })
    }
}

impl Comparison {
    /// Returns how many claims stand so, by the corrected rank test.
    pub fn count(&self, agreement: Agreement) -> usize {
        self.claims.iter().filter(|claim| claim.agreement == agreement).count()
    }

    /// Returns how many claims stand so by the thesis's own test.
    pub fn count_by_thesis(&self, agreement: Agreement) -> usize {
        self.claims.iter().filter(|claim| claim.agreement_by_thesis == agreement).count()
    }
}

impl Reference {
    /// Compares its claims with what is found here.
    pub fn compare(&self, criteria: &[CriterionAnalysis], ranking: &Ranking) -> Comparison {
        let here = |name: &str| ranking.order.iter().copied().find(|&index| criteria[index].name == name);
        let claims = self
            .claims
            .iter()
            .filter_map(|claim| {
                let (better, worse) = (here(&claim.better)?, here(&claim.worse)?);
                let by = |holds: fn(&PairTest) -> bool| {
                    let holds = |better, worse| ranking.pair(better, worse).is_some_and(holds);
                    match (holds(better, worse), holds(worse, better)) {
                        (true, _) => Agreement::Agrees,
                        (_, true) => Agreement::Differs,
                        _ => Agreement::Undecided,
                    }
                };
                Some(ClaimComparison {
                    better: claim.better.clone(),
                    worse: claim.worse.clone(),
                    agreement: by(|pair| pair.significant),
                    agreement_by_thesis: by(|pair| pair.thesis_holds),
                })
            })
            .collect();
        let there = |name: &str| self.criteria.iter().any(|criterion| criterion.name == name);
        let only_there = self.criteria.iter().filter(|criterion| here(&criterion.name).is_none());
        let only_here = ranking.order.iter().map(|&index| &criteria[index].name).filter(|name| !there(name));
        Comparison {
            claims,
            only_there: only_there.map(|criterion| criterion.name.clone()).collect(),
            only_here: only_here.cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conventional::Relation;
    use crate::statistics::Interval;
    use simutant_outcomes::CriterionKind;

    /// An experiment with four criteria, each better than those before it.
    fn published() -> Reference {
        let names = ["all-blocks", "all-branches", "IP-1", "all-uses"];
        let criterion = |(place, name): (usize, &&str)| ReferenceCriterion {
            name: (*name).into(),
            target: None,
            size: None,
            effectiveness: 0.1 * (place + 1) as f64,
            suites_min: None,
            boosted: 0.5,
        };
        let claim = |(better, worse): (usize, usize)| ReferenceClaim {
            better: names[better].into(),
            worse: names[worse].into(),
            mutant_p: "< 0.001".into(),
            effectiveness_p: "0.002".into(),
        };
        let pairs = [(2, 0), (2, 1), (1, 0), (3, 0), (3, 1), (3, 2)];
        let preparation = ReferencePreparation {
            cases: 1,
            mutants: 6,
            subjects: 1,
            simulation_s: 1.0,
            execution_s: 1.0,
            total_days: 1.0,
        };
        Reference {
            name: "earlier".into(),
            source: "made up".into(),
            predicted: "all were".into(),
            mutants: ReferenceMutants { all: 10, equivalent: 1, pathological: 4, used: 5 },
            criteria: names.iter().enumerate().map(criterion).collect(),
            claims: pairs.into_iter().map(claim).collect(),
            implementations: Some(ReferenceImplementations {
                failure_rates: vec![1.0],
                inputs: "none".into(),
                preparation,
                cost_effectiveness: vec![ReferenceRelations {
                    criterion: "all-uses".into(),
                    sizes: vec![3, 10],
                    cost: "-+".into(),
                    effectiveness: "+=".into(),
                }],
            }),
        }
    }

    fn criterion(name: &str) -> CriterionAnalysis {
        CriterionAnalysis {
            name: name.into(),
            kind: CriterionKind::BlackBox,
            requirements: 1,
            uncovered: Vec::new(),
            needed: 1,
            suites: Vec::new(),
            size: None,
            considered: None,
            score: None,
            dominator_score: None,
            cost: None,
            same_size: None,
            boosting: None,
            detection: Vec::new(),
        }
    }

    /// `significant` lists pairs of indices into `names`.
    fn compared(names: &[&str], significant: &[(usize, usize)]) -> Comparison {
        let criteria: Vec<CriterionAnalysis> = names.iter().map(|name| criterion(name)).collect();
        let pairs = significant.iter().map(|&(better, worse)| PairTest {
            better,
            worse,
            difference: 0.1,
            test: None,
            // The thesis's test holds for the first pair alone.
            thesis_holds: (better, worse) == significant[0],
            rank_sum_p: Some(0.0),
            effect: 1.0,
            effect_interval: Some(Interval { lower: 1.0, upper: 1.0 }),
            effect_interval_over_functions: None,
            same_size: None,
            equivalent_p: None,
            significant: true,
            same: false,
            implied: false,
        });
        let order = (0..names.len()).collect();
        let means = vec![0.5; names.len()];
        let ranking = Ranking { order, means, all: None, by_mutant: None, functions: 0, pairs: pairs.collect() };
        published().compare(&criteria, &ranking)
    }

    #[track_caller]
    fn check(names: &[&str], significant: &[(usize, usize)], expect: &[(&str, &str, Agreement)]) {
        let found = compared(names, significant);
        let found: Vec<_> = found.claims.iter().map(|c| (c.better.as_str(), c.worse.as_str(), c.agreement)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn each_shared_pair_agrees_differs_or_is_undecided() {
        check(
            &["all-blocks", "all-branches", "IP-1"],
            &[(2, 0), (0, 1)],
            &[
                ("IP-1", "all-blocks", Agreement::Agrees),
                ("IP-1", "all-branches", Agreement::Undecided),
                ("all-branches", "all-blocks", Agreement::Differs),
            ],
        );
    }

    #[test]
    fn the_thesis_s_own_test_is_counted_apart() {
        let found = compared(&["all-blocks", "all-branches", "IP-1"], &[(2, 0), (0, 1)]);
        let [agrees, undecided, differs] = [Agreement::Agrees, Agreement::Undecided, Agreement::Differs];
        assert_eq!([agrees, undecided, differs].map(|agreement| found.count(agreement)), [1, 1, 1]);
        assert_eq!([agrees, undecided, differs].map(|agreement| found.count_by_thesis(agreement)), [1, 2, 0]);
    }

    #[test]
    fn what_cannot_be_compared_follows_from_the_criteria_at_hand() {
        let missing = |names: &[&str]| {
            let found = compared(names, &[]);
            (found.claims.len(), found.only_there, found.only_here)
        };
        let some = ["all-blocks", "all-branches", "IP-1", "loss"];
        assert_eq!(missing(&some), (3, vec!["all-uses".to_owned()], vec!["loss".to_owned()]));
        let all = ["all-blocks", "all-branches", "IP-1", "all-uses"];
        assert_eq!(missing(&all), (6, Vec::new(), Vec::new()));
        assert_eq!(missing(&["loss"]).0, 0);
    }

    #[track_caller]
    fn check_refused(change: impl FnOnce(&mut Reference), expect: &str) {
        let mut reference = published();
        change(&mut reference);
        let error = reference.validate().expect_err("the figures do not fit together").to_string();
        assert!(error.starts_with(expect), "{error}");
    }

    #[test]
    fn figures_that_do_not_fit_together_are_refused() {
        assert_eq!(published().validate(), Ok(()));
        check_refused(|there| there.name.push(' '), "`name` is `earlier `");
        check_refused(|there| there.name.clear(), "`name` is ``");
        check_refused(|there| there.mutants.used += 1, "`mutants`: 10 are not the sum of the others, 11");
        check_refused(|there| there.criteria.swap(0, 1), "`criteria`: `all-blocks` has a lower effectiveness");
        check_refused(|there| there.claims[0].worse = "none".into(), "`none` is not among");
        let rows = |there: &mut Reference| -> Vec<ReferenceRelations> {
            std::mem::take(&mut there.implementations.as_mut().expect("it has some").cost_effectiveness)
        };
        let change = |row: fn(&mut ReferenceRelations), expect: &str| {
            check_refused(
                |there| {
                    let mut rows = rows(there);
                    row(&mut rows[0]);
                    there.implementations.as_mut().expect("it has some").cost_effectiveness = rows;
                },
                expect,
            );
        };
        change(|row| row.criterion = "none".into(), "`none` is not among");
        change(|row| row.sizes.reverse(), "`cost_effectiveness` of `all-uses`");
        change(|row| row.cost.push('+'), "`cost_effectiveness` of `all-uses`");
        change(|row| row.effectiveness = "+?".into(), "`cost_effectiveness` of `all-uses`");
    }

    #[test]
    fn a_row_has_relations_at_its_sizes_alone() {
        let row = &published().implementations.expect("it has some").cost_effectiveness[0];
        assert_eq!(row.at(10), Some([Relation::Better, Relation::Equivalent]));
        assert_eq!(row.at(3), Some([Relation::Worse, Relation::Better]));
        assert_eq!(row.at(4), None);
    }
}
