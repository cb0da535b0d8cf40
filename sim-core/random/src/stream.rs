//! Random streams: a named portable generator, and streams of their own for those who draw.

use std::convert::Infallible;
use std::ops::{Bound, RangeBounds};

use rand::{Rng as _, SeedableRng as _, TryRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::portable::ln;
use crate::{Probability, interceptor};

/// A stream of random numbers: xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
/// ACM TOMS 47, 2021), seeded through SplitMix64.
///
/// The same seed gives the same numbers on every platform and in every version: the draws below are written out here
/// and depend on no library's choices. It implements rand's traits, but what rand's own distributions make of it may
/// change with rand. It is not for cryptography.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    seed: u64,
    generator: Xoshiro256PlusPlus,
}

impl Random {
    /// Returns the stream of `seed`.
    pub fn from_seed(seed: u64) -> Self {
        Self { seed, generator: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Returns the child stream called `name`.
    ///
    /// It depends on the seed and the name alone: not on what was drawn before, nor on what other children there are.
    /// So a new component shifts no other component's draws.
    pub fn stream(&self, name: &str) -> Self {
        let seed = derive_seed(self.seed, name);
        if interceptor::is_intercepted() {
            interceptor::child_stream(self.seed, seed, name);
        }
        Self::from_seed(seed)
    }

    /// Returns the seed that the stream began with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns a number that tells how far the stream has come: draws change it.
    pub fn position(&self) -> u64 {
        self.generator.clone().next_u64()
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.draw(Draw::Bits)
    }

    #[inline]
    fn draw(&mut self, draw: Draw) -> u64 {
        let drawn = self.generator.next_u64();
        if interceptor::is_intercepted() { interceptor::bits(self.seed, draw, drawn) } else { drawn }
    }

    /// Returns an integer from `range`, each equally likely.
    ///
    /// # Panics
    /// If the range is empty.
    #[inline]
    pub fn uniform<T: UniformInteger>(&mut self, range: impl RangeBounds<T>) -> T {
        let first = match range.start_bound() {
            Bound::Included(&start) => start.to_ordered(),
            Bound::Excluded(&start) => start.to_ordered().checked_add(1).expect("the range is not empty"),
            Bound::Unbounded => 0,
        };
        let last = match range.end_bound() {
            Bound::Included(&end) => end.to_ordered(),
            Bound::Excluded(&end) => end.to_ordered().checked_sub(1).expect("the range is not empty"),
            Bound::Unbounded => T::LAST_ORDERED,
        };
        assert!(first <= last, "the range is not empty");
        T::from_ordered(first + self.up_to(last - first))
    }

    /// Returns an integer from 0 to `last`, unbiased (Lemire, "Fast random integer generation in an interval", ACM
    /// TOMACS 29, 2019): the high half of a product is the result; the low half tells the few draws to reject.
    #[inline]
    fn up_to(&mut self, last: u64) -> u64 {
        let Some(count) = last.checked_add(1) else { return self.bits() };
        let mut product = u128::from(self.draw(Draw::Below(count))) * u128::from(count);
        if (product as u64) < count {
            let rejected_below = count.wrapping_neg() % count;
            while (product as u64) < rejected_below {
                product = u128::from(self.bits()) * u128::from(count);
            }
        }
        (product >> 64) as u64
    }

    /// Returns a number in `[0, 1)`: a multiple of 2^-53, each equally likely.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        (self.draw(Draw::Unit) >> 11) as f64 * STEP
    }

    /// Returns an exponentially distributed value, for example the time to the next of events that come at random.
    ///
    /// ```
    /// use simutant_random::Random;
    ///
    /// let mut random = Random::from_seed(42).stream("arrivals");
    /// let times: Vec<f64> = (0..10_000).map(|_| random.exponential(5.0)).collect();
    /// let mean = times.iter().sum::<f64>() / 10_000.0;
    /// assert!((4.8..5.2).contains(&mean));
    /// ```
    pub fn exponential<T: Scale>(&mut self, mean: T) -> T {
        // A unit is below 1, so there is a logarithm.
        mean.scaled(-ln(1.0 - self.unit()))
    }

    /// Returns true with the given probability.
    ///
    /// It draws exactly once whatever the probability is, so that later draws do not depend on it, and what happens
    /// with some probability also happens, for the same seed, with any greater one.
    ///
    /// ```
    /// use simutant_random::{Probability, Random};
    ///
    /// let happens = |seed, probability| {
    ///     Random::from_seed(seed).chance(Probability::new(probability).expect("it is one"))
    /// };
    /// // What happens with a small probability happens with a greater one as well.
    /// assert!((0..100).filter(|&seed| happens(seed, 0.1)).all(|seed| happens(seed, 0.6)));
    /// assert!((0..100).any(|seed| !happens(seed, 0.1) && happens(seed, 0.6)));
    /// ```
    #[inline]
    pub fn chance(&mut self, probability: Probability) -> bool {
        self.unit() < probability.get()
    }

    /// Returns one of `items`, each equally likely; `None` if there are none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { Some(&items[self.uniform(0..items.len())]) }
    }

