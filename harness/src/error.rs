//! What keeps a suite from being run at all. A test case that fails is not an error but a result.

use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::faults::RealNetworkError;
use crate::process::{ProcessExit, is_shortage};
use crate::proxy::ProxyError;
use crate::testbed::InvalidCase;

/// Why a suite cannot be run on an implementation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// The suite and the implementation are of different systems.
    #[error(
        "the suite is for `{suite}`, but the implementation {implementation} is of `{system}`; choose a suite or an implementation of the other system"
    )]
    OtherSystem {
        /// The suite's system.
        suite: String,
        /// The implementation's name.
        implementation: String,
        /// The implementation's system.
        system: String,
    },
    /// A test case of the suite is not one of the system.
    #[error("test case `{name}` of the suite: {source}; correct it, or run the study again to write the suite anew")]
    InvalidCase {
        /// The test case's name.
        name: String,
        /// Says the field.
        source: InvalidCase,
    },
    /// The build command cannot be started.
    #[error(
        "implementation {implementation}: cannot start its `build` command `{program}`: {source}; install the program, or correct the field `build`"
    )]
    BuildNotStarted {
        /// The implementation's name.
        implementation: String,
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The build command ended otherwise than with exit code 0.
    #[error(
        "implementation {implementation}: its `build` command `{command}` ended with {exit}; correct the field `build` or what it builds. Its last output:\n{output}"
    )]
    BuildFailed {
        /// The implementation's name.
        implementation: String,
        /// The command.
        command: String,
        /// How it ended.
        exit: ProcessExit,
        /// The ends of its standard output and its standard error.
        output: String,
    },
    /// The build command did not end in time.
    #[error(
        "implementation {implementation}: its `build` command `{command}` still ran after {limit_ms} ms; see why, or build beforehand"
    )]
    BuildTimedOut {
        /// The implementation's name.
        implementation: String,
        /// The command.
        command: String,
        /// The time limit, in milliseconds.
        limit_ms: u128,
    },
    /// A side cannot be started.
    #[error(
        "implementation {implementation}: {side}: cannot start `{program}`: {}; correct its `command`, or the `build` command that should have made the program",
        why_not_started(why)
    )]
    SideNotStarted {
        /// The implementation's name.
        implementation: String,
        /// The side, the driver or the process, as the implementation's file or the plan has it.
        side: String,
        /// The program.
        program: String,
        /// The system's reason, which the message has in other words: no source that would be shown after it.
        why: io::Error,
    },
    /// A fixture did not become ready.
    #[error(
        "implementation {implementation}: its fixture {what}; correct the `fixture` table of its file, or give it more time with `timeout_s` there. Its last output:\n{output}"
    )]
    FixtureNotReady {
        /// The implementation's name.
        implementation: String,
        /// What it did instead.
        what: String,
        /// The ends of its standard output and its standard error.
        output: String,
    },
    /// A side says that it cannot do its part on this machine.
    #[error("implementation {implementation}: {side} cannot run here, so nothing was tested: {reason}")]
    SideUnavailable {
        /// The implementation's name.
        implementation: String,
        /// The side or the driver, as the implementation's file has it.
        side: String,
        /// What it wrote to standard error last.
        reason: String,
    },
    /// A program that the test case needs beside the implementation cannot be started.
    #[error(
        "cannot start `{program}`, which test cases of `{system}` need beside the implementation: {source}; install it, `cargo xtask test` does so"
    )]
    ServiceNotStarted {
        /// The system.
        system: String,
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The system has no more files or memory to give.
    #[error(
        "cannot {action}: {source}; run fewer jobs at a time (`--jobs`), or raise the limit of open files (`ulimit -n`)"
    )]
    Exhausted {
        /// What was tried.
        action: String,
        /// The system's reason.
        source: io::Error,
    },
    /// No port is free for a side.
    #[error("no UDP port is free for a side: {0}; end programs that hold ports, or run fewer jobs at a time")]
    NoPort(#[source] io::Error),
    /// The test case's own addresses are unavailable.
    #[error(
        "port {port} of a loopback network of the test case's own, such as {address}, is unavailable: {source}; {}",
        if source.kind() == io::ErrorKind::PermissionDenied { "run as root, since servers are asked at that port" }
        else { "end programs that hold this port at all addresses; the system must let every address of 127.0.0.0/8 be bound, as Linux does" }
    )]
    NoNetwork {
        /// The port.
        port: u16,
        /// The address that was tried last.
        address: Ipv4Addr,
        /// The system's reason.
        source: io::Error,
    },
    /// Other processes took the ports that were meant for a side, again and again.
    #[error(
        "side `{side}`: port {port} was taken by another process, and so were those tried before; run fewer jobs at a time"
    )]
    PortTaken {
        /// The side.
        side: String,
        /// The last port that was tried.
        port: u16,
    },
    /// Whether a side has bound its port cannot be seen.
    #[error(
        "side `{side}`: cannot see whether its port is bound: {source}; `ready = \"port\"` needs Linux's /proc: use `ready = {{ line = \"...\" }}`"
    )]
    PortNotSeen {
        /// The side.
        side: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The proxy cannot be started, or failed while the programs ran.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The network of the test case is not valid, or names a component that is no program here.
    #[error("the network of the test case: {0}")]
    Network(#[source] RealNetworkError),
    /// A folder or file of the run cannot be made, read or removed.
    #[error("cannot {action} {}: {source}; check that the folder can be written and has room", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The folder or file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A program with testbeds could not do what it was asked for.
    #[error("{message}")]
    Program {
        /// What kind of error it is.
        class: ErrorClass,
        /// What the program says.
        message: String,
    },
    /// A program with testbeds cannot be started.
    #[error("cannot start the testbed {}: {}", path.display(), why_not_started(why))]
    ProgramNotStarted {
        /// The program.
        path: PathBuf,
        /// The system's reason, which the message has in other words: no source that would be shown after it.
        why: io::Error,
    },
    /// A program with testbeds does not do what such programs do.
    #[error("the testbed {}: {what}; its `main` must be that of `simutant_harness::serve`, and print nothing else to standard output", path.display())]
    BrokenProgram {
        /// The program.
        path: PathBuf,
        /// What it does instead.
        what: String,
    },
    /// A program with testbeds panicked.
    #[error("the testbed {} panicked, as standard error says; its `set_up` and `judge` can return errors instead", path.display())]
    ProgramPanicked {
        /// The program.
        path: PathBuf,
    },
    /// The process that clears up cannot be started.
    #[error("cannot start /bin/sh, which clears up if this process is killed: {0}; the system may be out of processes")]
    Guardian(#[source] io::Error),
}

/// The class of an error that keeps a suite from being run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorClass {
    /// What was given cannot be used.
    BadInput,
    /// Storage is missing.
    Storage,
    /// The implementation cannot be built or run here; others may.
    Implementation,
    /// Something that all need is missing.
    Unavailable,
}

/// Returns why a program was not started.
fn why_not_started(why: &io::Error) -> String {
    if why.kind() == io::ErrorKind::NotFound { "not found".into() } else { why.to_string() }
}

impl From<RealNetworkError> for HarnessError {
    fn from(error: RealNetworkError) -> Self {
        match error {
            RealNetworkError::Proxy(error) => Self::Proxy(error),
            error @ (RealNetworkError::Network(_) | RealNetworkError::UnknownProgram { .. }) => Self::Network(error),
        }
    }
}

impl HarnessError {
    /// Returns what kind of error it is.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::OtherSystem { .. } | Self::InvalidCase { .. } | Self::Network(_) => ErrorClass::BadInput,
            Self::File { .. } => ErrorClass::Storage,
            Self::BuildFailed { .. }
            | Self::BuildNotStarted { .. }
            | Self::BuildTimedOut { .. }
            | Self::SideNotStarted { .. }
            | Self::SideUnavailable { .. }
            | Self::FixtureNotReady { .. } => ErrorClass::Implementation,
            Self::Program { class, .. } => *class,
            Self::ServiceNotStarted { .. }
            | Self::Exhausted { .. }
            | Self::NoPort(_)
            | Self::NoNetwork { .. }
            | Self::PortTaken { .. }
            | Self::PortNotSeen { .. }
            | Self::Proxy(_)
            | Self::ProgramNotStarted { .. }
            | Self::BrokenProgram { .. }
            | Self::ProgramPanicked { .. }
            | Self::Guardian(_) => ErrorClass::Unavailable,
        }
    }

    /// Returns a function that makes a [`HarnessError::File`] of the system's reason, or [`HarnessError::Exhausted`] if
    /// that is it.
    pub fn file(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| {
            let what = format!("{action} {}", path.display());
            Self::exhausted_or(what, source, |source| Self::File { action, path, source })
        }
    }

    /// Returns why there is no port.
    pub(crate) fn no_port(source: io::Error) -> Self {
        Self::exhausted_or("lease a port", source, Self::NoPort)
    }

    /// Returns [`HarnessError::Exhausted`] if that is the system's reason, and what is usual for the action otherwise.
    pub fn exhausted_or(action: impl Into<String>, source: io::Error, usual: impl FnOnce(io::Error) -> Self) -> Self {
        if is_shortage(&source) { Self::Exhausted { action: action.into(), source } } else { usual(source) }
    }
}
