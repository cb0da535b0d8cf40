//! The tokens and the multisets of a place, each of which has a number.
//!
//! What a net does is computed on numbers: a marking is a row with the number of a multiset for each place. Only the
//! bodies of transitions see tokens. Numbers are 32 bits wide, and one that does not fit is an error: a number that wraps
//! would be a state space that is wrong and looks right.

use std::any::Any;
use std::fmt::Debug;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::hash_table::Entry;
use hashbrown::{HashMap, HashTable};

use crate::Token;

/// The number of a token or of a multiset, or a count of tokens, does not fit into 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooMany;

/// A number or a count that does not fit, and the place that it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overflow {
    pub(crate) place: usize,
}

/// A multiset: the numbers of its tokens in ascending order, each with how often it is there.
pub(crate) type Tokens = [(u32, u32)];

/// The number of the empty multiset.
pub(crate) const EMPTY: u32 = 0;

/// The tokens and multisets of one place.
#[derive(Debug)]
pub struct Store {
    tokens: Box<dyn AnyTokens>,
    multisets: Multisets,
}

impl Store {
    pub(crate) fn new<T: Token>() -> Self {
        Self { tokens: Box::new(TokenTable::<T>::default()), multisets: Multisets::new() }
    }

    /// Returns a token.
    pub(crate) fn token<T: Token>(&self, number: u32) -> &T {
        &self.table().tokens[number as usize]
    }

    /// Returns the number of a token, and keeps the token if it is new.
    pub(crate) fn number<T: Token>(&mut self, token: T) -> Result<u32, TooMany> {
        let table = self.tokens.as_any_mut().downcast_mut::<TokenTable<T>>();
        table.expect("a place has one type").number(token)
    }

    /// Returns a token in words.
    pub(crate) fn words(&self, number: u32) -> String {
        self.tokens.words(number)
    }

    pub(crate) fn multisets(&self) -> &Multisets {
        &self.multisets
    }

    pub(crate) fn multisets_mut(&mut self) -> &mut Multisets {
        &mut self.multisets
    }

    /// Returns about how many bytes it takes, without what tokens have on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.tokens.bytes() + self.multisets.bytes()
    }

    fn table<T: Token>(&self) -> &TokenTable<T> {
        self.tokens.as_any().downcast_ref().expect("a place has one type")
    }
}

/// The tokens of a place whose type is not known.
trait AnyTokens: Debug + Any {
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
    fn words(&self, number: u32) -> String;
    fn bytes(&self) -> usize;
}

#[derive(Debug)]
struct TokenTable<T> {
    tokens: Vec<T>,
    numbers: HashTable<u32>,
}

impl<T> Default for TokenTable<T> {
    fn default() -> Self {
        Self { tokens: Vec::new(), numbers: HashTable::new() }
    }
}

impl<T: Token> TokenTable<T> {
    fn number(&mut self, token: T) -> Result<u32, TooMany> {
        let hasher = hasher();
        let Self { tokens, numbers } = self;
        let is_it = |&number: &u32| tokens[number as usize] == token;
        match numbers.entry(hasher.hash_one(&token), is_it, |&number| hasher.hash_one(&tokens[number as usize])) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(vacant) => {
                let number = u32::try_from(tokens.len()).map_err(|_| TooMany)?;
                vacant.insert(number);
                tokens.push(token);
                Ok(number)
            }
        }
    }
}

impl<T: Token> AnyTokens for TokenTable<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn words(&self, number: u32) -> String {
        format!("{:?}", self.tokens[number as usize])
    }

    fn bytes(&self) -> usize {
        self.tokens.capacity() * size_of::<T>() + table_bytes(&self.numbers)
    }
}

/// The multisets of a place.
#[derive(Debug)]
pub(crate) struct Multisets {
    /// All of them, one after the other.
    entries: Vec<(u32, u32)>,
    /// Where each begins, and where the last one ends.
    begins: Vec<usize>,
    numbers: HashTable<u32>,
    /// Sums that were computed, by the two numbers.
    sums: HashMap<(u32, u32), u32, FixedState>,
}

impl Multisets {
    fn new() -> Self {
        let mut new = Self {
            entries: Vec::new(),
            begins: vec![0],
            numbers: HashTable::new(),
            sums: HashMap::with_hasher(hasher()),
        };
        let empty = new.number(&[]);
        debug_assert_eq!(empty, Ok(EMPTY));
        new
    }

