//! The configuration of go-back-n: test cases, their domain, and the oracle.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_sim_core::{Link, Probability, Random, Simulation, VirtualDuration};
use simutant_system::{Domain, InvalidTestCase, Probabilities};

use super::{File, GbnMessage, receiver, sender};

/// The length of the longest file, in bytes: 240 full segments.
pub const BYTES_MAX: u64 = 335_760;

/// The greatest probability of a loss, and of a duplication.
pub const PROBABILITY_MAX: f64 = 0.20;

const BYTES: RangeInclusive<u64> = 1..=BYTES_MAX;
const PROBABILITIES: Probabilities = Probabilities::up_to(PROBABILITY_MAX);

/// How long every packet is on its way.
const LATENCY: VirtualDuration = VirtualDuration::from_millis(10);

const RECEIVER_PORT: u16 = 1_234;

/// An input vector of go-back-n (Rutherford, PhD thesis, section 4.1.1.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// The length of the file, in bytes: from 1 to [`BYTES_MAX`].
    pub bytes: u64,
    /// The probability that a packet is lost: at most [`PROBABILITY_MAX`].
    pub drop: Probability,
    /// The probability that a packet which is not lost arrives twice: at most [`PROBABILITY_MAX`].
    pub duplicate: Probability,
    /// Fixes which packets are lost and duplicated.
    pub seed: u64,
}

impl TestCase {
    pub(super) fn sample(random: &mut Random) -> Self {
        let bytes = BYTES.draw(random);
        let (drop, duplicate) = (PROBABILITIES.draw(random), PROBABILITIES.draw(random));
        Self { bytes, drop, duplicate, seed: random.bits() }
    }

    pub(super) fn validate(&self) -> Result<(), InvalidTestCase> {
        BYTES.check("bytes", &self.bytes)?;
        PROBABILITIES.check("drop", &self.drop)?;
        PROBABILITIES.check("duplicate", &self.duplicate)
    }
}

pub(super) fn configure(case: &TestCase) -> Simulation<GbnMessage> {
    let &TestCase { bytes, drop, duplicate, seed } = case;
    let mut simulation = Simulation::new(seed);
    simulation.network(Link { drop: drop.into(), duplicate, ..Link::constant(LATENCY) });
    let copy = File::new(&simulation);
    let file = copy.clone();
    simulation.add("receiver", move |context| receiver(context, RECEIVER_PORT, file, bytes));
    let to = simulation.address("receiver", RECEIVER_PORT);
    simulation.add("sender", move |context| sender(context, to, bytes)).expecting(bytes);
    simulation.check("the file was copied", move || copy.check_copy(bytes));
    simulation
}
