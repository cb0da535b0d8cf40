//! The build of the program that has a system's testbed.

use std::path::PathBuf;
use std::process::Command;

use quote::quote;
use syn::Path as CodePath;

use super::cargo::{Compiled, cargo_program, run};
use super::plain;
use super::program::write_program;
use super::request::{BuildEvent, BuildRequest};
use super::workspace::Workspace;
use crate::package::{HARNESS_PACKAGE, TestbedTarget};
use crate::{MutatorError, Package};

/// How the name of a generated program begins.
const PROGRAM: &str = "simutant-testbed";

/// The feature of a package that its testbed is compiled with, if there is one: what the testbed needs beside the simulation.
const FEATURE: &str = "testbed";

/// Builds the program that has the testbed of the system, and returns its executable; `None` if the manifest names none.
///
/// A testbed in the package's library is built beside the plain build of the system: what both depend on is compiled once. A
/// target of the package is built for releases, where the user's own builds of it are.
///
/// # Errors
/// If it does not compile, or is not there.
pub fn build_testbed(
    request: &BuildRequest<'_>,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<Option<PathBuf>, MutatorError> {
    match request.package.testbed() {
        None => Ok(None),
        Some(TestbedTarget::Example(name)) => build_target(request.package, "--example", name, progress).map(Some),
        Some(TestbedTarget::Bin(name)) => build_target(request.package, "--bin", name, progress).map(Some),
        Some(TestbedTarget::Library(path)) => build_library(request, path, progress).map(Some),
    }
}

/// Builds a program of which the testbeds are a constant in the package's library.
fn build_library(
    request: &BuildRequest<'_>,
    path: &str,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<PathBuf, MutatorError> {
    let package = request.package;
    let refuse = |message: String| MutatorError::Specification {
        manifest: package.manifest_path().into(),
        system: package.system.clone(),
        field: "testbed.library".to_owned(),
        message,
    };
    let path: CodePath =
        syn::parse_str(path).map_err(|error| refuse(format!("is `{path}`, which is no path: {error}")))?;
    let harness = package.harness().ok_or_else(|| {
        refuse(format!("needs `{HARNESS_PACKAGE}` among the dependencies of the package, by its path"))
    })?;
    let library: CodePath = syn::parse_str(&package.library()).expect("it is the name of a crate");
    let main = quote! {
        fn main() -> ::std::process::ExitCode {
            ::simutant_harness::serve(::#library::#path)
        }
    };
    let workspace = Workspace::new(package, &request.directory.join(plain::FOLDER))?;
    let _one_at_a_time = workspace.lock()?;
    let program = format!("{PROGRAM}-{}", workspace.mark);
    let folder = workspace.root.join(&program);
    workspace.write_plain(request, std::slice::from_ref(&folder))?;
    let features = package.features_with(FEATURE).of_dependency();
    let of_package = ((package.name(), package.folder()), features.as_str());
    let text = format!("//! Generated: the testbeds of a package.\n{main}\n");
    write_program(&folder, &program, Some(request), [of_package, ((HARNESS_PACKAGE, harness), "")], &text)?;
    match workspace.build_written(&program, progress)? {
        Compiled::Product(executable) => Ok(executable),
        Compiled::Errors(errors) => Err(workspace.does_not_compile(&errors)),
    }
}

/// Builds a target of the package.
fn build_target(
    package: &Package,
    kind: &str,
    name: &str,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<PathBuf, MutatorError> {
    let mut cargo = Command::new(cargo_program());
    cargo.args(["build", "--release", "--message-format=json", kind, name]);
    cargo.args(package.features.of_command());
    // What the target needs beside what the simulation does, such as the harness.
    cargo.args(package.required_features(name).map(|feature| format!("--features={feature}")));
    let ran = run(cargo.current_dir(package.folder()), progress)?;
    let rendered = ran.errors.iter().take(3).filter_map(|error| error.rendered.clone());
    let message: String = rendered.collect();
    let directory = package.folder().to_path_buf();
    let executable = ran.artifacts.into_iter().rev().find_map(|artifact| {
        let is_it = artifact.target.name == *name && artifact.executable.is_some();
        is_it.then_some(artifact.executable)?
    });
    match executable {
        Some(executable) if ran.succeeds => Ok(executable.into()),
        _ if message.is_empty() => Err(MutatorError::Cargo { directory, message: ran.complaints }),
        _ => Err(MutatorError::DoesNotCompile { directory, message }),
    }
}
