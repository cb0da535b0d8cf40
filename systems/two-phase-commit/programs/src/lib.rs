//! Two-phase commit over TCP: a coordinator asks workers for their votes, and tells them what it decides.
//!
//! After Gray, *Notes on Data Base Operating Systems* (1978), with presumed abort (Mohan, Lindsay and Obermarck, 1986):
//! a coordinator that finds a transaction without a decision in its log has crashed, and aborts it. Workers connect to
//! the coordinator, again and again after it has crashed. Who connects is asked and told what it has missed, so that a
//! crash of either delays a transaction and loses nothing.
//!
//! | line from a worker | line from the coordinator |
//! | --- | --- |
//! | `worker N`: the first one | `can-commit T` |
//! | `vote T yes`, `vote T no` | `decision T commit`, `decision T abort` |
//! | `ack T` | |
//!
//! A decision is told to all workers. A transaction is completed when all have acknowledged its decision but those that
//! voted no. Logs are lines, appended before anything is said that depends on them: what is written survives `kill -9`,
//! and a crash of the machine, too, with `--sync true`.
//!
//! The protocol is in `coordinator.rs` and `worker.rs`, free of sockets and clocks; [`coordinate`] and [`work`] run it.
//! What a [`Behaviour`] decides is what the [`faults`] get wrong.
//!
//! A machine that vanishes without closing its connections is not noticed: nothing is sent to see who is there.

mod behaviour;
mod coordinate;
mod coordinator;
pub mod faults;
mod message;
mod work;
mod worker;

pub use behaviour::{Behaviour, Correct};
pub use coordinate::{Coordination, PATIENCE, Source, coordinate};
pub use message::{Decision, Vote, Votes};
pub use simutant_programs::{LogError, ProgramError, Unreadable};
pub use work::{Work, work};
pub use worker::CommitWithoutVote;
