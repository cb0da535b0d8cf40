//! Which mutants one recorded run reached and infected.

use std::cell::Cell;
use std::ops::Range;

use crate::marks::{self, Marks};
use crate::places::{code_of, for_each_range};
use crate::recording::{Recording, RecordingSizes};

/// What a thread records of mutants at the moment: nothing, most of the time.
#[derive(Debug)]
pub(crate) struct Mutants {
    sizes: Cell<Option<RecordingSizes>>,
    pub(crate) reached: Set,
    pub(crate) infected: Set,
    /// The first mutants of points, and of comparisons, of which all mutants are infected.
    pub(crate) settled: Set,
    /// The first mutants of functions of which all mutants are infected, those of the constants that they use among
    /// them.
    pub(crate) finished: Set,
}

impl Mutants {
    pub(crate) const fn new() -> Self {
        Self {
            sizes: Cell::new(None),
            reached: Set::new(),
            infected: Set::new(),
            settled: Set::new(),
            finished: Set::new(),
        }
    }

    /// Begins a recording with empty sets.
    pub(crate) fn start(&self, sizes: RecordingSizes) {
        self.sizes.set(Some(sizes));
        let numbers = sizes.mutants.checked_sub(1).map_or(0, |last| code_of(last as u32) as usize + 1);
        for set in [&self.reached, &self.infected, &self.settled, &self.finished] {
            set.clear(numbers);
        }
    }

    /// Ends a recording that nobody asked for.
    pub(crate) fn forget(&self) {
        self.sizes.set(None);
    }

    /// Returns whether a run is being recorded, and not for its coverage alone.
    pub(crate) fn is_on(&self) -> bool {
        self.sizes.get().is_some_and(|sizes| sizes.mutants > 0)
    }

    /// Notes that all mutants of the point or the comparison are infected that begins with `first`.
    pub(crate) fn settle(&self, first: u32) {
        self.settled.insert(first);
        marks::for_each_function_with(first, |function| {
            if function.noted_mutants().all(|mutant| !self.infected.is_open(mutant)) {
                self.finished.insert(function.mutants[0]);
            }
        });
    }

    /// Returns what was recorded, if anything was to be.
    pub(crate) fn finish(&self, marks: &Marks) -> Option<Recording> {
        let sizes = self.sizes.take()?;
        let (reached, infected) = (self.reached.to_vec(sizes.mutants), self.infected.to_vec(sizes.mutants));
        let mut recording = Recording { reached, infected, ..Recording::default() };
        marks.collect(sizes, &mut recording);
        Some(recording)
    }
}

/// How many members of a set stand at a place that is known when the program is linked.
const NEAR: usize = 8192;

/// A set of numbers of mutants, as generated code has them.
///
/// A probe names a number that the compiler knows. So for the first numbers, which are all there are in most systems,
/// all that is left of it is a look at the thread's memory.
#[derive(Debug)]
pub(crate) struct Set {
    near: [Cell<bool>; NEAR],
    /// The others. They are never freed; there are as many as the largest set of the thread needed.
    far: Cell<&'static [Cell<bool>]>,
}

impl Set {
    const fn new() -> Self {
        Self { near: [const { Cell::new(false) }; NEAR], far: Cell::new(&[]) }
    }

    /// Removes all numbers, and makes room for those below `size`.
    fn clear(&self, size: usize) {
        let far = size.saturating_sub(NEAR);
        if self.far.get().len() < far {
            self.far.set(Vec::leak(vec![Cell::new(false); far]));
        }
        // One after the other, not as one iterator: the compiler fills memory faster than a mark at a time.
        for members in self.members(0..size) {
            members.iter().for_each(|member| member.set(false));
        }
    }

    /// Returns for each of these numbers whether it is a member.
    fn members(&self, numbers: Range<usize>) -> [&[Cell<bool>]; 2] {
        let Range { start, end } = numbers;
        let far = start.saturating_sub(NEAR)..end.saturating_sub(NEAR);
        [&self.near[start.min(NEAR)..end.min(NEAR)], &self.far.get()[far]]
    }

    /// Adds a number.
    #[inline]
    pub(crate) fn insert(&self, number: u32) {
        match self.near.get(number as usize) {
            Some(member) => member.set(true),
            None => self.insert_far(number),
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_far(&self, number: u32) {
        if let Some(member) = self.far.get().get(number as usize - NEAR) {
            member.set(true);
        }
    }

    /// Returns whether a number is missing, and could be added.
    #[inline]
    pub(crate) fn is_open(&self, number: u32) -> bool {
        match self.near.get(number as usize) {
            Some(member) => !member.get(),
            None => self.is_open_far(number),
        }
    }

    #[cold]
    #[inline(never)]
    fn is_open_far(&self, number: u32) -> bool {
        self.far.get().get(number as usize - NEAR).is_some_and(|member| !member.get())
    }

    /// Returns which of the first `count` mutants of reports are members.
    fn to_vec(&self, count: usize) -> Vec<u32> {
        let mut found = Vec::new();
        for_each_range(count, |first, codes| {
            let members = self.members(codes.start as usize..codes.end as usize).into_iter().flatten();
            found.extend((first..).zip(members).filter(|(_, member)| member.get()).map(|(number, _)| number));
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_near_and_far_are_kept_until_the_next_recording() {
        let mutants = Box::new(Mutants::new());
        let marks = Box::new(Marks::new());
        let near = NEAR as u32;
        let sizes = RecordingSizes { mutants: NEAR + 2, ..RecordingSizes::default() };
        mutants.start(sizes);
        for number in [near + 1, near, near - 1, 0, near + 2] {
            mutants.reached.insert(number);
        }
        assert!(mutants.infected.is_open(near + 1) && !mutants.infected.is_open(near + 2), "beyond the size");
        mutants.infected.insert(near + 1);
        assert!(!mutants.infected.is_open(near + 1), "it is in the set");
        let recording = mutants.finish(&marks).expect("it was begun");
        assert_eq!(recording.reached, [0, near - 1, near, near + 1]);
        assert_eq!(recording.infected, [near + 1]);
        assert_eq!(mutants.finish(&marks), None, "nothing was begun since");
        mutants.start(sizes);
        assert_eq!(mutants.finish(&marks).expect("it was begun").reached, [0; 0]);
    }

    #[test]
    fn some_of_a_set_may_be_near_and_others_far() {
        let set = Set::new();
        set.clear(NEAR + 4);
        [NEAR - 1, NEAR + 1].iter().for_each(|&number| set.insert(number as u32));
        let members = |numbers: Range<usize>| -> Vec<bool> {
            set.members(numbers).into_iter().flatten().map(Cell::get).collect()
        };
        assert_eq!(members(NEAR - 2..NEAR + 3), [false, true, false, true, false]);
        assert_eq!(members(NEAR - 2..NEAR), [false, true]);
        assert_eq!(members(NEAR + 1..NEAR + 4), [true, false, false]);
    }

    #[test]
    fn coverage_alone_has_no_mutants() {
        let mutants = Box::new(Mutants::new());
        mutants.start(RecordingSizes { mutants: 3, ..RecordingSizes::default() });
        assert!(mutants.is_on());
        mutants.reached.insert(1);
        mutants.start(RecordingSizes::default());
        assert!(!mutants.is_on());
        assert_eq!(mutants.finish(&Marks::new()).expect("it was begun").reached, [0; 0]);
    }
}
