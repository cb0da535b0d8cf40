//! Test cases of the systems `zookeeper`, `zookeeper-2439` and `zookeeper-ensemble` on real servers: the machine that
//! drives the clients of the simulation drives [clients](super::Client) of the servers, each in a thread, and the
//! specification judges what they saw.

use std::net::{Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_harness::{
    Clients, Conclusion, Environment, Finding, HarnessError, InvalidCase, Lease, Left, Placeholders, Process, Schedule,
    Setup, Side, Testbed, TimeScale, Verdict, read_case,
};
use simutant_models::{End, RealClock, Script, Walker};
use simutant_oracle::{Check, History, IMPOSSIBLE_HISTORY, Recorder, Session};
use simutant_sim_core::{Faults, ScheduledFault};
use simutant_system::{System, Walk};
use simutant_zookeeper_histories::{Operation, Response};

use super::connection::{Connection, Ended, Problem, note, verdict_of};
use super::{Client, ClientError};
use crate::configuration::crash_and_restart;
use crate::{ServerCrash, ZooKeeper, ZooKeeper2439, ZooKeeperEnsemble, check, check_ensemble, machine};

/// Test cases of `zookeeper-2439` are those of `zookeeper`.
pub(super) const ZOOKEEPER: ZooKeeperTestbed = ZooKeeperTestbed { system: ZooKeeper::NAME, servers: Kind::One };
pub(super) const ZOOKEEPER_2439: ZooKeeperTestbed =
    ZooKeeperTestbed { system: ZooKeeper2439::NAME, servers: Kind::One };
pub(super) const ZOOKEEPER_ENSEMBLE: ZooKeeperTestbed =
    ZooKeeperTestbed { system: ZooKeeperEnsemble::NAME, servers: Kind::Ensemble };

/// What reports call the server of a test case's own.
const SERVER: &str = "server";

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
    /// Crashes of servers.
    faults: Vec<ScheduledFault>,
    /// How long the simulation's clients wait for an answer, about.
    pace: Duration,
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
                Asked { walks, faults: faults.collect(), pace }
            }
            Self::Ensemble => {
                let case = read_case(case, ZooKeeperEnsemble::validate)?;
                let crash = |crash: &ServerCrash| {
                    crash_and_restart(&format!("server-{}", crash.server), crash.at_ms, crash.for_ms)
                };
                Asked {
                    walks: walks(&case.clients),
                    faults: case.crashes.iter().flat_map(crash).collect(),
                    pace: Duration::ZERO,
                }
            }
        })
    }

    /// Returns the ports of the servers for clients, as the fixture names them.
    const fn ports(self) -> &'static [&'static str] {
        match self {
            Self::One => &["fixture_port"],
            Self::Ensemble => &["fixture_port", "fixture_port2", "fixture_port3"],
        }
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

    fn needs_fixture(&self) -> bool {
        true
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
        let (mut own, mut port) = (Vec::new(), None);
        let mut addresses: Vec<_> = self.servers.ports().iter().map(|port| setup.fixture_address(port)).collect();
        if let (Kind::One, false, Some(command)) = (self.servers, asked.faults.is_empty(), setup.fixture_command) {
            let lease = port.insert(Lease::for_both()?);
            addresses = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, lease.port()))];
            own.push(Side { name: SERVER.into(), ..command.side() });
        }
        Ok(Box::new(Running {
            asked,
            own,
            port,
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
    /// The server of the test case's own, if it crashes: others share servers.
    own: Vec<Side>,
    /// The port of that server.
    port: Option<Lease>,
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
        &self.own
    }

    fn processes(&self, role: &str) -> Vec<Process> {
        let process = |lease: &Lease| Process {
            name: role.to_owned(),
            placeholders: Placeholders::from([("port", lease.port().to_string().into())]),
            port: None,
            start: Duration::ZERO,
        };
        self.port.iter().map(process).collect()
    }

    fn prepare(&self, deadline: Instant) {
        if let Err(error) = self.make_tree(deadline) {
            note(&self.problem, verdict_of(&error));
        }
    }

    fn schedule(&self) -> Schedule {
        let faults = Faults { schedule: self.asked.faults.clone(), ..Faults::default() };
        let names: Vec<&str> = self.own.iter().map(|side| side.name.as_str()).collect();
        Schedule::new(&faults, &[], &names, TimeScale::REAL)
    }

    fn clients(&self) -> Option<&dyn Clients> {
        Some(self)
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let problem = self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let history = self.history.history();
        // A walk may end right after it has connected: nothing was asked, so no answer is missing.
        let judged = || Check { requires_answers: !history.calls().is_empty(), ..(self.check)(&history) };
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
        std::thread::scope(|scope| {
            for ((number, walk), address) in (1..).zip(&self.asked.walks).zip(self.addresses.iter().cycle()) {
                scope.spawn(move || {
                    let session = Session(number);
                    let connection = Connection {
                        address: *address,
                        session,
                        root: self.root.clone(),
                        waits_for_tree: self.addresses.len() > 1,
                        pace: Some(self.asked.pace).filter(|_| !self.own.is_empty()),
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
    /// Makes the tree of the test case.
    fn make_tree(&self, deadline: Instant) -> Result<(), ClientError> {
        let [address, ..] = self.addresses[..] else { return Ok(()) };
        let mut client = Client::connect(address, Session(0), deadline)?;
        client.make_tree(&self.root, deadline)?;
        client.close(deadline)
    }
}
