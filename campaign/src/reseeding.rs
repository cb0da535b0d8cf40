//! Re-seedings of test cases: which pairs of a test case and a mutant are still open, and are run again.
//!
//! A campaign goes in rounds. The first one is the universe as it was drawn, and is what a campaign without re-seedings
//! is. Each later round has every test case once more, with its chance drawn anew, so that a mutant that some run of a
//! pair kills and another does not is run as often as there are rounds. Whether a pair is run in a round depends on
//! what the same pair came to in the rounds before, and on nothing else: outcomes do not depend on workers,
//! interruptions, or on which other test cases are run.

use simutant_outcomes::{BitSet, MutantNumber};

/// A pair whose first so many runs end alike is closed: it is run again only if a run that pruning saves differs.
const ALIKE_MAX: u8 = 3;

/// How often each pair of a test case and a mutant was decided so far, and how often it was a kill.
///
/// A run that pruning saves is decided, too: a re-seeding that does not infect the mutant does not kill it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tally {
    mutants: usize,
    /// Shape `cases x mutants`.
    decided: Vec<u8>,
    /// Shape `cases x mutants`.
    kills: Vec<u8>,
}

impl Tally {
    /// Returns a tally of nothing yet.
    pub(crate) fn new(cases: usize, mutants: usize) -> Self {
        Self { mutants, decided: vec![0; cases * mutants], kills: vec![0; cases * mutants] }
    }

    /// Returns how many test cases there are.
    pub(crate) fn cases(&self) -> usize {
        self.decided.len().checked_div(self.mutants).unwrap_or(0)
    }

    /// Counts a re-seeding of a test case that does not infect these mutants, but for those that were run all the same.
    pub(crate) fn add_uninfected(&mut self, case: usize, infected: &BitSet) {
        let row = &mut self.decided[case * self.mutants..][..self.mutants];
        row.iter_mut().enumerate().filter(|(mutant, _)| !infected.contains(*mutant)).for_each(|(_, count)| *count += 1);
    }

    /// Counts a run of a re-seeding that infects the mutant.
    pub(crate) fn add_run(&mut self, case: usize, mutant: usize, is_kill: bool) {
        let pair = case * self.mutants + mutant;
        self.decided[pair] += 1;
        self.kills[pair] += u8::from(is_kill);
    }

    /// Returns whether the next re-seeding of the test case is run on the mutant.
    pub(crate) fn is_open(&self, case: usize, mutant: MutantNumber) -> bool {
        let pair = case * self.mutants + mutant as usize;
        let (decided, kills) = (self.decided[pair], self.kills[pair]);
        decided < ALIKE_MAX || (0 < kills && kills < decided)
    }

    /// Returns how often each pair was decided, and how often it was a kill; both have shape `mutants x cases`.
    pub(crate) fn by_mutant(&self) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
        let column = |counts: &[u8], mutant: usize| counts.iter().skip(mutant).step_by(self.mutants).copied().collect();
        let all = |counts: &[u8]| (0..self.mutants).map(|mutant| column(counts, mutant)).collect();
        (all(&self.decided), all(&self.kills))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a pair is open after these runs; `None` is one that pruning saved.
    #[track_caller]
    fn check(runs: &[Option<bool>], expect: bool) {
        let mut tally = Tally::new(2, 3);
        let all: BitSet = (0..3).collect();
        let mut without = all.clone();
        without.set(1, false);
        for run in runs {
            tally.add_uninfected(1, if run.is_some() { &all } else { &without });
            if let Some(is_kill) = *run {
                tally.add_run(1, 1, is_kill);
            }
        }
        assert_eq!(tally.is_open(1, 1), expect, "{runs:?}");
        let kills = runs.iter().filter(|run| **run == Some(true)).count() as u8;
        let (decided_by_mutant, kills_by_mutant) = tally.by_mutant();
        assert_eq!(decided_by_mutant, [vec![0, 0], vec![0, runs.len() as u8], vec![0, 0]]);
        assert_eq!(kills_by_mutant, [vec![0, 0], vec![0, kills], vec![0, 0]]);
    }

    #[test]
    fn a_pair_is_open_until_three_runs_are_alike_or_for_good_when_two_differ() {
        let runs = [None, Some(false), Some(true)];
        for first in runs {
            check(&[first], true);
            for second in runs {
                check(&[first, second], true);
                for third in runs {
                    let kills = [first, second, third].iter().filter(|run| **run == Some(true)).count();
                    check(&[first, second, third], kills != 0 && kills != 3);
                }
            }
        }
        check(&[Some(true), Some(true), Some(true), None], true);
        check(&[None, None, None, None], false);
    }
}
