//! Test cases of two-phase commit on real programs: a coordinator, and workers that connect to it by TCP.
//!
//! Processes are killed and started again when components of the simulation are, and find their logs. Workers reach the
//! coordinator over a network with the latency and the losses of the test case. What is lost is a piece of a
//! connection, which TCP sends again after 200 ms, 400 ms, and so on: it arrives late, where the simulated protocol
//! itself sends a message again. So a coordinator whose patience is as long as the simulated one's aborts more, and
//! may. Streams of random numbers differ, so a seed does not lose the same packets here as there.
//!
//! What programs wrote into their logs is judged by the oracle of the simulation. It asks for a commit where nothing is
//! lost, nobody crashes and all vote yes: then answers take up to 80 ms, and what the machine adds. Where the network hands
//! out packets late, since the machine is busy, an abort says nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_harness::{
    Conclusion, Environment, HarnessError, InvalidCase, Left, Placeholders, Process, ProxyCounts, Role, Schedule,
    ServerNetwork, Setup, Testbed, Testbeds, read_case, read_log,
};
use simutant_outcomes::{Inconclusive, Verdict};
use simutant_sim_core::Probability;
use simutant_system::{System, verdict_of};

use crate::{TestCase, TwoPhaseCommit, World, check, faults, link, name, session};

/// The testbeds.
pub const TESTBEDS: Testbeds = Testbeds::new(&[&CommitTestbed]);

const COORDINATOR: &str = "coordinator";
const WORKER: &str = "worker";

const ROLES: [Role; 2] = [
    Role {
        name: COORDINATOR,
        placeholders: &["listen", "host", "port", "workers", "transactions", "log"],
        listens: false,
    },
    Role { name: WORKER, placeholders: &["peer", "peer_host", "peer_port", "number", "votes", "log"], listens: false },
];

/// How late the network may hand out packets where an abort without a reason is wrong: coordinators wait for 300 ms, and
/// answers take up to 80 ms.
const LATENESS_MAX: Duration = Duration::from_millis(100);

/// Runs test cases of [`TwoPhaseCommit`].
#[derive(Debug)]
struct CommitTestbed;

impl Testbed for CommitTestbed {
    fn system(&self) -> &str {
        TwoPhaseCommit::NAME
    }

    fn roles(&self) -> &[Role] {
        &ROLES
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        read_case(case, TwoPhaseCommit::validate).map(drop)
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let case = read_case(setup.case, TwoPhaseCommit::validate).expect("the case was checked");
        let workers = (1..=case.votes.len()).map(name);
        let random = setup.random(case.seed);
        let coordinator = ServerNetwork::start(std::iter::once(name(0)), workers, &link(&case).into(), &random)?;
        Ok(Box::new(Committee { case, folder: setup.folder.into(), coordinator }))
    }
}

/// The network and the logs of one test case.
struct Committee {
    case: TestCase,
    folder: PathBuf,
    coordinator: ServerNetwork,
}

impl Committee {
    fn process(&self, who: usize, mut placeholders: Placeholders) -> Process {
        placeholders.insert("log", log(&self.folder, who).into());
        Process { name: name(who), placeholders, port: None, start: Duration::ZERO }
    }

    fn coordinator(&self) -> Process {
        let listen = self.coordinator.addresses[0];
        let placeholders = Placeholders::from([
            ("listen", listen.to_string().into()),
            ("host", listen.ip().to_string().into()),
            ("port", listen.port().to_string().into()),
            ("workers", self.case.votes.len().to_string().into()),
            ("transactions", self.case.votes[0].len().to_string().into()),
        ]);
        self.process(0, placeholders)
    }

    fn worker(&self, who: usize, votes: &[bool]) -> Process {
        let peer = self.coordinator.network.entry(&name(who), &name(0)).expect("both are there");
        let votes: Vec<&str> = votes.iter().map(|&vote| if vote { "yes" } else { "no" }).collect();
        let placeholders = Placeholders::from([
            ("peer", peer.to_string().into()),
            ("peer_host", peer.ip().to_string().into()),
            ("peer_port", peer.port().to_string().into()),
            ("number", who.to_string().into()),
            ("votes", votes.join(",").into()),
        ]);
        self.process(who, placeholders)
    }
}

