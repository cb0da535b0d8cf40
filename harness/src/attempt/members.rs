//! The processes of a test case: started in order, waited for, and ended.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::injecting::{FaultsWithoutInjection, Injector};
use super::{Attempt, Broken, port_not_seen};
use crate::error::HarnessError;
use crate::failure::ProcessFailure;
use crate::faults::{Notice, RealNetwork, What};
use crate::implementation::{Implementation, fill_command, fill_text};
use crate::ports::{self, Lease};
use crate::process::{Care, ChildProcess, Event, Input, ProcessExit, Start, Watched};
use crate::proxy::ProxyCounts;
use crate::report::EndedProcess;
use crate::side::{ExpectedExit, Ready, Side};
use crate::testbed::{Clients, Process};

/// How long to wait at first before looking again whether a port has been bound.
const PORT_INTERVAL_MIN: Duration = Duration::from_millis(2);

/// How long at last: on a busy machine a look is not cheap, and programs take long to start.
const PORT_INTERVAL_MAX: Duration = Duration::from_millis(30);

/// A time limit that is longer, up to what a number can say, is none: the clock of the system ends before.
const TIMEOUT_MAX: Duration = Duration::from_hours(24 * 365);

/// How often to look whether the clients have ended.
const CLIENTS_INTERVAL: Duration = Duration::from_millis(5);

/// The processes of a test case.
pub(super) struct Members<'a> {
    pub(super) attempt: &'a Attempt<'a>,
    deadline: Instant,
    sender: Sender<Event>,
    events: Receiver<Event>,
    /// Events that have come, and were not looked at yet.
    pub(super) pending: VecDeque<Event>,
    /// The number of the next program that is started.
    next_number: usize,
    /// In the order in which they are started.
    pub(super) all: Vec<Member>,
    /// Keep further ports of processes from other jobs.
    pub(super) leases: Vec<Lease>,
    pub(super) injector: Injector,
    /// The network that the driver asked for.
    pub(super) real_network: Option<RealNetwork>,
}

/// A process that was started.
pub(super) struct Member {
    side: Side,
    pub(super) name: String,
    pub(super) port: Option<u16>,
    pub(super) launch: Launch,
    /// The number of its program, by which events name it: another one for each start.
    pub(super) number: usize,
    pub(super) child: ChildProcess,
    pub(super) exit: Option<ProcessExit>,
    is_ready: bool,
    pub(super) standing: Standing,
    /// Whether it was started again, and has not said since that it is ready.
    is_recovering: bool,
}

/// What faults have made of a process that has not ended by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It runs.
    Up,
    /// It is stopped.
    Paused,
    /// It was killed.
    Crashed,
}

/// How a process is started, and started again.
pub(super) struct Launch {
    pub(super) command: Vec<OsString>,
    pub(super) folder: PathBuf,
    /// Whether the folder is its own.
    pub(super) has_own_folder: bool,
    pub(super) variables: Vec<(String, OsString)>,
    pub(super) care: Care,
    /// Whether it is a driver that has a plan.
    pub(super) plans: bool,
}

impl<'a> Members<'a> {
    /// Returns the processes of an attempt, none of which is started.
    pub(super) fn new(attempt: &'a Attempt<'a>) -> Self {
        let (sender, events) = channel();
        Self {
            attempt,
            deadline: Instant::now() + attempt.timeout.min(TIMEOUT_MAX),
            sender,
            events,
            pending: VecDeque::new(),
            next_number: 0,
            all: Vec::new(),
            leases: Vec::new(),
            injector: Injector::default(),
            real_network: None,
        }
    }

