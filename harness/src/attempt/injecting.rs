//! Faults while the processes of a test case run: each at its moment, or a word on why it was not injected.

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use simutant_sim_core::trace::DurableState;

use super::members::{Member, Members, Standing};
use crate::error::HarnessError;
use crate::faults::{Injection, Schedule, ScheduledInjection, What};
use crate::process::{Event, ProcessExit};
use crate::report::EndedProcess;

/// How a program ends that was killed.
const KILLED: ProcessExit = ProcessExit::Signal(Signal::KILL.as_raw());

/// No program has this number.
const NO_NUMBER: usize = usize::MAX;

/// Faults of a test case that did not happen, each in words.
#[derive(Debug, Default)]
pub(super) struct FaultsWithoutInjection {
    /// Those that could not be injected.
    pub(super) not_injected: Vec<String>,
    /// Those that would have changed nothing in a simulation either: the process was down, or had ended.
    pub(super) without_effect: Vec<String>,
    /// Those that were due when the test case had ended.
    pub(super) late: Vec<String>,
}

/// What is still to be injected, and what was not.
#[derive(Debug, Default)]
pub(super) struct Injector {
    /// When the schedule began, if it did.
    begun: Option<Instant>,
    left: VecDeque<ScheduledInjection>,
    missing: FaultsWithoutInjection,
    /// How late an injection was at most.
    lateness: Duration,
    /// Programs that were killed, as they were.
    crashed: Vec<EndedProcess>,
}

impl Injector {
    /// Returns when the next injection is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.begun?.checked_add(self.left.front()?.at)
    }

    /// Returns how long ago the schedule began, and how late an injection was at most.
    pub(super) fn clock(&self) -> Option<(Duration, Duration)> {
        Some((self.begun?.elapsed(), self.lateness))
    }

    /// Returns whether a process will be started again.
    pub(super) fn will_restart(&self, process: &str) -> bool {
        self.left.iter().any(
            |scheduled| matches!(&scheduled.injection, Injection::Restart { process: restarted, .. } if restarted == process),
        )
    }

    /// Injects nothing any more.
    pub(super) fn stop(&mut self) {
        for scheduled in self.left.drain(..).filter(|scheduled| !scheduled.injection.is_mended()) {
            self.missing.late.push(scheduled.to_string());
        }
    }

    /// Returns the programs that were killed, and the faults that did not happen.
    pub(super) fn end(self) -> (Vec<EndedProcess>, FaultsWithoutInjection) {
        (self.crashed, self.missing)
    }

    /// Adds a fault that could not be injected.
    pub(super) fn refuse(&mut self, fault: String) {
        self.missing.not_injected.push(fault);
    }
}

