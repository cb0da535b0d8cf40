//! Test cases on real servers: a client makes the requests of the script over TCP, and the specification checks each answer
//! when it arrives.
//!
//! One server serves all test cases of a job. Each has targets of its own, which nobody else asks for.

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_harness::{
    Clients, Conclusion, DirectionCounts, Environment, HarnessError, Inconclusive, InvalidCase, Left, Process,
    ProxyCounts, Setup, Testbed, Testbeds, Verdict, read_case,
};
use simutant_http_tester::{TestedScript, Tester};
use simutant_system::System;

use crate::rules::RULES;
use crate::specification::Service;
use crate::{Http, TestCase};

/// The testbeds.
pub const TESTBEDS: Testbeds = Testbeds::new(&[&HttpTestbed]);

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
        /// Counts the runs of this process, to which the server belongs, too.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let case = read_case(setup.case, Http::validate).expect("the case was checked");
        let address = setup.fixture_address("fixture_port");
        let prefix = format!("t{}-", COUNT.fetch_add(1, Ordering::Relaxed));
        let waived = setup.waived.keys().cloned().collect();
        Ok(Box::new(Running { case, address, prefix, waived, tested: Mutex::default() }))
    }
}

/// A test case that runs.
struct Running {
    case: TestCase,
    address: SocketAddr,
    /// How the names of its runs begin.
    prefix: String,
    waived: Vec<String>,
    /// What came of it.
    tested: Mutex<Option<TestedScript>>,
}

impl Running {
    fn tested(&self) -> MutexGuard<'_, Option<TestedScript>> {
        self.tested.lock().unwrap_or_else(PoisonError::into_inner)
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
        let tested = self.tested();
        let count = |count: fn(&TestedScript) -> usize| {
            let received = tested.as_ref().map_or(0, count) as u64;
            DirectionCounts { received, ..DirectionCounts::default() }
        };
        let (forward, back) = (count(|tested| tested.requests), count(|tested| tested.responses));
        Ok(ProxyCounts { forward, back, ..ProxyCounts::default() })
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let Some(tested) = self.tested().clone() else {
            let reason = "the server was not asked".to_owned();
            return Ok(Verdict::Inconclusive(Inconclusive { reason }).into());
        };
        let verdict = match (tested.finding, tested.inconclusive) {
            (Some((finding, _)), _) => Verdict::Fail(finding),
            (None, Some(reason)) => Verdict::Inconclusive(Inconclusive { reason: reason.to_string() }),
            (None, None) => Verdict::Pass,
        };
        let kept = tested.kept.into_iter().map(str::to_owned).collect();
        let notes = match tested.lost {
            0 => Vec::new(),
            1 => vec!["1 request was lost with its connection".to_owned()],
            lost => vec![format!("{lost} requests were lost with their connections")],
        };
        Ok(Conclusion { verdict, not_injected: Vec::new(), notes, kept })
    }
}

impl Clients for Running {
    fn run(&self, deadline: Instant, _is_cut: &AtomicBool) -> Vec<String> {
        // The server was started, and may not listen yet.
        while TcpStream::connect(self.address).is_err() && Instant::now() < deadline {
            std::thread::sleep(PAUSE);
        }
        let mut tester = Tester::new(self.address, Service::default(), &*self.prefix);
        for rule in &self.waived {
            tester.waive(rule).expect("rules were looked up when the implementation was read");
        }
        *self.tested() = Some(tester.run(&self.case.script));
        // Each answer that does not come is told by itself.
        Vec::new()
    }
}
