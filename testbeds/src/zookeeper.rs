//! ZooKeeper: a client of its wire protocol, a server and an ensemble to start, and test cases on them.
//!
//! Clients of ZooKeeper that others wrote decide themselves when a request goes out, and keep a thread for the answers.
//! [`Client`] does neither: what is in flight, and how much goes out at once, is the caller's to say.

mod client;
mod script;
mod server;
mod testbed;
mod wire;

pub(crate) use testbed::{ZOOKEEPER, ZOOKEEPER_2439, ZOOKEEPER_ENSEMBLE};

pub use client::{Client, ClientError, Reply, Xid};
pub use script::{CallScript, ScriptDomain, ScriptedCall, Sessions, ZooKeeperHistory};
pub use server::{Servers, ensemble, one_server};
