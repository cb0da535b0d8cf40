//! What strategies are tried on.

use std::fmt;

use simutant_models::{Instance, Limits, StepResult, Strategy, Walker};
use simutant_random::Random;

/// What strategies are tried on: anything that takes walks by them, and says what the walks covered.
pub trait Subject: Sync {
    /// Returns its name.
    fn name(&self) -> &str;

    /// Takes so many walks by a strategy, which learns from all of them, and returns what came of them.
    ///
    /// The seed and the strategy must fix the result. Whatever is random beside the strategy should be the same for all
    /// strategies of one seed, so that they can be compared in pairs.
    fn suite(&self, strategy: Box<dyn Strategy>, tests: usize, seed: u64) -> Measured;
}

/// What the walks of a suite covered, and which one failed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// How many tests there were.
    pub tests: usize,
    /// How many walks the tests had together: as many, or more if a test has several machines apart.
    pub walks: usize,
    /// How many transitions they tried together.
    pub tried: usize,
    /// How many of those backtracked.
    pub backtracked: usize,
    /// How many states they reached, of how many.
    pub states: (usize, usize),
    /// How many transitions they took, of how many.
    pub transitions: (usize, usize),
    /// How many pairs of transitions they took one after the other.
    pub pairs: usize,
    /// How many linearly independent paths they took, as Wang et al. count them: distinct ones, but for repetitions.
    pub paths: usize,
    /// The number of the first test that failed, from 1 on.
    pub first_failure: Option<usize>,
}

impl Measured {
    /// What [`Measured::scores`] are of.
    pub const SCORES: [&'static str; 4] = ["states", "transitions", "paths", "first failure"];

    /// Returns the objectives of Wang, Artho, Kristensen and Stolz (2020, "Multi-objective search for model-based
    /// testing", IV-A), each from 0 to 100: coverage of states and transitions in percent; paths, of which a hundred are
    /// one for each walk; and how early a walk fails first, where 100 is the first one, and 0 is none.
    pub fn scores(&self) -> [f64; 4] {
        let share = |(part, all): (usize, usize)| if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 };
        let left = self.first_failure.map_or(0, |first| (self.tests + 1).saturating_sub(first));
        [share(self.states), share(self.transitions), share((self.paths, self.walks)), share((left, self.tests))]
    }

    /// Returns the mean of the scores.
    pub fn score(&self) -> f64 {
        self.scores().iter().sum::<f64>() / 4.0
    }

    /// Returns the number of the first test that failed; one more than there were if none did.
    pub fn tests_to_failure(&self) -> usize {
        self.first_failure.unwrap_or(self.tests + 1)
    }
}

/// A machine whose actions wait for nothing, as a subject.
pub struct MachineSubject<F> {
    name: String,
    limits: Limits,
    instance: F,
}

impl<F> fmt::Debug for MachineSubject<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, limits, .. } = self;
        formatter.debug_struct("MachineSubject").field("name", name).field("limits", limits).finish_non_exhaustive()
    }
}

impl<F: Fn() -> Box<dyn Instance> + Sync> MachineSubject<F> {
    /// Returns a subject whose walks begin with what `instance` makes, and end by these limits.
    pub fn new(name: &str, limits: Limits, instance: F) -> Self {
        Self { name: name.to_owned(), limits, instance }
    }
}

impl<F: Fn() -> Box<dyn Instance> + Sync> Subject for MachineSubject<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn suite(&self, strategy: Box<dyn Strategy>, tests: usize, seed: u64) -> Measured {
        let mut random = Random::from_seed(seed).stream("walks");
        let mut walker = Walker::new().with_boxed(strategy).with_limits(self.limits);
        let (mut first_failure, mut tried, mut backtracked) = (None, 0, 0);
        for number in 1..=tests {
            let path = walker.run((self.instance)(), random.bits());
            tried += path.taken.len();
            backtracked += path.taken.iter().filter(|taken| taken.result == StepResult::Backtracked).count();
            if first_failure.is_none() && !path.verdict().passes() {
                first_failure = Some(number);
            }
        }
        let coverage = walker.coverage();
        Measured {
            tests,
            walks: tests,
            tried,
            backtracked,
            states: coverage.states(),
            transitions: coverage.transitions(),
            pairs: coverage.pairs().0,
            paths: coverage.paths().metrics().map_or(0, |metrics| metrics.distinct),
            first_failure,
        }
    }
}
