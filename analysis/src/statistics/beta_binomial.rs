//! Probabilities that vary from case to case, known from a few trials each: binomial counts whose probability has a
//! beta distribution (Skellam, "A probability distribution derived from the binomial distribution by regarding the
//! probability of success as variable between the sets of trials", J. R. Stat. Soc. B 10, 1948).

/// What is believed of the probability of a success before the trials: a beta distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// The expected probability, strictly between 0 and 1.
    pub mean: f64,
    /// How many trials it is worth, above 0.
    pub strength: f64,
}

/// What is known of the probability of a failure: a beta distribution, or a certainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posterior {
    /// The expected probability of a failure.
    pub failure: f64,
    /// How many trials it is worth; infinite for a certainty.
    pub strength: f64,
}

impl Prior {
    /// Returns what is known after some trials. When trials end may depend on what they came to: it makes no
    /// difference to this.
    ///
    /// # Panics
    /// If there are more successes than trials.
    pub fn after(self, trials: u8, successes: u8) -> Posterior {
        let failures = trials.checked_sub(successes).expect("no more successes than trials");
        let strength = self.strength + f64::from(trials);
        Posterior { failure: (self.strength * (1.0 - self.mean) + f64::from(failures)) / strength, strength }
    }

    /// Returns the probability that these trials came as they did, in one of their orders.
    pub fn likelihood(self, trials: u8, successes: u8) -> f64 {
        let rise = |from: f64, steps: u8| -> f64 { (0..steps).map(|step| from + f64::from(step)).product() };
        let (of_success, of_failure) = (self.strength * self.mean, self.strength * (1.0 - self.mean));
        rise(of_success, successes) * rise(of_failure, trials - successes) / rise(self.strength, trials)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_certain_stays_so() {
        assert_eq!([1, 2, 9].map(|trials| Posterior::certain(false).all_fail(trials)), [1.0; 3]);
        assert_eq!([1, 2, 9].map(|trials| Posterior::certain(true).all_fail(trials)), [0.0; 3]);
    }

    #[test]
    fn moments_are_those_of_a_beta_distribution() {
        // After the uniform distribution and one failure of two trials: density 6 x (1 - x), mean 1/2, E x^2 = 3/10.
        let known = Prior { mean: 0.5, strength: 2.0 }.after(2, 1);
        assert!((known.all_fail(1) - 0.5).abs() < 1e-15 && (known.all_fail(2) - 0.3).abs() < 1e-15);
        assert!((known.all_fail(3) - 0.2).abs() < 1e-15);
    }

    proptest! {
        #[test]
        fn the_likelihoods_of_all_counts_add_up(mean in 0.01..0.99_f64, strength in 0.1..300.0_f64, trials in 0..10_u8) {
            let prior = Prior { mean, strength };
            let choose = |of: u8, many: u8| (0..many).fold(1.0, |product, step| product * f64::from(of - step) / f64::from(step + 1));
            let sum: f64 = (0..=trials).map(|successes| choose(trials, successes) * prior.likelihood(trials, successes)).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9, "{}", sum);
            for successes in 0..=trials {
                let known = prior.after(trials, successes);
                let (once, twice) = (known.all_fail(1), known.all_fail(2));
                prop_assert!((0.0..=1.0).contains(&once) && twice <= once);
                prop_assert!(twice >= once * once - 1e-12, "a variance is not negative");
            }
        }
    }
}
