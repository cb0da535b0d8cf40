//! Runs test cases of %NAME% on a real server: the machine that drives the simulation drives clients
//! over UDP, and the same oracle judges what they saw.
//!
//! `simutant test %NAME%` builds this program. Which servers there are say the files in
//! `implementations`. To make it yours, change what [`Real`] sends and understands.

use std::net::{SocketAddr, UdpSocket};
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_harness::{
    Activity, Clients, Conclusion, Environment, Finding, HarnessError, InvalidCase, Lease, Left,
    Placeholders, Process, ProxyCounts, RealNetwork, Role, Setup, Testbed, Testbeds, Verdict,
    serve,
};
use simutant_models::{End, RealClock, Script, Walker};
use simutant_oracle::specifications::Register;
use simutant_oracle::{Call, Check, End as CallEnd, Recorder, Session, Time};
use simutant_sim_core::Random;
use simutant_sim_core::network::Network;
use simutant_system::System;

use %CRATE%::%MODULE%::machine::{Client, NoAnswer, Service, client};
use %CRATE%::%MODULE%::protocol::{Operation, Response};
use %CRATE%::%MODULE%::{%TYPE%, TestCase, link};

/// How long a client waits for an answer before it asks again, and how often it asks: longer than
/// in the simulation, since the machine may be busy.
const TIMEOUT: Duration = Duration::from_millis(100);
const TRIES: usize = 30;

fn main() -> ExitCode {
    serve(Testbeds::new(&[&ServerTestbed]))
}

struct ServerTestbed;

impl Testbed for ServerTestbed {
    fn system(&self) -> &str {
        "%NAME%"
    }

    // The programs of an implementation: one server, which is told its port.
    fn roles(&self) -> &[Role] {
        &[Role {
            name: "server",
            placeholders: &["port"],
            listens: true,
        }]
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        let case = parse(case).map_err(|error| InvalidCase::malformed(&error))?;
        %TYPE%::validate(&case).map_err(InvalidCase::outside_domain)
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let case = parse(setup.case).expect("the case was checked");
        let walks = case.clients.iter().map(|walk| walk.script().clone());
        let walks = walks.collect();
        let mut random = Random::from_seed(case.seed).stream(&format!("network/{}", setup.seed));
        let lease = Lease::new()?;
        let local = |port| SocketAddr::from(([127, 0, 0, 1], port));
        let network = Network {
            link: link(&case),
            ..Network::default()
        };
        let (clients, server) = (local(0), local(lease.port()));
        Ok(Box::new(Running {
            walks,
            network: RealNetwork::between(clients, server, &network, random.bits())?,
            lease,
            history: Recorder::new(),
            wrong: Mutex::default(),
        }))
    }
}

fn parse(case: &Value) -> serde_json::Result<TestCase> {
    serde_json::from_value(case.clone())
}

/// A test case that runs.
struct Running {
    walks: Vec<Script>,
    /// Delays, loses and doubles datagrams between clients and server, as the simulated one does.
    network: RealNetwork,
    /// The server's port.
    lease: Lease,
    history: Recorder<Operation, Response>,
    /// What the machine itself found wrong.
    wrong: Mutex<Option<Finding>>,
}

impl Environment for Running {
    fn processes(&self, role: &str) -> Vec<Process> {
        let port = self.lease.port();
        vec![Process {
            name: role.into(),
            placeholders: Placeholders::from([("port", port.to_string().into())]),
            port: Some(port),
            start: Duration::ZERO,
        }]
    }

    fn clients(&self) -> Option<&dyn Clients> {
        Some(self)
    }

