//! Shrinking: from a test case that fails to the smallest one that still fails in the same way.
//!
//! It knows nothing of systems. It makes candidates out of the JSON of a test case, runs them through a closure, and
//! keeps those that still fail; what is a test case at all, the runner says. What is tried, in rounds until a whole
//! round changes nothing:
//!
//! 1. **The test case**, while the seed decides what the network does: numbers nearer to 0, and real numbers with fewer
//!    digits; lists without some of their elements, in chunks as Zeller and Hildebrandt do it ("Simplifying and
//!    isolating failure-inducing input", IEEE TSE 28, 2002), except that what stays is never tried alone; maps without
//!    an entry; `null` instead of anything; `false` instead of `true`. Texts and names of enums stay as they are: none
//!    is known to be simpler.
//! 2. **The same with other seeds.** A number in a field called `seed` has no size. With a smaller test case, another
//!    seed may be the one that fails, so each of these steps is tried with [`SEEDS`] small seeds too.
//! 3. **The choices.** A run of what is left is recorded, and whatever went wrong in it (packets that were lost,
//!    duplicated, corrupted or held back, and events that overtook others) becomes a list of choices, which are imposed
//!    on a run in which nothing else goes wrong. The list gets shorter in chunks, what goes wrong happens to earlier
//!    packets, the test case gets smaller as in the first step, and at last both together. What components draw stays
//!    with the seed.
//! 4. **The latencies**, if they vary. Packets take as long as the fastest of the run that goes the same way; if that
//!    does not fail, the others become choices in the list, which gets shorter. The test case stays as it is, since a
//!    latency that is imposed might not be possible in a smaller one.
//!
//! A candidate is tried only if it is smaller, by the first of these that differs: whether the seed decides or a list;
//! whether the seed decides how long packets take; the number of choices in the list; the length of the test case as
//! JSON without its seeds, a `true` being longer than a `false`; its numbers from first to last, each by its distance
//! from 0; which packets the choices in the list are about; its seeds. There are finitely many test cases of a length,
//! so this ends, whatever fails.
//!
//! *Still fails* is [`Failure`]'s equality. All is deterministic if the runner is.

mod measure;
mod moves;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use serde_json::Value;
use simutant_outcomes::{Execution, RunEnd};
use simutant_protocol::{ChoiceRecording, Choosing};
use simutant_sim_core::{ChoiceKind, Others, RecordedChoice};

use crate::outcomes::without_numbers;
use measure::Measure;
use moves::{Path, at, at_mut, by_name, paths, replacements, smaller_integers, with_seeds};

/// Each step is tried with the seeds below this number too.
pub const SEEDS: u64 = 16;

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The test case, in the system's own form.
    pub case: Value,
    /// Who makes the choices of the run.
    pub choosing: Choosing,
}

/// How a run failed.
///
/// Two failures are the same if their verdicts are, and their reasons but for numbers, as in the reasons that
/// [`Outcomes`](simutant_outcomes::Outcomes) counts: so another fault is not mistaken for the one that is looked for,
/// and the same fault is found in a shorter run. The line of a panic is kept. That is a convention, and may be wrong in
/// both directions: it takes two faults for one if their reasons have the same words, and one for two if a list in the
/// reason has become shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    verdict: RunEnd,
    reason: String,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Ran {
    /// It is not a test case of the system.
    Refused,
    /// It does not fail.
    Passed,
    /// It fails.
    Failed {
        /// How.
        failure: Failure,
        /// The choices that were made, if they were asked for and the run left them.
        choices: Option<Vec<RecordedChoice>>,
    },
}

/// The smallest candidate that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunk {
    /// It.
    pub candidate: Candidate,
    /// Runs that were made.
    pub runs: u64,
    /// How many of them failed as they should, and so were a step on the way.
    pub steps: u64,
    /// Why there is no smaller one.
    pub end: ShrinkEnd,
}

/// Why shrinking ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShrinkEnd {
    /// No single step leads to a smaller candidate that still fails.
    Minimal,
    /// So many runs were made as were allowed, in one half for the test case or in the other for the choices.
    RunsUsedUp,
}

impl Failure {
    /// Returns how a run failed, if it did.
    pub fn of(execution: &Execution) -> Option<Self> {
        let verdict = execution.verdict;
        verdict.kills().then(|| Self { verdict, reason: without_numbers(&execution.reason) })
    }
}

