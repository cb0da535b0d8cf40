//! Crates that others wrote, instrumented with all operators: their own tests give what they give without.
//!
//! The mutator copies the crates, once with all bodies and once as they are, and cargo runs their unit tests on both
//! copies; on the instrumented one four times: in clean bodies, in recording ones, in covering ones, and in those that
//! choose between the original and its mutants, with no mutant active. Protocols that are larger are compiled once, with
//! the mutants of one operator. The crates and their versions stand in `xtask/foreign/`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use simutant_mutator::{Build, BuildRequest, Package, Probes, Selection, build_with};

use crate::run;

/// The workspace with the crates.
const FOLDER: &str = "xtask/foreign";

/// What the unit tests of a crate need beside the crate.
const DEVELOPMENT: [(&str, &str); 1] = [("multishot", "pollster = \"=0.3.0\"")];

/// How many unit tests the crates have at least, that pass.
const UNIT_TESTS: usize = 300;

/// The operator whose mutants the larger crates are compiled with, and how many of these each has at least.
const OF_PROTOCOLS: (&str, [(&str, usize); 3]) = ("ROR", [("foca", 60), ("raft", 300), ("smoltcp", 200)]);

/// How each unit test ended, by crate and name.
type Results = BTreeMap<(String, String), String>;

/// Checks format and lints of what stands for a system.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    for arguments in [&["fmt", "--check"][..], &["clippy", "--workspace", "--locked", "--", "-D", "warnings"]] {
        let mut cargo = Command::new("cargo");
        run(cargo.args(arguments).current_dir(root.join(FOLDER)).env("CARGO_TARGET_DIR", crate::target(root)))?;
    }
    Ok(())
}

/// Runs the unit tests of all crates on the copies, and compares.
pub(crate) fn test(root: &Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let manifest = root.join(FOLDER).join("Cargo.toml");
    let package = Package::find(&manifest, "foreign")?;
    let folder = crate::target(root).join("foreign");
    // With HOM among them, generated code has the numbers of reports: these tests have no main program that could say
    // others.
    let operators = Selection::parse("all").expect("a set").with_all_replacements();
    let build = |probes, name: &str| build(root, &package, &operators, probes, folder.join(name));
    eprintln!("xtask: instrumenting crates that others wrote");
    let (_, plain) = build(Probes::None, "plain")?;
    let (instrumented, copies) = build(Probes::All, "instrumented")?;
    let sites = &instrumented.sites;
    let recording = |mutants: usize| {
        let sizes = [sites.blocks.len(), sites.branches.len(), sites.pairs.len(), sites.conditions.len(), mutants];
        format!("recording {}", sizes.map(|size| size.to_string()).join(" "))
    };
    let (covering, recording) = (recording(0), recording(sites.mutants.len()));
    let expected = tests(&plain, "clean")?;
    let passed = expected.values().filter(|how| *how == "ok").count();
    ensure!(passed >= UNIT_TESTS, "only {passed} unit tests pass on the plain copies");
    let mut differences = Vec::new();
    let modes = ["clean", "mutated", &recording, &covering];
    for (bodies, mode) in ["clean", "mutated", "recording", "covering"].into_iter().zip(modes) {
        let found = tests(&copies, mode)?;
        let names = expected.keys().chain(found.keys().filter(|name| !expected.contains_key(*name)));
        for name in names.filter(|name| expected.get(*name) != found.get(*name)) {
            let how = |results: &Results| results.get(name).cloned().unwrap_or_else(|| "missing".to_owned());
            differences.push(format!(
                "{}: {} is {} in {bodies} bodies, {} without",
                name.0,
                name.1,
                how(&found),
                how(&expected)
            ));
        }
    }
    // Without the sizes nothing can be recorded: if that makes no difference, the bodies were never asked for.
    ensure!(tests(&copies, "recording")? != expected, "the unit tests do not run the bodies that they are to");
    if !differences.is_empty() {
        bail!("instrumented crates behave in another way:\n{}", differences.join("\n"));
    }
    eprintln!(
        "xtask: {} crates with {} mutants, {} rejected, {} of {} functions instrumented: {passed} unit tests pass as before, \
         in clean, mutated, recording and covering bodies ({:.0} s)",
        expected.keys().map(|(package, _)| package).collect::<BTreeSet<_>>().len(),
        sites.mutants.len(),
        sites.rejected.len(),
        sites.functions.len(),
        sites.functions.len() + sites.uninstrumented.len(),
        started.elapsed().as_secs_f64(),
    );
    protocols(root)
}

