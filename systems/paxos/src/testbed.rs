//! Test cases of Paxos on real programs: replicas that call each other by TCP, and clients that call them.
//!
//! Replicas are killed and started again when components of the simulation are, and find their logs. All reach each other over a
//! network with the distances, holds, losses, damages and partitions of the test case. What is lost is a piece of a connection,
//! which TCP sends again after 200 ms, 400 ms, and so on: it arrives late, where the simulated protocol itself asks again.
//! What is damaged arrives with one bit flipped: the proxy ends connections, so no checksum of TCP sees it.
//!
//! Clients write into their logs what they propose and what they are told, and replicas what they learn, with times that all
//! processes of a machine have in common. That is one history, which the oracle of the simulation judges.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use simutant_harness::{
    Clients, Conclusion, Environment, HarnessError, InvalidCase, Left, Placeholders, Process, ProxyCounts, Role,
    Schedule, ServerNetwork, Setup, Testbed, Testbeds, read_case, read_log,
};
use simutant_oracle::Session;
use simutant_outcomes::{Finding, Verdict};
use simutant_sim_core::CheckFailure;
use simutant_system::{InvalidLog, Logged, System, check_calls, history_of_logs, verdict_of};

use crate::consensus::Operation;
use crate::protocol::Value;
use crate::{Decisions, LEARNERS, Paxos, TestCase, check, client, replica};

/// The testbeds.
pub const TESTBEDS: Testbeds = Testbeds::new(&[&PaxosTestbed]);

const REPLICA: &str = "replica";
const CLIENT: &str = "client";

const ROLES: [Role; 2] = [
    Role {
        name: REPLICA,
        placeholders: &["listen", "number", "replicas", "decrees", "log", "learned"],
        listens: false,
    },
    Role { name: CLIENT, placeholders: &["replicas", "number", "value", "at_ms", "timeout_ms", "log"], listens: false },
];

/// How long a client waits for an answer. Connections that a partition has stalled go on two seconds after it at the latest, if
/// nothing is lost then; where three of ten pieces are, 15 s were too few for one of 1,000 test cases.
const PATIENCE: Duration = Duration::from_secs(25);

/// How long replicas may take to learn what is decided, after the last fault.
const LEARNING: Duration = PATIENCE;

/// How often to look whether they have.
const INTERVAL: Duration = Duration::from_millis(20);

/// How long replicas are left alone before clients come and after they have gone: some packets follow each other in this time.
const SETTLING: Duration = Duration::from_millis(300);

/// Runs test cases of [`Paxos`].
#[derive(Debug)]
struct PaxosTestbed;

impl Testbed for PaxosTestbed {
    fn system(&self) -> &str {
        Paxos::NAME
    }

    fn roles(&self) -> &[Role] {
        &ROLES
    }

    fn check(&self, case: &Json) -> Result<(), InvalidCase> {
        read_case(case, Paxos::validate).map(drop)
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let case = read_case(setup.case, Paxos::validate).expect("the case was checked");
        let clients = (1..=case.clients_at_ms.len()).map(|number| client(number as u32));
        let random = setup.random(case.seed);
        let replicas = ServerNetwork::start((0..case.replicas).map(replica), clients, &case.network(), &random)?;
        let learners = Learners::new(&case, setup.folder);
        Ok(Box::new(Replicas { case, folder: setup.folder.into(), replicas, learners }))
    }
}

/// The network and the logs of one test case.
struct Replicas {
    case: TestCase,
    folder: PathBuf,
    replicas: ServerNetwork,
    learners: Learners,
}

impl Replicas {
    fn process(&self, name: String, number: u64, mut placeholders: Placeholders) -> Process {
        // No program reaches itself over the network.
        let ServerNetwork { addresses, network, .. } = &self.replicas;
        let entry =
            |(to, address): (usize, &SocketAddr)| network.entry(&name, &replica(to)).unwrap_or(*address).to_string();
        let replicas: Vec<String> = (0..).zip(addresses).map(entry).collect();
        placeholders.extend([
            ("replicas", replicas.join(",").into()),
            ("number", number.to_string().into()),
            ("log", self.folder.join(format!("{name}.log")).into()),
        ]);
        Process { name, placeholders, port: None, start: Duration::ZERO }
    }

    fn replica(&self, number: usize, address: &SocketAddr) -> Process {
        let placeholders = Placeholders::from([
            ("listen", address.to_string().into()),
            ("decrees", self.case.decrees.to_string().into()),
            ("learned", learned(&self.folder, number).into()),
        ]);
        self.process(replica(number), number as u64, placeholders)
    }

    fn client(&self, number: Value, at_ms: u64) -> Process {
        let placeholders = Placeholders::from([
            ("value", number.to_string().into()),
            ("at_ms", at_ms.to_string().into()),
            ("timeout_ms", PATIENCE.as_millis().to_string().into()),
        ]);
        self.process(client(number), number.into(), placeholders)
    }
}

