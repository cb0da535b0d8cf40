//! What the original experiments found, beside what these outcomes say.
//!
//! The figures are those of Matthew J. Rutherford, PhD thesis, University of Colorado, chapter 4. Its effectiveness is
//! the share of faulty implementations that a suite finds. A mutant score is another quantity, so what can be
//! compared is which criterion is better than which, not the numbers.

use serde::{Deserialize, Serialize};

use crate::criteria::CriterionAnalysis;
use crate::ranking::{PairTest, Ranking};

/// What the thesis reports about one system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// The system.
    pub system: &'static str,
    /// Mutants: all, equivalent, pathological, used (table 4.2).
    pub mutants: [usize; 4],
    /// The criteria, by rising effectiveness.
    pub criteria: &'static [ReferenceCriterion],
    /// The claims that hold significantly by mutant score (tables 4.15 to 4.17), in the order of the table. By
    /// effectiveness all do but one of `dns`.
    pub claims: &'static [ReferenceClaim],
    /// Where the figures stand.
    pub source: &'static str,
}

/// What the thesis reports about one criterion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceCriterion {
    /// Its name.
    pub name: &'static str,
    /// The share of the requirements that suites aim at (table 4.7), for white-box criteria.
    pub target: Option<f64>,
    /// The mean size of a suite (table 4.8), for white-box criteria.
    pub size: Option<f64>,
    /// The mean effectiveness of a suite (tables 4.12 to 4.14).
    pub effectiveness: f64,
    /// The least number of suites with which boosting is significant, `None` if none up to 8 (tables 4.12 to 4.14).
    pub suites_min: Option<usize>,
    /// The effectiveness with boosting (tables 4.12 to 4.14).
    pub boosted: f64,
}

/// The claim that one criterion is better than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceClaim {
    /// The better criterion.
    pub better: &'static str,
    /// The other one.
    pub worse: &'static str,
    /// The p-value by mutant score, as printed.
    pub mutant_p: &'static str,
    /// The p-value by effectiveness on implementations, as printed.
    pub effectiveness_p: &'static str,
}

/// How these outcomes stand to the claims of the thesis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The claims about criteria that both have.
    pub claims: Vec<ClaimComparison>,
    /// Criteria of the thesis that these outcomes do not have, or that have no score here, in the thesis's order.
    pub only_there: Vec<String>,
    /// Criteria with scores here that the thesis does not have.
    pub only_here: Vec<String>,
}

/// One claim of the thesis beside the test of it here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimComparison {
    /// The criterion that is better in the thesis.
    pub better: String,
    /// The other one.
    pub worse: String,
    /// What is found here, by the corrected rank test.
    pub agreement: Agreement,
    /// What is found here by the thesis's own test, without a correction.
    pub agreement_by_thesis: Agreement,
}

/// Whether a claim of the thesis holds here.
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

    /// Returns in one sentence each: how many claims agree, and what could not be compared.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.claims.is_empty() {
            sentences.push("No pair of criteria is both here and in the thesis.".into());
        } else {
            sentences.push(format!(
                "Of the {} pairs of criteria that both have, {} stand in the thesis's order, {} in the opposite one, and \
                 {} are not significantly different here (by the thesis's own test, which corrects for nothing: {}, {} and {}).",
                self.claims.len(),
                self.count(Agreement::Agrees),
                self.count(Agreement::Differs),
                self.count(Agreement::Undecided),
                self.count_by_thesis(Agreement::Agrees),
                self.count_by_thesis(Agreement::Differs),
                self.count_by_thesis(Agreement::Undecided),
            ));
        }
        if !self.only_there.is_empty() {
            sentences.push(format!("The thesis also has {}, without a score here.", self.only_there.join(", ")));
        }
        if !self.only_here.is_empty() {
            sentences.push(format!("The thesis does not have {}.", self.only_here.join(", ")));
        }
        sentences
    }
}

/// Returns what the thesis reports about `system`, `None` if it reports nothing that can be compared.
pub fn reference(system: &str) -> Option<&'static Reference> {
    [&GBN, &LSR, &DNS].into_iter().find(|reference| reference.system == system)
}

/// Compares the claims of `reference` with what is found here.
pub(crate) fn compare(reference: &Reference, criteria: &[CriterionAnalysis], ranking: &Ranking) -> Comparison {
    let here = |name: &str| ranking.order.iter().copied().find(|&index| criteria[index].name == name);
    let claims = reference
        .claims
        .iter()
        .filter_map(|claim| {
            let (better, worse) = (here(claim.better)?, here(claim.worse)?);
            let by = |holds: fn(&PairTest) -> bool| {
                let holds = |better, worse| ranking.pair(better, worse).is_some_and(holds);
                match (holds(better, worse), holds(worse, better)) {
                    (true, _) => Agreement::Agrees,
                    (_, true) => Agreement::Differs,
                    _ => Agreement::Undecided,
                }
            };
            Some(ClaimComparison {
                better: claim.better.into(),
                worse: claim.worse.into(),
                agreement: by(|pair| pair.significant),
                agreement_by_thesis: by(|pair| pair.thesis_holds),
            })
        })
        .collect();
    let there = |name: &str| reference.criteria.iter().any(|criterion| criterion.name == name);
    let only_there = reference.criteria.iter().filter(|criterion| here(criterion.name).is_none());
    let only_here = ranking.order.iter().map(|&index| &criteria[index].name).filter(|name| !there(name));
    Comparison {
        claims,
        only_there: only_there.map(|criterion| criterion.name.into()).collect(),
        only_here: only_here.cloned().collect(),
    }
}

