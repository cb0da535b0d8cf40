//! What outlives a test case: a process that takes long to start, such as a cluster, and that many test cases use.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::Instant;

use crate::error::HarnessError;
use crate::implementation::driver::FIXTURE_PLACEHOLDERS;
use crate::implementation::{ActiveMutant, DriverCommand, FixtureCommand, Implementation, fill_command, fill_text};
use crate::ports::Lease;
use crate::process::{Care, ChildProcess, Event, Guardian, Input, OutputTail, ProcessExit, Start, Watched};
use crate::side::{FIXTURE, Stop};
use crate::testbed::Placeholders;

/// Where fixtures are started.
pub(crate) struct Place<'a> {
    pub(crate) implementation: &'a Implementation,
    pub(crate) build_directory: &'a Path,
    /// Folders of fixtures are made here.
    pub(crate) run_folder: &'a Path,
    pub(crate) guardian: &'a Arc<Guardian>,
}

/// A fixture that is ready: a process, and all that it has started. It is ended when it is dropped, or when the harness
/// is killed.
///
/// Runs of suites have theirs from the file of the implementation. [`Fixture::start_alone`] starts one for a test or a
/// benchmark of its own.
#[derive(Debug)]
pub struct Fixture {
    child: ChildProcess,
    events: Receiver<Event>,
    /// What drivers are told of it.
    placeholders: Placeholders,
    /// How it is told to end.
    stop: Stop,
    /// Keep its ports from other jobs.
    _leases: Vec<Lease>,
    _folder: tempfile::TempDir,
}

/// What a fixture is started with.
struct Launch<'a> {
    /// What messages call it.
    name: &'a str,
    command: &'a FixtureCommand,
    here: &'a Path,
    build_directory: &'a Path,
    run_folder: &'a Path,
    guardian: &'a Arc<Guardian>,
    active_mutant: Option<ActiveMutant>,
}

impl Launch<'_> {
    /// Starts it. It has the ports that its command names, and those that `is_named` says.
    fn start(&self, is_named: impl Fn(&str) -> bool) -> Result<Fixture, HarnessError> {
        let Self { name, command, here, build_directory, run_folder, guardian, active_mutant } = *self;
        let folder = tempfile::Builder::new()
            .prefix("fixture-")
            .tempdir_in(run_folder)
            .map_err(HarnessError::file("make a folder in", run_folder))?;
        let side = command.side();
        let mut own = Placeholders::from([
            ("here", here.into()),
            ("build", build_directory.into()),
            ("work", folder.path().into()),
        ]);
        let mut told = Placeholders::from([(FIXTURE, folder.path().into())]);
        let mut leases = Vec::new();
        for (port, fixture_port) in FIXTURE_PLACEHOLDERS {
            if side.names(port) || is_named(fixture_port) {
                let lease = Lease::for_both()?;
                own.insert(port, lease.port().to_string().into());
                told.insert(fixture_port, lease.port().to_string().into());
                leases.push(lease);
            }
        }
        for file in &side.files {
            let path = folder.path().join(fill_text(&file.name, &own));
            std::fs::write(&path, fill_text(&file.text, &own).as_encoded_bytes())
                .map_err(HarnessError::file("write", &path))?;
        }
        let watch = Watched::for_ready(&side.ready);
        let (sender, events) = channel();
        let command_line = fill_command(&side.command, &own);
        let mutant = active_mutant.map(|mutant| mutant.environment(folder.path()));
        let start = Start {
            command: &command_line,
            folder: folder.path(),
            watch,
            input: Input::Nothing,
            environment: &mutant.unwrap_or_default(),
            care: Care::Kernel,
            number: 0,
            events: &sender,
        };
        let child = ChildProcess::start(&start, guardian).map_err(|source| {
            let (program, side) = (side.command[0].clone(), side.title());
            HarnessError::exhausted_or(format!("start `{program}`"), source, |why| HarnessError::SideNotStarted {
                implementation: name.into(),
                side,
                program,
                why,
            })
        })?;
        let (stop, placeholders) = (side.stop, told);
        let fixture = Fixture { child, events, stop, placeholders, _leases: leases, _folder: folder };
        match watch {
            Watched::Nothing | Watched::FirstLine => Ok(fixture),
            Watched::Ready(_) => fixture.await_ready(name.into(), command),
        }
    }
}

