//! The build of the package as it is written: what the instrumented one is held against.

use std::path::PathBuf;

use super::{BuildEvent, Compiled, LINK, MAIN, Request, Workspace, read};
use crate::identity::Hash;
use crate::{MutatorError, Package};

/// The folder of the generated workspace in that of the instrumented build.
const FOLDER: &str = "plain";

/// Builds the system's package with nothing put in, behind the same worker, and returns the executable.
///
/// It is compiled where it stands, with the checks of the instrumented build, and what both depend on is compiled once.
/// The package itself is not optimised: each test case runs on it only once, which takes less time than the optimiser.
///
/// # Errors
/// If the package does not compile, or a file cannot be read or written.
pub fn build_plain(request: &Request<'_>, progress: &mut dyn FnMut(BuildEvent)) -> Result<PathBuf, MutatorError> {
    let package = request.package;
    let directory = request.directory.join(FOLDER);
    let workspace = Workspace::new(package, &directory)?;
    let _one_at_a_time = workspace.lock()?;
    workspace.write_plain(request)?;
    let executable = match workspace.compile(package, progress)? {
        Compiled::Product(executable) => executable,
        Compiled::Errors(errors) => return Err(workspace.does_not_compile(&errors)),
    };
    let bytes = std::fs::read(&executable).map_err(|error| MutatorError::io("read", &executable, error))?;
    let mut hash = Hash::default();
    hash.write(&bytes);
    workspace.keep(&executable, &format!("simutant-plain-{}-", package.system), &hash)
}

/// How the package is compiled: in so many units that after an edit little is compiled again, and without the
/// optimiser.
const IN_PARTS: &str = "opt-level = 0\nincremental = true\ncodegen-units = 256\n";

impl Workspace {
    fn write_plain(&self, request: &Request<'_>) -> Result<(), MutatorError> {
        let package = request.package;
        let own = package.members[0].specifier();
        let settings = [own.as_str(), LINK, MAIN].map(|package| (package, IN_PARTS));
        self.write_worker_manifest(&[], &settings, &package.own_patches()?)?;
        self.write_lock(package)?;
        self.write_program(request, package.members[0].root())?;
        self.write_main(&own_lines(package)?, &[])
    }
}

/// Returns rows for the table of lines: each line is its own, and the path is the one that reports have.
fn own_lines(package: &Package) -> Result<String, MutatorError> {
    let mut lines = String::new();
    for file in &package.files {
        let path = package.members[file.member].root().join(&file.path);
        let numbers: Vec<u32> = (1..).take(read(&path)?.lines().count()).collect();
        lines.push_str(&format!("    ({:?}, {:?}, &{numbers:?}),\n", path.display().to_string(), package.label(file)));
    }
    Ok(lines)
}
