//! Runs the command, and keeps one finished study that several tests look at.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use tempfile::TempDir;

/// The files that a study writes for people and programs: the same bytes for the same seed.
pub(crate) const RESULTS: [&str; 4] = ["suite.json", "results.json", "tables.txt", "report.html"];

/// A finished study of 24 test cases with seed 7.
pub(crate) static STUDY: LazyLock<Study> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out");
    let output = run(&["study", "gbn", "--cases", "24", "--seed", "7", "--jobs", "2"], &out);
    assert_exit(&output, 0);
    Study { _folder: folder, out, stdout: stdout(&output) }
});

pub(crate) struct Study {
    _folder: TempDir,
    pub(crate) out: PathBuf,
    pub(crate) stdout: String,
}

/// Returns the command with `arguments` and `--out`.
pub(crate) fn command(arguments: &[&str], out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_simutant"));
    command.args(arguments).arg("--out").arg(out);
    command
}

pub(crate) fn run(arguments: &[&str], out: &Path) -> Output {
    command(arguments, out).output().expect("the command was built")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("the command prints text")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("the command prints text")
}

#[track_caller]
pub(crate) fn assert_exit(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}{}", stdout(output), stderr(output));
}

/// Returns the bytes of all results of a study.
pub(crate) fn results(out: &Path) -> Vec<Vec<u8>> {
    RESULTS.map(|file| std::fs::read(out.join(file)).expect("the study wrote it")).into()
}

/// Returns the names of the files in a folder, with their sizes.
pub(crate) fn listing(folder: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it can be listed"));
    let files = entries.filter(|entry| entry.path().is_file());
    let mut listing: Vec<(String, u64)> = files
        .map(|entry| (entry.file_name().into_string().expect("text"), entry.metadata().expect("it is there").len()))
        .collect();
    listing.sort();
    listing
}