impl Environment for Replicas {
    fn processes(&self, role: &str) -> Vec<Process> {
        match role {
            REPLICA => {
                (0..).zip(&self.replicas.addresses).map(|(number, address)| self.replica(number, address)).collect()
            }
            _ => (1..).zip(&self.case.clients_at_ms).map(|(number, at_ms)| self.client(number, *at_ms)).collect(),
        }
    }

    fn schedule(&self) -> Schedule {
        self.replicas.network.schedule(&self.case.faults())
    }

    fn begin(&self, moment: Instant) {
        self.replicas.network.begin(moment);
        _ = self.learners.begun.set(moment);
    }

    /// Connections are made, and what is on its way arrives.
    fn settle(&self, deadline: Instant, _is_active: &dyn Fn() -> bool) {
        let time = deadline.saturating_duration_since(Instant::now());
        std::thread::sleep(SETTLING.min(time));
    }

    fn clients(&self) -> Option<&dyn Clients> {
        Some(&self.learners)
    }

    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        self.replicas.network.check()?;
        Ok(self.replicas.network.counts())
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let verdict = match history(&self.case, &self.folder)? {
            Ok(history) => {
                let proposed = check_proposals(&history, &self.case);
                let checked = proposed.and_then(|()| check(&history, self.case.replicas, self.case.decrees));
                verdict_of(checked, "no-consensus")
            }
            Err(wrong) => Verdict::Fail(Finding::wrong_result("no-history", wrong.to_string())),
        };
        Ok(verdict.into())
    }
}

/// What is waited for beside the ends of clients: the last fault, and that all replicas have learned what is decided.
#[derive(Debug)]
struct Learners {
    begun: OnceLock<Instant>,
    faults_end: Duration,
    learned: Vec<PathBuf>,
    /// What a replica writes that has learned everything has this in it.
    last: String,
}

impl Learners {
    fn new(case: &TestCase, folder: &Path) -> Self {
        let crashes = case.crashes.iter().map(|crash| crash.at_ms + crash.for_ms);
        let partitions = case.partitions.iter().map(|partition| partition.at_ms + partition.for_ms);
        let holds = case.holds.iter().map(|hold| hold.at_ms + hold.for_ms);
        let faults_end = Duration::from_millis(crashes.chain(partitions).chain(holds).max().unwrap_or(0));
        let learned = (0..case.replicas).map(|number| learned(folder, number)).collect();
        let last = format!(" learn {} ", case.decrees);
        Self { begun: OnceLock::new(), faults_end, learned, last }
    }
}

impl Clients for Learners {
    fn run(&self, deadline: Instant, is_cut: &AtomicBool) -> Vec<String> {
        let faults_end = *self.begun.get().expect("it has begun") + self.faults_end;
        // Replicas that have learned nothing by then are judged.
        let end = deadline.min(faults_end + LEARNING);
        let has_learned = |path: &PathBuf| std::fs::read_to_string(path).is_ok_and(|text| text.contains(&self.last));
        while !is_cut.load(Ordering::Relaxed) && Instant::now() < end {
            if Instant::now() >= faults_end && self.learned.iter().all(has_learned) {
                break;
            }
            std::thread::sleep(INTERVAL);
        }
        Vec::new()
    }
}

/// Returns where a replica of the test case in `folder` says what it has learned.
fn learned(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{}.learned", replica(number)))
}

/// Returns what the clients and replicas of a test case saw, or what is wrong with their logs.
fn history(case: &TestCase, folder: &Path) -> Result<Result<Decisions, InvalidLog>, HarnessError> {
    let clients = (1..=case.clients_at_ms.len())
        .map(|number| (Session(number as u64), folder.join(format!("{}.log", client(number as u32)))));
    let replicas = (0..case.replicas).map(|number| (Session(LEARNERS + number as u64), learned(folder, number)));
    let read = |(session, path): (Session, PathBuf)| read_log(&path).map(|text| (session, text));
    let logs = clients.chain(replicas).map(read).collect::<Result<Vec<_>, _>>()?;
    Ok(history_of_logs(&logs, parse_line))
}

/// Checks that each client proposed its value.
fn check_proposals(history: &Decisions, case: &TestCase) -> Result<(), CheckFailure> {
    let proposed = |number| check_calls(history, Session(u64::from(number)), &[Operation::Propose(number)]);
    (1..=case.clients_at_ms.len() as Value).try_for_each(proposed)
}

/// Reads a line of a client's log, `invoke 1 propose 7`, `return 1 8,7` or `fail 1`, or of what a replica has learned,
/// `learn 1 8`.
fn parse_line(words: &[&str]) -> Option<Logged<Operation, Vec<Value>>> {
    Some(match *words {
        ["invoke", call, "propose", value] => {
            Logged::Invoked(call.parse().ok()?, Operation::Propose(value.parse().ok()?))
        }
        ["return", call, values] => {
            let values = values.split(',').map(str::parse).collect::<Result<_, _>>();
            Logged::Returned(call.parse().ok()?, values.ok()?)
        }
        ["fail", call] => Logged::Failed(call.parse().ok()?),
        ["learn", decree, value] => Logged::Observed(Operation::Learn(decree.parse().ok()?), vec![value.parse().ok()?]),
        _ => return None,
    })
}
