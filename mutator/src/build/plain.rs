//! The build of the package as it is written: what the instrumented one is held against.

use std::path::PathBuf;

use proc_macro2::TokenStream;

use super::cargo::Compiled;
use super::files::{read, write};
use super::request::{BuildEvent, BuildRequest};
use super::worker::{LINK, MAIN, row_of_lines};
use super::workspace::Workspace;
use crate::error::MutatorError;
use crate::package::{HARNESS_PACKAGE, Member, Package, SpecificationFile};
use crate::text::identity::Hash;

/// The folder of the generated workspace in that of the instrumented build.
pub(super) const FOLDER: &str = "plain";

/// Builds the system's package with nothing put in, behind the same worker, and returns the executable.
///
/// It is compiled where it stands, or if constants have other values, as a copy with these, with the checks of the
/// instrumented build, and what both depend on is compiled once. The package itself is not optimised: each test case
/// runs on it only once, which takes less time than the optimiser.
///
/// # Errors
/// [`MutatorError::PackageDoesNotCompile`] with the compiler's messages about the user's own files; others if a file
/// cannot be read or written.
pub fn build_plain(request: &BuildRequest<'_>, progress: &mut dyn FnMut(BuildEvent)) -> Result<PathBuf, MutatorError> {
    let package = request.package;
    package.check_type()?;
    let directory = request.directory.join(FOLDER);
    let workspace = Workspace::new(package, &directory)?;
    let _one_at_a_time = workspace.lock()?;
    workspace.write_plain(request, &[])?;
    // To compile the engine takes minutes, and to check the package and its system's type seconds.
    if workspace.is_cold() {
        let errors = workspace.check(progress)?;
        if !errors.is_empty() {
            return Err(workspace.package_error(package, &errors));
        }
    }
    let executable = match workspace.compile(package, progress)? {
        Compiled::Product(executable) => executable,
        Compiled::Errors(errors) => return Err(workspace.package_error(package, &errors)),
    };
    let bytes = std::fs::read(&executable).map_err(|error| MutatorError::io("read", &executable, error))?;
    let mut hash = Hash::default();
    hash.write(&bytes);
    workspace.keep(&executable, &format!("simutant-plain-{}-", package.system), &hash)
}

/// How the package is compiled: in so many units that after an edit little is compiled again, and without the
/// optimiser.
pub(super) const IN_PARTS: &str = "opt-level = 0\nincremental = true\ncodegen-units = 256\n";

impl Workspace {
    /// Writes all that the build consists of; the workspace has `further` members besides.
    pub(super) fn write_plain(&self, request: &BuildRequest<'_>, further: &[PathBuf]) -> Result<(), MutatorError> {
        let package = request.package;
        if package.has_other_values() {
            return self.write_plain_copies(request);
        }
        let own = package.members[0].specifier();
        let mut settings = vec![own.as_str(), LINK, MAIN];
        // It waits for other programs, and so gains little by the optimiser.
        settings.extend(package.testbed_library().map(|_| HARNESS_PACKAGE));
        let settings: Vec<(&str, &str)> = settings.into_iter().map(|package| (package, IN_PARTS)).collect();
        let members = [&[self.check_member()], further].concat();
        self.write_worker_manifest(&members, &settings, &package.own_patches()?)?;
        self.write_lock(package)?;
        self.write_check(request, package.members[0].root())?;
        self.write_program(request, package.members[0].root())?;
        self.write_main(&own_rows(package)?, &[])
    }

    fn write_plain_copies(&self, request: &BuildRequest<'_>) -> Result<(), MutatorError> {
        let package = request.package;
        let copies: Vec<String> = package.members.iter().map(Member::specifier).collect();
        let mut settings = vec![(LINK, IN_PARTS), (MAIN, IN_PARTS)];
        settings.extend(copies.iter().map(|copy| (copy.as_str(), IN_PARTS)));
        let members = [&self.copies[..], &[self.check_member()]].concat();
        self.write_worker_manifest(&members, &settings, &package.patches(&self.copies)?)?;
        self.write_copies(package, |member| package.manifest(member, &[], &self.copies))?;
        self.write_check(request, &self.copies[0])?;
        let mut rows = Vec::new();
        for (file, copy) in package.files.iter().zip(&self.files) {
            let text = package.text(file)?;
            // The compiler has paths from the workspace's root.
            let compiled = copy.strip_prefix(&self.root).unwrap_or(copy);
            rows.push(own_row(&compiled.display().to_string(), &package.label(file), &text));
            write(copy, &text)?;
        }
        self.write_program(request, &self.copies[0])?;
        self.write_main(&rows, &[])
    }
}

/// Returns the row of one file, each line of which is its own.
fn own_row(path: &str, label: &str, text: &str) -> TokenStream {
    let numbers: Vec<u32> = (1..).take(text.lines().count()).collect();
    row_of_lines(path, label, &numbers)
}

/// Returns rows for the table of lines: each line is its own, and the path is the one that reports have.
fn own_rows(package: &Package) -> Result<Vec<TokenStream>, MutatorError> {
    let row = |file: &SpecificationFile| {
        let path = package.members[file.member].root().join(&file.path);
        Ok(own_row(&path.display().to_string(), &package.label(file), &read(&path)?))
    };
    package.files.iter().map(row).collect()
}
