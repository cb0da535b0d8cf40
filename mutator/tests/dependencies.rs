//! Mutants of packages that the system's package depends on: local ones, one through another, and one from a git
//! repository; and of a part of the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use simutant_mutator::{Build, BuildRequest, MutatorError, Package, build, build_plain};
use tempfile::TempDir;

/// The folder of the probe crate.
const PROBE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/probe");

/// The package with the system: no file of its own is specification.
const SIMULATION: &str = r#"
[package]
name = "simulation"
version = "0.1.0"
edition = "2024"
[workspace]
[features]
default = ["slow"]
slow = []
fast = ["very-fast"]
very-fast = []
[dependencies]
simutant-worker = { path = "../worker" }
ballot = { path = "../ballot", features = ["wide"] }
middle = { path = "../middle" }
judge = { path = "../judge" }
quorum = { git = "GIT" }
[patch.crates-io]
unused = { path = "../middle", package = "middle" }
[package.metadata.simutant.systems.toy]
type = "Toy"
"#;

const SECTION: &str = r#"
features = ["fast"]
default-features = false
[package.metadata.simutant.systems.toy.dependencies]
ballot = ["src/*.rs"]
quorum = ["src/lib.rs"]
"#;

/// What `middle` makes is handed to `ballot`: they must mean the same package.
const SIMULATION_LIB: &str = r#"
#[cfg(feature = "slow")]
mod slow;
#[cfg(any(feature = "slow", not(feature = "very-fast")))]
compile_error!("the section names other features");
pub struct Toy;
impl simutant_worker::System for Toy {
    fn run(input: u32) -> String {
        let ballot: ballot::Ballot = middle::first(input);
        format!("{} {} {}", ballot.next().number, quorum::is_quorum(input, 3), judge::twice(input))
    }
}
"#;

const MIDDLE: &str = "[package]\nname = \"middle\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\
                      [dependencies]\nballot = { path = \"../ballot\" }\n";

const MIDDLE_LIB: &str = "pub fn first(input: u32) -> ballot::Ballot { ballot::Ballot { number: input + 1 } }\n";

/// A package with much that packages have.
const BALLOT: &str = r#"
[package]
name = "ballot"
version = "0.1.0"
edition = "2018"
description = "Numbers"
build = "build.rs"
[features]
default = []
wide = ["middle-test/x"]
narrow = []
[lints.rust]
unused_parens = "deny"
[dev-dependencies]
middle-test = { path = "../middle-test" }
"#;

const BALLOT_LIB: &str = r#"//! Numbers.
#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]
#[cfg(target_os = "nothing")]
compile_error!("never");
mod step;
/// A number.
pub struct Ballot {
    /// It.
    pub number: u32,
}
impl Ballot {
    /// The next one.
    pub fn next(&self) -> Self {
        assert!(env!("CARGO_PKG_DESCRIPTION") == "Numbers" && env!("SCRIPT") == "ran");
        Self { number: step::step(self.number) }
    }
}
"#;

const BALLOT_STEP: &str = r#"
pub(crate) fn step(number: u32) -> u32 {
    number + width()
}
#[cfg(feature = "wide")]
fn width() -> u32 {
    10 - 3
}
#[cfg(test)]
fn width() -> u32 {
    20 - 3
}
#[cfg(all(test, not(feature = "wide")))]
fn width() -> u32 {
    30 - 3
}
"#;

const QUORUM_LIB: &str = "pub fn is_quorum(votes: u32, all: u32) -> bool {\n    2 * votes > all\n}\n";

/// A part of the engine, which the worker depends on, too.
const JUDGE: &str = "[package]\nname = \"judge\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                     [package.metadata.simutant-engine]\nspecification = true\n";

const JUDGE_LIB: &str = "pub fn twice(number: u32) -> u32 {\n    number + number\n}\n";

/// A worker that prints which mutants change a result, and has none itself.
const WORKER: &str = r#"
pub type Run = fn(u32) -> String;
pub trait System { fn run(input: u32) -> String; }
pub fn system<S: System>() -> Run { S::run }
pub fn main(runs: &[Run], lines: &[(&str, &str, &[u32])]) -> std::process::ExitCode {
    let mutants: u32 = std::env::args().nth(1).unwrap().parse().unwrap();
    for (compiled, path, lines) in lines {
        println!("{compiled} holds {path} with {} lines", lines.len());
    }
    println!("{}", (0..4).map(runs[0]).collect::<Vec<_>>().join(", "));
    for mutant in 0..mutants {
        let killed = (0..4).any(|input| {
            simutant_probe::start_clean(1_000);
            let original = runs[0](input);
            simutant_probe::finish();
            simutant_probe::start_mutant(mutant, 1_000);
            assert_eq!(judge::twice(3), 6, "the worker has a mutant");
            let mutated = std::panic::catch_unwind(|| runs[0](input));
            simutant_probe::finish();
            mutated.ok() != Some(original)
        });
        println!("{mutant} {killed}");
    }
    std::process::ExitCode::SUCCESS
}
"#;

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a temporary folder");
    std::fs::write(path, text).expect("a temporary file");
}

