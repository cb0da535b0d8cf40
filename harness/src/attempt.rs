//! Runs one test case once: starts the sides, waits for their ends, and lets the system judge what they left.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use crate::error::HarnessError;
use crate::implementation::{ExpectedExit, Implementation, Ready, Side, fill_command};
use crate::ports;
use crate::process::{Event, Exit, Guardian, Process, Start};
use crate::report::{FailureReason, SideOutput, TestOutcome};
use crate::system::Scene;

/// How often to look whether a port has been bound.
const PORT_INTERVAL: Duration = Duration::from_millis(2);

/// How long a side may take to end after it was told to.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// What an attempt to run a test case led to.
pub(crate) enum Attempted {
    /// It ran.
    Ran(TestOutcome),
    /// A side could not bind its port, since another process had taken it: try again with other ports.
    PortTaken {
        /// The side.
        side: String,
        /// Its port.
        port: u16,
    },
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
        let mut cast = Cast {
            attempt: self,
            deadline: Instant::now() + self.timeout,
            sender,
            events,
            processes: Vec::new(),
            exits: Vec::new(),
            ready: Vec::new(),
        };
        let failure = cast.play()?;
        let outputs = cast.dismiss();
        let Some(reason) = failure else { return Ok(Attempted::Ran(TestOutcome::Passed)) };
        // A program without its port may end, hang or complain in any way; all that is left of it is gone by now.
        for side in &self.implementation.sides {
            if let Some(port) = self.scene.port(&side.name)
                && ports::is_taken(port)
            {
                return Ok(Attempted::PortTaken { side: side.name.clone(), port });
            }
        }
        Ok(Attempted::Ran(TestOutcome::Failed { reason, outputs }))
    }

    fn limit_ms(&self) -> u64 {
        self.timeout.as_millis().try_into().unwrap_or(u64::MAX)
    }
}

/// The programs of a test case, in the order in which they are started; all lists run in parallel.
struct Cast<'a> {
    attempt: &'a Attempt<'a>,
    deadline: Instant,
    sender: Sender<Event>,
    events: Receiver<Event>,
    processes: Vec<Process>,
    exits: Vec<Option<Exit>>,
    ready: Vec<bool>,
}

impl Cast<'_> {
    /// Runs the programs to their ends; returns what is wrong, if anything is.
    fn play(&mut self) -> Result<Option<FailureReason>, HarnessError> {
        for (number, side) in self.attempt.implementation.sides.iter().enumerate() {
            self.start(number, side)?;
            if let Some(reason) = self.await_ready(number, side)? {
                return Ok(Some(reason));
            }
        }
        if let Some(reason) = self.await_ends() {
            return Ok(Some(reason));
        }
        self.stop_the_rest();
        self.attempt.scene.judge()
    }

    fn start(&mut self, number: usize, side: &Side) -> Result<(), HarnessError> {
        let attempt = self.attempt;
        let mut values = attempt.scene.values(&side.name);
        values.insert("here", attempt.implementation.folder.clone().into());
        values.insert("build", attempt.build_directory.into());
        values.insert("work", attempt.folder.into());
        let command = fill_command(&side.command, &values);
        let ready_line = match &side.ready {
            Ready::Line(text) => Some(text.as_str()),
            Ready::Started | Ready::Port => None,
        };
        let start = Start { command: &command, folder: attempt.folder, ready_line, number, events: &self.sender };
        let process = Process::start(&start, attempt.guardian).map_err(|source| HarnessError::SideNotStarted {
            implementation: attempt.implementation.name.clone(),
            side: side.name.clone(),
            program: command[0].to_string_lossy().into_owned(),
            source,
        })?;
        self.processes.push(process);
        self.exits.push(None);
        self.ready.push(side.ready == Ready::Started);
        Ok(())
    }

    /// Waits until a side is ready; returns what is wrong if it does not become ready.
    fn await_ready(&mut self, number: usize, side: &Side) -> Result<Option<FailureReason>, HarnessError> {
        let port = match side.ready {
            Ready::Started | Ready::Line(_) => None,
            Ready::Port => self.attempt.scene.port(&side.name),
        };
        let group = self.processes[number].group();
        while !self.ready[number] {
            if let Some(port) = port {
                self.ready[number] = ports::is_bound_by(port, group)
                    .map_err(|source| HarnessError::PortNotSeen { side: side.name.clone(), source })?;
            }
            if self.exits[number].is_some() {
                return Ok(Some(FailureReason::EndedBeforeReady { side: side.name.clone() }));
            }
            let wait_max = if port.is_some() { PORT_INTERVAL } else { self.attempt.timeout };
            match self.next_event(wait_max.min(self.time_left())) {
                Some(event) => {
                    if let Some(reason) = self.note(event) {
                        return Ok(Some(reason));
                    }
                }
                None if self.time_left().is_zero() => {
                    let limit_ms = self.attempt.limit_ms();
                    return Ok(Some(FailureReason::NotReady { side: side.name.clone(), limit_ms }));
                }
                None => {}
            }
        }
        Ok(None)
    }

    /// Waits until every side that ends by itself has ended; returns what is wrong if one ends badly or not in time.
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
                None => return Some(FailureReason::TimedOut { running, limit_ms: self.attempt.limit_ms() }),
            }
        }
    }

    /// Tells the sides that do not end by themselves to end, and gives them some time to do so.
    fn stop_the_rest(&mut self) {
        for (process, exit) in self.processes.iter().zip(&self.exits) {
            if exit.is_none() {
                process.terminate();
            }
        }
        self.deadline = Instant::now() + STOP_PATIENCE;
        while self.exits.contains(&None) {
            let Some(event) = self.next_event(self.time_left()) else { return };
            // However they end is right.
            _ = self.note(event);
        }
    }

    /// Ends every program and returns what they printed.
    fn dismiss(mut self) -> Vec<SideOutput> {
        let sides = &self.attempt.implementation.sides;
        let dismiss = |(side, process): (&Side, &mut Process)| {
            let (stdout, stderr) = process.kill();
            SideOutput { side: side.name.clone(), stdout, stderr }
        };
        sides.iter().zip(&mut self.processes).map(dismiss).collect()
    }

    fn note(&mut self, event: Event) -> Option<FailureReason> {
        match event {
            Event::Ready(number) => self.ready[number] = true,
            Event::Exited(number, exit) => {
                self.exits[number] = Some(exit);
                if !exit.is_success() {
                    let side = self.attempt.implementation.sides[number].name.clone();
                    return Some(FailureReason::Exited { side, exit });
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

    /// Returns the sides that are to end by themselves and have not.
    fn running(&self) -> Vec<String> {
        self.attempt
            .implementation
            .sides
            .iter()
            .zip(&self.exits)
            .filter(|(side, exit)| side.exit == ExpectedExit::Success && exit.is_none())
            .map(|(side, _)| side.name.clone())
            .collect()
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
        fn values(&self, _: &str) -> Values {
            Values::new()
        }

        fn port(&self, _: &str) -> Option<u16> {
            Some(self.0)
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
            Attempted::Ran(TestOutcome::Failed { reason: FailureReason::Exited { exit: Exit::Code(1), .. }, .. })
        ));
    }
}
