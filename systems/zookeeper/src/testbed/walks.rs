//! Test cases of the systems `zookeeper`, `zookeeper-2439` and `zookeeper-ensemble` on real servers: the machine that
//! drives the clients of the simulation drives [clients](super::Client) of the servers, each in a thread, and the
//! specification judges what they saw.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_harness::{
    Clients, Conclusion, Environment, Finding, HarnessError, Inconclusive, Injection, InvalidCase, Left, Process, Role,
    Schedule, Setup, Side, Testbed, TimeScale, Verdict, read_case,
};
use simutant_models::{End, RealClock, Script, Walker};
use simutant_oracle::{Check, History, IMPOSSIBLE_HISTORY, Recorder, Session};
use simutant_sim_core::{Faults, ScheduledFault};
use simutant_system::{Separation, System, Walk};
use simutant_zookeeper_histories::{Operation, Response};

use super::connection::{Connection, Ended, Problem, note, verdict_of};
use super::own::{OwnServers, ROLES, SERVER, server_name};
use super::{Client, ClientError};
use crate::configuration::crash_and_restart;
use crate::{ServerCrash, ZooKeeper, ZooKeeper2439, ZooKeeperEnsemble, check, check_ensemble, machine};

/// Test cases of `zookeeper-2439` are those of `zookeeper`.
pub(super) const ZOOKEEPER: ZooKeeperTestbed = ZooKeeperTestbed { system: ZooKeeper::NAME, servers: Kind::One };
pub(super) const ZOOKEEPER_2439: ZooKeeperTestbed =
    ZooKeeperTestbed { system: ZooKeeper2439::NAME, servers: Kind::One };
pub(super) const ZOOKEEPER_ENSEMBLE: ZooKeeperTestbed =
    ZooKeeperTestbed { system: ZooKeeperEnsemble::NAME, servers: Kind::Ensemble };

/// How long a second of the simulation of an ensemble takes: an election among real servers takes as much longer.
const ENSEMBLE_SECONDS: u32 = 10;

/// The time limit of a test case: servers take seconds to start and to elect a leader, more on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(1);

/// How long the end of a session may take. Nothing depends on it.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// Runs test cases of a system.
#[derive(Debug)]
pub(super) struct ZooKeeperTestbed {
    system: &'static str,
    servers: Kind,
}

/// Which servers there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    One,
    Ensemble,
}

/// What a test case asks for.
struct Asked {
    /// What clients do.
    walks: Vec<Script>,
    /// How long a second of the simulation takes.
    seconds: u32,
    /// Crashes of servers.
    faults: Vec<ScheduledFault>,
    /// Which servers do not reach the others, and when.
    partitions: Vec<Separation>,
    /// How long the simulation's clients wait for an answer, about.
    pace: Duration,
}

impl Asked {
    fn is_disturbed(&self) -> bool {
        !(self.faults.is_empty() && self.partitions.is_empty())
    }
}

/// Returns the check of what clients saw.
type CheckOf = fn(&History<Operation, Response>) -> Check<'static>;

impl Kind {
    fn read(self, case: &Value) -> Result<Asked, InvalidCase> {
        let walks = |walks: &[Walk]| walks.iter().map(|walk| walk.script().clone()).collect();
        Ok(match self {
            Self::One => {
                let case = read_case(case, ZooKeeper::validate)?;
                let faults = case.crash.iter().flat_map(|crash| crash_and_restart(SERVER, crash.at_ms, crash.for_ms));
                // A message each way takes three quarters of the longest time.
                let pace = case.latency_us * 3 / 2 + case.prepare_us + case.log_us + case.apply_us;
                let (walks, pace) = (walks(&case.clients), Duration::from_micros(pace));
                Asked { walks, seconds: 1, faults: faults.collect(), partitions: Vec::new(), pace }
            }
            Self::Ensemble => {
                let case = read_case(case, ZooKeeperEnsemble::validate)?;
                let crash = |crash: &ServerCrash| {
                    crash_and_restart(&server_name(crash.server as usize), crash.at_ms, crash.for_ms)
                };
                // The change of a follower's client is sent to its server, the leader, a follower, and all the way back.
                let pace = case.latency_us * 9 / 2 + case.prepare_us + case.log_us + case.apply_us;
                Asked {
                    walks: walks(&case.clients),
                    seconds: ENSEMBLE_SECONDS,
                    faults: case.crashes.iter().flat_map(crash).collect(),
                    partitions: case.partitions,
                    pace: Duration::from_micros(pace),
                }
            }
        })
    }

