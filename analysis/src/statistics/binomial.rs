//! Whether a share is what it was expected to be: the exact binomial test.

use statrs::function::factorial::ln_binomial;

use super::Alternative;

/// Two probabilities that differ by less than this factor are equal but for rounding.
pub(super) const ROUNDING: f64 = 1.0 + 1e-7;

/// Returns the p-value of `successes` in `of` trials if each succeeds with `probability`; a two-sided one adds up all
/// counts that are no more probable than what was found (the method of small p-values, as in R and SciPy). 1 for no
/// trials.
///
/// Cost O(trials).
///
/// # Panics
/// If there are more successes than trials, or the probability is not one.
pub fn binomial_test(successes: usize, of: usize, probability: f64, alternative: Alternative) -> f64 {
    assert!(successes <= of, "{successes} successes in {of} trials");
    assert!((0.0..=1.0).contains(&probability), "{probability} is not a probability");
    let mass = |count: usize| -> f64 {
        // 0 * ln 0 is 0 here: what cannot happen did not have to.
        let power = |times: usize, probability: f64| if times == 0 { 0.0 } else { times as f64 * probability.ln() };
        (ln_binomial(of as u64, count as u64) + power(count, probability) + power(of - count, 1.0 - probability)).exp()
    };
    let p: f64 = match alternative {
        Alternative::Less => (0..=successes).map(mass).sum(),
        Alternative::Greater => (successes..=of).map(mass).sum(),
        Alternative::TwoSided => {
            let found = mass(successes) * ROUNDING;
            (0..=of).map(mass).filter(|mass| *mass <= found).sum()
        }
    };
    p.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certain_and_impossible_successes() {
        assert_eq!(binomial_test(0, 0, 0.3, Alternative::TwoSided), 1.0);
        assert_eq!(binomial_test(5, 5, 1.0, Alternative::TwoSided), 1.0);
        assert_eq!(binomial_test(4, 5, 1.0, Alternative::TwoSided), 0.0);
        assert_eq!(binomial_test(1, 5, 0.0, Alternative::Greater), 0.0);
    }
}
