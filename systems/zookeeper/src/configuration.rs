//! Test cases, their domain, and the oracle.

use std::cell::Cell;
use std::ops::RangeInclusive;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use simutant_models::Limits;
use simutant_oracle::{Check, End, History, Order, Session, Time};
use simutant_sim_core::network::Latency;
use simutant_sim_core::trace::DurableState;
use simutant_sim_core::{
    Address, CheckFailure, Context, Fault, Faults, Link, Random, Returned, ScheduledFault, Simulation, VirtualDuration,
    VirtualTime,
};
use simutant_system::{Domain, InvalidTestCase, Lengths, Observer, Walk, Walks};
use simutant_zookeeper_histories::{Operation, Response};

use super::ZooKeeperMessage;
use super::client::Connection;
use super::machine::{Client, client};
use super::prepare::AclRecord;
use super::server::{PORT, Speed, server};

/// How many clients there are.
const CLIENTS: Lengths = Lengths(1..=3);

/// How long their walks are, and how many choices a transition makes.
const WALKS: Walks = Walks { steps: 1..=14, choices: 6 };

/// How long messages are on their way, at most.
pub(super) const LATENCY_US: RangeInclusive<u64> = 50..=2_000;

/// How long the first and the last stage take for a request.
pub(super) const STAGE_US: RangeInclusive<u64> = 0..=500;

/// How long it takes to log a change.
pub(super) const LOG_US: RangeInclusive<u64> = 0..=5_000;

/// When the server crashes, and for how long.
const CRASH_AT_MS: RangeInclusive<u64> = 1..=80;
pub(super) const CRASH_FOR_MS: RangeInclusive<u64> = 1..=100;

/// An input vector. All but the seed are inputs of real servers, too, as far as a testbed can bring them about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// How long messages are on their way at most: from 50 to 2,000 microseconds. It is at least half as long.
    pub latency_us: u64,
    /// How long the first stage takes for a request: at most 500 microseconds.
    pub prepare_us: u64,
    /// How long it takes to log a change: at most 5,000 microseconds.
    pub log_us: u64,
    /// How long the last stage takes for a request: at most 500 microseconds.
    pub apply_us: u64,
    /// A crash of the server, which then restarts with its log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash: Option<Crash>,
    /// What each client does: from 1 to 3 walks of at most 14 transitions.
    pub clients: Vec<Walk>,
    /// Fixes how long each message is on its way, and so whose request comes first.
    pub seed: u64,
}

/// A crash of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Crash {
    /// When: from 1 to 80 ms.
    pub at_ms: u64,
    /// For how long: from 1 to 100 ms.
    pub for_ms: u64,
}

impl TestCase {
    pub(super) fn sample(random: &mut Random) -> Self {
        let (latency_us, prepare_us) = (LATENCY_US.draw(random), STAGE_US.draw(random));
        let (log_us, apply_us) = (LOG_US.draw(random), STAGE_US.draw(random));
        // Most test cases are about what clients do.
        let crashes = random.uniform(0..5_u8) == 0;
        let crash = crashes.then(|| Crash { at_ms: CRASH_AT_MS.draw(random), for_ms: CRASH_FOR_MS.draw(random) });
        let clients = (0..CLIENTS.draw(random)).map(|_| WALKS.draw(random)).collect();
        Self { latency_us, prepare_us, log_us, apply_us, crash, clients, seed: random.bits() }
    }

    pub(super) fn validate(&self) -> Result<(), InvalidTestCase> {
        LATENCY_US.check("latency_us", &self.latency_us)?;
        STAGE_US.check("prepare_us", &self.prepare_us)?;
        LOG_US.check("log_us", &self.log_us)?;
        STAGE_US.check("apply_us", &self.apply_us)?;
        if let Some(Crash { at_ms, for_ms }) = &self.crash {
            CRASH_AT_MS.check("crash.at_ms", at_ms)?;
            CRASH_FOR_MS.check("crash.for_ms", for_ms)?;
        }
        CLIENTS.check("clients", &self.clients.len())?;
        self.clients.iter().enumerate().try_for_each(|(index, walk)| WALKS.check(format!("clients[{index}]"), walk))
    }
}

