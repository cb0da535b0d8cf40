//! Domains: the values that a field of a test case may have, said once, to draw from and to check.

use std::ops::RangeInclusive;

use simutant_random::{Probability, Random};
use simutant_sim_core::{VirtualDuration, VirtualTime};

/// The values that a field of a test case may have.
///
/// Ranges are domains, of integers, instants and durations:
///
/// ```
/// use std::ops::RangeInclusive;
///
/// use simutant_sim_core::{Probability, Random, VirtualDuration};
/// use simutant_system::{Domain, Lengths, Probabilities};
///
/// const SERVERS: RangeInclusive<u32> = 1..=5;
/// const LATENCY: RangeInclusive<VirtualDuration> = VirtualDuration::ZERO..=VirtualDuration::from_millis(80);
/// const DROP: Probabilities = Probabilities::up_to(0.3);
/// const REQUESTS: Lengths = Lengths(1..=8);
///
/// let mut random = Random::from_seed(1);
/// let (servers, latency, drop) = (SERVERS.draw(&mut random), LATENCY.draw(&mut random), DROP.draw(&mut random));
/// let requests: Vec<u64> = (0..REQUESTS.draw(&mut random)).map(|_| (0..=9).draw(&mut random)).collect();
/// assert!(SERVERS.check("servers", &servers).is_ok());
/// assert!(LATENCY.check("latency_ns", &latency).is_ok());
/// assert!(DROP.check("drop", &drop).is_ok());
/// assert!(REQUESTS.check("requests", &requests.len()).is_ok());
///
/// let refused = SERVERS.check("servers", &6).unwrap_err();
/// assert_eq!(refused.to_string(), "servers is 6: it must be from 1 to 5");
/// ```
pub trait Domain {
    /// The type of the field's values.
    type Value;

    /// Returns a value, each equally likely.
    ///
    /// # Panics
    /// If there is none.
    fn draw(&self, random: &mut Random) -> Self::Value;

    /// Returns whether a value is in the domain.
    fn admits(&self, value: &Self::Value) -> bool;

    /// Returns what a value must be, for messages: `from 1 to 5`.
    fn allowed(&self) -> String;

    /// Returns a value as a test case's file has it, for messages.
    fn written(&self, value: &Self::Value) -> String;

    /// Checks the value of a field.
    ///
    /// ```
    /// use simutant_sim_core::VirtualDuration;
    /// use simutant_system::Domain;
    ///
    /// let timeout = VirtualDuration::from_millis(1)..=VirtualDuration::from_millis(50);
    /// assert!(timeout.check("timeout_ns", &VirtualDuration::from_millis(50)).is_ok());
    /// let refused = timeout.check("timeout_ns", &VirtualDuration::from_millis(51)).unwrap_err();
    /// assert_eq!(refused.to_string(), "timeout_ns is 51000000: it must be from 1000000 to 50000000, in nanoseconds");
    /// ```
    ///
    /// # Errors
    /// [`InvalidTestCase`] if it is not in the domain.
    fn check(&self, field: impl Into<String>, value: &Self::Value) -> Result<(), InvalidTestCase> {
        match self.admits(value) {
            true => Ok(()),
            false => Err(InvalidTestCase::new(field, self.written(value), self.allowed())),
        }
    }
}

/// A test case outside the input domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}: it must be {allowed}")]
pub struct InvalidTestCase {
    /// The field, as the file has it, for example `requests[2].a`.
    pub field: String,
    /// Its value.
    pub value: String,
    /// What it may be, for example `from 1 to 335760`.
    pub allowed: String,
}

impl InvalidTestCase {
    /// Returns the refusal of a field's value, with what it may be.
    pub fn new(field: impl Into<String>, value: impl ToString, allowed: impl Into<String>) -> Self {
        Self { field: field.into(), value: value.to_string(), allowed: allowed.into() }
    }

    /// Returns this refusal with what decides what the field may be, for example `for a ring`.
    ///
    /// ```
    /// use simutant_system::{Domain, InvalidTestCase};
    ///
    /// /// A ring needs three components, whatever else is allowed.
    /// fn check(shape: &str, components: u32) -> Result<(), InvalidTestCase> {
    ///     let allowed = if shape == "ring" { 3..=9 } else { 1..=9 };
    ///     allowed.check("components", &components).map_err(|refused| refused.given(format_args!("for a {shape}")))
    /// }
    ///
    /// assert!(check("line", 2).is_ok());
    /// assert_eq!(check("ring", 2).unwrap_err().to_string(), "components is 2: it must be from 3 to 9 for a ring");
    /// ```
    #[must_use]
    pub fn given(self, condition: impl std::fmt::Display) -> Self {
        Self { allowed: format!("{} {condition}", self.allowed), ..self }
    }
}

