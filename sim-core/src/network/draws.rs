//! What is random about a packet: a function of the network's seed, the packet's source and its number among the
//! packets of the source, and of nothing else.
//!
//! Nothing is drawn in turn. Each question about a packet has a place of its own ([`Lane`]) in the packet's sequence,
//! and the answer is there whether the other questions are asked or not. So runs with the same seed are coupled:
//! another probability, another latency or a lost packet changes nothing about other packets, and what happens with
//! some probability also happens with any greater one.

use simutant_random::mix;

use crate::{Probability, VirtualDuration};

/// The step from packet to packet: at one place of their sequences, packets draw as SplitMix64 with this step does (a
/// multiplier of Steele and Vigna, "Computationally easy, spectrally good multipliers for congruential pseudorandom
/// number generators", 2022). It differs from the step within a sequence, with which the sequence of a packet would be
/// that of the packet before it, shifted by one; sequences meet after some 2^45 packets at the earliest.
const PACKET_FACTOR: u64 = 0xd134_2543_de82_ef95;
/// The step of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
/// A packet has so many places on each link of its path.
const LANES: u64 = 64;
/// Each copy has so many places of its own.
const LANES_PER_COPY: u64 = 16;

/// A place in a packet's sequence. The numbers are part of what a seed means: they never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    /// Whether the packet is lost.
    Drop = 0,
    /// Whether it is duplicated.
    Duplicate = 1,
    /// Whether the link changes between its good and its bad state.
    Burst = 2,
    /// How long a copy takes.
    Latency = 16,
    /// How much longer it takes.
    Jitter = 17,
    /// Whether it is held back.
    Reorder = 18,
    /// For how long.
    Hold = 19,
    /// Whether it is corrupted.
    Corrupt = 20,
    /// What corruption makes of it.
    Corruption = 21,
}

/// The random sequence of one packet on one link: outputs of SplitMix64, read at any place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draws {
    key: u64,
}

impl Draws {
    /// Returns the sequence of a packet on the first link of its path.
    #[inline]
    pub(super) fn new(seed: u64, packet_number: u64) -> Self {
        Self { key: seed.wrapping_add(packet_number.wrapping_mul(PACKET_FACTOR)) }
    }

    /// Returns the packet's sequence on the link with this number on its path.
    pub(super) fn on_link(self, link_number: u64) -> Self {
        Self { key: self.key.wrapping_add((link_number * LANES).wrapping_mul(STEP)) }
    }

    /// Returns the sequence with the places of a copy: 0 is the packet itself.
    #[inline]
    pub(super) fn of_copy(self, copy: u64) -> Self {
        Self { key: self.key.wrapping_add((copy * LANES_PER_COPY).wrapping_mul(STEP)) }
    }

    /// Returns 64 random bits.
    #[inline]
    pub(super) fn bits(self, lane: Lane) -> u64 {
        mix(self.key.wrapping_add((lane as u64).wrapping_mul(STEP)))
    }

    /// Returns true with the given chance.
    #[inline]
    pub(super) fn chance(self, lane: Lane, chance: Chance) -> bool {
        // The first test is only faster: without it the answer is the same.
        chance.0 != 0 && self.bits(lane) >> 11 < chance.0
    }

    /// Returns an integer from 0 to `last`, each equally likely, as [`Random::uniform`](crate::Random::uniform) does.
    /// Bits that are rejected are mixed again.
    #[inline]
    pub(super) fn up_to(self, lane: Lane, last: u64) -> u64 {
        let mut bits = self.bits(lane);
        let Some(count) = last.checked_add(1) else { return bits };
        let mut product = u128::from(bits) * u128::from(count);
        if (product as u64) < count {
            let rejected_below = count.wrapping_neg() % count;
            while (product as u64) < rejected_below {
                bits = mix(bits);
                product = u128::from(bits) * u128::from(count);
            }
        }
        (product >> 64) as u64
    }

    /// Returns a duration from `min` to `max`, each equally likely.
    #[inline]
    pub(super) fn duration(self, lane: Lane, min: VirtualDuration, max: VirtualDuration) -> VirtualDuration {
        VirtualDuration::from_nanos(min.as_nanos() + self.up_to(lane, max.as_nanos() - min.as_nanos()))
    }

    /// Returns a number above 0 and below 1: an odd multiple of 2^-53, each equally likely.
    pub(super) fn open_unit(self, lane: Lane) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 52) as f64;
        ((self.bits(lane) >> 12) as f64 + 0.5) * STEP
    }
}

