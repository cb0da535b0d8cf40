//! Paxos over TCP: replicas decide on a log of values that clients propose. With one decree it is one of the values.
//!
//! After Lamport, *The Part-Time Parliament* (1998). Each replica is an acceptor, which also learns what is decided, a
//! proposer, and a detector of failures, which says who leads: the first replica that is not suspected. A leader asks a
//! majority for promises in a round of its own, once for all decrees. Then, decree after decree, it lets a majority accept a
//! value: that of the highest round in which some of them have accepted one for this decree, or else a client's that is not in
//! the log. It begins a decree when it knows the one before, and another round when a phase fails. Round i is that of replica i
//! modulo their number.
//!
//! | line to a replica | line from a replica |
//! | --- | --- |
//! | `propose CALL VALUE` | `decided CALL VALUE[,VALUE…]`, once it knows: the log up to this value, or all of it if there is no room |
//! | `prepare CALL ROUND` | `promise CALL ROUND [DECREE VOTED VALUE]…`, `refused CALL ROUND PROMISED` |
//! | `accept CALL DECREE ROUND VALUE` | `learn CALL DECREE ROUND VALUE`, `refused CALL ROUND PROMISED` |
//! | `commit CALL DECREE VALUE` | `committed CALL` |
//! | `ping CALL DECREE` | `alive CALL VALUE`, `alive CALL none`: what this decree is, as far as it knows |
//!
//! Words in capitals are whole numbers, of decrees from 1 on and else from 0. VOTED is the round in which VALUE was accepted last
//! for DECREE, and PROMISED is the later round that an acceptor has promised. CALL is a number that a reply repeats: replies to
//! earlier calls are known by it. Decisions may come in any order; a replica tells clients what it knows without gaps.
//! Each line ends in its checksum ([`Checked`](simutant_programs::Checked)): who gets a damaged one closes the connection.
//!
//! A replica appends to its log before it answers, or asks others, so that `kill -9` loses nothing:
//!
//! | line of a replica's log | |
//! | --- | --- |
//! | `promise ROUND` | it accepts nothing in earlier rounds |
//! | `vote DECREE ROUND VALUE` | it has accepted VALUE, and accepts nothing in earlier rounds |
//! | `decided DECREE VALUE` | it has learned what DECREE is |
//! | `round ROUND` | its proposer has taken ROUND |
//!
//! Other files say what happened when, in nanoseconds of `CLOCK_MONOTONIC`:
//!
//! | line | |
//! | --- | --- |
//! | `NANOS learn DECREE VALUE` | a replica has learned this and all decrees before, or finds them in its log when it starts |
//! | `NANOS invoke 1 propose VALUE` | a client is about to send its proposal |
//! | `NANOS return 1 VALUE[,VALUE…]` | a majority has told it this log |
//! | `NANOS fail 1` | that took too long; the value may be decided then or later |
//!
//! The protocol is in `acceptor.rs`, `proposer.rs` and `detector.rs`, free of sockets and clocks; [`serve`] and [`propose`]
//! run it. What a [`Behaviour`] decides is what the [`faults`] get wrong.
//!
//! A crash of the machine may lose what was written last, as logs are not synced.

mod acceptor;
mod behaviour;
mod client;
mod desk;
mod detector;
pub mod faults;
mod message;
#[cfg(test)]
mod orders;
mod proposer;
mod replica;

pub use behaviour::{Behaviour, Correct};
pub use client::{Proposal, propose};
pub use message::{Decree, Number, Promise, Round, Value, Vote};
pub use replica::{NoSuchReplica, Service, serve};
pub use simutant_programs::{Addresses, LogError, ProgramError, Unreadable};
