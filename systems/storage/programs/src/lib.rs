//! A register that is replicated on servers, over TCP: clients read and write it by quorum calls.
//!
//! After Attiya, Bar-Noy and Dolev, *Sharing Memory Robustly in Message-Passing Systems* (1995), and for several
//! writers Lynch and Shvartsman, *Robust Emulation of Shared Memory Using Dynamic Quorum-Acknowledged Broadcasts*
//! (1997). Each server holds a value with a timestamp, which is a number and the number of the writer. A majority of
//! the servers is a quorum, and any two have a server in common: who reads from one meets what was written to another.
//!
//! | line from a client | line from a server |
//! | --- | --- |
//! | `read CALL` | `value CALL NUMBER WRITER VALUE`, `value CALL 0 0 none` |
//! | `write CALL NUMBER WRITER VALUE` | `ack CALL yes`, `ack CALL no`: it holds something newer |
//!
//! Words in capitals are whole numbers from 0 on. Each line ends in its checksum
//! ([`Checked`](simutant_programs::Checked)): who gets a damaged one closes the connection. A server appends `write NUMBER WRITER VALUE` to its log before
//! it answers: what it has acknowledged survives `kill -9`, and a crash of the machine, too, with `--sync true`.
//!
//! A client does what its script says, and appends to its log when it calls and when the call ends, in nanoseconds of
//! `CLOCK_MONOTONIC`. CALL here is the place of the call in the script, from 1 on:
//!
//! | line of a client's log | |
//! | --- | --- |
//! | `NANOS invoke CALL read`, `NANOS invoke CALL write VALUE` | before anything is sent |
//! | `NANOS return CALL VALUE`, `NANOS return CALL none` | a read has its value |
//! | `NANOS return CALL done` | a write is over |
//! | `NANOS fail CALL` | there was no quorum in time; a write may still take effect, then or later |
//!
//! The register is *regular* with `--reads regular`: a read returns the last value that was written before it, or one
//! that is being written. It is *atomic* with `--reads atomic`, where a reader writes back what it has read: reads that
//! follow each other never go back to an older value.
//!
//! A client that is killed and started again does not know its last timestamp, and may take one again: servers that
//! have it acknowledge the new value and keep the old one. So a writer that is started again needs a new number, and
//! `--writers several`.
//!
//! The decisions are in a [`Behaviour`], which the [`faults`] get wrong; [`serve`] and [`run_session`] are the
//! programs.

mod behaviour;
pub mod faults;
mod message;
mod register;
mod serve;
mod session;
mod store;

pub use behaviour::{Behaviour, Correct};
pub use message::{Content, Timestamp};
pub use register::{Reads, Writers};
pub use serve::{Service, serve};
pub use session::{Script, Session, Step, run_session};
pub use simutant_programs::{Addresses, LogError, ProgramError, Unreadable};
