//! The project's own commands: `cargo xtask check`, `cargo xtask test`, `cargo xtask slow`, `cargo xtask transcripts`, and
//! `cargo xtask ci` for all four; `cargo xtask docs`, `cargo xtask figures`, `cargo xtask transfer`, `cargo xtask examples`,
//! `cargo xtask foreign`, `cargo xtask bench`.

#![expect(clippy::print_stderr, reason = "these commands tell what they do")]

mod bench;
mod circles;
mod docs;
mod examples;
mod foreign;
mod licences;
mod needs;
mod reproducible;
mod timed;
mod transcripts;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Parser, Subcommand};

/// What `ci` ends with, and after how many minutes it no longer begins with each, since it has to end within 90. Each needs
/// less than the rest on a machine that is as slow as that.
const LAST: [(&str, u64, Part); 2] = [("examples", 77, examples::test), ("transcripts", 70, transcripts::check)];

/// A part of what the commands do, in the project's folder.
type Part = fn(&Path) -> anyhow::Result<()>;

/// What the commands took that have run.
static TAKEN: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// How many of them are told at the end: the longest.
const TOLD: usize = 12;

#[derive(Debug, Parser)]
#[command(about = "The project's own commands")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Format, lints, circles of modules, documentation, licences and known vulnerabilities of dependencies.
    Check,
    /// Write the generated pages of the book, check the links of all documents, and build the book into target/book.
    Docs,
    /// Study the systems of whose studies pages of the book have figures, and write these; `docs` puts them into the pages.
    Figures,
    /// Take from the `experiment.json` of each of several experiments what page `transfer.md` has of them; `docs` puts it there.
    Transfer {
        /// The `experiment.json` of each, in the order of the columns.
        #[arg(required = true, value_name = "FILE")]
        experiments: Vec<PathBuf>,
    },
    /// Install what the tests need and is missing, then run them.
    Test,
    /// Run what takes long and seldom breaks: tests of the benchmarks and of research, crates that others wrote on
    /// instrumented copies, and the examples.
    Slow,
    /// Instrument crates that others wrote, and run their own tests on the copies; a part of `slow`.
    Foreign,
    /// Test the examples, and study them as their users would; a part of `slow`.
    Examples,
    /// Run the console blocks of the README and the guide, and compare what they print with what the pages show.
    Transcripts,
    /// Compare what debug and release builds write of one study: no part of `test`, since a release build takes minutes.
    Reproducible,
    /// All that a change must pass: check, test, slow and transcripts; on a slow machine without the examples or transcripts.
    Ci,
    /// Measure.
    Bench {
        #[command(subcommand)]
        subject: bench::Subject,
    },
}

fn main() -> ExitCode {
    let outcome = run_task(Arguments::parse().task);
    tell_time();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Tells where the time went, if there was more than one command.
fn tell_time() {
    timed::tell();
    let mut taken = std::mem::take(&mut *TAKEN.lock().expect("nobody panics with it"));
    if taken.len() < 2 {
        return;
    }
    let all: Duration = taken.iter().map(|(taken, _)| *taken).sum();
    taken.sort_by_key(|(taken, _)| std::cmp::Reverse(*taken));
    eprintln!("xtask: {} commands took {:.0} s; the longest:", taken.len(), all.as_secs_f64());
    for (taken, command) in taken.iter().take(TOLD) {
        eprintln!("xtask: {:6.0} s  {command}", taken.as_secs_f64());
    }
}

fn run_task(task: Task) -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask is a folder of the workspace")?;
    // Paths that are given are from where the command runs.
    let from = std::env::current_dir()?;
    std::env::set_current_dir(root)?;
    match task {
        Task::Check => check(root),
        Task::Docs => docs::write(root),
        Task::Figures => docs::figures::write(root),
        Task::Transfer { experiments } => {
            let experiments: Vec<PathBuf> = experiments.iter().map(|path| from.join(path)).collect();
            docs::transfer::write(root, &experiments)
        }
        Task::Test => test(root),
        Task::Slow => {
            slow(root)?;
            examples::test(root)
        }
        Task::Examples => examples::test(root),
        Task::Foreign => foreign::test(root),
        Task::Transcripts => transcripts::check(root),
        Task::Reproducible => reproducible::check(root),
        Task::Ci => {
            let begun = Instant::now();
            check(root)?;
            test(root)?;
            slow(root)?;
            for (name, minutes, run) in LAST {
                if begun.elapsed() < Duration::from_secs(60 * minutes) {
                    run(root)?;
                } else {
                    eprintln!("xtask: this machine is slow: no time is left for what `cargo xtask {name}` runs");
                }
            }
            Ok(())
        }
        Task::Bench { subject } => bench::run(root, subject),
    }
}

/// Installs what the tests need, and runs them.
fn test(root: &Path) -> anyhow::Result<()> {
    needs::install(root)?;
    timed::run(Command::new("cargo").args(["test", "--workspace", "--no-fail-fast"]))?;
    // What needs more than Rust is left out of the tests above, unless it is asked for.
    cargo(["test", "--workspace", "--test", "browser", "--", "--ignored"], &[])?;
    // What the probes do in programs that no worker runs.
    cargo(["test", "--package", "simutant-probe", "--features", "program"], &[])
}