/// Makes the folder of `text`'s packages a git repository of one commit.
fn commit(folder: &Path) {
    let run = |arguments: &[&str]| {
        let name = ["-c", "user.name=test", "-c", "user.email=test@example.org"];
        let mut command = Command::new("git");
        command.args(name).args(arguments).current_dir(folder);
        let output = command.output().expect("git is installed");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["init", "--quiet"]);
    run(&["add", "."]);
    run(&["commit", "--quiet", "--message", "all"]);
}

/// Writes all packages, the manifest of the simulation with `section` at its end.
fn packages(section: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path();
    let worker = "[package]\nname = \"simutant-worker\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n";
    let dependencies = format!("simutant-probe = {{ path = {PROBE:?} }}\njudge = {{ path = \"../judge\" }}\n");
    write(&root.join("worker/Cargo.toml"), &format!("{worker}{dependencies}"));
    write(&root.join("judge/Cargo.toml"), JUDGE);
    write(&root.join("judge/src/lib.rs"), JUDGE_LIB);
    write(&root.join("worker/src/lib.rs"), WORKER);
    write(&root.join("middle/Cargo.toml"), MIDDLE);
    write(&root.join("middle/src/lib.rs"), MIDDLE_LIB);
    write(&root.join("middle-test/Cargo.toml"), "[package]\nname = \"middle-test\"\n[features]\nx = []\n");
    write(&root.join("middle-test/src/lib.rs"), "");
    write(&root.join("ballot/Cargo.toml"), BALLOT);
    write(&root.join("ballot/build.rs"), "fn main() { println!(\"cargo::rustc-env=SCRIPT=ran\"); }\n");
    write(&root.join("ballot/src/lib.rs"), BALLOT_LIB);
    write(&root.join("ballot/src/step.rs"), BALLOT_STEP);
    write(&root.join("quorum/Cargo.toml"), "[package]\nname = \"quorum\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    write(&root.join("quorum/src/lib.rs"), QUORUM_LIB);
    commit(&root.join("quorum"));
    let git = format!("file://{}", root.join("quorum").display());
    let manifest = format!("{SIMULATION}{section}").replace("GIT", &git);
    write(&root.join("simulation/Cargo.toml"), &manifest);
    write(&root.join("simulation/src/lib.rs"), SIMULATION_LIB);
    write(&root.join("simulation/src/slow.rs"), "");
    folder
}

/// Builds the system with all mutants, and as it is written.
fn build_toy(root: &Path) -> Result<(Build, PathBuf), MutatorError> {
    let package = Package::find(&root.join("simulation/Cargo.toml"), "toy")?;
    let request = BuildRequest {
        package: &package,
        operators: package.operators(),
        directory: &root.join("build"),
        worker: ("simutant-worker", &root.join("worker")),
        probe: Path::new(PROBE),
    };
    Ok((build(&request, &mut |_| {})?, build_plain(&request, &mut |_| {})?))
}

/// Returns what a worker prints: the lines that begin as given, and the others.
fn run(worker: &Path, mutants: usize) -> (Vec<String>, Vec<String>) {
    let output = Command::new(worker).arg(mutants.to_string()).output().expect("the worker was built");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).expect("the worker prints text");
    output.lines().map(str::to_owned).partition(|line| line.contains(" holds "))
}

/// Returns all files of the packages, but for what cargo and git write.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut open: Vec<PathBuf> =
        ["worker", "middle", "ballot", "quorum", "simulation/src"].map(|name| root.join(name)).into();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("it can be listed") {
            let path = entry.expect("it can be listed").path();
            if path.is_dir() && !path.ends_with(".git") {
                open.push(path);
            } else if path.is_file() {
                files.insert(path.clone(), std::fs::read(&path).expect("it can be read"));
            }
        }
    }
    files
}

