//! Runs one test case once: starts the sides, waits for their ends, and lets the system judge what they left.

mod injecting;
mod members;
mod planned;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use simutant_outcomes::{Inconclusive, Verdict};

use crate::error::HarnessError;
use crate::failure::{ProcessFailure, Traffic};
use crate::implementation::Implementation;
use crate::implementation::driver::{DRIVER, ProcessOwner};
use crate::ports;
use crate::process::{Guardian, ProcessExit};
use crate::proxy::{Activity, ProxyCounts};
use crate::report::EndedProcess;
use crate::side::Side;
use crate::testbed::{Conclusion, Environment, Left};
use injecting::FaultsWithoutInjection;
use members::Members;

/// What an attempt to run a test case led to.
#[derive(Debug)]
pub(crate) enum Attempted {
    /// It ran.
    Ran(Ran),
    /// A program could not bind its port, since another process had taken it: try again with other ports.
    PortTaken {
        /// What reports call the process.
        process: String,
        /// Its port.
        port: u16,
    },
    /// A program that was given a port ended before it was ready. Another process may have had its port for a moment
    /// only, as a resolver has those that it asks from: try once more, with other ports.
    EndedEarly(Ran),
}

/// A test case that ran.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) judgement: Conclusion,
    /// See [`CaseResult::late_faults`](crate::CaseResult::late_faults).
    pub(crate) late_faults: Vec<String>,
    pub(crate) processes: Vec<EndedProcess>,
    /// What the network did that a driver asked for; `None` if it asked for none.
    pub(crate) network: Option<ProxyCounts>,
}

/// Why the processes of a test case did not all end.
#[derive(Debug)]
enum Broken {
    /// One of them is wrong.
    Process(ProcessFailure),
    /// Nothing was found out, since the driver gave no plan that can be run.
    Inconclusive(String),
}

impl Broken {
    /// The first line of a driver is no plan, for this reason.
    fn no_plan(why: impl std::fmt::Display) -> Self {
        Self::Inconclusive(format!("the first line that the driver printed is no plan: {why}"))
    }

    /// A process of a plan is not ready at the end of the time limit: whether it would have been right, nobody knows.
    fn not_ready(process: &str, attempt: &Attempt<'_>) -> Self {
        let (title, limit_ms) = (attempt.title(process), attempt.limit_ms());
        Self::Inconclusive(format!("{title} was not ready in {limit_ms} ms, the time limit of a test case"))
    }
}

impl From<ProcessFailure> for Broken {
    fn from(failure: ProcessFailure) -> Self {
        Self::Process(failure)
    }
}

/// What an attempt works with.
pub(crate) struct Attempt<'a> {
    pub(crate) implementation: &'a Implementation,
    /// Those of the implementation, in the order in which they are started.
    pub(crate) sides: &'a [Side],
    pub(crate) environment: &'a dyn Environment,
    pub(crate) build_directory: &'a Path,
    /// The private folder.
    pub(crate) folder: &'a Path,
    pub(crate) timeout: Duration,
    pub(crate) guardian: &'a Arc<Guardian>,
}

impl Attempt<'_> {
    /// Runs the test case. No process of it is left afterwards.
    pub(crate) fn run(&self) -> Result<Attempted, HarnessError> {
        let mut members = Members::new(self);
        let broken = members.run()?;
        let is_early = members.is_early();
        let ports = members.ports();
        // First of all: a network that broke down is no failure of the programs.
        let network = members.network()?;
        let (processes, faults) = members.end();
        if let Some(Broken::Process(ProcessFailure::Exited { process, exit: ProcessExit::UNAVAILABLE })) = &broken {
            let said = processes.iter().find(|ended| ended.process == *process).map(|ended| ended.stderr.text.trim());
            let (implementation, reason) = (self.implementation.name.clone(), said.unwrap_or_default().to_owned());
            return Err(HarnessError::SideUnavailable { implementation, side: self.title(process), reason });
        }
        let mut judgement = match broken {
            Some(Broken::Process(failure)) => Verdict::Fail(failure.into()).into(),
            Some(Broken::Inconclusive(reason)) => Verdict::Inconclusive(Inconclusive { reason }).into(),
            None => self.environment.judge(&Left { processes: &processes })?,
        };
        let FaultsWithoutInjection { not_injected, without_effect, late: late_faults } = faults;
        judgement.not_injected.extend(not_injected);
        judgement.notes.extend(without_effect.into_iter().map(|fault| format!("without effect: {fault}")));
        if judgement.verdict.passes() {
            return Ok(Attempted::Ran(Ran { judgement, late_faults, processes: Vec::new(), network }));
        }
        // A program without its port may end, hang or complain in any way; all that is left of it is gone by now.
        let asked = self.sides().flat_map(|side| self.environment.processes(&side.name));
        let asked = asked.filter_map(|process| Some((process.name, process.port?)));
        for (process, port) in asked.chain(ports) {
            if ports::is_bound(ports::Protocol::Udp, port).map_err(|source| port_not_seen(&process, source))? {
                return Ok(Attempted::PortTaken { process, port });
            }
        }
        let ran = Ran { judgement, late_faults, processes, network };
        Ok(if is_early { Attempted::EndedEarly(ran) } else { Attempted::Ran(ran) })
    }

    /// Returns whether the driver has a plan, which the harness runs.
    fn is_planned(&self) -> bool {
        self.implementation.driver.as_ref().is_some_and(|driver| driver.processes == ProcessOwner::Harness)
    }

    /// Returns what messages call a process: as the implementation's file or the plan has it.
    fn title(&self, process: &str) -> String {
        match &self.implementation.driver {
            Some(driver) if process == DRIVER => driver.side().title(),
            Some(_) => format!("process `{process}` of the driver's plan"),
            None => format!("side `{process}`"),
        }
    }

    /// Returns all sides, in the order in which they are started.
    fn sides(&self) -> impl Iterator<Item = &Side> {
        self.environment.services().iter().chain(self.sides)
    }

    fn limit_ms(&self) -> u64 {
        self.timeout.as_millis().try_into().unwrap_or(u64::MAX)
    }

    /// Returns the failure of a test case whose time limit is over while these are at work.
    fn timed_out(&self, running: Vec<String>, deadline: Instant, activity: Option<Activity>) -> ProcessFailure {
        let now = Instant::now();
        let traffic = activity.map(|heard| {
            // If nothing was heard, it is silent from the start.
            let since = heard.last.or_else(|| deadline.checked_sub(self.timeout)).unwrap_or(now);
            Traffic::new(heard.datagrams, now.saturating_duration_since(since), self.timeout)
        });
        ProcessFailure::TimedOut { running, limit_ms: self.limit_ms(), traffic }
    }
}

