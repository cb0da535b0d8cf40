//! The configuration of go-back-n: test cases, their domain, and the oracle.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_sim_core::{Link, Network, Probability, Random, Simulation, VirtualDuration};
use simutant_system::{Domain, InvalidTestCase, Probabilities};

use super::{AcknowledgementRule, File, TransferMessage, receiver, sender};

/// The length of the longest file, in bytes: 240 full segments.
pub const BYTES_MAX: u64 = 335_760;

/// The length of the longest file that counts as small, in bytes: 8 full segments. A quarter of the drawn test cases
/// have small files, since such a transfer is an opening and an end, with little between them.
pub const SMALL_BYTES_MAX: u64 = 11_192;

/// The greatest probability of a loss, and of a duplication.
pub const PROBABILITY_MAX: f64 = 0.20;

const BYTES: RangeInclusive<u64> = 1..=BYTES_MAX;
const PROBABILITIES: Probabilities = Probabilities::up_to(PROBABILITY_MAX);

/// How long every packet is on its way. Packets do not overtake each other.
pub(super) const LATENCY: VirtualDuration = VirtualDuration::from_millis(1);

const RECEIVER_PORT: u16 = 1_234;

/// An input vector of go-back-n. All but the seed are inputs of real programs, too; the seed is chance.
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

/// How many places of the draw of a length each small length has, and each other one.
const PLACES: (u64, u64) = (29, 3);

impl TestCase {
    pub(super) fn sample(random: &mut Random) -> Self {
        let bytes = length_at(random.uniform(0..places()));
        let (drop, duplicate) = (PROBABILITIES.draw(random), PROBABILITIES.draw(random));
        Self { bytes, drop, duplicate, seed: random.bits() }
    }

    pub(super) fn validate(&self) -> Result<(), InvalidTestCase> {
        BYTES.check("bytes", &self.bytes)?;
        PROBABILITIES.check("drop", &self.drop)?;
        PROBABILITIES.check("duplicate", &self.duplicate)
    }
}

/// Returns how many places the draw of a length has.
const fn places() -> u64 {
    SMALL_BYTES_MAX * PLACES.0 + (BYTES_MAX - SMALL_BYTES_MAX) * PLACES.1
}

/// Returns the length at a place of its draw. It never falls, so that small draws are small files.
fn length_at(place: u64) -> u64 {
    let small = SMALL_BYTES_MAX * PLACES.0;
    if place < small { 1 + place / PLACES.0 } else { SMALL_BYTES_MAX + 1 + (place - small) / PLACES.1 }
}

pub(super) fn configure(case: &TestCase, rule: AcknowledgementRule) -> Simulation<TransferMessage> {
    let &TestCase { bytes, drop, duplicate, seed } = case;
    transfer(bytes, Link { drop: drop.into(), duplicate, ..Link::constant(LATENCY) }.into(), rule, seed)
}

/// Returns the transfer of a file of `bytes` bytes over a network, with the oracle.
pub(super) fn transfer(
    bytes: u64,
    network: Network,
    rule: AcknowledgementRule,
    seed: u64,
) -> Simulation<TransferMessage> {
    let mut simulation = Simulation::new(seed);
    simulation.network(network);
    let copy = File::new(&simulation);
    let file = copy.clone();
    simulation.add("receiver", move |context| receiver(context, RECEIVER_PORT, file, bytes, rule)).expecting(Ok(bytes));
    let to = simulation.address("receiver", RECEIVER_PORT);
    simulation.add("sender", move |context| sender(context, to, bytes, rule)).expecting(Ok(bytes));
    simulation.check("the file was copied", move || copy.check_copy(bytes));
    simulation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_has_its_places_and_a_quarter_of_them_are_small() {
        let mut lengths = (0..places()).map(length_at);
        for bytes in 1..=BYTES_MAX {
            let expect = if bytes <= SMALL_BYTES_MAX { PLACES.0 } else { PLACES.1 };
            for _ in 0..expect {
                assert_eq!(lengths.next(), Some(bytes));
            }
        }
        assert_eq!(lengths.next(), None);
        assert_eq!(SMALL_BYTES_MAX * PLACES.0 * 4, places());
    }
}