#[test]
fn dependencies_are_mutated_where_everyone_uses_them() {
    let folder = packages(SECTION);
    let root = folder.path();
    let before = files(root);
    let (built, plain) = build_toy(root).expect("it compiles");
    assert!(files(root) == before, "a file of a user was changed");

    let paths: Vec<&str> = built.sites.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["ballot/src/lib.rs", "ballot/src/step.rs", "quorum/src/lib.rs"]);
    let functions: Vec<&str> = built.sites.functions.iter().map(|function| function.path.as_str()).collect();
    // The test's `width` is not there. A build script could turn features on, as far as anyone knows.
    assert_eq!(functions, ["ballot::Ballot::next", "ballot::step::step", "ballot::step::width", "quorum::is_quorum"]);

    let mutants = built.sites.mutants.len();
    let (files, output) = run(&built.worker, mutants);
    let killed: BTreeSet<&str> = output[1..]
        .iter()
        .filter_map(|line| line.strip_suffix(" true"))
        .map(|mutant| {
            let mutant = &built.sites.mutants[mutant.parse::<usize>().expect("a number")];
            built.sites.files[mutant.span.file].path.as_str()
        })
        .collect();
    assert_eq!(killed.into_iter().collect::<Vec<_>>(), ["ballot/src/step.rs", "quorum/src/lib.rs"]);

    let (plain_files, plain_output) = run(&plain, 0);
    assert_eq!(plain_output, output[..1], "as it is written");
    for (index, path) in paths.iter().enumerate() {
        assert!(files[index].contains(&format!("{path} holds {path} with ")), "{}", files[index]);
        // The user's own file, or cargo's, with its own lines.
        let (compiled, lines) = plain_files[index].split_once(&format!(" holds {path} with ")).expect("as the reports");
        let source = std::fs::read_to_string(compiled).expect("it is the path of a file");
        assert_eq!(lines, format!("{} lines", source.lines().count()));
    }
}

#[test]
fn a_part_of_the_engine_has_mutants_for_the_system_alone() {
    let (start, _) = SECTION.split_once("ballot = ").expect("the section names files of it");
    let folder = packages(&format!("{start}judge = [\"src/lib.rs\"]\n"));
    let (built, plain) = build_toy(folder.path()).expect("it compiles");
    assert_eq!(built.sites.files[0].path, "judge/src/lib.rs");
    let mutants = built.sites.mutants.len();
    // The worker's own copy is as it was written, or the worker panics.
    let (_, output) = run(&built.worker, mutants);
    assert!(mutants > 0 && output[1..].iter().all(|line| line.ends_with(" true")), "{output:?}");
    assert_eq!(run(&plain, 0).1, output[..1], "as it is written");
}

#[track_caller]
fn check_refused(section: &str, expect: &str) {
    let folder = packages(section);
    let error = Package::find(&folder.path().join("simulation/Cargo.toml"), "toy").expect_err("it is refused");
    assert!(error.to_string().contains(expect), "`{expect}` is not in: {error}");
}

#[test]
fn what_cannot_be_specification_is_refused_with_the_reason() {
    let dependencies = "[package.metadata.simutant.systems.toy.dependencies]\n";
    check_refused("", "systems.toy]: specification: names no files, and `dependencies` names no others");
    check_refused(
        &format!("{dependencies}nothing = [\"src/lib.rs\"]\n"),
        "dependencies: `nothing` is no package that this one depends on",
    );
    // Only the tests of another package need it.
    check_refused(
        &format!("{dependencies}middle-test = [\"src/lib.rs\"]\n"),
        "dependencies: `middle-test` is no package that this one depends on",
    );
    check_refused(&format!("{dependencies}ballot = []\n"), "dependencies.ballot: names no files");
    check_refused(
        &format!("{dependencies}ballot = [\"src/deep/*.rs\"]\n"),
        "dependencies.ballot: `src/deep/*.rs` matches no file of ",
    );
    check_refused(
        "features = [\"quick\"]\n",
        "features: the package has no feature `quick`; it has default, fast, slow, very-fast",
    );
    // A file of a module that is not compiled; by default it is.
    let slow = "specification = [\"src/slow*.rs\"]\n";
    check_refused(&format!("{slow}default-features = false\n"), "specification: `src/slow*.rs` matches no file of ");
    let folder = packages(slow);
    Package::find(&folder.path().join("simulation/Cargo.toml"), "toy").expect("the module is compiled");
    check_refused(
        "specification = [\"../ballot/src/lib.rs\"]\n",
        "specification: `../ballot/src/lib.rs` is not below ",
    );
    check_refused(
        &format!("{dependencies}simutant-probe = [\"src/lib.rs\"]\n"),
        "dependencies.simutant-probe: the engine runs the simulation",
    );
}
