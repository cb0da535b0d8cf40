//! Probabilities that vary from case to case, known from a few trials each: a beta distribution of them, fitted to the
//! counts (Skellam, "A probability distribution derived from the binomial distribution by regarding the probability of
//! success as variable between the sets of trials", J. R. Stat. Soc. B 10, 1948).

use std::collections::BTreeMap;

/// How often the fit is improved at most.
const ITERATIONS: usize = 500;
/// A step that changes both parameters by less than this share ends the fit.
const CLOSE: f64 = 1e-6;
/// The largest sum of the parameters: so many trials say nothing against one probability for all cases.
const STRENGTH_MAX: f64 = 200.0;
/// The least of each parameter.
const PARAMETER_MIN: f64 = 1e-6;

/// The distribution of the probability of a success over cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prior {
    /// No trial of any case was a success.
    Never,
    /// Every trial of every case was a success.
    Always,
    /// A beta distribution.
    Beta {
        /// As many successes before the first trial.
        alpha: f64,
        /// As many failures before the first trial.
        beta: f64,
    },
}

/// What is known of the probability of one case after its trials: a beta distribution, or a certainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    /// The expected probability of a failure.
    pub failure: f64,
    /// How many trials it is worth; infinite for a certainty.
    pub strength: f64,
}

impl Posterior {
    /// The same in every trial.
    pub const fn certain(is_success: bool) -> Self {
        Self { failure: if is_success { 0.0 } else { 1.0 }, strength: f64::INFINITY }
    }

    /// Returns the probability of a failure after so many further trials that all failed: each makes it more likely,
    /// unless it is known for certain.
    pub fn failure_after(self, failures: u32) -> f64 {
        if self.strength.is_infinite() {
            return self.failure;
        }
        let failures = f64::from(failures);
        (self.failure * self.strength + failures) / (self.strength + failures)
    }

    /// Returns the probability that so many trials all fail, which is the moment of that order of the distribution.
    pub fn all_fail(self, trials: u32) -> f64 {
        (0..trials).map(|failures| self.failure_after(failures)).product()
    }
}

impl Prior {
    /// Returns the beta distribution under which the counts are most likely: by Newton's method from a uniform
    /// distribution on, and by a fixed-point iteration wherever that would leave the domain or the likelihood is not
    /// concave (Minka, "Estimating a Dirichlet distribution", 2000, section 3).
    ///
    /// `counts` has for each number of trials and of successes how many cases have them. When trials end may depend on
    /// what they came to: the likelihood does not change with it. Only sums, products and quotients are taken, so that
    /// the result is the same on every platform. Cost O(counts * trials) for each of at most 500 iterations.
    ///
    /// # Panics
    /// If a case has more successes than trials.
    pub fn fit(counts: &BTreeMap<(u8, u8), u32>) -> Self {
        let sum = |of: fn(u8, u8) -> u8| -> u64 {
            counts
                .iter()
                .map(|(&(trials, successes), &cases)| u64::from(of(trials, successes)) * u64::from(cases))
                .sum()
        };
        if sum(|_, successes| successes) == 0 {
            return Self::Never;
        }
        if sum(|trials, successes| trials.checked_sub(successes).expect("no more successes than trials")) == 0 {
            return Self::Always;
        }
        let (mut alpha, mut beta) = (1.0_f64, 1.0_f64);
        for _ in 0..ITERATIONS {
            let (mut of_successes, mut of_failures, mut of_trials) = ([0.0; 2], [0.0; 2], [0.0; 2]);
            for (&(trials, successes), &cases) in counts {
                for (sums, rise) in [
                    (&mut of_successes, rise(alpha, successes)),
                    (&mut of_failures, rise(beta, trials - successes)),
                    (&mut of_trials, rise(alpha + beta, trials)),
                ] {
                    sums.iter_mut().zip(rise).for_each(|(sum, rise)| *sum += f64::from(cases) * rise);
                }
            }
            let (before_alpha, before_beta) = (alpha, beta);
            // The slopes of the likelihood, and its second derivatives.
            let slopes = [of_successes[0] - of_trials[0], of_failures[0] - of_trials[0]];
            let (by_alpha, by_beta, mixed) =
                (of_trials[1] - of_successes[1], of_trials[1] - of_failures[1], of_trials[1]);
            let determinant = by_alpha * by_beta - mixed * mixed;
            let newton_alpha = alpha - (by_beta * slopes[0] - mixed * slopes[1]) / determinant;
            let newton_beta = beta - (by_alpha * slopes[1] - mixed * slopes[0]) / determinant;
            let is_near = |new: f64, old: f64| new > old / 4.0 && new < old * 4.0;
            if by_alpha < 0.0 && determinant > 0.0 && is_near(newton_alpha, alpha) && is_near(newton_beta, beta) {
                (alpha, beta) = (newton_alpha, newton_beta);
            } else {
                alpha = (alpha * of_successes[0] / of_trials[0]).max(PARAMETER_MIN);
                beta = (beta * of_failures[0] / of_trials[0]).max(PARAMETER_MIN);
            }
            if alpha + beta > STRENGTH_MAX {
                let scale = STRENGTH_MAX / (alpha + beta);
                (alpha, beta) = (alpha * scale, beta * scale);
                break;
            }
            if (alpha - before_alpha).abs() < CLOSE * alpha && (beta - before_beta).abs() < CLOSE * beta {
                break;
            }
        }
        Self::Beta { alpha, beta }
    }

