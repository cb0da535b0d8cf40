//! Draws one test case, with its parameters where they are to be.

use std::cell::RefCell;

use simutant_random::{Draw, Interception, Interceptor, Random};

use crate::System;

/// Parameters beyond this many are random.
pub(super) const PARAMETERS_MAX: usize = 12;

/// Where a parameter is in its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// At this place, in units of 2^-32; what is finer is random.
    Place(u32),
    /// At a level, from 0 on, of so many that lie evenly from the first value to the last.
    Level(u32, u32),
}

impl Position {
    /// Returns the bits that make `draw` come to this position.
    fn bits(self, draw: Draw, seeded: u64) -> u64 {
        let (level, last) = match self {
            Self::Place(place) => return u64::from(place) << 32 | seeded >> 32,
            Self::Level(level, levels) => (u128::from(level), u128::from(levels.max(2) - 1)),
        };
        match draw {
            Draw::Below(count) => {
                let value = (level * u128::from(count - 1) + last / 2) / last;
                // The greatest bits that come to the value: for any count they are none that `Random::uniform` draws
                // again.
                (((value + 1) << 64) - 1).div_euclid(u128::from(count)) as u64
            }
            Draw::Unit | Draw::Bits => (level * u128::from(u64::MAX) / last) as u64,
        }
    }
}

/// A parameter that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) draw: Draw,
    bits: u64,
}

impl Drawn {
    /// Returns where in its range the value is: from 0 for the first to 2^24 for the last.
    pub(super) fn place(self) -> u64 {
        let last = 1_u128 << 24;
        match self.draw {
            Draw::Below(1) => 0,
            Draw::Below(count) => {
                let value = (u128::from(self.bits) * u128::from(count)) >> 64;
                (value * last / u128::from(count - 1)) as u64
            }
            Draw::Unit | Draw::Bits => self.bits >> 40,
        }
    }
}

/// A test case, and how its parameters were drawn.
#[derive(Debug)]
pub(super) struct Sample<C> {
    pub(super) case: C,
    /// At most [`PARAMETERS_MAX`].
    pub(super) parameters: Vec<Drawn>,
}

/// Draws a test case whose parameters are where `row` says, and random beyond it or where it does not say.
pub(super) fn sample<S: System>(random: &mut Random, row: &[Option<Position>]) -> Sample<S::TestCase> {
    SAMPLER.set(Sampler { row: row.to_vec(), parameters: Vec::new() });
    let interception = Interception::begin(Some(&Placed));
    let case = S::sample(random);
    drop(interception);
    Sample { case, parameters: SAMPLER.take().parameters }
}

thread_local! {
    /// Places the draws of the test case that this thread draws.
    static SAMPLER: RefCell<Sampler> = const { RefCell::new(Sampler { row: Vec::new(), parameters: Vec::new() }) };
}

/// Draws as the thread's sampler says.
struct Placed;

impl Interceptor for Placed {
    fn bits(&self, _: u64, draw: Draw, drawn: u64) -> u64 {
        SAMPLER.with_borrow_mut(|sampler| sampler.bits(draw, drawn))
    }
}

/// Makes the draws of a test case.
#[derive(Debug, Default)]
struct Sampler {
    row: Vec<Option<Position>>,
    parameters: Vec<Drawn>,
}

impl Sampler {
    /// Returns the bits for a draw in place of the seeded ones.
    fn bits(&mut self, draw: Draw, seeded: u64) -> u64 {
        if draw == Draw::Bits || self.parameters.len() == PARAMETERS_MAX {
            return seeded;
        }
        let position = self.row.get(self.parameters.len()).copied().flatten();
        let bits = position.map_or(seeded, |position| position.bits(draw, seeded));
        self.parameters.push(Drawn { draw, bits });
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What [`Random::uniform`] makes of bits, and whether it takes them.
    fn value(bits: u64, count: u64) -> (u64, bool) {
        let product = u128::from(bits) * u128::from(count);
        ((product >> 64) as u64, product as u64 >= count.wrapping_neg() % count)
    }

    #[test]
    fn levels_are_the_values_of_a_small_draw() {
        for count in 1..=8 {
            for level in 0..count {
                let bits = Position::Level(level as u32, count as u32).bits(Draw::Below(count), 0);
                assert_eq!(value(bits, count), (level, true), "{level} of {count}");
            }
        }
    }

    proptest! {
        #[test]
        fn levels_go_from_the_first_value_to_the_last(count in 2..u64::MAX) {
            let values = [0, 1, 2, 3, 4].map(|level| value(Position::Level(level, 5).bits(Draw::Below(count), 7), count));
            prop_assert!(values.iter().all(|(_, is_taken)| *is_taken), "one is drawn again");
            prop_assert_eq!((values[0].0, values[4].0), (0, count - 1));
            prop_assert!(values.is_sorted());
            let middle = u128::from(count - 1) * 2 / 4;
            prop_assert!(u128::from(values[2].0).abs_diff(middle) <= 1);
        }
    }

    #[test]
    fn levels_of_a_unit_are_quantiles() {
        let bits = [0, 1, 2].map(|level| Position::Level(level, 3).bits(Draw::Unit, 5));
        assert_eq!(bits, [0, u64::MAX / 2, u64::MAX]);
    }

    #[test]
    fn a_place_keeps_what_is_finer_random() {
        let bits = Position::Place(3).bits(Draw::Unit, 0xabcd_ef01_2345_6789);
        assert_eq!(bits, 3 << 32 | 0xabcd_ef01);
    }

    #[test]
    fn places_of_values_go_from_one_end_to_the_other() {
        let place = |draw, bits| Drawn { draw, bits }.place();
        assert_eq!(
            (place(Draw::Below(3), 0), place(Draw::Below(3), 1 << 63), place(Draw::Below(3), u64::MAX)),
            (0, 1 << 23, 1 << 24)
        );
        assert_eq!((place(Draw::Below(1), 9), place(Draw::Unit, u64::MAX)), (0, (1 << 24) - 1));
    }
}
