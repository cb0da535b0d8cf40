//! A probability that is known to be one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A number in `[0, 1]`, checked when it is made; serde checks it too, and writes it as the plain number.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Probability(f64);

/// A number that is no probability.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{value} is not a probability: give a number from 0 to 1")]
pub struct InvalidProbability {
    /// The number.
    pub value: f64,
}

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);
    /// Always.
    pub const ONE: Self = Self(1.0);

    /// Returns `value` as a probability.
    ///
    /// ```
    /// use simutant_random::Probability;
    ///
    /// assert_eq!(Probability::new(0.25)?.get(), 0.25);
    /// let error = Probability::new(25.0).expect_err("this is a percentage");
    /// assert_eq!(error.to_string(), "25 is not a probability: give a number from 0 to 1");
    /// # Ok::<(), simutant_random::InvalidProbability>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidProbability`] if it is below 0, above 1, or not a number.
    pub const fn new(value: f64) -> Result<Self, InvalidProbability> {
        // Adding zero turns -0 into 0, so that equal probabilities have equal texts.
        if value >= 0.0 && value <= 1.0 { Ok(Self(value + 0.0)) } else { Err(InvalidProbability { value }) }
    }

    /// Returns the number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Probability {
    type Error = InvalidProbability;

    fn try_from(value: f64) -> Result<Self, InvalidProbability> {
        Self::new(value)
    }
}

impl From<Probability> for f64 {
    fn from(probability: Probability) -> Self {
        probability.0
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, expect: Option<f64>) {
        assert_eq!(Probability::new(value).ok().map(Probability::get), expect);
    }

    #[test]
    fn only_numbers_from_0_to_1_are_probabilities() {
        check(0.0, Some(0.0));
        check(1.0, Some(1.0));
        check(0.25, Some(0.25));
        check(-f64::MIN_POSITIVE, None);
        check(1.0 + f64::EPSILON, None);
        check(f64::NAN, None);
        check(f64::INFINITY, None);
    }

    #[test]
    fn serde_refuses_what_is_no_probability() {
        let error = serde_json::from_str::<Probability>("1.5").expect_err("1.5 is no probability");
        assert!(error.to_string().starts_with("1.5 is not a probability: give a number from 0 to 1"), "{error}");
        assert_eq!(serde_json::from_str::<Probability>("0.5").expect("0.5 is one").get(), 0.5);
        assert_eq!(serde_json::to_string(&Probability::new(-0.0).expect("it is zero")).expect("a number"), "0.0");
    }
}
