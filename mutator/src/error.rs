//! What can go wrong between a manifest and an instrumented executable.

use std::fmt;
use std::path::{Path, PathBuf};

use cargo_metadata::diagnostic::Diagnostic;

use crate::nearest::nearest;

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
            let known_names = known.iter().map(String::as_str);
            let meant = nearest(system, known_names).map(|name| format!("; did you mean `{name}`?"));
            format!("known systems: {}{}", known.join(", "), meant.unwrap_or_default())
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
    #[error("{}: [package.metadata.simutant]: {message}; it takes `systems.NAME.type` (a path in the crate), `systems.NAME.specification` (a list of files) and, if wanted, `systems.NAME.dependencies.PACKAGE` (lists of files of dependencies), `systems.NAME.operators` (as --operators), `systems.NAME.skip` (a list of what is left out of mutation), `systems.NAME.cost` (as --cost), `systems.NAME.testbed` (`library`, `bin` or `example`, and where the testbed is), `systems.NAME.reference` (a file), `systems.NAME.features` and `systems.NAME.default-features` (as dependencies have them), lists of names in `names`, and `judgements` (a file)", manifest.display())]
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
    /// The type that the manifest names for a system or a specification cannot be used.
    #[error("{}: type `{type_path}` of {named_by} {trouble}", manifest.display())]
    Type {
        /// The manifest.
        manifest: PathBuf,
        /// What has it in the manifest: the system or the specification.
        named_by: String,
        /// The type, as the manifest has it.
        type_path: String,
        /// What is wrong with it.
        trouble: Box<TypeTrouble>,
    },
    /// The initial state that the manifest has for a specification cannot be used.
    #[error(
        "{}: specification `{specification}` cannot begin in `{expression}`: {message}; `initial` is an expression for its first state",
        manifest.display()
    )]
    Initial {
        /// The manifest.
        manifest: PathBuf,
        /// The specification.
        specification: String,
        /// The initial state, as the manifest has it.
        expression: String,
        /// What the compiler says.
        message: String,
    },
    /// The function that the manifest has for a net cannot be used.
    #[error(
        "{}: net `{net}`: `{function}` cannot be used: {message}; `net` is a function of up to four arguments that returns a `simutant_nets::Net`",
        manifest.display()
    )]
    Net {
        /// The manifest.
        manifest: PathBuf,
        /// The net.
        net: String,
        /// The function, as the manifest has it.
        function: String,
        /// What the compiler says.
        message: String,
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

/// What is wrong with a type that a manifest names, as the end of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeTrouble {
    kind: TypeTroubleKind,
    /// What the compiler says.
    message: String,
    /// What it proposes instead.
    nearest: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TypeTroubleKind {
    Missing,
    Private,
    /// It does not implement a trait.
    OtherTrait(String),
    Other,
}

impl TypeTrouble {
    /// Returns what is said of a path of which a part, a `kind` of this name, is not there.
    pub(crate) fn missing(kind: &str, name: &str, nearest: Option<&str>) -> Self {
        let message = format!("cannot find {kind} `{name}` in the crate");
        Self { kind: TypeTroubleKind::Missing, message, nearest: nearest.map(str::to_owned) }
    }

    /// Returns what an error of the compiler about generated code says of a type that is to implement `required`.
    pub(crate) fn new(error: &Diagnostic, required: &str) -> Self {
        let kind = match error.code.as_ref().map(|code| code.code.as_str()) {
            Some("E0405" | "E0412" | "E0425" | "E0432" | "E0433" | "E0573") => TypeTroubleKind::Missing,
            Some("E0603") => TypeTroubleKind::Private,
            Some("E0277") => TypeTroubleKind::OtherTrait(required.to_owned()),
            _ => TypeTroubleKind::Other,
        };
        let spans = error.children.iter().flat_map(|child| &child.spans);
        let nearest = spans.filter_map(|span| span.suggested_replacement.clone()).find(|name| is_path(name));
        // Generated code has the crate under this name.
        let message = error
            .message
            .replace("`system::", "`crate::")
            .replace("crate `system`", "the crate")
            .replace("`system`", "the crate");
        Self { kind, message, nearest }
    }
}

/// Returns whether a text is the path of a type.
fn is_path(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || "_:<>, ".contains(letter))
}

impl fmt::Display for TypeTrouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, message, nearest } = self;
        match kind {
            TypeTroubleKind::Missing => write!(formatter, "is not in the package: {message}")?,
            TypeTroubleKind::Private => write!(formatter, "cannot be used outside of the package: {message}")?,
            TypeTroubleKind::OtherTrait(required) => write!(formatter, "does not implement `{required}`: {message}")?,
            TypeTroubleKind::Other => write!(formatter, "cannot be used: {message}")?,
        }
        if let Some(nearest) = nearest {
            write!(formatter, "; did you mean `{nearest}`?")?;
        }
        match kind {
            TypeTroubleKind::Missing => formatter.write_str("; `type` is a path from the crate's root"),
            _ => Ok(()),
        }
    }
}
