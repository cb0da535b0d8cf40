//! What has to be covered, and its reduction to what is hard about it.

use simutant_outcomes::{BitSet, CaseOutcome, Criterion};

use crate::suites::target;

/// A set cover problem, of which a part may be solved already.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    /// The candidates: test cases, and what they cover of all that is open.
    pub(super) candidates: Vec<(usize, BitSet)>,
    /// Requirements that must be covered.
    pub(super) mandatory: BitSet,
    /// Requirements of which a number must be covered; no two share one.
    pub(super) groups: Vec<Group>,
    /// Test cases that every solution can be said to have.
    essential: Vec<usize>,
}

/// Requirements of which a number must be covered.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) members: BitSet,
    /// At least 1, and fewer than the members.
    pub(super) needed: usize,
}

impl Problem {
    /// Returns the problem of a criterion; of test cases that cover the same, that with the fewest events is preferred.
    pub(super) fn new(criterion: &Criterion, cases: &[CaseOutcome]) -> Self {
        let mut mandatory = target(criterion);
        let requirements = criterion.requirements.len();
        let groups = criterion.quotas.iter().map(|quota| {
            let mut members = BitSet::with_capacity(requirements);
            members.extend(mandatory.ones().filter(|requirement| quota.requirements.contains(requirement)));
            let needed = quota.covered_min.min(members.count_ones(..));
            Group { members, needed }
        });
        let groups: Vec<Group> = groups.collect();
        groups.iter().for_each(|group| mandatory.difference_with(&group.members));
        let mut order: Vec<usize> = (0..cases.len()).collect();
        order.sort_by_key(|&case| (cases[case].events, case));
        let candidates = order.into_iter().map(|case| (case, criterion.covered[case].clone())).collect();
        let mut problem = Self { candidates, mandatory, groups, essential: Vec::new() };
        problem.settle_groups();
        problem
    }

    /// Returns the test cases that the reduction has settled.
    pub(super) fn essential(&self) -> &[usize] {
        &self.essential
    }

    /// Returns the requirements that are open.
    fn open(&self) -> BitSet {
        let mut open = self.mandatory.clone();
        self.groups.iter().for_each(|group| open.union_with(&group.members));
        open
    }

    /// Reduces the problem until nothing changes. A solution of what is left, with the essential test cases, is one of
    /// the whole, and the smallest is a smallest.
    pub(super) fn reduce(&mut self) {
        loop {
            let before = self.size();
            self.drop_implied_requirements();
            self.drop_replaceable_candidates();
            self.take_essential();
            if self.size() == before {
                return;
            }
        }
    }

    fn size(&self) -> (usize, usize) {
        (self.candidates.len(), self.open().count_ones(..))
    }

    /// Returns, for each open requirement, the candidates that cover it, as a set of places in the list.
    pub(super) fn rows(&self) -> Vec<(usize, BitSet)> {
        let open = self.open();
        let mut rows = vec![BitSet::with_capacity(self.candidates.len()); open.len()];
        for (place, (_, covers)) in self.candidates.iter().enumerate() {
            covers.intersection(&open).for_each(|requirement| rows[requirement].insert(place));
        }
        rows.into_iter().enumerate().filter(|(requirement, _)| open.contains(*requirement)).collect()
    }

    /// Who covers a mandatory requirement covers all requirements that each of its candidates covers, so these need not
    /// be asked for.
    fn drop_implied_requirements(&mut self) {
        let mut rows = self.rows();
        // A row lies within none that is smaller. Of equal ones the first stays, and mandatory ones come first.
        rows.sort_by_key(|(requirement, row)| {
            (row.count_ones(..), !self.mandatory.contains(*requirement), *requirement)
        });
        let mut minimal: Vec<BitSet> = Vec::new();
        for (requirement, row) in rows {
            let is_implied = minimal.iter().any(|other| other.is_subset(&row));
            if self.mandatory.contains(requirement) {
                if is_implied {
                    self.mandatory.remove(requirement);
                } else {
                    minimal.push(row);
                }
            } else if is_implied
                && let Some(group) = self.groups.iter_mut().find(|group| group.members.contains(requirement))
            {
                group.members.remove(requirement);
                group.needed = group.needed.saturating_sub(1);
            }
        }
        self.settle_groups();
    }

    /// A candidate that covers no more than another one can be replaced by that.
    fn drop_replaceable_candidates(&mut self) {
        let open = self.open();
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.iter_mut().for_each(|(_, covers)| covers.intersect_with(&open));
        // The sort is stable: of equal candidates the preferred one comes first.
        candidates.sort_by_key(|(_, covers)| std::cmp::Reverse(covers.count_ones(..)));
        for (case, covers) in candidates {
            let is_replaceable = covers.is_clear() || self.candidates.iter().any(|(_, other)| covers.is_subset(other));
            if !is_replaceable {
                self.candidates.push((case, covers));
            }
        }
    }

    /// Takes the test cases that alone cover a mandatory requirement.
    fn take_essential(&mut self) {
        let rows = self.rows();
        let alone =
            rows.iter().filter(|(requirement, row)| self.mandatory.contains(*requirement) && row.count_ones(..) == 1);
        let mut places: Vec<usize> = alone.filter_map(|(_, row)| row.ones().next()).collect();
        places.sort_unstable();
        places.dedup();
        for place in places {
            let (case, covers) = &self.candidates[place];
            self.essential.push(*case);
            self.mandatory.difference_with(covers);
            for group in &mut self.groups {
                group.needed = group.needed.saturating_sub(group.members.intersection_count(covers));
                group.members.difference_with(covers);
            }
        }
        self.settle_groups();
    }

    /// Groups that need nothing are gone, those that need all are mandatory.
    fn settle_groups(&mut self) {
        self.groups.retain(|group| {
            if group.needed > 0 && group.needed == group.members.count_ones(..) {
                self.mandatory.union_with(&group.members);
                return false;
            }
            group.needed > 0
        });
    }
}
