//! Test cases of the storage on real programs: servers, and clients that call them by TCP.
//!
//! Servers are killed and started again when components of the simulation are, and find their logs. Clients reach them over a
//! network with the distances, holds, losses, damages and partitions of the test case. What is lost is a piece of a connection,
//! which TCP sends again after 200 ms, 400 ms, and so on, so a call may fail that succeeds in the simulation. What is
//! damaged arrives with one bit flipped: the proxy ends connections, so no checksum of TCP sees it.
//!
//! Clients write into their logs what they invoke, and what returns, with times that all processes of a machine have in
//! common. That is one history, which the oracle of the simulation judges.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_harness::{
    Conclusion, Environment, HarnessError, InvalidCase, Left, Placeholders, Process, ProxyCounts, Role, Schedule,
    ServerNetwork, Setup, Testbed, Testbeds, read_case, read_log,
};
use simutant_oracle::specifications::register::{Operation, Response};
use simutant_outcomes::{Finding, Inconclusive, Verdict};
use simutant_sim_core::CheckFailure;
use simutant_system::{InvalidLog, Logged, System, check_calls, history_of_logs, verdict_of};

use crate::protocol::{Reads, TIMEOUT, Writers};
use crate::{Calls, Step, Storage, TestCase, check_ends, check_outcome, check_register, client, server, session};

/// The testbeds.
pub const TESTBEDS: Testbeds = Testbeds::new(&[&StorageTestbed]);

const SERVER: &str = "server";
const CLIENT: &str = "client";

const ROLES: [Role; 2] = [
    Role { name: SERVER, placeholders: &["listen", "log"], listens: false },
    Role {
        name: CLIENT,
        placeholders: &["servers", "number", "writers", "reads", "script", "timeout_ms", "log"],
        listens: false,
    },
];

/// How late the network may hand out packets where a call that fails is wrong: a call may take ten times as long.
const LATENESS_MAX: Duration = Duration::from_millis(100);

/// Runs test cases of [`Storage`].
#[derive(Debug)]
struct StorageTestbed;

impl Testbed for StorageTestbed {
    fn system(&self) -> &str {
        Storage::NAME
    }

    fn roles(&self) -> &[Role] {
        &ROLES
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        read_case(case, Storage::validate).map(drop)
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let case = read_case(setup.case, Storage::validate).expect("the case was checked");
        let clients = (1..=case.clients.len()).map(client);
        let random = setup.random(case.seed);
        let servers = ServerNetwork::start((1..=case.servers).map(server), clients, &case.network(), &random)?;
        Ok(Box::new(Replicas { case, folder: setup.folder.into(), servers }))
    }
}

/// The network and the logs of one test case.
struct Replicas {
    case: TestCase,
    folder: PathBuf,
    servers: ServerNetwork,
}

impl Replicas {
    fn process(&self, name: String, mut placeholders: Placeholders) -> Process {
        placeholders.insert("log", log(&self.folder, &name).into());
        Process { name, placeholders, port: None, start: Duration::ZERO }
    }

    fn client(&self, number: usize, steps: &[Step]) -> Process {
        let entry = |to| self.servers.network.entry(&client(number), &server(to)).expect("both are there").to_string();
        let step = |step: &Step| match step {
            Step::Read => "read".to_owned(),
            Step::Write(value) => format!("write:{value}"),
            Step::Pause(ms) => format!("pause:{ms}"),
        };
        let writers = if self.case.writers() == Writers::Several { "several" } else { "one" };
        let reads = if self.case.reads == Reads::Atomic { "atomic" } else { "regular" };
        let placeholders = Placeholders::from([
            ("servers", (1..=self.case.servers).map(entry).collect::<Vec<_>>().join(",").into()),
            ("number", number.to_string().into()),
            ("writers", writers.into()),
            ("reads", reads.into()),
            ("script", steps.iter().map(step).collect::<Vec<_>>().join(",").into()),
            ("timeout_ms", (TIMEOUT.as_nanos() / 1_000_000).to_string().into()),
        ]);
        self.process(client(number), placeholders)
    }
}

impl Environment for Replicas {
    fn processes(&self, role: &str) -> Vec<Process> {
        let listening = |(number, address): (usize, &SocketAddr)| {
            self.process(server(number), Placeholders::from([("listen", address.to_string().into())]))
        };
        match role {
            SERVER => (1..).zip(&self.servers.addresses).map(listening).collect(),
            _ => (1..).zip(&self.case.clients).map(|(number, steps)| self.client(number, steps)).collect(),
        }
    }

    fn schedule(&self) -> Schedule {
        self.servers.network.schedule(&self.case.faults())
    }

    fn begin(&self, moment: Instant) {
        self.servers.network.begin(moment);
    }

    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        self.servers.network.check()?;
        Ok(self.servers.network.counts())
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let history = match history(&self.case, &self.folder)? {
            Ok(history) => history,
            Err(wrong) => return Ok(Verdict::Fail(Finding::wrong_result("no-history", wrong.to_string())).into()),
        };
        let results = check_clients(&history, &self.case).and_then(|()| check_register(&history, &self.case));
        let (ends, outcome) = (check_ends(&history, &self.case), check_outcome(&history, &self.case.outcomes));
        let lateness = self.servers.network.lateness();
        let reason = match (&ends, &outcome) {
            _ if results.is_err() => None,
            (Err(_), _) if lateness > LATENESS_MAX => Some(format!(
                "a call failed, and the machine was too busy: a packet came {} ms late",
                lateness.as_millis()
            )),
            (Ok(()), Err(_)) if have_stages_overlapped(&history, &self.case) => {
                Some("calls that were to follow each other overlapped: the machine was too busy".to_owned())
            }
            _ => None,
        };
        if let Some(reason) = reason {
            return Ok(Verdict::Inconclusive(Inconclusive { reason }).into());
        }
        Ok(verdict_of(results.and(ends).and(outcome), "no-register").into())
    }
}

