//! Trees over ranges: the best of some values, and how often a gap is covered.

use std::ops::Range;

/// The best value of any range of places, some of which are empty.
#[derive(Debug)]
pub(super) struct Tournament<K> {
    /// A binary tree: the children of node n are 2n and 2n + 1, and the leaves come last.
    nodes: Vec<Option<(K, usize)>>,
    leaves: usize,
}

impl<K: Ord + Copy> Tournament<K> {
    pub(super) fn new(places: usize) -> Self {
        let leaves = places.next_power_of_two();
        Self { nodes: vec![None; 2 * leaves], leaves }
    }

    pub(super) fn set(&mut self, place: usize, value: Option<K>) {
        let mut node = self.leaves + place;
        self.nodes[node] = value.map(|value| (value, place));
        while node > 1 {
            node /= 2;
            self.nodes[node] = self.nodes[2 * node].max(self.nodes[2 * node + 1]);
        }
    }

    /// Returns the best value of a range, and its place.
    pub(super) fn best(&self, range: Range<usize>) -> Option<(K, usize)> {
        let (mut low, mut high) = (self.leaves + range.start, self.leaves + range.end);
        let mut best = None;
        while low < high {
            if low % 2 == 1 {
                best = best.max(self.nodes[low]);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                best = best.max(self.nodes[high]);
            }
            low /= 2;
            high /= 2;
        }
        best
    }
}

/// How often each gap is covered.
#[derive(Debug)]
pub(super) struct Coverage {
    /// A binary tree as above: how often the gaps below a node are covered at least, without what covers all the gaps
    /// below one of its ancestors.
    least: Vec<i32>,
    /// How often all the gaps below a node are covered, without what covers all those below an ancestor.
    all: Vec<i32>,
    leaves: usize,
}

impl Coverage {
    pub(super) fn new(gaps: usize) -> Self {
        let leaves = gaps.next_power_of_two();
        Self { least: vec![0; 2 * leaves], all: vec![0; 2 * leaves], leaves }
    }

    /// Covers the gaps from `first` to `last` once more, or once less.
    pub(super) fn add(&mut self, first: usize, last: usize, change: i32) {
        let (mut low, mut high) = (self.leaves + first, self.leaves + last + 1);
        let (mut low_changed, mut high_changed) = (low, high - 1);
        while low < high {
            if low % 2 == 1 {
                self.change(low, change);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                self.change(high, change);
            }
            low /= 2;
            high /= 2;
        }
        while low_changed > 1 {
            low_changed /= 2;
            high_changed /= 2;
            self.update(low_changed);
            self.update(high_changed);
        }
    }

    fn change(&mut self, node: usize, change: i32) {
        self.least[node] += change;
        self.all[node] += change;
    }

    fn update(&mut self, node: usize) {
        self.least[node] = self.least[2 * node].min(self.least[2 * node + 1]) + self.all[node];
    }

    /// Returns the first gap from `first` to `last` that is not covered.
    pub(super) fn hole(&self, first: usize, last: usize) -> Option<usize> {
        self.hole_below(1, 0, self.leaves, 0, first, last)
    }

    /// The node has the `width` gaps from `from` on, and `above` covers all of them.
    fn hole_below(
        &self,
        node: usize,
        from: usize,
        width: usize,
        above: i32,
        first: usize,
        last: usize,
    ) -> Option<usize> {
        if from > last || from + width <= first || self.least[node] + above > 0 {
            return None;
        }
        if width == 1 {
            return Some(from);
        }
        let above = above + self.all[node];
        let half = width / 2;
        self.hole_below(2 * node, from, half, above, first, last)
            .or_else(|| self.hole_below(2 * node + 1, from + half, half, above, first, last))
    }
}