    /// Returns what is known of a case after its trials.
    ///
    /// # Panics
    /// If there are more successes than trials.
    pub fn after(self, trials: u8, successes: u8) -> Posterior {
        let failures = trials.checked_sub(successes).expect("no more successes than trials");
        match self {
            Self::Never => Posterior::certain(false),
            Self::Always => Posterior::certain(true),
            Self::Beta { alpha, beta } => {
                let (of_success, of_failure) = (alpha + f64::from(successes), beta + f64::from(failures));
                let sum = of_success + of_failure;
                Posterior { failure: of_failure / sum, strength: sum }
            }
        }
    }
}

/// Returns the digamma function at `from + steps` less that at `from`, and the same of the trigamma function but for its
/// sign.
fn rise(from: f64, steps: u8) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for step in 0..steps {
        let term = 1.0 / (from + f64::from(step));
        sums[0] += term;
        sums[1] += term * term;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;
    use proptest::prelude::*;

    fn counts(cases: impl IntoIterator<Item = (u8, u8)>) -> BTreeMap<(u8, u8), u32> {
        let mut counts = BTreeMap::new();
        cases.into_iter().for_each(|case| *counts.entry(case).or_default() += 1);
        counts
    }

    /// The logarithm of the likelihood, but for a constant.
    fn likelihood(counts: &BTreeMap<(u8, u8), u32>, alpha: f64, beta: f64) -> f64 {
        let rise = |from: f64, steps: u8| -> f64 { (0..steps).map(|step| (from + f64::from(step)).ln()).sum() };
        let of_cell = |(&(trials, successes), &cases): (&(u8, u8), &u32)| {
            let one = rise(alpha, successes) + rise(beta, trials - successes) - rise(alpha + beta, trials);
            f64::from(cases) * one
        };
        counts.iter().map(of_cell).sum()
    }

    #[test]
    fn what_is_the_same_in_all_trials_is_certain() {
        assert_eq!(Prior::fit(&counts([(3, 0), (8, 0)])), Prior::Never);
        assert_eq!(Prior::fit(&counts([(3, 3), (8, 8)])), Prior::Always);
        assert_eq!(Prior::fit(&BTreeMap::new()), Prior::Never);
        assert_eq!([1, 2, 9].map(|trials| Prior::Never.after(8, 0).all_fail(trials)), [1.0; 3]);
        assert_eq!([1, 2, 9].map(|trials| Prior::Always.after(8, 8).all_fail(trials)), [0.0; 3]);
    }

    #[test]
    fn cases_that_are_either_certain_or_impossible_stay_so() {
        let prior = Prior::fit(&counts((0..100).map(|case| if case < 70 { (3, 0) } else { (3, 3) })));
        assert!(prior.after(3, 0).failure > 0.999 && prior.after(3, 3).failure < 0.001, "{prior:?}");
    }

    #[test]
    fn one_probability_for_all_is_recognised_in_those_that_failed_thrice() {
        // Binomial with p = 0.1 and three trials, as it is expected of 1,000 cases.
        let cells = [(0, 729), (1, 243), (2, 27), (3, 1)];
        let prior = Prior::fit(&cells.map(|(successes, cases)| ((3, successes), cases)).into());
        for successes in 0..=3 {
            let success = 1.0 - prior.after(3, successes).failure;
            // Nothing speaks against a little variation.
            assert!((success - 0.1).abs() < 0.03, "{successes}: {success}, {prior:?}");
        }
    }

    /// Trials end after three that are alike; the share of successes would be far too low for small probabilities.
    #[test]
    fn probabilities_are_found_although_trials_end_early() {
        let mut stream = Stream::new(1, "a test of the beta-binomial fit");
        let mut uniform = || stream.below(1 << 24) as f64 / f64::from(1 << 24);
        let (mut of_prior, mut of_share, mut truth) = (0.0, 0.0, 0.0);
        let probabilities: Vec<f64> = (0..4000).map(|_| 0.3 * uniform()).collect();
        let trials: Vec<(u8, u8)> = probabilities
            .iter()
            .map(|&probability| {
                let (mut trials, mut successes) = (0, 0);
                while trials < 8 && (trials < 3 || (0 < successes && successes < trials)) {
                    trials += 1;
                    successes += u8::from(uniform() < probability);
                }
                (trials, successes)
            })
            .collect();
        let prior = Prior::fit(&counts(trials.iter().copied()));
        for (&(trials, successes), probability) in trials.iter().zip(&probabilities) {
            of_prior += 1.0 - prior.after(trials, successes).failure;
            of_share += f64::from(successes) / f64::from(trials);
            truth += probability;
        }
        assert!((of_prior / truth - 1.0).abs() < 0.05, "{of_prior} of {truth}");
        assert!(of_share / truth < 0.8, "{of_share} of {truth}: a test that shows nothing");
    }

    #[test]
    fn moments_are_those_of_a_beta_distribution() {
        // After the uniform distribution and one failure of two trials: density 6 x (1 - x), mean 1/2, E x^2 = 3/10.
        let known = Prior::Beta { alpha: 1.0, beta: 1.0 }.after(2, 1);
        assert!((known.all_fail(1) - 0.5).abs() < 1e-15 && (known.all_fail(2) - 0.3).abs() < 1e-15);
        assert!((known.all_fail(3) - 0.2).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn no_other_beta_distribution_nearby_is_more_likely(
            cells in prop::collection::btree_map((1..9_u8, 0.0..=1.0_f64).prop_map(|(trials, share)| (trials, (f64::from(trials) * share) as u8)), 1..30_u32, 2..12),
        ) {
            if let Prior::Beta { alpha, beta } = Prior::fit(&cells) {
                let found = likelihood(&cells, alpha, beta);
                if alpha + beta < STRENGTH_MAX / 10.0 && alpha > 0.01 && beta > 0.01 {
                    for (by_alpha, by_beta) in [(1.1, 1.0), (0.9, 1.0), (1.0, 1.1), (1.0, 0.9), (1.1, 1.1), (0.9, 0.9)] {
                        let other = likelihood(&cells, alpha * by_alpha, beta * by_beta);
                        prop_assert!(other <= found + 1e-3, "{alpha}, {beta}: {found}, beside it {other}");
                    }
                }
                for (&(trials, successes), _) in &cells {
                    let known = Prior::Beta { alpha, beta }.after(trials, successes);
                    let (once, twice) = (known.all_fail(1), known.all_fail(2));
                    prop_assert_eq!(once, known.failure);
                    prop_assert!((0.0..=1.0).contains(&once) && twice <= once);
                    prop_assert!(twice >= once * once, "a variance is not negative");
                }
            }
        }
    }
}
