//! How long packets are on their way.

use serde::{Deserialize, Serialize};
use simutant_random::portable;

use super::InvalidNetwork;
use super::draws::{Draws, Lane};
use super::invalid::Field;
use crate::VirtualDuration;

/// The latency of a packet: one duration, or a distribution of durations.
///
/// Each copy of a packet draws its own, so packets overtake each other if it varies. A distribution with real
/// parameters is drawn by inversion of one uniform number, with arithmetic that gives the same bits on every platform,
/// and rounded to the nearest nanosecond. What it gives below 0 becomes 0, and what it gives above `max` becomes `max`:
/// the ends of the range can so be more likely than what is next to them.
///
/// ```
/// use simutant_sim_core::network::{Fate, Fates};
/// use simutant_sim_core::{Latency, Link, VirtualDuration, VirtualTime};
///
/// // A heavy tail, of which nothing is above a second.
/// let (min, max) = (VirtualDuration::from_millis(2), VirtualDuration::from_secs(1));
/// let latency = Latency::Pareto { min, shape: 1.5, max: Some(max) };
/// let mut fates = Fates::new(&Link { latency, ..Link::default() }, 7, "client")?;
/// for _ in 0..100 {
///     let Fate::Delivered(arrival) = fates.draw(VirtualTime::ZERO, 0) else { panic!("the link loses nothing") };
///     assert!((min..=max).contains(&arrival.after));
/// }
/// # Ok::<(), simutant_sim_core::InvalidNetwork>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Latency {
    /// Always the same.
    #[serde(rename = "constant_ns")]
    Constant(VirtualDuration),
    /// Each nanosecond from the shortest to the longest equally likely.
    Uniform {
        /// The shortest.
        #[serde(rename = "min_ns")]
        min: VirtualDuration,
        /// The longest.
        #[serde(rename = "max_ns")]
        max: VirtualDuration,
    },
    /// The exponential distribution: short ones are the most likely, and the past says nothing about the rest.
    Exponential {
        /// The mean of the distribution, before `max` cuts it off.
        #[serde(rename = "mean_ns")]
        mean: VirtualDuration,
        /// The longest, if there is one.
        #[serde(rename = "max_ns", default)]
        max: Option<VirtualDuration>,
    },
    /// The normal distribution.
    Normal {
        /// The mean of the distribution, before 0 and `max` cut it off.
        #[serde(rename = "mean_ns")]
        mean: VirtualDuration,
        /// The standard deviation.
        #[serde(rename = "standard_deviation_ns")]
        standard_deviation: VirtualDuration,
        /// The longest, if there is one.
        #[serde(rename = "max_ns", default)]
        max: Option<VirtualDuration>,
    },
    /// The Pareto distribution: a heavy tail. Longer than `x` is drawn with probability `(min / x)^shape`.
    Pareto {
        /// The shortest, which is also the most likely.
        #[serde(rename = "min_ns")]
        min: VirtualDuration,
        /// How fast the tail falls off, above 0. Without `max`, the mean is infinite for 1 and below.
        shape: f64,
        /// The longest, if there is one.
        #[serde(rename = "max_ns", default)]
        max: Option<VirtualDuration>,
    },
    /// One of these, as they were measured, each equally likely. What is listed twice is twice as likely.
    #[serde(rename = "empirical_ns")]
    Empirical(Vec<VirtualDuration>),
}

impl Latency {
    pub(super) fn validate(&self, field: &Field<'_>) -> Result<(), InvalidNetwork> {
        match self {
            Self::Constant(latency) => validate_finite(&field.child("constant_ns"), *latency),
            Self::Uniform { min, max } => {
                let field = field.child("uniform");
                validate_finite(&field.child("max_ns"), *max)?;
                validate_order(&field, *min, Some(*max))
            }
            Self::Exponential { mean, max } => {
                let field = field.child("exponential");
                validate_finite(&field.child("mean_ns"), *mean)?;
                validate_max(&field, *max)
            }
            Self::Normal { mean, standard_deviation, max } => {
                let field = field.child("normal");
                validate_finite(&field.child("mean_ns"), *mean)?;
                validate_finite(&field.child("standard_deviation_ns"), *standard_deviation)?;
                validate_max(&field, *max)
            }
            Self::Pareto { min, shape, max } => {
                let field = field.child("pareto");
                if *min == VirtualDuration::ZERO {
                    return Err(field.child("min_ns").refuse(0, "at least 1"));
                }
                validate_finite(&field.child("min_ns"), *min)?;
                if !shape.is_finite() || *shape <= 0.0 {
                    return Err(field.child("shape").refuse(shape, "a finite number above 0"));
                }
                validate_max(&field, *max)?;
                validate_order(&field, *min, *max)
            }
            Self::Empirical(latencies) => {
                let field = field.child("empirical_ns");
                if latencies.is_empty() {
                    return Err(field.refuse("[]", "a list of at least one latency"));
                }
                let mut each = latencies.iter().enumerate();
                each.try_for_each(|(index, latency)| validate_finite(&field.element(index), *latency))
            }
        }
    }

