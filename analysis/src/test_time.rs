//! What test cases take on an implementation, from what trials took.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{RunCost, TestTime};

/// With fewer trials than this, they say too little.
const TRIALS_MIN: usize = 10;

/// Coefficients: the start, that of virtual time, that of messages.
const TERMS: usize = 3;

/// Residuals that are larger than so many standard deviations count by their size, no more by its square (Huber,
/// "Robust estimation of a location parameter", Annals of Mathematical Statistics 35, 1964; 95 % efficient where errors
/// are normal).
const HUBER: f64 = 1.345;

/// The standard deviation of a normal distribution whose median absolute deviation is 1.
const SD_OF_MAD: f64 = 1.4826;

/// How often weights are computed anew, at most.
const ROUNDS: usize = 50;

/// What a test case takes on one implementation, as trials showed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FittedTestTime {
    /// What is likely.
    pub time: TestTime,
    /// The standard error of each of its numbers.
    pub error: TestTime,
    /// How many trials it was fitted to.
    pub trials: usize,
}

impl FittedTestTime {
    /// Fits what trials took in seconds to what their runs on the simulation cost: no number is negative, and slow runs
    /// count less than their squares (least squares with weights by Huber). No test case is taken to be shorter than the
    /// shortest trial. `None` with fewer than ten trials.
    ///
    /// ```
    /// use simutant_analysis::FittedTestTime;
    /// use simutant_outcomes::RunCost;
    ///
    /// let run = |seconds: u64| RunCost { virtual_time_ns: 1_000_000_000 * seconds, ..RunCost::default() };
    /// let trials: Vec<(RunCost, f64)> = (0..20).map(|seconds| (run(seconds), 0.25 + 1.5 * seconds as f64)).collect();
    /// let fitted = FittedTestTime::fit(&trials).expect("there are enough");
    /// assert!((fitted.time.start - 0.25).abs() < 1e-9 && (fitted.time.per_virtual_second - 1.5).abs() < 1e-9);
    /// ```
    pub fn fit(trials: &[(RunCost, f64)]) -> Option<Self> {
        if trials.len() < TRIALS_MIN {
            return None;
        }
        let rows: Vec<[f64; TERMS]> =
            trials.iter().map(|(run, _)| [1.0, run.virtual_time_ns as f64 / 1e9, run.messages as f64]).collect();
        let taken: Vec<f64> = trials.iter().map(|(_, seconds)| *seconds).collect();
        let mut weights = vec![1.0; rows.len()];
        let mut fit = non_negative(&rows, &taken, &weights)?;
        for _ in 0..ROUNDS {
            let residuals = fit.residuals(&rows, &taken);
            let sd = deviation(&residuals);
            let edge = HUBER * sd;
            let of_residual = |residual: &f64| if residual.abs() <= edge { 1.0 } else { edge / residual.abs() };
            weights = residuals.iter().map(of_residual).collect();
            let next = non_negative(&rows, &taken, &weights)?;
            let is_same = next.terms.iter().zip(fit.terms).all(|(next, last)| (next - last).abs() <= 1e-9 * last.abs());
            fit = next;
            if is_same {
                break;
            }
        }
        let sd = deviation(&fit.residuals(&rows, &taken));
        let shortest = taken.iter().copied().fold(f64::INFINITY, f64::min);
        let test_time = |[start, per_virtual_second, per_message]: [f64; TERMS], shortest| TestTime {
            start,
            per_virtual_second,
            per_message,
            shortest,
        };
        Some(Self {
            time: test_time(fit.terms, shortest),
            error: test_time(fit.variances.map(|variance| sd * variance.max(0.0).sqrt()), 0.0),
            trials: trials.len(),
        })
    }
}

/// Says it with standard errors, for example `0.31 ± 0.01 s + 1.08 ± 0.02 x virtual time`.
impl std::fmt::Display for FittedTestTime {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.time.write(formatter, Some(self.error))
    }
}

/// A fit by weighted least squares.
#[derive(Debug, Clone, Copy)]
struct Fit {
    terms: [f64; TERMS],
    /// The variance of each term in units of that of the residuals; 0 for terms that are left out.
    variances: [f64; TERMS],
    /// The weighted sum of squared residuals.
    squares: f64,
}

impl Fit {
    fn residuals(&self, rows: &[[f64; TERMS]], taken: &[f64]) -> Vec<f64> {
        let of_row = |row: &[f64; TERMS]| row.iter().zip(self.terms).map(|(value, term)| value * term).sum::<f64>();
        rows.iter().zip(taken).map(|(row, taken)| taken - of_row(row)).collect()
    }
}

/// Returns the standard deviation that the median of absolute residuals tells, above 0.
fn deviation(residuals: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|residual| residual.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    (SD_OF_MAD * sizes[sizes.len() / 2]).max(1e-9)
}

/// Returns the fit with the least squares of those without a negative term, of all subsets of terms: there are few.
fn non_negative(rows: &[[f64; TERMS]], taken: &[f64], weights: &[f64]) -> Option<Fit> {
    let fits = (1..1_usize << TERMS).filter_map(|subset| {
        let used: Vec<usize> = (0..TERMS).filter(|term| subset >> term & 1 == 1).collect();
        let fit = least_squares(rows, taken, weights, &used)?;
        fit.terms.iter().all(|term| *term >= 0.0).then_some(fit)
    });
    fits.reduce(|best, next| if next.squares < best.squares { next } else { best })
}