const fn claim(
    better: &'static str,
    worse: &'static str,
    mutant_p: &'static str,
    effectiveness_p: &'static str,
) -> ReferenceClaim {
    ReferenceClaim { better, worse, mutant_p, effectiveness_p }
}

const GBN: Reference = Reference {
    system: "gbn-thesis",
    mutants: [488, 74, 342, 72],
    criteria: &[
        ReferenceCriterion {
            name: "all-blocks",
            target: Some(1.0),
            size: Some(3.1),
            effectiveness: 0.19,
            suites_min: Some(2),
            boosted: 0.27,
        },
        ReferenceCriterion {
            name: "all-branches",
            target: Some(0.969),
            size: Some(4.1),
            effectiveness: 0.22,
            suites_min: Some(2),
            boosted: 0.29,
        },
        ReferenceCriterion {
            name: "IP-1",
            target: None,
            size: None,
            effectiveness: 0.29,
            suites_min: Some(2),
            boosted: 0.32,
        },
        ReferenceCriterion {
            name: "all-uses",
            target: Some(0.915),
            size: Some(4.7),
            // Table 4.8 has 0.35, where table 4.12 has 0.34.
            effectiveness: 0.34,
            suites_min: None,
            boosted: 0.34,
        },
        ReferenceCriterion {
            name: "IP-2",
            target: None,
            size: None,
            effectiveness: 0.37,
            suites_min: Some(3),
            boosted: 0.41,
        },
    ],
    claims: &[
        claim("IP-1", "all-blocks", "< 0.001", "< 0.001"),
        claim("IP-1", "all-branches", "< 0.001", "< 0.001"),
        claim("IP-2", "all-uses", "< 0.001", "0.004"),
        claim("all-branches", "all-blocks", "< 0.001", "0.002"),
        claim("all-uses", "all-blocks", "< 0.001", "< 0.001"),
        claim("IP-2", "all-blocks", "< 0.001", "< 0.001"),
        claim("all-uses", "all-branches", "< 0.001", "< 0.001"),
        claim("IP-2", "all-branches", "< 0.001", "< 0.001"),
        claim("IP-2", "IP-1", "< 0.001", "< 0.001"),
        claim("all-uses", "IP-1", "< 0.001", "< 0.001"),
    ],
    source: "Rutherford, PhD thesis, University of Colorado, tables 4.2, 4.7, 4.8, 4.12 and 4.15",
};

const LSR: Reference = Reference {
    system: "lsr",
    mutants: [58, 2, 41, 15],
    criteria: &[
        ReferenceCriterion {
            name: "all-blocks",
            target: Some(0.984),
            size: Some(1.6),
            effectiveness: 0.46,
            suites_min: Some(2),
            boosted: 0.51,
        },
        ReferenceCriterion {
            name: "all-uses",
            target: Some(0.963),
            size: Some(2.92),
            effectiveness: 0.61,
            suites_min: Some(2),
            boosted: 0.68,
        },
        ReferenceCriterion {
            name: "all-branches",
            target: Some(0.946),
            size: Some(3.05),
            effectiveness: 0.64,
            suites_min: Some(3),
            boosted: 0.69,
        },
        ReferenceCriterion {
            name: "Quartet",
            target: None,
            size: None,
            effectiveness: 0.84,
            suites_min: Some(3),
            boosted: 0.87,
        },
        ReferenceCriterion {
            name: "Pair-50",
            target: None,
            size: None,
            effectiveness: 0.89,
            suites_min: Some(3),
            boosted: 0.92,
        },
    ],
    claims: &[
        claim("Quartet", "all-blocks", "< 0.001", "< 0.001"),
        claim("Pair-50", "all-blocks", "< 0.001", "< 0.001"),
        claim("all-branches", "all-uses", "< 0.001", "0.01"),
        claim("all-branches", "all-blocks", "< 0.001", "< 0.001"),
        claim("Quartet", "all-uses", "< 0.001", "< 0.001"),
        claim("all-uses", "all-blocks", "< 0.001", "< 0.001"),
        claim("Pair-50", "Quartet", "0.02", "< 0.001"),
        claim("Pair-50", "all-uses", "< 0.001", "< 0.001"),
        claim("Quartet", "all-branches", "< 0.001", "< 0.001"),
        claim("Pair-50", "all-branches", "< 0.001", "< 0.001"),
    ],
    source: "Rutherford, PhD thesis, University of Colorado, tables 4.2, 4.7, 4.8, 4.13 and 4.16",
};

