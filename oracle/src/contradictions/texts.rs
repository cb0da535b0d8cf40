//! Texts that grow by what is appended to them.

use std::collections::BTreeSet;
use std::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

/// What can have made a text, by when it was first invoked.
pub(crate) struct Texts<'c, K> {
    /// Texts that were put.
    put: HashMap<(K, &'c str), usize, FixedState>,
    /// Texts that were appended, which are the ends of others.
    appended: HashMap<(K, &'c str), usize, FixedState>,
    /// The lengths of these.
    lengths: BTreeSet<usize>,
}

impl<'c, K: Eq + Hash + Copy> Texts<'c, K> {
    pub(crate) fn new() -> Self {
        let map = || HashMap::with_hasher(FixedState::with_seed(0));
        Self { put: map(), appended: map(), lengths: BTreeSet::new() }
    }

    pub(crate) fn put(&mut self, key: K, text: &'c str, start: usize) {
        self.put.entry((key, text)).and_modify(|first| *first = start.min(*first)).or_insert(start);
    }

    pub(crate) fn append(&mut self, key: K, text: &'c str, start: usize) {
        self.lengths.insert(text.len());
        self.appended.entry((key, text)).and_modify(|first| *first = start.min(*first)).or_insert(start);
    }

    /// Returns whether something that was invoked before an event can have made a text.
    pub(crate) fn can_be(&self, key: K, text: &str, end: usize) -> bool {
        let is_before = |start: Option<&usize>| start.is_some_and(|&start| start < end);
        let suffix = |&length: &usize| text.len().checked_sub(length).and_then(|from| text.get(from..));
        is_before(self.put.get(&(key, text)))
            || self.lengths.iter().filter_map(suffix).any(|suffix| is_before(self.appended.get(&(key, suffix))))
    }
}
