//! ZooKeeper: a service that keeps a tree of nodes, with the pipeline of its server.
//!
//! A server takes a request in three stages (Artho et al., "Model-based API testing of Apache ZooKeeper", ICST 2017,
//! II-C). The first one prepares it: it checks what the request needs, on the tree as it will be when all
//! changes that it has let through are done, and makes a [`Transaction`] of it. The second one logs changes,
//! which takes time. The last one changes the tree, answers reads, and replies. Requests are in the stages at
//! the same time, in their order.
//!
//! Clients are driven by a [machine](machine::client): they make synchronous calls, of which they await the answer, and
//! asynchronous ones, of which several are on their way. What all of them saw is judged by
//! [`simutant_zookeeper_histories::ZooKeeper`]: some order of the calls must explain the answers, in which calls of a
//! session keep their order, and so do calls of which one ended before the other began.
//!
//! A read may leave a watch at the server that the client is connected with. The last stage takes the watches of what it
//! changes away, and tells their sessions before it replies, so that each session is told of a change before it sees an
//! answer that shows it. A client that falls silent connects with a short timeout first, as others never say that they are
//! alive: if nothing comes in time, the server of its connection asks for the end of the session as for another change,
//! which deletes its ephemeral nodes, and refuses what it is asked on that connection later.
//!
//! The system [`ZooKeeper`] does what the specification says. [`ZooKeeper2439`] has the fault of ZOOKEEPER-2439: what
//! is noted of a change of permissions, until it is done, has the old permissions. So a client that takes a permission
//! away from itself can still use it right afterwards. [`ZooKeeperEnsemble`] has three servers, which elect a leader.

mod apply;
mod client;
mod configuration;
mod ensemble;
mod log;
pub mod machine;
mod messages;
mod prepare;
mod server;
#[cfg(feature = "testbed")]
#[expect(clippy::disallowed_methods, reason = "real programs take real time")]
pub mod testbed;
mod tree;
mod watches;

use simutant_sim_core::{Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System, TraceCriterion, Walk, criteria};

pub use configuration::{Crash, TestCase, check};
pub use ensemble::{EnsembleTestCase, ServerCrash, ZooKeeperEnsemble, check_ensemble};
pub use messages::{Entry, Origin, PeerMessage, Transaction, ZooKeeperMessage, Zxid};
pub use prepare::AclRecord;
pub use server::{PORT, Speed, server};
pub use tree::{Node, Tree};

/// The system as the specification has it.
#[derive(Debug, Clone, Copy)]
pub struct ZooKeeper;

/// The system with the fault of ZOOKEEPER-2439.
#[derive(Debug, Clone, Copy)]
pub struct ZooKeeper2439;

impl System for ZooKeeper {
    const NAME: &'static str = "zookeeper";

    const UNIVERSE: usize = 1_000;

    type TestCase = TestCase;
    type Message = ZooKeeperMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn walks(case: &mut TestCase) -> Vec<&mut Walk> {
        case.clients.iter_mut().collect()
    }

    fn configure(case: &TestCase) -> Simulation<ZooKeeperMessage> {
        configuration::configure(case, AclRecord::New)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        Vec::new()
    }

    fn trace_criteria() -> Vec<TraceCriterion> {
        [criteria::built_in(), criteria::machines()].concat()
    }
}

impl System for ZooKeeper2439 {
    const NAME: &'static str = "zookeeper-2439";

    /// The same inputs on both.
    const STREAM: &'static str = ZooKeeper::NAME;

    const UNIVERSE: usize = ZooKeeper::UNIVERSE;

    type TestCase = TestCase;
    type Message = ZooKeeperMessage;

    fn sample(random: &mut Random) -> TestCase {
        ZooKeeper::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        ZooKeeper::reseed(case, random)
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn walks(case: &mut TestCase) -> Vec<&mut Walk> {
        ZooKeeper::walks(case)
    }

    fn configure(case: &TestCase) -> Simulation<ZooKeeperMessage> {
        configuration::configure(case, AclRecord::Old)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        ZooKeeper::criteria()
    }

    fn trace_criteria() -> Vec<TraceCriterion> {
        ZooKeeper::trace_criteria()
    }
}

#[cfg(test)]
mod tests;
