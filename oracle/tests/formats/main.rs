//! Files of histories: what each format means, what is refused and where, round trips, and damaged files.

mod damaged;
#[cfg(feature = "catalogue")]
mod documented;
mod hostile;
mod meaning;
mod refused;
mod round_trips;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// Returns how property tests run: with the same files each time.
fn seeded() -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() }
}
