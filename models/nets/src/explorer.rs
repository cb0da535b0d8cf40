//! The explorer: all states that something can reach, where a state is a row of cells.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::graph::StateGraph;
use crate::multiset::{hasher, table_bytes};
use crate::net::NetError;

/// The limits of an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The greatest number of markings.
    pub markings: Option<usize>,
    /// The greatest number of bytes.
    pub bytes: Option<usize>,
}

/// A gibibyte, and as many markings as fit.
impl Default for Budget {
    fn default() -> Self {
        Self { markings: None, bytes: Some(1 << 30) }
    }
}

/// Why there is no state space.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// The net has a mistake.
    #[error(transparent)]
    Net(#[from] NetError),
    /// It is of a kind that cannot be explored.
    #[error("{message}")]
    Refused {
        /// Why, and what can be done.
        message: String,
    },
    /// The budget ran out.
    #[error("after {markings} markings the budget of {limit} ran out; {grows}: bound it, or raise the budget")]
    Exhausted {
        /// The limit that was reached, in words.
        limit: String,
        /// The number of markings so far.
        markings: usize,
        /// The place that grows, in words.
        grows: String,
    },
    /// There are more than 2^32 - 1 markings, or contents or tokens of a place.
    #[error("the net has more {what} than 2^32 - 1, and none is counted wrongly: bound it")]
    TooMany {
        /// The things of which there are too many, in words.
        what: String,
    },
}

/// A function that is called with a marking.
pub type Each<'a, C> = dyn FnMut(&[C]) -> Result<(), ExploreError> + 'a;

/// Something that can be explored: a net whose markings are rows of cells, all of one width.
pub trait Explorable {
    /// A cell of a row: a number, or bits.
    type Cell: Copy + Eq + Hash;

    /// Returns the initial marking.
    fn initial(&self) -> Vec<Self::Cell>;

    /// Calls `each` with the marking after each way to fire, always in the same order.
    ///
    /// # Errors
    /// Those of `each`, and what makes an exploration end early.
    fn successors(&mut self, marking: &[Self::Cell], each: &mut Each<'_, Self::Cell>) -> Result<(), ExploreError>;

    /// Returns about how many bytes it takes.
    fn bytes(&self) -> usize;

    /// Returns which place grows, as a sentence, from the markings that there are so far.
    fn grows(&self, markings: &Rows<Self::Cell>) -> String;
}

/// Different rows of one width: row 0, and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows<C> {
    width: usize,
    cells: Vec<C>,
    count: u32,
}

impl<C> Rows<C> {
    /// Returns a row by its number.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn get(&self, number: usize) -> &[C] {
        assert!(number < self.len(), "there are {} rows", self.len());
        &self.cells[number * self.width..][..self.width]
    }

    /// Returns all rows, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &[C]> {
        (0..self.len()).map(|number| self.get(number))
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns how many bytes they take.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<C>() * self.cells.capacity()
    }
}

/// Returns all markings that `net` can reach, in the order of breadth first, and the arcs between them.
///
/// # Errors
/// [`ExploreError`] if the budget runs out, or if something does not fit into 32 bits.
pub fn explore<E: Explorable>(net: &mut E, budget: &Budget) -> Result<(Rows<E::Cell>, StateGraph), ExploreError> {
    use ExploreError::Exhausted;

    let mut marking = net.initial();
    let mut known =
        Known { rows: Rows { width: marking.len(), cells: Vec::new(), count: 0 }, numbers: Default::default() };
    let mut graph = StateGraph::default();
    known.number(&marking)?;
    let mut next = 0;
    while next < known.rows.len() {
        marking.clear();
        marking.extend_from_slice(known.rows.get(next));
        let mut limit = None;
        let explored = net.successors(&marking, &mut |after| {
            graph.add_arc(known.number(after)?);
            // To add up what everything takes is not for each arc.
            let bytes = if graph.arcs().is_multiple_of(1 << 16) { known.bytes() + graph.bytes() } else { 0 };
            limit = budget.limit_of(known.rows.len(), bytes);
            if limit.is_some() {
                Err(Exhausted { limit: String::new(), markings: 0, grows: String::new() })
            } else {
                Ok(())
            }
        });
        if limit.is_none() {
            explored?;
            graph.end_marking()?;
            next += 1;
            let is_time = next.is_multiple_of(1 << 10);
            let bytes = if is_time { known.bytes() + graph.bytes() + net.bytes() } else { 0 };
            limit = budget.limit_of(known.rows.len(), bytes);
        }
        if let Some(limit) = limit {
            return Err(Exhausted { limit, markings: known.rows.len(), grows: net.grows(&known.rows) });
        }
    }
    Ok((known.rows, graph))
}

