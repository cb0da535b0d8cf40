//! Studies that are killed or interrupted, and go on.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::LazyLock;

use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal, kill_process_group};
use simutant_mutator::Package;

use crate::processes::{runs, send, started_by};
use crate::support::{
    STUDY, assert_exit, command, finished_study, folder, results, run, start, stderr, text, wait_until, write,
};

/// A study that is long enough to be disturbed at many points: a second on the original, some seconds on the mutants.
pub(crate) const LONG_STUDY: [&str; 13] =
    ["study", "gbn", "--cases", "300", "--reseed", "3", "--seed", "5", "--jobs", "2", "--pages", "2", "--fresh"];

/// With their re-seedings.
const CASES: u32 = 900;

/// What [`LONG_STUDY`] gives.
pub(crate) static UNDISTURBED: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let study = finished_study();
    assert_exit(&run(&LONG_STUDY, &study.out), 0);
    results(&study.out)
});

/// The same, going on with what is there.
fn going_on() -> &'static [&'static str] {
    LONG_STUDY.strip_suffix(&["--fresh"]).expect("it is the last argument")
}

/// Returns how many test cases the journal has recorded on the original, and run on the mutants.
fn done(out: &Path) -> (u32, u32) {
    let path = out.join("journal.sqlite");
    let journal = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).expect("a journal");
    let count = |table: &str| {
        journal.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap_or_default()
    };
    (count("recordings"), count("units"))
}

/// Waits until a running study has recorded test cases or run them on the mutants so many times in all.
#[track_caller]
pub(crate) fn wait_for_rows(study: &mut Child, out: &Path, rows: u32) {
    // Before there is something in this file, the study makes the journal, and must not be disturbed by a reader.
    let log = out.join("journal.sqlite-wal");
    wait_until("rows in the journal", || {
        let status = study.try_wait().expect("it was started here");
        assert_eq!(status, None, "the study ended before it had {rows} rows");
        let begun = log.metadata().is_ok_and(|metadata| metadata.len() > 0);
        let (recordings, units) = if begun { done(out) } else { (0, 0) };
        recordings + units >= rows
    });
}

#[test]
fn a_study_that_is_killed_ten_times_ends_as_if_it_had_not_been() {
    let study = finished_study();
    std::fs::remove_file(study.out.join("journal.sqlite")).expect("the study wrote it");
    let baseline = [1, CASES / 3, CASES / 3 * 2];
    let mutants = [1, 120, 240, 360, 480, 600, 720].map(|units| CASES + units);
    let (mut states, mut workers_seen) = (Vec::new(), 0);
    for rows in baseline.into_iter().chain(mutants) {
        let mut killed = start(going_on(), &study.out);
        wait_for_rows(&mut killed, &study.out, rows);
        // Stopped first, so that these are all the workers that there are when it dies.
        send(&killed, Signal::STOP);
        let workers = started_by(&killed, "simutant-worker-gbn");
        workers_seen += workers.len();
        killed.kill().expect("it is ours");
        killed.wait().expect("it was killed");
        wait_until("the end of the workers", || !workers.iter().any(|&worker| runs(worker)));
        states.push(done(&study.out));
    }
    assert!(states.windows(2).all(|pair| pair[0] <= pair[1]), "something was lost: {states:?}");
    assert!(states.iter().any(|&(recordings, _)| recordings < CASES), "no kill met the original: {states:?}");
    assert!(states.iter().any(|&(_, units)| (1..CASES).contains(&units)), "no kill met the mutants: {states:?}");
    assert!(workers_seen > 0, "there was nothing that could be left behind");

    assert_exit(&run(going_on(), &study.out), 0);
    assert!(results(&study.out) == *UNDISTURBED, "the results differ after {states:?}");
    let left: Vec<_> = std::fs::read_dir(&study.out).expect("it is there").flatten().collect();
    assert!(!left.iter().any(|entry| entry.file_name().to_string_lossy().contains("answers")), "{left:?}");
}

#[test]
fn ctrl_c_stops_a_study_that_can_go_on() {
    let study = finished_study();
    let suite = study.out.join("suite.json");
    std::fs::remove_file(&suite).expect("the study wrote it");
    let mut interrupted = start(&LONG_STUDY, &study.out);
    wait_for_rows(&mut interrupted, &study.out, CASES + 20);
    send(&interrupted, Signal::INT);
    let output = interrupted.wait_with_output().expect("it ends");
    assert_exit(&output, 130);
    let message = format!("stopped; what is done is kept in {}: the same command resumes it", text(&study.out));
    assert!(stderr(&output).contains(&message), "{}", stderr(&output));
    let (recordings, units) = done(&study.out);
    assert!(recordings == CASES && (20..CASES).contains(&units), "{recordings} and {units}");
    assert!(!suite.exists(), "nothing is written before the end");

    assert_exit(&run(going_on(), &study.out), 0);
    assert!(results(&study.out) == *UNDISTURBED, "the results differ");
}

