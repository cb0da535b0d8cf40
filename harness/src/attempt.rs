//! Runs one test case once: starts the sides, waits for their ends, and lets the system judge what they left.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::error::HarnessError;
use crate::implementation::{ExpectedExit, Implementation, Ready, Side, fill_command, fill_text};
use crate::ports;
use crate::process::{Care, Event, Exit, Guardian, Process, Start};
use crate::report::{FailureReason, SideOutput, TestOutcome, Traffic};
use crate::system::{Client, Player, Scene};

/// How long to wait at first before looking again whether a port has been bound.
const PORT_INTERVAL_MIN: Duration = Duration::from_millis(2);

/// How long at last: on a busy machine a look is not cheap, and programs take long to start.
const PORT_INTERVAL_MAX: Duration = Duration::from_millis(30);

/// How often to look whether the client has come to its end.
const CLIENT_INTERVAL: Duration = Duration::from_millis(5);

/// How long a side may take to end after it was told to.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// The exit code by which a program says that the machine lacks something that it needs.
const UNAVAILABLE: Exit = Exit::Code(69);

/// What an attempt to run a test case led to.
pub(crate) enum Attempted {
    /// It ran.
    Ran(TestOutcome),
    /// A program could not bind its port, since another process had taken it: try again with other ports.
    PortTaken {
        /// What reports call the program.
        side: String,
        /// Its port.
        port: u16,
    },
    /// A program that was given a port ended before it was ready. Another process may have had its port for a moment
    /// only, as a resolver has those that it asks from: try once more, with other ports.
    EndedEarly(TestOutcome),
}

/// What an attempt works with.
pub(crate) struct Attempt<'a> {
    pub(crate) implementation: &'a Implementation,
    pub(crate) scene: &'a dyn Scene,
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
        let mut cast = Cast { attempt: self, deadline, sender, events, members: Vec::new() };
        let failure = cast.play()?;
        let is_early =
            cast.members.iter().any(|member| member.port.is_some() && !member.is_ready && member.exit.is_some());
        let outputs = cast.dismiss();
        let Some(reason) = failure else { return Ok(Attempted::Ran(TestOutcome::Passed)) };
        if let FailureReason::Exited { side, exit: UNAVAILABLE } = reason {
            let said =
                outputs.iter().find(|output| output.side == side).map(|output| output.stderr.text.trim().to_owned());
            let (implementation, reason) = (self.implementation.name.clone(), said.unwrap_or_default());
            return Err(HarnessError::SideUnavailable { implementation, side, reason });
        }
        // A program without its port may end, hang or complain in any way; all that is left of it is gone by now.
        for player in self.sides().flat_map(|side| self.scene.players(&side.name)) {
            let Some(port) = player.port else { continue };
            if ports::is_taken(port).map_err(|source| port_not_seen(&player.name, source))? {
                return Ok(Attempted::PortTaken { side: player.name, port });
            }
        }
        let outcome = TestOutcome::Failed { reason, outputs };
        Ok(if is_early { Attempted::EndedEarly(outcome) } else { Attempted::Ran(outcome) })
    }

    /// Returns all sides, in the order in which they are started.
    fn sides(&self) -> impl Iterator<Item = &Side> {
        self.scene.company().iter().chain(&self.implementation.sides)
    }

    fn limit_ms(&self) -> u64 {
        self.timeout.as_millis().try_into().unwrap_or(u64::MAX)
    }

    /// Returns the failure of a test case whose time limit is over while these are at work.
    fn timed_out(&self, running: Vec<String>, deadline: Instant) -> FailureReason {
        let now = Instant::now();
        let traffic = self.scene.activity().map(|heard| {
            // If nothing was heard, it is silent from the start.
            let since = heard.last.or_else(|| deadline.checked_sub(self.timeout)).unwrap_or(now);
            Traffic::new(heard.datagrams, now.saturating_duration_since(since), self.timeout)
        });
        FailureReason::TimedOut { running, limit_ms: self.limit_ms(), traffic }
    }
}

fn port_not_seen(side: &str, source: io::Error) -> HarnessError {
    let usual = |source| HarnessError::PortNotSeen { side: side.to_owned(), source };
    HarnessError::exhausted_or("see which ports are bound", source, usual)
}

/// The programs of a test case, in the order in which they are started.
struct Cast<'a> {
    attempt: &'a Attempt<'a>,
    deadline: Instant,
    sender: Sender<Event>,
    events: Receiver<Event>,
    members: Vec<Member<'a>>,
}

/// A program that was started.
struct Member<'a> {
    side: &'a Side,
    name: String,
    port: Option<u16>,
    process: Process,
    exit: Option<Exit>,
    is_ready: bool,
}