impl Members<'_> {
    /// Lets a schedule begin.
    pub(super) fn begin(&mut self, schedule: Schedule) {
        let now = Instant::now();
        self.attempt.environment.begin(now);
        if let Some(network) = &self.real_network {
            network.begin(now);
        }
        let Schedule { injections, not_injected } = schedule;
        self.injector.missing.not_injected.extend(not_injected);
        (self.injector.begun, self.injector.left) = (Some(now), injections.into());
    }

    /// Injects what is due.
    pub(super) fn inject_due(&mut self) -> Result<(), HarnessError> {
        while let Some(due) = self.injector.due()
            && let now = Instant::now()
            && due <= now
        {
            let Some(scheduled) = self.injector.left.pop_front() else { break };
            self.injector.lateness = self.injector.lateness.max(now - due);
            match self.inject(&scheduled)? {
                Injected::Done => self.tell(What::from(&scheduled)),
                Injected::Needless => {}
                Injected::Not(why) => self.injector.refuse(format!("{scheduled}: {why}")),
                Injected::WithoutEffect(why) => {
                    self.injector.missing.without_effect.push(format!("{scheduled}: {why}"));
                }
            }
            if self.injector.left.is_empty() {
                self.tell(What::FaultsOver);
            }
        }
        Ok(())
    }

    fn inject(&mut self, scheduled: &ScheduledInjection) -> Result<Injected, HarnessError> {
        let Some(process) = scheduled.injection.process() else {
            return Ok(self.attempt.environment.inject(&scheduled.injection).map_or(Injected::Done, Injected::Not));
        };
        let Some(place) = self.all.iter().position(|member| member.name == *process) else {
            return Ok(Injected::Not("no process has this name".into()));
        };
        self.take_events();
        if let Some(exit) = self.exit_of(place) {
            let is_mended = scheduled.injection.is_mended();
            let why = format!("it had ended before, with {exit}");
            return Ok(if is_mended { Injected::Needless } else { Injected::WithoutEffect(why) });
        }
        let standing = self.all[place].standing;
        match (&scheduled.injection, standing) {
            (Injection::Crash { .. }, Standing::Up | Standing::Paused) => return Ok(self.crash(place, scheduled)),
            (Injection::Restart { durable_state, .. }, Standing::Crashed) => {
                let is_kept = self.prepare_restart(place, *durable_state)?;
                self.restart(place)?;
                if !is_kept {
                    self.injector.refuse(format!("{scheduled}: it found its files, which are not its own to remove"));
                }
            }
            (Injection::Pause { .. }, Standing::Up) => {
                self.all[place].child.signal(Signal::STOP);
                self.all[place].standing = Standing::Paused;
            }
            (Injection::Resume { .. }, Standing::Paused) => {
                self.all[place].child.signal(Signal::CONT);
                self.all[place].standing = Standing::Up;
            }
            // As in the simulation: who is down or has ended does not crash, and who is up does not restart.
            (Injection::Crash { .. } | Injection::Pause { .. }, _) => {
                return Ok(Injected::WithoutEffect("it was down already".into()));
            }
            _ => return Ok(Injected::Needless),
        }
        Ok(Injected::Done)
    }

    /// Returns how a process ended, if it did so by itself.
    fn exit_of(&self, place: usize) -> Option<ProcessExit> {
        let Member { number, exit, .. } = &self.all[place];
        exit.or_else(|| {
            self.pending.iter().find_map(|event| match event {
                Event::Exited(exited, exit) if exited == number => Some(*exit),
                _ => None,
            })
        })
    }

    /// Kills a process, unless it has ended by itself just before.
    fn crash(&mut self, place: usize, scheduled: &ScheduledInjection) -> Injected {
        let (stdout, stderr) = self.all[place].child.kill();
        self.take_events();
        match self.exit_of(place) {
            Some(exit) if exit != KILLED => {
                return Injected::WithoutEffect(format!("it had ended before, with {exit}"));
            }
            _ => {}
        }
        let member = &mut self.all[place];
        (member.standing, member.number) = (Standing::Crashed, NO_NUMBER);
        let process = format!("{}, killed at {}", member.name, scheduled.moment());
        if let Some(network) = &self.real_network {
            network.reset(&member.name);
        }
        self.injector.crashed.push(EndedProcess { process, exit: Some(KILLED), stdout, stderr });
        Injected::Done
    }

    /// Removes the files of a process that is to lose its durable state; returns whether that is done, if it has to be.
    fn prepare_restart(&self, place: usize, durable_state: DurableState) -> Result<bool, HarnessError> {
        let launch = &self.all[place].launch;
        match durable_state {
            DurableState::Kept => Ok(true),
            DurableState::Lost if launch.has_own_folder => empty(&launch.folder).map(|()| true),
            DurableState::Lost => Ok(false),
        }
    }
}

/// What became of an injection.
enum Injected {
    Done,
    /// There was nothing to mend.
    Needless,
    /// It could not be injected, for this reason.
    Not(String),
    /// It would have changed nothing, for this reason.
    WithoutEffect(String),
}

/// Removes what is in a folder.
fn empty(folder: &Path) -> Result<(), HarnessError> {
    let remove = || HarnessError::file("empty", folder);
    std::fs::remove_dir_all(folder).map_err(remove())?;
    std::fs::create_dir(folder).map_err(remove())
}
