//! Simulated distributed systems, each the executable specification of a protocol.
//!
//! A system is a module whose files read in order: messages, components, configuration (test cases, their domain, the
//! oracle), criteria. The files of the components are the specification; the package's manifest names them in
//! `[package.metadata.simutant]`. They are plain Rust on [`simutant_sim_core`], and know nothing of what is measured on
//! them or changed in them.
//!
//! - [`gbn`]: go-back-n, the reliable transfer of a file over a network that loses and duplicates packets, from its
//!   opening to its end; with either of two rules of acknowledgements.
//! - [`gbn_thesis`]: go-back-n as the thesis has it, without an opening and an end.
//! - [`lsr`]: link-state routing, where routers flood what they know and forward messages along the shortest paths.
//! - [`dns`]: the domain name system, where a resolver that remembers answers asks the servers of a tree of zones.
//! - [`zookeeper`]: a tree of nodes with permissions, behind the pipeline of its server.
//! - [`gcd`]: a service that computes greatest common divisors behind a cache.

#[cfg(feature = "dns")]
pub mod dns;
#[cfg(any(feature = "gbn", feature = "gbn-thesis"))]
mod file;
#[cfg(feature = "gbn")]
pub mod gbn;
#[cfg(feature = "gbn-thesis")]
pub mod gbn_thesis;
#[cfg(feature = "gcd")]
pub mod gcd;
#[cfg(feature = "lsr")]
pub mod lsr;
#[cfg(feature = "zookeeper")]
pub mod zookeeper;