    /// Puts `items` into one of their orders, each equally likely (Fisher and Yates).
    ///
    /// ```
    /// use simutant_random::Random;
    ///
    /// let mut turns = ["a", "b", "c", "d"];
    /// Random::from_seed(42).stream("turns").shuffle(&mut turns);
    /// let mut sorted = turns;
    /// sorted.sort_unstable();
    /// assert_eq!(sorted, ["a", "b", "c", "d"]);
    /// assert_ne!(turns, sorted);
    /// ```
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.uniform(0..=last));
        }
    }
}

/// A quantity that a factor scales: a mean that [`Random::exponential`] takes.
pub trait Scale {
    /// Returns this times `factor`, which is not negative, as near as the type has it.
    fn scaled(self, factor: f64) -> Self;
}

impl Scale for f64 {
    fn scaled(self, factor: f64) -> Self {
        self * factor
    }
}

/// The purpose of 64 random bits. All but bare bits take them as a place in a range: more bits, a later value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draw {
    /// Nothing that is known.
    Bits,
    /// A number in `[0, 1)`.
    Unit,
    /// One of so many values.
    Below(u64),
}

impl TryRng for Random {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.bits().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// An integer type that [`Random::uniform`] draws. It cannot be implemented outside this crate.
pub trait UniformInteger: Copy + sealed::Ordered {}

mod sealed {
    /// A bijection to `0..=LAST_ORDERED` that keeps the order.
    pub trait Ordered {
        /// The image of the type's greatest value.
        const LAST_ORDERED: u64;
        /// Returns the image of this value.
        fn to_ordered(self) -> u64;
        /// Returns the value with this image.
        fn from_ordered(ordered: u64) -> Self;
    }
}

macro_rules! uniform_unsigned {
    ($($integer:ty),*) => {$(
        impl UniformInteger for $integer {}

        impl sealed::Ordered for $integer {
            const LAST_ORDERED: u64 = <$integer>::MAX as u64;

            fn to_ordered(self) -> u64 {
                self as u64
            }

            fn from_ordered(ordered: u64) -> Self {
                ordered as $integer
            }
        }
    )*};
}

macro_rules! uniform_signed {
    ($($integer:ty as $unsigned:ty),*) => {$(
        impl UniformInteger for $integer {}

        impl sealed::Ordered for $integer {
            const LAST_ORDERED: u64 = <$unsigned>::MAX as u64;

            fn to_ordered(self) -> u64 {
                (self as $unsigned ^ (1 << (<$unsigned>::BITS - 1))) as u64
            }

            fn from_ordered(ordered: u64) -> Self {
                (ordered as $unsigned ^ (1 << (<$unsigned>::BITS - 1))) as $integer
            }
        }
    )*};
}

uniform_unsigned!(u8, u16, u32, u64, usize);
uniform_signed!(i8 as u8, i16 as u16, i32 as u32, i64 as u64);

/// Mixes a seed with a name: FNV-1a over the name, the sum finished by SplitMix64's output function so that names
/// which differ in one bit give unrelated seeds.
fn derive_seed(seed: u64, name: &str) -> u64 {
    const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
    const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    let hash = name.bytes().fold(FNV_BASIS, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
    mix(mix(seed).wrapping_add(hash))
}

/// Returns the output of SplitMix64 after a state (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014): a word of which every bit depends on every bit of `word`.
#[inline]
pub fn mix(mut word: u64) -> u64 {
    word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_never_change() {
        // Computed by another program, from the published algorithms.
        let mut random = Random::from_seed(42);
        assert_eq!([random.bits(), random.bits()], [15_021_278_609_987_233_951, 5_881_210_131_331_364_753]);
        let mut random = random.stream("network");
        assert_eq!([random.bits(), random.bits()], [17_399_028_285_397_372_230, 3_481_991_272_792_885_897]);
        assert_eq!([(); 5].map(|()| random.uniform(1..=335_760_u64)), [2_715, 307_503, 131_218, 301_397, 328_445]);
        assert_eq!([(); 5].map(|()| random.uniform(-5..5_i32)), [-3, -3, 3, -5, -1]);
        assert_eq!([(); 2].map(|()| random.unit()), [0.5202202197759397, 0.4422759029490264]);
        let mut items = [0, 1, 2, 3, 4, 5, 6, 7];
        random.shuffle(&mut items);
        assert_eq!(items, [3, 6, 4, 5, 0, 2, 7, 1]);
    }

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let mut parent = Random::from_seed(7);
        let before = parent.stream("network");
        parent.bits();
        assert_eq!(parent.stream("network"), before);
        assert_ne!(parent.stream("network"), parent.stream("networl"));
        assert_ne!(Random::from_seed(8).stream("network"), before);
        assert_ne!(Random::from_seed(7).stream("a").stream("b"), Random::from_seed(7).stream("b").stream("a"));
    }

    #[test]
    fn every_integer_type_draws_its_whole_range() {
        #[track_caller]
        fn check<T: UniformInteger + Ord + std::fmt::Debug>(first: T, last: T, range: impl RangeBounds<T> + Clone) {
            let mut random = Random::from_seed(1);
            let drawn: std::collections::BTreeSet<T> = (0..4_000).map(|_| random.uniform(range.clone())).collect();
            assert_eq!(drawn.first(), Some(&first));
            assert_eq!(drawn.last(), Some(&last));
        }
        check(0_u8, 255, ..);
        check(-128_i8, 127, ..);
        check(-3_i64, 3, -3..=3);
        check(-3_i32, 2, -3..3);
        check(5_u64, 5, 5..=5);
        check(u64::MAX - 1, u64::MAX, u64::MAX - 1..);
        check(0_usize, 9, ..10);
    }

    #[test]
    #[should_panic(expected = "the range is not empty")]
    fn an_empty_range_panics() {
        Random::from_seed(1).uniform(3..3_u32);
    }

    #[test]
    fn integers_are_equally_likely() {
        let mut random = Random::from_seed(2);
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[random.uniform(0..6_usize)] += 1;
        }
        // Chi-square with 5 degrees of freedom: 20.5 is exceeded with a probability of 0.001.
        let chi_square: f64 = counts.iter().map(|&count| (f64::from(count) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi_square < 20.5, "{counts:?}: {chi_square}");
    }

    #[test]
    fn rejection_keeps_large_ranges_unbiased() {
        // Four draws come to three values, so without rejection every third value would come up half of the time.
        let mut random = Random::from_seed(3);
        let third = (0..30_000).filter(|_| random.uniform(0..3 * (1_u64 << 62)).is_multiple_of(3)).count();
        assert!((9_600..10_400).contains(&third), "{third}");
    }

    #[test]
    fn chance_draws_once_whatever_the_probability_is() {
        let probability = |value| Probability::new(value).expect("it is one");
        let (mut never, mut always) = (Random::from_seed(4), Random::from_seed(4));
        assert!((0..1_000).all(|_| !never.chance(Probability::ZERO)));
        assert!((0..1_000).all(|_| always.chance(Probability::ONE)));
        assert_eq!(never, always);
        let hits = (0..10_000).filter(|_| never.chance(probability(0.2))).count();
        assert!((1_880..2_120).contains(&hits), "{hits}");
    }

    #[test]
    fn a_shuffle_reaches_every_order() {
        let mut random = Random::from_seed(5);
        let orders: std::collections::BTreeSet<[u8; 4]> = (0..1_000)
            .map(|_| {
                let mut items = [0, 1, 2, 3];
                random.shuffle(&mut items);
                items
            })
            .collect();
        assert_eq!(orders.len(), 24);
        assert_eq!(random.choose::<u8>(&[]), None);
        assert_eq!(random.choose(&[9]), Some(&9));
    }
}
