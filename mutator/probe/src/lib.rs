//! What an instrumented simulation calls while it runs.
//!
//! The mutator gives every specification function four bodies: a clean one, one in which each mutation point chooses
//! between the original and its mutants, one that records coverage and what mutants would do, and one that records
//! coverage alone. [`FunctionMarks::is_clean`] or [`FunctionMarks::enter`] says, once per call, which body runs. All
//! state belongs to the thread: a run never leaves it.
//!
//! The half of the API that a worker calls around a run ([`start_clean`], [`start_recording`], [`start_choosing`],
//! [`start_mutant`], [`finish`]) stands first; the rest is called by generated code, but for what the worker's allocator says ([`freed`],
//! [`moved`], [`stop`]).
//!
//! The crate has no dependencies, so that it can be added to any package. The feature `program` is for programs that no
//! worker runs: there, the environment names the active mutant. The feature `rehearsal` is for the tests of the mutator
//! alone.

mod apart;
mod calls;
mod flow;
mod hidden;
mod marks;
mod places;
#[cfg(feature = "program")]
mod program;
mod record;
mod recording;
#[cfg(feature = "rehearsal")]
mod rehearsal;
mod same;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Poll;

pub use apart::{Apart, apart, aside};
pub use calls::is_mutated;
pub use flow::{Held, Iterate, Slot, birth, branch, freed, holds, iterate, moved, object, question, select, slots};
pub use hidden::Either;
pub use marks::{FunctionMarks, NO_MARK, NO_PAIR, Row, UNLISTED, mark, pass, used};
pub use places::{Place, place};
pub use recording::{Recording, RecordingSizes};
pub use same::Same;

use places::code_of;

/// [`Run::active`] while no mutant is: every function runs its clean body.
const NONE: u32 = u32::MAX;
/// [`Run::active`] while coverage is recorded, and nothing of mutants: every function runs its covering body.
const COVER: u32 = u32::MAX - 1;
/// [`Run::active`] while a run is recorded: every function runs its recording body, or its covering one if that does.
const RECORD: u32 = u32::MAX - 2;
/// [`Run::active`] while an alternative of a recorded run is evaluated: every function runs its clean body, for now.
const PAUSED: u32 = u32::MAX - 3;

/// [`Run::active`] while every function runs the body that chooses, and no mutant is chosen.
const CHOOSE: u32 = u32::MAX - 4;

/// What a thread runs. All of it is in one place, which a function has to look for once.
#[derive(Debug)]
struct Run {
    active: Cell<u32>,
    out_of_steps: Cell<bool>,
    mutant_reached: Cell<bool>,
    /// How many steps are left; after the last one it counts on, around the end of the numbers. One number, and not a
    /// count with its limit: every turn of every loop looks at it.
    steps_left: Cell<u64>,
    step_limit: Cell<u64>,
    /// The functions that were called: the one with number `n` is bit `n % 64`.
    entered: Cell<u64>,
    calls: calls::Calls,
    objects: flow::Objects,
    mutants: record::Mutants,
    marks: marks::Marks,
}

thread_local! {
    #[cfg(not(any(feature = "program", feature = "rehearsal")))]
    static RUN: Run = const { Run::new() };
    #[cfg(any(feature = "program", feature = "rehearsal"))]
    static RUN: Run = as_the_environment_says();
}

/// Returns a run as a thread begins with it.
#[cfg(any(feature = "program", feature = "rehearsal"))]
fn as_the_environment_says() -> Run {
    let run = Run::new();
    #[cfg(feature = "program")]
    program::begin(&run);
    #[cfg(feature = "rehearsal")]
    rehearsal::begin(&run);
    run
}

/// What a run that uses up its steps unwinds with; not text, and no panic hook sees it.
#[derive(Debug)]
pub struct OutOfSteps;

/// What [`finish`] found out about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Steps taken: loop iterations and calls in instrumented code.
    pub steps: u64,
    /// Whether the run was ended because it took more steps than it was given.
    pub out_of_steps: bool,
    /// Whether the active mutant was executed at least once.
    pub mutant_reached: bool,
    /// The functions that were called; see [`take_entered`].
    pub entered: u64,
    /// What the run covered, reached and infected; only after [`start_recording`].
    pub recording: Option<Recording>,
}

