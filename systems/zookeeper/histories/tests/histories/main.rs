//! Histories of clients, judged by the specification: those of papers, and random ones.

mod documented;
#[path = "../../../../../research/checker/src/judge.rs"]
#[expect(clippy::disallowed_types, reason = "nobody sees the order of what has failed")]
#[expect(dead_code, reason = "calls are explained together")]
mod judge;
mod random;
mod sources;
