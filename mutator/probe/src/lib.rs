//! What an instrumented simulation calls while it runs.
//!
//! The mutator gives every specification function three bodies: a clean one, one in which each mutation point chooses
//! between the original and its mutants, and one that records. [`enter`] says, once per call, which body runs. All
//! state belongs to the thread: a run never leaves it.
//!
//! The half of the API that a worker calls around a run ([`start_clean`], [`start_recording`], [`start_mutant`],
//! [`finish`]) stands first; the rest is called by generated code only.
//!
//! The crate has no dependencies, so that it can be added to any package. The feature `rehearsal` is for the tests of the mutator alone.

mod flow;
mod record;
#[cfg(feature = "rehearsal")]
mod rehearsal;
mod same;

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::Poll;

pub use flow::{
    Held, Iterated, Pairs, Slot, UNLISTED, attempted, birth, conclude, condition, decided, define, hold, iterated,
    object, slots, used,
};
pub use record::{Recording, Sizes};
pub use same::Same;

/// [`ACTIVE`] while no mutant is: every function runs its clean body.
const NONE: u32 = u32::MAX;
/// [`ACTIVE`] while a run is recorded: every function runs its recording body.
const RECORD: u32 = u32::MAX - 1;

thread_local! {
    #[cfg(not(feature = "rehearsal"))]
    static ACTIVE: Cell<u32> = const { Cell::new(NONE) };
    #[cfg(feature = "rehearsal")]
    static ACTIVE: Cell<u32> = Cell::new(if rehearsal::sizes().is_some() { RECORD } else { NONE });
    /// How many steps are left; after the last one it counts on, around the end of the numbers. One number, and not a
    /// count with its limit: every turn of every loop looks at it.
    static STEPS_LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
    static STEP_LIMIT: Cell<u64> = const { Cell::new(u64::MAX) };
    static OUT_OF_STEPS: Cell<bool> = const { Cell::new(false) };
    static MUTANT_REACHED: Cell<bool> = const { Cell::new(false) };
    /// Whether a function was called, by its number modulo 64. Bytes, since storing one need not wait for the last.
    static ENTERED: [Cell<bool>; 64] = const { [const { Cell::new(false) }; 64] };
    #[cfg(not(feature = "rehearsal"))]
    static RECORDER: record::Recorder = const { record::Recorder::new() };
    #[cfg(feature = "rehearsal")]
    static RECORDER: record::Recorder = rehearsal::recorder();
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

fn start(active: u32, step_limit: u64, sizes: Option<Sizes>) {
    ACTIVE.set(active);
    STEPS_LEFT.set(step_limit);
    STEP_LIMIT.set(step_limit);
    OUT_OF_STEPS.set(false);
    MUTANT_REACHED.set(false);
    take_entered();
    RECORDER.with(|recorder| {
        _ = recorder.finish();
        sizes.inspect(|&sizes| recorder.start(sizes));
    });
}

/// Begins a run of the original that records nothing; it unwinds with [`OutOfSteps`] after `step_limit` steps.
pub fn start_clean(step_limit: u64) {
    start(NONE, step_limit, None);
}

/// Begins a run of the original that records what it covers, and which mutants it reaches and infects.
pub fn start_recording(step_limit: u64, sizes: Sizes) {
    start(RECORD, step_limit, Some(sizes));
}

/// Begins a run of the mutant with this number.
///
/// # Panics
/// If `number` is one of the two values that are reserved.
pub fn start_mutant(number: u32, step_limit: u64) {
    assert!(number < RECORD, "mutant {number} is out of range");
    start(number, step_limit, None);
}

/// Ends the run that was begun last, however it ended, and returns what is known of it.
pub fn finish() -> Finished {
    ACTIVE.set(NONE);
    Finished {
        steps: STEP_LIMIT.get().wrapping_sub(STEPS_LEFT.get()),
        out_of_steps: OUT_OF_STEPS.get(),
        mutant_reached: MUTANT_REACHED.get(),
        entered: take_entered(),
        recording: RECORDER.with(record::Recorder::finish),
    }
}

/// Returns which functions this thread has called since a run began or this was asked for last: the function with number `n` is
/// bit `n % 64`. A bit can stand for several functions; one that is not set stands for none that was called.
pub fn take_entered() -> u64 {
    let add = |set, (bit, entered): (usize, &Cell<bool>)| set | u64::from(entered.take()) << bit;
    ENTERED.with(|entered| entered.iter().enumerate().fold(0, add))
}

/// Says which body of a function runs: 0 the clean one, 1 the one with the mutants, 2 the one that records.
///
/// `first` is the number of the function's first mutant, `count` how many it has, `function` its own. A call is a step.
#[inline]
pub fn enter(first: u32, count: u32, function: u32) -> u8 {
    tick();
    // One instruction where the number is a constant, as it is in generated code.
    ENTERED.with(|entered| entered[function as usize % 64].set(true));
    #[cfg(feature = "rehearsal")]
    if count > 0 && rehearsal::is_mutated() {
        return 1;
    }
    let active = ACTIVE.get();
    if active.wrapping_sub(first) < count {
        1
    } else if active == RECORD {
        2
    } else {
        0
    }
}

/// Calls a body of a function that is not the clean one.
///
/// # Panics
/// If the body does.
#[cold]
#[inline(never)]
pub fn aside<T>(body: impl FnOnce() -> T) -> T {
    body()
}

/// Counts one step; unwinds if that was one too many.
#[inline]
pub fn tick() {
    let (left, is_over) = STEPS_LEFT.get().overflowing_sub(1);
    STEPS_LEFT.set(left);
    if is_over {
        out_of_steps();
    }
}

/// Lets the run of this thread unwind at its next step, as if its steps were used up. Allocates nothing, so that an allocator
/// can call it.
pub fn stop() {
    if !OUT_OF_STEPS.get() {
        STEP_LIMIT.set(STEP_LIMIT.get().wrapping_sub(STEPS_LEFT.replace(0)));
    }
}

#[cold]
fn out_of_steps() {
    // Destructors run while the stack unwinds, and may take steps of their own: those must not unwind again, since a
    // panic in a destructor during unwinding aborts the process.
    if !OUT_OF_STEPS.replace(true) && !std::thread::panicking() {
        resume_unwind(Box::new(OutOfSteps));
    }
}

/// Returns the number of the active mutant.
#[inline]
pub fn active() -> u32 {
    ACTIVE.get()
}

/// Notes that the active mutant is executed.
#[inline]
pub fn hit() {
    MUTANT_REACHED.set(true);
}

/// Notes that a block is executed.
#[inline]
pub fn block(block: u32) {
    RECORDER.with(|recorder| recorder.blocks.insert(block));
}

/// Notes that a block is executed, and hands `value` on.
#[inline]
pub fn pass<T>(number: u32, value: T) -> T {
    block(number);
    value
}

/// Notes that a branch is taken.
#[inline]
pub fn edge(branch: u32) {
    RECORDER.with(|recorder| recorder.branches.insert(branch));
}

/// Notes which way a condition goes, and hands its value on.
#[inline]
pub fn branch(if_true: u32, if_false: u32, condition: bool) -> bool {
    edge(if condition { if_true } else { if_false });
    condition
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

/// Notes which way a `?` goes, and hands its operand on.
#[inline]
pub fn question<T: Attempt>(if_continues: u32, if_returns: u32, attempt: T) -> T {
    edge(if attempt.continues() { if_continues } else { if_returns });
    attempt
}

/// An iterator that notes whether it goes on; see [`iterate`].
#[derive(Debug)]
pub struct Iterate<I> {
    inner: I,
    if_iterates: u32,
    if_exhausted: u32,
}

impl<I: Iterator> Iterator for Iterate<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let item = self.inner.next();
        edge(if item.is_some() { self.if_iterates } else { self.if_exhausted });
        item
    }
}

