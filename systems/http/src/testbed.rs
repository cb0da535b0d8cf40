//! Test cases on real servers: a client makes the requests of the script over TCP, and the specification checks each answer
//! when it arrives.
//!
//! One server serves all test cases of a job. Each has targets of its own, which nobody else asks for.

mod driver;
mod finding;
mod wire;

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_harness::{
    Clients, Conclusion, DirectionCounts, Environment, HarnessError, Inconclusive, InvalidCase, Left, Process,
    ProxyCounts, Setup, Testbed, Testbeds, Verdict, read_case,
};
use simutant_system::System;

use self::driver::{End, Target};
use crate::rules::{RULES, RuleId, RuleSet};
use crate::specification::Service;
use crate::{Http, TestCase};

/// The testbeds.
pub const TESTBEDS: Testbeds = Testbeds::new(&[&HttpTestbed]);

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait before asking again whether the server is there.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs test cases of [`Http`].
#[derive(Debug)]
struct HttpTestbed;

impl Testbed for HttpTestbed {
    fn system(&self) -> &str {
        Http::NAME
    }

    fn needs_fixture(&self) -> bool {
        true
    }

    /// The test case leaves nothing open.
    fn redraws(&self) -> bool {
        false
    }

    fn rules(&self) -> Vec<&str> {
        RULES.iter().map(|rule| rule.name).collect()
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        read_case(case, Http::validate).map(drop)
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let case = read_case(setup.case, Http::validate).expect("the case was checked");
        let address = setup.fixture_address("fixture_port");
        let waived = setup.waived.keys().filter_map(|name| RuleId::named(name)).collect();
        Ok(Box::new(Running { case, address, waived, concluded: Mutex::default() }))
    }
}

/// Returns how the paths of a run begin: no other run has them.
fn fresh() -> String {
    /// Counts the runs of this process, to which the server belongs, too.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("/t{}-", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A test case that runs.
struct Running {
    case: TestCase,
    address: SocketAddr,
    waived: RuleSet,
    /// What came of it, and the messages that were sent and received.
    concluded: Mutex<Option<(Conclusion, ProxyCounts)>>,
}

impl Running {
    /// Runs the test case, and concludes.
    fn conclude(&self) -> (Conclusion, ProxyCounts) {
        let TestCase { script, .. } = &self.case;
        let service = Service::waiving(self.waived);
        let target = Target { address: self.address, prefix: fresh(), service, patience: PATIENCE };
        let begun = Instant::now();
        let run = target.run(script);
        let seconds = begun.elapsed().as_secs_f64();
        let verdict = match finding::finding(&target, script, &run, seconds, &mut fresh) {
            Some(finding) => Verdict::Fail(finding),
            None => match &run.end {
                End::Undecided(reason) | End::Unreachable(reason) => {
                    Verdict::Inconclusive(Inconclusive { reason: reason.clone() })
                }
                _ => Verdict::Pass,
            },
        };
        let is_kept = |rule: &RuleId| {
            let without = Service::waiving(self.waived.without(*rule));
            self.waived.has(*rule) && verdict.passes() && finding::is_possible(script, &run, without)
        };
        let kept = RuleId::all().filter(is_kept).map(|rule| rule.rule().name.to_owned()).collect();
        let mut notes = Vec::new();
        if run.lost > 0 {
            let connections = if run.lost == 1 { "connection was" } else { "connections were" };
            notes.push(format!("{} {connections} closed before an answer", run.lost));
        }
        let count = |count: usize| DirectionCounts { received: count as u64, ..DirectionCounts::default() };
        let (forward, back) = (count(run.exchanges.len()), count(run.answered.len()));
        let counts = ProxyCounts { forward, back, ..ProxyCounts::default() };
        (Conclusion { verdict, not_injected: Vec::new(), notes, kept }, counts)
    }
}

impl Environment for Running {
    fn processes(&self, _role: &str) -> Vec<Process> {
        Vec::new()
    }

    fn clients(&self) -> Option<&dyn Clients> {
        Some(self)
    }

    /// The messages of the script, without those that a finding was shrunk with.
    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        let concluded = self.concluded.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(concluded.as_ref().map(|(_, counts)| *counts).unwrap_or_default())
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let concluded = self.concluded.lock().unwrap_or_else(PoisonError::into_inner);
        let conclusion = concluded.as_ref().map(|(conclusion, _)| conclusion.clone());
        let reason = "the server was not asked".to_owned();
        Ok(conclusion.unwrap_or_else(|| Verdict::Inconclusive(Inconclusive { reason }).into()))
    }
}

impl Clients for Running {
    fn run(&self, deadline: Instant, _is_cut: &AtomicBool) -> Vec<String> {
        // The server was started, and may not listen yet.
        while TcpStream::connect(self.address).is_err() && Instant::now() < deadline {
            std::thread::sleep(PAUSE);
        }
        let concluded = self.conclude();
        *self.concluded.lock().unwrap_or_else(PoisonError::into_inner) = Some(concluded);
        // Each answer that does not come is told by itself.
        Vec::new()
    }
}
