//! The tests as a system: a test case is the number of a test, and the only component runs it.

use simutant_sim_core::{Message, Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System};

use crate::CASES;

/// The system; its test cases are indices into [`CASES`].
#[derive(Debug, Default)]
pub struct Tests;

/// The tests send nothing.
#[derive(Debug, Clone, Hash)]
pub enum Nothing {}

impl Message for Nothing {
    fn kind(&self) -> &'static str {
        match *self {}
    }
}

impl System for Tests {
    const NAME: &'static str = "tests";
    const UNIVERSE: usize = 300;
    type TestCase = usize;
    type Message = Nothing;

    fn sample(random: &mut Random) -> usize {
        random.uniform(0..=CASES.len() as u64 - 1) as usize
    }

    fn validate(case: &usize) -> Result<(), InvalidTestCase> {
        if *case < CASES.len() {
            return Ok(());
        }
        Err(InvalidTestCase {
            field: "test".to_owned(),
            value: case.to_string(),
            allowed: format!("from 0 to {}", CASES.len() - 1),
        })
    }

    fn configure(case: &usize) -> Simulation<Nothing> {
        let (name, test) = CASES[*case];
        let mut simulation = Simulation::new(0);
        simulation.add(name, move |_| async move { test() });
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<usize>> {
        Vec::new()
    }
}

/// The tests without a simulation around them: what they cost by themselves can be measured so.
impl IntoIterator for Tests {
    type Item = (&'static str, fn());
    type IntoIter = std::array::IntoIter<Self::Item, { CASES.len() }>;

    fn into_iter(self) -> Self::IntoIter {
        CASES.into_iter()
    }
}
