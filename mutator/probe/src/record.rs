//! What one recorded run covered: sets of small numbers.

use std::cell::Cell;

use crate::flow;

/// How many requirements and mutants the instrumented code has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

/// What a thread records at the moment: nothing, most of the time.
#[derive(Debug)]
pub(crate) struct Recorder {
    sizes: Cell<Option<Sizes>>,
    pub(crate) blocks: Set,
    pub(crate) branches: Set,
    pub(crate) conditions: Set,
    pub(crate) reached: Set,
    pub(crate) infected: Set,
    /// The first mutants of points of which all mutants are infected.
    pub(crate) settled: Set,
}

impl Recorder {
    pub(crate) const fn new() -> Self {
        Self {
            sizes: Cell::new(None),
            blocks: Set::new(),
            branches: Set::new(),
            conditions: Set::new(),
            reached: Set::new(),
            infected: Set::new(),
            settled: Set::new(),
        }
    }

    /// Begins with empty sets of these sizes. Where there are to be no mutants, none is open.
    pub(crate) fn start(&self, sizes: Sizes) {
        let Sizes { blocks, branches, pairs, conditions, mutants } = sizes;
        self.sizes.set(Some(sizes));
        flow::start(pairs);
        self.blocks.fill(blocks, false);
        self.branches.fill(branches, false);
        self.conditions.fill(conditions, false);
        let is_closed = mutants == 0;
        for set in [&self.reached, &self.infected, &self.settled] {
            set.fill(if is_closed { NEAR + set.far.get().len() } else { mutants }, is_closed);
        }
    }

    /// Returns whether a run is being recorded.
    pub(crate) fn is_on(&self) -> bool {
        self.sizes.get().is_some()
    }

    /// Returns what was recorded, if anything was to be.
    pub(crate) fn finish(&self) -> Option<Recording> {
        let Sizes { blocks, branches, conditions, mutants, .. } = self.sizes.take()?;
        let (pairs, pairs_unlisted) = flow::finish();
        Some(Recording {
            blocks: self.blocks.to_vec(blocks),
            branches: self.branches.to_vec(branches),
            pairs,
            conditions: self.conditions.to_vec(conditions),
            reached: self.reached.to_vec(mutants),
            infected: self.infected.to_vec(mutants),
            pairs_unlisted,
        })
    }
}

/// How many marks of a set stand at a place that is known when the program is linked.
const NEAR: usize = 4096;

/// A set of numbers: a mark for each.
///
/// A probe names a number that the compiler knows. So for the first numbers, which are all there are in most systems, all
/// that is left of it is a store to the thread's memory.
#[derive(Debug)]
pub(crate) struct Set {
    near: [Cell<bool>; NEAR],
    /// The marks of the others. They are never freed; there are as many as the largest set of the thread needed.
    far: Cell<&'static [Cell<bool>]>,
}

impl Set {
    const fn new() -> Self {
        Self { near: [const { Cell::new(false) }; NEAR], far: Cell::new(&[]) }
    }

    /// Marks all numbers below `size`, or none.
    fn fill(&self, size: usize, is_marked: bool) {
        let far = size.saturating_sub(NEAR);
        if self.far.get().len() < far {
            self.far.set(Vec::leak(vec![Cell::new(false); far]));
        }
        // One after the other, not as one iterator: the compiler fills memory faster than a mark at a time.
        for marks in self.marks(size) {
            marks.iter().for_each(|mark| mark.set(is_marked));
        }
    }

    /// Returns the marks of the numbers below `size`.
    fn marks(&self, size: usize) -> [&[Cell<bool>]; 2] {
        [&self.near[..size.min(NEAR)], &self.far.get()[..size.saturating_sub(NEAR)]]
    }

    /// Adds a number.
    #[inline]
    pub(crate) fn insert(&self, number: u32) {
        match self.near.get(number as usize) {
            Some(mark) => mark.set(true),
            None => self.insert_far(number),
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_far(&self, number: u32) {
        if let Some(mark) = self.far.get().get(number as usize - NEAR) {
            mark.set(true);
        }
    }

    /// Returns whether a number is missing, and could be added.
    #[inline]
    pub(crate) fn is_open(&self, number: u32) -> bool {
        match self.near.get(number as usize) {
            Some(mark) => !mark.get(),
            None => self.is_open_far(number),
        }
    }

    #[cold]
    #[inline(never)]
    fn is_open_far(&self, number: u32) -> bool {
        self.far.get().get(number as usize - NEAR).is_some_and(|mark| !mark.get())
    }

    fn to_vec(&self, size: usize) -> Vec<u32> {
        let marks = self.marks(size).into_iter().flatten();
        (0..).zip(marks).filter(|(_, mark)| mark.get()).map(|(number, _)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_near_and_far_are_kept_until_the_next_recording() {
        let recorder = Box::new(Recorder::new());
        let near = NEAR as u32;
        let sizes = Sizes { blocks: NEAR + 2, branches: 3, mutants: NEAR + 2, ..Sizes::default() };
        recorder.start(sizes);
        for number in [near + 1, near, near - 1, 0, near + 2] {
            recorder.blocks.insert(number);
        }
        assert!(recorder.infected.is_open(near + 1) && !recorder.infected.is_open(near + 2), "beyond the size");
        recorder.infected.insert(near + 1);
        assert!(!recorder.infected.is_open(near + 1), "it is in the set");
        let recording = recorder.finish().expect("it was begun");
        assert_eq!(recording.blocks, [0, near - 1, near, near + 1]);
        assert_eq!(recording.infected, [near + 1]);
        assert_eq!(recorder.finish(), None, "nothing was begun since");
        recorder.start(sizes);
        assert_eq!(recorder.finish().expect("it was begun").blocks, [0; 0]);
    }

    #[test]
    fn without_mutants_none_is_open() {
        let recorder = Box::new(Recorder::new());
        recorder.start(Sizes { mutants: NEAR + 2, ..Sizes::default() });
        recorder.start(Sizes::default());
        for number in [0, NEAR as u32 - 1] {
            assert!(!recorder.reached.is_open(number) && !recorder.settled.is_open(number), "mutant {number}");
        }
        assert_eq!(recorder.finish().expect("it was begun").reached, [0; 0]);
    }
}
