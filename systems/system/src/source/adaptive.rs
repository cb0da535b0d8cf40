//! Adaptive random testing: each test case is far from those before it.

use std::collections::VecDeque;

use simutant_random::Random;

use super::parameters::PARAMETERS_MAX;
use super::sampler::{Drawn, Row, sample};
use crate::System;
use crate::system::case_stream;

/// Candidates for each test case.
const CANDIDATES: usize = 10;
/// Test cases before it that a candidate is compared with: without a limit the cost would grow with the square of the
/// size.
const REMEMBERED: usize = 500;
/// As far from each other as a parameter's values can be; where one test case has a parameter and the other has not,
/// they are as far.
const PLACE_MAX: u64 = 1 << 24;

/// The places of the parameters; those that are not there are at the end.
type Places = Vec<u64>;

/// Returns, for each test case, which of its candidates it is. Of equally far ones the first is taken; a candidate that
/// the system does not take is as near as can be.
pub(super) fn candidates<S: System>(parameters: usize, seed: u64, size: usize) -> Vec<usize> {
    let mut chosen: VecDeque<Places> = VecDeque::with_capacity(REMEMBERED + 1);
    (0..size)
        .map(|index| {
            let mut best: Option<(u64, usize, Places)> = None;
            for candidate in 0..CANDIDATES {
                let random = &mut candidate_stream::<S>(seed, index, candidate);
                let drawn = sample::<S>(random, Row::Numbered(Vec::new()), PARAMETERS_MAX);
                let places: Places = drawn.parameters.into_iter().take(parameters).map(Drawn::place).collect();
                let nearest = match S::validate(&drawn.case) {
                    Ok(()) => chosen.iter().map(|other| distance(other, &places)).min().unwrap_or(u64::MAX),
                    Err(_) => 0,
                };
                if best.as_ref().is_none_or(|(known, ..)| nearest > *known) {
                    best = Some((nearest, candidate, places));
                }
            }
            let (_, candidate, places) = best.expect("there are candidates");
            chosen.push_back(places);
            if chosen.len() > REMEMBERED {
                chosen.pop_front();
            }
            candidate
        })
        .collect()
}

/// Returns the stream that a candidate is drawn from.
pub(super) fn candidate_stream<S: System>(seed: u64, index: usize, candidate: usize) -> Random {
    case_stream::<S>(seed, index).stream(&format!("candidate/{candidate}"))
}

/// Returns the square of the distance.
fn distance(one: &[u64], other: &[u64]) -> u64 {
    let common: u64 = one.iter().zip(other).map(|(one, other)| one.abs_diff(*other).pow(2)).sum();
    common + one.len().abs_diff(other.len()) as u64 * PLACE_MAX * PLACE_MAX
}
