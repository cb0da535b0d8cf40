//! How the probability of success depends on several quantities at once: logistic regression, fitted by iteratively
//! reweighted least squares (McCullagh and Nelder 1989).
//!
//! In adequacy studies the quantities are the criterion and the logarithm of a suite's size (Frankl and Weiss 1993).

use serde::{Deserialize, Serialize};

use super::upper_tail;

/// More steps than this are not needed where there is a greatest likelihood.
const STEPS_MAX: usize = 100;

/// The fit is found when no linear predictor changes by more than this.
const PRECISION: f64 = 1e-10;

/// A linear predictor beyond this is a probability that is 0 or 1 but for rounding.
const PREDICTOR_MAX: f64 = 25.0;

/// Trials under the same circumstances.
#[derive(Debug, Clone, PartialEq)]
pub struct Trials {
    /// The quantities that the probability may depend on; give 1 as the first for a constant.
    pub quantities: Vec<f64>,
    /// How many succeeded.
    pub successes: usize,
    /// How many there were.
    pub of: usize,
}

/// A fit: `logit P(success) = sum of coefficient * quantity`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Logistic {
    /// One for each quantity.
    pub coefficients: Vec<Coefficient>,
    /// The logarithm of the likelihood, without the constant of the binomial coefficients.
    pub log_likelihood: f64,
}

/// What a quantity does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coefficient {
    /// By how much the log odds rise when the quantity rises by 1.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The two-sided p-value that it is 0 (Wald).
    pub p: f64,
}

/// Why there is no fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LogisticError {
    /// There are no trials, or no quantities.
    #[error("there is nothing to fit: give trials and at least one quantity")]
    Empty,
    /// Trials have different numbers of quantities.
    #[error("trials have {0} and {1} quantities; give the same for each")]
    Ragged(usize, usize),
    /// One quantity follows from others, so that no one can tell what is due to which.
    #[error("the quantities depend on each other; leave one out")]
    Dependent,
    /// Some quantities, taken together, tell successes from failures without a mistake, at least for some of the
    /// trials: the likelihood grows with the coefficients without end. Compare the shares themselves then.
    #[error("the quantities tell successes from failures without a mistake, so that no coefficient is large enough")]
    Separated,
}

/// Fits `trials`.
///
/// Cost O(trials * quantities^2) for each of a few steps.
///
/// # Errors
/// [`LogisticError`] if there is no fit, or more than one.
///
/// # Panics
/// If there are more successes than trials somewhere.
pub fn logistic_regression(trials: &[Trials]) -> Result<Logistic, LogisticError> {
    let count = trials.first().map_or(0, |trial| trial.quantities.len());
    if count == 0 || trials.iter().all(|trial| trial.of == 0) {
        return Err(LogisticError::Empty);
    }
    if let Some(other) = trials.iter().map(|trial| trial.quantities.len()).find(|other| *other != count) {
        return Err(LogisticError::Ragged(count, other));
    }
    assert!(trials.iter().all(|trial| trial.successes <= trial.of), "there are no more successes than trials");
    let mut coefficients = vec![0.0; count];
    for step in 0..STEPS_MAX {
        let (information, score) = derivatives(trials, &coefficients);
        let Some(root) = cholesky(&information) else {
            // Independent quantities have an information without holes at the start; holes come as probabilities near 0
            // and 1.
            return Err(if step == 0 { LogisticError::Dependent } else { LogisticError::Separated });
        };
        let change = solve(&root, &score);
        coefficients.iter_mut().zip(&change).for_each(|(coefficient, change)| *coefficient += change);
        let used = || trials.iter().filter(|trial| trial.of > 0);
        if used().any(|trial| predictor(trial, &coefficients).abs() > PREDICTOR_MAX) {
            return Err(LogisticError::Separated);
        }
        if used().all(|trial| predictor(trial, &change).abs() <= PRECISION) {
            return Ok(fit(trials, &coefficients, &root));
        }
    }
    Err(LogisticError::Separated)
}

fn predictor(trial: &Trials, coefficients: &[f64]) -> f64 {
    trial.quantities.iter().zip(coefficients).map(|(quantity, coefficient)| quantity * coefficient).sum()
}