#[test]
fn ctrl_c_stops_the_study_of_an_experiment_that_can_go_on() {
    let folder = folder();
    let arguments = ["experiment", "gbn", "--cases", "300", "--seed", "5", "--jobs", "2", "--implementation", "udp"];
    let mut interrupted = start(&arguments, folder.path());
    wait_for_rows(&mut interrupted, folder.path(), 20);
    send(&interrupted, Signal::INT);
    let output = interrupted.wait_with_output().expect("it ends");
    assert_exit(&output, 130);
    assert!(stderr(&output).contains("the same command resumes it"), "{}", stderr(&output));
    assert!(!folder.path().join("trials.jsonl").exists(), "nothing is tried without a study");
    let (recordings, _) = done(folder.path());
    assert!(recordings >= 20, "what was done is there: {recordings}");
}

#[test]
fn ctrl_c_after_the_study_ends_an_experiment_at_once() {
    let study = folder();
    let sleeping = "name = \"sleeping\"\nsystem = \"gbn\"\ndescription = \"\"\n[[side]]\nname = \"receiver\"\n\
                    command = [\"true\"]\n[[side]]\nname = \"sender\"\ncommand = [\"sleep\", \"1000\"]\n";
    let implementation = write(&study.path().join("sleeping.toml"), sleeping);
    let arguments = ["experiment", "gbn", "--cases", "3", "--timeout", "900", "--implementation", &implementation];
    let experiment = start(&arguments, study.path());
    wait_until("a program that sleeps", || !started_by(&experiment, "sleep").is_empty());
    send(&experiment, Signal::INT);
    let begun = std::time::Instant::now();
    let output = experiment.wait_with_output().expect("it ends");
    assert_exit(&output, 130);
    assert!(begun.elapsed().as_secs() < 60, "it waited for {:?}", begun.elapsed());
}

/// Starts [`STUDY`] in a process group of its own, and returns when the compiler is at work.
fn start_compiling(out: &Path) -> Child {
    forget_the_copy();
    let study = command(&STUDY, out)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .expect("the command was built");
    // It asks cargo for other things first.
    let builds = |&process: &u32| {
        let command = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        command.split(|&byte| byte == 0).any(|argument| argument == b"build")
    };
    wait_until("cargo build", || started_by(&study, "cargo").iter().any(builds));
    study
}

/// Removes the copy with mutants of go-back-n that all studies share: what is written anew is compiled anew.
fn forget_the_copy() {
    let package = Package::find(Path::new("../Cargo.toml"), "gbn").expect("it comes with Simutant");
    let directory = package.build_directory();
    // Nobody builds there meanwhile.
    let Ok(lock) = File::open(directory.join("build.lock")) else { return };
    lock.lock().expect("files can be locked");
    for entry in std::fs::read_dir(directory).expect("the lock is there").flatten() {
        if entry.file_name().to_string_lossy().starts_with("package-") {
            std::fs::remove_dir_all(entry.path()).expect("the folder of the build can be written");
        }
    }
}

#[test]
fn a_study_that_is_killed_while_it_compiles_ends_as_if_it_had_not_been() {
    let folder = folder();
    let mut killed = start_compiling(folder.path());
    killed.kill().expect("it is ours");
    killed.wait().expect("it was killed");
    assert_exit(&run(&STUDY, folder.path()), 0);
    assert!(results(folder.path()) == results(&finished_study().out), "the results differ");
}

#[test]
fn ctrl_c_while_the_simulation_is_compiled_is_an_interruption_and_no_error() {
    let folder = folder();
    let interrupted = start_compiling(folder.path());
    // As a terminal does: to the compiler, too.
    kill_process_group(Pid::from_child(&interrupted), Signal::INT).expect("it is ours");
    let output = interrupted.wait_with_output().expect("it ends");
    assert_exit(&output, 130);
    assert!(stderr(&output).contains("the same command resumes it"), "{}", stderr(&output));
    assert_exit(&run(&STUDY, folder.path()), 0);
    assert!(results(folder.path()) == results(&finished_study().out), "the results differ");
}
