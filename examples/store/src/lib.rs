//! A store of texts by key on three replicas, as its clients see it.
//!
//! A primary holds a lease, copies each change to a majority before it answers, and answers reads by itself while its
//! lease holds ([`replica`], [`state`]). Clients ask again until they are answered ([`client`]). Test cases have crashes,
//! partitions, losses and clocks that drift ([`configuration`]).
//!
//! A run passes if the oracle finds an order of the clients' calls that a store without any replicas would have answered
//! the same ([`history`]), and if all calls are answered in the end.

pub mod client;
pub mod configuration;
pub mod criteria;
pub mod history;
pub mod messages;
pub mod replica;
pub mod state;

use simutant_sim_core::{Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System};

pub use configuration::TestCase;
pub use messages::StoreMessage;

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct Store;

impl System for Store {
    const NAME: &'static str = "store";

    const UNIVERSE: usize = 500;

    type TestCase = TestCase;
    type Message = StoreMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn configure(case: &TestCase) -> Simulation<StoreMessage> {
        configuration::configure(case)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![criteria::faults(), criteria::load()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_cases_are_valid_and_pass() {
        for index in 0..1_000 {
            let case = simutant_system::universe::<Store>(1, index);
            assert_eq!(Store::validate(&case), Ok(()));
            let ended = Store::configure(&case).run().ended;
            let json = serde_json::to_string(&case).expect("it is plain data");
            assert!(ended.passed(), "{index} {json}: {ended}");
        }
    }

    #[test]
    fn runs_are_repeatable() {
        for index in 0..50 {
            let case = simutant_system::universe::<Store>(2, index);
            let digest = || Store::configure(&case).run().digest;
            assert_eq!(digest(), digest());
        }
    }
}
