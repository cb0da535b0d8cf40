//! Runs the command, and gives each test that needs one a finished study of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The files that a study writes for people and programs: the same bytes for the same seed.
pub(crate) const RESULTS: [&str; 4] = ["suite.json", "results.json", "tables.txt", "report.html"];

/// The study of [`finished_study`]: 24 test cases with seed 7, and of all that takes time without telling more only a few.
pub(crate) const STUDY: [&str; 10] = ["study", "gbn", "--cases", "24", "--seed", "7", "--pages", "2", "--suites", "20"];

/// A finished study in a folder of its own.
pub(crate) struct Study {
    pub(crate) out: PathBuf,
    /// What the command printed when it made the study.
    pub(crate) stdout: String,
    /// Removes the folder when it is dropped.
    _folder: TempDir,
}

impl Study {
    /// Returns the path of a file of the study as text, for a command line.
    pub(crate) fn path(&self, file: &str) -> String {
        text(&self.out.join(file))
    }
}

/// Returns a finished study, as if it had just been made. It is made once by each process, and copied.
pub(crate) fn finished_study() -> Study {
    // Not the folder: nothing static is dropped, so it would stay.
    static MADE: LazyLock<(BTreeMap<PathBuf, Vec<u8>>, String)> = LazyLock::new(|| {
        let folder = folder();
        let out = folder.path().join("out");
        let output = run(&[&STUDY[..], &["--jobs", "2"]].concat(), &out);
        assert_exit(&output, 0);
        (files(&out), stdout(&output))
    });
    let (made, stdout) = &*MADE;
    let folder = folder();
    let out = folder.path().join("out");
    for (path, content) in made {
        let path = out.join(path);
        std::fs::create_dir_all(path.parent().expect("it is in the folder")).expect("a temporary folder");
        write(&path, content);
    }
    Study { out, stdout: stdout.clone(), _folder: folder }
}

/// Returns the files in a folder and in those below, by their paths in it.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let in_folder = |path: PathBuf| {
        let name = PathBuf::from(path.file_name().expect("it is an entry"));
        if path.is_dir() {
            files(&path).into_iter().map(|(below, content)| (name.join(below), content)).collect()
        } else {
            vec![(name, std::fs::read(&path).expect("a file"))]
        }
    };
    paths.flat_map(in_folder).collect()
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

/// Returns the files of a study with their bytes; empty if the folder is not there. The lock is left out, which is an
/// empty file.
pub(crate) fn snapshot(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(out) else { return BTreeMap::new() };
    let files = entries.map(|entry| entry.expect("it can be listed").path()).filter(|path| path.is_file());
    files
        .map(|path| (text(&path), std::fs::read(&path).expect("it is there")))
        .filter(|(path, _)| !path.ends_with("campaign.lock"))
        .collect()
}
