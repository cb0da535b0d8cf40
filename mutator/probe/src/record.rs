//! What one recorded run covered: sets of small numbers.

use crate::flow;

/// How many requirements and mutants the instrumented code has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Basic blocks.
    pub blocks: usize,
    /// Branches.
    pub branches: usize,
    /// Definition-use pairs.
    pub pairs: usize,
    /// Values of conditions that decide.
    pub conditions: usize,
    /// Mutants.
    pub mutants: usize,
}

/// What a recorded run did; numbers in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording {
    /// Blocks executed.
    pub blocks: Vec<u32>,
    /// Branches taken.
    pub branches: Vec<u32>,
    /// Definition-use pairs covered.
    pub pairs: Vec<u32>,
    /// Values of conditions that decided.
    pub conditions: Vec<u32>,
    /// Mutants whose place was executed.
    pub reached: Vec<u32>,
    /// Mutants that would have had another value or effect there.
    pub infected: Vec<u32>,
    /// How many times a definition-use pair was seen that the mutator does not know: more than 0 is an error of the mutator.
    pub pairs_unlisted: u64,
}

#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) blocks: Set,
    pub(crate) branches: Set,
    pub(crate) conditions: Set,
    pub(crate) reached: Set,
    pub(crate) infected: Set,
}

impl Recorder {
    pub(crate) fn new(sizes: Sizes) -> Self {
        flow::start(sizes.pairs);
        Self {
            blocks: Set::new(sizes.blocks),
            branches: Set::new(sizes.branches),
            conditions: Set::new(sizes.conditions),
            reached: Set::new(sizes.mutants),
            infected: Set::new(sizes.mutants),
        }
    }

    pub(crate) fn finish(self) -> Recording {
        let (pairs, pairs_unlisted) = flow::finish();
        Recording {
            blocks: self.blocks.into_vec(),
            branches: self.branches.into_vec(),
            pairs,
            conditions: self.conditions.into_vec(),
            reached: self.reached.into_vec(),
            infected: self.infected.into_vec(),
            pairs_unlisted,
        }
    }
}

/// A set of numbers below a size that is known.
#[derive(Debug)]
pub(crate) struct Set(Vec<u64>);

impl Set {
    fn new(size: usize) -> Self {
        Self(vec![0; size.div_ceil(64)])
    }

    pub(crate) fn insert(&mut self, number: u32) {
        self.0[number as usize / 64] |= 1 << (number % 64);
    }

    pub(crate) fn contains(&self, number: u32) -> bool {
        self.0[number as usize / 64] >> (number % 64) & 1 == 1
    }

    fn into_vec(self) -> Vec<u32> {
        (0..self.0.len() as u32 * 64).filter(|&number| self.contains(number)).collect()
    }
}
