//! Test cases of the systems `zookeeper`, `zookeeper-2439` and `zookeeper-ensemble` on real servers: the machine that
//! drives the clients of the simulation drives [clients](super::Client) of the servers, each in a thread, and the
//! specification judges what they saw.

use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::machine::{self, Lost, Service};
use crate::{ServerCrash, ZooKeeper, ZooKeeper2439, ZooKeeperEnsemble, check, check_ensemble};
use serde_json::Value;
use simutant_harness::{
    Clients, Conclusion, Environment, Finding, FindingClass, HarnessError, Inconclusive, InvalidCase, Left, Process,
    Setup, Testbed, Verdict, read_case,
};
use simutant_models::{End, RealClock, Script, Walker};
use simutant_oracle::{Check, History, IMPOSSIBLE_HISTORY, Recorder, Session, Time};
use simutant_system::System;
use simutant_system::Walk;
use simutant_zookeeper_histories::{Error, Event, Operation, Response};

use super::client::SESSION_TIMEOUT;
use super::{Client, ClientError};

/// Test cases of `zookeeper-2439` are those of `zookeeper`.
pub(super) const ZOOKEEPER: ZooKeeperTestbed = ZooKeeperTestbed { system: ZooKeeper::NAME, servers: Kind::One };
pub(super) const ZOOKEEPER_2439: ZooKeeperTestbed =
    ZooKeeperTestbed { system: ZooKeeper2439::NAME, servers: Kind::One };
pub(super) const ZOOKEEPER_ENSEMBLE: ZooKeeperTestbed =
    ZooKeeperTestbed { system: ZooKeeperEnsemble::NAME, servers: Kind::Ensemble };

/// After how long a silent client's session ends: what the servers' settings allow.
const SILENCE: Duration = Duration::from_millis(200);

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
    /// Crashes of servers, which are not injected: other test cases share the servers.
    crashes: Vec<(String, u64)>,
}

/// Returns the check of what clients saw.
type CheckOf = fn(&History<Operation, Response>) -> Check<'static>;

