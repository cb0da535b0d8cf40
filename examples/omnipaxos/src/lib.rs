//! OmniPaxos, a crate for replicated logs that others wrote, as a simulated system.
//!
//! The protocol reads no clock and opens no socket: it is told of messages and ticks, and hands out messages to send.
//! So all that is needed is in this package: servers that carry its messages ([`server`]), a disk that survives crashes
//! ([`disk`]), a client, test cases with crashes and partitions ([`configuration`]), an oracle ([`history`]), and
//! criteria ([`criteria`]).
//!
//! A run passes if no two servers ever decide different logs, no decided command is lost or made up, the client
//! is told that every one of its commands is decided, and, where no packet is lost, in the end every server has them.

pub mod client;
pub mod configuration;
pub mod criteria;
pub mod disk;
pub mod history;
pub mod messages;
pub mod server;

use simutant_sim_core::{Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System};

pub use configuration::TestCase;
pub use messages::ClusterMessage;

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct OmniPaxosSystem;

impl System for OmniPaxosSystem {
    const NAME: &'static str = "omnipaxos";

    const UNIVERSE: usize = 400;

    type TestCase = TestCase;
    type Message = ClusterMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn configure(case: &TestCase) -> Simulation<ClusterMessage> {
        configuration::configure(case)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![criteria::faults(), criteria::environment()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_cases_are_valid_and_pass() {
        for index in 0..150 {
            let case = simutant_system::universe::<OmniPaxosSystem>(1, index);
            assert_eq!(OmniPaxosSystem::validate(&case), Ok(()));
            let ended = OmniPaxosSystem::configure(&case).run().ended;
            let json = serde_json::to_string(&case).expect("it is plain data");
            assert!(ended.passed(), "{index} {json}: {ended}");
        }
    }

    #[test]
    fn runs_are_repeatable() {
        for index in 0..50 {
            let case = simutant_system::universe::<OmniPaxosSystem>(2, index);
            let digest = || OmniPaxosSystem::configure(&case).run().digest;
            assert_eq!(digest(), digest());
        }
    }
}
