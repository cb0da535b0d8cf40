//! The kill matrix by test case, so that a suite is scored by joining a few rows.

use simutant_outcomes::{BitSet, Outcomes};

/// Which mutants each test case kills.
#[derive(Debug)]
pub(crate) struct KillsByCase {
    mutants: usize,
    /// Shape `cases x mutants`: the transpose of [`Outcomes::kills`].
    rows: Vec<BitSet>,
}

impl KillsByCase {
    /// Transposes the kill matrix; cost O(kills + mutants * cases / 64).
    pub(crate) fn new(outcomes: &Outcomes) -> Self {
        let mutants = outcomes.sites.mutants.len();
        let mut rows = vec![BitSet::with_capacity(mutants); outcomes.cases.len()];
        for (mutant, kills) in outcomes.kills.iter().enumerate() {
            kills.ones().for_each(|case| rows[case].insert(mutant));
        }
        Self { mutants, rows }
    }

    /// Returns the mutants that a suite of these test cases kills: at least one case does (thesis, section 3.2).
    pub(crate) fn of_suite(&self, cases: &[usize]) -> BitSet {
        let mut killed = BitSet::with_capacity(self.mutants);
        cases.iter().for_each(|&case| killed.union_with(&self.rows[case]));
        killed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;
    use crate::synthetic::from_kills;

    #[track_caller]
    fn check(kills: &[&str], cases: &[usize], expect: f64) {
        let outcomes = from_kills(kills);
        let killed = KillsByCase::new(&outcomes).of_suite(cases).count_ones(..);
        assert_eq!(Score { killed, of: kills.len() }.value(), Some(expect));
    }

    /// Table 3.1 of the thesis: suites of three test cases each, five mutants (the rows here). The first suite kills
    /// mutants 2, 4 and 5 in the cells that the table shows, the second kills four of the five.
    #[test]
    fn the_boosting_example_of_the_thesis_scores_60_and_80_percent() {
        let kills = ["......", "k...k.", "...k.k", "..kk..", "kkkkkk"];
        check(&kills, &[0, 1, 2], 0.6);
        check(&kills, &[3, 4, 5], 0.8);
    }

    #[test]
    fn an_empty_suite_kills_nothing() {
        check(&["kk", ".k"], &[], 0.0);
    }
}
