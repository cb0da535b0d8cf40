//! Draws one test case, with its parameters where they are to be.

use std::cell::RefCell;

use simutant_random::{Draw, Interception, Interceptor, Random};

use crate::System;

/// How many draws a parent may have that a child leaves out at once, such as a shorter list does.
const SKIPPED_MAX: usize = 16;

/// Where a parameter is in its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// At this place, in units of 2^-32; what is finer is random.
    Place(u32),
    /// At a level, from 0 on, of so many that lie evenly from the first value to the last.
    Level(u32, u32),
    /// At exactly these bits.
    Bits(u64),
}

impl Position {
    /// Returns the bits that make `draw` come to this position.
    fn bits(self, draw: Draw, seeded: u64) -> u64 {
        let (level, last) = match self {
            Self::Place(place) => return u64::from(place) << 32 | seeded >> 32,
            Self::Bits(bits) => return bits,
            Self::Level(level, levels) => (u128::from(level), u128::from(levels.max(2) - 1)),
        };
        match draw {
            Draw::Below(count) => bits_of((level * u128::from(count - 1) + last / 2) / last, count),
            Draw::Unit | Draw::Bits => (level * u128::from(u64::MAX) / last) as u64,
        }
    }
}

/// Returns the greatest bits that a draw below `count` maps to `value`. [`Random::uniform`] never rejects them, whatever
/// the count.
fn bits_of(value: u128, count: u64) -> u64 {
    (((value + 1) << 64) - 1).div_euclid(u128::from(count)) as u64
}

/// A parameter that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Drawn {
    pub(super) draw: Draw,
    pub(super) bits: u64,
}

impl Drawn {
    /// Returns whether it could have been another value.
    pub(super) fn has_others(self) -> bool {
        self.draw != Draw::Below(1)
    }

    /// Returns the bits of a value that is a power of two away: of the smallest distance 1, or of one that is as likely
    /// as any other power. Where the range ends before, they are those of its end, or of the value itself.
    pub(super) fn neighbour(self, random: &mut Random) -> u64 {
        let is_up = random.uniform(0..2) == 1;
        match self.draw {
            Draw::Below(count) => {
                let value = (u128::from(self.bits) * u128::from(count)) >> 64;
                let step = 1 << random.uniform(0..=count.ilog2());
                let last = u128::from(count - 1);
                bits_of(if is_up { last.min(value + step) } else { value.saturating_sub(step) }, count)
            }
            Draw::Unit | Draw::Bits => {
                let step = 1 << random.uniform(32..64);
                if is_up { self.bits.saturating_add(step) } else { self.bits.saturating_sub(step) }
            }
        }
    }

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

/// Where the parameters of a test case are; `None` is at random.
#[derive(Debug, Clone)]
pub(super) enum Row {
    /// By number; those beyond the end are random.
    Numbered(Vec<Option<Position>>),
    /// As those of a parent.
    Child(Vec<Inherited>),
}

/// Where the draw of a child is that corresponds to one of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Inherited {
    /// What the parent drew.
    pub(super) draw: Draw,
    pub(super) position: Option<Position>,
}

/// A test case, and how its parameters were drawn.
#[derive(Debug)]
pub(super) struct Sample<C> {
    pub(super) case: C,
    /// At most as many as were asked for.
    pub(super) parameters: Vec<Drawn>,
}

/// Draws a test case of which the first `limit` parameters are where `row` says; all others are random.
pub(super) fn sample<S: System>(random: &mut Random, row: Row, limit: usize) -> Sample<S::TestCase> {
    SAMPLER.set(Some(Sampler { row, next: 0, parameters: Vec::new(), limit }));
    let interception = Interception::begin(Some(&Placed));
    let case = S::sample(random);
    drop(interception);
    Sample { case, parameters: SAMPLER.take().map(|sampler| sampler.parameters).unwrap_or_default() }
}

thread_local! {
    /// Places the draws of the test case that this thread draws.
    static SAMPLER: RefCell<Option<Sampler>> = const { RefCell::new(None) };
}

/// Draws as the thread's sampler says.
struct Placed;

impl Interceptor for Placed {
    fn bits(&self, _: u64, draw: Draw, drawn: u64) -> u64 {
        SAMPLER.with_borrow_mut(|sampler| sampler.as_mut().map_or(drawn, |sampler| sampler.bits(draw, drawn)))
    }
}

