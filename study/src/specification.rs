//! Specifications of packages, users' and Simutant's own: found in a manifest, and built as programs that judge
//! histories.
//!
//! ```toml
//! [package.metadata.simutant.specifications.tickets]
//! type = "Tickets"                # implements `simutant_oracle::Specification`
//! initial = "Tickets::from(100)"  # an expression; by default Default::default()
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::{Metadata, MetadataCommand, Package, Target, TargetKind};
use serde::Deserialize;
use serde_json::Value;
use simutant_engine_source::{Engine, EngineSourceError};
use simutant_mutator::{
    BuildEvent, BuildRequest, INITIAL_LINE, JudgingProgramRequest, MutatorError, TYPE_LINE, build_judging_program,
};
use simutant_oracle::judging::{JudgingReply, JudgingRequest};

use crate::SystemRequest;
use crate::system::nearest_manifest;

/// The package that has the trait which specifications implement.
const ORACLE: &str = "simutant-oracle";

/// A request for a specification, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecificationRequest {
    /// Its name, as the manifest of its package has it.
    pub name: String,
    /// The manifest of the package or workspace that has it; `None` for that of the current folder, or else Simutant's
    /// own.
    pub manifest_path: Option<PathBuf>,
}

/// A specification whose package was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageSpecification {
    name: String,
    section: Section,
    /// The package: its name, that of its library, its folder, and its manifest.
    package: String,
    library: String,
    folder: PathBuf,
    manifest: PathBuf,
    /// A system of the package, if it has one.
    system: Option<String>,
    /// The folder of the oracle that the package depends on.
    oracle: PathBuf,
    workspace: PathBuf,
    target: PathBuf,
}

/// A program that judges histories by a specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgingProgram {
    name: String,
    executable: PathBuf,
}

/// `[package.metadata.simutant.specifications.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    /// The path of the type that implements `Specification`, from the crate's root.
    #[serde(rename = "type")]
    type_path: String,
    /// An expression for the state that the service begins in.
    #[serde(default = "by_default")]
    initial: String,
}

fn by_default() -> String {
    "::std::default::Default::default()".to_owned()
}

/// Why a specification of a package cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpecificationError {
    /// There is no package to look in but Simutant's own, and none of these has a specification of this name.
    #[error("there is no Cargo.toml in this folder or above")]
    NoPackage {
        /// The names of Simutant's.
        own: Vec<String>,
    },
    /// Cargo cannot read the package.
    #[error("cannot read the package: {0}")]
    Metadata(String),
    /// Simutant's own source cannot be read or written.
    #[error(transparent)]
    Engine(#[from] EngineSourceError),
    /// No package of the workspace has a specification of this name, nor has Simutant, if it was asked.
    #[error(
        "no specification `{name}` in {}; {}", workspace.display(),
        if known.is_empty() {
            "name it in the package's Cargo.toml: [package.metadata.simutant.specifications.NAME]".to_owned()
        } else {
            format!("known specifications: {}", known.join(", "))
        }
    )]
    Unknown {
        /// The name asked for.
        name: String,
        /// The workspace that was searched.
        workspace: PathBuf,
        /// The names there are.
        known: Vec<String>,
        /// The names of Simutant's, if it was asked.
        own: Vec<String>,
    },
    /// The manifest's section is damaged.
    #[error(
        "{}: [package.metadata.simutant.specifications.{name}]: {message}; it takes `type` (a path in the crate) and, if wanted, `initial` (an expression)",
        manifest.display()
    )]
    Manifest {
        /// The manifest.
        manifest: PathBuf,
        /// The specification.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// The package does not depend on the oracle by its path.
    #[error(
        "{package}: it needs a dependency on `simutant-oracle` by its path; `simutant init --vendor` puts the engine's source, the oracle among it, into the package"
    )]
    NoOracle {
        /// The package.
        package: String,
    },
    /// Cargo cannot be started.
    #[error("cannot run cargo, which compiles the specification; install Rust (https://rustup.rs): {0}")]
    NoCargo(std::io::Error),
    /// The program cannot be built.
    #[error("cannot build the program of the specification `{name}`")]
    Build {
        /// The specification.
        name: String,
        /// What the mutator says.
        source: Box<MutatorError>,
    },
    /// The program ended without an answer, as one that panics does.
    #[error("the program of the specification `{name}` gave no answer: {message}")]
    NoAnswer {
        /// The specification.
        name: String,
        /// What it wrote, or how it ended.
        message: String,
    },
}