    fn check(self) -> CheckOf {
        match self {
            Self::One => |_| check(),
            Self::Ensemble => check_ensemble,
        }
    }
}

impl Testbed for ZooKeeperTestbed {
    fn system(&self) -> &str {
        self.system
    }

    fn implemented_as(&self) -> &str {
        match self.servers {
            Kind::One => ZooKeeper::NAME,
            Kind::Ensemble => ZooKeeperEnsemble::NAME,
        }
    }

    fn roles(&self) -> &[Role] {
        if self.servers == Kind::One { &[] } else { &ROLES }
    }

    fn needs_fixture(&self) -> bool {
        self.servers == Kind::One
    }

    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    fn jobs_for_each_core(&self) -> usize {
        1
    }

    /// The test case leaves nothing open.
    fn redraws(&self) -> bool {
        false
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        self.servers.read(case).map(drop)
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        /// Counts the test cases of this process, to which the servers belong, too.
        static COUNT: AtomicU64 = AtomicU64::new(0);

        let asked = self.servers.read(setup.case).expect("the case was checked");
        let own = match (self.servers, &setup.fixture_side) {
            (Kind::One, Some(side)) if asked.is_disturbed() => Some(OwnServers::one(side.clone(), setup.folder)?),
            (Kind::One, _) => None,
            (Kind::Ensemble, _) => Some(OwnServers::ensemble(setup.folder, !asked.partitions.is_empty())?),
        };
        let shared = || vec![setup.fixture_address("fixture_port")];
        let addresses = own.as_ref().map_or_else(shared, OwnServers::addresses);
        Ok(Box::new(Running {
            asked,
            own,
            addresses,
            check: self.servers.check(),
            root: format!("/t{}", COUNT.fetch_add(1, Ordering::Relaxed)),
            history: Recorder::new(),
            problem: Problem::default(),
            ended: Arc::default(),
        }))
    }
}

/// What a history is called that the known fault of the server explains.
const STALE_PERMISSIONS: &str = "stale-permissions";

/// A test case that runs.
struct Running {
    asked: Asked,
    /// The servers, if they are the test case's own, and not the fixture.
    own: Option<OwnServers>,
    /// The servers. Clients are connected with one each, in turn.
    addresses: Vec<SocketAddr>,
    check: CheckOf,
    /// The node that is the root of the test case's tree.
    root: String,
    history: Recorder<Operation, Response>,
    problem: Problem,
    ended: Ended,
}

impl Environment for Running {
    fn services(&self) -> &[Side] {
        self.own.as_ref().map_or(&[], |own| &own.services)
    }

    fn processes(&self, role: &str) -> Vec<Process> {
        self.own.as_ref().map(|own| own.processes(role)).unwrap_or_default()
    }

    fn prepare(&self, deadline: Instant) {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                if !self.enter() {
                    return;
                }
                // Servers that elect another leader, as on a busy machine, close connections.
                let is_passing = |error: &ClientError| {
                    self.own.is_some() && matches!(error, ClientError::Broken(_)) && Instant::now() < deadline
                };
                while let Err(error) = self.make_tree(deadline) {
                    if self.own.is_some() && error.is_late() {
                        // Whether they would have been right, nobody knows.
                        let reason = "the servers were not ready in the time limit of a test case".to_owned();
                        return note(&self.problem, Verdict::Inconclusive(Inconclusive { reason }));
                    }
                    if !is_passing(&error) {
                        return note(&self.problem, verdict_of(&error));
                    }
                }
            });
        });
    }

    fn schedule(&self) -> Schedule {
        let faults = Faults { schedule: self.asked.faults.clone(), ..Faults::default() };
        let names = self.own.as_ref().map(OwnServers::names).unwrap_or_default();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let partitions: Vec<_> = self.asked.partitions.iter().map(|cut| cut.partition(server_name)).collect();
        let scale = TimeScale::new(self.asked.seconds.into()).expect("it is above 0");
        Schedule::new(&faults, &partitions, &names, scale)
    }

    fn inject(&self, injection: &Injection) -> Option<String> {
        self.own.as_ref()?.inject(injection, &self.asked.partitions)
    }

    fn clients(&self) -> Option<&dyn Clients> {
        Some(self)
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let history = self.history.history();
        // A walk may end right after it has connected, or be cut short by a crash: then no answer is missing.
        let requires_answers = !history.calls().is_empty() && !self.asked.is_disturbed();
        let judged = || Check { requires_answers, ..(self.check)(&history) };
        let seen = || judged().verdict(&history, &simutant_zookeeper_histories::ZooKeeper::default());
        // What was seen before a connection broke may be impossible, which says more.
        let verdict = match problem {
            None => seen(),
            Some(problem) => Some(seen()).filter(Verdict::kills).unwrap_or(problem),
        };
        let is_stale = || {
            let stale = simutant_zookeeper_histories::ZooKeeper::with_stale_permissions();
            (self.check)(&history).verdict(&history, &stale).passes()
        };
        let verdict = match verdict {
            Verdict::Fail(finding) if finding.kind == IMPOSSIBLE_HISTORY && is_stale() => Verdict::Fail(Finding {
                kind: STALE_PERMISSIONS.into(),
                summary: format!(
                    "a change was checked against permissions from before another one (ZOOKEEPER-2439): {}",
                    finding.summary
                ),
                ..finding
            }),
            verdict => verdict,
        };
        Ok(verdict.into())
    }
}