/// Returns the fit of some of the terms; `None` if the trials do not tell them apart.
fn least_squares(rows: &[[f64; TERMS]], taken: &[f64], weights: &[f64], used: &[usize]) -> Option<Fit> {
    // Columns of one size, so that it is known what is close to 0.
    let sizes: Vec<f64> = used.iter().map(|&term| rows.iter().map(|row| row[term]).fold(0.0, f64::max)).collect();
    if sizes.contains(&0.0) {
        return None;
    }
    let count = used.len();
    // The normal equations, and beside them the unit matrix, which becomes the inverse.
    let mut equations = vec![[0.0; 2 * TERMS + 1]; count];
    for ((row, taken), weight) in rows.iter().zip(taken).zip(weights) {
        let value = |at: usize| row[used[at]] / sizes[at];
        for (one, equation) in equations.iter_mut().enumerate() {
            (0..count).for_each(|other| equation[other] += weight * value(one) * value(other));
            equation[TERMS] += weight * value(one) * taken;
        }
    }
    (0..count).for_each(|at| equations[at][TERMS + 1 + at] = 1.0);
    for at in 0..count {
        // The matrix is symmetric and not negative: the diagonal is a good pivot, or there is none.
        let pivot = equations[at][at];
        if pivot < 1e-9 * rows.len() as f64 {
            return None;
        }
        equations[at].iter_mut().for_each(|value| *value /= pivot);
        let eliminating = equations[at];
        for (other, equation) in equations.iter_mut().enumerate().filter(|(other, _)| *other != at) {
            let factor = equation[at];
            debug_assert_ne!(other, at, "an equation is not taken from itself");
            equation.iter_mut().zip(eliminating).for_each(|(value, by)| *value -= factor * by);
        }
    }
    let mut fit = Fit { terms: [0.0; TERMS], variances: [0.0; TERMS], squares: 0.0 };
    for (at, &term) in used.iter().enumerate() {
        fit.terms[term] = equations[at][TERMS] / sizes[at];
        fit.variances[term] = equations[at][TERMS + 1 + at] / (sizes[at] * sizes[at]);
    }
    let residuals = fit.residuals(rows, taken);
    fit.squares = residuals.iter().zip(weights).map(|(residual, weight)| weight * residual * residual).sum();
    Some(fit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::NamedStream;

    fn trials(time: TestTime, count: usize, noise: impl Fn(&mut NamedStream) -> f64) -> Vec<(RunCost, f64)> {
        let mut stream = NamedStream::new(3, "trials of a test");
        let trial = |_| {
            let virtual_time_ns = 10_000_000 * stream.below(1000) as u64;
            let run = RunCost { events: 0, messages: stream.below(2000) as u64, virtual_time_ns };
            (run, time.seconds(run) + noise(&mut stream))
        };
        (0..count).map(trial).collect()
    }

    proptest! {
        /// One run in ten is much too slow; the others are off by up to 50 ms.
        #[test]
        fn known_numbers_are_found_again(start in 0.05..2.0_f64, factor in 0.0..3.0_f64, message in 0.0..0.002_f64) {
            let time = TestTime { start, per_virtual_second: factor, per_message: message, ..TestTime::default() };
            let noise = |stream: &mut NamedStream| match stream.below(10) {
                0 => 20.0,
                _ => stream.below(101) as f64 / 1000.0 - 0.05,
            };
            let found = FittedTestTime::fit(&trials(time, 200, noise)).expect("there are enough");
            prop_assert!((found.time.start - start).abs() < 0.05, "{found}");
            prop_assert!((found.time.per_virtual_second - factor).abs() < 0.01, "{found}");
            prop_assert!((found.time.per_message - message).abs() < 0.000_05, "{found}");
            prop_assert!(found.time.is_valid() && found.error.start > 0.0 && found.error.start < 0.05);
        }
    }

    #[test]
    fn what_trials_do_not_tell_is_left_out() {
        let same = RunCost { events: 1, messages: 7, virtual_time_ns: 2_000_000_000 };
        let found = FittedTestTime::fit(&[(same, 1.5); 20]).expect("there are enough");
        assert!((found.time.seconds(same) - 1.5).abs() < 1e-9, "{found:?}");
        assert_eq!(FittedTestTime::fit(&[(same, 1.5); 9]), None);
        // Those that take longer take less time.
        let falling: Vec<(RunCost, f64)> = (0..20_u64)
            .map(|second| {
                (RunCost { virtual_time_ns: second * 1_000_000_000, ..RunCost::default() }, 20.0 - second as f64)
            })
            .collect();
        let found = FittedTestTime::fit(&falling).expect("there are enough").time;
        assert_eq!((found.per_virtual_second, found.per_message), (0.0, 0.0));
        assert!((found.start - 10.5).abs() < 1.0, "{found}");
    }

    /// What trials take may grow faster than virtual time: then no start is left for a test case without any.
    #[test]
    fn no_test_case_is_shorter_than_the_shortest_trial() {
        let growing: Vec<(RunCost, f64)> = (5..25_u64)
            .map(|second| {
                let run = RunCost { virtual_time_ns: second * 1_000_000_000, ..RunCost::default() };
                (run, 0.1 * (second * second) as f64)
            })
            .collect();
        let found = FittedTestTime::fit(&growing).expect("there are enough").time;
        assert_eq!((found.start, found.seconds(RunCost::default())), (0.0, 2.5), "{found}");
        assert!(found.to_string().ends_with("at least 2.5 s"), "{found}");
    }
}
