//! How the test cases of Simutant's own systems become real programs on real networks.
//!
//! The guide (`docs/src/guide/implementations.md`) says which roles there are, what their placeholders stand for, and
//! when a test case passes. Implementations of `gbn` run the test cases of `gbn-last-ack` and `gbn-thesis` as well: the
//! inputs are the same.
//!
//! # What is and what is not as in the simulation
//! The proxy of `gbn` drops and duplicates as the simulated network does: it decides first whether a datagram is
//! dropped, and only of one that is not whether it is duplicated, with the probabilities of the test case. The
//! simulated latency is not reproduced: the proxy passes datagrams on at once, both copies one after the other, and
//! does not reorder them. A mistake that only shows when packets take long or overtake each other may show in the
//! simulation and not here. Streams of random numbers differ, so a seed does not lose the same packets here as there.
//!
//! The links of `lsr` delay datagrams as the simulated network does, and in what order they arrive is decided by that:
//! the n-th datagram of a router takes as long as the n-th packet of the simulated router with the same test case does,
//! and what the machine adds. Routers start as far apart as there, too. A side that plays the whole network is told no
//! delays.
//!
//! Between a resolver and the servers of `dns` packets are lost and doubled as in the simulation, in both directions,
//! but take no time. Streams are whole. More is right than in the simulation, whose oracle knows the one resolver that
//! it judges: a real one may forget what it might keep, and so tell any time to live up to the original one, and say
//! whatever else it likes beside the answer.
//!
//! Clients of `zookeeper` take the walks of the simulated ones, each in a thread and at its own pace: latencies and the
//! times that stages take are the server's own, and it is not crashed. One server serves all test cases of a job; each
//! of them has a tree of its own below a node of that server.

mod dns;
mod gbn;
mod lsr;
pub mod zookeeper;

use serde_json::Value;
use simutant_harness::{InvalidCase, Testbeds};
use simutant_system::System;

use dns::DnsTestbed;
use gbn::{GBN, GBN_LAST_ACK, GBN_THESIS};
use lsr::{LsrNetworkTestbed, LsrTestbed};
use zookeeper::{ZOOKEEPER, ZOOKEEPER_2439, ZOOKEEPER_ENSEMBLE};

/// The testbeds of all systems that come with Simutant.
pub const TESTBEDS: Testbeds = Testbeds::new(&[
    &GBN,
    &GBN_LAST_ACK,
    &GBN_THESIS,
    &LsrTestbed,
    &LsrNetworkTestbed,
    &DnsTestbed,
    &ZOOKEEPER,
    &ZOOKEEPER_2439,
    &ZOOKEEPER_ENSEMBLE,
]);

/// Returns a test case of a system that is in its domain.
fn valid<S: System>(case: &Value) -> Result<S::TestCase, InvalidCase> {
    let case = serde_json::from_value(case.clone()).map_err(|error| InvalidCase::malformed(&error))?;
    S::validate(&case).map_err(InvalidCase::outside_domain)?;
    Ok(case)
}