impl<T: Point> Domain for RangeInclusive<T> {
    type Value = T;

    fn draw(&self, random: &mut Random) -> T {
        T::draw(*self.start(), *self.end(), random)
    }

    fn admits(&self, value: &T) -> bool {
        self.contains(value)
    }

    fn allowed(&self) -> String {
        format!("from {} to {}{}", self.start().written(), self.end().written(), T::UNIT)
    }

    fn written(&self, value: &T) -> String {
        value.written()
    }
}

/// A value of which a range is a domain: an integer, an instant, a duration.
pub trait Point: Copy + PartialOrd {
    /// The unit that messages add to a range, for example `, in nanoseconds`.
    const UNIT: &'static str;

    /// Returns a value from `first` to `last`, each equally likely.
    fn draw(first: Self, last: Self, random: &mut Random) -> Self;

    /// Returns the value as a test case's file has it.
    fn written(self) -> String;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Point for $integer {
            const UNIT: &'static str = "";

            fn draw(first: Self, last: Self, random: &mut Random) -> Self {
                random.uniform(first..=last)
            }

            fn written(self) -> String {
                self.to_string()
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64, usize);

macro_rules! virtual_times {
    ($($time:ty),*) => {$(
        impl Point for $time {
            const UNIT: &'static str = ", in nanoseconds";

            fn draw(first: Self, last: Self, random: &mut Random) -> Self {
                Self::from_nanos(random.uniform(first.as_nanos()..=last.as_nanos()))
            }

            fn written(self) -> String {
                self.as_nanos().to_string()
            }
        }
    )*};
}

virtual_times!(VirtualTime, VirtualDuration);

/// The probabilities from 0 to a greatest one. They are drawn in steps of 0.0001, so that people can read and write
/// test cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probabilities {
    max: f64,
}

impl Probabilities {
    /// Returns the probabilities from 0 to `max`.
    ///
    /// # Panics
    /// If `max` is not a probability: below 0, above 1, or not a number.
    pub const fn up_to(max: f64) -> Self {
        assert!(max >= 0.0 && max <= 1.0, "the greatest probability is one");
        Self { max }
    }

    /// Returns the greatest one.
    pub const fn max(self) -> f64 {
        self.max
    }

    /// Returns 0 with a probability of one half, and otherwise one of the hundredths from 0.01 to the greatest
    /// probability, each equally likely: for what half of the test cases are to be without, as losses.
    ///
    /// ```
    /// use simutant_sim_core::Random;
    /// use simutant_system::Probabilities;
    ///
    /// let mut random = Random::from_seed(1);
    /// let drop = Probabilities::up_to(0.05);
    /// let drawn: Vec<f64> = (0..1_000).map(|_| drop.draw_hundredths(&mut random).get()).collect();
    /// // Half of the links lose nothing.
    /// let without = drawn.iter().filter(|probability| **probability == 0.0).count();
    /// assert!((450..550).contains(&without));
    /// assert!(drawn.contains(&0.01) && drawn.contains(&0.05));
    /// ```
    pub fn draw_hundredths(self, random: &mut Random) -> Probability {
        // What is a hundredth but for rounding is one.
        let most = (self.max * 100.0 + 1e-9) as u32;
        let is_without = random.uniform(0..2_u8) == 0;
        let hundredths = if is_without || most == 0 { 0 } else { random.uniform(1..=most) };
        Probability::new(f64::from(hundredths) / 100.0).expect("a share of a probability is a probability")
    }
}

impl Domain for Probabilities {
    type Value = Probability;

    fn draw(&self, random: &mut Random) -> Probability {
        const STEPS: f64 = 10_000.0;
        let value = f64::from(random.uniform(0..=(self.max * STEPS) as u32)) / STEPS;
        Probability::new(value).expect("a share of a probability is a probability")
    }

    fn admits(&self, value: &Probability) -> bool {
        value.get() <= self.max
    }

    fn allowed(&self) -> String {
        format!("from 0 to {}", self.max)
    }

