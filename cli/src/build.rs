//! Finds a system's package and builds it, with its mutants or as it is written.

use std::path::PathBuf;

use anyhow::Context;
use simutant_mutator::Build;
use simutant_study::{StudiedSystem, StudyError};

use crate::arguments::SystemArguments;
use crate::stages::{Stages, built};

/// Finds the package in the given manifest's workspace, in that of the current folder, or in Simutant's own; its
/// constants have the values that were asked for.
pub(crate) fn find(arguments: &SystemArguments) -> Result<StudiedSystem, StudyError> {
    arguments.request().find()
}

/// Builds the program that has the testbed of the system, if the manifest names one.
pub(crate) fn testbed(system: &StudiedSystem) -> anyhow::Result<Option<PathBuf>> {
    if !system.package.has_testbed() {
        return Ok(None);
    }
    let what = format!("the testbed of {}", system.request.system);
    built(&what, |progress| system.build_testbed(progress)).with_context(|| format!("cannot build {what}"))
}

/// Builds the system with all its mutants.
pub(crate) fn instrumented(system: &StudiedSystem) -> Result<Build, StudyError> {
    let stages = Stages::new(&system.request.system);
    system.instrument(&|event| stages.show(event))
}

/// Builds the system as it is written, without mutants; returns its worker.
pub(crate) fn plain(system: &StudiedSystem) -> Result<PathBuf, StudyError> {
    let stages = Stages::new(&system.request.system);
    system.build_plain(&|event| stages.show(event))
}