impl Fixture {
    /// Starts the fixture of the implementation, and waits until it is ready; `None` if it has none.
    ///
    /// # Errors
    /// [`HarnessError`] if it cannot be started, ends, or is not ready in time.
    pub(crate) fn start(place: &Place<'_>) -> Result<Option<Self>, HarnessError> {
        let Place { implementation, build_directory, run_folder, guardian } = *place;
        let Some(command) = implementation.fixture() else { return Ok(None) };
        let driver = implementation.driver.as_ref().map(DriverCommand::side);
        let launch = Launch {
            name: &implementation.name,
            command,
            here: &implementation.folder,
            build_directory,
            run_folder,
            guardian,
            active_mutant: implementation.active_mutant,
        };
        launch.start(|port| driver.as_ref().is_some_and(|driver| driver.names(port))).map(Some)
    }

    /// Starts a fixture that belongs to no run, and waits until it is ready. Its own folder is made in `folder`, which is
    /// `{here}`, too.
    ///
    /// # Errors
    /// [`HarnessError`] if it cannot be started, ends, or is not ready in time; messages call it `name`.
    pub fn start_alone(name: &str, command: &FixtureCommand, folder: &Path) -> Result<Self, HarnessError> {
        let run = tempfile::Builder::new()
            .prefix("run-")
            .tempdir_in(folder)
            .map_err(HarnessError::file("make a folder in", folder))?;
        // The guardian removes the folder, in whatever way this process ends.
        let guardian = Guardian::start(run.path()).map(Arc::new).map_err(HarnessError::Guardian)?;
        let run = run.keep();
        let launch = Launch {
            name,
            command,
            here: folder,
            build_directory: folder,
            run_folder: &run,
            guardian: &guardian,
            active_mutant: None,
        };
        launch.start(|_| false)
    }

    /// Returns one of its ports, as its command knows it: `port`, `port2` and so on to `port9`.
    pub fn port(&self, name: &str) -> Option<u16> {
        let (_, told) = FIXTURE_PLACEHOLDERS.into_iter().find(|(own, _)| *own == name)?;
        self.placeholders.get(told)?.to_str()?.parse().ok()
    }

    fn await_ready(mut self, implementation: String, command: &FixtureCommand) -> Result<Self, HarnessError> {
        let limit = command.timeout();
        let what = match self.events.recv_timeout(limit) {
            Ok(Event::Ready(_) | Event::Said(..)) => return Ok(self),
            Ok(Event::Exited(_, ProcessExit::UNAVAILABLE)) => {
                let reason = self.child.kill().1.text.trim().to_owned();
                return Err(HarnessError::SideUnavailable { implementation, side: command.side().title(), reason });
            }
            Ok(Event::Exited(_, exit)) => format!("ended with {exit}"),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                format!("was not ready after {} s", limit.as_secs())
            }
        };
        let (stdout, stderr) = self.child.kill();
        Err(HarnessError::FixtureNotReady { implementation, what, output: stdout.text + &stderr.text })
    }

    /// Ends it, as its file says; returns what it printed last.
    fn end(&mut self) -> (OutputTail, OutputTail) {
        let deadline = Instant::now() + self.stop.grace();
        // One that has ended, or is not to be asked, is only cleared up after.
        if !self.stop.is_kill() && self.exit().is_none() {
            self.child.signal(self.stop.signal.into());
            let wait = || self.events.recv_timeout(deadline.saturating_duration_since(Instant::now()));
            while matches!(wait(), Ok(Event::Ready(_) | Event::Said(..))) {}
        }
        // Its end was waited for once.
        self.stop = Stop::KILL;
        self.child.kill()
    }

    /// Returns what drivers are told of it.
    pub(crate) fn placeholders(&self) -> &Placeholders {
        &self.placeholders
    }

    /// Ends it, and returns the last line that it complained of, after a colon; nothing if it did not complain.
    pub(crate) fn last_words(mut self) -> String {
        self.end().1.last_line().map(|line| format!(": {line}")).unwrap_or_default()
    }

    /// Returns how it ended, if it did.
    pub(crate) fn exit(&self) -> Option<ProcessExit> {
        loop {
            match self.events.try_recv() {
                Ok(Event::Exited(_, exit)) => return Some(exit),
                Ok(Event::Ready(_) | Event::Said(..)) => {}
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return None,
            }
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.end();
    }
}
