//! All tests of the net on the real coordinator: one process, and a tester that plays all workers over TCP.
//!
//! The coordinator cannot tell the tester from workers. Transaction i is test case i; many are on their way at a time,
//! since they have nothing to do with each other. What is missing when time is over is missing for good: a coordinator
//! that never tells somebody fails, and does not hold up the rest.
//!
//! A coordinator reads from a pipe what it is asked for, and ends with the pipe, however this process ends.

#![expect(clippy::disallowed_methods, reason = "real programs take real time")]
#![expect(clippy::print_stdout, reason = "`--nocapture` shows how many test cases it runs in a second")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use simutant_nets::{Budget, Paths, TestCase, Tests};
use simutant_two_phase_commit::net::{Decision, Observation, Stimulus, Vote, Worker, two_phase_commit};
use tempfile::TempDir;

type Case = TestCase<Stimulus, Observation>;

/// How many transactions are on their way at a time.
const WINDOW: usize = 512;

/// How long a transaction may take: much, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long one may take of a coordinator that completes some of them never.
const LITTLE_PATIENCE: Duration = Duration::from_secs(2);

/// The coordinator's program, built as this test is.
static PROGRAM: LazyLock<PathBuf> = LazyLock::new(|| {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let (profile, folder) = if cfg!(debug_assertions) { ("dev", "debug") } else { ("release", "release") };
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--package", "simutant-two-phase-commit-programs", "--bins", "--profile", profile]);
    let status = cargo.arg("--target-dir").arg(&target).current_dir(env!("CARGO_MANIFEST_DIR")).status();
    assert!(status.expect("cargo starts").success(), "the programs are built");
    target.join(folder).join("two-phase-commit-coordinator")
});

/// A coordinator that runs; it is killed when this is dropped.
struct Coordinator {
    child: Child,
    _log: TempDir,
}

