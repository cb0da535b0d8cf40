//! Code of the kind that simulations of distributed systems are made of, with thirty tests: what
//! `cargo xtask bench mutation` mutates.
//!
//! Each of [`CASES`] is an ordinary test, and with the feature `system` a test case of the system [`system::Tests`]. So
//! tools that mutate ordinary crates and Simutant can be given the same code and the same tests.

pub mod checksum;
pub mod event_queue;
pub mod go_back_n;
pub mod lease;
pub mod ring;
#[cfg(feature = "system")]
pub mod system;
mod tests;

pub use tests::CASES;