impl SpecificationRequest {
    /// Finds the package in the workspace of the given manifest, of the current folder, or of Simutant itself.
    ///
    /// # Errors
    /// [`SpecificationError`] if there is none, or its section or its dependencies cannot be used.
    pub fn find(&self) -> Result<PackageSpecification, SpecificationError> {
        if let Some(manifest) = &self.manifest_path {
            return self.find_in(manifest);
        }
        let missing = match nearest_manifest().map(|manifest| self.find_in(&manifest)) {
            None => SpecificationError::NoPackage { own: Vec::new() },
            Some(Err(error @ SpecificationError::Unknown { .. })) => error,
            Some(result) => return result,
        };
        match self.find_in(&Engine::own()?.manifest()) {
            Err(SpecificationError::Unknown { known, .. }) => Err(missing.with_own(known)),
            result => result,
        }
    }

    fn find_in(&self, manifest: &Path) -> Result<PackageSpecification, SpecificationError> {
        let metadata = MetadataCommand::new().manifest_path(manifest).exec().map_err(|error| match error {
            cargo_metadata::Error::Io(error) => SpecificationError::NoCargo(error),
            cargo_metadata::Error::CargoMetadata { stderr } => SpecificationError::Metadata(stderr.trim().to_owned()),
            other => SpecificationError::Metadata(other.to_string()),
        })?;
        let mut known = Vec::new();
        for package in metadata.workspace_packages() {
            let mut sections = sections(package, "specifications");
            if let Some(section) = sections.remove(&self.name) {
                return self.found(&metadata, package, section);
            }
            known.extend(sections.into_keys());
        }
        known.sort_unstable();
        let (name, workspace, own) = (self.name.clone(), metadata.workspace_root.into(), Vec::new());
        Err(SpecificationError::Unknown { name, workspace, known, own })
    }

    fn found(
        &self,
        metadata: &Metadata,
        package: &Package,
        section: Value,
    ) -> Result<PackageSpecification, SpecificationError> {
        let refuse = |message: String| SpecificationError::Manifest {
            manifest: package.manifest_path.clone().into(),
            name: self.name.clone(),
            message,
        };
        let section = Section::deserialize(section).map_err(|error| refuse(error.to_string()))?;
        let is_library =
            |target: &&Target| target.kind.iter().any(|kind| matches!(kind, TargetKind::Lib | TargetKind::RLib));
        let library = package.targets.iter().find(is_library);
        let library = library.ok_or_else(|| refuse("the package has no library".to_owned()))?.name.replace('-', "_");
        let no_oracle = || SpecificationError::NoOracle { package: package.name.to_string() };
        let depends = package.dependencies.iter().any(|dependency| dependency.name == ORACLE);
        let oracle = metadata.packages.iter().find(|other| other.name == ORACLE && other.source.is_none());
        let oracle = oracle.filter(|_| depends).ok_or_else(no_oracle)?;
        let folder = |package: &Package| package.manifest_path.parent().map(PathBuf::from).unwrap_or_default();
        Ok(PackageSpecification {
            name: self.name.clone(),
            section,
            package: package.name.to_string(),
            library,
            folder: folder(package),
            manifest: package.manifest_path.clone().into(),
            system: sections(package, "systems").into_keys().next(),
            oracle: folder(oracle),
            workspace: metadata.workspace_root.clone().into(),
            target: metadata.target_directory.clone().into(),
        })
    }
}

impl SpecificationError {
    /// Adds the names of Simutant's specifications to an error that nobody has one.
    fn with_own(mut self, names: Vec<String>) -> Self {
        if let Self::Unknown { own, .. } | Self::NoPackage { own } = &mut self {
            *own = names;
        }
        self
    }
}