impl Coordinator {
    fn start(workers: Worker, fault: Option<&str>) -> Self {
        let log = tempfile::tempdir().expect("a temporary folder");
        let mut command = Command::new(&*PROGRAM);
        // A vote that a busy machine delays is no silence.
        command.args(["--listen", "127.0.0.1:0", "--timeout-ms", "60000"]);
        command.args(["--workers", &workers.to_string()]).arg("--log").arg(log.path().join("log"));
        command.args(fault.iter().flat_map(|fault| ["--fault", fault]));
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the coordinator starts");
        Self { child, _log: log }
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// What a tester has observed.
struct Observed {
    /// For each test case.
    sets: Vec<BTreeSet<Observation>>,
    /// How often workers were told a decision.
    told: usize,
    /// How long all test cases took.
    took: Duration,
}

/// Gives all test cases to a coordinator, each of which may take so long.
fn observe(workers: Worker, cases: &[Case], fault: Option<&str>, patience: Duration) -> Observed {
    let votes: Vec<BTreeMap<Worker, Vote>> = cases.iter().map(votes).collect();
    let (votes, told) = (&votes, &AtomicUsize::new(0));
    thread::scope(|scope| {
        // A panic ends it before the threads are waited for, which read until it ends.
        let mut coordinator = Coordinator::start(workers, fault);
        let input = coordinator.child.stdin.take().expect("it is piped");
        let mut lines = BufReader::new(coordinator.child.stdout.take().expect("it is piped")).lines();
        let mut line = move || lines.next().map(|line| line.expect("the coordinator prints lines"));
        let address = line().expect("its address");
        assert_eq!(line().as_deref(), Some("ready"));
        let play = |worker| {
            let stream = TcpStream::connect(&address).expect("the coordinator listens");
            scope.spawn(move || play(&stream, worker, votes, told))
        };
        let players: Vec<_> = (1..=workers).map(play).collect();
        let (sender, completions) = channel();
        let printer = scope.spawn(move || {
            while let Some(line) = line() {
                let ["completed", number, decision] = words(&line)[..] else { panic!("`{line}` was printed") };
                _ = sender.send((number.parse().expect("a number"), read(decision)));
            }
        });

        let (begun, mut sets) = (Instant::now(), vec![BTreeSet::new(); cases.len()]);
        let mut complete = |(number, decision): (usize, Decision)| {
            sets[number].insert(Observation::Completed { decision });
        };
        let deadline = ask(&input, cases.len(), &completions, patience, &mut complete);
        // Workers that nobody waits for may be told late.
        while told.load(Ordering::Relaxed) < cases.len() * usize::from(workers) && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        let took = begun.elapsed();
        drop(input);
        let status = coordinator.child.wait().expect("it is ours");
        assert!(status.success(), "{status}");
        printer.join().expect("it printed what it should");
        completions.try_iter().for_each(complete);
        for (worker, player) in (1..).zip(players) {
            for (number, decision) in player.join().expect("the coordinator said what it should") {
                sets[number].insert(Observation::Told { worker, decision });
            }
        }
        Observed { sets, told: told.load(Ordering::Relaxed), took }
    })
}

/// Asks for so many transactions, and waits until each is completed or has had its time; returns when the time of the
/// last one is over.
fn ask(
    mut input: impl Write,
    count: usize,
    completions: &Receiver<(usize, Decision)>,
    patience: Duration,
    complete: &mut dyn FnMut((usize, Decision)),
) -> Instant {
    let (mut waiting, mut asked, mut last) = (BTreeMap::new(), 0, Instant::now());
    while asked < count || !waiting.is_empty() {
        let more = asked..count.min(asked + WINDOW - waiting.len());
        asked = more.end;
        let numbers: String = more.clone().map(|number| format!("{number}\n")).collect();
        input.write_all(numbers.as_bytes()).expect("the coordinator reads");
        if !more.is_empty() {
            last = Instant::now() + patience;
        }
        waiting.extend(more.map(|number| (number, last)));
        let (&oldest, &deadline) = waiting.first_key_value().expect("something was asked for");
        match completions.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(completed) => {
                waiting.remove(&completed.0);
                complete(completed);
            }
            Err(_) => _ = waiting.remove(&oldest),
        }
    }
    last
}

/// Plays a worker until the coordinator ends; returns what it was told.
fn play(
    mut stream: &TcpStream,
    worker: Worker,
    votes: &[BTreeMap<Worker, Vote>],
    told: &AtomicUsize,
) -> Vec<(usize, Decision)> {
    stream.set_nodelay(true).expect("it is a connection");
    stream.write_all(format!("worker {worker}\n").as_bytes()).expect("the coordinator reads");
    let (mut decisions, mut text, mut piece) = (Vec::new(), String::new(), [0; 16 * 1_024]);
    loop {
        let length = match stream.read(&mut piece) {
            Ok(0) => return decisions,
            Ok(length) => length,
            // It has ended, and had not read all that was said.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return decisions,
            Err(error) => panic!("worker {worker}: {error}"),
        };
        text.push_str(str::from_utf8(&piece[..length]).expect("text"));
        let end = text.rfind('\n').map_or(0, |end| end + 1);
        let mut answers = String::new();
        for line in text.drain(..end).as_str().lines() {
            match words(line)[..] {
                ["can-commit", number] => {
                    let vote = &votes[number.parse::<usize>().expect("a number")][&worker];
                    let vote = if *vote == Vote::Yes { "yes" } else { "no" };
                    answers.extend(["vote ", number, " ", vote, "\n"]);
                }
                ["decision", number, decision] => {
                    decisions.push((number.parse().expect("a number"), read(decision)));
                    told.fetch_add(1, Ordering::Relaxed);
                    answers.extend(["ack ", number, "\n"]);
                }
                _ => panic!("worker {worker} was told `{line}`"),
            }
        }
        if stream.write_all(answers.as_bytes()).is_err() {
            // What it has said before it ended is still to be read.
            continue;
        }
    }
}

/// Returns the vote of each worker.
fn votes(case: &Case) -> BTreeMap<Worker, Vote> {
    case.inputs.iter().map(|&Stimulus::Vote { worker, vote }| (worker, vote)).collect()
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn read(decision: &str) -> Decision {
    match decision {
        "commit" => Decision::Commit,
        "abort" => Decision::Abort,
        _ => panic!("`{decision}` is no decision"),
    }
}

/// Returns the tests of all paths.
fn all_paths(workers: Worker) -> Tests<Stimulus, Observation> {
    let mut space = two_phase_commit(workers).explore(&Budget::default()).expect("it is small");
    space.tests().expect("they are few")
}

/// Returns the test cases that do not pass on the coordinator.
fn failures(workers: Worker, tests: &Tests<Stimulus, Observation>, fault: Option<&str>) -> Vec<Case> {
    let patience = if fault == Some("tells-no-voters-only") { LITTLE_PATIENCE } else { PATIENCE };
    let observed = observe(workers, &tests.cases, fault, patience);
    let pairs = tests.cases.iter().zip(&observed.sets);
    let failures: Vec<Case> =
        pairs.filter(|(case, set)| !tests.judge(case, set).passes()).map(|(case, _)| case.clone()).collect();
    let (count, took) = (tests.cases.len(), observed.took);
    println!("{count} test cases in {took:?}: {:.0} in a second", count as f64 / took.as_secs_f64());
    if fault.is_none() {
        assert_eq!(observed.told, count * usize::from(workers), "each worker is told once");
    }
    failures
}

/// Returns how many workers vote yes.
fn yes_votes(case: &Case) -> usize {
    votes(case).values().filter(|vote| **vote == Vote::Yes).count()
}

#[test]
fn the_coordinator_passes_the_tests_of_all_paths() {
    let tests = all_paths(5);
    assert_eq!((tests.cases.len(), tests.paths), (32, Paths::All));
    assert_eq!(failures(5, &tests, None), []);
}

#[test]
fn the_coordinator_passes_the_tests_of_simulated_runs_with_fifteen_workers() {
    // Where nothing is optimised, 20,000 runs of the net take 27 s, and their test cases 1.3 s.
    let runs = if cfg!(debug_assertions) { 2_000 } else { 20_000 };
    let begun = Instant::now();
    let tests = two_phase_commit(15).simulate(runs, 1, 1_000).expect("it has no mistake");
    println!("{runs} runs of the net in {:?}", begun.elapsed());
    let (vectors, found) = (f64::from(1 << 15), tests.cases.len() as f64);
    let expected = vectors * (1.0 - (1.0 - 1.0 / vectors).powi(runs as i32));
    assert!((found - expected).abs() < 0.02 * expected, "{found}, expected {expected}");
    assert_eq!((tests.paths, tests.endless), (Paths::Simulated, 0));
    assert_eq!(failures(15, &tests, None), []);
}

#[test]
fn a_coordinator_that_tells_the_no_voters_only_fails_each_mixed_test_case() {
    let tests = all_paths(5);
    let mixed: Vec<Case> = tests.cases.iter().filter(|case| (1..5).contains(&yes_votes(case))).cloned().collect();
    assert_eq!(mixed.len(), 30);
    assert_eq!(failures(5, &tests, Some("tells-no-voters-only")), mixed);
}

#[test]
fn a_coordinator_that_decides_by_majority_fails_where_most_vote_yes_and_not_all() {
    let tests = all_paths(5);
    let wrong: Vec<Case> = tests.cases.iter().filter(|case| [3, 4].contains(&yes_votes(case))).cloned().collect();
    assert_eq!(failures(5, &tests, Some("decides-by-majority")), wrong);
}

#[test]
fn mistakes_that_need_a_crash_pass_all_tests_of_a_net_without_one() {
    for fault in ["applies-again", "forgets-decisions", "silence-is-yes"] {
        assert_eq!(failures(2, &all_paths(2), Some(fault)), []);
    }
}

#[test]
fn the_coordinator_ends_with_what_asks_it() {
    let mut coordinator = Coordinator::start(2, None);
    drop(coordinator.child.stdin.take());
    assert!(coordinator.child.wait().expect("it is ours").success());
}