/// Returns the smallest candidate that fails as `start` does: see the [module](self).
///
/// `failure` is how `start` fails. `run` runs a candidate, and keeps its choices if it is asked to; it is called at
/// most `runs_max` times: once for each candidate, and once or twice more to record one.
///
/// # Errors
/// Those of `run`.
pub fn shrink<E>(
    start: Candidate,
    failure: &Failure,
    runs_max: u64,
    run: impl FnMut(&Candidate, ChoiceRecording) -> Result<Ran, E>,
) -> Result<Shrunk, E> {
    let measure = Measure::of(&start);
    let tried = BTreeSet::from([hash(&start)]);
    let mut search = Search { run, failure, current: start, measure, tried, runs: 0, runs_max: 0, steps: 0 };
    let mut end = ShrinkEnd::Minimal;
    for (runs_max, shrink) in
        [(runs_max / 2, Search::shrink_seeded as fn(&mut _) -> _), (runs_max, Search::shrink_chosen)]
    {
        search.runs_max = runs_max;
        match shrink(&mut search) {
            Ok(()) => {}
            Err(Stop::RunsUsedUp) => end = ShrinkEnd::RunsUsedUp,
            Err(Stop::Runner(error)) => return Err(error),
        }
    }
    let Search { current: candidate, runs, steps, .. } = search;
    Ok(Shrunk { candidate, runs, steps, end })
}

/// Why a phase of shrinking ends early.
enum Stop<E> {
    RunsUsedUp,
    Runner(E),
}

/// Whether small seeds are tried beside those that the test case has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seeds {
    Own,
    Small,
}

struct Search<'a, R> {
    run: R,
    failure: &'a Failure,
    /// The smallest so far that fails.
    current: Candidate,
    measure: Measure,
    /// Hashes of what was tried.
    tried: BTreeSet<u64>,
    runs: u64,
    /// How many runs there may be at the end of the phase.
    runs_max: u64,
    steps: u64,
}

