//! Sources that place the parameters of each test case without looking at it: Latin hypercube, Sobol, boundary values.

use super::sampler::Position;
use super::{Positions, source_stream};
use crate::System;

/// Test cases that the Sobol sequence has.
const SOBOL_MAX: usize = 1 << 16;

/// Each stratum of each parameter has one test case; which ones come together is random.
pub(super) fn latin_hypercube<S: System>(parameters: usize, seed: u64, size: usize) -> Vec<Positions> {
    let mut rows = vec![Positions::new(); size];
    for parameter in 0..parameters {
        let mut random = source_stream::<S>(seed, &format!("latin hypercube/{parameter}"));
        let mut strata: Vec<usize> = (0..size).collect();
        random.shuffle(&mut strata);
        for (row, stratum) in rows.iter_mut().zip(strata) {
            // Within the stratum the place is random.
            let place = ((stratum as u128) << 64 | u128::from(random.bits())) / size as u128;
            row.push(Some(Position::Place((place >> 32) as u32)));
        }
    }
    rows
}

/// The scrambling is a function of the seed; each parameter is a dimension.
pub(super) fn sobol<S: System>(parameters: usize, seed: u64, size: usize) -> Vec<Positions> {
    let scrambling = (source_stream::<S>(seed, "sobol").bits() >> 32) as u32;
    let place = |index: usize, parameter: usize| {
        let unit = sobol_burley::sample(index as u32, parameter as u32, scrambling);
        // A multiple of 2^-24 below 1, so that nothing is rounded.
        Some(Position::Place((f64::from(unit) * 4_294_967_296.0) as u32))
    };
    (0..size.min(SOBOL_MAX)).map(|index| (0..parameters).map(|parameter| place(index, parameter)).collect()).collect()
}

/// One at a time, then in pairs.
pub(super) fn boundary(parameters: usize, size: usize) -> Vec<Positions> {
    let row = |ends: &[(usize, u32)]| {
        let mut row = vec![None; parameters];
        ends.iter().for_each(|&(parameter, end)| row[parameter] = Some(Position::Level(end, 2)));
        row
    };
    let one = (0..parameters).flat_map(|parameter| [0, 1].map(|end| row(&[(parameter, end)])));
    let pairs = (0..parameters).flat_map(|second| (0..second).map(move |first| (first, second)));
    let two = pairs.flat_map(|(first, second)| {
        [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(of_first, of_second)| row(&[(first, of_first), (second, of_second)]))
    });
    one.chain(two).take(size).collect()
}
