//! Runs the command, and gives each test that needs one a finished study of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The files that a study writes for people and programs: the same bytes for the same seed.
pub(crate) const RESULTS: [&str; 4] = ["suite.json", "results.json", "tables.txt", "report.html"];

/// The study of [`finished_study`]: 24 test cases with seed 7.
pub(crate) const STUDY: [&str; 6] = ["study", "gbn", "--cases", "24", "--seed", "7"];

/// A finished study in a folder that no other test uses at the same time.
pub(crate) struct Study {
    pub(crate) out: PathBuf,
    /// What the command printed when it made the study.
    pub(crate) stdout: String,
    /// Frees the folder when it is dropped.
    _lock: File,
}

impl Study {
    /// Returns the path of a file of the study as text, for a command line.
    pub(crate) fn path(&self, file: &str) -> String {
        text(&self.out.join(file))
    }
}

/// Returns a finished study, as if it had just been made. It is made once by each process, and copied.
///
/// Folders are used again, with what was compiled in them, since cargo would compile the same source anew in another folder.
pub(crate) fn finished_study() -> Study {
    // The folders that this process has emptied of what others left, and the study.
    static PREPARED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    static MADE: OnceLock<Made> = OnceLock::new();
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command");
    std::fs::create_dir_all(&shared).expect("the folder of the build can be written");
    let (out, lock) = free(&shared, "out");
    if PREPARED.lock().expect("nothing panics in there").insert(out.clone()) {
        empty(&out);
    }
    let made = MADE.get_or_init(|| Made::new(&out, &shared));
    made.restore(&out);
    Study { out, stdout: made.stdout.clone(), _lock: lock }
}

/// Returns a folder that nobody else has, in this process or in others, until the lock is dropped.
fn free(shared: &Path, name: &str) -> (PathBuf, File) {
    let lock = |number: usize| {
        let folder = shared.join(format!("{name}-{number}"));
        let lock = File::create(folder.with_extension("lock")).expect("the folder of the build can be written");
        lock.try_lock().is_ok().then_some((folder, lock))
    };
    (0..).find_map(lock).expect("there are more numbers than processes")
}

/// Makes an empty folder of what may be there.
fn empty(folder: &Path) {
    if folder.exists() {
        std::fs::remove_dir_all(folder).expect("it is ours");
    }
    std::fs::create_dir(folder).expect("the folder of the build can be written");
}

/// The study that others are copies of.
struct Made {
    folder: PathBuf,
    stdout: String,
    /// Held as long as the process lives.
    _lock: File,
}

impl Made {
    /// Makes the study in the folder `out`, and keeps a copy.
    fn new(out: &Path, shared: &Path) -> Self {
        let output = run(&[&STUDY[..], &["--jobs", "2"]].concat(), out);
        assert_exit(&output, 0);
        let (folder, lock) = free(shared, "made");
        empty(&folder);
        copy(out, &folder);
        Self { folder, stdout: stdout(&output), _lock: lock }
    }

    /// Puts the study into the folder `out` in the place of what is there, but for what was compiled there.
    fn restore(&self, out: &Path) {
        for entry in std::fs::read_dir(out).expect("it is there") {
            let path = entry.expect("it can be listed").path();
            if path.is_file() {
                std::fs::remove_file(path).expect("it is ours");
            } else if !path.ends_with(BUILD) {
                std::fs::remove_dir_all(path).expect("it is ours");
            }
        }
        for entry in std::fs::read_dir(&self.folder).expect("it was made") {
            let from = entry.expect("it can be listed").path();
            let to = out.join(from.file_name().expect("it was listed"));
            if !to.exists() {
                copy(&from, &to);
            }
        }
    }
}

/// The folder in a study's that has what is compiled.
const BUILD: &str = "build";

/// Copies a file, or what is in a folder.
fn copy(from: &Path, to: &Path) {
    let from = if from.is_dir() { from.join(".") } else { from.to_owned() };
    // With the times of all files, so that nothing is compiled again.
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.expect("cp is everywhere").success());
}

/// Returns a new folder, which is removed when the test ends.
pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Writes a file and returns its path as text, for a command line.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> String {
    std::fs::write(path, content).expect("a temporary folder can be written");
    text(path)
}

/// Returns the command with `arguments` and `--out`.
pub(crate) fn command(arguments: &[&str], out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simutant"));
    command.args(arguments).arg("--out").arg(out);
    command
}

/// Runs the command to its end.
pub(crate) fn run(arguments: &[&str], out: &Path) -> Output {
    command(arguments, out).output().expect("the command was built")
}

/// Starts the command; what it prints on standard error can be read from it.
pub(crate) fn start(arguments: &[&str], out: &Path) -> Child {
    command(arguments, out).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the command was built")
}

/// Waits until something has happened, and panics if that takes much longer than a busy machine needs.
#[track_caller]
pub(crate) fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !happened() {
        assert!(begun.elapsed() < Duration::from_secs(120), "waited for two minutes: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the command prints text")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the command prints text")
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("the paths of tests are text").to_owned()
}

#[track_caller]
pub(crate) fn assert_exit(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}{}", stdout(output), stderr(output));
}

/// Returns the bytes of all results of a study.
pub(crate) fn results(out: &Path) -> Vec<Vec<u8>> {
    RESULTS.map(|file| std::fs::read(out.join(file)).expect("the study wrote it")).into()
}

/// Returns the files of a study with their bytes; empty if the folder is not there. What is built is not looked at, nor
/// is the lock, which is an empty file.
pub(crate) fn snapshot(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(out) else { return BTreeMap::new() };
    let files = entries.map(|entry| entry.expect("it can be listed").path()).filter(|path| path.is_file());
    files
        .map(|path| (text(&path), std::fs::read(&path).expect("it is there")))
        .filter(|(path, _)| !path.ends_with("campaign.lock"))
        .collect()
}
