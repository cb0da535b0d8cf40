//! What can go wrong between a manifest and an instrumented executable.

use std::path::{Path, PathBuf};

/// Why a system cannot be instrumented.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MutatorError {
    /// `cargo metadata` failed: there is no manifest, or it is damaged.
    #[error("cannot read the package: {0}")]
    Metadata(String),
    /// No package of the workspace has a system of this name.
    #[error(
        "no system `{system}` in {}; {}",
        workspace.display(),
        if known.is_empty() {
            "name it in the package's Cargo.toml: [package.metadata.simutant.systems.NAME]".to_owned()
        } else {
            format!("known systems: {}", known.join(", "))
        }
    )]
    UnknownSystem {
        /// The name asked for.
        system: String,
        /// The workspace that was searched.
        workspace: PathBuf,
        /// The names there are.
        known: Vec<String>,
    },
    /// The manifest's section for a system is damaged.
    #[error("{}: [package.metadata.simutant]: {message}; it takes `systems.NAME.type` (a path in the crate), `systems.NAME.specification` (a list of files) and, if wanted, `systems.NAME.dependencies.PACKAGE` (lists of files of dependencies), `systems.NAME.operators` (as --operators), `systems.NAME.skip` (a list of what is left out of mutation), `systems.NAME.cost` (as --cost), `systems.NAME.testbed` (a program of the package), `systems.NAME.reference` (a file), `systems.NAME.features` and `systems.NAME.default-features` (as dependencies have them), lists of names in `names`, and `judgements` (a file)", manifest.display())]
    Manifest {
        /// The manifest.
        manifest: PathBuf,
        /// What is wrong, naming the field.
        message: String,
    },
    /// The section for a system names what cannot be its specification.
    #[error("{}: [package.metadata.simutant.systems.{system}]: {field}: {message}", manifest.display())]
    Specification {
        /// The manifest.
        manifest: PathBuf,
        /// The system.
        system: String,
        /// The field.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// A package's programs cannot be mutated as they were asked for.
    #[error("cannot mutate the programs of {}: `{field}`: {message}", manifest.display())]
    Programs {
        /// The manifest.
        manifest: PathBuf,
        /// What was asked for: `manifest` or `specification`.
        field: String,
        /// What is wrong with it.
        message: String,
    },
    /// The package has no library that a worker could link.
    #[error("{}: the package has no library target; move the system from main.rs into lib.rs", manifest.display())]
    NoLibrary {
        /// The manifest.
        manifest: PathBuf,
    },
    /// A specification file does not parse.
    #[error("{path}:{line}: {message}")]
    Syntax {
        /// The file, relative to its package.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The parser's message.
        message: String,
    },
    /// A comment or the manifest leaves code out of mutation without a reason, or names nothing.
    #[error("{path}{}: {message}", line.map(|line| format!(":{line}")).unwrap_or_default())]
    Skip {
        /// The file: relative to its package, or the manifest.
        path: String,
        /// The line, from 1, if it is known.
        line: Option<usize>,
        /// What is wrong.
        message: String,
    },
    /// No constant of the specification has this name.
    #[error("the specification has no constant `{name}`; it has {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    UnknownConstant {
        /// The name asked for.
        name: String,
        /// The paths of the constants that there are.
        known: Vec<String>,
    },
    /// Several constants of the specification have this name.
    #[error("`{name}` is the name of several constants; give more of the path of one: {}", paths.join(", "))]
    AmbiguousConstant {
        /// The name asked for.
        name: String,
        /// Their paths.
        paths: Vec<String>,
    },
    /// The package as it is written does not compile.
    #[error("the package does not compile:\n{message}")]
    PackageDoesNotCompile {
        /// The compiler's messages.
        message: String,
    },
    /// The package compiles, its instrumented copy does not, and no mutant is to blame: an error of the mutator.
    #[error("the instrumented copy in {} does not compile:\n{message}", directory.display())]
    DoesNotCompile {
        /// The generated workspace.
        directory: PathBuf,
        /// The compiler's messages.
        message: String,
    },
    /// Cargo could not be started or listened to.
    #[error("cannot run cargo: {0}; it must be on the PATH, since the simulation is compiled anew with its mutants")]
    NoCargo(std::io::Error),
    /// Somebody interrupted cargo: Ctrl-C in a terminal reaches it, too.
    #[error("the compiler was interrupted")]
    Interrupted,
    /// Cargo failed otherwise than by the compiler's errors.
    #[error("cargo failed in {}:\n{message}", directory.display())]
    Cargo {
        /// The generated workspace.
        directory: PathBuf,
        /// What cargo said.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("cannot {action} {}: {error}{}", path.display(), if error.kind() == std::io::ErrorKind::StorageFull { "; make room" } else { "" })]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
}

impl From<cargo_metadata::Error> for MutatorError {
    fn from(error: cargo_metadata::Error) -> Self {
        match error {
            cargo_metadata::Error::Io(error) => Self::NoCargo(error),
            error => Self::Metadata(error.to_string().trim_end().to_owned()),
        }
    }
}

impl MutatorError {
    pub(crate) fn io(action: &'static str, path: &Path, error: std::io::Error) -> Self {
        Self::Io { action, path: path.into(), error }
    }
}
