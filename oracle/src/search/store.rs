//! What a search keeps: the states of the specification, each once, and the configurations that it has been at.
//!
//! Both are kept in chunks, which are never copied, so memory grows by a chunk at a time and a budget can be held.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

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

    /// Returns how many bytes one more element takes, at most.
    fn growth(&self) -> usize {
        match self.chunks.as_slice() {
            [] => 0,
            [.., last] if last.len() < last.capacity() => 0,
            [one] if one.len() < self.size => 2 * one.capacity() * size_of::<T>(),
            _ => self.size * size_of::<T>(),
        }
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
    pub(crate) fn number(&mut self, state: &S, heap_bytes: fn(&S) -> usize) -> u32 {
        let Self { states, table, hasher, heap_bytes: total } = self;
        let entry = table.entry(
            hasher.hash_one(state),
            |&number| states.get(number as usize) == state,
            |&number| hasher.hash_one(states.get(number as usize)),
        );
        match entry {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => {
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

    /// Returns how many bytes one more state takes, at most, without what it has on the heap.
    pub(crate) fn growth(&self) -> usize {
        self.states.growth() + table_growth(&self.table)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.states.bytes() + self.heap_bytes + table_bytes(&self.table)
    }
}

/// Configurations: what is demanded, the state, and which calls that are under way have been placed, as words.
///
/// The last words are *spare*: nothing waits for their calls, so what can follow a configuration can follow one that
/// has placed fewer of them, too, and only the latter is kept.
#[derive(Debug)]
pub(crate) struct Configurations {
    words: Chunks<u64>,
    /// For each configuration the one before it that differs in its spare words alone, or [`NONE`].
    others: Chunks<u32>,
    /// How many words a configuration has.
    width: usize,
    /// How many of them are not spare.
    firm: usize,
    length: usize,
    /// Of configurations that differ in their spare words alone, the last one.
    table: HashTable<u32>,
    hasher: FixedState,
}

/// No configuration.
const NONE: u32 = u32::MAX;

impl Configurations {
    pub(crate) fn new(firm: usize, spare: usize) -> Self {
        let width = firm + spare;
        Self {
            // No configuration lies in two chunks.
            words: Chunks::new(CHUNK.next_multiple_of(width)),
            others: Chunks::new(CHUNK),
            width,
            firm,
            length: 0,
            table: HashTable::new(),
            hasher: FixedState::with_seed(2),
        }
    }

    /// Keeps a configuration, and returns its number.
    ///
    /// # Errors
    /// The number of one that is known and as good.
    pub(crate) fn insert(&mut self, configuration: &[u64]) -> Result<u32, u32> {
        debug_assert_eq!(configuration.len(), self.width);
        let Self { words, others, width, firm, length, table, hasher } = self;
        let (key, spare) = configuration.split_at(*firm);
        let entry = table.entry(
            hash(hasher, key),
            |&number| &at(words, *width, number)[..*firm] == key,
            |&number| hash(hasher, &at(words, *width, number)[..*firm]),
        );
        let number = number_of(*length);
        let before = match entry {
            Entry::Vacant(vacant) => {
                vacant.insert(number);
                NONE
            }
            Entry::Occupied(mut occupied) => {
                let mut other = *occupied.get();
                while other != NONE {
                    let known = &at(words, *width, other)[*firm..];
                    if known.iter().zip(spare).all(|(known, new)| known & !new == 0) {
                        return Err(other);
                    }
                    other = *others.get(other as usize);
                }
                std::mem::replace(occupied.get_mut(), number)
            }
        };
        configuration.iter().for_each(|&word| words.push(word));
        others.push(before);
        *length += 1;
        Ok(number)
    }

    pub(crate) fn get(&self, number: u32) -> &[u64] {
        at(&self.words, self.width, number)
    }

    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    /// Returns how many bytes one more configuration takes, at most.
    pub(crate) fn growth(&self) -> usize {
        self.words.growth() + self.others.growth() + table_growth(&self.table)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.words.bytes() + self.others.bytes() + table_bytes(&self.table)
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

/// Returns how many bytes a table takes beside its own while it grows, if it does so with one more number.
fn table_growth(table: &HashTable<u32>) -> usize {
    if table.len() < table.capacity() { 0 } else { 2 * table_bytes(table) }
}

/// Returns how many bytes a list takes beside its own while it grows, if it does so with one more element.
pub(crate) fn grown<T>(list: &Vec<T>) -> usize {
    if list.len() < list.capacity() { 0 } else { 2 * list.capacity() * size_of::<T>() }
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
        fn states_are_found_again(values in prop::collection::vec(0..60_u64, 0..9000)) {
            let mut states = States::new();
            let mut known: Vec<u64> = Vec::new();
            for value in values {
                let number = known.iter().position(|other| *other == value).unwrap_or_else(|| {
                    known.push(value);
                    known.len() - 1
                });
                prop_assert_eq!(states.number(&value, |_| 0) as usize, number);
                prop_assert_eq!(*states.get(number as u32), value);
            }
            prop_assert_eq!(states.len(), known.len());
        }

        #[test]
        fn a_configuration_is_kept_if_none_with_fewer_spare_calls_is_known(
            words in prop::collection::vec(prop::array::uniform3(0..12_u64), 0..3000),
        ) {
            let mut configurations = Configurations::new(2, 1);
            let mut known: Vec<[u64; 3]> = Vec::new();
            for new in words {
                let is_as_good = |other: &[u64; 3]| other[..2] == new[..2] && other[2] & !new[2] == 0;
                match configurations.insert(&new) {
                    Ok(number) => {
                        prop_assert!(!known.iter().any(is_as_good));
                        prop_assert_eq!(number as usize, known.len());
                        known.push(new);
                        prop_assert_eq!(configurations.get(number), &new);
                    }
                    Err(other) => prop_assert!(is_as_good(&known[other as usize])),
                }
            }
            prop_assert_eq!(configurations.len(), known.len());
        }
    }
}