pub(super) fn configure(case: &TestCase, rule: AclRecord) -> Simulation<ZooKeeperMessage> {
    let mut simulation = Simulation::new(case.seed);
    simulation.network(link(case.latency_us));
    if let Some(Crash { at_ms, for_ms }) = case.crash {
        let schedule = crash_and_restart("server", at_ms, for_ms).into();
        simulation.faults(Faults { schedule, ..Faults::default() });
    }
    let [prepare, log, apply] = [case.prepare_us, case.log_us, case.apply_us].map(VirtualDuration::from_micros);
    let speed = Speed { prepare, log, apply };
    simulation.add_restartable("server", move |context| server(context, speed, rule));
    let address = simulation.address("server", PORT);
    let observer = Observer::new(&simulation);
    let failed = Rc::new(Cell::new(None));
    for (number, walk) in (1..).zip(&case.clients) {
        add_client(&mut simulation, (Session(number), walk), address, VirtualTime::ZERO, &observer, &failed);
    }
    let initial = simutant_zookeeper_histories::ZooKeeper::default();
    observer.check_by(&mut simulation, "what clients saw is possible", initial, check());
    if case.crash.is_none() {
        let recorder = observer.recorder().clone();
        simulation.check("each call is answered", move || answered(&recorder.history(), failed.get(), Time::ZERO));
    }
    simulation
}

/// Returns the check of what clients of one server saw, be it simulated or real: calls of a session keep their order, and
/// so do calls of which one ended before the other began.
pub fn check() -> Check<'static> {
    Check { order: Order { real_time: true, sessions: true, ..Order::none() }, ..Check::default() }
}

pub(super) fn client_name(number: u64) -> String {
    format!("client-{number}")
}

/// What a client returns at its end.
pub(super) type Ended = Returned<Result<(), String>>;

/// Adds a client, which begins its walk at a time and is connected with the server at an address.
pub(super) fn add_client(
    simulation: &mut Simulation<ZooKeeperMessage>,
    (session, walk): (Session, &Walk),
    address: Address,
    begin: VirtualTime,
    observer: &Observer<Operation, Response>,
    failed: &Rc<Cell<Option<Time>>>,
) -> Ended {
    let (walk, history, failed) = (walk.clone(), observer.recorder().clone(), failed.clone());
    let body = move |context: Context<ZooKeeperMessage>| async move {
        let context = Rc::new(context);
        let connection = Connection::new(context.clone(), address, session, failed);
        walk.take(&context, Limits::default(), client().with(Client::new(connection, session, history))).await
    };
    simulation.add(&client_name(session.0), body).starting_at(begin).expecting(Ok(())).returned()
}

/// Returns a link on which messages take so long at most, and at least half as long.
pub(super) fn link(max_us: u64) -> Link {
    let [min, max] = [max_us / 2, max_us].map(VirtualDuration::from_micros);
    Link { latency: Latency::Uniform { min, max }, ..Link::default() }
}

/// Returns the faults of a server that crashes, and is there again some time later, with its log.
pub(super) fn crash_and_restart(component: &str, at_ms: u64, for_ms: u64) -> [ScheduledFault; 2] {
    let restart = Fault::Restart { component: component.into(), durable_state: DurableState::default() };
    let at = |at_ms, fault| ScheduledFault { at: VirtualTime::from_millis(at_ms), fault };
    [at(at_ms, Fault::Crash { component: component.into() }), at(at_ms + for_ms, restart)]
}

/// Checks that from some time on each connection is made, of which the last one that is not began when `failed` says, and
/// each call has an answer.
pub(super) fn answered(
    history: &History<Operation, Response>,
    failed: Option<Time>,
    from: Time,
) -> Result<(), CheckFailure> {
    if failed >= Some(from) {
        return Err(CheckFailure::new("the server refuses connections"));
    }
    match history.calls().iter().find(|call| call.invoked.time >= from && matches!(call.end, End::Unknown)) {
        Some(call) => Err(CheckFailure::new(format!("{} got no answer to {:?}", call.session, call.operation))),
        None => Ok(()),
    }
}
