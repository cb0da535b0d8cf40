//! Tails and quantiles of the distributions, and which tail a test asks for.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};
use statrs::function::erf::erfc;

/// What a test of "no difference" is held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alternative {
    /// The first is lower.
    Less,
    /// The first is higher.
    Greater,
    /// One of them is higher.
    TwoSided,
}

/// How a p-value came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// From the distribution of the statistic over all ways in which chance could have dealt the values that there are.
    Exact,
    /// From the distribution that the statistic nears as the samples grow.
    Asymptotic,
}

impl Alternative {
    /// Returns the same about the second sample.
    pub(super) fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::Greater => Self::Less,
            Self::TwoSided => Self::TwoSided,
        }
    }

    /// Returns the p-value of a statistic that deviates by `difference` from what is expected without an effect, with
    /// the standard deviation `sd`: normal, `continuity` taken off the difference.
    pub(super) fn normal_p(self, difference: f64, sd: f64, continuity: f64) -> f64 {
        let tail = |difference: f64| upper_tail((difference - continuity) / sd);
        match self {
            Self::Greater => tail(difference),
            Self::Less => tail(-difference),
            Self::TwoSided => (2.0 * tail(difference.abs())).min(1.0),
        }
    }

    /// Returns the p-value of a discrete statistic that is at most, and at least, what was found with these
    /// probabilities; both sides together are twice the smaller one, at most 1.
    pub(super) fn exact_p(self, at_most: f64, at_least: f64) -> f64 {
        let p = match self {
            Self::Less => at_most,
            Self::Greater => at_least,
            Self::TwoSided => 2.0 * at_most.min(at_least),
        };
        p.min(1.0)
    }
}

/// Returns the probability that a standard normal variable is at least `z`: `1 - Phi(z)`.
pub fn upper_tail(z: f64) -> f64 {
    0.5 * erfc(z / std::f64::consts::SQRT_2)
}

/// Returns the `z` that a standard normal variable is at most with probability `p`, between 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    Normal::standard().inverse_cdf(p)
}

/// Returns the probability that a chi-squared variable of `freedom` degrees is at least `x`.
///
/// # Panics
/// If `freedom` is not above 0.
pub fn chi_squared_tail(x: f64, freedom: f64) -> f64 {
    ChiSquared::new(freedom).expect("degrees of freedom are above 0").sf(x)
}

/// Returns the probability that a variable of Student's distribution of `freedom` degrees is at least `t`.
///
/// # Panics
/// If `freedom` is not above 0.
pub fn student_tail(t: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom are above 0").sf(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_sides_are_never_more_than_certain() {
        assert_eq!(Alternative::TwoSided.normal_p(0.0, 1.0, 0.5), 1.0);
        assert_eq!(Alternative::TwoSided.exact_p(0.6, 0.7), 1.0);
        assert_eq!(Alternative::Greater.exact_p(0.6, 0.7), 0.7);
    }
}