    /// Runs the processes to their ends; returns what is wrong, if anything is.
    pub(super) fn run(&mut self) -> Result<Option<Broken>, HarnessError> {
        for (place, side) in self.attempt.sides().enumerate() {
            if place > 0 {
                self.settle();
            }
            let (first, moment) = (self.all.len(), Instant::now());
            for process in self.attempt.environment.processes(&side.name) {
                if let Some(failure) = self.await_moment(moment + process.start)? {
                    return Ok(Some(failure.into()));
                }
                self.start(side, process)?;
            }
            for place in first..self.all.len() {
                if let Some(failure) = self.await_ready(place)? {
                    return Ok(Some(failure.into()));
                }
            }
        }
        if self.attempt.is_planned() {
            if let Some(broken) = self.start_planned()? {
                return Ok(Some(broken));
            }
        } else {
            self.attempt.environment.prepare(self.deadline);
            self.begin(self.attempt.environment.schedule());
        }
        if let Some(clients) = self.attempt.environment.clients()
            && let Some(failure) = self.await_clients(clients)?
        {
            return Ok(Some(failure.into()));
        }
        if let Some(failure) = self.await_ends()? {
            let is_late = matches!(failure, ProcessFailure::TimedOut { .. });
            let recovering = if is_late { self.recovering()? } else { None };
            return Ok(Some(recovering.map_or(failure.into(), |process| Broken::not_ready(&process, self.attempt))));
        }
        self.settle();
        self.stop_the_rest()?;
        Ok(None)
    }

    fn start(&mut self, side: &Side, process: Process) -> Result<(), HarnessError> {
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
        let is_service = self.is_service(side);
        let variables = if is_service {
            let variables = attempt.environment.service_variables().iter();
            variables.map(|(name, value)| ((*name).to_owned(), value.into())).collect()
        } else {
            self.mutant_variables()
        };
        let launch = Launch {
            command: fill_command(&side.command, &placeholders),
            folder: attempt.folder.into(),
            has_own_folder: false,
            variables,
            care: if is_service { Care::Guardian } else { Care::Kernel },
            plans: side.exit == ExpectedExit::Verdict && attempt.is_planned(),
        };
        self.add(side.clone(), name, port, launch)
    }

