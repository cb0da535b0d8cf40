//! The harness from end to end: real programs, real sockets, real trouble.

mod dns;
mod faults;
mod leftovers;
mod lsr;
mod mutants;
mod ospf;
mod python;
mod support;
mod trouble;
mod udp;