fn start(active: u32, step_limit: u64) {
    RUN.with(|run| {
        run.active.set(active);
        run.steps_left.set(step_limit);
        run.step_limit.set(step_limit);
        run.out_of_steps.set(false);
        run.mutant_reached.set(false);
        run.mutants.forget();
        run.take_entered();
    });
}

/// Begins a run of the original that records nothing; it unwinds with [`OutOfSteps`] after `step_limit` steps.
pub fn start_clean(step_limit: u64) {
    start(NONE, step_limit);
}

/// Begins a run of the original that records what it covers, and which mutants it reaches and infects.
pub fn start_recording(step_limit: u64, sizes: RecordingSizes) {
    start(NONE, step_limit);
    RUN.with(|run| run.record(sizes));
}

/// Begins a run of the original in which every function that has mutants runs the body that chooses between it and
/// them: it does what a clean run does, unless that body is wrong.
pub fn start_choosing(step_limit: u64) {
    start(CHOOSE, step_limit);
}

/// Begins a run of the mutant with this number in reports.
///
/// # Panics
/// If its number in generated code ([`place`]) is one of the five values that are reserved.
pub fn start_mutant(number: u32, step_limit: u64) {
    let number = code_of(number);
    assert!(number < CHOOSE, "mutant {number} is out of range");
    start(number, step_limit);
}

/// Ends the run that was begun last, however it ended, and returns what is known of it.
pub fn finish() -> Finished {
    RUN.with(|run| {
        run.active.set(NONE);
        // What is called between runs, as where a test case is checked, is no part of one.
        let left = run.steps_left.replace(u64::MAX);
        Finished {
            steps: run.step_limit.replace(u64::MAX).wrapping_sub(left),
            out_of_steps: run.out_of_steps.replace(false),
            mutant_reached: run.mutant_reached.get(),
            entered: run.take_entered(),
            recording: run.mutants.finish(&run.marks),
        }
    })
}

/// Returns which functions this thread has called since a run began or this was asked for last: the function with
/// number `n` is bit `n % 64`. A bit can stand for several functions; one that is not set stands for none that was
/// called.
pub fn take_entered() -> u64 {
    RUN.with(Run::take_entered)
}

impl Run {
    const fn new() -> Self {
        Self {
            active: Cell::new(NONE),
            out_of_steps: Cell::new(false),
            mutant_reached: Cell::new(false),
            steps_left: Cell::new(u64::MAX),
            step_limit: Cell::new(u64::MAX),
            entered: Cell::new(0),
            calls: calls::Calls::new(),
            objects: flow::Objects::new(),
            mutants: record::Mutants::new(),
            marks: marks::Marks::new(),
        }
    }

    fn take_entered(&self) -> u64 {
        // Only a call of which nothing is known says that there was one.
        self.calls.forget();
        self.entered.take()
    }

    /// Lets functions record, as many things as `sizes` says.
    fn record(&self, sizes: RecordingSizes) {
        self.active.set(if sizes.mutants > 0 { RECORD } else { COVER });
        self.marks.start();
        self.objects.start();
        self.mutants.start(sizes);
    }

    /// Whether a run is recorded, and what is evaluated is not what a mutant would have.
    #[inline(always)]
    fn is_recorded(&self) -> bool {
        matches!(self.active.get(), COVER | RECORD)
    }

    #[inline(always)]
    fn tick(&self) {
        let (left, is_over) = self.steps_left.get().overflowing_sub(1);
        self.steps_left.set(left);
        if is_over {
            out_of_steps();
        }
    }
}

/// Counts one step; unwinds if that was one too many.
#[inline(always)]
pub fn tick() {
    RUN.with(Run::tick);
}

/// Lets the run of this thread unwind at its next step, as if its steps were used up. Allocates nothing, so that an
/// allocator can call it.
pub fn stop() {
    RUN.with(|run| {
        if !run.out_of_steps.get() {
            run.step_limit.set(run.step_limit.get().wrapping_sub(run.steps_left.replace(0)));
        }
    });
}

#[cold]
fn out_of_steps() {
    // Destructors run while the stack unwinds, and may take steps of their own: those must not unwind again, since a
    // panic in a destructor during unwinding aborts the process.
    if !RUN.with(|run| run.out_of_steps.replace(true)) && !std::thread::panicking() {
        resume_unwind(Box::new(OutOfSteps));
    }
}

/// Returns the number of the active mutant in generated code.
#[inline(always)]
pub fn active() -> u32 {
    RUN.with(|run| run.active.get())
}