impl<'a> Cast<'a> {
    /// Runs the programs to their ends; returns what is wrong, if anything is.
    fn play(&mut self) -> Result<Option<FailureReason>, HarnessError> {
        for (place, side) in self.attempt.sides().enumerate() {
            if place > 0 {
                self.settle();
            }
            let (first, cue) = (self.members.len(), Instant::now());
            for player in self.attempt.scene.players(&side.name) {
                if let Some(reason) = self.await_moment(cue + player.start) {
                    return Ok(Some(reason));
                }
                self.start(side, player)?;
            }
            for number in first..self.members.len() {
                if let Some(reason) = self.await_ready(number)? {
                    return Ok(Some(reason));
                }
            }
        }
        if let Some(reason) = self.attempt.scene.client().and_then(|client| self.await_client(client)) {
            return Ok(Some(reason));
        }
        if let Some(reason) = self.await_ends() {
            return Ok(Some(reason));
        }
        self.settle();
        self.stop_the_rest();
        self.attempt.scene.judge()
    }

    fn start(&mut self, side: &'a Side, player: Player) -> Result<(), HarnessError> {
        let attempt = self.attempt;
        let Player { name, mut values, port, .. } = player;
        values.insert("here", attempt.implementation.folder.clone().into());
        values.insert("build", attempt.build_directory.into());
        values.insert("work", attempt.folder.into());
        for file in &side.files {
            let path = attempt.folder.join(fill_text(&file.name, &values));
            std::fs::write(&path, fill_text(&file.text, &values).as_encoded_bytes())
                .map_err(HarnessError::file("write", &path))?;
        }
        let command = fill_command(&side.command, &values);
        let ready_line = match &side.ready {
            Ready::Line(text) => Some(text.as_str()),
            Ready::Started | Ready::Port => None,
        };
        let number = self.members.len();
        let is_company = self.is_company(side);
        let environment = if is_company {
            attempt.scene.company_environment().iter().map(|(name, value)| (*name, value.into())).collect()
        } else {
            let mutant = attempt.implementation.active_mutant;
            mutant.map(|mutant| mutant.environment(attempt.folder)).unwrap_or_default()
        };
        let start = Start {
            command: &command,
            folder: attempt.folder,
            ready_line,
            environment: &environment,
            care: if is_company { Care::Guardian } else { Care::Kernel },
            number,
            events: &self.sender,
        };
        let process = Process::start(&start, attempt.guardian).map_err(|source| {
            let (program, side) = (command[0].to_string_lossy().into_owned(), name.clone());
            let Implementation { name: implementation, system, .. } = attempt.implementation.clone();
            HarnessError::exhausted_or(format!("start `{program}`"), source, |source| match is_company {
                true => HarnessError::CompanyNotStarted { system, program, source },
                false => HarnessError::SideNotStarted { implementation, side, program, source },
            })
        })?;
        let is_ready = side.ready == Ready::Started;
        self.members.push(Member { side, name, port, process, exit: None, is_ready });
        Ok(())
    }

    /// Returns whether the scene brings a side along.
    fn is_company(&self, side: &Side) -> bool {
        self.attempt.scene.company().iter().any(|own| own.name == side.name)
    }

    /// Waits until what the programs have caused has come to its end, if the scene knows what that is.
    fn settle(&self) {
        let is_active = || self.members.iter().any(|member| member.exit.is_none() && member.process.is_active());
        self.attempt.scene.settle(self.deadline, &is_active);
    }