fn port_not_seen(process: &str, source: io::Error) -> HarnessError {
    let usual = |source| HarnessError::PortNotSeen { side: process.to_owned(), source };
    HarnessError::exhausted_or("see which ports are bound", source, usual)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use simutant_sim_core::VirtualTime;
    use simutant_sim_core::trace::DurableState;

    use super::*;
    use crate::faults::{Injection, Schedule, ScheduledInjection};
    use crate::ports::Lease;
    use crate::test_support::copying;
    use crate::testbed::{Placeholders, Process};

    /// An environment with one port for all, and nothing to judge.
    struct OnePort(u16);

    impl Environment for OnePort {
        fn processes(&self, role: &str) -> Vec<Process> {
            let (name, placeholders) = (role.into(), Placeholders::new());
            vec![Process { name, placeholders, port: Some(self.0), start: Duration::ZERO }]
        }

        fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
            Ok(Verdict::Pass.into())
        }
    }

    fn attempt(receiver: &str, port: u16, timeout: Duration) -> Attempted {
        let implementation = copying(receiver, "true").ready_by_port();
        let folder = tempfile::tempdir().expect("a temporary folder");
        let guardian = Arc::new(Guardian::start(folder.path()).expect("the guardian starts"));
        let attempt = Attempt {
            implementation: &implementation,
            sides: &implementation.sides(),
            environment: &OnePort(port),
            build_directory: Path::new("/"),
            folder: folder.path(),
            timeout,
            guardian: &guardian,
        };
        attempt.run().expect("the programs start")
    }

    /// An environment that crashes and restarts the receiver.
    struct Faulty;

    impl Environment for Faulty {
        fn processes(&self, role: &str) -> Vec<Process> {
            let (name, placeholders) = (role.into(), Placeholders::new());
            vec![Process { name, placeholders, port: None, start: Duration::ZERO }]
        }

        fn schedule(&self) -> Schedule {
            let process = || "receiver".to_owned();
            let durable_state = DurableState::Lost;
            let at = |ms, injection| ScheduledInjection {
                at: Duration::from_millis(ms),
                virtual_at: VirtualTime::from_millis(ms),
                injection,
            };
            let crash = at(50, Injection::Crash { process: process() });
            let injections = vec![crash, at(60, Injection::Restart { process: process(), durable_state })];
            Schedule { injections, not_injected: vec!["rain".into()] }
        }

        fn judge(&self, left: &Left<'_>) -> Result<Conclusion, HarnessError> {
            let names: Vec<&str> = left.processes.iter().map(|ended| ended.process.as_str()).collect();
            assert_eq!(names, ["receiver", "sender", "receiver, killed at 50 ms"]);
            Ok(Verdict::Pass.into())
        }
    }

    #[test]
    fn a_testbed_may_have_faults_injected_into_its_processes() {
        let mut implementation =
            copying("echo x >> starts; exec sleep 1000", "until [ $(grep -c . starts) = 2 ]; do sleep 0.05; done");
        implementation.sides[0].exit = crate::ExpectedExit::Stopped;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let guardian = Arc::new(Guardian::start(folder.path()).expect("the guardian starts"));
        let attempt = Attempt {
            implementation: &implementation,
            sides: &implementation.sides(),
            environment: &Faulty,
            build_directory: Path::new("/"),
            folder: folder.path(),
            timeout: Duration::from_secs(60),
            guardian: &guardian,
        };
        let Attempted::Ran(ran) = attempt.run().expect("the programs start") else { panic!("it ran") };
        assert_eq!(ran.judgement.verdict, Verdict::Pass);
        let files = "restart of receiver at 60 ms: it found its files, which are not its own to remove";
        assert_eq!(ran.judgement.not_injected, ["rain", files]);
    }

    #[test]
    fn a_port_that_another_process_took_is_no_failure_of_the_program() {
        let lease = Lease::new().expect("a port is free");
        let port = lease.port();
        let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
        for receiver in ["exit 1", "sleep 1000"] {
            let attempted = attempt(receiver, port, Duration::from_millis(300));
            assert!(
                matches!(&attempted, Attempted::PortTaken { process, port: taken } if process == "receiver" && *taken == port)
            );
        }
        drop(taken);
        // A time limit may be any number of an implementation's file.
        let timeout = Duration::from_secs(i64::MAX as u64);
        let Attempted::EndedEarly(ran) = attempt("exit 1", port, timeout) else { panic!("it ended") };
        let finding = ran.judgement.verdict.finding().expect("it failed");
        assert_eq!(
            (finding.kind.as_str(), finding.summary.as_str()),
            ("exited", "the receiver ended with exit code 1")
        );
    }
}
