//! The configuration of go-back-n: test cases, their domain, and the oracle.

use serde::{Deserialize, Serialize};
use simutant_sim_core::{Link, Probability, Random, Simulation, VirtualDuration};
use simutant_system::InvalidTestCase;

use super::{File, GbnMessage, receiver, sender};

/// The length of the longest file, in bytes: 240 full segments.
pub const BYTES_MAX: u64 = 335_760;

/// The greatest probability of a loss, and of a duplication.
pub const PROBABILITY_MAX: f64 = 0.20;

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
        let bytes = random.uniform(1..=BYTES_MAX);
        // In steps of 0.0001, so that people can read and write test cases.
        let mut probability = || {
            let value = f64::from(random.uniform(0..=(PROBABILITY_MAX * 10_000.0) as u32)) / 10_000.0;
            Probability::new(value).expect("a share of a probability is a probability")
        };
        let (drop, duplicate) = (probability(), probability());
        Self { bytes, drop, duplicate, seed: random.bits() }
    }

    pub(super) fn validate(&self) -> Result<(), InvalidTestCase> {
        if !(1..=BYTES_MAX).contains(&self.bytes) {
            let (field, value) = ("bytes".to_owned(), self.bytes.to_string());
            return Err(InvalidTestCase { field, value, allowed: format!("from 1 to {BYTES_MAX}") });
        }
        for (field, probability) in [("drop", self.drop), ("duplicate", self.duplicate)] {
            if probability.get() > PROBABILITY_MAX {
                let (field, value) = (field.to_owned(), probability.to_string());
                return Err(InvalidTestCase { field, value, allowed: format!("from 0 to {PROBABILITY_MAX}") });
            }
        }
        Ok(())
    }
}

pub(super) fn configure(case: &TestCase) -> Simulation<GbnMessage> {
    let &TestCase { bytes, drop, duplicate, seed } = case;
    let mut simulation = Simulation::new(seed);
    simulation.network(Link { drop: drop.into(), duplicate, ..Link::constant(LATENCY) });
    let copy = File::new();
    let file = copy.clone();
    simulation.add("receiver", move |context| receiver(context, RECEIVER_PORT, file, bytes));
    let to = simulation.address("receiver", RECEIVER_PORT);
    simulation.add("sender", move |context| sender(context, to, bytes)).expecting(bytes);
    simulation.check("the file was copied", move || copy.check_copy(bytes));
    simulation
}