    fn begin(&self, moment: Instant) {
        self.network.begin(moment);
    }

    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        self.network.check()?;
        Ok(self.network.counts())
    }

    fn activity(&self) -> Option<Activity> {
        self.network.activity()
    }

    // As in the simulation: some order of the calls must explain what all clients saw, and a server
    // that never answers is not right either.
    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let history = self.history.history();
        let is_open = |call: &&Call<_, _>| matches!(call.end, CallEnd::Unknown);
        let wrong = self.wrong.lock().expect("no client panics").clone();
        let verdict = match wrong {
            Some(finding) => Verdict::Fail(finding),
            None => Check::default().verdict(&history, &Register::default()),
        };
        let silence = history.calls().iter().find(is_open);
        Ok(match silence.filter(|_| verdict.passes()) {
            Some(call) => Verdict::Fail(Finding::wrong_result(
                "no-answer",
                format!("{} asked {TRIES} times and got no answer", call.session),
            )),
            None => verdict,
        }
        .into())
    }
}

impl Clients for Running {
    // Each client has a thread, and takes the walk of the test case.
    fn run(&self, _deadline: Instant, _is_cut: &AtomicBool) -> Vec<String> {
        let clock = Instant::now();
        std::thread::scope(|scope| {
            for (number, walk) in (1..).zip(&self.walks) {
                scope.spawn(move || {
                    let service = self.connect(clock);
                    let history = self.history.clone();
                    let instance = client().with(Client::new(service, Session(number), history));
                    let mut walker = Walker::new().with_clock(Rc::new(RealClock::default()));
                    if let End::Failed(finding) = walker.run_script(instance, walk).end {
                        *self.wrong.lock().expect("no client panics") = Some(finding);
                    }
                });
            }
        });
        // The walks are short: at most 12 calls, of which one without an answer is the last.
        Vec::new()
    }
}

impl Running {
    fn connect(&self, clock: Instant) -> Real {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("there is a port");
        let server = self.network.entry("client", "server");
        let server = server.expect("the network has a server");
        socket.connect(server).expect("the address is one");
        Real {
            socket,
            clock,
            number: 0,
        }
    }
}

/// The real server, as a client has it.
struct Real {
    socket: UdpSocket,
    clock: Instant,
    /// Counts the client's requests.
    number: u32,
}

impl Service for Real {
    async fn ask(&mut self, operation: Operation) -> Result<Response, NoAnswer> {
        self.number += 1;
        let request = match operation {
            Operation::Read => format!("{} read", self.number),
            Operation::Write(value) => format!("{} write {}", self.number, value),
            Operation::CompareAndSet { from, to } => {
                format!("{} compare-and-set {} {}", self.number, from, to)
            }
        };
        for _ in 0..TRIES {
            // Nobody may be there: then no answer comes.
            let _ = self.socket.send(request.as_bytes());
            let deadline = Instant::now() + TIMEOUT;
            while let Some(answer) = self.receive(deadline) {
                // Another number is an answer to what was asked before, late or doubled.
                if let Some((number, response)) = understand(&answer)
                    && number == self.number
                {
                    return Ok(response);
                }
            }
        }
        Err(NoAnswer)
    }

    fn now(&self) -> Time {
        let nanos = self.clock.elapsed().as_nanos();
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl Real {
    /// Returns the next answer that is here before the deadline.
    fn receive(&mut self, deadline: Instant) -> Option<String> {
        let mut buffer = [0; 1_024];
        loop {
            let left = deadline.checked_duration_since(Instant::now())?;
            let timeout = left.max(Duration::from_millis(1));
            let is_set = self.socket.set_read_timeout(Some(timeout));
            is_set.expect("it is not 0");
            if let Ok(length) = self.socket.recv(&mut buffer) {
                return Some(String::from_utf8_lossy(&buffer[..length]).into_owned());
            }
        }
    }
}

/// Reads an answer: `NUMBER value VALUE`, `NUMBER none`, `NUMBER done`, `NUMBER yes` or `NUMBER no`.
fn understand(answer: &str) -> Option<(u32, Response)> {
    let mut words = answer.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let response = match words.next()? {
        "value" => Response::Value(Some(words.next()?.parse().ok()?)),
        "none" => Response::Value(None),
        "done" => Response::Done,
        "yes" => Response::Compared(true),
        "no" => Response::Compared(false),
        _ => return None,
    };
    Some((number, response))
}