    /// Returns whether it is plain that there is one length only.
    pub(super) fn is_constant(&self) -> bool {
        match self {
            Self::Constant(_) => true,
            Self::Uniform { min, max } => min == max,
            Self::Empirical(latencies) => latencies.len() == 1,
            Self::Exponential { .. } | Self::Normal { .. } | Self::Pareto { .. } => false,
        }
    }

    /// Returns the latency at a place of a packet's sequence.
    #[inline]
    pub(super) fn draw(&self, draws: Draws, lane: Lane) -> VirtualDuration {
        match self {
            Self::Constant(latency) => *latency,
            Self::Uniform { min, max } => draws.duration(lane, *min, *max),
            _ => self.draw_by_inversion(draws, lane),
        }
    }

    fn draw_by_inversion(&self, draws: Draws, lane: Lane) -> VirtualDuration {
        // The logarithm of a number that is equally likely anywhere from 0 to 1 is, negated, exponentially distributed.
        let exponential = || -portable::ln(draws.open_unit(lane));
        match self {
            Self::Constant(_) | Self::Uniform { .. } => unreachable!("it is drawn with integers"),
            Self::Exponential { mean, max } => rounded(nanos(*mean) * exponential(), *max),
            Self::Normal { mean, standard_deviation, max } => {
                let deviation = portable::normal_quantile(draws.open_unit(lane));
                rounded(nanos(*mean) + nanos(*standard_deviation) * deviation, *max)
            }
            Self::Pareto { min, shape, max } => {
                // Rounding must not go below the shortest, which may have more digits than a real number holds.
                rounded(nanos(*min) * portable::exp(exponential() / shape), *max).max(*min)
            }
            Self::Empirical(latencies) => latencies[draws.up_to(lane, latencies.len() as u64 - 1) as usize],
        }
    }
}

/// One millisecond.
impl Default for Latency {
    fn default() -> Self {
        Self::Constant(VirtualDuration::from_millis(1))
    }
}

fn nanos(duration: VirtualDuration) -> f64 {
    duration.as_nanos() as f64
}

/// Returns the nearest duration from 0 to `max`; what is too long to be one is [`VirtualDuration::MAX`].
fn rounded(nanos: f64, max: Option<VirtualDuration>) -> VirtualDuration {
    VirtualDuration::from_nanos((nanos + 0.5) as u64).min(max.unwrap_or(VirtualDuration::MAX))
}

/// The longest duration is where what saturates ends: it stands for what never ends.
fn validate_finite(field: &Field<'_>, duration: VirtualDuration) -> Result<(), InvalidNetwork> {
    if duration < VirtualDuration::MAX {
        return Ok(());
    }
    Err(field.refuse(duration.as_nanos(), format_args!("below {}, which stands for infinity", duration.as_nanos())))
}

fn validate_max(field: &Field<'_>, max: Option<VirtualDuration>) -> Result<(), InvalidNetwork> {
    max.map_or(Ok(()), |max| validate_finite(&field.child("max_ns"), max))
}

