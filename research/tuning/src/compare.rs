//! Comparison of strategies on the same seeds.

use std::fmt;

use serde::Serialize;
use simutant_models::Strategy;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::parallel;
use crate::subject::{Measured, Subject};

/// A strategy to compare.
pub struct Contender {
    /// Its name.
    pub name: String,
    make: Box<dyn Fn() -> Box<dyn Strategy> + Sync>,
}

impl Contender {
    /// Returns a contender whose strategy has learned nothing when a suite begins.
    pub fn new<S: Strategy + 'static>(name: &str, make: impl Fn() -> S + Sync + 'static) -> Self {
        Self { name: name.to_owned(), make: Box::new(move || Box::new(make())) }
    }
}

impl fmt::Debug for Contender {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Contender").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A mean with its confidence interval of 95 %, by Student's distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval.
    pub half: f64,
}

impl Estimate {
    /// Estimates the mean that values are drawn around; of less than two values the interval has no bound.
    pub fn new(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let Ok(distribution) = StudentsT::new(0.0, 1.0, count - 1.0) else { return Self { mean, half: f64::INFINITY } };
        let deviation = (squares / (count - 1.0) / count).sqrt();
        Self { mean, half: distribution.inverse_cdf(0.975) * deviation }
    }

    /// Returns which side of zero the whole interval is on: 1, -1, or 0 if zero is inside of it.
    pub fn sign(&self) -> i8 {
        i8::from(self.mean > self.half) - i8::from(-self.mean > self.half)
    }
}

/// What a strategy came to on a subject, over all seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The subject.
    pub subject: String,
    /// The strategy.
    pub strategy: String,
    /// The measures, in the order of [`Row::MEASURES`].
    pub measures: [Estimate; 8],
    /// How much more each measure is than that of the first strategy with the same seed. Of tests to the first failure,
    /// less is better.
    pub differences: [Estimate; 8],
}

impl Row {
    /// What is measured: how many transitions a walk tries, the share of them that backtracks, the numbers of a
    /// [`Measured`], and the mean of its scores.
    pub const MEASURES: [&'static str; 8] =
        ["length", "backtracked, %", "states", "transitions", "pairs", "paths", "tests to failure", "score"];

    /// Returns whether the first strategy is better at a measure (-1), this one is (1), or neither for sure (0).
    pub fn sign(&self, measure: usize) -> i8 {
        let is_less_better = Self::MEASURES[measure] == "tests to failure";
        self.differences[measure].sign() * if is_less_better { -1 } else { 1 }
    }
}

/// Runs suites of all contenders on all subjects, by the seeds from `seeds` on, on so many threads. The rows of a
/// subject follow each other, in the order of the contenders; the first one is what the others are compared with.
pub fn compare(
    subjects: &[&dyn Subject],
    contenders: &[Contender],
    tests: usize,
    seeds: std::ops::Range<u64>,
    threads: usize,
) -> Vec<Row> {
    let count = seeds.clone().count();
    let suites = parallel::map(subjects.len() * contenders.len() * count, threads, |number| {
        let (row, seed) = (number / count, seeds.start + (number % count) as u64);
        let (subject, contender) = (subjects[row / contenders.len()], &contenders[row % contenders.len()]);
        subject.suite((contender.make)(), tests, seed)
    });
    let values: Vec<[f64; 8]> = suites.iter().map(values).collect();
    let mut rows = Vec::new();
    for (subject, values) in subjects.iter().zip(values.chunks((contenders.len() * count).max(1))) {
        for (contender, own) in contenders.iter().zip(values.chunks(count.max(1))) {
            let of = |measure: usize| Estimate::new(&own.iter().map(|own| own[measure]).collect::<Vec<_>>());
            let more = |measure: usize| {
                let pairs = own.iter().zip(values);
                Estimate::new(&pairs.map(|(own, first)| own[measure] - first[measure]).collect::<Vec<_>>())
            };
            rows.push(Row {
                subject: subject.name().to_owned(),
                strategy: contender.name.clone(),
                measures: std::array::from_fn(of),
                differences: std::array::from_fn(more),
            });
        }
    }
    rows
}

fn values(measured: &Measured) -> [f64; 8] {
    let counts =
        [measured.states.0, measured.transitions.0, measured.pairs, measured.paths, measured.tests_to_failure()];
    let [states, transitions, pairs, paths, failure] = counts.map(|count| count as f64);
    let length = measured.tried as f64 / measured.walks.max(1) as f64;
    let backtracked = 100.0 * measured.backtracked as f64 / measured.tried.max(1) as f64;
    [length, backtracked, states, transitions, pairs, paths, failure, measured.score()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_student() {
        // The quantile for four degrees of freedom is 2.776445, and the standard error of these is √0.5.
        let Estimate { mean, half } = Estimate::new(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((mean - 3.0).abs() < 1e-12 && (half - 2.776_445 * 0.5_f64.sqrt()).abs() < 1e-5, "{mean} ± {half}");
        assert_eq!(Estimate::new(&[2.0]).half, f64::INFINITY);
        assert_eq!(Estimate::new(&[2.0]).sign(), 0);
        assert_eq!(Estimate::new(&[2.0, 2.0]).sign(), 1);
        assert_eq!(Estimate::new(&[-2.0, -2.1]).sign(), -1);
        assert_eq!(Estimate::new(&[0.0, 0.0]).sign(), 0);
    }
}
