//! What the programs of several systems share.
//!
//! Programs share no code with the simulation of the same protocol, as a team that builds a system shares none with the team
//! that specifies it. They have no dependencies but this package and the standard library, so that the harness builds them
//! quickly. This package has one, for the feature `clock`.

mod addresses;
mod checked;
#[cfg(feature = "clock")]
mod clock;
mod connect;
mod error;
mod installed;
mod lines;
mod log;
mod options;
pub mod quorum;

pub use addresses::Addresses;
pub use checked::Checked;
#[cfg(feature = "clock")]
pub use clock::monotonic_nanos;
pub use connect::connect;
pub use error::ProgramError;
pub use installed::{UNAVAILABLE, find};
pub use lines::{Damaged, Sending, Unreadable, end, read_checked_lines, read_lines, word};
pub use log::{Log, LogError};
pub use options::{Options, OptionsError};