    pub(crate) fn get(&self, number: u32) -> &Tokens {
        slice(&self.entries, &self.begins, number)
    }

    /// Returns how many multisets the place has had.
    pub(crate) fn len(&self) -> usize {
        self.begins.len() - 1
    }

    /// Returns how many tokens a multiset has.
    pub(crate) fn size(&self, number: u32) -> u64 {
        self.get(number).iter().map(|&(_, count)| u64::from(count)).sum()
    }

    /// Returns the number of a multiset.
    pub(crate) fn number(&mut self, tokens: &Tokens) -> Result<u32, TooMany> {
        let hasher = hasher();
        let next = self.len();
        let Self { entries, begins, numbers, .. } = self;
        let is_it = |&number: &u32| slice(entries, begins, number) == tokens;
        match numbers.entry(hasher.hash_one(tokens), is_it, |&number| hasher.hash_one(slice(entries, begins, number))) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(vacant) => {
                let number = u32::try_from(next).map_err(|_| TooMany)?;
                vacant.insert(number);
                entries.extend_from_slice(tokens);
                begins.push(entries.len());
                Ok(number)
            }
        }
    }

    /// Returns the number of the sum of two multisets.
    pub(crate) fn add(&mut self, one: u32, other: u32) -> Result<u32, TooMany> {
        match (one, other) {
            (EMPTY, sum) | (sum, EMPTY) => return Ok(sum),
            _ => {}
        }
        if let Some(&sum) = self.sums.get(&(one, other)) {
            return Ok(sum);
        }
        let mut sum = self.get(one).to_vec();
        for &(token, count) in self.get(other) {
            add_to(&mut sum, token, count)?;
        }
        let number = self.number(&sum)?;
        self.sums.insert((one, other), number);
        Ok(number)
    }

    fn bytes(&self) -> usize {
        8 * self.entries.capacity()
            + size_of::<usize>() * self.begins.capacity()
            + table_bytes(&self.numbers)
            + 13 * self.sums.capacity()
    }
}

/// Adds a token, so many times, to a multiset.
pub(crate) fn add_to(tokens: &mut Vec<(u32, u32)>, token: u32, count: u32) -> Result<(), TooMany> {
    match tokens.binary_search_by_key(&token, |entry| entry.0) {
        Ok(place) => tokens[place].1 = tokens[place].1.checked_add(count).ok_or(TooMany)?,
        Err(place) => tokens.insert(place, (token, count)),
    }
    Ok(())
}

/// Returns about how many bytes a table of numbers takes.
pub(crate) fn table_bytes(table: &HashTable<u32>) -> usize {
    // A number, and a byte that tells full from empty; a table is at most seven eighths full.
    table.capacity() * 8 / 7 * 5
}

/// Returns the hasher of everything that is numbered: a state space is the same each time.
pub(crate) fn hasher() -> FixedState {
    FixedState::with_seed(1)
}

fn slice<'a>(entries: &'a [(u32, u32)], begins: &[usize], number: u32) -> &'a Tokens {
    &entries[begins[number as usize]..begins[number as usize + 1]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_more_multisets_than_sixteen_bits_count() {
        let mut multisets = Multisets::new();
        for token in 0..70_000 {
            assert_eq!(multisets.number(&[(token, 1)]), Ok(token + 1));
        }
        assert_eq!(multisets.len(), 70_001);
        assert_eq!(multisets.get(65_537), [(65_536, 1)]);
        assert_eq!(multisets.number(&[(0, 1)]), Ok(1));
    }

    #[test]
    fn a_count_that_does_not_fit_is_an_error() {
        let mut multisets = Multisets::new();
        let most = multisets.number(&[(3, u32::MAX)]).expect("there is room");
        let one = multisets.number(&[(3, 1)]).expect("there is room");
        assert_eq!(multisets.add(most, one), Err(TooMany));
        let other = multisets.number(&[(2, 5)]).expect("there is room");
        let sum = multisets.add(other, one).expect("it fits");
        assert_eq!(multisets.get(sum), [(2, 5), (3, 1)]);
        assert_eq!(multisets.add(EMPTY, sum), Ok(sum));
    }
}
