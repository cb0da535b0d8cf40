//! What is known of each function, and what the recorded run of a thread has covered: a mark for each block, branch,
//! condition and definition-use pair.
//!
//! A mark is a byte at a place that is known when the code is compiled, so that all which is left of most probes is a
//! store. Each function has its marks side by side: one that says whether the run has called the function, its
//! branches, its pairs, its conditions, its blocks. A use that can see several definitions has a row of marks, one for
//! each definition of its variable; the number of the last one is the place in the row, and no table is looked up. What
//! is covered whenever something else is has no mark of its own, but that one's. When the run ends, the marks of the
//! functions that it has called are read, and translated into the numbers that reports know.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;

use crate::RUN;
use crate::places::place_of;
use crate::recording::{Recording, RecordingSizes};

/// How many marks stand at a place that is known when the program is linked.
const NEAR: usize = 1 << 16;
/// A row that begins among them and is not longer ends in here: no use needs a check.
const ROW_MAX: usize = 1 << 12;
const NEAR_WITH_ROW: usize = NEAR + ROW_MAX;
/// How many marks are looked at in one go.
const GROUP: usize = 8;

/// In [`FunctionMarks::new`]: a place in a row that stands for no pair, since no definition is known.
pub const NO_PAIR: u32 = u32::MAX - 1;
/// In [`FunctionMarks::new`]: a place in a row that stands for a pair that cannot be, as far as the mutator knows.
pub const UNLISTED: u32 = u32::MAX;
/// In [`FunctionMarks::new`]: what nothing marks.
pub const NO_MARK: u32 = u32::MAX;

/// A use: its row of marks, as a constant of generated code. Rows of uses that are noted together lie between each
/// other, so that what is noted together is often side by side.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    first: u32,
    /// From the mark of a definition to that of the next.
    stride: u32,
    /// No definition has a greater number; all bits below its highest are ones.
    mask: u16,
}

impl Row {
    /// Returns the row that begins at the mark `first`, with `stride` marks from that of a definition to that of the
    /// next; `mask` is not less than the number of any definition, and a power of two less 1.
    #[inline(always)]
    pub const fn new(first: u32, stride: u32, mask: u16) -> Self {
        Self { first, stride, mask }
    }

    /// Returns the mark of a definition if the row begins at 0.
    #[inline(always)]
    fn place_of(self, definition: u16) -> usize {
        self.stride as usize * usize::from(definition & self.mask)
    }
}

/// What the probes know of one function: a constant of generated code.
///
/// Of its marks, the first is the function's own. Those of its branches follow, of its rows, and those of conditions,
/// blocks and pairs that have one of their own.
#[derive(Debug)]
pub struct FunctionMarks {
    pub(crate) number: u32,
    first_mark: u32,
    end: u32,
    branches: Numbers,
    conditions: Marked,
    pairs: &'static [u32],
    pairs_with: &'static [(u32, u32)],
    blocks: Marked,
    /// The mutants by which a call asks for its body: all that the function has a part of are among them.
    pub(crate) mutants: Numbers,
    /// Those that no other function has a part of.
    own_mutants: Numbers,
    /// The mutants of the constants that it uses; other functions may use these, too.
    pub(crate) constants: &'static [Numbers],
}

