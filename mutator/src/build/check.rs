//! The check of a user's package before all that it depends on is compiled: what is wrong with it is told early.

use std::path::{Path, PathBuf};

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticSpan};

use super::cargo::{cargo, rendered};
use super::files::write;
use super::request::{BuildEvent, BuildRequest};
use super::worker::LINK;
use super::workspace::Workspace;
use crate::error::{MutatorError, TypeTrouble};
use crate::package::{ENGINE_PACKAGE, Package};

/// The package that names the system's type, and that nobody links.
const CHECK: &str = "simutant-check";

impl Workspace {
    /// The folder of the package that is checked.
    pub(super) fn check_member(&self) -> PathBuf {
        self.root.join(format!("{CHECK}-{}", self.mark))
    }

    /// Writes the package that is checked: it gives the system's type, of the user's package in the folder `system`, to the
    /// worker, which says what it must be.
    pub(super) fn write_check(&self, request: &BuildRequest<'_>, system: &Path) -> Result<(), MutatorError> {
        let BuildRequest { package, worker: (worker_name, worker_path), .. } = *request;
        let folder = self.check_member();
        write(
            &folder.join("Cargo.toml"),
            &format!(
                "[package]\nname = {CHECK:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                 worker = {{ path = {:?}, package = {worker_name:?} }}\n\
                 system = {{ path = {:?}, package = {:?}, {} }}\n",
                worker_path.display().to_string(),
                system.display().to_string(),
                package.name(),
                package.features.of_dependency(),
            ),
        )?;
        let text = format!(
            "//! Generated: names the system's type.\n\npub fn system() {{\n    _ = worker::system::<system::{}>();\n}}\n",
            package.type_path
        );
        write(&folder.join("src/lib.rs"), &text)
    }

    /// Returns whether the engine is still to be compiled: then a fault of the user's package would be told at the end.
    pub(super) fn is_cold(&self) -> bool {
        let library = format!("lib{}-", ENGINE_PACKAGE.replace('-', "_"));
        let is_engine = |name: &str| name.starts_with(&library) && name.ends_with(".rlib");
        let compiled = std::fs::read_dir(self.target_directory.join("release/deps"));
        !compiled.is_ok_and(|mut files| {
            files.any(|file| file.is_ok_and(|file| is_engine(&file.file_name().to_string_lossy())))
        })
    }

    /// Returns what the compiler has against the user's package, or against its system's type. It compiles no code of
    /// what they depend on, but for what the compiler itself runs.
    pub(super) fn check(&self, progress: &mut dyn FnMut(BuildEvent)) -> Result<Vec<Diagnostic>, MutatorError> {
        let mut check = cargo("check");
        check.args(["--package", CHECK]);
        // Cargo's own troubles are told by the build.
        Ok(self.run(&mut check, progress)?.errors)
    }

    /// Returns the error for what the compiler has against the user's package: about its files, or, where generated code
    /// names a type that is not there, about its manifest.
    pub(super) fn package_error(&self, package: &Package, errors: &[Diagnostic]) -> MutatorError {
        let is_own = |error: &&Diagnostic| !is_in(error, &[CHECK, LINK]);
        match errors.iter().find(is_own) {
            None if !errors.is_empty() => MutatorError::Type {
                manifest: package.manifest_path().to_owned(),
                named_by: format!("system `{}`", package.system),
                type_path: package.type_path.clone(),
                trouble: Box::new(TypeTrouble::new(&errors[0], "System")),
            },
            _ => MutatorError::PackageDoesNotCompile { message: rendered(errors) },
        }
    }
}

/// Returns whether an error is about a file of generated packages whose folders have names that begin so.
pub(super) fn is_in(error: &Diagnostic, generated: &[&str]) -> bool {
    let is_generated = |span: &DiagnosticSpan| {
        let mut parts = Path::new(&span.file_name).components().filter_map(|part| part.as_os_str().to_str());
        parts.any(|part| generated.iter().any(|name| part.starts_with(name)))
    };
    let mut primary = error.spans.iter().filter(|span| span.is_primary).peekable();
    primary.peek().is_some() && primary.all(is_generated)
}