/// Makes the iterator of a `for` loop note whether it goes on.
pub fn iterate<I: IntoIterator>(if_iterates: u32, if_exhausted: u32, items: I) -> Iterate<I::IntoIter> {
    Iterate { inner: items.into_iter(), if_iterates, if_exhausted }
}

/// Notes that a mutant is reached and infects: what it does differs from the original for certain, or may differ.
#[inline]
pub fn infect(mutant: u32) {
    RECORDER.with(|recorder| {
        recorder.reached.insert(mutant);
        recorder.infected.insert(mutant);
    });
}

/// Notes that a mutant is reached: what comes next tells whether it infects.
#[inline]
pub fn reach(mutant: u32) {
    RECORDER.with(|recorder| recorder.reached.insert(mutant));
}

/// Notes that the `count` mutants of a point are reached, and that those infect whose bits are set in `certain`; bit 0 is
/// that of mutant `first`.
#[inline]
pub fn point(first: u32, count: u32, certain: u64) {
    // All mutants of a point are reached together.
    if RECORDER.with(|recorder| recorder.reached.is_open(first)) {
        first_time(first, count, certain);
    }
}

#[cold]
#[inline(never)]
fn first_time(first: u32, count: u32, certain: u64) {
    for index in 0..count {
        if certain >> index & 1 == 1 { infect(first + index) } else { reach(first + index) }
    }
}

/// Returns whether the run has not infected all of the `count` mutants of a point.
#[inline]
pub fn is_open(first: u32, count: u32) -> bool {
    RECORDER.with(|recorder| recorder.settled.is_open(first)) && is_still_open(first, count)
}

#[inline(never)]
fn is_still_open(first: u32, count: u32) -> bool {
    RECORDER.with(|recorder| {
        let is_open = recorder.is_on() && (first..first + count).any(|mutant| recorder.infected.is_open(mutant));
        if !is_open {
            recorder.settled.insert(first);
        }
        is_open
    })
}