impl Kind {
    fn read(self, case: &Value) -> Result<Asked, InvalidCase> {
        let walks = |walks: &[Walk]| walks.iter().map(|walk| walk.script().clone()).collect();
        Ok(match self {
            Self::One => {
                let case = read_case(case, ZooKeeper::validate)?;
                let crashes = case.crash.iter().map(|crash| ("server".to_owned(), crash.at_ms)).collect();
                Asked { walks: walks(&case.clients), crashes }
            }
            Self::Ensemble => {
                let case = read_case(case, ZooKeeperEnsemble::validate)?;
                let crash = |crash: &ServerCrash| (format!("server-{}", crash.server), crash.at_ms);
                Asked { walks: walks(&case.clients), crashes: case.crashes.iter().map(crash).collect() }
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
        Ok(Box::new(Running {
            asked,
            addresses: self.servers.ports().iter().map(|port| setup.fixture_address(port)).collect(),
            check: self.servers.check(),
            root: format!("/t{}", COUNT.fetch_add(1, Ordering::Relaxed)),
            history: Recorder::new(),
            problem: Problem::default(),
            ended: Arc::default(),
        }))
    }
}

/// The first thing that went wrong, beside what the clients saw.
type Problem = Arc<Mutex<Option<Verdict>>>;

/// Clients whose walks are over. Their sessions end when those of all are: nobody asked for their ends, which would delete
/// nodes that others see.
type Ended = Arc<Mutex<Vec<Client>>>;

fn note(problem: &Problem, verdict: Verdict) {
    problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(verdict);
}

/// Returns what the end of a session for this reason means.
fn verdict_of(error: &ClientError) -> Verdict {
    let (class, kind) = match error {
        ClientError::NoSession { .. } | ClientError::NoTree { .. } => {
            return Verdict::Inconclusive(Inconclusive { reason: error.to_string() });
        }
        ClientError::Late => (FindingClass::NotTerminated, "no-answer"),
        ClientError::Broken(_) => (FindingClass::Abnormal, "connection-broke"),
        ClientError::Malformed(_) => (FindingClass::WrongResult, "malformed"),
        ClientError::OutOfOrder { .. } => (FindingClass::WrongResult, "out-of-order"),
        ClientError::Unspecified(_) => (FindingClass::WrongResult, "unspecified-error"),
    };
    Verdict::Fail(Finding { class, kind: kind.into(), summary: error.to_string(), detail: Value::Null })
}

/// What a history is called that the known fault of the server explains.
const STALE_PERMISSIONS: &str = "stale-permissions";

/// A test case that runs.
struct Running {
    asked: Asked,
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
    fn processes(&self, _role: &str) -> Vec<Process> {
        Vec::new()
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
        let crashes = self.asked.crashes.iter();
        let not_injected = crashes.map(|(server, at_ms)| format!("crash of {server} at {at_ms} ms")).collect();
        Ok(Conclusion { not_injected, ..verdict.into() })
    }
}

impl Clients for Running {
    fn run(&self, deadline: Instant, _is_cut: &AtomicBool) -> Vec<String> {
        let clock = Instant::now();
        if let Err(error) = self.begin(deadline) {
            note(&self.problem, verdict_of(&error));
            return Vec::new();
        }
        std::thread::scope(|scope| {
            for ((number, walk), address) in (1..).zip(&self.asked.walks).zip(self.addresses.iter().cycle()) {
                scope.spawn(move || {
                    let session = Session(number);
                    let connection = Connection {
                        address: *address,
                        session,
                        root: self.root.clone(),
                        waits_for_tree: self.addresses.len() > 1,
                        client: None,
                        is_expired: false,
                        was_lost: false,
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
    fn begin(&self, deadline: Instant) -> Result<(), ClientError> {
        let [address, ..] = self.addresses[..] else { return Ok(()) };
        let mut client = Client::connect(address, Session(0), deadline)?;
        client.make_tree(&self.root, deadline)?;
        client.close(deadline)
    }
}

/// A session of the server, as the machine has it.
struct Connection {
    address: SocketAddr,
    session: Session,
    /// The root of the test case's tree.
    root: String,
    /// Whether the server may not know the tree yet, as another one made it.
    waits_for_tree: bool,
    /// None before it is connected, and if that is lost.
    client: Option<Client>,
    /// Whether the session has ended, as the client was silent.
    is_expired: bool,
    /// Whether it broke.
    was_lost: bool,
    ended: Ended,
    clock: Instant,
    deadline: Instant,
    problem: Problem,
}

impl Connection {
    fn with<T>(&mut self, act: impl FnOnce(&mut Client) -> Result<T, ClientError>) -> Result<T, Lost> {
        let client = self.client.as_mut().ok_or(Lost)?;
        act(client).map_err(|error| {
            note(&self.problem, verdict_of(&error));
            self.client = None;
            self.was_lost = true;
            Lost
        })
    }

    /// Goes on with the session over another connection, and returns whether it has ended.
    fn again(&mut self, timeout: Duration) -> Result<bool, Lost> {
        let (client, session, deadline) = (self.client.take().ok_or(Lost)?, self.session, self.deadline);
        match client.again(session, timeout, deadline) {
            Ok(client) => {
                self.client = client;
                Ok(self.client.is_none())
            }
            Err(error) => {
                note(&self.problem, verdict_of(&error));
                self.was_lost = true;
                Err(Lost)
            }
        }
    }
}

impl Service for Connection {
    async fn connect(&mut self) -> Result<(), Lost> {
        // Another session would have the name of this one, and not its ephemeral nodes.
        if self.was_lost {
            return Err(Lost);
        }
        self.client = None;
        self.is_expired = false;
        let connect = || {
            let mut client = Client::connect(self.address, self.session, self.deadline)?;
            client.set_root(self.root.as_str());
            if self.waits_for_tree {
                client.await_tree(self.deadline)?;
            }
            Ok(client)
        };
        self.client = Some(connect().map_err(|error| {
            note(&self.problem, verdict_of(&error));
            Lost
        })?);
        Ok(())
    }

    async fn send(&mut self, operation: &Operation) -> Result<(), Lost> {
        if self.is_expired {
            return Ok(());
        }
        self.with(|client| {
            client.send(operation);
            client.flush()
        })
    }

    async fn receive(&mut self) -> Result<Response, Lost> {
        if self.is_expired {
            // No connection is there on which the server could say so.
            return Ok(Response::Error(Error::SessionExpired));
        }
        let deadline = self.deadline;
        self.with(|client| client.receive(deadline)).map(|reply| reply.response)
    }

    fn events(&mut self) -> Vec<Event> {
        self.client.as_mut().map(Client::events).unwrap_or_default()
    }

    fn timeout(&self) -> Duration {
        SILENCE
    }

    async fn fall_silent(&mut self, halves: u32) -> Result<bool, Lost> {
        self.is_expired = self.again(SILENCE)?;
        if !self.is_expired {
            std::thread::sleep(SILENCE / 2 * halves);
            self.is_expired = self.again(SESSION_TIMEOUT)?;
        }
        Ok(self.is_expired)
    }

    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
    }
}
