//! How far a suite that grows has come with the requirements of a criterion.

use simutant_outcomes::{BitSet, Criterion};

use super::target;

/// What the test cases taken so far cover of a criterion.
///
/// Progress is counted as [`Criterion::progress`] does, so that of a quota no more counts than it asks for. A test case
/// never brings more after others than before them: the function is submodular, on which the guarantees of the builders
/// rest.
#[derive(Debug, Clone)]
pub(crate) struct Cover<'a> {
    criterion: &'a Criterion,
    /// The progress of the whole universe.
    target: usize,
    covered: BitSet,
    progress: usize,
    /// What would be covered with one more; kept, since gains are asked for often.
    joint: BitSet,
}

impl<'a> Cover<'a> {
    /// Begins with no test case.
    pub(crate) fn new(criterion: &'a Criterion) -> Self {
        let none = BitSet::with_capacity(criterion.requirements.len());
        let target = criterion.progress(&target(criterion));
        Self { criterion, target, covered: none.clone(), progress: 0, joint: none }
    }

    pub(crate) fn criterion(&self) -> &'a Criterion {
        self.criterion
    }

    pub(crate) fn target(&self) -> usize {
        self.target
    }

    pub(crate) fn progress(&self) -> usize {
        self.progress
    }

    /// Whether the suite is adequate.
    pub(crate) fn is_met(&self) -> bool {
        self.progress == self.target
    }

    /// Begins again.
    pub(crate) fn clear(&mut self) {
        self.covered.clear();
        self.progress = 0;
    }

    /// Returns by how much `case` would take the suite further.
    pub(crate) fn gain(&mut self, case: usize) -> usize {
        let covers = &self.criterion.covered[case];
        if covers.is_subset(&self.covered) {
            return 0;
        }
        if self.criterion.quotas.is_empty() {
            return covers.difference_count(&self.covered);
        }
        self.joint.clone_from(&self.covered);
        self.joint.union_with(covers);
        self.criterion.progress(&self.joint) - self.progress
    }

    /// Takes `case` if that takes the suite further; returns by how much it does.
    pub(crate) fn take(&mut self, case: usize) -> usize {
        let gain = self.gain(case);
        if gain > 0 {
            self.covered.union_with(&self.criterion.covered[case]);
            self.progress += gain;
        }
        gain
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suites::tests::{any_criterion, criterion_of};
    use proptest::prelude::*;
    use simutant_outcomes::Quota;

    #[test]
    fn a_quota_counts_no_more_than_it_asks_for() {
        let rows = [[true, true, true, false], [false, false, true, true]].map(|row| row.to_vec());
        let criterion = criterion_of(&rows, vec![Quota { requirements: 0..3, covered_min: 2 }]);
        let mut cover = Cover::new(&criterion);
        assert_eq!((cover.target(), cover.gain(0), cover.gain(1)), (3, 2, 2));
        assert_eq!((cover.take(0), cover.gain(1), cover.is_met()), (2, 1, false));
        assert_eq!((cover.take(1), cover.take(1), cover.is_met()), (1, 0, true));
        cover.clear();
        assert_eq!((cover.progress(), cover.gain(0)), (0, 2));
    }

    proptest! {
        #[test]
        fn gains_add_up_and_never_grow(criterion in any_criterion(12, 10), order in Just((0..12).collect::<Vec<usize>>()).prop_shuffle()) {
            let mut cover = Cover::new(&criterion);
            let cases: Vec<usize> = order.into_iter().filter(|case| *case < criterion.covered.len()).collect();
            let mut before: Vec<usize> = (0..criterion.covered.len()).map(|case| cover.gain(case)).collect();
            let mut covered = BitSet::with_capacity(criterion.requirements.len());
            for case in cases {
                cover.take(case);
                covered.union_with(&criterion.covered[case]);
                prop_assert_eq!(cover.progress(), criterion.progress(&covered));
                for (other, before) in before.iter_mut().enumerate() {
                    let gain = cover.gain(other);
                    prop_assert!(gain <= *before);
                    *before = gain;
                }
            }
            prop_assert!(cover.is_met());
        }
    }
}
