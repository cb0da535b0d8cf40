//! What the test cases of suites are worth in random ones, by time and by number.

use serde::{Deserialize, Serialize};

use crate::probabilities::KillProbabilities;

/// The largest suites that are compared with rules of thumb.
pub(super) const SIZE_MAX: usize = 20;

/// A test case is not said to be worth more random ones than this, if they take as long.
const WORTH_MAX: usize = 10;

/// What suites are worth in random test cases. Larger suites score more whatever they are made of, so that scores compare
/// sizes first; what a minute or an input of them is worth does not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Worth {
    /// How many minutes of random test cases one minute of the suites is worth: what random suites take on average that
    /// are expected to score the same, divided by what the suite takes; the mean over suites.
    pub time: f64,
    /// How many random inputs one input of the suites is worth: the size of these random suites, divided by that of the
    /// suite; the mean over suites.
    pub inputs: f64,
}

/// What random suites are expected to score, and take.
#[derive(Debug)]
pub(crate) struct RandomSuites<'a> {
    /// Expected scores by size, from 1 on.
    pub(crate) scores: Vec<f64>,
    /// What each test case of the universe takes.
    seconds: &'a [f64],
    /// The mean of these.
    mean: f64,
}

impl<'a> RandomSuites<'a> {
    /// Returns those that suites of at most `size_max` test cases are held against; `None` without a score. `seconds` has
    /// what each test case of the universe takes.
    pub(crate) fn new(probabilities: &KillProbabilities, size_max: usize, seconds: &'a [f64]) -> Option<Self> {
        Some(Self { scores: probabilities.random(random_size_max(size_max))?, seconds, mean: mean(seconds) })
    }

    /// Returns what a suite takes, in seconds.
    pub(crate) fn seconds(&self, cases: &[usize]) -> f64 {
        cases.iter().map(|&case| self.seconds[case]).sum()
    }

    /// Returns what random suites are expected to score that take as long as a suite on average.
    pub(crate) fn in_time_of(&self, cases: &[usize]) -> f64 {
        random_score(&self.scores, self.seconds(cases) / self.mean)
    }

    /// Returns what suites with these scores are worth, on average.
    pub(crate) fn worth<'b>(&self, suites: impl Iterator<Item = (&'b [usize], f64)>) -> Worth {
        let (mut time, mut inputs, mut count) = (0.0, 0.0, 0.0);
        for (cases, score) in suites {
            let size = random_size(&self.scores, score);
            time += size * self.mean / self.seconds(cases);
            inputs += size / cases.len() as f64;
            count += 1.0;
        }
        Worth { time: time / count, inputs: inputs / count }
    }
}

/// Returns the mean of what test cases take: a random suite of `n` of them takes `n` times this on average.
pub(crate) fn mean(seconds: &[f64]) -> f64 {
    seconds.iter().sum::<f64>() / seconds.len() as f64
}

/// Returns how large the random suites are that suites of at most this size are held against.
pub(crate) fn random_size_max(size_max: usize) -> usize {
    WORTH_MAX * size_max.max(SIZE_MAX)
}

/// Returns how many random test cases are expected to reach a score, between two sizes by interpolation; as many as are
/// known if that is not enough.
pub(crate) fn random_size(random: &[f64], score: f64) -> f64 {
    let size = random.partition_point(|reached| *reached < score);
    match random.get(size) {
        None => random.len() as f64,
        Some(reached) => {
            let before = if size == 0 { 0.0 } else { random[size - 1] };
            let part = if *reached > before { (score - before) / (reached - before) } else { 1.0 };
            size as f64 + part
        }
    }
}

/// Returns what so many random test cases are expected to score, between two sizes by interpolation; what the most that
/// are known do if these are fewer.
pub(crate) fn random_score(random: &[f64], size: f64) -> f64 {
    let at = |size: usize| if size == 0 { 0.0 } else { random[(size - 1).min(random.len() - 1)] };
    let (below, part) = (size.floor() as usize, size.fract());
    at(below) + part * (at(below + 1) - at(below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::tests::known;
    use proptest::prelude::*;

    #[test]
    fn the_size_of_random_suites_with_a_score_is_interpolated() {
        let random = [0.4, 0.6, 0.7];
        let sizes = [0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.9].map(|score| random_size(&random, score));
        for (size, expect) in sizes.into_iter().zip([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 3.0]) {
            assert!((size - expect).abs() < 1e-12, "{size} is not {expect}");
        }
    }

    proptest! {
        #[test]
        fn a_score_and_the_size_of_random_suites_with_it_belong_together(
            gains in prop::collection::vec(0.01..1.0_f64, 1..6),
            size in 0.0..6.0_f64,
        ) {
            let random: Vec<f64> = (0..gains.len()).map(|last| gains[..=last].iter().sum()).collect();
            let again = random_size(&random, random_score(&random, size));
            prop_assert!((again - size.min(random.len() as f64)).abs() < 1e-9, "{} is not {}", again, size);
        }

        /// Twice the time is half of the worth, and a random suite of any size is worth as much as it has test cases.
        #[test]
        fn what_a_suite_is_worth_by_time_is_for_what_it_takes(
            survival in prop::collection::vec(prop::collection::vec(0.05..0.95_f64, 3), 4),
            seconds in prop::collection::vec(0.1..9.0_f64, 4),
            case in 0..4_usize,
        ) {
            let probabilities = known(&survival);
            let random = RandomSuites::new(&probabilities, 1, &seconds).expect("there is a score");
            let score = probabilities.score(&[case]).expect("there is a score").mean;
            let cases: &[usize] = &[case];
            let worth = random.worth([(cases, score)].into_iter());
            let ratio = mean(&seconds) / seconds[case];
            prop_assert!((worth.time - worth.inputs * ratio).abs() < 1e-9, "{:?} with {}", worth, ratio);
            // A suite that takes as long as the random ones that score the same is worth what it takes.
            prop_assert_eq!(worth.time > 1.0, score > random.in_time_of(cases));
        }
    }
}