/// The first of some numbers that follow each other, and how many they are.
type Numbers = [u32; 2];
/// The first of some numbers that follow each other, and the mark of each.
type Marked = (u32, &'static [u32]);

impl FunctionMarks {
    /// Returns the function with this number that has the marks from `first_mark` to before `end`. What it covers is
    /// numbered from where it begins in reports ([`Place`](crate::Place)). The numbers of its branches and mutants are
    /// given as the first one and how many there are; those of its conditions and blocks as the first one and the mark
    /// of each, which can be that of something else. Its pairs are listed twice: as the marks of its rows follow each
    /// other, and each with a mark that stands for it as well. Of its mutants come first those by which a call asks for
    /// its body, and then those that are its own.
    pub const fn new(
        number: u32,
        [first_mark, end]: [u32; 2],
        branches: [u32; 2],
        conditions: (u32, &'static [u32]),
        (pairs, pairs_with): (&'static [u32], &'static [(u32, u32)]),
        blocks: (u32, &'static [u32]),
        (mutants, own_mutants): ([u32; 2], [u32; 2]),
    ) -> Self {
        let constants = &[];
        Self {
            number,
            first_mark,
            end,
            branches,
            conditions,
            pairs,
            pairs_with,
            blocks,
            mutants,
            own_mutants,
            constants,
        }
    }

    /// Returns the same function, which uses constants with these mutants: for each constant the first one and how many
    /// there are.
    #[must_use]
    pub const fn with_constants(self, constants: &'static [[u32; 2]]) -> Self {
        Self { constants, ..self }
    }

    /// Whether it has a body that chooses between the original and mutants.
    #[inline(always)]
    pub(crate) const fn has_mutants(&self) -> bool {
        self.mutants[1] > 0 || !self.constants.is_empty()
    }

    /// Returns the mutants of which its recording body notes something.
    pub(crate) fn noted_mutants(&self) -> impl Iterator<Item = u32> + use<'_> {
        std::iter::once(&self.own_mutants).chain(self.constants).flat_map(|&[first, count]| first..first + count)
    }

    /// Begins to record the function, before anything in it is noted, unless the run has done so.
    pub(crate) fn record(&'static self) {
        if !RUN.with(move |run| run.marks.is_set(self.first_mark as usize)) {
            self.begin();
        }
    }

    #[cold]
    #[inline(never)]
    fn begin(&'static self) {
        RUN.with(|run| {
            run.marks.reserve(self.end as usize);
            // A closure that an earlier run left may have noted something.
            run.marks.clear(self);
        });
        mark(self.first_mark);
        CALLED.with_borrow_mut(|called| {
            let place = called.partition_point(|other| other.first_mark < self.first_mark);
            called.insert(place, self);
        });
    }
}

thread_local! {
    /// The functions that the recorded run has called, by their marks. A list that is never freed needs no place among
    /// what the end of a thread takes away.
    static CALLED: RefCell<ManuallyDrop<Vec<&'static FunctionMarks>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// Calls `action` with each function that the run has called and that has mutants of its own, if this mutant is one of
/// them or of a constant that it uses.
pub(crate) fn for_each_function_with(mutant: u32, action: impl FnMut(&FunctionMarks)) {
    CALLED.with_borrow(|called| {
        let has_own = called.iter().filter(|function| function.mutants[1] > 0);
        let has_it = has_own.filter(|function| {
            let mut ranges = std::iter::once(&function.own_mutants).chain(function.constants);
            ranges.any(|&[first, count]| mutant.wrapping_sub(first) < count)
        });
        has_it.copied().for_each(action);
    });
}

/// The marks of a thread.
#[derive(Debug)]
pub(crate) struct Marks {
    near: [Cell<bool>; NEAR_WITH_ROW],
    /// The marks from [`NEAR`] on. They are never freed.
    far: Cell<&'static [Cell<bool>]>,
}

impl Marks {
    pub(crate) const fn new() -> Self {
        Self { near: [const { Cell::new(false) }; NEAR_WITH_ROW], far: Cell::new(&[]) }
    }

    /// Sets a mark that may be beyond those which are near.
    #[cold]
    #[inline(never)]
    fn set_far(&self, mark: usize) {
        let mark = if mark < NEAR { self.near.get(mark) } else { self.far.get().get(mark - NEAR) };
        if let Some(mark) = mark {
            mark.set(true);
        }
    }

    #[inline(always)]
    fn is_set(&self, mark: usize) -> bool {
        // The second of two ways can lie beyond the near marks, among them still.
        self.near.get(mark).is_some_and(Cell::get) || (mark >= NEAR && self.is_set_far(mark))
    }

    #[inline(never)]
    fn is_set_far(&self, mark: usize) -> bool {
        self.far.get().get(mark - NEAR).is_some_and(Cell::get)
    }

    /// Makes room for all marks before `end`.
    fn reserve(&self, end: usize) {
        let (far, length) = (self.far.get(), end.saturating_sub(NEAR));
        if far.len() < length {
            let known = far.iter().cloned();
            let new = known.chain(std::iter::repeat_n(Cell::new(false), length.next_power_of_two() - far.len()));
            self.far.set(Vec::leak(new.collect()));
        }
    }

    /// Returns the marks from `first` to before `end`, with the first place of each part. A row that begins near goes
    /// on there, so a mark can be in two parts.
    fn parts(&self, first: usize, end: usize) -> [(usize, &[Cell<bool>]); 2] {
        let (near_first, near_end) = (first.min(NEAR_WITH_ROW), end.min(NEAR_WITH_ROW));
        let far = self.far.get();
        let far_end = end.saturating_sub(NEAR).min(far.len());
        let far_first = first.saturating_sub(NEAR).min(far_end);
        [(near_first, &self.near[near_first..near_end]), (NEAR + far_first, &far[far_first..far_end])]
    }

    /// Begins a recording.
    pub(crate) fn start(&self) {
        CALLED.with_borrow_mut(|called| called.drain(..).for_each(|function| self.clear(function)));
    }

    /// Forgets what was noted of a function.
    fn clear(&self, function: &FunctionMarks) {
        for (_, marks) in self.parts(function.first_mark as usize, function.end as usize) {
            marks.iter().for_each(|mark| mark.set(false));
        }
    }

    /// Adds what was noted to `recording`, numbers in ascending order.
    pub(crate) fn collect(&self, sizes: RecordingSizes, recording: &mut Recording) {
        // Functions are numbered as their blocks, branches and conditions are; pairs of several rows are mixed.
        let mut pairs = vec![0_u64; sizes.pairs.div_ceil(64)];
        CALLED.with_borrow(|called| {
            let count = |of: fn(&FunctionMarks) -> usize| called.iter().map(|function| of(function)).sum();
            recording.blocks.reserve(count(|function| function.blocks.1.len()));
            recording.branches.reserve(count(|function| function.branches[1] as usize));
            recording.conditions.reserve(count(|function| function.conditions.1.len()));
            for function in called.iter() {
                self.collect_of(function, recording, &mut pairs);
            }
        });
        recording.pairs.reserve(pairs.iter().map(|bits| bits.count_ones() as usize).sum());
        for (word, &bits) in (0..).zip(&pairs) {
            recording.pairs.extend(ones(bits).map(|bit| 64 * word + bit));
        }
        let Recording { blocks, branches, conditions, pairs, .. } = recording;
        let kinds =
            [(blocks, sizes.blocks), (branches, sizes.branches), (conditions, sizes.conditions), (pairs, sizes.pairs)];
        for (numbers, size) in kinds {
            debug_assert!(numbers.is_sorted(), "{numbers:?}");
            numbers.truncate(numbers.partition_point(|&number| (number as usize) < size));
        }
    }

    fn collect_of(&self, function: &FunctionMarks, recording: &mut Recording, pairs: &mut [u64]) {
        let Recording { blocks, branches, conditions, pairs_unlisted, .. } = recording;
        let place = place_of(function.number);
        let mut add = |pair: u32| {
            let pair = place.pair + pair;
            if let Some(bits) = pairs.get_mut(pair as usize / 64) {
                *bits |= 1 << (pair % 64);
            }
        };
        for (numbers, first, (from, marks)) in
            [(blocks, place.block, function.blocks), (conditions, place.condition, function.conditions)]
        {
            let marked = (first + from..).zip(marks).filter(|(_, mark)| **mark != NO_MARK);
            numbers.extend(marked.filter(|(_, mark)| self.is_set(**mark as usize)).map(|(number, _)| number));
        }
        for &(mark, pair) in function.pairs_with {
            if self.is_set(mark as usize) {
                add(pair);
            }
        }
        let [first_branch, of_branches] = function.branches;
        let first_branch = place.branch + first_branch;
        let first = function.first_mark as usize + 1;
        let end = first + of_branches as usize + function.pairs.len();
        self.for_each(first, end, |index| {
            let index = index as u32;
            if index < of_branches {
                return branches.push(first_branch + index);
            }
            match function.pairs[(index - of_branches) as usize] {
                NO_PAIR => {}
                UNLISTED => *pairs_unlisted += 1,
                pair => add(pair),
            }
        });
    }

    /// Calls `action` with the place after `first` of each mark before `end` that is set.
    fn for_each(&self, first: usize, end: usize, mut action: impl FnMut(usize)) {
        for (part, marks) in self.parts(first, end) {
            for (index, group) in marks.chunks(GROUP).enumerate() {
                // A group at a time becomes a word, which takes one instruction where it is whole: most marks are not
                // set.
                let mut bytes = [0; GROUP];
                bytes.iter_mut().zip(group).for_each(|(byte, mark)| *byte = u8::from(mark.get()));
                let first_place = part - first + index * GROUP;
                ones(u64::from_le_bytes(bytes)).for_each(|bit| action(first_place + bit as usize / 8));
            }
        }
    }
}

/// Returns the bits that are set, in ascending order.
fn ones(mut bits: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let first = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(first)
    })
}

/// Sets a mark: a block is executed, a branch is taken, a condition has decided.
#[inline(always)]
pub fn mark(mark: u32) {
    set(mark as usize, (mark as usize) < NEAR);
}

/// Notes that a definition of a variable is used.
#[inline(always)]
pub fn used(definition: u16, row: Row) {
    used_on(definition, row, 0);
}

/// Notes that a definition of a variable is used by what decides, or after it; `way` is 0 or 1.
#[inline(always)]
pub(crate) fn used_on(definition: u16, row: Row, way: usize) {
    // All of it but the definition is known when the code is compiled, and so is the greatest that this can be.
    let is_near = (row.first as usize) < NEAR && row.place_of(u16::MAX) + row.stride as usize <= ROW_MAX;
    set(row.first as usize + row.place_of(definition) + way * (row.stride as usize / 2), is_near);
}

/// Notes which of two ways is taken, whose marks follow each other.
#[inline(always)]
pub(crate) fn take(first: u32, way: usize) {
    set(first as usize + (way & 1), (first as usize) < NEAR);
}

#[inline(always)]
fn set(mark: usize, is_near: bool) {
    // What is done with the thread's memory is kept small, and given values: so the compiler puts it in place.
    if is_near {
        RUN.with(move |run| run.marks.near[mark].set(true));
    } else {
        RUN.with(move |run| run.marks.set_far(mark));
    }
}

/// Sets a mark, and hands `value` on.
#[inline(always)]
pub fn pass<T>(number: u32, value: T) -> T {
    mark(number);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_MUTANTS: ([u32; 2], [u32; 2]) = ([0, 0], [0, 0]);
    const SIZES: RecordingSizes =
        RecordingSizes { blocks: 10, branches: 10, pairs: 40_000, conditions: 10, mutants: 0 };

    /// Returns what is recorded when `action` runs.
    fn recorded(sizes: RecordingSizes, action: impl FnOnce()) -> Recording {
        crate::start_recording(10, sizes);
        action();
        crate::finish().recording.expect("it was recorded")
    }

    #[test]
    fn marks_are_numbered_as_their_function_says() {
        static FIRST: FunctionMarks = FunctionMarks::new(
            0,
            [0, 9],
            [0, 2],
            (0, &[6, NO_MARK, 2]),
            (&[3, NO_PAIR, UNLISTED], &[(7, 2), (1, 0)]),
            (0, &[8, 1]),
            NO_MUTANTS,
        );
        static SECOND: FunctionMarks =
            FunctionMarks::new(1, [10, 16], [2, 1], (3, &[14]), (&[0, 9], &[]), (2, &[15, 11]), NO_MUTANTS);
        let recording = recorded(SIZES, || {
            SECOND.enter();
            [11, 12, 13, 14].into_iter().for_each(mark);
            FIRST.enter();
            [2, 3, 4, 5, 7, 8].into_iter().for_each(mark);
        });
        assert_eq!((recording.branches, recording.conditions), (vec![1, 2], vec![2, 3]));
        assert_eq!((recording.blocks, recording.pairs), (vec![0, 3], vec![0, 2, 3, 9]));
        assert_eq!(recording.pairs_unlisted, 1);
        let recording = recorded(SIZES, || {
            FIRST.enter();
            [1, 6].into_iter().for_each(mark);
        });
        assert_eq!((recording.branches, recording.conditions), (vec![0], vec![0]));
        assert_eq!((recording.blocks, recording.pairs), (vec![1], vec![0]));
        let recording = recorded(SIZES, || {
            mark(1);
            FIRST.enter();
            mark(8);
            FIRST.enter();
        });
        assert_eq!(
            (recording.blocks, recording.branches, recording.pairs),
            (vec![0], vec![], vec![]),
            "a run begins with the call of the function"
        );
        let recording = recorded(RecordingSizes { pairs: 4, ..SIZES }, || {
            SECOND.enter();
            FIRST.enter();
            [3, 13].into_iter().for_each(mark);
        });
        assert_eq!(recording.pairs, [3], "there are no more than four");
    }

    #[test]
    fn rows_can_begin_near_and_end_far() {
        const PLACES: usize = 9;
        static PAIRS: [u32; 3 * PLACES] = {
            let mut pairs = [0; 3 * PLACES];
            let mut place = 0;
            while place < pairs.len() {
                pairs[place] = place as u32;
                place += 1;
            }
            pairs
        };
        const FIRST_ROW: u32 = NEAR as u32 - PLACES as u32 - 4;
        const END: u32 = FIRST_ROW + 3 * PLACES as u32;
        static FUNCTION: FunctionMarks =
            FunctionMarks::new(0, [FIRST_ROW - 1, END], [0, 0], (0, &[]), (&PAIRS, &[]), (0, &[]), NO_MUTANTS);
        let recording = recorded(SIZES, || {
            FUNCTION.enter();
            for row in 0..3 {
                let row = Row::new(FIRST_ROW + 9 * row, 1, 15);
                [0, 1, 8].into_iter().for_each(|definition| used(definition, row));
            }
        });
        assert_eq!(recording.pairs, [0, 1, 8, 9, 10, 17, 18, 19, 26]);
        static FAR: FunctionMarks = FunctionMarks::new(
            1,
            [3 * NEAR as u32, 3 * NEAR as u32 + 4],
            [1, 2],
            (0, &[]),
            (&[30], &[]),
            (0, &[]),
            NO_MUTANTS,
        );
        let recording = recorded(SIZES, || {
            FUNCTION.enter();
            // As a row that is long, whose last marks are far, has it.
            used_on(4, Row::new(FIRST_ROW, 2, u16::MAX), 1);
            FAR.enter();
            [2, 3].into_iter().for_each(|after| mark(3 * NEAR as u32 + after));
            mark(FIRST_ROW + 26);
        });
        assert_eq!((recording.branches, recording.pairs), (vec![2], vec![9, 26, 30]));
    }
}
