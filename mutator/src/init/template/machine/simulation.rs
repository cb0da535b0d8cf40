//! The simulation of clients and a server on a network that loses and duplicates packets. A state
//! machine drives the clients.
//!
//! This is a template to change. The server's protocol is in [`protocol`]: that file is the
//! specification, of which mutants are made. What clients do is in [`machine`]. The rest is here:
//! what a test case is, how components and network are put together, and what must hold in the end
//! (the oracle).
//!
//! To make it yours, put your own messages and components into the protocol's file, or, if they are
//! in a crate of their own, name its files in Cargo.toml:
//!
//! ```toml
//! [package.metadata.simutant.systems.%NAME%.dependencies]
//! your-protocol = ["src/*.rs"]
//! ```
//!
//! Then change the machine: its states, its transitions, and what each does. Then go through this
//! file from top to bottom.
//!
//! `implementations/%NAME%-python.toml` says how a real server is started, and
//! `examples/%NAME%_testbed.rs` how the same machine talks to it.

pub mod machine;
pub mod protocol;

use std::ops::RangeInclusive;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use simutant_models::Limits;
use simutant_oracle::specifications::Register;
use simutant_oracle::{End, History, Session, Time};
use simutant_sim_core::trace::{Action, TraceEvent};
use simutant_sim_core::{
    Address, Channel, CheckFailure, Context, Link, Probability, Random, Simulation, VirtualDuration,
};
use simutant_system::{
    BlackBoxCriterion, Domain, InvalidTestCase, Lengths, Observer, Probabilities, System,
    TraceCriterion, Walk, Walks, criteria, history_time,
};

use self::machine::{Client, NoAnswer, Service, client};
use self::protocol::{Operation, PORT, RegisterMessage, Response};

/// How many clients there are.
const CLIENTS: Lengths = Lengths(1..=3);

/// How long their walks are, and how many choices a transition makes.
const WALKS: Walks = Walks {
    steps: 1..=12,
    choices: 1,
};

/// How long packets are on their way, in nanoseconds: an answer may well come after the client has asked again.
const LATENCIES_NS: RangeInclusive<u64> = 0..=80_000_000;

/// How likely a packet is lost, and how likely it is duplicated.
const PROBABILITIES: Probabilities = Probabilities::up_to(0.3);

/// How often a client must ask before it gives up. The oracle has a number of its own: mutants change the protocol's.
const TRIES_MIN: usize = 5;

/// The system: its name, and what the rest of Simutant knows of it.
#[derive(Debug, Clone, Copy)]
pub struct %TYPE%;

/// A test case: all that a run depends on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// What each client does: from 1 to 3 walks of at most 12 transitions.
    pub clients: Vec<Walk>,
    /// How long every packet is on its way, in nanoseconds: at most 80 ms.
    pub latency_ns: u64,
    /// The probability that a packet is lost: at most 0.3.
    pub drop: Probability,
    /// The probability that a packet which is not lost arrives twice: at most 0.3.
    pub duplicate: Probability,
    /// Fixes which packets are lost and duplicated.
    pub seed: u64,
}

impl System for %TYPE% {
    const NAME: &'static str = "%NAME%";

    // How many test cases a study has by default.
    const UNIVERSE: usize = 1_000;

    type TestCase = TestCase;
    type Message = RegisterMessage;

    // Draws a test case. Small values and zeros should be drawn often: special cases are there.
    fn sample(random: &mut Random) -> TestCase {
        let latency_ns = LATENCIES_NS.draw(random);
        // One network in three loses nothing, so that all clients go on to the end.
        let is_reliable = random.uniform(0..3_u8) == 0;
        let drop = if is_reliable {
            Probability::ZERO
        } else {
            PROBABILITIES.draw(random)
        };
        let duplicate = PROBABILITIES.draw(random);
        let clients = (0..CLIENTS.draw(random))
            .map(|_| WALKS.draw(random))
            .collect();
        TestCase {
            clients,
            latency_ns,
            drop,
            duplicate,
            seed: random.bits(),
        }
    }

