//! What an experiment tells while implementations are tried.

use simutant_harness::VoidTrials;
use simutant_mutator::BuildEvent;
use simutant_outcomes::Sites;

/// Hears what an experiment does, as it happens.
pub type TrialObserver<'a> = dyn FnMut(TrialEvent<'_>) + 'a;

/// Something that happens while implementations are tried. Each is named by its name.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum TrialEvent<'a> {
    /// The programs of an implementation are built with all their mutants.
    Building(&'a str),
    /// The compiler gets on with them.
    Compiler(BuildEvent),
    /// They are built, with these mutants.
    Built(&'a str, &'a Sites),
    /// Trials of before do not count any more.
    Dropped(&'a str, VoidTrials),
    /// So many trials were taken from the files of parts.
    Taken(&'a str, usize),
    /// Trials begin, this many with those of before. They end with [`TrialEvent::Ended`], or with an error.
    Started(usize),
    /// A test case ran.
    Tried {
        /// The implementation.
        implementation: &'a str,
        /// How many trials there are.
        done: usize,
        /// How many test cases failed.
        failed: usize,
    },
    /// The trials of an implementation ended. One that cannot be built ends without a start.
    Ended(&'a str, TrialsEnd<'a>),
    /// The outcomes and the trials are analysed.
    Analysing,
}

/// The result of an implementation's trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrialsEnd<'a> {
    /// It takes part: it was tried with the whole universe.
    TakesPart {
        /// How many test cases the universe has.
        cases: usize,
        /// How many trials were there before.
        before: usize,
        /// How many trials have notes, such as a fault that was not injected.
        noted: usize,
        /// The first of the notes.
        first_note: Option<&'a str>,
    },
    /// It is left out.
    LeftOut {
        /// Why, in words that follow its name.
        why: &'a str,
    },
    /// The programs that have mutants were tried while none was active.
    Unmutated {
        /// How many test cases ran.
        cases: usize,
        /// How many of them failed: mutants of programs that fail by themselves are left out.
        failed: usize,
    },
    /// The programs that have mutants cannot be run, so their mutants are left out.
    Unavailable,
}