    /// Returns what a program of the implementation is told of mutants.
    pub(super) fn mutant_variables(&self) -> Vec<(String, OsString)> {
        let mutant = self.attempt.implementation.active_mutant;
        let variables = mutant.map(|mutant| mutant.environment(self.attempt.folder)).unwrap_or_default();
        variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Starts a process, and counts it in.
    pub(super) fn add(
        &mut self,
        side: Side,
        name: String,
        port: Option<u16>,
        launch: Launch,
    ) -> Result<(), HarnessError> {
        let (number, child) = self.launch(&side, &name, &launch)?;
        let is_ready = side.ready == Ready::Started;
        let standing = Standing::Up;
        let (exit, is_recovering) = (None, false);
        self.all.push(Member { side, name, port, launch, number, child, exit, is_ready, standing, is_recovering });
        Ok(())
    }

    /// Starts the program of a process; returns its number, too.
    fn launch(&mut self, side: &Side, name: &str, launch: &Launch) -> Result<(usize, ChildProcess), HarnessError> {
        let number = self.next_number;
        self.next_number += 1;
        let variables: Vec<(&str, OsString)> =
            launch.variables.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let start = Start {
            command: &launch.command,
            folder: &launch.folder,
            watch: if launch.plans { Watched::FirstLine } else { Watched::for_ready(&side.ready) },
            input: if launch.plans { Input::Told } else { Input::Nothing },
            environment: &variables,
            care: launch.care,
            number,
            events: &self.sender,
        };
        let child = ChildProcess::start(&start, self.attempt.guardian).map_err(|source| {
            let (program, side) = (launch.command[0].to_string_lossy().into_owned(), self.attempt.title(name));
            let Implementation { name: implementation, system, .. } = self.attempt.implementation.clone();
            HarnessError::exhausted_or(format!("start `{program}`"), source, |source| match launch.care {
                Care::Guardian => HarnessError::ServiceNotStarted { system, program, source },
                Care::Kernel => HarnessError::SideNotStarted { implementation, side, program, why: source },
            })
        })?;
        Ok((number, child))
    }

    /// Starts a process again that was killed.
    pub(super) fn restart(&mut self, place: usize) -> Result<(), HarnessError> {
        let Member { side, name, launch, .. } = &self.all[place];
        let (side, name) = (side.clone(), name.clone());
        let launch = Launch {
            command: launch.command.clone(),
            folder: launch.folder.clone(),
            variables: launch.variables.clone(),
            ..*launch
        };
        let (number, child) = self.launch(&side, &name, &launch)?;
        let member = &mut self.all[place];
        (member.number, member.child, member.standing) = (number, child, Standing::Up);
        member.is_recovering = member.side.ready != Ready::Started;
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
    fn await_moment(&mut self, moment: Instant) -> Result<Option<ProcessFailure>, HarnessError> {
        loop {
            let wait = moment.saturating_duration_since(Instant::now());
            if wait.is_zero() {
                return Ok(None);
            }
            if let Some(failure) = self.next_event(wait)?.and_then(|event| self.note(event)) {
                return Ok(Some(failure));
            }
        }
    }

    /// Waits until a process is ready; returns what is wrong if it does not become ready.
    pub(super) fn await_ready(&mut self, place: usize) -> Result<Option<ProcessFailure>, HarnessError> {
        let port = match self.all[place].side.ready {
            Ready::Started | Ready::Line(_) => None,
            Ready::Port => self.all[place].port,
        };
        let group = self.all[place].child.group();
        let mut interval = PORT_INTERVAL_MIN;
        while !self.all[place].is_ready {
            let member = &mut self.all[place];
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
            match self.next_event(wait_max.min(self.time_left()))? {
                Some(event) => {
                    if let Some(failure) = self.note(event) {
                        return Ok(Some(failure));
                    }
                }
                None if self.time_left().is_zero() => {
                    let (process, limit_ms) = (self.all[place].name.clone(), self.attempt.limit_ms());
                    return Ok(Some(ProcessFailure::NotReady { process, limit_ms }));
                }
                None => {}
            }
        }
        Ok(None)
    }

    /// Lets the clients talk to the processes; returns what is wrong if one ends badly meanwhile, or time is over.
    fn await_clients(&mut self, clients: &dyn Clients) -> Result<Option<ProcessFailure>, HarnessError> {
        let (deadline, is_cut) = (self.deadline, &AtomicBool::new(false));
        let (failure, running) = std::thread::scope(|scope| {
            let talk = scope.spawn(move || clients.run(deadline, is_cut));
            let mut failure = Ok(None);
            while matches!(failure, Ok(None)) && !talk.is_finished() {
                failure = self.next_event(CLIENTS_INTERVAL).map(|event| event.and_then(|event| self.note(event)));
            }
            is_cut.store(!matches!(failure, Ok(None)), Ordering::Relaxed);
            (failure, talk.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let failure = failure?;
        let is_late = failure.is_none() && !running.is_empty();
        Ok(failure.or_else(|| is_late.then(|| self.timed_out(running))))
    }

    /// Waits until every process that ends by itself has ended; returns what is wrong if one ends badly or not in time.
    /// A driver with a plan is the only one that is waited for.
    fn await_ends(&mut self) -> Result<Option<ProcessFailure>, HarnessError> {
        loop {
            let running = self.running();
            let is_over = if self.attempt.is_planned() { self.all[0].exit.is_some() } else { running.is_empty() };
            if is_over {
                return Ok(None);
            }
            match self.next_event(self.time_left())? {
                Some(event) => {
                    if let Some(failure) = self.note(event) {
                        return Ok(Some(failure));
                    }
                }
                None => return Ok(Some(self.timed_out(running))),
            }
        }
    }

    /// Returns the first process of a plan that was started again and is still not ready.
    fn recovering(&self) -> Result<Option<String>, HarnessError> {
        if !self.attempt.is_planned() {
            return Ok(None);
        }
        for Member { side, name, port, child, exit, standing, is_recovering, .. } in &self.all {
            let is_up = exit.is_none() && *standing == Standing::Up;
            let is_ready = match (&side.ready, port) {
                (Ready::Port, Some(port)) if is_up && *is_recovering => {
                    ports::is_bound_by(*port, child.group()).map_err(|source| port_not_seen(name, source))?
                }
                _ => !is_recovering,
            };
            if is_up && !is_ready {
                return Ok(Some(name.clone()));
            }
        }
        Ok(None)
    }

    /// Waits for the driver's plan; there is none if the driver ends before.
    pub(super) fn await_plan(&mut self) -> Result<Result<Option<String>, Broken>, HarnessError> {
        while self.all[0].exit.is_none() {
            match self.next_event(self.time_left())? {
                Some(Event::Said(_, line)) => return Ok(Ok(Some(line))),
                Some(event) => {
                    if let Some(failure) = self.note(event) {
                        return Ok(Err(failure.into()));
                    }
                }
                None => {
                    let limit_ms = self.attempt.limit_ms();
                    let reason =
                        format!("the driver printed no plan in {limit_ms} ms: a plan is its first line, flushed");
                    return Ok(Err(Broken::Inconclusive(reason)));
                }
            }
        }
        Ok(Ok(None))
    }

    /// Returns the failure of a test case whose time limit is over while these are at work.
    fn timed_out(&self, running: Vec<String>) -> ProcessFailure {
        let activity =
            self.real_network.as_ref().map_or_else(|| self.attempt.environment.activity(), RealNetwork::activity);
        self.attempt.timed_out(running, self.deadline, activity)
    }

    /// Tells the processes that do not end by themselves to end, and gives them some time to do so. Auxiliary services
    /// have nothing left to say.
    fn stop_the_rest(&mut self) -> Result<(), HarnessError> {
        self.injector.stop();
        let runs = |members: &Self, member: &Member| {
            member.exit.is_none() && member.standing != Standing::Crashed && !members.is_service(&member.side)
        };
        let told: Vec<usize> = (0..self.all.len()).filter(|&place| runs(self, &self.all[place])).collect();
        self.tell_to_end(&told, runs)
    }

    /// Sends processes the signals that tell them to end, and waits while `runs` for as long as they have.
    fn tell_to_end(&mut self, told: &[usize], runs: impl Fn(&Self, &Member) -> bool) -> Result<(), HarnessError> {
        let began = Instant::now();
        for &place in told {
            let Member { child, side, .. } = &self.all[place];
            child.signal(side.stop.signal.into());
            // One that is stopped would not hear it.
            child.signal(rustix::process::Signal::CONT);
        }
        loop {
            let running = told.iter().map(|&place| &self.all[place]).filter(|member| runs(self, member));
            let Some(grace) = running.map(|member| member.side.stop.grace()).max() else { return Ok(()) };
            self.deadline = began + grace;
            let Some(event) = self.next_event(self.time_left())? else { return Ok(()) };
            // However they end is right.
            _ = self.note(event);
        }
    }

    /// Returns whether a program that was given a port ended before it was ready.
    pub(super) fn is_early(&self) -> bool {
        self.all.iter().any(|member| member.port.is_some() && !member.is_ready && member.exit.is_some())
    }

    /// Returns the processes that were given a port, and these.
    pub(super) fn ports(&self) -> Vec<(String, u16)> {
        self.all.iter().filter_map(|member| Some((member.name.clone(), member.port?))).collect()
    }

    /// Returns what the network did that the driver asked for.
    ///
    /// # Errors
    /// Why it does not work any more.
    pub(super) fn network(&self) -> Result<Option<ProxyCounts>, HarnessError> {
        let Some(network) = &self.real_network else { return Ok(None) };
        network.check()?;
        Ok(Some(network.counts()))
    }

    /// Ends every process. Returns how each ended, and the faults that did not happen.
    pub(super) fn end(mut self) -> (Vec<EndedProcess>, FaultsWithoutInjection) {
        self.injector.stop();
        // A driver that is told to end may have something to clear up.
        let is_asked = |member: &Member| {
            member.exit.is_none() && member.side.exit == ExpectedExit::Verdict && !member.side.stop.is_kill()
        };
        let asked: Vec<usize> = (0..self.all.len()).filter(|&place| is_asked(&self.all[place])).collect();
        // Nothing is injected any more, so nothing can go wrong.
        _ = self.tell_to_end(&asked, |_, member| member.exit.is_none());
        let end = |member: &mut Member| {
            let (stdout, stderr) = member.child.kill();
            EndedProcess { process: member.name.clone(), exit: member.exit, stdout, stderr }
        };
        let up = self.all.iter_mut().filter(|member| member.standing != Standing::Crashed);
        let mut processes: Vec<EndedProcess> = up.map(end).collect();
        let (crashed, missing) = self.injector.end();
        processes.extend(crashed);
        (processes, missing)
    }

    pub(super) fn note(&mut self, event: Event) -> Option<ProcessFailure> {
        match event {
            Event::Ready(place) => {
                let member = &mut self.all[place];
                (member.is_ready, member.is_recovering) = (true, false);
                self.tell(What::Ready { process: &self.all[place].name });
            }
            Event::Said(..) => {}
            Event::Exited(place, exit) => {
                let member = &mut self.all[place];
                member.exit = Some(exit);
                if !member.side.exit.allows(exit) {
                    return Some(ProcessFailure::Exited { process: member.name.clone(), exit });
                }
                if !member.launch.plans {
                    let process = member.name.clone();
                    self.tell(What::Ended { process: &process, exit });
                }
            }
        }
        None
    }

    /// Returns the next event, by the places of processes, after what was due before it has been injected.
    fn next_event(&mut self, wait_max: Duration) -> Result<Option<Event>, HarnessError> {
        let give_up_at = Instant::now() + wait_max;
        loop {
            self.inject_due()?;
            while let Some(event) = self.pending.pop_front() {
                if let Some(event) = self.placed(event) {
                    return Ok(Some(event));
                }
            }
            let until = self.injector.due().map_or(give_up_at, |due| due.min(give_up_at));
            match self.events.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(event) => self.pending.push_back(event),
                Err(RecvTimeoutError::Timeout) if Instant::now() >= give_up_at => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("the owner holds a sender itself"),
            }
        }
    }

    /// Takes all events that have come so far.
    pub(super) fn take_events(&mut self) {
        self.pending.extend(self.events.try_iter());
    }

    /// Returns the event with the place of the process in place of the number of its program; `None` if that was
    /// killed by a fault.
    fn placed(&self, event: Event) -> Option<Event> {
        let place = |number: usize| self.all.iter().position(|member| member.number == number);
        match event {
            Event::Ready(number) => place(number).map(Event::Ready),
            Event::Said(number, line) => place(number).map(|place| Event::Said(place, line)),
            Event::Exited(number, exit) => place(number).map(|place| Event::Exited(place, exit)),
        }
    }

    /// Tells the driver that something happened, if it has a plan that is running.
    pub(super) fn tell(&self, what: What<'_>) {
        let Some((elapsed, lateness)) = self.injector.clock() else { return };
        let Some(driver) = self.all.first().filter(|member| member.launch.plans) else { return };
        let lateness = self.real_network.as_ref().map_or(lateness, |network| network.lateness().max(lateness));
        let ms = |duration: Duration| duration.as_millis().try_into().unwrap_or(u64::MAX);
        let notice = Notice { what, at_ms: ms(elapsed), late_ms: ms(lateness) };
        driver.child.tell(serde_json::to_string(&notice).expect("notices are plain data"));
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Returns the processes that are to end by themselves and have not: those that were killed only if they will be
    /// started again.
    fn running(&self) -> Vec<String> {
        let runs = |member: &&Member| {
            let is_there = member.standing != Standing::Crashed || self.injector.will_restart(&member.name);
            member.side.exit != ExpectedExit::Stopped && member.exit.is_none() && is_there
        };
        self.all.iter().filter(runs).map(|member| member.name.clone()).collect()
    }
}