/// Notes that the active mutant is executed.
#[inline(always)]
pub fn hit() {
    #[cfg(feature = "program")]
    program::reached();
    RUN.with(|run| run.mutant_reached.set(true));
}

/// Notes that the active mutant is executed, if it is one of those with these offsets from `first`.
#[inline(always)]
pub fn hit_among(first: u32, offsets: &[u32]) {
    if offsets.contains(&active().wrapping_sub(first)) {
        hit();
    }
}

/// Notes that the active mutant is executed, and evaluates what it is made of. As the value of the block, that leaves
/// its temporaries to the statement around it: this crate is of the edition 2021, and so is a block that it writes.
#[macro_export]
macro_rules! reached {
    ($($mutant:tt)*) => {{
        $crate::hit();
        $($mutant)*
    }};
}

/// A value that `?` can be applied to.
pub trait Attempt {
    /// Whether `?` goes on with a value.
    fn continues(&self) -> bool;
}

impl<T, E> Attempt for Result<T, E> {
    fn continues(&self) -> bool {
        self.is_ok()
    }
}

impl<T> Attempt for Option<T> {
    fn continues(&self) -> bool {
        self.is_some()
    }
}

impl<B, C> Attempt for std::ops::ControlFlow<B, C> {
    fn continues(&self) -> bool {
        self.is_continue()
    }
}

impl<T, E> Attempt for Poll<Result<T, E>> {
    fn continues(&self) -> bool {
        !matches!(self, Self::Ready(Err(_)))
    }
}

impl<T, E> Attempt for Poll<Option<Result<T, E>>> {
    fn continues(&self) -> bool {
        !matches!(self, Self::Ready(Some(Err(_))))
    }
}

/// Notes that a mutant is reached and infects: what it does differs from the original for certain, or may differ.
#[inline]
pub fn infect(mutant: u32) {
    RUN.with(|run| {
        run.mutants.reached.insert(mutant);
        run.mutants.infected.insert(mutant);
    });
}

/// Notes that a mutant is reached: what comes next tells whether it infects.
#[inline]
pub fn reach(mutant: u32) {
    RUN.with(|run| run.mutants.reached.insert(mutant));
}

/// Notes that the `count` mutants of a point are reached, and that those infect whose bits are set in `certain`; bit 0
/// is that of mutant `first`.
#[inline(always)]
pub fn point(first: u32, count: u32, certain: u64) {
    // All mutants of a point are reached together.
    if RUN.with(move |run| run.mutants.reached.is_open(first)) {
        first_time(first, count, certain);
    }
}

#[cold]
#[inline(never)]
fn first_time(first: u32, count: u32, certain: u64) {
    for index in 0..count {
        if certain >> index & 1 == 1 { infect(first + index) } else { reach(first + index) }
    }
    if certain.count_ones() == count {
        RUN.with(|run| run.mutants.settle(first));
    }
}

/// Returns whether [`Original::compare`] has anything to do for the mutants of which this is the first.
#[inline(always)]
pub fn is_open(first: u32) -> bool {
    RUN.with(move |run| run.mutants.settled.is_open(first))
}

/// An evaluation of the original; the values of these mutants are compared with its value. If it panics instead, all of
/// them infect, since few would panic as it does.
#[derive(Debug)]
pub struct Evaluation(pub &'static [u32]);

impl Evaluation {
    /// There is a value.
    #[inline(always)]
    pub fn end(self) {
        std::mem::forget(self);
    }
}

impl Drop for Evaluation {
    #[cold]
    #[inline(never)]
    fn drop(&mut self) {
        if RUN.with(|run| run.mutants.is_on()) {
            infect_all(self.0);
        }
    }
}

/// A value of the original, with which those of its mutants are compared.
#[derive(Debug)]
pub struct Original<'a, T>(pub &'a T);

