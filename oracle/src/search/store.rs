//! What a search keeps: the states of the specification, each once, and the configurations that it has been at.
//!
//! Both are kept in chunks, which are never copied, so memory grows by a chunk at a time and a budget can be held.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// How many elements of a chunk there are at most.
const CHUNK: usize = 1 << 12;

/// A list that grows by chunks.
#[derive(Debug)]
struct Chunks<T> {
    chunks: Vec<Vec<T>>,
    length: usize,
    /// How many elements a chunk has.
    size: usize,
}

impl<T> Chunks<T> {
    const fn new(size: usize) -> Self {
        Self { chunks: Vec::new(), length: 0, size }
    }

    fn push(&mut self, element: T) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < self.size => chunk.push(element),
            // The first chunk grows, since most histories are small.
            None => self.chunks.push(vec![element]),
            Some(_) => {
                let mut chunk = Vec::with_capacity(self.size);
                chunk.push(element);
                self.chunks.push(chunk);
            }
        }
        self.length += 1;
    }

    fn get(&self, index: usize) -> &T {
        &self.chunks[index / self.size][index % self.size]
    }

    fn bytes(&self) -> usize {
        // Only the first and the last chunk are not full.
        let full = self.chunks.len().saturating_sub(2) * self.size;
        let others: usize = match self.chunks.as_slice() {
            [] => 0,
            [one] => one.capacity(),
            [one, .., last] => one.capacity() + last.capacity(),
        };
        (full + others) * size_of::<T>() + self.chunks.capacity() * size_of::<Vec<T>>()
    }
}

/// The states of a specification, each of which has a number.
#[derive(Debug)]
pub(crate) struct States<S> {
    states: Chunks<S>,
    table: HashTable<u32>,
    hasher: FixedState,
    heap_bytes: usize,
}

impl<S: Clone + Eq + Hash> States<S> {
    pub(crate) fn new() -> Self {
        Self { states: Chunks::new(CHUNK), table: HashTable::new(), hasher: FixedState::with_seed(1), heap_bytes: 0 }
    }

    /// Returns the number of a state, and keeps the state if it is new.
    pub(crate) fn number(&mut self, state: &S, heap_bytes: impl FnOnce(&S) -> usize) -> u32 {
        let Self { states, table, hasher, heap_bytes: total } = self;
        let entry = table.entry(
            hasher.hash_one(state),
            |&number| states.get(number as usize) == state,
            |&number| hasher.hash_one(states.get(number as usize)),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(known) => *known.get(),
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                let number = number_of(states.length);
                vacant.insert(number);
                *total += heap_bytes(state);
                states.push(state.clone());
                number
            }
        }
    }

    pub(crate) fn get(&self, number: u32) -> &S {
        self.states.get(number as usize)
    }

    pub(crate) fn len(&self) -> usize {
        self.states.length
    }

    pub(crate) fn bytes(&self) -> usize {
        self.states.bytes() + self.heap_bytes + table_bytes(&self.table)
    }
}

/// Configurations: what is demanded, the state, and which calls that are under way have been placed, as words.
#[derive(Debug)]
pub(crate) struct Configurations {
    words: Chunks<u64>,
    /// How many words a configuration has.
    width: usize,
    length: usize,
    table: HashTable<u32>,
    hasher: FixedState,
}

impl Configurations {
    pub(crate) fn new(width: usize) -> Self {
        // No configuration lies in two chunks.
        let words = Chunks::new(CHUNK.next_multiple_of(width));
        Self { words, width, length: 0, table: HashTable::new(), hasher: FixedState::with_seed(2) }
    }

    /// Keeps a configuration, and returns its number if it is new.
    pub(crate) fn insert(&mut self, configuration: &[u64]) -> Option<u32> {
        debug_assert_eq!(configuration.len(), self.width);
        let Self { words, width, length, table, hasher } = self;
        let entry = table.entry(
            hash(hasher, configuration),
            |&number| at(words, *width, number) == configuration,
            |&number| hash(hasher, at(words, *width, number)),
        );
        let hashbrown::hash_table::Entry::Vacant(vacant) = entry else { return None };
        let number = number_of(*length);
        vacant.insert(number);
        configuration.iter().for_each(|&word| words.push(word));
        *length += 1;
        Some(number)
    }

    pub(crate) fn get(&self, number: u32) -> &[u64] {
        at(&self.words, self.width, number)
    }

    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words.bytes() + table_bytes(&self.table)
    }
}

fn at(words: &Chunks<u64>, width: usize, number: u32) -> &[u64] {
    let start = number as usize * width;
    &words.chunks[start / words.size][start % words.size..][..width]
}

fn hash(hasher: &FixedState, configuration: &[u64]) -> u64 {
    let mut hasher = hasher.build_hasher();
    configuration.iter().for_each(|&word| hasher.write_u64(word));
    hasher.finish()
}

/// Returns the bytes of a table of numbers: a number and a byte of control for each place.
fn table_bytes(table: &HashTable<u32>) -> usize {
    let places = if table.capacity() == 0 { 0 } else { (table.capacity() * 8 / 7).next_power_of_two() };
    places * (size_of::<u32>() + 1)
}

/// Numbers are 32 bits: four thousand million states take more memory than any budget has.
fn number_of(length: usize) -> u32 {
    u32::try_from(length).expect("fewer than 2^32 states and configurations")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_is_found_again(words in prop::collection::vec(prop::array::uniform3(0..40_u64), 0..9000)) {
            let mut configurations = Configurations::new(3);
            let mut states = States::new();
            let mut known: Vec<[u64; 3]> = Vec::new();
            for configuration in words {
                let number = known.iter().position(|other| *other == configuration);
                let state = states.number(&configuration, |_| 0);
                match configurations.insert(&configuration) {
                    Some(new) => {
                        prop_assert_eq!((number, new as usize), (None, known.len()));
                        known.push(configuration);
                    }
                    None => prop_assert!(number.is_some()),
                }
                prop_assert_eq!(state as usize, number.unwrap_or(known.len() - 1));
                prop_assert_eq!(states.get(state), &configuration);
                prop_assert_eq!(configurations.get(state), &configuration);
            }
            prop_assert_eq!((configurations.len(), states.len()), (known.len(), known.len()));
        }
    }
}
