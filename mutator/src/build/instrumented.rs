//! The build of a system with all its mutants and probes.

use std::collections::BTreeSet;

use super::files::read;
use super::plain::build_plain;
use super::request::{Build, BuildEvent, BuildRequest};
use super::rounds::Rounds;
use super::specification::read_specification;
use super::workspace::Workspace;
use crate::error::MutatorError;
use crate::instrument::Probes;
use crate::specification::known::Inputs;
use crate::text::identity::Hash;

/// Builds the system's package once with all its mutants, and returns the executable and what it measures.
///
/// Mutants that do not compile are in [`Sites::rejected`](simutant_outcomes::Sites::rejected). Compiling takes as long
/// as a release build of the package and of what it depends on, and some seconds for each round in which mutants are
/// rejected; what did not change since an earlier build in the same folder is not compiled again.
///
/// # Errors
/// [`MutatorError::PackageDoesNotCompile`] if the package does not compile by itself; others if a file cannot be read or
/// written.
pub fn build(request: &BuildRequest<'_>, progress: &mut dyn FnMut(BuildEvent)) -> Result<Build, MutatorError> {
    build_with(request, Probes::All, progress)
}

/// Builds the system's package with `probes`, in the same way as [`build`]: what differs is the instrumentation alone.
///
/// # Errors
/// As [`build`].
pub fn build_with(
    request: &BuildRequest<'_>,
    probes: Probes,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<Build, MutatorError> {
    let package = request.package;
    package.check_type()?;
    let specification = read_specification(package, request.operators)?;
    let workspace = Workspace::new(package, request.directory)?;
    let _one_at_a_time = workspace.lock()?;
    workspace.write_fixed(request)?;
    let all = workspace.hash(package, &[request.probe, request.worker.1], &BTreeSet::new())?;
    let inputs = Inputs { all, fixed: workspace.fixed_hash(request)? };
    let rounds = Rounds { package, workspace: &workspace, specification: &specification, probes, inputs };
    let accepted = rounds.run(progress, &mut |instrumented, progress| {
        workspace.write_main(&workspace.lines(instrumented), &instrumented.places)?;
        workspace.compile(package, progress)
    });
    let accepted = match accepted {
        // The fault is probably in the package: then the compiler says it about the user's own file and line.
        Err(of_copy @ MutatorError::DoesNotCompile { .. }) => {
            return Err(match build_plain(request, progress) {
                Err(of_package @ (MutatorError::PackageDoesNotCompile { .. } | MutatorError::Type { .. })) => {
                    of_package
                }
                _ => of_copy,
            });
        }
        accepted => accepted?,
    };
    let lock = read(&workspace.root.join("Cargo.lock"))?;
    let mut source_hash = Hash(inputs.all);
    source_hash.write(lock.as_bytes());
    let mut fixed = Hash(inputs.fixed);
    fixed.write(lock.as_bytes());
    accepted.instrumented.outputs.iter().for_each(|output| source_hash.write(output.text.as_bytes()));
    let worker = workspace.keep(&accepted.product, &format!("simutant-worker-{}-", package.system), &source_hash)?;
    Ok(Build {
        sites: accepted.instrumented.sites,
        worker,
        source_hash: source_hash.0,
        fingerprint: specification.fingerprint(fixed.0, &accepted.verdicts),
        operators: request.operators.to_string(),
    })
}