/// Tests what takes long and seldom breaks, but for the examples.
fn slow(root: &Path) -> anyhow::Result<()> {
    needs::install(root)?;
    cargo(["test", "--workspace", "--lib", "--test", "servers", "--", "--ignored"], &[])?;
    in_bench(root, &["test"], &[])?;
    in_research(root, &["test", "--workspace", "--locked"])?;
    foreign::test(root)
}

fn check(root: &Path) -> anyhow::Result<()> {
    cargo(["fmt", "--all", "--check"], &[])?;
    cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])?;
    in_bench(root, &["fmt"], &["--check"])?;
    in_bench(root, &["clippy", "--all-targets"], &["-D", "warnings"])?;
    in_research(root, &["fmt", "--all", "--check"])?;
    in_research(root, &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"])?;
    foreign::check(root)?;
    examples::check(root)?;
    cargo(["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])?;
    docs::check(root)?;
    circles::check()?;
    licences::check()?;
    audit()
}

/// Looks the dependencies up among known vulnerabilities, where `cargo audit` is installed and its database can be had.
fn audit() -> anyhow::Result<()> {
    let output = Command::new("cargo").args(["audit", "--deny", "warnings"]).output()?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    if complaints.contains("no such command") {
        eprintln!("xtask: cargo audit is not installed, so known vulnerabilities were not looked up");
        eprintln!("xtask: `cargo install --locked cargo-audit` installs it");
    } else if complaints.contains("couldn't fetch advisory database") {
        eprintln!("xtask: the advisory database cannot be reached, so known vulnerabilities were not looked up");
    } else if !output.status.success() {
        bail!("cargo audit: {}{complaints}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(())
}

/// Builds the command, unless it is built, and returns where it is: with the features that dependencies have in the tests of
/// the workspace, since each other set of features compiles all of them again.
fn simutant(root: &Path) -> anyhow::Result<PathBuf> {
    cargo(["test", "--quiet", "--workspace", "--test", "command", "--no-run"], &[])?;
    Ok(target(root).join("debug").join("simutant"))
}

/// Runs cargo, and fails if it does.
fn cargo<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>, variables: &[(&str, &str)]) -> anyhow::Result<()> {
    let mut command = Command::new("cargo");
    command.args(arguments).envs(variables.iter().copied());
    run(&mut command)
}

/// Runs cargo in the workspaces of the benchmarks, which the other does not include, with what that needs between the
/// command and the arguments after `--`.
fn in_bench(root: &Path, command: &[&str], arguments: &[&str]) -> anyhow::Result<()> {
    let target = bench::target_directory(root);
    for folder in ["bench", "bench/mutation-sample", "bench/mutation-driver", "bench/histories", "bench/machines"] {
        let mut cargo = Command::new("cargo");
        cargo.args(command).args(["--manifest-path", &format!("{folder}/Cargo.toml"), "--"]).args(arguments);
        run(cargo.env("CARGO_TARGET_DIR", &target))?;
    }
    Ok(())
}

/// Runs cargo in the workspace of what no product crate needs. What that depends on is compiled with the rest.
fn in_research(root: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let mut cargo = Command::new("cargo");
    run(cargo.args(arguments).current_dir(root.join("research")).env("CARGO_TARGET_DIR", target(root)))
}

/// Returns where cargo builds the workspace.
fn target(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Runs a command, and fails if it does. What it takes is told at once, and [`tell_time`] tells it once more.
fn run(command: &mut Command) -> anyhow::Result<()> {
    run_with(command, Command::status)
}

/// Runs a command as it is said, and fails if it does.
fn run_with(
    command: &mut Command,
    to_end: impl FnOnce(&mut Command) -> std::io::Result<ExitStatus>,
) -> anyhow::Result<()> {
    eprintln!("xtask: {command:?}");
    let begun = Instant::now();
    let status = to_end(command).with_context(|| format!("cannot start {command:?}"))?;
    let taken = begun.elapsed();
    eprintln!("xtask: after {:.0} s: {command:?}", taken.as_secs_f64());
    TAKEN.lock().expect("nobody panics with it").push((taken, format!("{command:?}")));
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns the packages that cargo builds for `selection`, each with its features.
    fn packages(selection: &[&str]) -> BTreeSet<String> {
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
        let mut cargo = Command::new("cargo");
        cargo.args(["tree", "--locked", "--manifest-path", manifest, "--prefix", "none", "--format", "{p} with {f}"]);
        let output = cargo.args(selection).output().expect("cargo runs the tests");
        let printed = String::from_utf8(output.stdout).expect("it is text");
        let packages: BTreeSet<String> = printed.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect();
        assert!(!packages.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        packages
    }

    #[test]
    fn the_dependencies_of_these_commands_are_compiled_once_for_them_and_for_the_tests() {
        let own = packages(&["--package", "xtask", "--edges", "normal,build"]);
        let in_tests = packages(&["--workspace", "--edges", "normal,build,dev"]);
        let twice: Vec<&String> = own.difference(&in_tests).collect();
        assert!(twice.is_empty(), "give xtask/Cargo.toml the features that these have in the tests: {twice:#?}");
    }
}
