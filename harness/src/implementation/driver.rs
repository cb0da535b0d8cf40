//! The table `[driver]` of an implementation's file.

use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::ImplementationError;
use crate::side::{ExpectedExit, Ready, Side, SideFile};
use crate::testbed::Role;

/// What reports call the driver.
pub(crate) const DRIVER: &str = "driver";

/// Its role: the one that there is.
pub(crate) const ROLES: [Role; 1] =
    [Role { name: DRIVER, placeholders: &["case", "name", "seed", "port"], listens: false }];

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
/// The last line on standard output, of at most 64 KiB, is an [`Answer`](crate::Answer) as JSON, such as `{"reason": "two holders of lease 3"}`. A driver
/// that ends with 1 and gives no reason is taken for a broken one, as interpreters end so when a program is wrong. All
/// that the driver starts is killed when it ends.
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
        }
    }

    pub(crate) fn validate(&self, path: &Path) -> Result<(), ImplementationError> {
        self.side().validate(&ROLES[0], path)
    }
}
