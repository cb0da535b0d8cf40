//! What implementations did with the test cases of a universe, and the same with implementations, test cases and seeds
//! drawn again.
//!
//! The fates of datagrams in a run depend on the test case and on the seed of the repetition, and are the same for all
//! implementations. So one lucky input can fail many implementations at once, and intervals that draw implementations alone
//! are too narrow. Here both are drawn, each by itself, as in Owen, "The pigeonhole bootstrap", Annals of Applied Statistics
//! 1(2), 2007, which counts the part of the variance that is of single runs more than once, so that it is conservative.
//!
//! Implementations and seeds are drawn with replacement. Of the test cases half are drawn without it (McCarthy,
//! "Pseudo-replication: half samples", Review of the International Statistical Institute 37(3), 1969): means of half samples
//! vary about that of all as the latter does about the true one. A test case that is drawn twice would find nothing new
//! the second time, so that with replacement suites find too little, and vary too little.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Subject};

use super::probability::{self, Missing};
use crate::random::NamedStream;

/// What is drawn again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resampled {
    /// Implementations, with replacement.
    Implementations,
    /// Half of the test cases of the universe, the same ones for all implementations.
    TestCases,
    /// Within each test case the seeds that it ran with, with replacement, the same ones for all implementations.
    Seeds,
}

/// What the implementations that are judged together did.
#[derive(Debug)]
pub(super) struct Observed {
    /// The probability that each test case passes; shape `implementations x cases`.
    pub(super) missing: Vec<Missing>,
    /// What each test case took, in milliseconds; of the same shape.
    pub(super) durations: Vec<Vec<f64>>,
    /// With how many seeds each test case ran; one if all repetitions have the same fates.
    pub(super) seeds: usize,
    /// By implementation, the test cases that failed at least once, with the repetitions in which they did.
    failing: Vec<Vec<(usize, BitSet)>>,
}

/// Implementations and test cases: all that there are, or what was drawn.
#[derive(Debug, Clone)]
pub(super) struct World {
    /// How often each implementation counts.
    pub(super) implementations: Vec<u32>,
    /// Whether each test case is in the universe.
    pub(super) has_case: Vec<bool>,
    /// The probability that each test case passes; shape `implementations x cases`.
    pub(super) missing: Vec<Missing>,
}

impl Observed {
    /// Takes what `subjects` did. `redraws`: whether each repetition of a test case has fates of its own.
    pub(super) fn new<'a>(subjects: impl Iterator<Item = &'a Subject>, redraws: bool) -> Self {
        let mut observed = Self { missing: Vec::new(), durations: Vec::new(), seeds: 1, failing: Vec::new() };
        for subject in subjects {
            if redraws {
                observed.seeds = subject.repetitions().count();
            }
            let failed_in = |case: usize| -> BitSet {
                let repetitions = subject.repetitions().enumerate();
                repetitions.filter(|(_, failed)| failed.contains(case)).map(|(repetition, _)| repetition).collect()
            };
            let failed_in = (0..subject.failed.len()).map(|case| (case, failed_in(case)));
            observed.failing.push(failed_in.filter(|(_, failed)| !failed.is_clear()).collect());
            observed.missing.push(probability::missing(subject));
            observed.durations.push(subject.durations_ms.iter().map(|&duration| duration as f64).collect());
        }
        observed
    }

    pub(super) fn implementations(&self) -> usize {
        self.missing.len()
    }

    /// Returns how many test cases the universe has.
    pub(super) fn cases(&self) -> usize {
        self.missing.first().map_or(0, Vec::len)
    }

    /// Returns what is drawn again for intervals.
    pub(super) fn resampled(&self) -> Vec<Resampled> {
        let seeds = (self.seeds > 1).then_some(Resampled::Seeds);
        [Resampled::Implementations, Resampled::TestCases].into_iter().chain(seeds).collect()
    }

    /// Returns what was observed: everything counts once.
    pub(super) fn world(&self) -> World {
        World {
            implementations: vec![1; self.implementations()],
            has_case: vec![true; self.cases()],
            missing: self.missing.clone(),
        }
    }

    /// Returns what was observed with the seed of this place alone, where there are several.
    pub(super) fn of_seed(&self, seed: usize) -> World {
        let mut world = self.world();
        for (missing, failing) in world.missing.iter_mut().zip(&self.failing) {
            failing.iter().for_each(|(case, failed)| missing[*case] = if failed.contains(seed) { 0.0 } else { 1.0 });
        }
        world
    }

    /// Draws again what is to be, into `world`, which was made of this.
    ///
    /// Of the draws those of implementations come first, so that they are the same whatever else is drawn.
    pub(super) fn draw_into(&self, world: &mut World, resampled: &[Resampled], stream: &mut NamedStream) {
        let count = world.implementations.len();
        world.implementations.fill(0);
        (0..count).for_each(|_| world.implementations[stream.below(count)] += 1);
        if resampled.contains(&Resampled::TestCases) {
            let half = self.cases().div_ceil(2);
            world.has_case.fill(false);
            stream.permutation(self.cases()).take(half).for_each(|case| world.has_case[case] = true);
        }
        if !resampled.contains(&Resampled::Seeds) {
            return;
        }
        let seeds = self.seeds;
        let drawn: Vec<usize> = (0..self.cases() * seeds).map(|_| stream.below(seeds)).collect();
        for (missing, failing) in world.missing.iter_mut().zip(&self.failing) {
            for (case, failed) in failing {
                let drawn = &drawn[case * seeds..][..seeds];
                let failures = drawn.iter().filter(|&&seed| failed.contains(seed)).count();
                missing[*case] = 1.0 - failures as f64 / seeds as f64;
            }
        }
    }
}