impl<T: Same> Original<'_, T> {
    /// Notes which of these mutants infect: those for which `mutated` is not the same as the original, or panics.
    ///
    /// `mutated` has no effects. It is evaluated for a mutant until that has infected once in a run; what it covers and
    /// the steps that it takes do not count. It is one closure for all mutants of a point, of whatever type, so that
    /// the compiler has little to do for each.
    #[inline(never)]
    pub fn compare(self, mutants: &[u32], mutated: &mut dyn FnMut(u32) -> T) {
        RUN.with(|run| {
            if !run.mutants.is_on() {
                return;
            }
            let (active, left, out_of_steps) =
                (run.active.replace(PAUSED), run.steps_left.get(), run.out_of_steps.get());
            let (mut rest, last, mut all_infect) = (mutants.iter(), Cell::new(NONE), true);
            let mut evaluate = || {
                for &mutant in rest.by_ref().filter(|&&mutant| run.mutants.infected.is_open(mutant)) {
                    last.set(mutant);
                    let is_same = mutated(mutant).same(self.0);
                    run.steps_left.set(left);
                    run.out_of_steps.set(out_of_steps);
                    if is_same {
                        all_infect = false;
                    } else {
                        infect(mutant);
                    }
                }
            };
            // Few alternatives panic: those that do not are evaluated within one guard.
            while catch_unwind(AssertUnwindSafe(&mut evaluate)).is_err() {
                infect(last.get());
                run.steps_left.set(left);
                run.out_of_steps.set(out_of_steps);
            }
            run.active.set(active);
            if all_infect {
                run.mutants.settle(mutants[0]);
            }
        });
    }
}

/// What [`Original::compare`] is for values of types that are not [`Same`]: where the compiler knows that, it finds
/// this method, and has nothing to object.
pub trait CompareOther<T> {
    /// Notes that all these mutants infect, the conservative answer; nothing is evaluated.
    fn compare(self, mutants: &[u32], mutated: &mut dyn FnMut(u32) -> T);
}

impl<T> CompareOther<T> for Original<'_, T> {
    #[inline(always)]
    fn compare(self, mutants: &[u32], _: &mut dyn FnMut(u32) -> T) {
        infect_all(mutants);
    }
}

