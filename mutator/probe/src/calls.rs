//! Which body of a function a call runs.

use std::cell::Cell;

use crate::marks::FunctionMarks;
use crate::{CHOOSE, COVER, PAUSED, RECORD, RUN, active, tick};

/// Functions with a smaller number have a byte; a call of another is decided anew each time. More than systems have,
/// and few to clear for a run.
const KNOWN_MAX: usize = 1024;

/// What is known of the calls of functions, by their number: what a call has to look at, most of the time.
///
/// Whoever makes something else active forgets all, but for an alternative of a recorded run: nothing is known as long
/// as runs of mutants are compared.
#[derive(Debug)]
pub(crate) struct Calls([Cell<Runs>; KNOWN_MAX]);

/// Which body the calls of one function run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// There was no call, or the next may run another body than the last.
    Unknown,
    /// The clean body.
    Clean,
    /// Another one.
    Other,
}

impl Calls {
    pub(crate) const fn new() -> Self {
        Self([const { Cell::new(Runs::Unknown) }; KNOWN_MAX])
    }

    /// Forgets all.
    pub(crate) fn forget(&self) {
        self.0.iter().for_each(|byte| byte.set(Runs::Unknown));
    }

    #[inline(always)]
    fn get(&self, function: u32) -> Runs {
        self.0.get(function as usize).map_or(Runs::Unknown, Cell::get)
    }

    fn set(&self, function: u32, known: Runs) {
        if let Some(byte) = self.0.get(function as usize) {
            byte.set(known);
        }
    }
}

impl FunctionMarks {
    /// Whether the clean body runs; if not, [`FunctionMarks::body`] says which one does. For functions whose other
    /// bodies are put [aside](crate::aside), so that their calls have little to ask. A call is a step, and the first of
    /// a recorded run begins to record the function.
    #[inline(always)]
    pub fn is_clean(&'static self) -> bool {
        tick();
        // One instruction, since the number is a constant in generated code.
        let known = RUN.with(move |run| run.calls.get(self.number));
        // In this order: most calls run the clean body.
        known == Runs::Clean || known == Runs::Unknown && self.is_clean_now()
    }

    /// As [`FunctionMarks::is_clean`], for calls of which nothing is known.
    #[inline(never)]
    fn is_clean_now(&'static self) -> bool {
        RUN.with(|run| {
            run.entered.set(run.entered.get() | 1 << (self.number % 64));
            let (known, is_clean) = match run.active.get() {
                // These two take turns.
                PAUSED => (Runs::Unknown, true),
                RECORD => (Runs::Unknown, false),
                COVER => (Runs::Other, false),
                CHOOSE if self.has_mutants() => (Runs::Other, false),
                _ if self.is_mutated() => (Runs::Other, false),
                _ => (Runs::Clean, true),
            };
            run.calls.set(self.number, known);
            if run.is_recorded() {
                self.record();
            }
            is_clean
        })
    }

    /// Says which body runs that is not the clean one: 1 the one with the mutants, 2 the one that records, 3 the one
    /// that records coverage alone. To be asked when [`FunctionMarks::is_clean`] has said no.
    #[inline(always)]
    pub fn body(&'static self) -> u8 {
        let [first, count] = self.mutants;
        match active() {
            // When all mutants of the function are infected, there is nothing left to compare. Without any of its own,
            // there is nothing by which that would be known.
            RECORD if count > 0 && RUN.with(move |run| run.mutants.finished.is_open(first)) => 2,
            RECORD if count == 0 && self.has_mutants() => 2,
            RECORD | COVER => 3,
            CHOOSE => 1,
            _ => {
                debug_assert!(self.is_mutated(), "{self:?}");
                1
            }
        }
    }

    /// Whether the active mutant is the function's own, one that it has a part of, or one of a constant that it uses.
    fn is_mutated(&self) -> bool {
        let [first, count] = self.mutants;
        is_mutated(first, count) || self.constants.iter().any(|&[first, count]| is_mutated(first, count))
    }

    /// Says which body runs, as [`FunctionMarks::body`], or 0 for the clean one, as [`FunctionMarks::is_clean`].
    #[inline(always)]
    pub fn enter(&'static self) -> u8 {
        if self.is_clean() { 0 } else { self.body() }
    }
}

