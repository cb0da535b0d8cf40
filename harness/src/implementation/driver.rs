//! The table `[driver]` of an implementation's file.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ImplementationError;
use crate::history::DriverHistory;
use crate::side::{ExpectedExit, FIXTURE, Ready, Side, SideFile, Stop};
use crate::testbed::Role;

/// The driver's name in reports.
pub(crate) const DRIVER: &str = "driver";

/// Placeholders of a fixture's ports: the name in the fixture's own command, and the name in the driver's. The names
/// differ since the driver has ports of its own.
pub(crate) const FIXTURE_PLACEHOLDERS: [(&str, &str); 9] = [
    ("port", "fixture_port"),
    ("port2", "fixture_port2"),
    ("port3", "fixture_port3"),
    ("port4", "fixture_port4"),
    ("port5", "fixture_port5"),
    ("port6", "fixture_port6"),
    ("port7", "fixture_port7"),
    ("port8", "fixture_port8"),
    ("port9", "fixture_port9"),
];

/// The role of a driver.
pub(crate) const ROLES: [Role; 1] =
    [Role { name: DRIVER, placeholders: &["case", "name", "seed", "port"], listens: false }];

/// The role of a driver that has a fixture.
const ROLE_WITH_FIXTURE: Role = Role {
    name: DRIVER,
    placeholders: &[
        "case",
        "name",
        "seed",
        "port",
        FIXTURE,
        "fixture_port",
        "fixture_port2",
        "fixture_port3",
        "fixture_port4",
        "fixture_port5",
        "fixture_port6",
        "fixture_port7",
        "fixture_port8",
        "fixture_port9",
    ],
    listens: false,
};

/// The role of a fixture.
const FIXTURE_ROLE: Role = Role { name: FIXTURE, placeholders: &["port"], listens: false };

/// The default time limit for a fixture to become ready.
const FIXTURE_TIMEOUT: Duration = Duration::from_mins(1);

/// The table `[driver]`: a command that runs one test case on the implementation, and judges what it did.
///
/// ```toml
/// name = "mine"
/// system = "leases"                                  # any system, with or without a testbed
/// description = "The lease service, in Python"
///
/// [driver]
/// command = ["python3", "{here}/driver.py", "{case}", "{work}"]
/// timeout_s = 60                                     # optional; 30 by default
/// jobs_for_each_core = 4                             # optional; 1 by default
/// processes = "harness"                              # optional; the driver prints a `Plan`, and the harness runs it
/// stop = { signal = "SIGTERM", grace_ms = 5000 }     # optional; at the time limit: killed by default
/// ```
///
/// | placeholder | stands for |
/// | --- | --- |
/// | `{case}` | the path of a file with the test case, as JSON, in its system's own form |
/// | `{name}` | the test case's name in its suite |
/// | `{seed}` | a number that decides what the test case leaves open; another one for each repetition |
/// | `{port}`, `{port2}` to `{port9}` | ports that are free for datagrams and for streams |
/// | `{work}` | the private folder, which the command runs in; it is removed afterwards |
/// | `{here}`, `{build}` | the folder of the file, and the folder to build into |
///
/// | exit code | means |
/// | --- | --- |
/// | 0 | the test case passed |
/// | 1 | it failed; the last line on standard output says why |
/// | 69 | the machine lacks something, which the end of standard error names; the run ends with an error |
/// | 75 | nothing was found out; the last line may say why |
/// | other, or a signal | the driver is broken: nothing was found out |
///
/// The last line on standard output, of at most 64 KiB, is an [`DriverAnswer`](crate::DriverAnswer) as JSON, such as
/// `{"reason": "two holders of lease 3"}`. One that names a history, as `{"history": "calls.jsonl"}`, leaves the verdict to
/// a specification: see [`DriverHistory`]. A driver that ends with 1 and gives no reason is taken for a broken one, as
/// interpreters end so when a program is wrong. A driver that ends with 0 and gives one is broken, too. All that the
/// driver starts in its process group is killed when it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverCommand {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Files that it needs, made before it is started.
    #[serde(rename = "file", default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SideFile>,
    /// The default time limit of a test case, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<NonZeroU64>,
    /// How many test cases run at once for each core by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jobs_for_each_core: Option<NonZeroUsize>,
    /// Who runs the processes of a test case.
    #[serde(default, skip_serializing_if = "ProcessOwner::is_default")]
    pub processes: ProcessOwner,
    /// How it is told to end at its time limit: it is killed by default.
    #[serde(default = "Stop::kill", skip_serializing_if = "Stop::is_kill")]
    pub stop: Stop,
    /// What outlives a test case, if something does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture: Option<FixtureCommand>,
    /// The specification that judges the history of a test case, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<DriverHistory>,
}