#[cold]
#[inline(never)]
fn infect_all(mutants: &[u32]) {
    mutants.iter().for_each(|&mutant| infect(mutant));
    RUN.with(|run| run.mutants.settle(mutants[0]));
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: RecordingSizes = RecordingSizes { blocks: 70, branches: 4, pairs: 0, conditions: 0, mutants: 3 };
    static FUNCTION: FunctionMarks =
        FunctionMarks::new(0, [0, 7], [0, 4], (0, &[]), (&[], &[]), (68, &[5, 6]), ([0, 3], [0, 3]));

    /// Whether the alternative of this mutant is evaluated.
    fn compares(mutant: u32) -> bool {
        let mut evaluated = false;
        Original(&0).compare(&[mutant], &mut |_| {
            evaluated = true;
            0
        });
        evaluated
    }

    #[test]
    fn the_step_after_the_last_unwinds_and_only_once() {
        start_clean(2);
        let payload = catch_unwind(|| {
            tick();
            tick();
            tick();
        })
        .expect_err("three steps are one too many");
        assert!(payload.is::<OutOfSteps>());
        tick();
        let finished = finish();
        assert_eq!((finished.steps, finished.out_of_steps), (4, true));
    }

    #[test]
    fn what_is_called_between_runs_takes_no_steps_of_one() {
        start_clean(3);
        assert_eq!((finish().steps, finish().steps), (0, 0));
        (0..10).for_each(|_| tick());
        start_clean(3);
        tick();
        let Finished { steps, out_of_steps, .. } = finish();
        assert_eq!((steps, out_of_steps), (1, false));
    }

    #[test]
    fn a_run_that_is_told_to_stop_unwinds_at_its_next_step() {
        start_clean(10);
        tick();
        stop();
        let payload = catch_unwind(tick).expect_err("it was told to stop");
        assert!(payload.is::<OutOfSteps>());
        assert_eq!(finish().steps, 2);
        start_clean(10);
        tick();
        assert!(!finish().out_of_steps, "the next run begins anew");
    }

    #[test]
    fn a_recording_holds_what_was_executed_in_ascending_order() {
        start_recording(10, SIZES);
        FUNCTION.enter();
        mark(6);
        assert_eq!(pass(5, "value"), "value");
        assert!(branch(true, 1, []));
        assert_eq!(question(None::<()>, 3, []), None);
        assert_eq!(iterate::<2, 0, _>([7], []).collect::<Vec<_>>(), [7]);
        let recording = finish().recording.expect("it was recorded");
        assert_eq!(recording.blocks, [68, 69]);
        assert_eq!(recording.branches, [0, 1, 2, 3]);
    }

    #[test]
    fn a_mutant_infects_when_its_value_differs_or_panics() {
        start_recording(10, SIZES);
        reach(0);
        reach(1);
        let mut evaluated = Vec::new();
        for _ in 0..2 {
            Original(&1).compare(&[0, 1, 2], &mut |mutant| {
                assert_eq!(FUNCTION.enter(), 0, "an alternative records nothing");
                evaluated.push(mutant);
                if mutant == 2 { resume_unwind(Box::new("a panic")) } else { mutant + 1 }
            });
        }
        assert_eq!(evaluated, [0, 1, 2, 0], "what has infected is not evaluated again");
        let finished = finish();
        assert_eq!(finished.steps, 0, "the steps of alternatives do not count");
        let recording = finished.recording.expect("it was recorded");
        assert_eq!((recording.reached, recording.infected), (vec![0, 1, 2], vec![1, 2]));
    }

    #[test]
    fn mutants_of_a_type_that_cannot_be_compared_infect() {
        struct Opaque;
        start_recording(10, SIZES);
        point(1, 2, 0);
        assert!(is_open(1));
        Original(&Opaque).compare(&[1, 2], &mut |_| unreachable!("nothing is evaluated"));
        assert!(!is_open(1));
        assert_eq!(finish().recording.expect("it was recorded").infected, [1, 2]);
    }

    #[test]
    fn mutants_of_an_original_that_panics_infect() {
        let evaluate = |mutants: &'static [u32], divisor: u32| {
            let evaluation = Evaluation(mutants);
            let value = 6 / divisor;
            evaluation.end();
            value
        };
        start_recording(10, SIZES);
        assert_eq!(evaluate(&[0], 2), 3);
        catch_unwind(|| evaluate(&[1, 2], 0)).expect_err("it divides by zero");
        assert!(!is_open(1));
        assert_eq!(finish().recording.expect("it was recorded").infected, [1, 2]);
    }

    #[test]
    fn a_comparison_is_open_until_all_its_mutants_infect() {
        let compare_to = |value: u32| Original(&value).compare(&[1, 2], &mut |mutant| mutant);
        start_recording(10, SIZES);
        point(0, 3, 0b1);
        compare_to(1);
        assert!(is_open(1), "the second mutant has not infected");
        compare_to(0);
        assert!(!is_open(1));
        assert_eq!(FUNCTION.enter(), 2, "the function has not recorded");
        let recording = finish().recording.expect("it was recorded");
        assert_eq!((recording.reached, recording.infected), (vec![0, 1, 2], vec![0, 1, 2]));

        start_recording(10, SIZES);
        point(1, 2, 0b0);
        assert!(is_open(1), "what an earlier run infected does not count");
        assert!(compares(2));
        compare_to(2);
        let recording = finish().recording.expect("it was recorded");
        assert_eq!((recording.reached, recording.infected), (vec![1, 2], vec![1]));
        assert!(!compares(0), "nothing is compared outside of a recording");
    }

    #[test]
    fn a_function_whose_mutants_all_infect_records_coverage_alone() {
        start_recording(10, SIZES);
        FUNCTION.enter();
        point(0, 2, 0b11);
        point(2, 1, 0b0);
        assert_eq!(FUNCTION.enter(), 2, "the third has not infected");
        Original(&0).compare(&[2], &mut |_| 1);
        assert_eq!(FUNCTION.enter(), 3);
        start_recording(10, SIZES);
        assert_eq!(FUNCTION.enter(), 2, "a run begins anew");
        FUNCTION.enter();
        point(0, 3, 0b111);
        assert_eq!(FUNCTION.enter(), 3);
        assert_eq!(finish().recording.expect("it was recorded").infected, [0, 1, 2]);
    }

    #[test]
    fn where_only_coverage_is_recorded_no_mutant_is_compared() {
        start_recording(10, RecordingSizes { mutants: 0, ..SIZES });
        FUNCTION.enter();
        point(0, 3, 0b1);
        mark(5);
        assert!(!compares(0), "only coverage is recorded");
        let recording = finish().recording.expect("it was recorded");
        assert_eq!((recording.blocks, recording.reached), (vec![68], vec![]));
    }

    #[test]
    fn nothing_is_recorded_outside_of_a_recording() {
        start_clean(10);
        FUNCTION.enter();
        mark(1);
        infect(1);
        assert_eq!(finish().recording, None);
    }
}