impl PackageSpecification {
    /// Builds the program that judges histories by the specification, beside the plain build of a system of the package,
    /// if it has one: what was compiled for that is not compiled again.
    ///
    /// # Errors
    /// [`SpecificationError`] if it does not compile, or a file cannot be written.
    pub fn build(&self, progress: &mut dyn FnMut(BuildEvent)) -> Result<JudgingProgram, SpecificationError> {
        let system = self.system.as_ref().and_then(|system| {
            let manifest_path = Some(self.manifest.clone());
            // What is wrong with a system is no matter of the specification.
            SystemRequest { manifest_path, ..SystemRequest::new(system) }.find().ok()
        });
        let mut build = |system: Option<&BuildRequest<'_>>| {
            let Section { type_path, initial } = &self.section;
            let request = JudgingProgramRequest {
                name: &self.name,
                main: &self.main(),
                type_path,
                initial,
                manifest: &self.manifest,
                dependencies: [(&self.package, &self.folder), (ORACLE, &self.oracle)],
                lock: &self.workspace.join("Cargo.lock"),
                products: &self.target.join("simutant"),
                system,
            };
            build_judging_program(&request, progress)
        };
        let built = match &system {
            Some(system) => system.with_request(|request| build(Some(request))),
            None => build(None),
        };
        let executable = built.map_err(|error| match error {
            MutatorError::NoCargo(error) => SpecificationError::NoCargo(error),
            error => SpecificationError::Build { name: self.name.clone(), source: Box::new(error) },
        })?;
        Ok(JudgingProgram { name: self.name.clone(), executable })
    }

    fn main(&self) -> String {
        let Self { library, section: Section { type_path, initial }, .. } = self;
        format!(
            "//! Generated: judges histories by a specification.\n\n\
             #[allow(unused_imports)]\nuse ::{library}::*;\n\
             #[allow(unused_imports)]\nuse ::simutant_oracle::judging::JsonLinesAlone as _;\n\n\
             fn specified<S: ::simutant_oracle::Specification>() {{}}\n\n\
             fn main() -> ::std::process::ExitCode {{\n    \
             {TYPE_LINE}{type_path};\n    \
             specified::<Judged>();\n    \
             let begun = ::std::time::Instant::now();\n    \
             {INITIAL_LINE}{initial};\n    \
             let reading = ::simutant_oracle::judging::Formats::<Judged>::default().reading();\n    \
             let request = ::std::env::args().nth(1).unwrap_or_default();\n    \
             let watch = ::simutant_oracle::judging::Watch {{ elapsed: &|| begun.elapsed(), is_stopped: &|| false }};\n    \
             let (mut from, mut to) = (::std::io::stdin().lock(), ::std::io::stdout().lock());\n    \
             match ::simutant_oracle::judging::serve(&reading, &initial, &request, &mut from, &mut to, watch) {{\n        \
             Ok(()) => ::std::process::ExitCode::SUCCESS,\n        \
             Err(_) => ::std::process::ExitCode::FAILURE,\n    \
             }}\n}}\n"
        )
    }
}

impl JudgingProgram {
    /// Returns the executable.
    pub fn executable(&self) -> &Path {
        &self.executable
    }

    /// Judges the history in a file, or what else the standard input of the program is to be.
    ///
    /// # Errors
    /// [`SpecificationError::NoAnswer`] if the program panics, or ends otherwise without an answer.
    pub fn judge(&self, request: &JudgingRequest, from: Stdio) -> Result<JudgingReply, SpecificationError> {
        let no_answer = |message: String| SpecificationError::NoAnswer { name: self.name.clone(), message };
        let request = serde_json::to_string(request).map_err(|error| no_answer(error.to_string()))?;
        let output = Command::new(&self.executable).arg(request).stdin(from).output();
        let output = output.map_err(|error| no_answer(error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        // What the specification itself prints comes before, be it on the same line.
        let last = text.lines().next_back().unwrap_or_default();
        let reply = last.match_indices('{').find_map(|(begin, _)| serde_json::from_str(&last[begin..]).ok());
        reply.ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            no_answer(if said.is_empty() { format!("it ended with {}", output.status) } else { said })
        })
    }
}

/// Returns the sections of a package's systems or specifications, by their names.
fn sections(package: &Package, kind: &str) -> BTreeMap<String, Value> {
    let sections = package.metadata.get("simutant").and_then(|section| section.get(kind));
    let sections = sections.and_then(Value::as_object);
    sections.into_iter().flatten().map(|(name, section)| (name.clone(), section.clone())).collect()
}
