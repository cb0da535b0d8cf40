//! Covering arrays: every combination of levels of any `t` parameters in few test cases.

use simutant_random::Random;

use super::parameters::PARAMETERS_MAX;
use super::sampler::{Position, Row, sample};
use super::{Parameters, Positions, source_stream};
use crate::System;
use crate::system::case_stream;

/// How often a test case with a combination is looked for before that counts as impossible.
const ATTEMPTS: usize = 20;

/// Levels by parameter; `None` is any.
type Levels = Vec<Option<u32>>;

/// Returns the test cases that cover what there is to cover, at most `size`.
///
/// The array is made without regard to the system. Then each row is drawn: a test case that the system refuses is left
/// out, and one whose draws end earlier, since an earlier draw changes its shape, covers only combinations of those
/// that it has. For each combination that is still missing a few test cases with it are drawn, the others of their
/// parameters at random; if none has it, there is none as far as one can tell.
pub(super) fn rows<S: System>(parameters: &Parameters, strength: usize, seed: u64, size: usize) -> Vec<Positions> {
    let mut tuples = Tuples::new(&parameters.levels, strength);
    let position = |(parameter, level): (usize, &Option<u32>)| {
        level.map(|level| Position::Level(level, parameters.levels[parameter]))
    };
    let mut random = source_stream::<S>(seed, "covering");
    let mut rows = Vec::new();
    // Marks what a test case with these levels covers, if there is one; drawn as the universe will draw it.
    let realise = |levels: &Levels, rows: &mut Vec<Positions>, tuples: &mut Tuples| {
        let row: Positions = levels.iter().enumerate().map(position).collect();
        let random = &mut case_stream::<S>(seed, rows.len());
        let drawn = sample::<S>(random, Row::Numbered(row.clone()), PARAMETERS_MAX);
        if S::validate(&drawn.case).is_err() {
            return;
        }
        let existing = drawn.parameters.len().min(levels.len());
        if tuples.mark(&levels[..existing]) > 0 {
            rows.push(row);
        }
    };
    for levels in array(&parameters.levels, strength) {
        realise(&levels, &mut rows, &mut tuples);
    }
    for missing in tuples.missing() {
        for _ in 0..ATTEMPTS {
            if tuples.is_covered(&missing) || rows.len() >= size {
                break;
            }
            realise(&completed(&missing, &parameters.levels, &mut random), &mut rows, &mut tuples);
        }
    }
    rows.truncate(size);
    rows
}

/// Returns levels with those that are not said drawn at random.
fn completed(levels: &Levels, counts: &[u32], random: &mut Random) -> Levels {
    let complete = |(level, count): (&Option<u32>, &u32)| Some(level.unwrap_or_else(|| random.uniform(0..*count)));
    levels.iter().zip(counts).map(complete).collect()
}

/// Returns rows that cover every combination of `strength` parameters with so many levels.
///
/// IPOG (Lei et al., ECBS 2007): beginning with all combinations of the first parameters, each further one is added to
/// the rows that there are, everywhere at the level that covers most, then rows are added for what that does not cover.
fn array(counts: &[u32], strength: usize) -> Vec<Levels> {
    let mut tuples = Tuples::new(counts, strength);
    let strength = strength.min(counts.len());
    let mut rows = vec![vec![None; counts.len()]];
    for parameter in 0..strength {
        let with = |row: Levels| {
            (0..counts[parameter]).map(move |level| {
                let mut row = row.clone();
                row[parameter] = Some(level);
                row
            })
        };
        rows = rows.into_iter().flat_map(with).collect();
    }
    rows.iter().for_each(|row| {
        tuples.mark(row);
    });
    for parameter in strength..counts.len() {
        let range = tuples.with_last(parameter);
        for row in &mut rows {
            let best = (0..counts[parameter]).max_by_key(|&level| {
                row[parameter] = Some(level);
                // Of equal ones the first.
                (tuples.gain(row, range.clone()), std::cmp::Reverse(level))
            });
            row[parameter] = best.filter(|&level| {
                row[parameter] = Some(level);
                tuples.gain(row, range.clone()) > 0
            });
            tuples.mark_in(row, range.clone());
        }
        for missing in tuples.missing_in(range.clone()) {
            if tuples.is_covered(&missing) {
                continue;
            }
            let agrees = |row: &&mut Levels| {
                row.iter().zip(&missing).all(|(own, other)| own.is_none() || other.is_none() || own == other)
            };
            let row = match rows.iter_mut().find(agrees) {
                Some(row) => {
                    row.iter_mut().zip(&missing).for_each(|(own, other)| *own = own.or(*other));
                    &*row
                }
                None => {
                    rows.push(missing);
                    &rows[rows.len() - 1]
                }
            };
            tuples.mark_in(row, range.clone());
        }
    }
    rows
}

/// The combinations of levels of each `t` parameters, and which of them are covered.
struct Tuples {
    counts: Vec<u32>,
    /// Sets of parameters, each ascending, in the order of their last ones.
    sets: Vec<Vec<usize>>,
    /// For each set, a flag for each combination.
    covered: Vec<Vec<bool>>,
}