/// A probability as the number of the 2^53 equally likely draws for which something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Chance(u64);

impl From<Probability> for Chance {
    fn from(probability: Probability) -> Self {
        // Exact: the product only shifts the exponent, and a multiple of 2^-53 is below the probability just if its
        // numerator is below the product rounded up.
        Self((probability.get() * (1u64 << 53) as f64).ceil() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_never_change() {
        // Computed by another program, from the published algorithm.
        let draws = Draws::new(42, 7);
        let on_second = draws.on_link(1);
        let words = [draws.bits(Lane::Drop), draws.of_copy(1).bits(Lane::Latency), on_second.bits(Lane::Drop)];
        assert_eq!(words, [3_502_909_491_775_153_651, 11_995_822_522_827_365_706, 12_442_140_295_410_504_848]);
    }

    #[test]
    fn the_places_of_copies_and_links_do_not_meet() {
        let lanes = [Lane::Latency, Lane::Jitter, Lane::Reorder, Lane::Hold, Lane::Corrupt, Lane::Corruption];
        let mut words = std::collections::BTreeSet::new();
        let mut places = 0;
        for packet_number in 0..50 {
            for link_number in 0..4 {
                let draws = Draws::new(1, packet_number).on_link(link_number);
                words.extend([Lane::Drop, Lane::Duplicate, Lane::Burst].map(|lane| draws.bits(lane)));
                for copy in 0..2 {
                    words.extend(lanes.map(|lane| draws.of_copy(copy).bits(lane)));
                }
                places += 3 + 2 * lanes.len();
            }
        }
        assert_eq!(words.len(), places);
    }

    #[test]
    fn a_chance_is_the_probability_to_the_last_bit() {
        let chance = |value| Chance::from(Probability::new(value).expect("a probability")).0;
        assert_eq!(chance(0.0), 0);
        assert_eq!(chance(1.0), 1 << 53);
        assert_eq!(chance(0.5), 1 << 52);
        assert_eq!(chance(f64::MIN_POSITIVE), 1);
        for value in [0.1, 0.2, 1.0 / 3.0, 0.999] {
            let unit = |numerator: u64| numerator as f64 / (1u64 << 53) as f64;
            assert!(unit(chance(value) - 1) < value);
            assert!(unit(chance(value)) >= value);
        }
    }

    #[test]
    fn integers_are_equally_likely() {
        let mut counts = [0_u32; 6];
        for packet_number in 0..60_000 {
            counts[Draws::new(2, packet_number).up_to(Lane::Latency, 5) as usize] += 1;
        }
        // Chi-square with 5 degrees of freedom: 20.5 is exceeded with a probability of 0.001.
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi_square < 20.5, "{counts:?}: {chi_square}");
    }

    #[test]
    fn rejection_keeps_large_ranges_unbiased() {
        // Four draws come to three values, so without rejection every third value would come up half of the time.
        let last = 3 * (1_u64 << 62) - 1;
        let third =
            (0..30_000).filter(|&number| Draws::new(3, number).up_to(Lane::Hold, last).is_multiple_of(3)).count();
        assert!((9_600..10_400).contains(&third), "{third}");
        assert_eq!(Draws::new(3, 4).up_to(Lane::Hold, u64::MAX), Draws::new(3, 4).bits(Lane::Hold));
    }

    #[test]
    fn neighbouring_packets_and_places_are_unrelated() {
        // The correlation of n independent pairs of uniform numbers is within 4 / sqrt(n) nearly always.
        const PAIRS: u64 = 40_000;
        let correlation = |pair: &dyn Fn(u64) -> [f64; 2]| {
            let centered = |value: f64| (value - 0.5) * 12_f64.sqrt();
            let sum: f64 = (0..PAIRS).map(pair).map(|[left, right]| centered(left) * centered(right)).sum();
            sum / PAIRS as f64
        };
        let unit = |number, lane| Draws::new(9, number).open_unit(lane);
        let tolerance = 4.0 / (PAIRS as f64).sqrt();
        let next_packet = correlation(&|number| [unit(number, Lane::Drop), unit(number + 1, Lane::Drop)]);
        let next_place = correlation(&|number| [unit(number, Lane::Drop), unit(number, Lane::Duplicate)]);
        let shifted = correlation(&|number| [unit(number, Lane::Duplicate), unit(number + 1, Lane::Drop)]);
        for correlation in [next_packet, next_place, shifted] {
            assert!(correlation.abs() < tolerance, "{correlation}");
        }
    }
}