impl<E, R: FnMut(&Candidate, ChoiceRecording) -> Result<Ran, E>> Search<'_, R> {
    /// Makes the test case smaller while the seed decides.
    fn shrink_seeded(&mut self) -> Result<(), Stop<E>> {
        if self.current.choosing.others == Others::Simplest {
            return Ok(());
        }
        while self.shrink_case(Seeds::Own)? || self.shrink_case(Seeds::Small)? {}
        Ok(())
    }

    /// Makes the choices fewer, and the test case smaller under them.
    fn shrink_chosen(&mut self) -> Result<(), Stop<E>> {
        if self.current.choosing.others == Others::Seed {
            let choices = self.record()?;
            let choosing = Choosing { others: Others::Simplest, choices, ..self.current.choosing.clone() };
            if !self.attempt(Candidate { choosing, ..self.current.clone() })? {
                return Ok(());
            }
        }
        // In this order, and all but the last in each round.
        while self.shrink_choices()? | self.shrink_indices()? | self.shrink_case(Seeds::Own)? || self.shrink_both()? {}
        if self.unify_latencies()? {
            // The test case stays: with a smaller one, a packet might take longer than it can.
            while self.shrink_choices()? {}
        }
        self.leave_to_seed()
    }

    /// Makes packets take as long as the fastest of their stream, except for those that must not, and returns whether
    /// that is possible.
    fn unify_latencies(&mut self) -> Result<bool, Stop<E>> {
        let Ran::Failed { choices: Some(made), .. } = self.run(&self.current.clone(), ChoiceRecording::Keep)? else {
            return Ok(false);
        };
        let is_latency =
            |choice: &&RecordedChoice| matches!(choice.kind, ChoiceKind::Latency | ChoiceKind::CopyLatency);
        let mut latencies = BTreeMap::new();
        for choice in made.iter().filter(is_latency) {
            let fastest = latencies.entry(choice.stream.clone()).or_insert(choice.value);
            *fastest = choice.value.min(*fastest);
        }
        let mut candidate = self.current.clone();
        candidate.choosing.latencies = latencies.clone();
        if self.attempt(candidate.clone())? {
            return Ok(true);
        }
        let imposed: BTreeSet<_> = self.current.choosing.choices.iter().map(place).collect();
        let others = made.iter().filter(is_latency).filter(|choice| latencies[&choice.stream] != choice.value);
        candidate.choosing.choices.extend(others.filter(|choice| !imposed.contains(&place(choice))).cloned());
        self.attempt(candidate)
    }

    /// Leaves the choices to the seed if none is left, and the seed makes them all in the simplest way: that is the
    /// same run, told in fewer words.
    fn leave_to_seed(&mut self) -> Result<(), Stop<E>> {
        if !self.current.choosing.choices.is_empty() || !self.current.choosing.latencies.is_empty() {
            return Ok(());
        }
        let seeded = Candidate { choosing: Choosing::default(), ..self.current.clone() };
        if let Ran::Failed { failure, choices: Some(made) } = self.run(&seeded, ChoiceRecording::Keep)?
            && failure == *self.failure
            && made.iter().all(is_simplest)
        {
            self.current = seeded;
        }
        Ok(())
    }

    /// Returns the choices of the current candidate that are not simplest; none if its run leaves no record.
    fn record(&mut self) -> Result<Vec<RecordedChoice>, Stop<E>> {
        let Ran::Failed { choices: Some(made), .. } = self.run(&self.current.clone(), ChoiceRecording::Keep)? else {
            return Ok(Vec::new());
        };
        let imposed: BTreeSet<_> = self.current.choosing.choices.iter().map(place).collect();
        Ok(made.into_iter().filter(|choice| !is_simplest(choice) || imposed.contains(&place(choice))).collect())
    }

    fn shrink_choices(&mut self) -> Result<bool, Stop<E>> {
        let mut got_smaller = self.shrink_list(
            |current| current.choosing.choices.len(),
            |current, range| drop(current.choosing.choices.drain(range)),
            Seeds::Own,
        )?;
        // A packet that is not lost is not sent again: those that follow it on its way have smaller numbers then.
        let mut position = 0;
        while position < self.current.choosing.choices.len() {
            let mut candidate = self.current.clone();
            let removed = candidate.choosing.choices.remove(position);
            for choice in &mut candidate.choosing.choices {
                if choice.stream == removed.stream && choice.index > removed.index {
                    choice.index -= 1;
                }
            }
            if self.attempt(candidate)? {
                got_smaller = true;
            } else {
                position += 1;
            }
        }
        Ok(got_smaller)
    }

    /// Lets things go wrong with earlier packets: a shorter test case may have no later ones.
    fn shrink_indices(&mut self) -> Result<bool, Stop<E>> {
        let mut got_smaller = false;
        let mut position = 0;
        while position < self.current.choosing.choices.len() {
            if self.shrink_index(position)? {
                got_smaller = true;
            } else {
                position += 1;
            }
        }
        Ok(got_smaller)
    }

    fn shrink_index(&mut self, position: usize) -> Result<bool, Stop<E>> {
        for candidate in self.with_smaller_index(position) {
            if self.attempt(candidate)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the current candidate with each smaller index for one of its choices.
    fn with_smaller_index(&self, position: usize) -> Vec<Candidate> {
        let choices = &self.current.choosing.choices;
        let with = |index| {
            let mut candidate = self.current.clone();
            candidate.choosing.choices[position].index = index;
            let new = place(&candidate.choosing.choices[position]);
            choices.iter().all(|choice| place(choice) != new).then_some(candidate)
        };
        smaller_integers(choices[position].index).into_iter().filter_map(with).collect()
    }

    /// Makes the test case smaller together with the index of a choice, up to the first success: what must go wrong
    /// with the last packet must go wrong earlier if there are fewer packets.
    fn shrink_both(&mut self) -> Result<bool, Stop<E>> {
        for position in 0..self.current.choosing.choices.len() {
            for earlier in self.with_smaller_index(position) {
                for path in paths(&earlier.case) {
                    for replacement in replacements(&path, at(&earlier.case, &path)) {
                        let mut candidate = earlier.clone();
                        *at_mut(&mut candidate.case, &path) = replacement;
                        if self.attempt(candidate)? {
                            return Ok(true);
                        }
                    }
                }
            }
        }
        Ok(false)
    }

    /// Tries each place of the test case, and returns whether it got smaller.
    fn shrink_case(&mut self, seeds: Seeds) -> Result<bool, Stop<E>> {
        let mut got_smaller = false;
        let mut position = 0;
        // What is after a place may change with it, and what is before does not.
        while let Some(path) = paths(&self.current.case).into_iter().nth(position) {
            got_smaller |= self.shrink_at(&path, seeds)?;
            position += 1;
        }
        Ok(got_smaller)
    }

    fn shrink_at(&mut self, path: &Path, seeds: Seeds) -> Result<bool, Stop<E>> {
        let mut got_smaller = false;
        match at(&self.current.case, path) {
            Value::Array(_) => {
                let elements = |case: &Value| at(case, path).as_array().map_or(0, Vec::len);
                got_smaller |= self.shrink_list(
                    |current| elements(&current.case),
                    |current, range| {
                        if let Value::Array(elements) = at_mut(&mut current.case, path) {
                            elements.drain(range);
                        }
                    },
                    seeds,
                )?;
            }
            Value::Object(entries) => {
                let keys = by_name(entries).into_iter().map(|(key, _)| key.clone());
                for key in keys.collect::<Vec<_>>() {
                    let mut candidate = self.current.clone();
                    if let Value::Object(entries) = at_mut(&mut candidate.case, path) {
                        entries.shift_remove(&key);
                    }
                    got_smaller |= self.attempt_with(candidate, seeds)?;
                }
            }
            _ => {}
        }
        while self.replace_at(path, seeds)? {
            got_smaller = true;
        }
        Ok(got_smaller)
    }

    /// Puts something smaller at a place, and returns whether that still fails.
    fn replace_at(&mut self, path: &Path, seeds: Seeds) -> Result<bool, Stop<E>> {
        for replacement in replacements(path, at(&self.current.case, path)) {
            let mut candidate = self.current.clone();
            *at_mut(&mut candidate.case, path) = replacement;
            if self.attempt_with(candidate, seeds)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Leaves out parts of a list, large ones first.
    fn shrink_list(
        &mut self,
        length: impl Fn(&Candidate) -> usize,
        remove: impl Fn(&mut Candidate, Range<usize>),
        seeds: Seeds,
    ) -> Result<bool, Stop<E>> {
        let mut got_smaller = false;
        let mut chunk = length(&self.current);
        while chunk > 0 {
            let mut start = 0;
            while start < length(&self.current) {
                let end = length(&self.current).min(start + chunk);
                let mut candidate = self.current.clone();
                remove(&mut candidate, start..end);
                if self.attempt_with(candidate, seeds)? {
                    got_smaller = true;
                } else {
                    start = end;
                }
            }
            chunk /= 2;
        }
        Ok(got_smaller)
    }

    /// Tries a candidate with its own seeds, and then with others.
    fn attempt_with(&mut self, candidate: Candidate, seeds: Seeds) -> Result<bool, Stop<E>> {
        let others = match seeds {
            Seeds::Own => Vec::new(),
            Seeds::Small => (0..SEEDS).filter_map(|seed| with_seeds(&candidate.case, seed)).collect(),
        };
        let choosing = candidate.choosing.clone();
        if self.attempt(candidate)? {
            return Ok(true);
        }
        for case in others {
            if self.attempt(Candidate { case, choosing: choosing.clone() })? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes a candidate the current one if it is smaller and fails in the same way.
    fn attempt(&mut self, mut candidate: Candidate) -> Result<bool, Stop<E>> {
        if Measure::of(&candidate) >= self.measure || !self.tried.insert(hash(&candidate)) {
            return Ok(false);
        }
        let keep = match candidate.choosing.others {
            Others::Seed => ChoiceRecording::Skip,
            Others::Simplest => ChoiceRecording::Keep,
        };
        match self.run(&candidate, keep)? {
            Ran::Failed { failure, choices } if failure == *self.failure => {
                if let Some(made) = choices {
                    forget_unmade(&mut candidate.choosing, &made);
                }
                self.measure = Measure::of(&candidate);
                self.current = candidate;
                self.steps += 1;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn run(&mut self, candidate: &Candidate, choices: ChoiceRecording) -> Result<Ran, Stop<E>> {
        if self.runs >= self.runs_max {
            return Err(Stop::RunsUsedUp);
        }
        self.runs += 1;
        (self.run)(candidate, choices).map_err(Stop::Runner)
    }
}

/// Which choice of a run it is.
fn place(choice: &RecordedChoice) -> (&str, ChoiceKind, u64) {
    (&choice.stream, choice.kind, choice.index)
}

/// Whether nothing simpler could have been chosen, as far as that can be told.
fn is_simplest(choice: &RecordedChoice) -> bool {
    choice.value == 0 || choice.kind.simplest().is_none()
}

/// Removes the choices that a run did not come to make, and those that it made in the simplest way: without them, it is
/// the same run.
fn forget_unmade(choosing: &mut Choosing, made: &[RecordedChoice]) {
    let made: BTreeMap<_, _> = made.iter().map(|choice| (place(choice), choice.value)).collect();
    choosing.choices.retain_mut(|choice| match made.get(&place(choice)) {
        Some(&value) => {
            choice.value = value;
            value != 0 || choice.kind.simplest().is_none()
        }
        None => false,
    });
}

/// Returns what tells a candidate from others. Two may have the same by a chance of 2^-64; then one of them is not
/// tried.
fn hash(candidate: &Candidate) -> u64 {
    // The keys of this hasher are fixed, so that the same is tried in each process.
    let mut hasher = DefaultHasher::new();
    candidate.case.to_string().hash(&mut hasher);
    candidate.choosing.hash(&mut hasher);
    hasher.finish()
}