#[cfg(test)]
impl Observed {
    /// Returns what implementations with these probabilities of passing do, which are known.
    pub(super) fn of_missing(missing: &[Missing]) -> Self {
        let durations = missing.iter().map(|missing| vec![1.0; missing.len()]).collect();
        Self { failing: vec![Vec::new(); missing.len()], missing: missing.to_vec(), durations, seeds: 1 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use simutant_outcomes::Origin;

    use super::*;

    /// An implementation that failed on these test cases of four, by repetition.
    fn subject(failed: &[Vec<usize>]) -> Subject {
        let set = |cases: &Vec<usize>| {
            let mut set = BitSet::with_capacity(4);
            set.extend(cases.iter().copied());
            set
        };
        Subject {
            name: "one".into(),
            origin: Origin::Mistake,
            description: String::new(),
            failed: set(&failed[0]),
            again: failed[1..].iter().map(set).collect(),
            durations_ms: vec![5, 6, 7, 8],
        }
    }

    fn three_seeds() -> Observed {
        let subjects = [subject(&[vec![0, 1], vec![0], vec![0]]), subject(&[vec![1], vec![], vec![2]])];
        Observed::new(subjects.iter(), true)
    }

    #[test]
    fn seeds_are_repetitions_that_have_fates_of_their_own() {
        let observed = three_seeds();
        assert_eq!(observed.missing[0], [0.0, 1.0 - 1.0 / 3.0, 1.0, 1.0]);
        assert_eq!(observed.resampled(), [Resampled::Implementations, Resampled::TestCases, Resampled::Seeds]);
        let of_seed = |seed| observed.of_seed(seed).missing;
        assert_eq!(of_seed(0), [[0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0]]);
        assert_eq!(of_seed(2), [[0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0]]);
        let same = Observed::new([subject(&[vec![0], vec![1]])].iter(), false);
        assert_eq!(same.resampled(), [Resampled::Implementations, Resampled::TestCases]);
    }

    #[test]
    fn a_drawn_seed_is_the_same_for_all_implementations() {
        let both = [subject(&[vec![1], vec![]]), subject(&[vec![1], vec![2]])];
        let observed = Observed::new(both.iter(), true);
        let mut world = observed.world();
        let mut seen = Vec::new();
        for number in 0..40 {
            let mut stream = NamedStream::numbered(1, "a test", number);
            observed.draw_into(&mut world, &observed.resampled(), &mut stream);
            assert_eq!(world.missing[0][1], world.missing[1][1]);
            seen.push(world.missing[0][1]);
        }
        assert!([0.0, 0.5, 1.0].iter().all(|missing| seen.contains(missing)), "{seen:?}");
    }

    proptest! {
        #[test]
        fn as_many_implementations_are_drawn_as_there_are_and_half_of_the_test_cases(number in 0_u64..1000) {
            let observed = three_seeds();
            let all = observed.resampled();
            let draw = |resampled: &[Resampled]| {
                let mut world = observed.world();
                observed.draw_into(&mut world, resampled, &mut NamedStream::numbered(1, "a test", number));
                world
            };
            let world = draw(&all);
            let cases = world.has_case.iter().filter(|has| **has).count();
            prop_assert_eq!((world.implementations.iter().sum::<u32>(), cases), (2, 2));
            // What failed in no repetition, or in each, does so however seeds are drawn.
            prop_assert!(world.missing[0][0] == 0.0 && world.missing[0][3] == 1.0);
            let alone = draw(&all[..1]);
            prop_assert_eq!(&alone.implementations, &world.implementations);
            prop_assert_eq!((&alone.has_case, &alone.missing), (&vec![true; 4], &observed.missing));
        }
    }
}
