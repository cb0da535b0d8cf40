//! Paxos of one decree, over TCP: replicas decide on one of the values that clients propose.
//!
//! After Lamport, *The Part-Time Parliament* (1998). Each replica is an acceptor, which also learns what is decided, a
//! proposer, and a detector of failures, which says who leads: the first replica that is not suspected. A leader asks a
//! majority for promises in a round of its own, and then lets a majority accept a value: that of the highest round in which
//! some of them have accepted one, or else a client's. Round i is that of replica i modulo their number.
//!
//! | line to a replica | line from a replica |
//! | --- | --- |
//! | `propose CALL VALUE` | `decided CALL VALUE`, once it knows |
//! | `prepare CALL ROUND` | `promise CALL ROUND VOTED VALUE`, `promise CALL ROUND 0 none`, `refused CALL ROUND PROMISED` |
//! | `accept CALL ROUND VALUE` | `learn CALL ROUND VALUE`, `refused CALL ROUND PROMISED` |
//! | `commit CALL VALUE` | `committed CALL` |
//! | `ping CALL` | `alive CALL VALUE`, `alive CALL none`: what is decided, as far as it knows |
//!
//! Words in capitals are whole numbers from 0 on. VOTED is the round in which VALUE was accepted, and PROMISED is the later
//! round that an acceptor has promised. CALL is a number that a reply repeats: replies to earlier calls are known by it.
//!
//! A replica appends to its log before it answers, or asks others, so that `kill -9` loses nothing:
//!
//! | line of a replica's log | |
//! | --- | --- |
//! | `promise ROUND` | it accepts nothing in earlier rounds |
//! | `vote ROUND VALUE` | it has accepted VALUE, and accepts nothing in earlier rounds |
//! | `decided VALUE` | it has learned what is decided |
//! | `round ROUND` | its proposer has taken ROUND |
//!
//! Other files say what happened when, in nanoseconds of `CLOCK_MONOTONIC`:
//!
//! | line | |
//! | --- | --- |
//! | `NANOS learn VALUE` | a replica has learned what is decided, or finds it in its log when it starts |
//! | `NANOS invoke 1 propose VALUE` | a client is about to send its proposal |
//! | `NANOS return 1 VALUE` | a majority has told it what is decided |
//! | `NANOS fail 1` | that took too long; the value may be decided then or later |
//!
//! The protocol is in `acceptor.rs`, `proposer.rs` and `detector.rs`, free of sockets and clocks; [`serve`] and [`propose`]
//! run it. What a [`Behaviour`] decides is what the [`faults`] get wrong.
//!
//! A crash of the machine may lose what was written last, as logs are not synced.

mod acceptor;
mod behaviour;
mod client;
mod detector;
mod error;
pub mod faults;
mod message;
#[cfg(test)]
mod orders;
mod proposer;
mod replica;

pub use behaviour::{Behaviour, Correct};
pub use client::{Proposal, propose};
pub use error::ProgramError;
pub use message::{Number, Promise, Round, Value, Vote};
pub use replica::{Service, serve};
pub use simutant_programs::{Addresses, LogError, Unreadable};
