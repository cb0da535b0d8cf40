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
//! | `lsr` | `router`, one for each | `{id}`, `{listen}` = `{host}:{port}`, `{neighbours}`, `{output}`, `{seed}` | bind the UDP port, get to know the network, forward messages, and add a line to the file `{output}` for each that is for itself |
//! | `lsr` | `client`, one for each message | `{peer}` = `{peer_host}:{peer_port}`, `{number}`, `{source}`, `{destination}`, `{seed}` | give the message to the router `{source}`, which receives at the UDP address, and end |
//! | `lsr` | `network`, instead of both | `{routers}`, `{links}`, `{messages}`, `{output}`, `{seed}` | play all routers and give them the messages, add lines to the files `{output}/router-1`, `{output}/router-2`, …, and end |
//! | `dns` | `resolver` | `{listen}` = `{host}:{port}`, `{hints}`, `{seed}` | bind the UDP and the TCP port, find out what it is asked from the servers of the root zone, which the zone file `{hints}` names |
//!
//! A test case of `gbn` passes if both end as their `exit` says and `{output}` equals `{input}`. Implementations of
//! `gbn` run the test cases of `gbn-last-ack` and `gbn-thesis` as well: the inputs are the same.
//!
//! `{neighbours}` is a list such as `2=127.0.0.1:31001/3,4=127.0.0.1:31002/1`: for each neighbour its number, the
//! address that it is sent to, and also sends from, and the cost of the link. A line of a router's `{output}` is
//! `NUMBER SOURCE DESTINATION COST`, where the cost is the sum of those of the links that the message came through;
//! other routers may hear of it in whatever way. Routers start at different times, datagrams between them take 1 to 10
//! ms and are not lost. Clients are started when all routers are [`ready`](Ready) and have been silent for a while, or
//! after a second at most. A test case of `lsr` passes if all end as their `exit` says, and each router delivered the
//! messages for it, each once and at the cost of the shortest path.
//!
//! Routers that know no other network than the system's are played by one side, `network`, that makes such a network
//! for them. `{routers}` is a list such as `1@13.021,2@4.500`: for each its number and after how many milliseconds it
//! starts. `{links}` has two routers and the cost in `1-2/3`, `{messages}` has number, source and destination in
//! `1:2-3`. What packets suffer on such a network is up to the side.
//!
//! A test case of `dns` brings its servers along: a process of NSD for each, with the zones of the test case, at
//! addresses of a loopback network that no other test case has, behind the lossy network. The resolver must be willing
//! to ask servers at such addresses, always at port 53, which only root may bind on most systems. Stubs ask it at the
//! times of the test case, without EDNS, by UDP and, if the answer is truncated, by TCP; where no answer comes, or one
//! that says that it could not be found out, they ask again for 20 s. It passes if every answer has the response code,
//! the aliases and the records that the name space has, with times to live up to the original ones, and, if something
//! is not there, the SOA record that says for how long that holds (RFC 2308, section 6). If packets were lost in the
//! run, a resolver may give up. See [`Side::files`] for files of settings.
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
//! pass shows that this run went well: no more. [`Options::repetitions`] tells how often a test case fails.
//!
//! # What is and what is not as in the simulation
//! The proxy of `gbn` drops and duplicates as the simulated network does: it decides first whether a datagram is
//! dropped, and only of one that is not whether it is duplicated, with the probabilities of the test case. The
//! simulated latency is not reproduced: the proxy passes datagrams on at once, both copies one after the other, and
//! does not reorder them. A mistake that only shows when packets take long or overtake each other may show in the
//! simulation and not here. Streams of random numbers differ, so a seed does not lose the same packets here as there.
//!
//! The links of `lsr` delay datagrams as the simulated network does, and in what order they arrive is decided by that:
//! the n-th datagram of a router takes as long as the n-th packet of the simulated router with the same test case does,
//! and what the machine adds. Routers start as far apart as there, too. A side that plays the whole network is told no
//! delays.
//!
//! Between a resolver and the servers of `dns` packets are lost and doubled as in the simulation, in both directions,
//! but take no time. Streams are whole. More is right than in the simulation, whose oracle knows the one resolver that
//! it judges: a real one may forget what it might keep, and so tell any time to live up to the original one, and say
//! whatever else it likes beside the answer.
//!
//! # Nothing is left behind
//! Programs run in process groups and private folders of their own. Both are removed when a test case ends, when the
//! harness fails, and when it is killed, by SIGKILL too. A program that cannot run on this machine says so with exit
//! code 69: that is no failure, but [`HarnessError::SideUnavailable`].

mod attempt;
mod building;
mod dns;
mod error;
mod gbn;
mod implementation;
mod lines;
mod lsr;
mod ports;
mod process;
mod proxy;
mod report;
mod results;
mod run;
mod system;
mod trials;

pub use error::HarnessError;
pub use implementation::{
    ActiveMutant, ExpectedExit, Implementation, ImplementationError, MutatedPackage, Ready, Side, SideFile,
};
pub use lines::TrialLogError;
pub use process::{Exit, OutputTail};
pub use proxy::{DirectionCounts, Fate, Fates, LossyProxy, ProxyConfiguration, ProxyCounts, ProxyError};
pub use report::{CaseResult, FailureReason, Pace, SideOutput, TestOutcome, TestReport, Traffic};
pub use results::ResultLog;
pub use run::{Options, run_some, run_suite};
pub use system::{InvalidCase, jobs_for_each_core, systems, timeout};
pub use trials::{Trial, TrialLog};
