//! Neither processes nor folders are left behind, even if the process that runs the harness is killed by SIGKILL.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use simutant_harness::{Implementation, RunOptions, run_suite};

use crate::support::{GENTLE, options, scripts, suite};

/// Tells the test's second process where to work.
const WORK_VARIABLE: &str = "SIMUTANT_TEST_LEFTOVERS";

const PATIENCE: Duration = Duration::from_secs(30);

/// Returns two sides that never end, the first with a child of its own; all name `{work}` on their command lines.
fn endless() -> Implementation {
    let forever = "while :; do sleep 1; done";
    scripts(
        &format!(r#"command = ["sh", "-c", "sh -c '{forever}' {{work}}/child & {forever}", "{{work}}"]"#),
        &format!(r#"command = ["sh", "-c", "{forever}", "{{work}}"]"#),
    )
}

/// Returns the command lines of the processes that mention `folder`.
fn processes_in(folder: &Path) -> Vec<String> {
    let needle = folder.as_os_str().as_bytes();
    let own = std::process::id().to_string();
    Path::new("/proc")
        .read_dir()
        .expect("/proc is there")
        .flatten()
        .filter(|entry| entry.file_name() != OsStr::new(&own))
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| line.windows(needle.len()).any(|window| window == needle))
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .collect()
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
        assert!(start.elapsed() < PATIENCE, "{now:#?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn entries(folder: &Path) -> usize {
    folder.read_dir().expect("the folder is there").count()
}

#[test]
fn nothing_is_left_of_programs_that_hang() {
    let work = tempfile::tempdir().expect("a temporary folder");
    let options = RunOptions { timeout: Duration::from_millis(300), work_directory: work.path().into(), ..options() };
    let report =
        run_suite(&suite(&[GENTLE; 3]), &endless(), &options, &mut |_| {}).expect("the scripts can be started");
    assert_eq!(report.failures().count(), 3);
    assert_eq!(entries(work.path()), 0);
    await_that(|| processes_in(work.path()), Vec::is_empty);
}

#[test]
fn nothing_is_left_when_the_harness_is_killed() {
    if let Some(work) = std::env::var_os(WORK_VARIABLE) {
        let options = RunOptions { timeout: Duration::from_secs(600), work_directory: work.into(), ..options() };
        let report = run_suite(&suite(&[GENTLE; 2]), &endless(), &options, &mut |_| {});
        panic!("this process should have been killed long before: {report:?}");
    }
    let work = tempfile::tempdir().expect("a temporary folder");
    let mut harness = Command::new(std::env::current_exe().expect("a test has an executable"))
        .args(["--exact", "leftovers::nothing_is_left_when_the_harness_is_killed"])
        .env(WORK_VARIABLE, work.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the test can be started again");
    // Two test cases of two sides and a child each, and the guardian.
    await_that(|| processes_in(work.path()), |processes| processes.len() == 7);
    assert_eq!(entries(work.path()), 1);
    harness.kill().expect("a child can be killed");
    harness.wait().expect("a child can be waited for");
    await_that(
        || (processes_in(work.path()), entries(work.path())),
        |(processes, entries)| processes.is_empty() && *entries == 0,
    );
}