fn validate_order(field: &Field<'_>, min: VirtualDuration, max: Option<VirtualDuration>) -> Result<(), InvalidNetwork> {
    match max {
        Some(max) if min > max => Err(field
            .child("min_ns")
            .refuse(min.as_nanos(), format_args!("at most max_ns, which is {}", max.as_nanos()))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, Exp, Normal, Pareto, Uniform};

    use super::*;

    const DRAWS: u64 = 20_000;
    const MILLI: VirtualDuration = VirtualDuration::from_millis(1);

    fn draw_all(latency: &Latency, seed: u64) -> Vec<u64> {
        latency.validate(&Field::root("latency")).expect("it is valid");
        (0..DRAWS).map(|number| latency.draw(Draws::new(seed, number), Lane::Latency).as_nanos()).collect()
    }

    /// Checks the draws against a distribution function by the test of Kolmogorov and Smirnov.
    ///
    /// The distance of n draws is above 1.9495 / sqrt(n) with a probability of 0.001.
    #[track_caller]
    fn check_distribution(latency: &Latency, cumulative: impl Fn(f64) -> f64) {
        let mut drawn = draw_all(latency, 17);
        drawn.sort_unstable();
        let mut distance = 0.0_f64;
        for (index, &nanos) in drawn.iter().enumerate() {
            let expect = cumulative(nanos as f64);
            distance = distance.max((index as f64 / DRAWS as f64 - expect).abs());
            distance = distance.max(((index + 1) as f64 / DRAWS as f64 - expect).abs());
        }
        assert!(distance < 1.9495 / (DRAWS as f64).sqrt(), "{distance}");
    }

    #[test]
    fn uniform_latencies_are_uniform() {
        let uniform = Uniform::new(1e6, 3e6).expect("a distribution");
        check_distribution(&Latency::Uniform { min: MILLI, max: MILLI * 3 }, |nanos| uniform.cdf(nanos));
    }

    #[test]
    fn exponential_latencies_are_exponential() {
        let exponential = Exp::new(1.0 / 4e6).expect("a distribution");
        check_distribution(&Latency::Exponential { mean: MILLI * 4, max: None }, |nanos| exponential.cdf(nanos));
    }

    #[test]
    fn normal_latencies_are_normal() {
        let normal = Normal::new(8e6, 1e6).expect("a distribution");
        let latency = Latency::Normal { mean: MILLI * 8, standard_deviation: MILLI, max: None };
        check_distribution(&latency, |nanos| normal.cdf(nanos));
    }

    #[test]
    fn pareto_latencies_have_the_tail_of_pareto() {
        for shape in [0.7, 1.5, 3.0] {
            let pareto = Pareto::new(2e6, shape).expect("a distribution");
            check_distribution(&Latency::Pareto { min: MILLI * 2, shape, max: None }, |nanos| pareto.cdf(nanos));
        }
    }

    #[test]
    fn empirical_latencies_are_as_likely_as_they_are_listed() {
        let drawn = draw_all(&Latency::Empirical(vec![MILLI, MILLI * 5, MILLI, MILLI * 2]), 17);
        let count = |latency: VirtualDuration| drawn.iter().filter(|nanos| **nanos == latency.as_nanos()).count();
        // Four standard deviations of the binomial distributions.
        assert!(count(MILLI).abs_diff(10_000) < 283, "{}", count(MILLI));
        assert!(count(MILLI * 5).abs_diff(5_000) < 245, "{}", count(MILLI * 5));
        assert!(count(MILLI * 2).abs_diff(5_000) < 245, "{}", count(MILLI * 2));
        assert_eq!(count(MILLI) + count(MILLI * 5) + count(MILLI * 2), DRAWS as usize);
    }

    #[test]
    fn what_is_cut_off_is_at_the_end_of_the_range() {
        let drawn = draw_all(&Latency::Normal { mean: MILLI, standard_deviation: MILLI, max: Some(MILLI * 2) }, 3);
        let count = |nanos| drawn.iter().filter(|drawn| **drawn == nanos).count();
        // Below the mean by more than a standard deviation, and above it, are 15.87 % each.
        assert!(count(0).abs_diff(3_173) < 207, "{}", count(0));
        assert!(count(2_000_000).abs_diff(3_173) < 207, "{}", count(2_000_000));
        assert_eq!(drawn.iter().max(), Some(&2_000_000));
        for latency in [
            Latency::Exponential { mean: MILLI, max: Some(MILLI) },
            Latency::Pareto { min: MILLI / 2, shape: 1.0, max: Some(MILLI) },
        ] {
            assert_eq!(draw_all(&latency, 4).into_iter().max(), Some(1_000_000));
        }
    }

    #[test]
    fn rounding_does_not_go_below_the_shortest() {
        // A real number cannot hold this one.
        let min = VirtualDuration::from_nanos((1 << 60) + 1);
        assert_eq!(
            draw_all(&Latency::Pareto { min, shape: 1e300, max: None }, 5).into_iter().min(),
            Some(min.as_nanos())
        );
    }

    #[test]
    fn another_parameter_keeps_the_order_of_the_draws() {
        let draw = |mean: u64| draw_all(&Latency::Exponential { mean: MILLI * mean, max: None }, 8);
        for (short, long) in draw(1).into_iter().zip(draw(2)) {
            assert!((2 * short).abs_diff(long) <= 1, "{short}, {long}");
        }
    }

    #[test]
    fn draws_never_change() {
        let draw = |latency: Latency| latency.draw(Draws::new(1, 2), Lane::Latency).as_nanos();
        let drawn = [
            draw(Latency::Uniform { min: MILLI, max: MILLI * 3 }),
            draw(Latency::Exponential { mean: MILLI, max: None }),
            draw(Latency::Normal { mean: MILLI * 9, standard_deviation: MILLI, max: None }),
            draw(Latency::Pareto { min: MILLI, shape: 1.5, max: None }),
        ];
        // Computed by another program, with the functions of its platform.
        assert_eq!(drawn, [1_054_602, 3_600_823, 7_077_974, 11_029_227]);
    }
}
