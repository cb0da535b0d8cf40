//! Measures what a crate's tests cost, as they are instrumented.
//!
//! The mutator links this crate in the place of a campaign's worker. So the tests run as they do in a campaign, but
//! with no simulation around them: the ratio of two builds is that of the code which is instrumented, and of nothing
//! else.

use std::io::Write;
use std::process::ExitCode;

use rustix::time::{ClockId, clock_gettime};
use simutant_probe as probe;

/// The tests of a crate.
#[derive(Debug)]
pub struct Suite(Vec<fn()>);

/// Returns the tests that an `S` has.
pub fn system<S: Default + IntoIterator<Item = (&'static str, fn())>>() -> Suite {
    Suite(S::default().into_iter().map(|(_, test)| test).collect())
}

/// Runs all tests of the first suite again and again, and prints the nanoseconds of processor time that it took once.
///
/// The arguments are how often it is to run and, if the runs are to be recorded, how many blocks, branches,
/// definition-use pairs, conditions and mutants there are; with 0 mutants, only coverage is recorded. Where the lines
/// of files come from is of no interest here.
///
/// # Panics
/// If a test does, or if the arguments are not numbers.
pub fn main(suites: &[Suite], _: &[(&str, &str, &[u32])]) -> ExitCode {
    let numbers: Vec<usize> =
        std::env::args().skip(1).map(|number| number.parse().expect("arguments are numbers")).collect();
    let (repetitions, sizes) = match numbers[..] {
        [repetitions] => (repetitions, None),
        [repetitions, blocks, branches, pairs, conditions, mutants] => {
            (repetitions, Some(probe::RecordingSizes { blocks, branches, pairs, conditions, mutants }))
        }
        _ => return ExitCode::from(2),
    };
    let run = || {
        for test in &suites[0].0 {
            match sizes {
                None => probe::start_clean(u64::MAX),
                Some(sizes) => probe::start_recording(u64::MAX, sizes),
            }
            test();
            std::hint::black_box(probe::finish());
        }
    };
    // Panics of what would have been another value are caught by the probe, and nobody needs to hear of them.
    std::panic::set_hook(Box::new(|_| {}));
    // Memory is got and caches are filled by then.
    (0..repetitions.div_ceil(10)).for_each(|_| run());
    let begun = processor_ns();
    (0..repetitions).for_each(|_| run());
    let spent = processor_ns() - begun;
    match writeln!(std::io::stdout(), "{}", spent as f64 / repetitions as f64) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn processor_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
