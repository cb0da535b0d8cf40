//! Runs chosen inputs on real implementations, over real sockets, behind a lossy network.
//!
//! A study of a simulation chooses test inputs: a [`Suite`](simutant_outcomes::Suite). This crate runs them on
//! programs and gives a [`Verdict`] on each. It knows no system. What it needs to know of
//! one is said in either of two ways:
//!
//! - A **driver** is a command of the implementation's own, in any language: it is given the test case as a file, runs
//!   it, judges what happened, and answers by its exit code and a line of JSON. See [`DriverCommand`].
//! - A [`Testbed`] maps test cases to processes: it says which [`Role`]s there are, makes an [`Environment`] for a test
//!   case (its files and its network), says which processes play the roles in it, and judges what they left. Then an
//!   implementation is a TOML file with a command for each role. See [`Implementation`].
//!
//! [`run_suite`] builds the implementation, runs each test case in a private folder, several at a time, and returns a
//! [`TestReport`].
//!
//! # A whole program
//! ```
//! use simutant_harness::{RunOptions, Testbeds, run_suite};
//! use simutant_outcomes::{Suite, Verdict};
//! # use std::path::Path;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let implementation = Testbeds::NONE.parse(
//!     r#"
//!         name = "doubling"
//!         system = "doubles"
//!         description = "Doubles a number, unless that is 13"
//!
//!         [driver]
//!         command = ["sh", "-c", """
//!             number=$(tr -dc 0-9 < {case})
//!             doubled=$((number == 13 ? 13 : 2 * number))
//!             [ $doubled = $((number + number)) ] && exit 0
//!             echo '{{"reason": "the double of '$number' is not '$doubled'"}}'
//!             exit 1
//!         """]
//!     "#,
//!     Path::new("doubling.toml"),
//!     Path::new("."),
//! )?;
//! let suite = Suite::parse(
//!     r#"{
//!         "format_version": 1, "system": "doubles", "criterion": "IP-1", "chosen": "by hand", "seed": 1,
//!         "mutant_score": null, "dominator_score": null,
//!         "cases": [{ "name": "a", "case": { "number": 12 } }, { "name": "b", "case": { "number": 13 } }]
//!     }"#,
//!     "doubles",
//! )?;
//! # let build = tempfile::tempdir()?;
//! # let build_directory = build.path();
//! let report = run_suite(&suite, &implementation, &RunOptions::new(build_directory), &mut |_| {})?;
//! assert_eq!(report.results[0].verdict, Verdict::Pass);
//! let finding = report.results[1].verdict.finding().expect("it is wrong");
//! assert_eq!(finding.summary, "the double of 13 is not 13");
//! # Ok(())
//! # }
//! ```
//!
//! # What is and what is not repeatable
//! The n-th datagram of a direction has the same fate in every run with the same seeds. Which datagram is the n-th is
//! up to the programs and the scheduler. So a failure that depends on timing may need several runs to show again, and a
//! pass shows that this run went well: no more. [`RunOptions::repetitions`] tells how often a test case fails.
//!
//! # Nothing is left behind
//! Programs run in process groups and private folders of their own. Both are removed when a test case ends, when the
//! harness fails, and when it is killed, by SIGKILL too. A process that leaves its group on purpose is not followed. A
//! program that cannot run on this machine says so with exit code 69: that is no failure, but
//! [`HarnessError::SideUnavailable`].

mod attempt;
mod building;
mod driver;
mod error;
mod failure;
mod faults;
mod fixture;
mod folder;
mod history;
mod implementation;
mod lines;
mod loopback;
mod ports;
mod process;
mod program;
mod programs;
mod proxy;
mod report;
mod results;
mod run;
mod side;
#[cfg(test)]
mod test_support;
mod testbed;
mod trials;

pub use building::build_first;
pub use driver::DriverAnswer;
pub use error::{ErrorClass, HarnessError};
pub use failure::{Pace, ProcessFailure, Traffic};
pub use faults::{
    Injection, InvalidTimeScale, NetworkProgram, Plan, PlannedProcess, RealNetwork, RealNetworkError, Schedule,
    ScheduledInjection, ServerNetwork, TimeScale,
};
pub use fixture::Fixture;
pub use history::{DriverHistory, HistoryJudge, JudgeHistories};
pub use implementation::{
    ActiveMutant, DriverCommand, FixtureCommand, Implementation, ImplementationError, MutatedPackage, ProcessOwner,
};
pub use lines::TrialLogError;
pub use loopback::Loopback;
pub use ports::{Lease, has_unread};
pub use process::{OutputTail, ProcessExit, is_shortage};
pub use program::{TestbedProgram, serve};
pub use proxy::{
    Activity, CLIENTS_MAX, DatagramFate, DatagramFates, DirectionCounts, Linked, Links, Losses, LossyServers,
    MessageListener, ProxyCounts, ProxyError, Served, Unsent,
};
pub use report::{CaseResult, EndedProcess, MissingFaults, TestReport};
pub use results::ResultLog;
pub use run::{RunOptions, run_some, run_suite};
pub use side::{ExpectedExit, Ready, Side, SideFile, Stop, StopSignal};
pub use testbed::{
    Clients, Conclusion, Environment, InputContent, InvalidCase, Left, Placeholders, Process, Role, Setup, Testbed,
    Testbeds, read_case, read_log,
};
pub use trials::{Trial, TrialLog, VoidTrials};

pub use simutant_outcomes::{Finding, FindingClass, Inconclusive, Verdict};
