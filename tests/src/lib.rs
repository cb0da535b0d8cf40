//! Implementations under test: real programs that the harness runs, and the end-to-end tests that run them.
//!
//! [`gbn`] is go-back-n over UDP, [`lsr`] link-state routing over UDP, [`dns`] a resolver of the domain name system.
//! All are written from the protocol's description alone; they share no code with the simulation of the same protocol,
//! as a team that builds a system shares none with the team that specifies it. Beside the correct programs there are
//! faulty ones, each with one mistake that people make.
//!
//! This package has no dependencies but the standard library, so that the harness can build the programs quickly.

pub mod dns;
pub mod gbn;
pub mod lsr;
mod options;
pub mod ospf;
pub mod programs;

pub use options::{Options, OptionsError};
