//! Three servers, of which one leads and two follow, each with a tree of its own.
//!
//! Clients are connected with any of them. A change goes to the [leader](leader), which prepares it as a single server
//! does, and proposes it; it is done when the leader and one follower have logged it, and each server does it then. So
//! all do the same in the same order (after Junqueira, Reed and Serafini, "Zab: High-performance broadcast for
//! primary-backup systems", DSN 2011). Reads are answered by the server that is asked, which may be behind: what a
//! session sees is in its order, and changes are in one order for all.
//!
//! A server that hears nothing of its leader, or as a leader nothing of its followers, serves nobody, and takes part in
//! the [election](election) of a leader. A [follower](follower) brings its log to the state of the new leader's, and
//! forgets what it has logged and the leader has not.
//!
//! A new leader begins an epoch, and promises before all else to follow no older leader. Its followers promise it by
//! taking over the log. Promises survive crashes, even those to leaders that never had a majority. The election compares
//! logs and the epochs in which they were taken over, not promises. In Zab, a new leader asks a majority for their
//! promises, and exceeds them. Here it exceeds its own, by an epoch that no other server has, and refuses followers with a
//! later promise or a better log. A later promise makes it step down, and then its next epoch exceeds that one.

mod configuration;
mod election;
mod follower;
mod leader;
mod member;
mod replica;

use simutant_sim_core::{Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System, TraceCriterion, Walk};

use super::{ZooKeeper, ZooKeeperMessage};

pub use configuration::{EnsembleTestCase, ServerCrash, check_ensemble};

/// The port at which servers talk to each other.
pub(super) const PEERS: u16 = 2_888;

/// The system with three servers.
#[derive(Debug, Clone, Copy)]
pub struct ZooKeeperEnsemble;

impl System for ZooKeeperEnsemble {
    const NAME: &'static str = "zookeeper-ensemble";

    const UNIVERSE: usize = ZooKeeper::UNIVERSE;

    type TestCase = EnsembleTestCase;
    type Message = ZooKeeperMessage;

    fn sample(random: &mut Random) -> EnsembleTestCase {
        EnsembleTestCase::sample(random)
    }

    fn reseed(case: &EnsembleTestCase, random: &mut Random) -> EnsembleTestCase {
        EnsembleTestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &EnsembleTestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn walks(case: &mut EnsembleTestCase) -> Vec<&mut Walk> {
        case.clients.iter_mut().collect()
    }

    fn configure(case: &EnsembleTestCase) -> Simulation<ZooKeeperMessage> {
        configuration::configure(case, check_ensemble)
    }

    fn criteria() -> Vec<BlackBoxCriterion<EnsembleTestCase>> {
        Vec::new()
    }

    fn trace_criteria() -> Vec<TraceCriterion> {
        ZooKeeper::trace_criteria()
    }
}

#[cfg(test)]
mod tests;
