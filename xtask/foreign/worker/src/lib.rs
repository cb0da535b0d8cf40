//! What the mutator's generated program calls. It does nothing: the crates are run by their own tests.

use std::process::ExitCode;

/// A system, which does nothing.
pub trait System {}

/// Returns nothing that could be run.
pub fn system<S: System>() {}

/// Ends.
pub fn main(_systems: &[()], _lines: &[(&str, &str, &[u32])]) -> ExitCode {
    ExitCode::SUCCESS
}
