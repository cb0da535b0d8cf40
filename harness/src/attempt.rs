//! Runs one test case once: starts the sides, waits for their ends, and lets the system judge what they left.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use simutant_outcomes::Verdict;

use crate::error::HarnessError;
use crate::failure::{ProcessFailure, Traffic};
use crate::implementation::{Implementation, fill_command, fill_text};
use crate::ports::{self, Lease};
use crate::process::{Care, Child, Event, Exit, Guardian, OutputTail, Start};
use crate::report::EndedProcess;
use crate::side::{ExpectedExit, Ready, Side};
use crate::testbed::{Clients, Conclusion, Environment, Left, Process};

/// How long to wait at first before looking again whether a port has been bound.
const PORT_INTERVAL_MIN: Duration = Duration::from_millis(2);

/// How long at last: on a busy machine a look is not cheap, and programs take long to start.
const PORT_INTERVAL_MAX: Duration = Duration::from_millis(30);

/// How often to look whether the clients have ended.
const CLIENTS_INTERVAL: Duration = Duration::from_millis(5);

/// How long a side may take to end after it was told to.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

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
    pub(crate) processes: Vec<EndedProcess>,
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
        let (sender, events) = channel();
        let deadline = Instant::now() + self.timeout;
        let mut members = Members { attempt: self, deadline, sender, events, all: Vec::new(), leases: Vec::new() };
        let failure = members.run()?;
        let is_early =
            members.all.iter().any(|member| member.port.is_some() && !member.is_ready && member.exit.is_some());
        let mut processes = members.end();
        if let Some(ProcessFailure::Exited { process, exit: Exit::UNAVAILABLE }) = &failure {
            let said = processes.iter().find(|ended| ended.process == *process).map(|ended| ended.stderr.text.trim());
            let (implementation, reason) = (self.implementation.name.clone(), said.unwrap_or_default().to_owned());
            return Err(HarnessError::SideUnavailable { implementation, side: process.clone(), reason });
        }
        let judgement = match failure {
            Some(failure) => Verdict::Fail(failure.into()).into(),
            None => self.environment.judge(&Left { processes: &processes })?,
        };
        processes.iter_mut().flat_map(|ended| [&mut ended.stdout, &mut ended.stderr]).for_each(OutputTail::shorten);
        if judgement.verdict.passes() {
            return Ok(Attempted::Ran(Ran { judgement, processes: Vec::new() }));
        }
        // A program without its port may end, hang or complain in any way; all that is left of it is gone by now.
        for process in self.sides().flat_map(|side| self.environment.processes(&side.name)) {
            let Some(port) = process.port else { continue };
            if ports::is_taken(port).map_err(|source| port_not_seen(&process.name, source))? {
                return Ok(Attempted::PortTaken { process: process.name, port });
            }
        }
        let ran = Ran { judgement, processes };
        Ok(if is_early { Attempted::EndedEarly(ran) } else { Attempted::Ran(ran) })
    }

    /// Returns all sides, in the order in which they are started.
    fn sides(&self) -> impl Iterator<Item = &Side> {
        self.environment.services().iter().chain(self.sides)
    }

    fn limit_ms(&self) -> u64 {
        self.timeout.as_millis().try_into().unwrap_or(u64::MAX)
    }

    /// Returns the failure of a test case whose time limit is over while these are at work.
    fn timed_out(&self, running: Vec<String>, deadline: Instant) -> ProcessFailure {
        let now = Instant::now();
        let traffic = self.environment.activity().map(|heard| {
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

/// The processes of a test case.
struct Members<'a> {
    attempt: &'a Attempt<'a>,
    deadline: Instant,
    sender: Sender<Event>,
    events: Receiver<Event>,
    /// In the order in which they are started.
    all: Vec<Member<'a>>,
    /// Keep further ports of processes from other jobs.
    leases: Vec<Lease>,
}

/// A process that was started.
struct Member<'a> {
    side: &'a Side,
    name: String,
    port: Option<u16>,
    child: Child,
    exit: Option<Exit>,
    is_ready: bool,
}

impl<'a> Members<'a> {
    /// Runs the processes to their ends; returns what is wrong, if anything is.
    fn run(&mut self) -> Result<Option<ProcessFailure>, HarnessError> {
        for (place, side) in self.attempt.sides().enumerate() {
            if place > 0 {
                self.settle();
            }
            let (first, moment) = (self.all.len(), Instant::now());
            for process in self.attempt.environment.processes(&side.name) {
                if let Some(failure) = self.await_moment(moment + process.start) {
                    return Ok(Some(failure));
                }
                self.start(side, process)?;
            }
            for number in first..self.all.len() {
                if let Some(failure) = self.await_ready(number)? {
                    return Ok(Some(failure));
                }
            }
        }
        if let Some(failure) = self.attempt.environment.clients().and_then(|clients| self.await_clients(clients)) {
            return Ok(Some(failure));
        }
        if let Some(failure) = self.await_ends() {
            return Ok(Some(failure));
        }
        self.settle();
        self.stop_the_rest();
        Ok(None)
    }

    fn start(&mut self, side: &'a Side, process: Process) -> Result<(), HarnessError> {
        let attempt = self.attempt;
        let Process { name, mut placeholders, port, .. } = process;
        placeholders.insert("here", attempt.implementation.folder.clone().into());
        placeholders.insert("build", attempt.build_directory.into());
        placeholders.insert("work", attempt.folder.into());
        for further in side.further_ports() {
            let lease = Lease::for_both()?;
            placeholders.insert(further, lease.port().to_string().into());
            self.leases.push(lease);
        }
        for file in &side.files {
            let path = attempt.folder.join(fill_text(&file.name, &placeholders));
            std::fs::write(&path, fill_text(&file.text, &placeholders).as_encoded_bytes())
                .map_err(HarnessError::file("write", &path))?;
        }
        let command = fill_command(&side.command, &placeholders);
        let ready_line = match &side.ready {
            Ready::Line(text) => Some(text.as_str()),
            Ready::Started | Ready::Port => None,
        };
        let number = self.all.len();
        let is_service = self.is_service(side);
        let variables = if is_service {
            attempt.environment.service_variables().iter().map(|(name, value)| (*name, value.into())).collect()
        } else {
            let mutant = attempt.implementation.active_mutant;
            mutant.map(|mutant| mutant.environment(attempt.folder)).unwrap_or_default()
        };
        let start = Start {
            command: &command,
            folder: attempt.folder,
            ready_line,
            environment: &variables,
            care: if is_service { Care::Guardian } else { Care::Kernel },
            number,
            events: &self.sender,
        };
        let child = Child::start(&start, attempt.guardian).map_err(|source| {
            let (program, side) = (command[0].to_string_lossy().into_owned(), name.clone());
            let Implementation { name: implementation, system, .. } = attempt.implementation.clone();
            HarnessError::exhausted_or(format!("start `{program}`"), source, |source| match is_service {
                true => HarnessError::ServiceNotStarted { system, program, source },
                false => HarnessError::SideNotStarted { implementation, side, program, source },
            })
        })?;
        let is_ready = side.ready == Ready::Started;
        self.all.push(Member { side, name, port, child, exit: None, is_ready });
        Ok(())
    }

    /// Returns whether the environment brings a side along.
    fn is_service(&self, side: &Side) -> bool {
        self.attempt.environment.services().iter().any(|service| service.name == side.name)
    }

    /// Waits until what the processes have caused has settled, if the environment knows what that is.
    fn settle(&self) {
        let is_active = || self.all.iter().any(|member| member.exit.is_none() && member.child.is_active());
        self.attempt.environment.settle(self.deadline, &is_active);
    }

    /// Waits until `moment`; returns what is wrong if a process ends badly meanwhile.
    fn await_moment(&mut self, moment: Instant) -> Option<ProcessFailure> {
        loop {
            let wait = moment.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return None;
            }
            if let Some(failure) = self.next_event(wait).and_then(|event| self.note(event)) {
                return Some(failure);
            }
        }
    }

    /// Waits until a process is ready; returns what is wrong if it does not become ready.
    fn await_ready(&mut self, number: usize) -> Result<Option<ProcessFailure>, HarnessError> {
        let port = match self.all[number].side.ready {
            Ready::Started | Ready::Line(_) => None,
            Ready::Port => self.all[number].port,
        };
        let group = self.all[number].child.group();
        let mut interval = PORT_INTERVAL_MIN;
        while !self.all[number].is_ready {
            let member = &mut self.all[number];
            if let Some(port) = port {
                member.is_ready =
                    ports::is_bound_by(port, group).map_err(|source| port_not_seen(&member.name, source))?;
            }
            if member.exit.is_some() {
                return Ok(Some(ProcessFailure::EndedBeforeReady { process: member.name.clone() }));
            }
            let wait_max = match port {
                Some(_) if member.is_ready => Duration::ZERO,
                Some(_) => interval,
                None => self.attempt.timeout,
            };
            interval = (interval * 3 / 2).min(PORT_INTERVAL_MAX);
            match self.next_event(wait_max.min(self.time_left())) {
                Some(event) => {
                    if let Some(failure) = self.note(event) {
                        return Ok(Some(failure));
                    }
                }
                None if self.time_left().is_zero() => {
                    let (process, limit_ms) = (self.all[number].name.clone(), self.attempt.limit_ms());
                    return Ok(Some(ProcessFailure::NotReady { process, limit_ms }));
                }
                None => {}
            }
        }
        Ok(None)
    }

    /// Lets the clients talk to the processes; returns what is wrong if one ends badly meanwhile, or time is over.
    fn await_clients(&mut self, clients: &dyn Clients) -> Option<ProcessFailure> {
        let (deadline, is_cut) = (self.deadline, &AtomicBool::new(false));
        let (failure, running) = std::thread::scope(|scope| {
            let talk = scope.spawn(move || clients.run(deadline, is_cut));
            let mut failure = None;
            while failure.is_none() && !talk.is_finished() {
                failure = self.next_event(CLIENTS_INTERVAL).and_then(|event| self.note(event));
            }
            is_cut.store(failure.is_some(), Ordering::Relaxed);
            (failure, talk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let is_late = failure.is_none() && !running.is_empty();
        failure.or_else(|| is_late.then(|| self.attempt.timed_out(running, deadline)))
    }

    /// Waits until every process that ends by itself has ended; returns what is wrong if one ends badly or not in time.
    fn await_ends(&mut self) -> Option<ProcessFailure> {
        loop {
            let running = self.running();
            if running.is_empty() {
                return None;
            }
            match self.next_event(self.time_left()) {
                Some(event) => {
                    if let Some(failure) = self.note(event) {
                        return Some(failure);
                    }
                }
                None => return Some(self.attempt.timed_out(running, self.deadline)),
            }
        }
    }

    /// Tells the processes that do not end by themselves to end, and gives them some time to do so. Auxiliary services
    /// have nothing left to say.
    fn stop_the_rest(&mut self) {
        let runs = |members: &Self, member: &Member<'_>| member.exit.is_none() && !members.is_service(member.side);
        for member in self.all.iter().filter(|member| runs(self, member)) {
            member.child.terminate();
        }
        self.deadline = Instant::now() + STOP_PATIENCE;
        while self.all.iter().any(|member| runs(self, member)) {
            let Some(event) = self.next_event(self.time_left()) else { return };
            // However they end is right.
            _ = self.note(event);
        }
    }

    /// Ends every process and returns how each ended.
    fn end(mut self) -> Vec<EndedProcess> {
        let end = |member: &mut Member<'_>| {
            let (stdout, stderr) = member.child.kill();
            EndedProcess { process: member.name.clone(), exit: member.exit, stdout, stderr }
        };
        self.all.iter_mut().map(end).collect()
    }

    fn note(&mut self, event: Event) -> Option<ProcessFailure> {
        match event {
            Event::Ready(number) => self.all[number].is_ready = true,
            Event::Exited(number, exit) => {
                let member = &mut self.all[number];
                member.exit = Some(exit);
                if !member.side.exit.allows(exit) {
                    return Some(ProcessFailure::Exited { process: member.name.clone(), exit });
                }
            }
        }
        None
    }

    fn next_event(&self, wait_max: Duration) -> Option<Event> {
        match self.events.recv_timeout(wait_max) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => unreachable!("the owner holds a sender itself"),
        }
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the processes that are to end by themselves and have not.
    fn running(&self) -> Vec<String> {
        let runs = |member: &&Member<'_>| member.side.exit != ExpectedExit::Stopped && member.exit.is_none();
        self.all.iter().filter(runs).map(|member| member.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;
    use crate::test_support::copying;
    use crate::testbed::Placeholders;

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
        let Attempted::EndedEarly(ran) = attempt("exit 1", port, Duration::from_secs(60)) else { panic!("it ended") };
        let finding = ran.judgement.verdict.finding().expect("it failed");
        assert_eq!(
            (finding.kind.as_str(), finding.summary.as_str()),
            ("exited", "the receiver ended with exit code 1")
        );
    }
}
