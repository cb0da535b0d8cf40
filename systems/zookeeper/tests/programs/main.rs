//! Servers of ZooKeeper, and simulated ones with a mistake.

mod mistakes;
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "real programs take real time")]
mod servers;
