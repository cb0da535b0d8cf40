//! The events of one instant, any of which may come next.
//!
//! Keys stand in the order of scheduling. How many of them are still there, up to any place, is kept in a binary
//! indexed tree (Fenwick, "A new data structure for cumulative frequency tables", Software: Practice and Experience 24,
//! 1994), so that the n-th of those still there is found and removed in logarithmic time. Keys that were removed leave
//! a gap, and the gaps are closed before they outnumber the keys.

use super::Key;

/// So many gaps are left open beyond as many as there are keys.
const GAPS_MIN: usize = 64;

/// Keys of one instant, in the order of scheduling.
#[derive(Debug, Default)]
pub(super) struct Simultaneous {
    /// In ascending order, those that were removed too.
    keys: Vec<Key>,
    /// At `place`, counted from 1: how many keys are still there at the `place & place.wrapping_neg()` places up to
    /// this one. The element at 0 is not used; empty if there are no places.
    counts: Vec<u32>,
    /// How many keys are still there.
    len: usize,
}

impl Simultaneous {
    /// Returns how many keys there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a key that is greater than all others. O(log n).
    pub(super) fn push(&mut self, key: Key) {
        debug_assert!(self.keys.last().is_none_or(|&last| last < key), "{key} was scheduled before others");
        if self.counts.is_empty() {
            self.counts.push(0);
        }
        let place = self.counts.len();
        let mut count = 1;
        let first = place - lowest_bit(place);
        let mut before = place - 1;
        while before > first {
            count += self.counts[before];
            before -= lowest_bit(before);
        }
        self.keys.push(key);
        self.counts.push(count);
        self.len += 1;
    }

    /// Returns the `index`-th key. O(log n).
    pub(super) fn get(&self, index: usize) -> Option<Key> {
        (index < self.len).then(|| self.keys[self.place(index) - 1])
    }

    /// Removes the `index`-th key. O(log n), amortized.
    pub(super) fn remove_nth(&mut self, index: usize) -> Option<Key> {
        if index >= self.len {
            return None;
        }
        let place = self.place(index);
        let key = self.keys[place - 1];
        self.remove_at(place);
        Some(key)
    }

    /// Removes a key that is there. O(log n), amortized.
    pub(super) fn remove(&mut self, key: Key) {
        let place = self.keys.binary_search(&key).expect("what is pending is in the wheel, sorted, or here") + 1;
        self.remove_at(place);
    }

    /// Returns the keys from the first on.
    pub(super) fn iter(&self) -> impl Iterator<Item = Key> {
        (0..self.len).map(|index| self.keys[self.place(index) - 1])
    }

    /// Returns the place of the `index`-th key, which is there.
    fn place(&self, index: usize) -> usize {
        // The last place with at most `index` keys up to it is the one before.
        let (mut before, mut left) = (0, index as u32);
        let mut step = 1 << (self.counts.len() - 1).ilog2();
        while step > 0 {
            if let Some(&count) = self.counts.get(before + step)
                && count <= left
            {
                before += step;
                left -= count;
            }
            step >>= 1;
        }
        before + 1
    }

    fn remove_at(&mut self, place: usize) {
        self.len -= 1;
        if self.len == 0 {
            self.keys.clear();
            self.counts.clear();
            return;
        }
        let mut covering = place;
        while let Some(count) = self.counts.get_mut(covering) {
            *count -= 1;
            covering += lowest_bit(covering);
        }
        if self.keys.len() > 2 * self.len + GAPS_MIN {
            let left: Vec<Key> = self.iter().collect();
            *self = Self::default();
            left.into_iter().for_each(|key| self.push(key));
        }
    }
}

fn lowest_bit(place: usize) -> usize {
    place & place.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each operation adds a key, removes the n-th (modulo their number) by its place, or removes it by itself.
        #[test]
        fn it_does_what_a_list_does(operations in prop::collection::vec((0..5_u8, any::<usize>()), 0..600)) {
            let (mut simultaneous, mut list) = (Simultaneous::default(), Vec::new());
            for (next, (kind, number)) in operations.into_iter().enumerate() {
                match (kind, list.len()) {
                    (0..=2, _) => {
                        simultaneous.push(next as Key);
                        list.push(next as Key);
                    }
                    (_, 0) => prop_assert_eq!(simultaneous.remove_nth(0), None),
                    (3, len) => prop_assert_eq!(simultaneous.remove_nth(number % len), Some(list.remove(number % len))),
                    (_, len) => simultaneous.remove(list.remove(number % len)),
                }
                prop_assert_eq!(simultaneous.len(), list.len());
                if next % 16 == 0 {
                    prop_assert!(simultaneous.iter().eq(list.iter().copied()));
                }
                prop_assert_eq!(simultaneous.get(0), list.first().copied());
                prop_assert_eq!(simultaneous.get(list.len()), None);
            }
        }
    }

    #[test]
    fn an_instant_that_does_not_end_fills_no_memory() {
        let mut simultaneous = Simultaneous::default();
        simultaneous.push(0);
        for key in 1..10_000 {
            simultaneous.push(key);
            assert_eq!(simultaneous.remove_nth(0), Some(key - 1));
        }
        assert!(simultaneous.keys.len() <= 2 + GAPS_MIN, "{} places for one key", simultaneous.keys.len());
    }
}