impl Tuples {
    fn new(counts: &[u32], strength: usize) -> Self {
        let mut sets = vec![Vec::new()];
        for _ in 0..strength.min(counts.len()) {
            let next = |set: Vec<usize>| {
                let first = set.last().map_or(0, |last| last + 1);
                (first..counts.len())
                    .map(move |parameter| set.iter().copied().chain([parameter]).collect::<Vec<usize>>())
            };
            sets = sets.into_iter().flat_map(next).collect();
        }
        sets.sort_by_key(|set| set.last().copied());
        let size = |set: &Vec<usize>| set.iter().map(|&parameter| counts[parameter] as usize).product();
        let covered = sets.iter().map(|set| vec![false; size(set)]).collect();
        Self { counts: counts.to_vec(), sets, covered }
    }

    /// Returns the sets whose last parameter is this one.
    fn with_last(&self, parameter: usize) -> std::ops::Range<usize> {
        let first = self.sets.partition_point(|set| set.last() < Some(&parameter));
        let end = self.sets.partition_point(|set| set.last() <= Some(&parameter));
        first..end
    }

    /// Returns the number of the combination of a set that a row has, `None` if it does not say all.
    fn combination(&self, set: usize, row: &[Option<u32>]) -> Option<usize> {
        self.sets[set].iter().try_fold(0, |number, &parameter| {
            let level = (*row.get(parameter)?)?;
            Some(number * self.counts[parameter] as usize + level as usize)
        })
    }

    /// Returns how many combinations a row would cover that are not covered.
    fn gain(&self, row: &[Option<u32>], sets: std::ops::Range<usize>) -> usize {
        sets.filter(|&set| self.combination(set, row).is_some_and(|number| !self.covered[set][number])).count()
    }

    /// Marks what a row covers; returns how many that were not covered.
    fn mark(&mut self, row: &[Option<u32>]) -> usize {
        self.mark_in(row, 0..self.sets.len())
    }

    fn mark_in(&mut self, row: &[Option<u32>], sets: std::ops::Range<usize>) -> usize {
        let mut new = 0;
        for set in sets {
            if let Some(number) = self.combination(set, row) {
                new += usize::from(!std::mem::replace(&mut self.covered[set][number], true));
            }
        }
        new
    }

    /// Whether a row that says one combination is covered.
    fn is_covered(&self, row: &Levels) -> bool {
        self.gain(row, 0..self.sets.len()) == 0
    }

    fn missing(&self) -> Vec<Levels> {
        self.missing_in(0..self.sets.len())
    }

    /// Returns a row for each combination that is not covered.
    fn missing_in(&self, sets: std::ops::Range<usize>) -> Vec<Levels> {
        let mut missing = Vec::new();
        for set in sets {
            for number in (0..self.covered[set].len()).filter(|&number| !self.covered[set][number]) {
                let mut row = vec![None; self.counts.len()];
                let mut rest = number;
                for &parameter in self.sets[set].iter().rev() {
                    let count = self.counts[parameter] as usize;
                    row[parameter] = Some((rest % count) as u32);
                    rest /= count;
                }
                missing.push(row);
            }
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whether every combination is in a row, by looking at all.
    fn covers_all(rows: &[Levels], counts: &[u32], strength: usize) -> bool {
        let mut tuples = Tuples::new(counts, strength);
        rows.iter().for_each(|row| {
            tuples.mark(row);
        });
        tuples.missing().is_empty()
    }

    proptest! {
        #[test]
        fn every_combination_is_covered(counts in proptest::collection::vec(1..5_u32, 1..7), strength in 1..4_usize) {
            let rows = array(&counts, strength);
            prop_assert!(covers_all(&rows, &counts, strength));
            let widest: u32 = {
                let mut sorted = counts.clone();
                sorted.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
                sorted.iter().take(strength).product()
            };
            prop_assert!(rows.len() >= widest as usize, "no array is smaller");
        }
    }

    #[test]
    fn combinations_are_those_of_the_definition() {
        let tuples = Tuples::new(&[2, 3, 2], 2);
        assert_eq!(tuples.sets, [vec![0, 1], vec![0, 2], vec![1, 2]]);
        let missing = tuples.missing();
        assert_eq!(missing.len(), 6 + 4 + 6);
        assert_eq!(missing[5], [Some(1), Some(2), None]);
        assert_eq!(missing[15], [None, Some(2), Some(1)]);
        assert_eq!((tuples.with_last(1), tuples.with_last(2), tuples.with_last(0)), (0..1, 1..3, 0..0));
    }

    /// The sizes that it comes to; the least possible ones are 9, 15, 25 and 27.
    #[test]
    fn arrays_are_small() {
        let sizes: [usize; 4] = [(&[3; 4][..], 2), (&[3; 13], 2), (&[5; 6], 2), (&[3; 4], 3)]
            .map(|(counts, strength)| array(counts, strength).len());
        assert_eq!(sizes, GOLDEN);
    }

    const GOLDEN: [usize; 4] = [10, 21, 38, 32];
}