/// The owner of a test case's processes, which runs them and injects faults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessOwner {
    /// The driver itself.
    #[default]
    Driver,
    /// The harness, which the driver gives a [`Plan`](crate::Plan).
    Harness,
}

impl ProcessOwner {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The table `[driver.fixture]`: a command that is started before the first test case and goes on after it, such as a
/// cluster that takes long to start.
///
/// ```toml
/// [driver.fixture]
/// command = ["{here}/cluster", "--port", "{port}", "--data", "{work}"]
/// ready = { line = "leader elected" }                # or "started", the default
/// timeout_s = 120                                    # optional; how long it may take to be ready: 60 by default
/// stop = { signal = "SIGTERM", grace_ms = 5000 }     # optional; how it is told to end: it is killed by default
/// ```
///
/// Each job has one of its own. `{work}` is its folder, `{port}` to `{port9}` are ports of its own; a driver knows them
/// as `{fixture}` and `{fixture_port}` to `{fixture_port9}`. It is the driver's part to begin each test case with an
/// empty cluster. After a test case that did not pass the fixture is ended, and started anew for the next one. A test
/// case during which it ended by itself is inconclusive.
///
/// ```
/// use simutant_harness::{FixtureCommand, Ready, Stop};
///
/// let fixture: FixtureCommand = toml::from_str(r#"command = ["{here}/cluster", "--port", "{port}"]"#)?;
/// assert_eq!((fixture.ready, fixture.stop), (Ready::Started, Stop::KILL));
/// # Ok::<(), toml::de::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixtureCommand {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Files that it needs, made before it is started.
    #[serde(rename = "file", default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<SideFile>,
    /// When drivers may use it.
    #[serde(default)]
    pub ready: Ready,
    /// How long it may take to be ready, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_s: Option<NonZeroU64>,
    /// How it is told to end: it is killed by default.
    #[serde(default = "Stop::kill", skip_serializing_if = "Stop::is_kill")]
    pub stop: Stop,
}

impl FixtureCommand {
    /// Returns the side that it is: a server, until it is stopped.
    pub(crate) fn side(&self) -> Side {
        Side {
            name: FIXTURE.into(),
            command: self.command.clone(),
            files: self.files.clone(),
            ready: self.ready.clone(),
            exit: ExpectedExit::Stopped,
            stop: self.stop,
        }
    }

    pub(crate) fn validate(&self, path: &Path) -> Result<(), ImplementationError> {
        self.side().validate(&FIXTURE_ROLE, path)
    }

    /// Returns how long it may take to be ready.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout_s.map_or(FIXTURE_TIMEOUT, |seconds| Duration::from_secs(seconds.get()))
    }
}

impl DriverCommand {
    /// Returns the side that it is.
    pub(crate) fn side(&self) -> Side {
        Side {
            name: DRIVER.into(),
            command: self.command.clone(),
            files: self.files.clone(),
            ready: Ready::Started,
            exit: ExpectedExit::Verdict,
            stop: self.stop,
        }
    }

    pub(crate) fn validate(&self, path: &Path) -> Result<(), ImplementationError> {
        if let Some(history) = &self.history {
            history.validate(self.fixture.is_some(), path)?;
        }
        let Some(fixture) = &self.fixture else { return self.side().validate(&ROLES[0], path) };
        fixture.validate(path)?;
        self.side().validate(&ROLE_WITH_FIXTURE, path)
    }
}