/// Notes that a mutant infects if `mutated` is not the same as `original`, or panics.
///
/// `mutated` has no effects. It is evaluated until it has infected once in a run; what it covers and the steps that it
/// takes do not count.
#[inline]
pub fn compare<T: Same>(mutant: u32, original: &T, mutated: impl FnOnce() -> T) {
    let is_open = RECORDER.with(|recorder| recorder.is_on() && recorder.infected.is_open(mutant));
    if is_open && !evaluates_to(original, mutated) {
        infect(mutant);
    }
}

/// Returns whether `mutated` has the value `original`; what it does leaves no trace in the run.
#[inline(never)]
fn evaluates_to<T: Same>(original: &T, mutated: impl FnOnce() -> T) -> bool {
    let (active, left, out_of_steps) = (ACTIVE.replace(NONE), STEPS_LEFT.get(), OUT_OF_STEPS.get());
    let value = catch_unwind(AssertUnwindSafe(mutated));
    ACTIVE.set(active);
    STEPS_LEFT.set(left);
    OUT_OF_STEPS.set(out_of_steps);
    value.is_ok_and(|value| value.same(original))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { blocks: 70, branches: 4, pairs: 0, conditions: 0, mutants: 3 };

    #[test]
    fn a_call_runs_the_body_that_the_run_asks_for() {
        start_clean(10);
        assert_eq!(enter(0, 3, 0), 0);
        start_mutant(2, 10);
        assert_eq!((enter(0, 2, 1), enter(2, 1, 2), enter(3, 0, 67)), (0, 1, 0));
        start_recording(10, SIZES);
        assert_eq!(enter(0, 3, 0), 2);
        assert_eq!(finish().steps, 1);
        assert_eq!(enter(0, 3, 0), 0, "nothing is active after a run");
    }

    #[test]
    fn a_run_knows_what_it_called() {
        enter(0, 3, 9);
        start_mutant(2, 10);
        enter(0, 2, 1);
        enter(0, 2, 66);
        assert_eq!(finish().entered, 0b110, "66 shares its bit with 2");
        assert_eq!(take_entered(), 0, "a run has ended");
        enter(0, 2, 63);
        assert_eq!((take_entered(), take_entered()), (1 << 63, 0));
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
        block(69);
        assert_eq!(pass(3, "value"), "value");
        assert!(branch(0, 1, true));
        assert_eq!(question(2, 3, None::<()>), None);
        assert_eq!(iterate(1, 2, [7]).collect::<Vec<_>>(), [7]);
        let recording = finish().recording.expect("it was recorded");
        assert_eq!(recording.blocks, [3, 69]);
        assert_eq!(recording.branches, [0, 1, 2, 3]);
    }

    #[test]
    fn a_mutant_infects_when_its_value_differs_or_panics() {
        start_recording(10, SIZES);
        reach(0);
        compare(0, &1, || {
            assert_eq!(enter(0, 3, 0), 0, "an alternative records nothing");
            1
        });
        compare(1, &1, || 2);
        compare(1, &1, || unreachable!("infected already"));
        compare(2, &1, || resume_unwind(Box::new("a panic")));
        let finished = finish();
        assert_eq!(finished.steps, 0, "the steps of alternatives do not count");
        let recording = finished.recording.expect("it was recorded");
        assert_eq!((recording.reached, recording.infected), (vec![0, 1, 2], vec![1, 2]));
    }

    #[test]
    fn a_point_is_open_until_all_its_mutants_infect() {
        start_recording(10, SIZES);
        point(0, 3, 0b101);
        assert!(is_open(0, 3), "the second mutant has not infected");
        infect(1);
        assert!(!is_open(0, 3));
        let recording = finish().recording.expect("it was recorded");
        assert_eq!((recording.reached, recording.infected), (vec![0, 1, 2], vec![0, 1, 2]));

        start_recording(10, SIZES);
        point(1, 2, 0b10);
        assert!(is_open(1, 2), "what an earlier run infected does not count");
        let recording = finish().recording.expect("it was recorded");
        assert_eq!((recording.reached, recording.infected), (vec![1, 2], vec![2]));
        assert!(!is_open(1, 2), "nothing is compared outside of a recording");
    }

    #[test]
    fn where_only_coverage_is_recorded_no_mutant_is_compared() {
        start_recording(10, Sizes { mutants: 0, ..SIZES });
        point(0, 3, 0b1);
        block(1);
        assert!(!is_open(0, 3));
        let recording = finish().recording.expect("it was recorded");
        assert_eq!((recording.blocks, recording.reached), (vec![1], vec![]));
    }

    #[test]
    fn nothing_is_recorded_outside_of_a_recording() {
        start_clean(10);
        block(1);
        infect(1);
        assert_eq!(finish().recording, None);
    }
}
