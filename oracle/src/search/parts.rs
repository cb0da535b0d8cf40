//! Calls by the regions of the state that they share.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Footprint, Region};

/// Sets of numbers that are joined step by step.
struct Sets(Vec<usize>);

impl Sets {
    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        // The smaller number stays, so that parts are in the order of their first calls.
        self.0[one.max(other)] = one.min(other);
    }
}

/// Returns the part of each call, numbered in the order of their first calls: calls of different parts share no edge,
/// and no region that any of them looks at, as the order of changes that nobody sees does not matter. A call that may
/// touch all of the state shares it with every other one.
pub(crate) fn parts(footprints: &[Footprint], edges: &mut dyn Iterator<Item = (usize, usize)>) -> Vec<usize> {
    let mut sets = Sets((0..footprints.len()).collect());
    let seen: Option<BTreeSet<Region>> =
        footprints.iter().map(|footprint| footprint.reads.listed()).try_fold(BTreeSet::new(), |mut seen, regions| {
            seen.extend(regions?);
            Some(seen)
        });
    let Some(seen) = seen else { return vec![0; footprints.len()] };
    let mut first_of: BTreeMap<Region, usize> = BTreeMap::new();
    for (number, footprint) in footprints.iter().enumerate() {
        let Some(regions) = footprint.touches() else { return vec![0; footprints.len()] };
        for region in regions.filter(|region| seen.contains(region)) {
            let first = *first_of.entry(region).or_insert(number);
            sets.join(first, number);
        }
    }
    edges.for_each(|(one, other)| sets.join(one, other));
    let mut numbers = BTreeMap::new();
    (0..footprints.len())
        .map(|number| {
            let next = numbers.len();
            *numbers.entry(sets.root(number)).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_joined_by_regions_and_edges() {
        #[track_caller]
        fn check(footprints: &[Footprint], edges: &[(usize, usize)], expect: &[usize]) {
            assert_eq!(parts(footprints, &mut edges.iter().copied()), expect);
        }
        let [a, b, c] = [0, 1, 2].map(Region);
        let of = |region| Footprint::writes(region);
        check(&[of(a), of(b), Footprint::reads(a), of(c)], &[], &[0, 1, 0, 2]);
        check(&[of(a), of(b), Footprint::reads(a), of(c)], &[(3, 1)], &[0, 1, 0, 1]);
        // Nobody looks at what both change.
        let blind = |region| Footprint::new(crate::Regions::None, crate::Regions::One(region));
        check(&[blind(a), blind(a), of(b)], &[], &[0, 1, 2]);
        check(&[blind(a), blind(a), Footprint::reads(a)], &[], &[0, 0, 0]);
        let both = Footprint::new(crate::Regions::Some(vec![c, b]), crate::Regions::None);
        check(&[of(a), of(b), of(c), both], &[], &[0, 1, 1, 1]);
        check(&[of(a), of(b), Footprint::reads_everything()], &[], &[0, 0, 0]);
    }
}
