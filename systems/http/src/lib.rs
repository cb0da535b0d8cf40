//! HTTP servers: GET, HEAD, PUT and DELETE with preconditions (RFC 9110).
//!
//! A specification that leaves open what a server may choose ([`specification`]) is the oracle of simulated runs and of
//! real ones: entity tags and dates are unknown until the server says them. Its rules can be waived by name. Test
//! cases are [scripts](simutant_http_tester::script) of requests. The simulated server ([`server`]) is what mutants are made of.

pub mod message;
pub mod proxy;
pub mod ranges;
mod rules;
mod script;
pub mod server;
pub mod specification;
pub mod tag;
#[cfg(feature = "testbed")]
#[expect(clippy::disallowed_methods, reason = "real programs take real time")]
pub mod testbed;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_http_tester::Step;
use simutant_http_tester::script::{Answers, Label};
use simutant_oracle::{CallId, Session};
use simutant_sim_core::{Address, Context, Latency, Link, Message, Random, Simulation, VirtualDuration};
use simutant_system::{BlackBoxCriterion, Domain, InvalidTestCase, Observer, System};

use self::message::{Request, Response, Seen};
use self::script::Drawn;
use self::specification::Service;

/// How many requests a script has.
const STEPS: RangeInclusive<usize> = 4..=40;

/// How many connections there are.
const CONNECTIONS: RangeInclusive<u8> = 1..=4;

/// How many targets there are.
const TARGETS: RangeInclusive<u8> = 1..=3;

/// How long a message is on its way at most.
const LATENCY_MS: RangeInclusive<u64> = 1..=30;

/// The content of a PUT is not longer than this.
const BODY_BYTES_MAX: usize = 1_000;

/// A script may have so many requests, if it is written by hand.
const STEPS_MAX: usize = 10_000;

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct Http;

/// A test case: all that a run depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// The requests, in the order in which they are sent. One that is not pipelined waits for the answers to those before it on
    /// its connection, and so do those after it. The simulation pipelines none.
    pub script: Vec<Step>,
    /// How long a message is on its way at most: from 1 to 30 ms.
    pub latency_ms: u64,
    /// Fixes how long each message is.
    pub seed: u64,
}

/// What client and server send to each other, with the number of the request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HttpMessage {
    /// A request.
    Request(Label, Request),
    /// A response.
    Response(Label, Seen),
}

impl Message for HttpMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(..) => "REQUEST",
            Self::Response(..) => "RESPONSE",
        }
    }
}

impl System for Http {
    const NAME: &'static str = "http";

    const UNIVERSE: usize = 500;

    type TestCase = TestCase;
    type Message = HttpMessage;

    fn sample(random: &mut Random) -> TestCase {
        let steps = STEPS.draw(random);
        let connections = CONNECTIONS.draw(random);
        let targets = TARGETS.draw(random);
        let latency_ms = LATENCY_MS.draw(random);
        let is_pipelined = random.uniform(0..4) == 0;
        let script = script::draw(Drawn { steps, connections, targets, is_pipelined }, random);
        TestCase { script, latency_ms, seed: random.bits() }
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        LATENCY_MS.check("latency_ms", &case.latency_ms)?;
        (1..=STEPS_MAX).check("script", &case.script.len())?;
        let mut labels = BTreeSet::new();
        for (number, step) in case.script.iter().enumerate() {
            let field = |name: &str| format!("script[{number}].{name}");
            (1..=64).check(field("connection"), &step.connection)?;
            if !labels.insert(step.label) {
                return Err(InvalidTestCase::new(field("label"), step.label.to_string(), "one that no other step has"));
            }
            let request = step.request("run", &Answers::default()).0;
            let length = request.body.as_ref().map_or(0, String::len);
            (0..=BODY_BYTES_MAX).check(field("request.body"), &length)?;
            Request::try_from(request).map_err(|error| {
                InvalidTestCase::new(field("request"), error.to_string(), "a request that the specification knows")
            })?;
        }
        Ok(())
    }

    fn configure(case: &TestCase) -> Simulation<HttpMessage> {
        let mut simulation = Simulation::new(case.seed);
        let observer = set_up(&mut simulation, case.script.clone(), case.latency_ms);
        observer.check(&mut simulation, "the answers are those of an HTTP server", Service::default());
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        Vec::new()
    }
}

/// Adds a network, a server, and a client that makes the requests of a script. Returns who observes it.
fn set_up(simulation: &mut Simulation<HttpMessage>, script: Vec<Step>, latency_ms: u64) -> Observer<Request, Response> {
    let [min, max] = [1, latency_ms].map(VirtualDuration::from_millis);
    simulation.network(Link { latency: Latency::Uniform { min, max }, ..Link::default() });
    simulation.add("server", server::server);
    let server = simulation.address("server", server::PORT);
    let observer = Observer::new(simulation);
    let observed = observer.clone();
    // One that is not answered does not return.
    simulation.add("client", move |context| client(context, server, script, observed)).expecting(());
    observer
}

/// Makes the requests of a script, as the real client does.
async fn client(
    context: Context<HttpMessage>,
    server: Address,
    script: Vec<Step>,
    observer: Observer<Request, Response>,
) {
    let mut channel = context.channel();
    let mut answers = Answers::default();
    // By connection, the request that has no answer yet.
    let mut open: BTreeMap<u8, (Step, CallId)> = BTreeMap::new();
    let mut left = script.into_iter().peekable();
    loop {
        while let Some(step) = left.next_if(|step| !open.contains_key(&step.connection)) {
            // A script that was checked has requests that the specification knows; an answer may have no tag that is one.
            let Ok(request) = Request::try_from(step.request("run", &answers).0) else { continue };
            let call = observer.invoke(Session(step.connection.into()), request.clone());
            channel.send(server, HttpMessage::Request(step.label, request));
            open.insert(step.connection, (step, call));
        }
        if open.is_empty() {
            return;
        }
        let HttpMessage::Response(label, seen) = channel.recv().await.message else { continue };
        let of_label = open.iter().find(|(_, (step, _))| step.label == label).map(|(&connection, _)| connection);
        if let Some((step, call)) = of_label.and_then(|connection| open.remove(&connection)) {
            answers.add(&step, (&seen).into());
            // Each request is answered once here: it was open.
            _ = observer.returned(call, Response::Seen(seen));
        }
    }
}

#[cfg(test)]
mod tests;