impl Environment for Committee {
    fn processes(&self, role: &str) -> Vec<Process> {
        match role {
            COORDINATOR => vec![self.coordinator()],
            _ => (1..).zip(&self.case.votes).map(|(who, votes)| self.worker(who, votes)).collect(),
        }
    }

    fn schedule(&self) -> Schedule {
        self.coordinator.network.schedule(&faults(&self.case))
    }

    fn begin(&self, moment: Instant) {
        self.coordinator.network.begin(moment);
    }

    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        self.coordinator.network.check()?;
        Ok(self.coordinator.network.counts())
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        Ok(judge(&self.case, &self.folder, self.coordinator.network.lateness())?.into())
    }
}

/// Returns where a process of the test case in `folder` has its log.
fn log(folder: &Path, who: usize) -> PathBuf {
    folder.join(format!("{}.log", name(who)))
}

/// Judges the logs of the test case in `folder`, where the network was so late.
fn judge(case: &TestCase, folder: &Path, lateness: Duration) -> Result<Verdict, HarnessError> {
    let decided: BTreeMap<u32, bool> = transactions(&log(folder, 0), "decided")?.into_iter().collect();
    let is_whole = decided.keys().copied().eq(0..case.votes[0].len() as u32);
    let decided = is_whole.then(|| decided.into_values().collect::<Vec<bool>>());
    let world = World::without_clock();
    for who in 1..=case.votes.len() {
        for did in transactions(&log(folder, who), "done")? {
            world.observed(session(who), did, ());
        }
    }
    let checked = check(decided.as_deref(), &world, case);
    // Where packets are lost, an abort needs no other reason.
    let lossy = TestCase { drop: Probability::ONE, outcomes: BTreeSet::new(), ..case.clone() };
    if checked.is_err() && lateness > LATENESS_MAX && check(decided.as_deref(), &world, &lossy).is_ok() {
        let reason = format!(
            "a transaction was aborted, and the machine was too busy: a packet came {} ms late",
            lateness.as_millis()
        );
        return Ok(Verdict::Inconclusive(Inconclusive { reason }));
    }
    Ok(verdict_of(checked, "wrong-transactions"))
}

/// Returns the transactions in lines such as `done 3 commit` of a log, and whether they are committed. Of a log that is
/// not there they are none. What follows the last end of a line is left out: who is killed may leave a part of one.
fn transactions(log: &Path, what: &str) -> Result<Vec<(u32, bool)>, HarnessError> {
    let text = read_log(log)?;
    let transaction = |line: &str| {
        let (number, decision) = line.strip_prefix(what)?.trim_start().split_once(' ')?;
        let is_commit = match decision {
            "commit" => true,
            "abort" => false,
            _ => return None,
        };
        Some((number.parse().ok()?, is_commit))
    };
    Ok(text[..text.rfind('\n').map_or(0, |end| end + 1)].lines().filter_map(transaction).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_judgement(logs: [&str; 2], lateness_ms: u64, is_expected: fn(&Verdict) -> bool) {
        let case = TestCase {
            votes: vec![vec![true]],
            latency_ms: 1,
            drop: Probability::ZERO,
            crashes: Vec::new(),
            seed: 1,
            outcomes: BTreeSet::new(),
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (who, text) in logs.into_iter().enumerate() {
            std::fs::write(log(folder.path(), who), text).expect("it has room");
        }
        let verdict = judge(&case, folder.path(), Duration::from_millis(lateness_ms)).expect("the logs are there");
        assert!(is_expected(&verdict), "{verdict:?}");
    }

    #[test]
    fn an_abort_without_a_reason_is_wrong_unless_the_machine_was_busy() {
        let aborted = ["begun 0\ndecided 0 abort\n", "voted 0 yes\ndone 0 abort\n"];
        check_judgement(aborted, 0, Verdict::kills);
        check_judgement(aborted, 200, |verdict| matches!(verdict, Verdict::Inconclusive(_)));
        check_judgement(["decided 0 abort\n", "done 0 commit\n"], 200, Verdict::kills);
    }

    #[test]
    fn a_part_of_a_line_and_another_word_are_no_decision() {
        check_judgement(["decided 0 commit\ndecided 0 com", "done 0 commit\ndone 0 ab"], 0, Verdict::passes);
        check_judgement(["decided 0 maybe\n", "done 0 maybe\n"], 200, Verdict::kills);
    }
}
