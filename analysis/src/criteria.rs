//! One criterion: its requirements, its adequate suites, and what they score.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{Criterion, CriterionKind};

use crate::boosting::Boosting;
use crate::detection::Detection;
use crate::same_size::SameSize;
use crate::score::Score;
use crate::statistics::Summary;
use crate::suites::{self, AdequateSuite};

/// What an analysis finds out about one criterion.
///
/// Everything about suites is `None` or empty if the universe covers none of its requirements; scores are also `None`
/// if no mutant counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionAnalysis {
    /// Its name.
    pub name: String,
    /// Where it looks.
    pub kind: CriterionKind,
    /// How many requirements it has.
    pub requirements: usize,
    /// The requirements that no test case of the universe covers, ascending; the others are the target of its suites.
    pub uncovered: Vec<usize>,
    /// How many requirements a suite covers at least: those that the universe covers, but of those in a quota no more
    /// than that asks for.
    pub needed: usize,
    /// The adequate suites, in the order in which they were drawn.
    pub suites: Vec<AdequateSuite>,
    /// Test cases of a suite.
    pub size: Option<Summary>,
    /// Candidates considered for a suite.
    pub considered: Option<Summary>,
    /// Mutant scores of the suites, on the analysed mutants.
    pub score: Option<Summary>,
    /// Scores of the suites on the dominator classes.
    pub dominator_score: Option<Summary>,
    /// Costs of the suites: `C = c_a + M * c_e` (equation 4.1 of the thesis) in events of the simulation, see
    /// [`CostEffectiveness`](crate::CostEffectiveness).
    pub cost: Option<Summary>,
    /// What random suites of the same sizes score.
    pub same_size: Option<SameSize>,
    /// What choosing the best of several suites brings.
    pub boosting: Option<Boosting>,
    /// How often the suites kill each analysed mutant.
    pub detection: Vec<Detection>,
}

impl CriterionAnalysis {
    /// Returns how many requirements the universe covers: the target of the suites.
    pub fn feasible(&self) -> usize {
        self.requirements - self.uncovered.len()
    }

    /// Summarises `suites`; the comparisons are left out, as they need more than one criterion's data.
    pub(crate) fn new(
        criterion: &Criterion,
        suites: Vec<AdequateSuite>,
        analysed: usize,
        dominators: usize,
        cost_multiplier: u32,
    ) -> Self {
        let target = suites::target(criterion);
        let summary = |value: &dyn Fn(&AdequateSuite) -> Option<f64>| -> Option<Summary> {
            let values: Option<Vec<f64>> = suites.iter().map(value).collect();
            Summary::of(&values?)
        };
        let score_of = |killed, of| Score { killed, of }.value();
        Self {
            name: criterion.name.clone(),
            kind: criterion.kind,
            requirements: criterion.requirements.len(),
            uncovered: target.zeroes().collect(),
            needed: criterion.progress(&target),
            size: summary(&|suite| Some(suite.cases.len() as f64)),
            considered: summary(&|suite| Some(suite.considered as f64)),
            score: summary(&|suite| score_of(suite.killed, analysed)),
            dominator_score: summary(&|suite| score_of(suite.dominators_killed, dominators)),
            cost: summary(&|suite| Some(cost(suite, criterion.kind, cost_multiplier))),
            suites,
            same_size: None,
            boosting: None,
            detection: Vec::new(),
        }
    }
}

/// Equation 4.1 of the thesis, in events. A black-box criterion needs no simulation to be evaluated, so its `c_a` is 0.
///
/// The time to join coverages, which the thesis adds to `c_a`, is left out: here it is a few machine words per suite.
fn cost(suite: &AdequateSuite, kind: CriterionKind, multiplier: u32) -> f64 {
    let analysis = match kind {
        CriterionKind::WhiteBox | CriterionKind::Trace => suite.events_considered,
        CriterionKind::BlackBox => 0,
    };
    analysis as f64 + f64::from(multiplier) * suite.events_selected as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: CriterionKind, expect: f64) {
        let suite = AdequateSuite {
            cases: vec![4, 1],
            considered: 5,
            events_considered: 700,
            events_selected: 30,
            killed: 1,
            dominators_killed: 1,
        };
        assert_eq!(cost(&suite, kind, 10), expect);
    }

    #[test]
    fn criteria_that_look_at_runs_pay_for_the_candidates() {
        check(CriterionKind::WhiteBox, 1000.0);
        check(CriterionKind::Trace, 1000.0);
        check(CriterionKind::BlackBox, 300.0);
    }
}
