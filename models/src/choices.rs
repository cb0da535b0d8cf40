//! The choices that actions made at the nodes of a trie: for each node a small trie, all in one place.

use std::num::NonZeroU32;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::trie::Choice;

/// How many options are looked through before a table is asked.
const LISTED_MAX: usize = 16;

/// Tries of choices. Most nodes of a big trie have a choice or two, so there is no allocation for each.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChoiceTries {
    entries: Vec<Entry>,
    /// The entries after the first ones of a list, by the list's first one and the option.
    more: HashMap<(NonZeroU32, u32), NonZeroU32, FixedState>,
}

/// A choice, and what else was chosen.
#[derive(Debug, Clone)]
struct Entry {
    option: u32,
    /// Another option in place of this one.
    next: Option<NonZeroU32>,
    /// What was chosen after this.
    after: Option<NonZeroU32>,
    count: u64,
}

impl ChoiceTries {
    /// Counts the choices of an action; `first` is the list of the first ones of its trie.
    pub(crate) fn add(&mut self, first: &mut Option<NonZeroU32>, options: &[u32]) {
        let mut last: Option<NonZeroU32> = None;
        for &option in options {
            let list = match last {
                Some(last) => self.at(last).after,
                None => *first,
            };
            let chosen = match list {
                Some(list) => self.find(list, option),
                None => {
                    let new = self.push(option, None);
                    match last {
                        Some(last) => self.at_mut(last).after = Some(new),
                        None => *first = Some(new),
                    }
                    new
                }
            };
            self.at_mut(chosen).count += 1;
            last = Some(chosen);
        }
    }

    /// Returns the choices of a trie, in the order of their options, each after the one before it.
    pub(crate) fn of(&self, first: Option<NonZeroU32>) -> Vec<Choice> {
        let mut choices = Vec::new();
        let mut open = self.list(first, None);
        while let Some((entry, parent)) = open.pop() {
            let &Entry { option, after, count, .. } = self.at(entry);
            let following = self.list(after, Some(choices.len()));
            let went_on: u64 = following.iter().map(|(entry, _)| self.at(*entry).count).sum();
            choices.push(Choice { option, parent, count, ends: count - went_on });
            open.extend(following);
        }
        choices
    }

    /// Returns a list, the least option last.
    fn list(&self, first: Option<NonZeroU32>, parent: Option<usize>) -> Vec<(NonZeroU32, Option<usize>)> {
        let entries = std::iter::successors(first, |&entry| self.at(entry).next);
        let mut list: Vec<_> = entries.map(|entry| (entry, parent)).collect();
        list.sort_by_key(|(entry, _)| std::cmp::Reverse(self.at(*entry).option));
        list
    }

    /// Returns the entry of an option in a list, a new one if there is none.
    fn find(&mut self, list: NonZeroU32, option: u32) -> NonZeroU32 {
        let mut at = list;
        for _ in 0..LISTED_MAX {
            let entry = self.at(at);
            if entry.option == option {
                return at;
            }
            match entry.next {
                Some(next) => at = next,
                None => {
                    let new = self.push(option, None);
                    self.at_mut(at).next = Some(new);
                    return new;
                }
            }
        }
        if self.at(at).option == option {
            return at;
        }
        if let Some(&known) = self.more.get(&(list, option)) {
            return known;
        }
        let next = self.at(at).next;
        let new = self.push(option, next);
        self.at_mut(at).next = Some(new);
        self.more.insert((list, option), new);
        new
    }

    fn push(&mut self, option: u32, next: Option<NonZeroU32>) -> NonZeroU32 {
        self.entries.push(Entry { option, next, after: None, count: 0 });
        let count = u32::try_from(self.entries.len()).ok().and_then(NonZeroU32::new);
        count.expect("there are fewer than 2^32 choices")
    }

    fn at(&self, entry: NonZeroU32) -> &Entry {
        &self.entries[entry.get() as usize - 1]
    }

    fn at_mut(&mut self, entry: NonZeroU32) -> &mut Entry {
        &mut self.entries[entry.get() as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        /// Counts are those of a map from the options so far, in its order.
        #[test]
        fn choices_are_counted(sequences in proptest::collection::vec((0..2_usize, option_lists()), 0..200)) {
            let mut tries = ChoiceTries::default();
            let mut firsts = [None, None];
            let mut expected: [BTreeMap<Vec<u32>, (u64, u64)>; 2] = Default::default();
            for (place, options) in &sequences {
                tries.add(&mut firsts[*place], options);
                for length in 1..=options.len() {
                    let counts = expected[*place].entry(options[..length].to_vec()).or_default();
                    counts.0 += 1;
                    counts.1 += u64::from(length == options.len());
                }
            }
            for (first, expected) in firsts.into_iter().zip(expected) {
                let choices = tries.of(first);
                let options = |last: usize| {
                    let chain = std::iter::successors(Some(last), |&at| choices[at].parent);
                    let mut options: Vec<u32> = chain.map(|at| choices[at].option).collect();
                    options.reverse();
                    options
                };
                let found: Vec<_> = choices.iter().enumerate()
                    .map(|(at, choice)| (options(at), (choice.count, choice.ends)))
                    .collect();
                prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
            }
        }
    }

    /// Few options and many.
    fn option_lists() -> impl Strategy<Value = Vec<u32>> {
        prop_oneof![proptest::collection::vec(0..3_u32, 0..4), proptest::collection::vec(0..60_u32, 0..3)]
    }
}
