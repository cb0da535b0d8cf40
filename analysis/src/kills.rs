//! The kill matrix by test case, so that a suite is scored by joining a few rows.

use simutant_outcomes::{BitSet, Outcomes};

/// Which mutants each test case kills.
#[derive(Debug)]
pub struct KillsByCase {
    mutants: usize,
    /// Shape `cases x mutants`: the transpose of [`Outcomes::kills`].
    rows: Vec<BitSet>,
}

impl KillsByCase {
    /// Transposes the kill matrix of `outcomes`; cost O(kills + mutants * cases / 64).
    pub fn new(outcomes: &Outcomes) -> Self {
        Self::of_rows(&outcomes.kills, outcomes.cases.len())
    }

    /// Transposes rows that each say which of the test cases kill one mutant.
    pub(crate) fn of_rows(kills: &[BitSet], cases: usize) -> Self {
        let mutants = kills.len();
        let mut rows = vec![BitSet::with_capacity(mutants); cases];
        for (mutant, kills) in kills.iter().enumerate() {
            kills.ones().for_each(|case| rows[case].insert(mutant));
        }
        Self { mutants, rows }
    }

    /// Returns how many test cases there are.
    pub(crate) fn cases(&self) -> usize {
        self.rows.len()
    }

    /// Returns the mutants that a suite of these test cases kills: at least one case does (thesis, section 3.2).
    pub fn of_suite(&self, cases: &[usize]) -> BitSet {
        let mut killed = BitSet::with_capacity(self.mutants);
        cases.iter().for_each(|&case| killed.union_with(&self.rows[case]));
        killed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Score;
    use simutant_synthetic::from_kills;

    #[track_caller]
    fn check(kills: &[&str], cases: &[usize], expect: f64) {
        let outcomes = from_kills(kills);
        let killed = KillsByCase::new(&outcomes).of_suite(cases).count_ones(..);
        assert_eq!(Score { killed, of: kills.len() }.value(), Some(expect));
    }

    #[test]
    fn a_suite_kills_what_any_of_its_cases_kills() {
        check(&["k..", ".k.", "..k", ".kk"], &[0, 1], 0.75);
        check(&["k..", ".k.", "..k", ".kk"], &[2], 0.5);
    }

    #[test]
    fn an_empty_suite_kills_nothing() {
        check(&["kk", ".k"], &[], 0.0);
    }
}
