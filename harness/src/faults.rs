//! Faults of a test case on running processes: from the same values that a simulation takes.
//!
//! [`Schedule::new`] makes of [`Faults`](simutant_sim_core::Faults) an ordered list of injections: processes are killed
//! with all that they started, started again, stopped for a time and continued. A [`RealNetwork`] is a
//! [`Network`](simutant_sim_core::Network) between programs, for datagrams and for connections. What neither of them
//! can do is said in words, for the notes of a trial.
//!
//! An implementation's driver asks for both with a [`Plan`]; a testbed in Rust with
//! [`Environment::schedule`](crate::Environment::schedule), and a network of its own.

mod network;
mod plan;
mod scale;
mod schedule;
mod servers;

#[cfg(test)]
pub(crate) use network::any_loopback_port;
pub use network::{NetworkProgram, RealNetwork, RealNetworkError};
pub(crate) use plan::{Notice, What};
pub use plan::{Plan, PlannedProcess};
pub use scale::{InvalidTimeScale, TimeScale};
pub use schedule::{Injection, Schedule, ScheduledInjection};
pub use servers::ServerNetwork;
