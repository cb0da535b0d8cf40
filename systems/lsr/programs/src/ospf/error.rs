//! Why a test case cannot be played to its end.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a test case cannot be played to its end.
#[derive(Debug)]
pub enum OspfError {
    /// A program is not installed.
    NotInstalled {
        /// The program.
        program: &'static str,
        /// The package that has it on Debian.
        package: &'static str,
    },
    /// The system does not let this process have namespaces.
    NoNamespaces(String),
    /// The network cannot be made, or cannot be looked at.
    Network {
        /// The command that failed.
        command: String,
        /// What it said.
        reason: String,
    },
    /// A program cannot be started.
    NotStarted(&'static str, io::Error),
    /// A file or folder cannot be written.
    File(PathBuf, io::Error),
    /// A daemon ended by itself.
    DaemonEnded {
        /// The router that it played.
        router: u8,
        /// Its program.
        program: &'static str,
        /// How it ended.
        status: ExitStatus,
    },
}

impl OspfError {
    /// Returns whether the machine lacks something, so that nothing is known of the daemons.
    pub fn is_unavailable(&self) -> bool {
        !matches!(self, Self::DaemonEnded { .. })
    }
}

impl std::error::Error for OspfError {}

impl std::fmt::Display for OspfError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotInstalled { program, package } => {
                write!(
                    formatter,
                    "`{program}` is not installed: Debian has it in the package {package}, which `cargo xtask test` installs"
                )
            }
            Self::NoNamespaces(reason) => {
                write!(
                    formatter,
                    "namespaces are unavailable, so there is no network to route in: {reason}; run as root, on Linux"
                )
            }
            Self::Network { command, reason } => write!(formatter, "`{command}` failed: {reason}"),
            Self::NotStarted(program, source) => write!(formatter, "cannot start `{program}`: {source}"),
            Self::File(path, source) => write!(formatter, "cannot write {}: {source}", path.display()),
            Self::DaemonEnded { router, program, status } => {
                write!(formatter, "`{program}` of router {router} ended by itself: {status}")
            }
        }
    }
}