    // Draws anew what is chance, and no part of what a real program is given. A study finds out by this how likely a
    // test case kills a mutant.
    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase {
            seed: random.bits(),
            ..case.clone()
        }
    }

    // Refuses what is not in the domain: people write test cases, too.
    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        CLIENTS.check("clients", &case.clients.len())?;
        for (index, walk) in case.clients.iter().enumerate() {
            WALKS.check(format!("clients[{}]", index), walk)?;
        }
        LATENCIES_NS.check("latency_ns", &case.latency_ns)?;
        PROBABILITIES.check("drop", &case.drop)?;
        PROBABILITIES.check("duplicate", &case.duplicate)
    }

    // Says where the walks are, so that a strategy can decide them: `--source pairs`, for example.
    fn walks(case: &mut TestCase) -> Vec<&mut Walk> {
        case.clients.iter_mut().collect()
    }

    // Puts components and network together, and says what must hold.
    fn configure(case: &TestCase) -> Simulation<RegisterMessage> {
        let mut simulation = Simulation::new(case.seed);
        simulation.network(link(case));
        simulation.add("server", protocol::server);
        let server = simulation.address("server", PORT);
        let observer = Observer::new(&simulation);
        for (number, walk) in (1..).zip(case.clients.clone()) {
            let history = observer.recorder().clone();
            let body = move |context: Context<RegisterMessage>| async move {
                let context = Rc::new(context);
                let service = Simulated::new(context.clone(), server);
                let instance = client().with(Client::new(service, Session(number), history));
                walk.take(&context, Limits::default(), instance).await
            };
            // What the machine itself finds wrong is an error of the component.
            simulation
                .add(&format!("client-{}", number), body)
                .expecting(Ok(()));
        }
        // The oracle: some order of the calls must explain what all clients saw, and a server that never answers is not
        // right either.
        let initial = Register::default();
        observer.check(&mut simulation, "the register is linearizable", initial);
        let (history, is_reliable) = (observer.recorder().clone(), case.drop == Probability::ZERO);
        simulation.check_trace("clients are answered", move |trace| {
            check_answers(&history.history(), is_reliable, trace)
        });
        simulation
    }

    // What the test cases themselves should cover. A walk says little before it is taken.
    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        Vec::new()
    }

    // What runs should cover, besides the code of the specification.
    fn trace_criteria() -> Vec<TraceCriterion> {
        [criteria::built_in(), criteria::machines()].concat()
    }
}

/// What the network does to every packet, in the simulation and between real programs.
pub fn link(case: &TestCase) -> Link {
    Link {
        drop: case.drop.into(),
        duplicate: case.duplicate,
        ..Link::constant(VirtualDuration::from_nanos(case.latency_ns))
    }
}

/// Checks that a client without an answer has asked often enough, and that there is none if nothing was lost.
fn check_answers(
    history: &History<Operation, Response>,
    is_reliable: bool,
    trace: &[TraceEvent],
) -> Result<(), CheckFailure> {
    let is_open = |call: &&simutant_oracle::Call<_, _>| matches!(call.end, End::Unknown);
    for call in history.calls().iter().filter(is_open) {
        let client = format!("client-{}", call.session.0);
        let asked = trace.iter().rev().filter_map(|event| match &event.action {
            Action::Sent(packet) if packet.source.component == client => Some(&packet.message),
            _ => None,
        });
        let asked: Vec<&String> = asked.collect();
        let tries = asked
            .iter()
            .take_while(|one| asked.first() == Some(one))
            .count();
        if is_reliable || tries < TRIES_MIN {
            return Err(CheckFailure::new(format!(
                "{} got no answer in {} tries; {} are asked for, and none may fail if nothing is lost",
                client, tries, TRIES_MIN
            )));
        }
    }
    Ok(())
}

/// The simulated service, as a client has it.
struct Simulated {
    context: Rc<Context<RegisterMessage>>,
    channel: Channel<RegisterMessage>,
    server: Address,
    /// Counts the client's requests.
    number: u32,
}

impl Simulated {
    fn new(context: Rc<Context<RegisterMessage>>, server: Address) -> Self {
        let channel = context.channel();
        Self {
            context,
            channel,
            server,
            number: 0,
        }
    }
}

impl Service for Simulated {
    async fn ask(&mut self, operation: Operation) -> Result<Response, NoAnswer> {
        self.number += 1;
        protocol::ask(&mut self.channel, self.server, self.number, operation).await
    }

    fn now(&self) -> Time {
        history_time(self.context.now())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_cases_are_valid_and_pass() {
        for index in 0..500 {
            let case = simutant_system::universe::<%TYPE%>(1, index);
            assert_eq!(%TYPE%::validate(&case), Ok(()));
            let ended = %TYPE%::configure(&case).run().ended;
            assert!(ended.passed(), "{:?}: {}", case, ended);
        }
    }

    #[test]
    fn a_case_outside_the_domain_is_refused_by_name() {
        let mut case = simutant_system::universe::<%TYPE%>(1, 0);
        case.clients.clear();
        let refused = %TYPE%::validate(&case)
            .expect_err("there are no clients")
            .to_string();
        assert_eq!(
            refused,
            "clients is a list of 0: it must be a list of 1 to 3"
        );
    }
}