/// The matrix of the information, and the derivative of the log-likelihood.
fn derivatives(trials: &[Trials], coefficients: &[f64]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let count = coefficients.len();
    let (mut information, mut score) = (vec![vec![0.0; count]; count], vec![0.0; count]);
    for trial in trials {
        let probability = 1.0 / (1.0 + (-predictor(trial, coefficients)).exp());
        let weight = trial.of as f64 * probability * (1.0 - probability);
        let residual = trial.successes as f64 - trial.of as f64 * probability;
        for (row, &quantity) in trial.quantities.iter().enumerate() {
            score[row] += quantity * residual;
            for (column, &other) in trial.quantities.iter().enumerate() {
                information[row][column] += weight * quantity * other;
            }
        }
    }
    (information, score)
}

/// The lower triangle whose product with its transpose is `matrix`; `None` if that has a hole, but for rounding.
fn cholesky(matrix: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let mut root = vec![vec![0.0; matrix.len()]; matrix.len()];
    for row in 0..matrix.len() {
        for column in 0..=row {
            let known: f64 = (0..column).map(|index| root[row][index] * root[column][index]).sum();
            let left = matrix[row][column] - known;
            root[row][column] = if row == column {
                (left > 1e-12 * matrix[row][row]).then(|| left.sqrt())?
            } else {
                left / root[column][column]
            };
        }
    }
    Some(root)
}

/// The solution of `root * root^T * x = right`.
fn solve(root: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut x = right.to_vec();
    for row in 0..x.len() {
        let known: f64 = (0..row).map(|index| root[row][index] * x[index]).sum();
        x[row] = (x[row] - known) / root[row][row];
    }
    for row in (0..x.len()).rev() {
        let known: f64 = (row + 1..x.len()).map(|index| root[index][row] * x[index]).sum();
        x[row] = (x[row] - known) / root[row][row];
    }
    x
}

fn fit(trials: &[Trials], coefficients: &[f64], root: &[Vec<f64>]) -> Logistic {
    let coefficients_found = coefficients.iter().enumerate().map(|(index, &estimate)| {
        let mut unit = vec![0.0; coefficients.len()];
        unit[index] = 1.0;
        let standard_error = solve(root, &unit)[index].sqrt();
        Coefficient { estimate, standard_error, p: 2.0 * upper_tail((estimate / standard_error).abs()) }
    });
    let log_likelihood = trials.iter().map(|trial| {
        // ln P(success) = -ln(1 + e^-eta), without overflow for the predictors that a fit can have.
        let predictor = predictor(trial, coefficients);
        -(trial.successes as f64) * (-predictor).exp().ln_1p()
            - (trial.of - trial.successes) as f64 * predictor.exp().ln_1p()
    });
    Logistic { coefficients: coefficients_found.collect(), log_likelihood: log_likelihood.sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(trials: &[(&[f64], usize, usize)], expect: LogisticError) {
        let trials: Vec<Trials> = trials
            .iter()
            .map(|&(quantities, successes, of)| Trials { quantities: quantities.to_vec(), successes, of })
            .collect();
        assert_eq!(logistic_regression(&trials), Err(expect));
    }

    #[test]
    fn what_has_no_fit_is_told() {
        check(&[], LogisticError::Empty);
        check(&[(&[1.0], 0, 0)], LogisticError::Empty);
        check(&[(&[1.0], 1, 2), (&[1.0, 2.0], 1, 2)], LogisticError::Ragged(1, 2));
        check(&[(&[1.0, 2.0], 1, 2), (&[1.0, 2.0], 1, 3)], LogisticError::Dependent);
    }

    #[test]
    fn separation_is_told_whether_complete_or_not() {
        check(&[(&[1.0, 0.0], 0, 9), (&[1.0, 1.0], 9, 9)], LogisticError::Separated);
        // One group always succeeds, the other sometimes.
        check(&[(&[1.0, 0.0], 4, 9), (&[1.0, 1.0], 9, 9)], LogisticError::Separated);
        check(&[(&[1.0], 7, 7)], LogisticError::Separated);
        // A threshold at 2.5 tells them apart.
        check(
            &[(&[1.0, 1.0], 0, 1), (&[1.0, 2.0], 0, 1), (&[1.0, 3.0], 1, 1), (&[1.0, 4.0], 1, 1)],
            LogisticError::Separated,
        );
    }
}
