//! Runs chosen inputs on real implementations, over real sockets, behind a lossy network.
//!
//! A study of a simulation chooses test inputs: a [`Suite`](simutant_outcomes::Suite). This crate runs them on
//! programs: for each test case it makes the files that the case asks for, starts a [`LossyProxy`] which drops and
//! duplicates datagrams as the simulated network does, starts each side of the implementation as a process, waits for
//! them, and judges what they left. [`run_suite`] does all that and returns a [`TestReport`].
//!
//! # Implementations
//! An [`Implementation`] is a TOML file that says how to build and start the programs, in whatever language they are
//! written. See [`Implementation`] for the fields. What a system asks of its sides:
//!
//! | system | side | placeholders | must |
//! | --- | --- | --- | --- |
//! | `gbn` | `receiver` | `{listen}` = `{host}:{port}`, `{output}`, `{seed}` | bind the UDP port, write what it receives to the file `{output}` |
//! | `gbn` | `sender` | `{peer}` = `{peer_host}:{peer_port}`, `{input}`, `{seed}` | send the file `{input}` to the UDP address, go on until it has arrived |
//!
//! A test case of `gbn` passes if both end as their `exit` says and `{output}` equals `{input}`.
//!
//! # A whole program
//! The "programs" here are `cp` and `true`, so the file arrives without the network:
//!
//! ```
//! use simutant_harness::{Implementation, Options, run_suite};
//! use simutant_outcomes::Suite;
//! # use std::path::Path;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let implementation = Implementation::parse(
//!     r#"
//!         name = "copy"
//!         system = "gbn"
//!         description = "Copies the file, and sends nothing"
//!
//!         [[side]]
//!         name = "receiver"
//!         command = ["true"]
//!
//!         [[side]]
//!         name = "sender"
//!         command = ["cp", "{input}", "{work}/output"]
//!     "#,
//!     Path::new("copy.toml"),
//!     Path::new("."),
//! )?;
//! let suite = Suite::parse(
//!     r#"{
//!         "format_version": 1, "system": "gbn", "criterion": "IP-1", "chosen": "by hand", "seed": 1,
//!         "mutant_score": null, "dominator_score": null,
//!         "cases": [{ "name": "a", "case": { "bytes": 5000, "drop": 0.1, "duplicate": 0.1, "seed": 1 } }]
//!     }"#,
//!     "gbn",
//! )?;
//! # let build = tempfile::tempdir()?;
//! # let build_directory = build.path();
//! let report = run_suite(&suite, &implementation, &Options::new(build_directory), &mut |result| {
//!     assert_eq!(result.name, "a");
//! })?;
//! assert_eq!(report.failures().count(), 0);
//! # Ok(())
//! # }
//! ```
//!
//! # What is and what is not repeatable
//! The n-th datagram of a direction has the same fate in every run with the same seeds. Which datagram is the n-th is
//! up to the programs and the scheduler. So a failure that depends on timing may need several runs to show again, and a
//! pass shows that this run went well: no more.
//!
//! # What is and what is not as in the simulation
//! The proxy drops and duplicates as the simulated network does: it decides first whether a datagram is dropped, and
//! only of one that is not whether it is duplicated, with the probabilities of the test case. The simulated latency is
//! not reproduced: the proxy passes datagrams on at once, both copies one after the other, and does not reorder them.
//! A mistake that only shows when packets take long or overtake each other may show in the simulation and not here.
//! Streams of random numbers differ, so a seed does not lose the same packets here as there.
//!
//! # Nothing is left behind
//! Programs run in process groups and private folders of their own. Both are removed when a test case ends, when the
//! harness fails, and when it is killed, by SIGKILL too.

mod attempt;
mod building;
mod error;
mod gbn;
mod implementation;
mod ports;
mod process;
mod proxy;
mod report;
mod run;
mod system;
mod trials;

pub use error::HarnessError;
pub use implementation::{ExpectedExit, Implementation, ImplementationError, Ready, Side};
pub use process::{Exit, OutputTail};
pub use proxy::{DirectionCounts, Fate, Fates, LossyProxy, ProxyConfiguration, ProxyCounts, ProxyError};
pub use report::{CaseResult, FailureReason, SideOutput, TestOutcome, TestReport};
pub use run::{Options, run_suite};
pub use system::{InvalidCase, systems};
pub use trials::{Trial, TrialLog, TrialLogError};
