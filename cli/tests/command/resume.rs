//! Studies that are killed or interrupted, and go on.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::support::{assert_exit, command, results, run, stderr};

/// Enough for ten interruptions.
const ARGUMENTS: [&str; 5] = ["study", "gbn", "--cases", "900", "--seed"];

fn arguments(seed: &'static str) -> Vec<&'static str> {
    ARGUMENTS.into_iter().chain([seed, "--jobs", "2"]).collect()
}

/// Returns how many test cases the journal has recorded on the original, and run on the mutants.
fn done(out: &Path) -> (u32, u32) {
    let path = out.join("journal.sqlite");
    let Ok(journal) = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE) else { return (0, 0) };
    let count = |table: &str| {
        journal.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap_or_default()
    };
    (count("recordings"), count("units"))
}

/// Returns the worker processes that nobody looks after any more.
fn orphans() -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("this is Linux").filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let is_orphan = status.lines().any(|line| line.trim_end() == "PPid:\t1");
        (is_orphan && program.to_string_lossy().contains("simutant-worker-gbn")).then_some(pid)
    });
    processes.collect()
}

#[test]
fn a_study_that_is_killed_ten_times_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Undisturbed first, in the same folder, so that only what was killed differs.
    let output = run(&arguments("5"), folder.path());
    assert_exit(&output, 0);
    let expected = results(folder.path());
    for file in ["journal.sqlite", "suite.json", "results.json", "tables.txt", "report.html"] {
        std::fs::remove_file(folder.path().join(file)).expect("it was written");
    }

    let mut delay = Duration::from_millis(250);
    let (mut kills, mut states) = (0, Vec::new());
    while kills < 10 {
        let mut child = command(&arguments("5"), folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the command was built");
        // Each time a little later, so that the points spread.
        std::thread::sleep(delay + Duration::from_millis(17 * kills));
        child.kill().expect("it is ours");
        let status = child.wait().expect("it was killed");
        if status.success() {
            // Too fast for this machine's moments: begin again, with shorter ones.
            std::fs::remove_file(folder.path().join("journal.sqlite")).expect("it was written");
            delay = delay * 2 / 3;
            (kills, states) = (0, Vec::new());
            continue;
        }
        let state = done(folder.path());
        if states.last() == Some(&state) && state.1 == 0 {
            delay = delay * 5 / 4;
        }
        states.push(state);
        kills += 1;
    }
    assert!(states.iter().any(|(_, units)| (1..900).contains(units)), "no kill met the mutants: {states:?}");
    assert!(states.windows(2).all(|pair| pair[0] <= pair[1]), "something was lost: {states:?}");

    let output = run(&arguments("5"), folder.path());
    assert_exit(&output, 0);
    assert!(results(folder.path()) == expected, "the results differ after {states:?}");
    let begun = Instant::now();
    while !orphans().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "left behind: {:?}", orphans());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn ctrl_c_stops_a_study_that_can_go_on() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // The build comes first, so that the time is that of the campaign.
    assert_exit(&run(&["mutants", "gbn"], folder.path()), 0);
    for attempt in 0.. {
        let child = command(&arguments("6"), folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command was built");
        std::thread::sleep(Duration::from_millis(400 + 100 * attempt));
        let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(interrupt.expect("kill is everywhere").success());
        let output = child.wait_with_output().expect("it ends");
        if output.status.code() == Some(130) && done(folder.path()).0 > 0 {
            assert!(stderr(&output).contains("run the same again to go on"), "{}", stderr(&output));
            break;
        }
        assert!(attempt < 20, "no interrupt met the campaign: {}", stderr(&output));
        _ = std::fs::remove_file(folder.path().join("journal.sqlite"));
    }
    assert!(!folder.path().join("suite.json").exists(), "nothing is written before the end");
    assert_exit(&run(&arguments("6"), folder.path()), 0);
    assert_eq!(done(folder.path()), (900, 900));
}
