//! The build of the program that has a system's testbed.

use std::path::PathBuf;
use std::process::Command;

use super::cargo::{cargo_program, run};
use super::request::BuildEvent;
use crate::package::TestbedTarget;
use crate::{MutatorError, Package};

/// Builds the program that has the testbed of the system, for releases, and returns its executable; `None` if the
/// manifest names none.
///
/// It is an ordinary target of the package, and is built where the user's own builds of it are.
///
/// # Errors
/// If it does not compile, or is not there.
pub fn build_testbed(package: &Package, progress: &mut dyn FnMut(BuildEvent)) -> Result<Option<PathBuf>, MutatorError> {
    let Some(target) = package.testbed() else { return Ok(None) };
    let (kind, name) = match target {
        TestbedTarget::Example(name) => ("--example", name),
        TestbedTarget::Bin(name) => ("--bin", name),
    };
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
        Some(executable) if ran.succeeds => Ok(Some(executable.into())),
        _ if message.is_empty() => Err(MutatorError::Cargo { directory, message: ran.complaints }),
        _ => Err(MutatorError::DoesNotCompile { directory, message }),
    }
}
