//! The coordinator's program, with workers that a test plays.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A coordinator that carries out one transaction; it is killed when this is dropped.
struct Coordinator {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    address: String,
}

impl Coordinator {
    fn start(workers: usize, log: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_two-phase-commit-coordinator"));
        command.args(["--listen", "127.0.0.1:0", "--timeout-ms", "60000", "--transactions", "1", "--sync", "true"]);
        command.args(["--workers", &workers.to_string()]).arg("--log").arg(log);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the coordinator starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let address = lines.next().expect("its address").expect("text");
        Self { child, lines, address }
    }

    fn connect(&self, worker: usize) -> Worker {
        let stream = TcpStream::connect(&self.address).expect("the coordinator listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("it is a connection");
        let mut connection = Worker(BufReader::new(stream));
        connection.say(&format!("worker {worker}"));
        connection
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// A connection to the coordinator.
struct Worker(BufReader<TcpStream>);

impl Worker {
    fn say(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).expect("the coordinator reads");
    }

    #[track_caller]
    fn hears(&mut self, expect: &str) {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("the coordinator says something");
        assert_eq!(line.trim_end(), expect);
    }

    #[track_caller]
    fn hears_the_end(mut self) {
        assert_eq!(self.0.read(&mut [0]).expect("the coordinator closes it"), 0);
    }
}

#[test]
fn a_decision_survives_a_kill_and_is_told_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log");
    let mut coordinator = Coordinator::start(2, &log);
    let mut workers = [coordinator.connect(1), coordinator.connect(2)];
    for worker in &mut workers {
        worker.hears("can-commit 0");
        worker.say("vote 0 yes");
    }
    workers[0].hears("decision 0 commit");
    coordinator.child.kill().expect("it runs");
    drop(coordinator);

    let mut coordinator = Coordinator::start(2, &log);
    for number in [1, 2] {
        let mut worker = coordinator.connect(number);
        worker.hears("decision 0 commit");
        worker.say("ack 0");
        workers[number - 1] = worker;
    }
    assert!(coordinator.child.wait().expect("it is ours").success());
    let printed: Vec<String> = coordinator.lines.by_ref().map(|line| line.expect("text")).collect();
    assert_eq!(printed, ["ready", "completed 0 commit"]);
}

#[test]
fn what_was_begun_before_a_kill_is_aborted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = folder.path().join("log");
    let coordinator = Coordinator::start(1, &log);
    coordinator.connect(1).hears("can-commit 0");
    drop(coordinator);
    let coordinator = Coordinator::start(1, &log);
    coordinator.connect(1).hears("decision 0 abort");
    assert_eq!(std::fs::read_to_string(&log).expect("it is there"), "begun 0\ndecided 0 abort\n");
}

#[test]
fn a_connection_that_is_replaced_is_closed_so_that_whoever_is_alive_connects_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let coordinator = Coordinator::start(2, &folder.path().join("log"));
    let mut first = coordinator.connect(1);
    let mut other = coordinator.connect(2);
    first.hears("can-commit 0");
    other.hears("can-commit 0");
    let mut second = coordinator.connect(1);
    second.hears("can-commit 0");
    first.hears_the_end();
}

#[test]
fn who_is_no_worker_is_sent_away() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let coordinator = Coordinator::start(1, &folder.path().join("log"));
    for number in [0, 2] {
        coordinator.connect(number).hears_the_end();
    }
    let mut worker = coordinator.connect(1);
    worker.hears("can-commit 0");
    worker.say("commit everything");
    worker.hears_the_end();
}
