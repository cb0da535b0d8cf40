use simutant_oracle::Session;
use simutant_oracle::specifications::zookeeper::{Access, CreateMode, Operation, Permissions, Response, Who};
use simutant_oracle::{Check, Order, Recorder, specifications};
use simutant_sim_core::{Simulation, VirtualDuration};
use simutant_system::{InputSource, Universe, universe};

use super::client::Connection;
use super::machine::Service;
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
    let states = ["closed", "connected", "disconnected", "refused"].map(|state| format!("client: {state}"));
    assert_eq!(covered, states.into());
}

/// Sends requests of one session without awaiting any answer, and returns the answers.
fn pipelined(rule: AclRecord, operations: &[Operation]) -> Vec<Response> {
    let mut simulation = Simulation::new(1);
    let takes = VirtualDuration::from_micros(100);
    simulation.add("server", move |context| server(context, Speed { prepare: takes, log: takes, apply: takes }, rule));
    let address = simulation.address("server", PORT);
    let operations = operations.to_vec();
    let body = move |context| async move {
        let context = std::rc::Rc::new(context);
        let mut connection = Connection::new(context, address, Session(1), Default::default());
        connection.connect().await.expect("the server is up");
        for operation in &operations {
            connection.send(operation).await.expect("the server is up");
        }
        let mut responses = Vec::new();
        while responses.len() < operations.len() {
            responses.push(connection.receive().await.expect("the server is up"));
        }
        responses
    };
    let returned = simulation.add("client", body).returned();
    let ended = simulation.run().ended;
    assert!(ended.passed(), "{ended}");
    returned.get().expect("the client returned").clone()
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
    let no_auth = Response::Error(specifications::zookeeper::Error::NoAuth);
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
        let check = Check { order: Order::zookeeper(), ..Check::default() };
        check.run(&recorder.history(), &specifications::ZooKeeper::default()).is_possible()
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