    /// Waits until `moment`; returns what is wrong if a program ends badly meanwhile.
    fn await_moment(&mut self, moment: Instant) -> Option<FailureReason> {
        loop {
            let wait = moment.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return None;
            }
            if let Some(reason) = self.next_event(wait).and_then(|event| self.note(event)) {
                return Some(reason);
            }
        }
    }

    /// Waits until a program is ready; returns what is wrong if it does not become ready.
    fn await_ready(&mut self, number: usize) -> Result<Option<FailureReason>, HarnessError> {
        let port = match self.members[number].side.ready {
            Ready::Started | Ready::Line(_) => None,
            Ready::Port => self.members[number].port,
        };
        let group = self.members[number].process.group();
        let mut interval = PORT_INTERVAL_MIN;
        while !self.members[number].is_ready {
            let member = &mut self.members[number];
            if let Some(port) = port {
                member.is_ready =
                    ports::is_bound_by(port, group).map_err(|source| port_not_seen(&member.name, source))?;
            }
            if member.exit.is_some() {
                return Ok(Some(FailureReason::EndedBeforeReady { side: member.name.clone() }));
            }
            let wait_max = match port {
                Some(_) if member.is_ready => Duration::ZERO,
                Some(_) => interval,
                None => self.attempt.timeout,
            };
            interval = (interval * 3 / 2).min(PORT_INTERVAL_MAX);
            match self.next_event(wait_max.min(self.time_left())) {
                Some(event) => {
                    if let Some(reason) = self.note(event) {
                        return Ok(Some(reason));
                    }
                }
                None if self.time_left().is_zero() => {
                    let (side, limit_ms) = (self.members[number].name.clone(), self.attempt.limit_ms());
                    return Ok(Some(FailureReason::NotReady { side, limit_ms }));
                }
                None => {}
            }
        }
        Ok(None)
    }

    /// Lets the client talk to the programs; returns what is wrong if one ends badly meanwhile, or time is over.
    fn await_client(&mut self, client: &dyn Client) -> Option<FailureReason> {
        let (deadline, is_cut) = (self.deadline, &AtomicBool::new(false));
        let (reason, running) = std::thread::scope(|scope| {
            let talk = scope.spawn(move || client.run(deadline, is_cut));
            let mut reason = None;
            while reason.is_none() && !talk.is_finished() {
                reason = self.next_event(CLIENT_INTERVAL).and_then(|event| self.note(event));
            }
            is_cut.store(reason.is_some(), Ordering::Relaxed);
            (reason, talk.join().expect("the client has no way to panic"))
        });
        let is_late = reason.is_none() && !running.is_empty();
        reason.or_else(|| is_late.then(|| self.attempt.timed_out(running, deadline)))
    }

    /// Waits until every program that ends by itself has ended; returns what is wrong if one ends badly or not in time.
    fn await_ends(&mut self) -> Option<FailureReason> {
        loop {
            let running = self.running();
            if running.is_empty() {
                return None;
            }
            match self.next_event(self.time_left()) {
                Some(event) => {
                    if let Some(reason) = self.note(event) {
                        return Some(reason);
                    }
                }
                None => return Some(self.attempt.timed_out(running, self.deadline)),
            }
        }
    }

    /// Tells the programs that do not end by themselves to end, and gives them some time to do so. Those that the scene
    /// brought along have nothing left to say.
    fn stop_the_rest(&mut self) {
        let runs = |cast: &Self, member: &Member<'_>| member.exit.is_none() && !cast.is_company(member.side);
        for member in self.members.iter().filter(|member| runs(self, member)) {
            member.process.terminate();
        }
        self.deadline = Instant::now() + STOP_PATIENCE;
        while self.members.iter().any(|member| runs(self, member)) {
            let Some(event) = self.next_event(self.time_left()) else { return };
            // However they end is right.
            _ = self.note(event);
        }
    }

    /// Ends every program and returns what they printed.
    fn dismiss(mut self) -> Vec<SideOutput> {
        let dismiss = |member: &mut Member<'_>| {
            let (stdout, stderr) = member.process.kill();
            SideOutput { side: member.name.clone(), stdout, stderr }
        };
        self.members.iter_mut().map(dismiss).collect()
    }

    fn note(&mut self, event: Event) -> Option<FailureReason> {
        match event {
            Event::Ready(number) => self.members[number].is_ready = true,
            Event::Exited(number, exit) => {
                let member = &mut self.members[number];
                member.exit = Some(exit);
                if !exit.is_success() {
                    return Some(FailureReason::Exited { side: member.name.clone(), exit });
                }
            }
        }
        None
    }

    fn next_event(&self, wait_max: Duration) -> Option<Event> {
        match self.events.recv_timeout(wait_max) {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => unreachable!("the cast holds a sender itself"),
        }
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the programs that are to end by themselves and have not.
    fn running(&self) -> Vec<String> {
        let runs = |member: &&Member<'_>| member.side.exit == ExpectedExit::Success && member.exit.is_none();
        self.members.iter().filter(runs).map(|member| member.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;
    use crate::implementation::Values;
    use crate::proxy::ProxyCounts;

    /// A scene with one port for all, and nothing to judge.
    struct OnePort(u16);

    impl Scene for OnePort {
        fn players(&self, side: &str) -> Vec<Player> {
            vec![Player { name: side.into(), values: Values::new(), port: Some(self.0), start: Duration::ZERO }]
        }

        fn network(&self) -> Result<ProxyCounts, HarnessError> {
            Ok(ProxyCounts::default())
        }

        fn judge(&self) -> Result<Option<FailureReason>, HarnessError> {
            Ok(None)
        }
    }

    fn attempt(receiver: &str, port: u16, timeout: Duration) -> Attempted {
        let text = format!(
            "name = 'n'\nsystem = 'gbn'\ndescription = ''\n\
             [[side]]\nname = 'receiver'\nready = 'port'\ncommand = ['sh', '-c', '{receiver}']\n\
             [[side]]\nname = 'sender'\ncommand = ['true']"
        );
        let implementation = Implementation::parse(&text, Path::new("n.toml"), Path::new("/")).expect("a good file");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let guardian = Arc::new(Guardian::start(folder.path()).expect("the guardian starts"));
        let attempt = Attempt {
            implementation: &implementation,
            scene: &OnePort(port),
            build_directory: Path::new("/"),
            folder: folder.path(),
            timeout,
            guardian: &guardian,
        };
        attempt.run().expect("the programs start")
    }

    #[test]
    fn a_port_that_another_process_took_is_no_failure_of_the_program() {
        let lease = ports::Lease::new().expect("a port is free");
        let port = lease.port();
        let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
        for receiver in ["exit 1", "sleep 1000"] {
            let attempted = attempt(receiver, port, Duration::from_millis(300));
            assert!(
                matches!(&attempted, Attempted::PortTaken { side, port: taken } if side == "receiver" && *taken == port)
            );
        }
        drop(taken);
        assert!(matches!(
            attempt("exit 1", port, Duration::from_secs(60)),
            Attempted::EndedEarly(TestOutcome::Failed {
                reason: FailureReason::Exited { exit: Exit::Code(1), .. },
                ..
            })
        ));
    }
}