/// Whether the active mutant is one of the `count` from `first` on: all that a call asks in a program that no worker
/// runs, where it is no step.
#[inline(always)]
pub fn is_mutated(first: u32, count: u32) -> bool {
    active().wrapping_sub(first) < count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::RecordingSizes;
    use crate::{Original, finish, point, start_clean, start_mutant, start_recording, take_entered};

    /// Returns a function with these mutants and no more marks than its own.
    fn function(number: u32, mutants: [u32; 2]) -> &'static FunctionMarks {
        let marks = [10 * number, 10 * number + 1];
        Box::leak(Box::new(FunctionMarks::new(
            number,
            marks,
            [0, 0],
            (0, &[]),
            (&[], &[]),
            (0, &[]),
            (mutants, mutants),
        )))
    }

    #[test]
    fn a_call_runs_the_body_that_the_run_asks_for_and_so_does_the_next() {
        let known_max = KNOWN_MAX as u32;
        // What calls run is known for the first of these functions, and asked for each time for the others.
        for first in [0, known_max - 4, known_max - 1, known_max, 5 * known_max] {
            let [three, two, one, none] =
                [(0, [0, 3]), (1, [0, 2]), (2, [2, 1]), (3, [3, 0])].map(|(other, own)| function(first + other, own));
            let check = |function: &'static FunctionMarks, expect: u8| {
                assert_eq!([(); 3].map(|()| function.enter()), [expect; 3], "{function:?}");
            };
            let mutants = 3;
            start_clean(100);
            check(three, 0);
            start_mutant(2, 100);
            check(two, 0);
            check(one, 1);
            check(none, 0);
            start_recording(100, RecordingSizes { mutants, ..RecordingSizes::default() });
            check(three, 2);
            check(none, 3);
            Original(&0).compare(&[0], &mut |_| {
                check(three, 0);
                0
            });
            check(three, 2);
            assert_eq!(finish().steps, 9, "those of an alternative do not count");
            check(three, 0);
            start_recording(100, RecordingSizes::default());
            check(three, 3);
            finish();
            check(three, 0);
        }
    }

    /// Returns a function with these mutants that uses constants with those.
    fn using(number: u32, mutants: [u32; 2], constants: &'static [[u32; 2]]) -> &'static FunctionMarks {
        let marks = [10 * number, 10 * number + 1];
        let function = FunctionMarks::new(number, marks, [0, 0], (0, &[]), (&[], &[]), (0, &[]), (mutants, mutants));
        Box::leak(Box::new(function.with_constants(constants)))
    }

    #[test]
    fn a_mutant_of_a_constant_is_in_all_functions_that_use_it() {
        let [one, both, other, none] = [
            using(0, [0, 2], &[[9, 2]]),
            using(1, [2, 0], &[[9, 2], [12, 1]]),
            using(2, [2, 1], &[[12, 1]]),
            using(3, [3, 1], &[]),
        ];
        let bodies = || [one, both, other, none].map(FunctionMarks::enter);
        for (mutant, expect) in
            [(1, [1, 0, 0, 0]), (9, [1, 1, 0, 0]), (10, [1, 1, 0, 0]), (11, [0; 4]), (12, [0, 1, 1, 0])]
        {
            start_mutant(mutant, 100);
            assert_eq!([bodies(), bodies()], [expect; 2], "{mutant}");
        }
        start_clean(100);
        assert_eq!(bodies(), [0; 4]);
        start_recording(100, RecordingSizes { mutants: 13, ..RecordingSizes::default() });
        assert_eq!(bodies(), [2; 4], "a function may have no mutants but those of constants");
        finish();
    }

    #[test]
    fn a_function_records_until_the_mutants_of_its_constants_have_infected_too() {
        let sizes = RecordingSizes { mutants: 13, ..RecordingSizes::default() };
        let [one, other] = [using(0, [0, 2], &[[9, 2]]), using(1, [2, 1], &[[9, 2], [12, 1]])];
        start_recording(100, sizes);
        one.enter();
        point(0, 2, 0b11);
        assert_eq!(one.enter(), 2, "a branch that the run has not taken yet may use the constant");
        other.enter();
        point(2, 1, 0b1);
        point(9, 2, 0b11);
        assert_eq!([one.enter(), other.enter()], [3, 2], "the second constant has not infected");
        point(12, 1, 0b1);
        assert_eq!(other.enter(), 3);
        let recording = finish().recording.expect("it was recorded");
        assert_eq!(recording.infected, [0, 1, 2, 9, 10, 12]);

        start_recording(100, sizes);
        one.enter();
        point(9, 2, 0b11);
        point(0, 2, 0b11);
        assert_eq!(one.enter(), 3, "whichever comes first");
        finish();
    }

    #[test]
    fn a_run_knows_what_it_called() {
        function(9, [0, 3]).enter();
        start_mutant(2, 10);
        for called in [function(1, [0, 2]), function(66, [2, 2])] {
            called.enter();
            called.enter();
        }
        assert_eq!(finish().entered, 0b110, "66 shares its bit with 2");
        assert_eq!(take_entered(), 0, "a run has ended");
        for number in [63, 64 * KNOWN_MAX as u32] {
            let called = function(number, [0, 2]);
            for _ in 0..2 {
                called.enter();
                assert_eq!((take_entered(), take_entered()), (1 << (number % 64), 0));
            }
        }
    }

    #[test]
    fn a_mutant_is_that_of_a_range() {
        start_mutant(2, 10);
        assert_eq!(
            [is_mutated(0, 2), is_mutated(0, 3), is_mutated(2, 1), is_mutated(3, 0)],
            [false, true, true, false]
        );
        finish();
        assert!(!is_mutated(0, 3));
    }
}
