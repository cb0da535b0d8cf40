//! Walks that are decided beforehand.

use serde::{Deserialize, Serialize};

/// The decisions of a walk, made before it is taken: a test case that any generator can draw, change and shorten.
///
/// A step decides one transition, and the choices of its action. Its first number is the place of the transition among
/// those that are open then, each with a share in proportion to its weight; the others are the places of the options of
/// each choice. A place is a number of 65,536ths, so each number means something whatever is open, and a choice of more
/// options than that does not reach all of them. What a step does not decide is the first option.
///
/// The walk ends with the script, or before. [`Walker::follow`](crate::Walker::follow) takes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Script {
    /// The steps.
    pub steps: Vec<Vec<u16>>,
}

/// How many places there are.
const PLACES: u64 = 1 << 16;

/// Returns which of `count` options of one size a place is in.
pub(crate) fn option_at(place: u16, count: u64) -> u64 {
    ((u128::from(place) * u128::from(count)) / u128::from(PLACES)) as u64
}

/// Returns the place that a part of the sum of all weights falls on, from 0 to below 1; `None` if all weights are 0, and
/// then nobody asks for the part.
pub(crate) fn by_weight(part: impl FnOnce() -> f64, weights: impl Iterator<Item = f64> + Clone) -> Option<usize> {
    let sum: f64 = weights.clone().sum();
    if sum <= 0.0 {
        return None;
    }
    let mut left = part() * sum;
    for (place, weight) in weights.clone().enumerate() {
        left -= weight;
        if left < 0.0 {
            return Some(place);
        }
    }
    // Of rounding.
    weights.enumerate().filter(|(_, weight)| *weight > 0.0).map(|(place, _)| place).last()
}

/// Returns which option a place is in, of options with a share each in proportion to its weight; `None` if all weights
/// are 0.
pub(crate) fn weighted_at(place: u16, weights: impl Iterator<Item = f64> + Clone) -> Option<usize> {
    by_weight(|| f64::from(place) / PLACES as f64, weights)
}

/// Returns the place in the middle of an option's share.
pub(crate) fn place_of(option: usize, weights: impl Iterator<Item = f64> + Clone) -> u16 {
    let sum: f64 = weights.clone().sum();
    let before: f64 = weights.clone().take(option).sum();
    let weight = weights.clone().nth(option).unwrap_or(0.0);
    let middle = ((before + weight / 2.0) / sum * PLACES as f64) as u64;
    middle.min(PLACES - 1) as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn the_place_of_an_option_is_in_its_share(weights in prop::collection::vec(1_u32..100, 1..60)) {
            let weights = || weights.iter().map(|&weight| f64::from(weight));
            for option in 0..weights().count() {
                prop_assert_eq!(weighted_at(place_of(option, weights()), weights()), Some(option));
            }
        }

        #[test]
        fn options_of_one_size_have_the_same_shares(count in 1_u64..200) {
            let mut places = vec![0_u64; count as usize];
            (0..=u16::MAX).for_each(|place| places[option_at(place, count) as usize] += 1);
            let (least, most) = (PLACES / count, PLACES.div_ceil(count));
            prop_assert!(places.iter().all(|&places| places == least || places == most));
            prop_assert_eq!(option_at(u16::MAX, count), count - 1);
        }
    }

    #[test]
    fn what_weighs_nothing_has_no_place() {
        for place in 0..=u16::MAX {
            assert_eq!(weighted_at(place, [0.0, 2.0, 0.0].into_iter()), Some(1));
            assert_eq!(weighted_at(place, [0.0, 0.0].into_iter()), None);
        }
    }
}