/// Makes the draws of a test case.
#[derive(Debug)]
struct Sampler {
    row: Row,
    /// The first draw of the parent that no draw of the child corresponds to yet.
    next: usize,
    parameters: Vec<Drawn>,
    limit: usize,
}

impl Sampler {
    /// Returns the bits for a draw in place of the seeded ones.
    fn bits(&mut self, draw: Draw, seeded: u64) -> u64 {
        if draw == Draw::Bits || self.parameters.len() == self.limit {
            return seeded;
        }
        let position = match &self.row {
            Row::Numbered(row) => row.get(self.parameters.len()).copied().flatten(),
            Row::Child(row) => corresponding(row, &mut self.next, draw).and_then(|inherited| inherited.position),
        };
        let bits = position.map_or(seeded, |position| position.bits(draw, seeded));
        self.parameters.push(Drawn { draw, bits });
        bits
    }
}

/// Returns the draw of the parent that corresponds to `draw`, and moves on behind it; `None` if there is none.
///
/// A mutation can change the shape of a test case: how long a list is, or what a later draw chooses from. So draws
/// correspond by their ranges. If the parent comes to the same range soon, what is between was left out. If it has the
/// range elsewhere only, the draw was added. If it has it nowhere, the range itself is another one, and the place in it
/// is inherited.
fn corresponding(row: &[Inherited], next: &mut usize, draw: Draw) -> Option<Inherited> {
    let is_same = |inherited: &Inherited| inherited.draw == draw;
    match row.iter().skip(*next).take(SKIPPED_MAX).position(is_same) {
        Some(skipped) => *next += skipped,
        None if row.iter().any(is_same) => return None,
        None => {}
    }
    let inherited = row.get(*next).copied();
    *next += 1;
    inherited
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

    /// Draws a child of a parent that drew from `row`, from these ranges, and returns which draws of the parent it has.
    #[track_caller]
    fn check(parent: &[u64], child: &[u64], expect: &[Option<u64>]) {
        let inherited = |(number, &count): (u64, &u64)| Inherited {
            draw: Draw::Below(count),
            position: Some(Position::Bits(number)),
        };
        let row: Vec<Inherited> = (0..).zip(parent).map(inherited).collect();
        let mut next = 0;
        let found = child.iter().map(|&count| match corresponding(&row, &mut next, Draw::Below(count))?.position {
            Some(Position::Bits(number)) => Some(number),
            _ => None,
        });
        assert_eq!(found.collect::<Vec<_>>(), expect);
    }

    #[test]
    fn draws_of_a_child_correspond_to_those_of_its_parent_whatever_was_left_out_or_added() {
        let in_order = |numbers: std::ops::Range<u64>| numbers.map(Some).collect::<Vec<_>>();
        check(&[9, 2, 2, 5, 7], &[9, 2, 2, 5, 7], &in_order(0..5));
        check(&[9, 2, 2, 5, 7], &[9, 2, 5, 7], &[Some(0), Some(1), Some(3), Some(4)]);
        check(&[9, 2, 2, 5, 7], &[9, 2, 2, 2, 5, 7], &[Some(0), Some(1), Some(2), None, Some(3), Some(4)]);
        check(&[9, 4, 4, 5], &[9, 8, 8, 5], &in_order(0..4));
        check(&[9, 4], &[9, 4, 8], &[Some(0), Some(1), None]);
    }

    proptest! {
        #[test]
        fn a_neighbour_is_in_the_range_and_seldom_the_value_itself(count in 2..u64::MAX, bits: u64, seed: u64) {
            let drawn = Drawn { draw: Draw::Below(count), bits };
            let mut random = Random::from_seed(seed);
            let own = value(bits, count).0;
            let neighbours: Vec<(u64, bool)> = (0..64).map(|_| value(drawn.neighbour(&mut random), count)).collect();
            prop_assert!(neighbours.iter().all(|&(near, is_taken)| near < count && is_taken));
            prop_assert!(neighbours.iter().any(|&(near, _)| near != own));
            let is_power_away = |near: u64| near.abs_diff(own).is_power_of_two() || near == 0 || near == count - 1;
            prop_assert!(neighbours.iter().all(|&(near, _)| is_power_away(near)));
        }
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
