//! The parameters of a system, as some of its test cases show them.

use simutant_random::Draw;

use super::sampler::{Drawn, Row, sample};
use super::source_stream;
use crate::System;

/// Parameters beyond this many are random.
pub(super) const PARAMETERS_MAX: usize = 12;
/// Test cases that are looked at.
const PROBES: usize = 100;
/// A draw of at most so many values has a level for each.
const LEVELS_OF_ALL_MAX: u64 = 8;
/// Levels of any other draw.
const LEVELS: u32 = 5;

/// The parameters that are structured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parameters {
    /// How many levels each has.
    pub(super) levels: Vec<u32>,
}

impl Parameters {
    pub(super) fn of<S: System>(seed: u64) -> Self {
        let stream = source_stream::<S>(seed, "probe");
        let probe = |probe: usize| {
            let random = &mut stream.stream(&probe.to_string());
            sample::<S>(random, Row::Numbered(Vec::new()), PARAMETERS_MAX).parameters
        };
        let probes: Vec<Vec<Drawn>> = (0..PROBES).map(probe).collect();
        let mut levels = Vec::new();
        loop {
            let drawn: Vec<Draw> = probes.iter().filter_map(|probe| Some(probe.get(levels.len())?.draw)).collect();
            if drawn.len() * 2 < PROBES {
                return Self { levels };
            }
            let count_max = drawn.into_iter().map(|draw| match draw {
                Draw::Below(count) => count,
                Draw::Unit | Draw::Bits => u64::MAX,
            });
            let count_max = count_max.max().expect("there are draws");
            levels.push(if count_max <= LEVELS_OF_ALL_MAX { count_max as u32 } else { LEVELS });
        }
    }

    pub(super) fn count(&self) -> usize {
        self.levels.len()
    }
}
