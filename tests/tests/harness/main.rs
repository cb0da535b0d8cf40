//! The harness from end to end: real programs, real sockets, real trouble.

mod leftovers;
mod mutants;
mod python;
mod support;
mod trouble;
