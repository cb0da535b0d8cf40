use std::fmt::Debug;
use std::rc::Rc;

use simutant_oracle::Session;
use simutant_oracle::{Check, Order, Recorder};
use simutant_sim_core::trace::Action;
use simutant_sim_core::{Address, Context, Simulation, VirtualDuration};
use simutant_system::testing::check_reseeding;
use simutant_system::{InputSource, Universe, universe};
use simutant_zookeeper_histories::{Access, CreateMode, Event, Operation, Permissions, Response, Who};

use super::client::{Connection, SILENCE};
use super::machine::Service;
use super::messages::ZooKeeperMessage;
use super::server::{PORT, Speed};
use super::*;

#[test]
fn sampled_cases_are_valid_and_pass() {
    for index in 0..1_000 {
        let case = universe::<ZooKeeper>(1, index);
        assert_eq!(ZooKeeper::validate(&case), Ok(()));
        let ended = ZooKeeper::configure(&case).run().ended;
        assert!(ended.passed(), "{}: {ended}", serde_json::to_string(&case).expect("it is plain data"));
    }
}

#[test]
fn walks_of_a_strategy_pass_and_reach_every_state() {
    let mut covered = std::collections::BTreeSet::new();
    let mut universe = Universe::<ZooKeeper>::new(InputSource::Pairs, 1, 200);
    let criterion = criteria::machines().into_iter().find(|known| known.name == "machine-states").expect("it is one");
    for index in 0..200 {
        let mut simulation = ZooKeeper::configure(&universe.case(index));
        simulation.record_trace();
        let report = simulation.run();
        assert!(report.ended.passed(), "{}", report.ended);
        let labels = criterion.covered(&report.trace.expect("it was recorded"));
        covered.extend(labels.labels().map(str::to_owned));
    }
    let states = ["closed", "connected", "disconnected", "expired", "refused"].map(|state| format!("client: {state}"));
    assert_eq!(covered, states.into());
}

/// Runs clients of a server, and returns what they return.
fn served<T, F>(rule: AclRecord, clients: impl FnOnce(Rc<Context<ZooKeeperMessage>>, Address) -> F) -> T
where
    F: Future<Output = T> + 'static,
    T: Clone + Debug + PartialEq + 'static,
{
    let mut simulation = Simulation::new(1);
    let takes = VirtualDuration::from_micros(100);
    let speed = Speed { prepare: takes, log: takes, apply: takes };
    simulation.add("server", move |context| server(context, speed, rule));
    let address = simulation.address("server", PORT);
    let returned = simulation.add("clients", |context| clients(Rc::new(context), address)).returned();
    let ended = simulation.run().ended;
    assert!(ended.passed(), "{ended}");
    returned.get().expect("the clients returned").clone()
}

/// Returns the connection of a session to a server that is up.
async fn connected(context: &Rc<Context<ZooKeeperMessage>>, server: Address, session: u64) -> Connection {
    let mut connection = Connection::new(context.clone(), server, Session(session), Default::default());
    connection.connect().await.expect("the server is up");
    connection
}

/// Asks for an operation, and returns the answer.
async fn asked(connection: &mut Connection, operation: &Operation) -> Response {
    connection.send(operation).await.expect("the server is up");
    connection.receive().await.expect("the server is up")
}

/// Sends requests of one session without awaiting any answer, and returns the answers.
fn pipelined(rule: AclRecord, operations: &[Operation]) -> Vec<Response> {
    let operations = operations.to_vec();
    served(rule, |context, server| async move {
        let mut connection = connected(&context, server, 1).await;
        for operation in &operations {
            connection.send(operation).await.expect("the server is up");
        }
        let mut responses = Vec::new();
        while responses.len() < operations.len() {
            responses.push(connection.receive().await.expect("the server is up"));
        }
        responses
    })
}

/// The three calls of ZOOKEEPER-2439.
fn three_calls() -> [Operation; 3] {
    let acl = vec![Access { who: Who::Anyone, permissions: Permissions::READ }];
    [
        Operation::Create { path: "/a".into(), data: None, mode: CreateMode::Persistent },
        Operation::SetAcl { path: "/a".into(), acl, version: None },
        Operation::SetData { path: "/a".into(), data: Some("x".into()), version: None },
    ]
}

#[test]
fn three_calls_in_flight_tell_where_permissions_are_checked() {
    let created = Response::Created("/a".into());
    let no_auth = Response::Error(simutant_zookeeper_histories::Error::NoAuth);
    let answers = |rule| -> Vec<Response> {
        pipelined(rule, &three_calls()).iter().map(|answer| answer.without_stat().clone()).collect()
    };
    assert_eq!(answers(AclRecord::New), [created.clone(), Response::Done, no_auth.clone()]);
    assert_eq!(answers(AclRecord::Old), [created, Response::Done, Response::Done]);
    let judged = |responses: &[Response]| {
        let recorder = Recorder::in_order();
        for (operation, response) in three_calls().into_iter().zip(responses) {
            recorder.observed(Session(1), operation, response.clone(), simutant_oracle::Time::ZERO);
        }
        let check = Check { order: Order::ordered_sequential(), ..Check::default() };
        check.run(&recorder.history(), &simutant_zookeeper_histories::ZooKeeper::default()).is_possible()
    };
    assert!(judged(&[Response::Done, Response::Done, no_auth]));
    assert!(!judged(&[Response::Done, Response::Done, Response::Done]));
}

