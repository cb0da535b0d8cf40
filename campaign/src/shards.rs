//! A campaign on several machines: it is prepared here, its test cases run in shards anywhere, and their results are
//! merged into the journal.
//!
//! ```text
//!  Campaign::prepare            Bundle::run_shard, on any machine, n of them       merge
//!  universe, baseline,  ──────> check the machine, run the mutants on the  ──────> check, take what is new,
//!  limits                bundle test cases `i` with `i mod n = k`         results  demand equality of the rest
//! ```
//!
//! Nothing here starts a process on another machine or listens: what places shards, repeats them or copies files is an
//! engine for that, such as Slurm, or a person.
//!
//! # What can be relied on
//!
//! - A campaign whose shards were merged has the outcomes that it would have without shards.
//! - A shard needs its bundle alone: no source and no compiler. It writes one file, as a whole.
//! - A shard can run twice, on two machines, even at the same time: [`merge`] takes what it lacks and demands that
//!   what it has already is the same. If there are several shards, some test cases are in two of them, so that it has
//!   something to compare.
//! - A machine on which the original does something else than on the preparing one runs no mutant: a shard records a
//!   sample of its test cases again first, on both executables. An error of ours is no kill, there as here.
//! - Results of another plan, source or release, and files that are damaged, are refused, and the journal stays as it was.

mod bundle;
mod error;
mod identity;
mod machine;
mod mathematics;
mod merge;
mod result;
mod run;

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use simutant_outcomes::BitSet;

pub use bundle::{Bundle, TimeTrial};
pub use error::{OtherRun, ShardError};
pub use machine::Machine;
pub use merge::{Merged, merge, merge_usable};
pub use run::ShardRun;

use crate::sample;

/// Which part of a campaign's test cases: number `index`, from 0 on, of `of` parts. It is written `index/of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u32,
    of: NonZeroU32,
}

/// A text is not the number of a shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("give the shard as K/N, with K from 0 to N - 1, for example 0/8")]
pub struct NoShard;

impl Shard {
    /// Returns part `index` of `of`; `None` if there is no such part.
    pub fn new(index: u32, of: NonZeroU32) -> Option<Self> {
        (index < of.get()).then_some(Self { index, of })
    }

    /// Returns whether a number is in this part: every `of`-th one from `index` on.
    pub const fn contains(self, number: usize) -> bool {
        number % self.of.get() as usize == self.index as usize
    }

    /// Removes the items that are not in this part, by their places.
    pub fn retain<T>(self, items: &mut Vec<T>) {
        let mut number = 0..;
        items.retain(|_| number.next().is_some_and(|number| self.contains(number)));
    }

    /// Returns the test cases of a universe of so many that are in this part: every `of`-th one from `index` on, which
    /// balances parts better than blocks where test cases grow with their number, and some of the part before it, so
    /// that two machines run them.
    pub(crate) fn cases(self, seed: u64, universe: usize) -> BitSet {
        let (index, of) = (self.index as usize, self.of.get() as usize);
        let mut cases: BitSet = (index..universe).step_by(of).collect();
        cases.grow(universe);
        if of > 1 {
            let before = (index + of - 1) % of;
            cases.extend(sample::overlap(seed, universe).into_iter().filter(|case| case % of == before));
        }
        cases
    }
}

impl FromStr for Shard {
    type Err = NoShard;

    fn from_str(text: &str) -> Result<Self, NoShard> {
        let (index, of) = text.split_once('/').ok_or(NoShard)?;
        let (index, of) = (index.parse().map_err(|_| NoShard)?, of.parse().map_err(|_| NoShard)?);
        Self::new(index, of).ok_or(NoShard)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    #[test]
    fn a_shard_is_read_as_it_is_written() {
        for text in ["0/1", "0/8", "7/8", "4294967294/4294967295"] {
            assert_eq!(text.parse().map(|shard: Shard| shard.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "1", "8/8", "1/0", "-1/8", "1/8/2", "a/b", "1 /8"] {
            assert_eq!(text.parse::<Shard>(), Err(NoShard), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn shards_have_every_test_case_once_but_for_the_overlap(seed: u64, universe in 0_usize..600, of in 1_u32..40) {
            let mut times = vec![0_usize; universe];
            for index in 0..of {
                let shard = Shard::new(index, NonZeroU32::new(of).expect("one at least")).expect("it is a part");
                shard.cases(seed, universe).ones().for_each(|case| times[case] += 1);
            }
            let overlap = sample::overlap(seed, universe);
            for (case, &times) in times.iter().enumerate() {
                prop_assert_eq!(times, 1 + usize::from(of > 1 && overlap.contains(&case)));
            }
        }
    }
}
