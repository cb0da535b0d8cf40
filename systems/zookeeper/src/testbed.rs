//! ZooKeeper: a client of its wire protocol, servers to start, and test cases on them.
//!
//! Clients of ZooKeeper that others wrote decide themselves when a request goes out, and keep a thread for the answers.
//! [`Client`] does neither: what is in flight, and how much goes out at once, is the caller's to say.
//!
//! Clients take the walks of the simulated ones, each in a thread and at its own pace: latencies and the times that stages take
//! are the server's own. One server serves all test cases of a job in which no server crashes; each of them has a tree of its own
//! below a node of that server. A test case with a crash has a server of its own, which is killed and started again with its
//! data: clients go on with their sessions when it is there again. Each test case of an ensemble has servers of its own, in ten
//! times the time of the simulation: half a second is the least in which real servers can miss each other.

mod client;
mod connection;
mod own;
mod script;
mod server;
mod walks;
mod wire;

use simutant_harness::Testbeds;

use walks::{ZOOKEEPER, ZOOKEEPER_2439, ZOOKEEPER_ENSEMBLE};

pub use client::{Client, ClientError, Reply, Xid};
pub use script::{CallScript, ScriptDomain, ScriptedCall, Sessions, ZooKeeperHistory};
pub use server::Servers;

/// The testbeds: of one server, of one with ZOOKEEPER-2439, and of three.
pub const TESTBEDS: Testbeds = Testbeds::new(&[&ZOOKEEPER, &ZOOKEEPER_2439, &ZOOKEEPER_ENSEMBLE]);
