//! The network: what becomes of a packet.

use serde::{Deserialize, Serialize};

use crate::{Probability, Random, VirtualDuration};

/// How the network treats every packet alike (Rutherford, PhD thesis, sections 3.1.1 and 4.1.1.1).
///
/// It is a value: a test case can hold one. The default loses and duplicates nothing and takes one millisecond.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// How long a packet is on its way. Each copy draws its own, so packets overtake each other if it varies.
    pub latency: Latency,
    /// The probability that a packet is lost.
    #[serde(default)]
    pub drop: Probability,
    /// The probability that a packet which is not lost arrives twice.
    #[serde(default)]
    pub duplicate: Probability,
}

/// How long a packet is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
}

/// A network that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNetwork {
    /// The range of latencies is empty; swap its ends.
    #[error("latency: min ({min}) is above max ({max}): swap them")]
    LatencyRangeEmpty {
        /// The shortest latency.
        min: VirtualDuration,
        /// The longest latency.
        max: VirtualDuration,
    },
}

impl Network {
    /// Returns a network without loss and duplication in which every packet takes `latency`.
    pub fn constant(latency: VirtualDuration) -> Self {
        Self { latency: Latency::Constant(latency), ..Self::default() }
    }

    /// Checks what the types of the fields leave open.
    ///
    /// # Errors
    /// [`InvalidNetwork`] names the field and the cure.
    pub fn validate(&self) -> Result<(), InvalidNetwork> {
        match self.latency {
            Latency::Uniform { min, max } if min > max => Err(InvalidNetwork::LatencyRangeEmpty { min, max }),
            Latency::Uniform { .. } | Latency::Constant(_) => Ok(()),
        }
    }

    /// Decides what becomes of one packet: the only place where that is decided.
    pub(crate) fn fate(&self, random: &mut Random) -> Fate {
        if random.chance(self.drop) {
            return Fate::Dropped;
        }
        if random.chance(self.duplicate) {
            return Fate::Duplicated { after: self.latency.draw(random), copy_after: self.latency.draw(random) };
        }
        Fate::Delivered { after: self.latency.draw(random) }
    }
}

impl Latency {
    fn draw(self, random: &mut Random) -> VirtualDuration {
        match self {
            Self::Constant(latency) => latency,
            Self::Uniform { min, max } => VirtualDuration::from_nanos(random.uniform(min.as_nanos()..=max.as_nanos())),
        }
    }
}

/// One millisecond.
impl Default for Latency {
    fn default() -> Self {
        Self::Constant(VirtualDuration::from_millis(1))
    }
}

/// What becomes of a packet. Durations count from the sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Dropped,
    Delivered { after: VirtualDuration },
    Duplicated { after: VirtualDuration, copy_after: VirtualDuration },
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: VirtualDuration = VirtualDuration::from_millis(1);

    /// Counts the fates of 100,000 packets: dropped, delivered once, delivered twice.
    fn fates(drop: f64, duplicate: f64) -> [u32; 3] {
        let probability = |value| Probability::new(value).expect("it is one");
        let network = Network {
            latency: Latency::Uniform { min: MILLI, max: MILLI * 3 },
            drop: probability(drop),
            duplicate: probability(duplicate),
        };
        let mut random = Random::from_seed(11);
        let mut counts = [0; 3];
        for _ in 0..100_000 {
            let index = match network.fate(&mut random) {
                Fate::Dropped => 0,
                Fate::Delivered { after } => {
                    assert!((MILLI..=MILLI * 3).contains(&after), "{after}");
                    1
                }
                Fate::Duplicated { .. } => 2,
            };
            counts[index] += 1;
        }
        counts
    }

    #[test]
    fn duplication_is_of_packets_that_were_not_dropped() {
        let [dropped, once, twice] = fates(0.2, 0.1);
        // Four standard deviations of the binomial distributions about 20,000 and 8,000.
        assert!((19_494..=20_506).contains(&dropped), "{dropped}");
        assert!((7_657..=8_343).contains(&twice), "{twice}");
        assert_eq!(dropped + once + twice, 100_000);
    }

    #[test]
    fn probabilities_0_and_1_are_certain() {
        assert_eq!(fates(0.0, 0.0), [0, 100_000, 0]);
        assert_eq!(fates(1.0, 1.0), [100_000, 0, 0]);
        assert_eq!(fates(0.0, 1.0), [0, 0, 100_000]);
    }

    #[test]
    fn copies_draw_latencies_of_their_own() {
        let network = Network {
            latency: Latency::Uniform { min: VirtualDuration::ZERO, max: VirtualDuration::from_secs(1) },
            duplicate: Probability::ONE,
            ..Network::default()
        };
        let Fate::Duplicated { after, copy_after } = network.fate(&mut Random::from_seed(1)) else {
            panic!("every packet is duplicated")
        };
        assert_ne!(after, copy_after);
    }

    #[test]
    fn an_empty_latency_range_is_refused() {
        let network = Network { latency: Latency::Uniform { min: MILLI * 2, max: MILLI }, ..Network::default() };
        let error = network.validate().expect_err("the range is empty");
        assert_eq!(error.to_string(), "latency: min (2 ms) is above max (1 ms): swap them");
        assert_eq!(Network::default().validate(), Ok(()));
    }

    #[test]
    fn a_network_is_read_from_json() {
        let json = r#"{"latency": {"uniform": {"min_ns": 500000, "max_ns": 1500000}}, "drop": 0.1}"#;
        let network: Network = serde_json::from_str(json).expect("it is a network");
        assert_eq!(network.drop.get(), 0.1);
        assert_eq!(network.duplicate, Probability::ZERO);
        let again: Network = serde_json::from_value(serde_json::to_value(&network).expect("json")).expect("a network");
        assert_eq!(again, network);
        assert!(serde_json::from_str::<Network>(r#"{"latency": {"constant_ns": 1}, "lose": 0.1}"#).is_err());
    }
}