const DNS: Reference = Reference {
    system: "dns",
    mutants: [234, 0, 99, 135],
    criteria: &[
        ReferenceCriterion {
            // Tables 4.14 and 4.17 call it Resources.
            name: "All-resource-types",
            target: None,
            size: None,
            effectiveness: 0.642,
            suites_min: Some(4),
            boosted: 0.69,
        },
        ReferenceCriterion {
            name: "TypicalUsage",
            target: None,
            size: None,
            effectiveness: 0.722,
            suites_min: Some(4),
            boosted: 0.823,
        },
        ReferenceCriterion {
            name: "all-uses",
            target: Some(0.95),
            size: Some(12.21),
            effectiveness: 0.933,
            suites_min: Some(2),
            boosted: 0.9678,
        },
        ReferenceCriterion {
            name: "all-blocks",
            target: Some(0.96),
            size: Some(9.92),
            effectiveness: 0.936,
            suites_min: Some(8),
            boosted: 0.9545,
        },
        ReferenceCriterion {
            name: "all-branches",
            target: Some(0.92),
            size: Some(12.76),
            // Table 4.8 has 0.98, where table 4.14 has 0.973.
            effectiveness: 0.973,
            suites_min: None,
            boosted: 0.973,
        },
    ],
    claims: &[
        claim("all-branches", "All-resource-types", "< 0.001", "< 0.001"),
        claim("all-uses", "All-resource-types", "< 0.001", "< 0.001"),
        claim("all-branches", "TypicalUsage", "< 0.001", "< 0.001"),
        claim("all-uses", "TypicalUsage", "< 0.001", "< 0.001"),
        claim("TypicalUsage", "All-resource-types", "< 0.001", "< 0.001"),
        claim("all-branches", "all-uses", "< 0.001", "< 0.001"),
        claim("all-blocks", "All-resource-types", "< 0.001", "< 0.001"),
        claim("all-blocks", "TypicalUsage", "< 0.001", "< 0.001"),
        claim("all-branches", "all-blocks", "< 0.001", "< 0.001"),
        // The one of thirty that mutants said and implementations did not.
        claim("all-uses", "all-blocks", "< 0.001", "0.5980946"),
    ],
    source: "Rutherford, PhD thesis, University of Colorado, tables 4.2, 4.7, 4.8, 4.14 and 4.17",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::Interval;
    use simutant_outcomes::CriterionKind;

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
        compare(&GBN, &criteria, &ranking)
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
        assert!(found.sentences()[0].ends_with("corrects for nothing: 1, 0 and 2)."), "{}", found.sentences()[0]);
    }

    #[test]
    fn what_cannot_be_compared_follows_from_the_criteria_at_hand() {
        let sentences = |names: &[&str]| compared(names, &[]).sentences().join(" ");
        let text = sentences(&["all-blocks", "all-branches", "IP-1", "IP-2", "loss"]);
        assert!(text.contains("The thesis also has all-uses, without a score here."), "{text}");
        assert!(text.contains("The thesis does not have loss."), "{text}");
        let text = sentences(&["all-blocks", "all-branches", "IP-1", "all-uses", "IP-2"]);
        assert!(text.starts_with("Of the 10 pairs") && !text.contains("also has"), "{text}");
        assert!(sentences(&["loss"]).starts_with("No pair of criteria"));
    }

    /// Section 4.5, each claim as the means have it, but for those that do not hold by effectiveness.
    #[track_caller]
    fn check_order(reference: &Reference, order: [&str; 5], others: &[(&str, &str)]) {
        let names: Vec<&str> = reference.criteria.iter().map(|criterion| criterion.name).collect();
        assert_eq!(names, order);
        assert!(reference.criteria.is_sorted_by(|left, right| left.effectiveness < right.effectiveness));
        let place = |name| names.iter().position(|other| *other == name).expect("a criterion of the thesis");
        let claimed = reference.claims.iter().map(|claim| {
            let pair = (place(claim.better), place(claim.worse));
            if others.contains(&(claim.better, claim.worse)) { (pair.1, pair.0) } else { pair }
        });
        let mut claimed: Vec<_> = claimed.collect();
        claimed.sort_unstable();
        let all: Vec<_> = (0..5).flat_map(|better| (0..better).map(move |worse| (better, worse))).collect();
        assert_eq!(claimed, all);
        assert_eq!(reference.mutants[0], reference.mutants[1..].iter().sum::<usize>());
    }

    #[test]
    fn the_claims_are_exactly_the_order_of_the_means() {
        check_order(&GBN, ["all-blocks", "all-branches", "IP-1", "all-uses", "IP-2"], &[]);
        check_order(&LSR, ["all-blocks", "all-uses", "all-branches", "Quartet", "Pair-50"], &[]);
        let dns = ["All-resource-types", "TypicalUsage", "all-uses", "all-blocks", "all-branches"];
        check_order(&DNS, dns, &[("all-uses", "all-blocks")]);
    }

    #[test]
    fn systems_that_the_thesis_does_not_have_have_no_reference() {
        assert_eq!(reference("gbn-thesis"), Some(&GBN));
        assert_eq!(reference("lsr"), Some(&LSR));
        assert_eq!(reference("dns"), Some(&DNS));
        assert_eq!(reference("gbn"), None);
        assert_eq!(reference("raft"), None);
    }
}
