//! Branch and bound over a reduced set cover problem.

use std::cmp::Reverse;

use simutant_outcomes::BitSet;

use super::problem::Problem;

/// What a search finds.
#[derive(Debug)]
pub(super) struct Found {
    /// A solution smaller than the one it began with, if there is one; the test cases.
    pub(super) cases: Option<Vec<usize>>,
    /// No solution is smaller.
    pub(super) size_min: usize,
}

/// Looks for a solution that is smaller than `known`; if it is not through after `nodes_max` nodes, it ends with the
/// best one so far and the bound of the root.
///
/// It branches over the candidates of the mandatory requirement that has fewest, the best first, each without those
/// before it. A node is left if a lower bound says that it cannot be better than the best solution: the size of an
/// independent set, requirements of which no candidate covers two, or the number of candidates without which what is
/// missing cannot be reached even if all brought as much as now.
pub(super) fn search(problem: &Problem, known: usize, nodes_max: u64) -> Found {
    let compact = Compact::new(problem);
    let none = (BitSet::with_capacity(compact.requirements), BitSet::with_capacity(compact.covers.len()));
    let size_min = compact.bound(&none.0, &none.1);
    let mut search = Search { compact: &compact, best: None, size_best: known, nodes_left: nodes_max, is_cut: false };
    search.visit(none.0, none.1, &mut Vec::new());
    let cases = search.best.map(|places| places.into_iter().map(|place| problem.candidates[place].0).collect());
    Found { cases, size_min: if search.is_cut { size_min.min(search.size_best) } else { search.size_best } }
}

/// A problem whose requirements are numbered anew, so that sets of them are short: the mandatory ones first.
#[derive(Debug)]
struct Compact {
    requirements: usize,
    mandatory: BitSet,
    groups: Vec<(BitSet, usize)>,
    /// By candidate.
    covers: Vec<BitSet>,
    /// By mandatory requirement, the candidates that cover it.
    rows: Vec<BitSet>,
}

impl Compact {
    fn new(problem: &Problem) -> Self {
        let (mut rows, others): (Vec<_>, Vec<_>) =
            problem.rows().into_iter().partition(|(requirement, _)| problem.mandatory.contains(*requirement));
        let mandatory_count = rows.len();
        rows.extend(others);
        let requirements = rows.len();
        let set = |is_in: &dyn Fn(usize) -> bool| {
            let mut set = BitSet::with_capacity(requirements);
            set.extend((0..requirements).filter(|&number| is_in(number)));
            set
        };
        Self {
            requirements,
            mandatory: set(&|number| number < mandatory_count),
            groups: problem
                .groups
                .iter()
                .map(|group| (set(&|number| group.members.contains(rows[number].0)), group.needed))
                .collect(),
            covers: (0..problem.candidates.len()).map(|place| set(&|number| rows[number].1.contains(place))).collect(),
            rows: rows[..mandatory_count].iter().map(|(_, row)| row.clone()).collect(),
        }
    }

    /// Returns what is missing: mandatory requirements, and the number of others.
    fn missing(&self, covered: &BitSet) -> usize {
        let needed =
            self.groups.iter().map(|(members, needed)| needed.saturating_sub(members.intersection_count(covered)));
        self.mandatory.difference_count(covered) + needed.sum::<usize>()
    }

    /// Returns by how much a candidate would lessen what is missing.
    fn gain(&self, candidate: usize, covered: &BitSet) -> usize {
        let covers = &self.covers[candidate];
        let new = |members: &BitSet| covers.intersection(members).filter(|number| !covered.contains(*number)).count();
        let groups = self
            .groups
            .iter()
            .map(|(members, needed)| new(members).min(needed.saturating_sub(members.intersection_count(covered))));
        new(&self.mandatory) + groups.sum::<usize>()
    }

    /// Returns a number of candidates without which no solution comes about.
    fn bound(&self, covered: &BitSet, excluded: &BitSet) -> usize {
        let missing = self.missing(covered);
        let allowed = (0..self.covers.len()).filter(|candidate| !excluded.contains(*candidate));
        let mut gains: Vec<usize> = allowed.map(|candidate| self.gain(candidate, covered)).collect();
        gains.sort_unstable_by_key(|&gain| Reverse(gain));
        let mut reached = 0;
        let by_gains = gains.into_iter().take_while(|gain| {
            let is_needed = reached < missing;
            reached += gain;
            is_needed
        });
        by_gains.count().max(self.independent(covered, excluded))
    }

    /// Returns the size of a set of missing requirements of which no candidate covers two, those with few candidates
    /// first.
    fn independent(&self, covered: &BitSet, excluded: &BitSet) -> usize {
        let mut rows: Vec<(usize, &BitSet)> = self
            .mandatory
            .difference(covered)
            .map(|number| (self.rows[number].difference_count(excluded), &self.rows[number]))
            .collect();
        rows.sort_by_key(|(count, _)| *count);
        let mut used = excluded.clone();
        let mut size = 0;
        for (count, row) in rows {
            if row.difference_count(&used) == count {
                used.union_with(row);
                size += 1;
            }
        }
        size
    }
}

#[derive(Debug)]
struct Search<'a> {
    compact: &'a Compact,
    best: Option<Vec<usize>>,
    size_best: usize,
    nodes_left: u64,
    /// Whether a part of the tree was left for want of nodes.
    is_cut: bool,
}

impl Search<'_> {
    fn visit(&mut self, covered: BitSet, mut excluded: BitSet, chosen: &mut Vec<usize>) {
        let compact = self.compact;
        if self.nodes_left == 0 {
            self.is_cut = true;
            return;
        }
        self.nodes_left -= 1;
        if compact.missing(&covered) == 0 {
            if chosen.len() < self.size_best {
                self.size_best = chosen.len();
                self.best = Some(chosen.clone());
            }
            return;
        }
        if chosen.len() + compact.bound(&covered, &excluded).max(1) >= self.size_best {
            return;
        }
        // Without a mandatory requirement any candidate may be in a solution or not.
        let fewest = compact
            .mandatory
            .difference(&covered)
            .min_by_key(|&number| compact.rows[number].difference_count(&excluded));
        let of_row = |candidate: &usize| fewest.is_none_or(|number| compact.rows[number].contains(*candidate));
        let mut branches: Vec<(usize, usize)> = (0..compact.covers.len())
            .filter(|candidate| !excluded.contains(*candidate) && of_row(candidate))
            .map(|candidate| (compact.gain(candidate, &covered), candidate))
            .filter(|(gain, _)| *gain > 0)
            .collect();
        branches.sort_unstable_by_key(|&(gain, candidate)| (Reverse(gain), candidate));
        for (_, candidate) in branches {
            let mut joint = covered.clone();
            joint.union_with(&compact.covers[candidate]);
            chosen.push(candidate);
            self.visit(joint, excluded.clone(), chosen);
            chosen.pop();
            excluded.insert(candidate);
        }
    }
}
