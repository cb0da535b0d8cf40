//! A side of an implementation: a program that plays a role, how it is started, and how it must end.

use std::time::Duration;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::process::ProcessExit;

/// The fixture's name in reports, and the name of the placeholder of its folder.
pub(crate) const FIXTURE: &str = "fixture";

/// Placeholders that any command may use to have more ports than the `{port}` of its role. Each is free for datagrams
/// and for streams.
pub(crate) const FURTHER_PORTS: [&str; 8] = ["port2", "port3", "port4", "port5", "port6", "port7", "port8", "port9"];

/// One program of an implementation.
///
/// ```
/// use simutant_harness::{ExpectedExit, Ready, Side, Stop, StopSignal};
///
/// let side: Side = toml::from_str(
///     r#"
///         name = "server"
///         command = ["./server", "--port", "{port}"]
///         ready = { line = "listening" }
///         exit = "stopped"
///         stop = { signal = "SIGINT" }
///     "#,
/// )?;
/// assert_eq!((side.ready, side.exit), (Ready::Line("listening".to_owned()), ExpectedExit::Stopped));
/// assert_eq!(side.stop, Stop { signal: StopSignal::Int, grace_ms: 2_000 });
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// Its role in the system, for example `receiver`.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Files that it needs, made before it is started.
    #[serde(rename = "file", default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SideFile>,
    /// When the next side may be started.
    #[serde(default)]
    pub ready: Ready,
    /// How it must end.
    #[serde(default)]
    pub exit: ExpectedExit,
    /// How it is told to end, if it does not end by itself.
    #[serde(default, skip_serializing_if = "Stop::is_default")]
    pub stop: Stop,
}

/// The signal that stops a process which does not end by itself, and the grace before it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// The signal that it and all that it started get.
    pub signal: StopSignal,
    /// How long it has to end after that, in milliseconds, until it is killed.
    pub grace_ms: u64,
}

/// SIGTERM, and 2 s.
impl Default for Stop {
    fn default() -> Self {
        Self { signal: StopSignal::Term, grace_ms: 2_000 }
    }
}

impl Stop {
    /// The process is killed.
    pub const KILL: Self = Self { signal: StopSignal::Kill, grace_ms: 0 };

    pub(crate) fn kill() -> Self {
        Self::KILL
    }

    pub(crate) fn is_kill(&self) -> bool {
        *self == Self::KILL
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns how long a process has to end.
    pub(crate) fn grace(self) -> Duration {
        Duration::from_millis(self.grace_ms)
    }
}

/// A signal that tells a process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopSignal {
    /// `"SIGTERM"`
    #[serde(rename = "SIGTERM")]
    Term,
    /// `"SIGINT"`
    #[serde(rename = "SIGINT")]
    Int,
    /// `"SIGHUP"`
    #[serde(rename = "SIGHUP")]
    Hup,
    /// `"SIGQUIT"`
    #[serde(rename = "SIGQUIT")]
    Quit,
    /// `"SIGUSR1"`
    #[serde(rename = "SIGUSR1")]
    Usr1,
    /// `"SIGUSR2"`
    #[serde(rename = "SIGUSR2")]
    Usr2,
    /// `"SIGKILL"`
    #[serde(rename = "SIGKILL")]
    Kill,
}

impl From<StopSignal> for Signal {
    fn from(signal: StopSignal) -> Self {
        match signal {
            StopSignal::Term => Self::TERM,
            StopSignal::Int => Self::INT,
            StopSignal::Hup => Self::HUP,
            StopSignal::Quit => Self::QUIT,
            StopSignal::Usr1 => Self::USR1,
            StopSignal::Usr2 => Self::USR2,
            StopSignal::Kill => Self::KILL,
        }
    }
}

/// A file that a side needs. Both texts have the placeholders of the side's command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideFile {
    /// Its name in the private folder. Where a test case has several programs of the side, it tells them apart:
    /// `router-{id}.conf`.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// When a side is ready, so that the next one may be started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// As soon as it runs.
    #[default]
    Started,
    /// When it has bound the UDP port that it was given. Needs no help from the program, but needs Linux's `/proc`.
    Port,
    /// When a line of its standard output contains this text. The program must flush its output.
    Line(String),
}

/// How a side must end for its test case to pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedExit {
    /// By itself, with exit code 0.
    #[default]
    Success,
    /// When it is stopped: when the others have ended, it gets the signal of its [`Stop`] and, if it stays, SIGKILL.
    /// How it ends then is free. It need not stay until then: if it ends by itself, once it is ready, with exit code 0,
    /// that passes too; with another code, or by a signal, the test case fails.
    Stopped,
    /// By itself, however.
    Any,
    /// By itself, with this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// By itself, with the exit code of a verdict: see [`DriverCommand`](crate::DriverCommand).
    #[serde(skip)]
    Verdict,
}

impl ExpectedExit {
    /// Returns whether a process that nobody told to end may end so.
    pub(crate) fn allows(self, exit: ProcessExit) -> bool {
        match self {
            Self::Success | Self::Stopped => exit.is_success(),
            Self::Any => true,
            Self::Code(code) => exit == ProcessExit::Code(code),
            Self::Signal(number) => exit == ProcessExit::Signal(number),
            Self::Verdict => exit != ProcessExit::UNAVAILABLE,
        }
    }
}

impl Side {
    /// Returns what an implementation's file calls it.
    pub(crate) fn title(&self) -> String {
        match (self.exit, self.name.as_str()) {
            (ExpectedExit::Verdict, _) => "`[driver]`".into(),
            (ExpectedExit::Stopped, FIXTURE) => "`[driver.fixture]`".into(),
            (_, name) => format!("side `{name}`"),
        }
    }

    /// Returns which further ports of its own its texts name.
    pub(crate) fn further_ports(&self) -> impl Iterator<Item = &'static str> {
        FURTHER_PORTS.into_iter().filter(|port| self.names(port))
    }

    /// Returns whether one of its texts has a placeholder.
    pub(crate) fn names(&self, placeholder: &str) -> bool {
        let files = self.files.iter().flat_map(|file| [&file.name, &file.text]);
        let placeholder = format!("{{{placeholder}}}");
        self.command.iter().chain(files).any(|text| text.contains(&placeholder))
    }
}