#[test]
fn random_test_cases_find_the_fault_of_2439_and_blame_permissions() {
    let failures: Vec<String> = (0..300)
        .map(|index| ZooKeeper2439::configure(&universe::<ZooKeeper2439>(1, index)).run().ended)
        .filter(|ended| !ended.passed())
        .map(|ended| ended.to_string())
        .collect();
    assert!((3..150).contains(&failures.len()), "{} of 300 fail", failures.len());
    assert!(failures.iter().all(|failure| failure.contains("what clients saw is possible")), "{failures:?}");
}

/// Returns the texts of the messages and notes of a run.
fn texts(index: usize) -> Vec<String> {
    let mut simulation = ZooKeeper::configure(&universe::<ZooKeeper>(1, index));
    simulation.record_trace();
    let trace = simulation.run().trace.expect("it was recorded");
    let text = |action: &Action| match action {
        Action::Sent(packet) => Some(packet.message.clone()),
        Action::Noted { text, .. } => Some(text.clone()),
        _ => None,
    };
    trace.iter().filter_map(|event| text(&event.action)).collect()
}

#[test]
fn test_cases_leave_watches_that_fire_and_have_sessions_that_expire_or_do_not() {
    let (mut left, mut fired, mut silent, mut expired) = (0, 0, 0, 0);
    for index in 0..1_000 {
        let texts = texts(index);
        let has = |begin: &str| i32::from(texts.iter().any(|text| text.starts_with(begin)));
        left += has("Request(Watch(");
        fired += has("Event(");
        silent += has("Ping");
        expired += has("Reply(Error(SessionExpired");
    }
    let counts = format!("{left} of 1,000 leave watches, {fired} fire, {silent} have silent clients, {expired} expire");
    assert!(left > 400 && fired > 50 && silent > 15 && expired > 5 && expired < silent, "{counts}");
}

#[test]
fn events_come_before_the_answers_that_show_their_changes() {
    let read = |path: &str| Operation::Exists { path: path.into() }.and_watch();
    let [create, _, set] = three_calls();
    let operations = [read("/a"), create, read("/a"), read("/a"), set.clone(), set];
    let answers = pipelined(AclRecord::New, &operations);
    let events: Vec<Vec<Event>> = answers
        .iter()
        .map(|answer| match answer {
            Response::Told { events, .. } => events.clone(),
            _ => Vec::new(),
        })
        .collect();
    let (created, changed) = (Event::Created("/a".into()), Event::DataChanged("/a".into()));
    assert_eq!(events, [vec![], vec![created], vec![], vec![], vec![changed], vec![]]);
}

/// An ephemeral node, and a look at it.
fn ephemeral() -> [Operation; 2] {
    let create = Operation::Create { path: "/a".into(), data: None, mode: CreateMode::Ephemeral };
    [create, Operation::Exists { path: "/a".into() }]
}

/// What two sessions see of the ephemeral node of one of them, which is silent for some halves of the timeout.
fn after_silence(halves: u32) -> (bool, Response, Response) {
    served(AclRecord::New, move |context, server| async move {
        let mut one = connected(&context, server, 1).await;
        let mut other = connected(&context, server, 2).await;
        let [create, exists] = ephemeral();
        asked(&mut one, &create).await;
        asked(&mut other, &exists.clone().and_watch()).await;
        let is_expired = one.fall_silent(halves).await.expect("the server is up");
        (is_expired, asked(&mut one, &exists).await, asked(&mut other, &exists).await)
    })
}

#[test]
fn a_session_expires_that_is_silent_for_too_long_with_its_nodes() {
    let (is_expired, own, other) = after_silence(1);
    assert!(!is_expired);
    assert_eq!((own.without_stat(), other.without_stat()), (&Response::Exists(true), &Response::Exists(true)));
    let (is_expired, own, other) = after_silence(3);
    assert!(is_expired);
    assert_eq!(own, Response::Error(simutant_zookeeper_histories::Error::SessionExpired));
    assert_eq!(other, Response::Exists(false).after(vec![Event::Deleted("/a".into())]));
}

/// Whether there is the ephemeral node of a session, some halves of its timeout after it has closed its silent connection.
fn is_left_after_closing(halves: u32) -> Response {
    served(AclRecord::New, move |context, server| async move {
        let [create, exists] = ephemeral();
        let mut one = connected(&context, server, 1).await;
        asked(&mut one, &create).await;
        let mut silent = context.connect(server, SILENCE).await.expect("the server is up");
        let open = ZooKeeperMessage::Open { session: Session(1), timeout: Some(SILENCE) };
        silent.send(open).await.expect("the server is up");
        drop(silent);
        context.sleep(VirtualDuration::from_nanos(SILENCE.as_nanos() / 2 * u64::from(halves))).await;
        asked(&mut connected(&context, server, 2).await, &exists).await
    })
}

#[test]
fn a_closed_connection_is_no_sign_of_life() {
    assert_eq!(is_left_after_closing(1).without_stat(), &Response::Exists(true));
    assert_eq!(is_left_after_closing(3).without_stat(), &Response::Exists(false));
}

#[test]
fn its_chance_is_its_seed() {
    check_reseeding::<ZooKeeper>(|case| case.seed = 0);
}
