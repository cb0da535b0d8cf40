//! What the programs of several systems share.
//!
//! Programs share no code with the simulation of the same protocol, as a team that builds a system shares none with the team
//! that specifies it. They have no dependencies but this package and the standard library, so that the harness builds them
//! quickly.

mod installed;
mod options;

pub use installed::{UNAVAILABLE, find};
pub use options::{Options, OptionsError};
