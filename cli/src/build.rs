//! Finds a system's package and builds it with its mutants.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Context;
use simutant_mutator::{
    Build, BuildEvent, BuiltPrograms, MutatorError, Package, ProgramsRequest, Request, build, build_plain,
    build_programs, build_testbed, compiler_equivalence,
};
use simutant_outcomes::{Compiled, Sites, UninstrumentedFunction};

use crate::arguments::SystemArguments;
use crate::beside::beside;
use crate::progress::Phase;
use crate::{interrupt, output};

/// The manifest of Simutant's own workspace, whose systems every user has.
const OWN_MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");

/// The crate that drives an instrumented system.
const WORKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../campaign/worker");

/// Finds the package and builds what a campaign in the folder `out` needs: the system with all its mutants, and as it
/// is written.
///
/// `None` if it was interrupted.
pub(crate) fn both(
    arguments: &SystemArguments,
    out: &Path,
    interrupted: &AtomicBool,
) -> anyhow::Result<Option<(Build, PathBuf)>> {
    let build = || {
        let (package, instrumented) = mutated(arguments, out)?;
        Ok((instrumented, plain(arguments, &package)?))
    };
    interrupt::unless(interrupted, build())
}

/// Finds the package and builds the system with all its mutants, for a campaign in the folder `out`. What is wrong with
/// the folder is told before anything is compiled.
pub(crate) fn mutated(arguments: &SystemArguments, out: &Path) -> anyhow::Result<(Package, Build)> {
    let package = find(arguments)?;
    output::make_folder(out)?;
    let built = instrumented(arguments, &package)?;
    Ok((package, built))
}