impl Budget {
    /// Returns the limit that is exceeded, in words.
    pub(crate) fn limit_of(&self, markings: usize, bytes: usize) -> Option<String> {
        match *self {
            Self { markings: Some(most), .. } if markings > most => Some(format!("{most} markings")),
            Self { bytes: Some(most), .. } if bytes > most => Some(format!("{most} bytes")),
            _ => None,
        }
    }
}

/// How many tables the numbers of rows are in. Each grows alone: a single one takes half as much again while it grows.
const TABLES: usize = 16;

/// Rows that are found by what they hold. A row is compared with rows, and not with their hashes.
struct Known<C> {
    rows: Rows<C>,
    numbers: [HashTable<u32>; TABLES],
}

impl<C: Copy + Eq + Hash> Known<C> {
    /// Returns the number of a row, and keeps it if it is new.
    fn number(&mut self, row: &[C]) -> Result<u32, ExploreError> {
        let Self { rows: Rows { width, cells, count }, numbers } = self;
        let get = |number: u32| &cells[number as usize * *width..][..*width];
        let hash = |row: &[C]| hasher().hash_one(row);
        let hashed = hash(row);
        // A table looks at the first and the last bits.
        let numbers = &mut numbers[(hashed >> 40) as usize % TABLES];
        match numbers.entry(hashed, |&number| get(number) == row, |&number| hash(get(number))) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(vacant) => {
                let number = *count;
                let too_many = || ExploreError::TooMany { what: "markings".to_owned() };
                *count = number.checked_add(1).ok_or_else(too_many)?;
                vacant.insert(number);
                cells.extend_from_slice(row);
                Ok(number)
            }
        }
    }

    fn bytes(&self) -> usize {
        self.rows.bytes() + self.numbers.iter().map(table_bytes).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Net, any};

    #[test]
    fn a_budget_that_runs_out_names_the_place_that_grows() {
        let mut net = Net::new("counter");
        let count = net.place("count", [0_u64]);
        let tick = net.place("tick", [()]);
        net.transition("count", (count.take(), tick.keep()), |count, ()| Some(count + 1), count.put());
        let error = net.explore(&Budget { markings: Some(1_000), bytes: None }).expect_err("it counts for ever");
        let ExploreError::Exhausted { grows, markings, .. } = &error else { panic!("{error}") };
        assert_eq!(
            (grows.as_str(), *markings),
            ("the place `count` has had 1002 different contents, of up to 1 tokens", 1_001)
        );
    }

    #[test]
    fn one_marking_with_many_arcs_keeps_the_budget() {
        let mut net = Net::new("draw");
        let (ready, drawn) = (net.place("ready", [()]), net.place::<u32>("drawn", []));
        net.transition("draw", (ready.take(), any(0..200_000)), |(), number| Some(number), drawn.put());
        let budget = Budget { markings: None, bytes: Some(1 << 20) };
        let error = net.explore(&budget).expect_err("it is too large");
        let ExploreError::Exhausted { limit, markings, .. } = &error else { panic!("{error}") };
        assert_eq!((limit.as_str(), *markings), ("1048576 bytes", (1 << 16) + 1));
    }

    #[test]
    fn sets_of_events_keep_the_budget() {
        let mut net = Net::<u8, u8>::with_events("bits");
        let (open, closed) = (net.place("open", [()]), net.place::<()>("closed", []));
        net.transition("set", (open.keep(), any(0..20)), |(), _| Some(()), ()).input(|(), bit| Some(bit));
        net.transition("close", open.take(), |()| Some(()), closed.put());
        let mut space = net.explore(&Budget { markings: None, bytes: Some(10 << 20) }).expect("it is small");
        assert_eq!(space.graph().markings(), 2);
        let error = space.tests().expect_err("there are 2^20 sets").to_string();
        assert!(
            error.contains("budget of 10485760 bytes ran out") && error.contains("different sets of events"),
            "{error}"
        );
    }
}