impl Clients for Running {
    fn run(&self, deadline: Instant, _is_cut: &AtomicBool) -> Vec<String> {
        if self.problem.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Vec::new();
        }
        let clock = Instant::now();
        let pace = if self.asked.is_disturbed() { self.asked.pace * self.asked.seconds } else { Duration::ZERO };
        std::thread::scope(|scope| {
            for ((number, walk), address) in (1..).zip(&self.asked.walks).zip(self.addresses.iter().cycle()) {
                scope.spawn(move || {
                    if !self.enter() {
                        return;
                    }
                    let session = Session(number);
                    let connection = Connection {
                        address: *address,
                        session,
                        root: self.root.clone(),
                        // Also servers that nobody disturbs may elect another leader, on a busy machine.
                        may_break: self.own.is_some(),
                        pace,
                        client: None,
                        is_connected: false,
                        is_expired: false,
                        is_closing: false,
                        ended: Arc::clone(&self.ended),
                        clock,
                        deadline,
                        problem: Arc::clone(&self.problem),
                    };
                    let client = machine::Client::new(connection, session, self.history.clone());
                    let mut walker = Walker::new().with_clock(Rc::new(RealClock::default()));
                    if let End::Failed(finding) = walker.run_script(machine::client().with(client), walk).end {
                        note(&self.problem, Verdict::Fail(finding));
                    }
                });
            }
        });
        for client in self.ended.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // The server forgets a session that is not ended, too, but later.
            let _ = client.close(Instant::now() + CLOSE_MAX);
        }
        // Each call ends at the deadline at the latest, and says so itself.
        Vec::new()
    }
}

impl Running {
    /// Moves this thread to where the servers can be reached, and returns whether that worked; else it may reach others.
    fn enter(&self) -> bool {
        let Some(Err(error)) = self.own.as_ref().map(OwnServers::enter) else { return true };
        let reason = format!("the network of the servers cannot be entered: {error}");
        note(&self.problem, Verdict::Inconclusive(Inconclusive { reason }));
        false
    }

    /// Makes the tree of the test case, and waits until all servers know it.
    fn make_tree(&self, deadline: Instant) -> Result<(), ClientError> {
        for (place, address) in self.addresses.iter().enumerate() {
            let mut client = Client::connect(*address, Session(0), deadline)?;
            if place == 0 {
                client.make_tree(&self.root, deadline)?;
            } else {
                client.set_root(self.root.as_str());
                client.await_tree(deadline)?;
            }
            client.close(deadline)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::super::connection::tests::give_a_session;
    use super::*;

    #[test]
    fn servers_of_a_test_case_that_are_not_ready_in_time_are_no_failure() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        // It gives a session, and answers no call.
        let server = std::thread::spawn(move || give_a_session(&listener));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let running = Running {
            asked: Asked {
                walks: Vec::new(),
                seconds: ENSEMBLE_SECONDS,
                faults: Vec::new(),
                partitions: Vec::new(),
                pace: Duration::ZERO,
            },
            own: Some(OwnServers::ensemble(folder.path(), false).expect("ports are free")),
            addresses: vec![address],
            check: check_ensemble,
            root: "/t".into(),
            history: Recorder::new(),
            problem: Problem::default(),
            ended: Ended::default(),
        };
        running.prepare(Instant::now() + Duration::from_secs(2));
        let judged = running.judge(&Left { processes: &[] }).expect("there is nothing to read");
        assert!(matches!(judged.verdict, Verdict::Inconclusive(_)), "{judged:?}");
        drop(server.join().expect("it has given one"));
    }
}