    fn written(&self, value: &Probability) -> String {
        value.to_string()
    }
}

/// The allowed lengths of a list.
///
/// ```
/// use simutant_system::{Domain, Lengths};
///
/// let requests = ["GET", "PUT", "GET"];
/// let refused = Lengths(0..=2).check("requests", &requests.len()).unwrap_err();
/// assert_eq!(refused.to_string(), "requests is a list of 3: it must be a list of at most 2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lengths(pub RangeInclusive<usize>);

impl Domain for Lengths {
    type Value = usize;

    fn draw(&self, random: &mut Random) -> usize {
        self.0.draw(random)
    }

    fn admits(&self, length: &usize) -> bool {
        self.0.contains(length)
    }

    fn allowed(&self) -> String {
        match (self.0.start(), self.0.end()) {
            (0, last) => format!("a list of at most {last}"),
            (first, last) if first == last => format!("a list of {last}"),
            (first, last) => format!("a list of {first} to {last}"),
        }
    }

    fn written(&self, length: &usize) -> String {
        format!("a list of {length}")
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use proptest::prelude::*;

    use super::*;

    /// Checks that what is drawn is admitted, and what lies beyond is refused with a message.
    #[track_caller]
    fn check<D: Domain<Value: Debug> + Debug>(domain: D, beyond: Option<D::Value>, message: &str) {
        let mut random = Random::from_seed(1);
        for _ in 0..200 {
            let value = domain.draw(&mut random);
            assert_eq!(domain.check("field", &value), Ok(()), "{value:?} of {domain:?}");
        }
        if let Some(beyond) = beyond {
            assert_eq!(domain.check("field", &beyond).expect_err("it is beyond").to_string(), message);
        }
    }

    #[test]
    fn what_lies_beyond_is_refused() {
        let (second, millisecond) = (VirtualDuration::from_secs(1), VirtualDuration::from_millis(1));
        check(-2..=3_i32, Some(4), "field is 4: it must be from -2 to 3");
        check(
            millisecond..=second,
            Some(VirtualDuration::from_secs(2)),
            "field is 2000000000: it must be from 1000000 to 1000000000, in nanoseconds",
        );
        check(
            VirtualTime::ZERO..=VirtualTime::from_nanos(7),
            Some(VirtualTime::from_nanos(8)),
            "field is 8: it must be from 0 to 7, in nanoseconds",
        );
        let half = Probability::new(0.5).expect("it is one");
        check(Probabilities::up_to(0.2), Some(half), "field is 0.5: it must be from 0 to 0.2");
        check(Probabilities::up_to(1.0), None, "");
        check(Lengths(0..=4), Some(5), "field is a list of 5: it must be a list of at most 4");
        check(Lengths(3..=3), Some(0), "field is a list of 0: it must be a list of 3");
        check(Lengths(1..=3), Some(0), "field is a list of 0: it must be a list of 1 to 3");
    }

    #[test]
    fn half_of_the_hundredths_are_none_and_the_others_go_up_to_the_greatest() {
        #[track_caller]
        fn check(max: f64, most: u32) {
            let (mut random, mut none) = (Random::from_seed(1), 0);
            let mut drawn = std::collections::BTreeSet::new();
            for _ in 0..4_000 {
                let probability = Probabilities::up_to(max).draw_hundredths(&mut random).get();
                drawn.insert((probability * 100.0).round() as u32);
                none += u32::from(probability == 0.0);
            }
            assert!(drawn.into_iter().eq(0..=most), "{max}");
            // Five standard deviations of a binomial(4000, 1/2) are 158.
            assert!(most == 0 || none.abs_diff(2_000) < 159, "{max}: {none}");
        }
        check(0.3, 30);
        check(0.29, 29);
        check(0.015, 1);
        check(0.009, 0);
    }

    proptest! {
        #[test]
        fn a_range_draws_each_of_its_values_and_admits_no_other(first in -4..4_i8, more in 0..4_i8, other: i8) {
            let domain = first..=first + more;
            let mut random = Random::from_seed(1);
            let drawn: std::collections::BTreeSet<i8> = (0..400).map(|_| domain.draw(&mut random)).collect();
            prop_assert!(drawn.iter().copied().eq(domain.clone()));
            prop_assert_eq!(domain.admits(&other), drawn.contains(&other));
        }
    }
}
