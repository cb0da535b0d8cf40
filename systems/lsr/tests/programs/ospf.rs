//! Routers that others wrote: BIRD and FRRouting take the shortest paths, and nothing of their networks is left.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use simutant_harness::{Implementation, RunOptions, TestReport, run_suite};

use crate::routers::{Input, routes};
use crate::{implementation, options};

/// Tells the test's second process where to work.
const WORK_VARIABLE: &str = "SIMUTANT_TEST_OSPF";

/// An input in which the fewest links are not the cheapest path.
const ROUND: Input<'_> = ("3-cycle", &[(1, 3), (3, 1), (2, 2), (2, 3)], 1);

fn run(implementation: &Implementation, inputs: &[Input<'_>]) -> TestReport {
    run_suite(&routes(inputs), implementation, &options(), &mut |_| {})
        .expect("the suite runs as root, with bird and frr: `cargo xtask test` installs them")
}

#[track_caller]
fn check_passes(name: &str, inputs: &[Input<'_>]) {
    let report = run(&implementation(name), inputs);
    let failures: Vec<_> = report.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn bird_takes_the_shortest_paths() {
    check_passes("bird-ospf", &[ROUND]);
}

#[test]
fn frr_takes_the_shortest_paths() {
    let mesh: &[_] = &[(1, 4), (4, 1), (1, 3), (3, 1), (2, 4), (1, 2), (3, 4), (4, 4)];
    check_passes("frr-ospf", &[ROUND, ("4-mesh", mesh, 2), ("duo", &[], 3)]);
}

#[test]
fn a_path_that_is_not_the_shortest_fails() {
    let mut dearer = implementation("frr-ospf");
    for word in &mut dearer.sides[0].command {
        // As if the routers were told another cost of the link between 2 and 3.
        *word = word.replace("{links}", "1-2/1,2-3/9,3-1/5");
    }
    let report = run(&dearer, &[ROUND]);
    let finding = report.results[0].verdict.finding().expect("the path is not the shortest");
    assert_eq!(finding.summary, "router-1: message 2 came at a cost of 5, the shortest path costs 3");
    let outputs = &report.results[0].processes;
    assert!(outputs[0].stdout.text.contains("message 4 from 2 went 2 1 3\n"), "{outputs:#?}");
}

/// A process, told from later ones of its number by when it started.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Running {
    number: u32,
    parent: u32,
    start: String,
}

/// Returns all processes.
fn processes() -> Vec<Running> {
    let running = |entry: std::fs::DirEntry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // After the name, which may hold any character: the state, the parent, and, 18 words later, the start.
        let mut words = stat.rsplit_once(") ")?.1.split(' ').skip(1);
        Some(Running { number, parent: words.next()?.parse().ok()?, start: words.nth(17)?.to_owned() })
    };
    Path::new("/proc").read_dir().expect("/proc is there").flatten().filter_map(running).collect()
}

/// Returns a process and all that descend from it.
fn family(number: u32) -> Vec<Running> {
    let all = processes();
    let mut family: Vec<Running> = all.iter().filter(|one| one.number == number).cloned().collect();
    let mut place = 0;
    while let Some(parent) = family.get(place).map(|one| one.number) {
        family.extend(all.iter().filter(|one| one.parent == parent).cloned());
        place += 1;
    }
    family
}

/// Returns the networks that these processes are in.
fn networks_of(processes: &[Running]) -> BTreeSet<u64> {
    let network = |one: &Running| Some(std::fs::metadata(format!("/proc/{}/ns/net", one.number)).ok()?.ino());
    processes.iter().filter_map(network).collect()
}

#[test]
fn no_router_is_left_when_the_harness_is_killed() {
    if let Some(work) = std::env::var_os(WORK_VARIABLE) {
        let options = RunOptions { timeout: Duration::from_secs(600), work_directory: work.into(), ..options() };
        let report = run_suite(&routes(&[ROUND]), &implementation("bird-ospf"), &options, &mut |_| {});
        panic!("this process should have been killed before: {report:?}");
    }
    let work = tempfile::tempdir().expect("a temporary folder");
    let mut harness = Command::new(std::env::current_exe().expect("a test has an executable"))
        .args(["--exact", "ospf::no_router_is_left_when_the_harness_is_killed"])
        .env(WORK_VARIABLE, work.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test can be started again");
    // That of the harness, that of the sandbox, and those of three routers.
    await_that(|| networks_of(&family(harness.id())), |networks| networks.len() == 5);
    let family = family(harness.id());
    harness.kill().expect("a child can be killed");
    harness.wait().expect("a child can be waited for");
    let left = || {
        family
            .iter()
            .filter(|one| processes().iter().any(|now| (now.number, &now.start) == (one.number, &one.start)))
            .count()
    };
    await_that(|| (left(), entries(work.path())), |&(processes, entries)| processes == 0 && entries == 0);
}

/// Waits until `done`, and panics with what `state` says if that takes too long.
#[track_caller]
fn await_that<S: std::fmt::Debug>(state: impl Fn() -> S, done: impl Fn(&S) -> bool) {
    let start = Instant::now();
    loop {
        let now = state();
        if done(&now) {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "{now:#?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn entries(folder: &Path) -> usize {
    folder.read_dir().expect("the folder is there").count()
}