/// Builds the system as it is written while `meanwhile` goes on with what needs the instrumented one alone, and returns
/// what both come to.
pub(crate) fn plain_and<T>(
    arguments: &SystemArguments,
    package: &Package,
    meanwhile: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<(PathBuf, T)> {
    let (built, done) = beside(|| plain(arguments, package), meanwhile);
    Ok((built?, done?))
}

/// Calls `action` with what the mutator asks for.
fn with_request<T>(arguments: &SystemArguments, package: &Package, action: impl FnOnce(&Request<'_>) -> T) -> T {
    action(&Request {
        package,
        operators: &arguments.operators(package.operators()),
        directory: &package.build_directory(),
        worker: ("simutant-worker", Path::new(WORKER)),
    })
}

/// Builds the program that has the testbed of the system, if the manifest names one.
pub(crate) fn testbed(arguments: &SystemArguments, package: &Package) -> anyhow::Result<Option<PathBuf>> {
    if !package.has_testbed() {
        return Ok(None);
    }
    let phase = Phase::open("compiling");
    let built = build_testbed(package, &mut showing(&phase))
        .with_context(|| format!("cannot build the testbed of {}", arguments.system))?;
    phase.end(&format!("the testbed of {}", arguments.system));
    Ok(built)
}

/// Builds the system with all its mutants.
pub(crate) fn instrumented(arguments: &SystemArguments, package: &Package) -> anyhow::Result<Build> {
    let phase = Phase::open("compiling");
    let built = with_request(arguments, package, |request| build(request, &mut showing(&phase)))
        .with_context(|| format!("cannot mutate {}", arguments.system))?;
    let sites = &built.sites;
    phase.end(&format!(
        "{}, {} blocks, {} branches, {} definition-use pairs",
        with_mutants(&arguments.system, sites),
        sites.blocks.len(),
        sites.branches.len(),
        sites.pairs.len(),
    ));
    note("runs as it is written", &sites.uninstrumented);
    note("has no definition-use pairs", &sites.without_flow);
    note_constants(sites);
    Ok(built)
}

/// Builds the programs of an implementation with all their mutants.
pub(crate) fn programs(implementation: &str, request: &ProgramsRequest<'_>) -> anyhow::Result<BuiltPrograms> {
    let phase = Phase::open("compiling");
    let built = build_programs(request, &mut showing(&phase))
        .with_context(|| format!("cannot mutate the programs of {implementation}"))?;
    phase.end(&with_mutants(&format!("the programs of {implementation}"), &built.sites));
    note("runs as it is written", &built.sites.uninstrumented);
    note_constants(&built.sites);
    Ok(built)
}

/// Returns what shows how the compiler gets on with mutants.
fn showing(phase: &Phase) -> impl FnMut(BuildEvent) + '_ {
    let mut what = String::new();
    move |event| match event {
        BuildEvent::Compiling { mutants, rejected, .. } => {
            what = format!("{mutants} mutants, {rejected} rejected by the compiler so far");
            phase.message(what.clone());
        }
        BuildEvent::Compiled { name } => phase.message(format!("{what}: {name}")),
        _ => {}
    }
}

fn with_mutants(what: &str, sites: &Sites) -> String {
    format!("{what} with {} mutants ({} more rejected by the compiler)", sites.mutants.len(), sites.rejected.len())
}

/// Tells what is otherwise with functions.
fn note(what: &str, functions: &[UninstrumentedFunction]) {
    for function in functions {
        output::tell(&format!("{:>12} {} {what}: {}", "note", function.path, function.reason));
    }
}

/// Tells how many constants have no mutants.
fn note_constants(sites: &Sites) {
    if !sites.unmutated.is_empty() {
        let number = sites.unmutated.len();
        let constants = if number == 1 { "constant has" } else { "constants have" };
        output::tell(&format!("{:>12} {number} {constants} no mutants: `mutants {}` says why", "note", sites.system));
    }
}

/// Builds the system as it is written; what [`instrumented`] compiled for both is not compiled again.
fn plain(arguments: &SystemArguments, package: &Package) -> anyhow::Result<PathBuf> {
    let phase = Phase::open("compiling");
    let what = format!("{} as it is written", arguments.system);
    let mut show = |event| {
        if let BuildEvent::Compiled { name } = event {
            phase.message(format!("{what}: {name}"));
        }
    };
    let built = with_request(arguments, package, |request| build_plain(request, &mut show))
        .with_context(|| format!("cannot build {what}"))?;
    phase.end(&what);
    Ok(built)
}

/// Compiles each mutant as a function of its own, and returns what that says of mutants.
pub(crate) fn compiled(
    arguments: &SystemArguments,
    package: &Package,
    built: &Build,
) -> anyhow::Result<BTreeMap<String, Compiled>> {
    let phase = Phase::open("comparing");
    let mut show = |event| {
        if let BuildEvent::Compiling { mutants, .. } = event {
            phase.message(format!("the machine code of {mutants} mutants"));
        }
    };
    let equivalence = with_request(arguments, package, |request| compiler_equivalence(request, built, &mut show))
        .with_context(|| format!("cannot compile the mutants of {} one by one", arguments.system))?;
    let equivalent = equivalence.found.values().filter(|compiled| **compiled == Compiled::Equivalent).count();
    phase.end(&format!(
        "of {} mutants with machine code of their own, {equivalent} have that of the original, {} that of another mutant",
        equivalence.compared,
        equivalence.found.len() - equivalent,
    ));
    Ok(equivalence.found)
}

/// Finds the package in the given manifest's workspace, in that of the current folder, or in Simutant's own; its
/// constants have the values that were asked for.
pub(crate) fn find(arguments: &SystemArguments) -> anyhow::Result<Package> {
    Ok(find_as_written(arguments)?.with_values(&arguments.constants)?)
}

fn find_as_written(arguments: &SystemArguments) -> anyhow::Result<Package> {
    if let Some(manifest) = &arguments.manifest_path {
        return Ok(Package::find(manifest, &arguments.system)?);
    }
    let own = || Package::find(Path::new(OWN_MANIFEST), &arguments.system);
    let Some(manifest) = nearest_manifest() else { return Ok(own()?) };
    match Package::find(&manifest, &arguments.system) {
        // Where neither has it, the user's own workspace is the one to name.
        Err(here @ MutatorError::UnknownSystem { .. }) => own().or(Err(here.into())),
        result => Ok(result?),
    }
}

/// Returns the manifest of the current folder, or of the nearest one above.
pub(crate) fn nearest_manifest() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    folder.ancestors().map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.exists())
}