/// Compiles the larger crates with mutants.
fn protocols(root: &Path) -> anyhow::Result<()> {
    let started = Instant::now();
    let package = Package::find(&root.join(FOLDER).join("protocols/Cargo.toml"), "protocols")?;
    let (operator, crates) = OF_PROTOCOLS;
    let operators = Selection::parse(operator)?;
    let directory = crate::target(root).join("foreign/protocols");
    let (Build { sites, .. }, _) = build(root, &package, &operators, Probes::All, directory)?;
    for (name, mutants_min) in crates {
        let is_of = |mutant: &&simutant_outcomes::Mutant| sites.files[mutant.span.file].path.contains(name);
        let mutants = sites.mutants.iter().filter(is_of).count();
        ensure!(mutants >= mutants_min, "{name} has {mutants} mutants of {operator}, fewer than {mutants_min}");
    }
    eprintln!(
        "xtask: protocols with {} mutants, {} rejected, {} of {} functions instrumented ({:.0} s)",
        sites.mutants.len(),
        sites.rejected.len(),
        sites.functions.len(),
        sites.functions.len() + sites.uninstrumented.len(),
        started.elapsed().as_secs_f64(),
    );
    Ok(())
}

/// Builds an instrumented copy of a package's dependencies, and returns it with its folder.
fn build(
    root: &Path,
    package: &Package,
    operators: &Selection,
    probes: Probes,
    directory: PathBuf,
) -> anyhow::Result<(Build, PathBuf)> {
    let worker = root.join(FOLDER).join("worker");
    let probe = root.join("mutator/probe");
    let request =
        BuildRequest { package, operators, directory: &directory, worker: ("worker", &worker), probe: &probe };
    Ok((build_with(&request, probes, &mut |_| {})?, directory))
}

/// Runs the unit tests of the crates in a workspace that the mutator made.
fn tests(workspace: &Path, mode: &str) -> anyhow::Result<Results> {
    let mut command = Command::new("cargo");
    command.args(["test", "--lib", "--no-fail-fast"]).current_dir(workspace);
    let mut has_probes = false;
    for (name, folder) in crates(workspace)? {
        command.args(["--package", &name]);
        let manifest = folder.join("Cargo.toml");
        let mut text = std::fs::read_to_string(&manifest)?;
        has_probes |= text.contains("simutant-probe");
        if let Some((_, needs)) = DEVELOPMENT.iter().find(|(of, _)| *of == name)
            && !text.contains("[dev-dependencies]")
        {
            text.push_str(&format!("\n[dev-dependencies]\n{needs}\n"));
            std::fs::write(&manifest, text)?;
        }
    }
    if has_probes {
        command.args(["--features", "simutant-probe/rehearsal"]);
    }
    // Mutants look odd on purpose.
    command.args(["--config", "build.rustflags=[\"--cap-lints=allow\"]"]);
    command.env("SIMUTANT_REHEARSAL", mode).env("CARGO_TARGET_DIR", workspace.join("target"));
    let output = command.output().context("cannot start cargo")?;
    let complaints = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    // Programs announce themselves on the one stream, and tests on the other, in the same order.
    let mut programs = complaints
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("Running unittests "))
        .filter_map(|line| Some(line.rsplit_once("deps/")?.1.rsplit_once('-')?.0.to_owned()));
    let mut results = Results::new();
    let mut program = None;
    for line in printed.lines() {
        if line.starts_with("running ") {
            program = programs.next();
        } else if let Some((name, how)) = line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... ")) {
            let program = program.clone().context("a test outside of a program")?;
            results.insert((program, name.to_owned()), how.to_owned());
        }
    }
    ensure!(!results.is_empty(), "no test ran in {}:\n{complaints}", workspace.display());
    Ok(results)
}

/// Returns the copies of the crates in a workspace that the mutator made: their names and folders.
fn crates(workspace: &Path) -> anyhow::Result<Vec<(String, PathBuf)>> {
    let metadata = cargo_metadata::MetadataCommand::new().current_dir(workspace).no_deps().exec()?;
    let is_copy = |package: &&cargo_metadata::Package| {
        package.manifest_path.components().any(|part| part.as_str().starts_with("dependencies-"))
    };
    let folder = |package: &cargo_metadata::Package| {
        let folder = package.manifest_path.parent().context("a manifest is in a folder")?;
        Ok((package.name.to_string(), folder.as_std_path().to_owned()))
    };
    metadata.packages.iter().filter(is_copy).map(folder).collect()
}
