//! Measures how often the faulty versions of go-back-n fail, in virtual time, where a busy machine changes nothing.
//!
//! `virtual_failure_rates INPUTS SEED`: the inputs are the first ones of the universe of that seed, and a line is printed
//! for the right program and for each fault.

use std::error::Error;
use std::io::Write;

use simutant_gbn::{Gbn, TestCase};
use simutant_gbn_programs::{Behaviour, Correct, Direction, faults, passes};
use simutant_sim_core::Random;
use simutant_system::universe;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut word = |name| arguments.next().ok_or_else(|| format!("{name} is missing"));
    let (inputs, seed): (usize, u64) = (word("INPUTS")?.parse()?, word("SEED")?.parse()?);
    // A fault that panics fails, and need not say so.
    std::panic::set_hook(Box::new(|_| {}));
    let correct: (&str, &dyn Behaviour) = ("right", &Correct);
    let programs: Vec<(&str, &dyn Behaviour)> = std::iter::once(correct).chain(faults::ALL).collect();
    let mut failures = vec![0; programs.len()];
    for case in (0..inputs).map(|index| universe::<Gbn>(seed, index)) {
        let file = file(&case);
        for ((_, behaviour), failures) in programs.iter().zip(&mut failures) {
            *failures += usize::from(!case_passes(*behaviour, &case, &file));
        }
    }
    for ((name, _), failures) in programs.iter().zip(failures) {
        let percent = 100.0 * failures as f64 / inputs as f64;
        writeln!(std::io::stdout(), "{name}: {failures} of {inputs} failed ({percent:.1} %)")?;
    }
    Ok(())
}

fn file(case: &TestCase) -> Vec<u8> {
    let mut random = Random::from_seed(case.seed).stream("input");
    let words = case.bytes.div_ceil(8);
    let mut file: Vec<u8> = (0..words).flat_map(|_| random.bits().to_le_bytes()).collect();
    file.truncate(case.bytes as usize);
    file
}

fn case_passes(behaviour: &'static dyn Behaviour, case: &TestCase, file: &[u8]) -> bool {
    let random = Random::from_seed(case.seed);
    let (mut forward, mut back) = (random.stream("forward"), random.stream("back"));
    let mut copies = |direction| {
        let random = if direction == Direction::Forward { &mut forward } else { &mut back };
        let mut happens = |probability: f64| f64::from(random.uniform(0..1_000_000_u32)) < probability * 1e6;
        if happens(case.drop.get()) { 0 } else { 1 + usize::from(happens(case.duplicate.get())) }
    };
    passes(behaviour, file, &mut copies)
}