/// Returns where a process of the test case in `folder` has its log.
fn log(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}

/// Returns what the clients of a test case saw, or what is wrong with their logs.
fn history(case: &TestCase, folder: &Path) -> Result<Result<Calls, InvalidLog>, HarnessError> {
    let read = |number| read_log(&log(folder, &client(number))).map(|text| (session(number), text));
    let logs = (1..=case.clients.len()).map(read).collect::<Result<Vec<_>, HarnessError>>()?;
    Ok(history_of_logs(&logs, parse_line))
}

/// Checks that clients made the calls of the test case, and that each answer is one to its call.
fn check_clients(history: &Calls, case: &TestCase) -> Result<(), CheckFailure> {
    for (number, steps) in (1..).zip(&case.clients) {
        let operation = |step: &Step| match step {
            Step::Read => Some(Operation::Read),
            Step::Write(value) => Some(Operation::Write(*value)),
            Step::Pause(_) => None,
        };
        check_calls(history, session(number), &steps.iter().filter_map(operation).collect::<Vec<_>>())?;
    }
    let answered = history.calls().iter().filter_map(|call| Some((call, call.end.response()?)));
    for (call, response) in answered {
        let is_read = call.operation == Operation::Read;
        if is_read != matches!(response, Response::Value(_)) {
            let message = format!("{} was answered {response:?} to {:?}", call.session, call.operation);
            return Err(CheckFailure::new(message));
        }
    }
    Ok(())
}

/// Returns whether a client called before those had answers that pause for less time. A test case of the net says what its
/// calls return if they do not.
fn have_stages_overlapped(history: &Calls, case: &TestCase) -> bool {
    let paused_ms = |number: usize| -> u64 {
        case.clients[number - 1].iter().map(|step| if let Step::Pause(ms) = step { *ms } else { 0 }).sum()
    };
    let calls = (1..=case.clients.len())
        .flat_map(|number| history.of(session(number)).map(move |call| (paused_ms(number), call)));
    let calls: Vec<_> = calls.collect();
    calls.iter().any(|(ms, call)| calls.iter().any(|(later_ms, later)| ms < later_ms && !call.precedes(later)))
}

/// Reads a line of a client's log: `invoke CALL write 7`, `return CALL done`, `fail CALL`.
fn parse_line(words: &[&str]) -> Option<Logged<Operation<u32>, Response<u32>>> {
    let call = words.get(1)?.parse().ok()?;
    Some(match *words {
        ["invoke", _, "read"] => Logged::Invoked(call, Operation::Read),
        ["invoke", _, "write", value] => Logged::Invoked(call, Operation::Write(value.parse().ok()?)),
        ["return", _, "done"] => Logged::Returned(call, Response::Done),
        ["return", _, "none"] => Logged::Returned(call, Response::Value(None)),
        ["return", _, value] => Logged::Returned(call, Response::Value(Some(value.parse().ok()?))),
        ["fail", _] => Logged::Failed(call),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use simutant_oracle::{Recorder, Time};

    use super::*;

    #[test]
    fn a_read_that_is_answered_as_a_write_is_wrong() {
        let case = Storage::of_net(1, 1).expect("it has a net").remove(0);
        for (response, is_right) in [(Response::Value(None), true), (Response::Done, false)] {
            let recorder = Recorder::new();
            for (number, steps) in (1..).zip(&case.clients) {
                match steps.last() {
                    Some(Step::Write(value)) => {
                        recorder.observed(session(number), Operation::Write(*value), Response::Done, Time::ZERO);
                    }
                    _ => recorder.observed(session(number), Operation::Read, response.clone(), Time::ZERO),
                }
            }
            assert_eq!(recorder.with(|history| check_clients(history, &case)).is_ok(), is_right, "{response:?}");
        }
    }

    #[test]
    fn stages_overlap_where_a_call_begins_before_one_of_an_earlier_stage_ends() {
        let cases = Storage::of_net(1, 100).expect("it has a net");
        let is_staged = |case: &&TestCase| case.clients.iter().any(|steps| matches!(steps[0], Step::Pause(_)));
        let case = cases.iter().find(is_staged).expect("some calls follow others");
        for (length, expect) in [(50, false), (150, true)] {
            let recorder = Recorder::new();
            for (number, steps) in (1..).zip(&case.clients) {
                let begin = if let Step::Pause(ms) = steps[0] { ms } else { 0 };
                let call = recorder.invoke(session(number), Operation::Read, Time::from_nanos(begin));
                recorder.returned(call, Response::Value(None), Time::from_nanos(begin + length)).expect("it is later");
            }
            assert_eq!(recorder.with(|history| have_stages_overlapped(history, case)), expect, "{length}");
        }
    }
}
