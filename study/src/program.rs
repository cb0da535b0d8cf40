//! Programs that are built of what a package names in its manifest: specifications that judge histories, services whose
//! servers are tested, nets that are explored.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use cargo_metadata::{Metadata, MetadataCommand, Package, Target, TargetKind};
use serde::de::DeserializeOwned;
use serde_json::Value;
use simutant_engine_source::{Engine, EngineSourceError};
use simutant_mutator::{BuildEvent, BuildRequest, MutatorError, Named, ProgramRequest, build_program};

use crate::SystemRequest;
use crate::system::nearest_manifest;

/// How long to wait before looking again whether a program has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// The kind of what a package names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramKind {
    /// A specification of histories, in `[package.metadata.simutant.specifications.NAME]`.
    Specification,
    /// An HTTP service, in `[package.metadata.simutant.http.NAME]`.
    HttpService,
    /// A coloured Petri net, in `[package.metadata.simutant.nets.NAME]`.
    Net,
}

impl ProgramKind {
    /// Returns the section of the manifest.
    const fn section(self) -> &'static str {
        match self {
            Self::Specification => "specifications",
            Self::HttpService => "http",
            Self::Net => "nets",
        }
    }

    /// Returns the word for several.
    const fn plural(self) -> &'static str {
        match self {
            Self::Specification => "specifications",
            Self::HttpService => "HTTP services",
            Self::Net => "nets",
        }
    }

    /// Returns the package that it needs.
    const fn needs(self) -> &'static str {
        match self {
            Self::Specification => "simutant-oracle",
            Self::HttpService => "simutant-http-tester",
            Self::Net => "simutant-nets",
        }
    }

    /// Returns what the section takes, in words.
    const fn takes(self) -> &'static str {
        match self {
            Self::Specification | Self::HttpService => {
                "`type` (a path in the crate) and, if wanted, `initial` (an expression)"
            }
            Self::Net => "`net` (a function that returns it) and, if the function has some, `arguments` (a list)",
        }
    }
}

impl fmt::Display for ProgramKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Specification => "specification",
            Self::HttpService => "HTTP service",
            Self::Net => "net",
        })
    }
}

/// A request for what a package names: a specification, an HTTP service, or a net.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRequest {
    /// Its name, as the manifest of its package has it.
    pub name: String,
    /// The manifest of the package or workspace that has it; `None` for that of the current folder, or else Simutant's
    /// own.
    pub manifest_path: Option<PathBuf>,
}

/// What was found in the manifest of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found<S> {
    kind: ProgramKind,
    pub(crate) name: String,
    pub(crate) section: S,
    /// The package: its name, that of its library, its folder, and its manifest.
    package: String,
    pub(crate) library: String,
    folder: PathBuf,
    manifest: PathBuf,
    /// A system of the package, if it has one.
    system: Option<String>,
    /// The folder of the package that it needs.
    needed: PathBuf,
    workspace: PathBuf,
    target: PathBuf,
}

/// A program of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Program {
    kind: ProgramKind,
    name: String,
    pub(crate) executable: PathBuf,
}

/// Why what a package names cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// There is no package to look in but Simutant's own, and none of these has one of this name.
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
    /// No package of the workspace has one of this name, nor has Simutant, if it was asked.
    #[error(
        "no {kind} `{name}` in {}; {}", workspace.display(),
        if known.is_empty() {
            format!("name it in the package's Cargo.toml: [package.metadata.simutant.{}.NAME]", kind.section())
        } else {
            format!("known {}: {}", kind.plural(), known.join(", "))
        }
    )]
    Unknown {
        /// The kind of what was asked for.
        kind: ProgramKind,
        /// Its name.
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
        "{}: [package.metadata.simutant.{}.{name}]: {message}; it takes {}",
        manifest.display(), kind.section(), kind.takes()
    )]
    Manifest {
        /// The kind.
        kind: ProgramKind,
        /// The manifest.
        manifest: PathBuf,
        /// The name.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// The package does not depend by its path on what it needs.
    #[error(
        "{package}: it needs a dependency on `{needs}` by its path; `simutant init --vendor` puts the engine's source, with it, into the package"
    )]
    Needs {
        /// The package.
        package: String,
        /// The package that it needs.
        needs: &'static str,
    },
    /// Cargo cannot be started.
    #[error("cannot run cargo, which compiles the {0}; install Rust (https://rustup.rs): {1}")]
    NoCargo(ProgramKind, std::io::Error),
    /// The program cannot be built.
    #[error("cannot build the program of the {kind} `{name}`")]
    Build {
        /// The kind.
        kind: ProgramKind,
        /// The name.
        name: String,
        /// What the mutator says.
        source: Box<MutatorError>,
    },
    /// The program ended without an answer, as one that panics does.
    #[error("the program of the {kind} `{name}` gave no answer: {message}")]
    NoAnswer {
        /// The kind.
        kind: ProgramKind,
        /// The name.
        name: String,
        /// What it wrote, or how it ended.
        message: String,
    },
}

impl ProgramError {
    /// Adds the names of Simutant's to an error that nobody has one.
    fn with_own(mut self, names: Vec<String>) -> Self {
        if let Self::Unknown { own, .. } | Self::NoPackage { own } = &mut self {
            *own = names;
        }
        self
    }
}

impl NamedRequest {
    /// Finds it in the workspace of the given manifest, of the current folder, or of Simutant itself.
    pub(crate) fn find<S: DeserializeOwned>(&self, kind: ProgramKind) -> Result<Found<S>, ProgramError> {
        let find_in = |manifest: &Path| find_in(kind, &self.name, manifest);
        if let Some(manifest) = &self.manifest_path {
            return find_in(manifest);
        }
        let missing = match nearest_manifest().map(|manifest| find_in(&manifest)) {
            None => ProgramError::NoPackage { own: Vec::new() },
            Some(Err(error @ ProgramError::Unknown { .. })) => error,
            Some(result) => return result,
        };
        match find_in(&Engine::own()?.manifest()) {
            Err(ProgramError::Unknown { known, .. }) => Err(missing.with_own(known)),
            result => result,
        }
    }
}

fn find_in<S: DeserializeOwned>(kind: ProgramKind, name: &str, manifest: &Path) -> Result<Found<S>, ProgramError> {
    let metadata = MetadataCommand::new().manifest_path(manifest).exec().map_err(|error| match error {
        cargo_metadata::Error::Io(error) => ProgramError::NoCargo(kind, error),
        cargo_metadata::Error::CargoMetadata { stderr } => ProgramError::Metadata(stderr.trim().to_owned()),
        other => ProgramError::Metadata(other.to_string()),
    })?;
    let mut known = Vec::new();
    for package in metadata.workspace_packages() {
        let mut sections = sections(package, kind.section());
        if let Some(section) = sections.remove(name) {
            return Found::new(kind, name, &metadata, package, section);
        }
        known.extend(sections.into_keys());
    }
    known.sort_unstable();
    let (name, workspace, own) = (name.to_owned(), metadata.workspace_root.into(), Vec::new());
    Err(ProgramError::Unknown { kind, name, workspace, known, own })
}

impl<S: DeserializeOwned> Found<S> {
    fn new(
        kind: ProgramKind,
        name: &str,
        metadata: &Metadata,
        package: &Package,
        section: Value,
    ) -> Result<Self, ProgramError> {
        let refuse = |message: String| ProgramError::Manifest {
            kind,
            manifest: package.manifest_path.clone().into(),
            name: name.to_owned(),
            message,
        };
        let section = S::deserialize(section).map_err(|error| refuse(error.to_string()))?;
        let is_library =
            |target: &&Target| target.kind.iter().any(|kind| matches!(kind, TargetKind::Lib | TargetKind::RLib));
        let library = package.targets.iter().find(is_library);
        let library = library.ok_or_else(|| refuse("the package has no library".to_owned()))?.name.replace('-', "_");
        let needs = || ProgramError::Needs { package: package.name.to_string(), needs: kind.needs() };
        let depends = package.dependencies.iter().any(|dependency| dependency.name == kind.needs());
        let needed = metadata.packages.iter().find(|other| other.name == kind.needs() && other.source.is_none());
        let needed = needed.filter(|_| depends).ok_or_else(needs)?;
        let folder = |package: &Package| package.manifest_path.parent().map(PathBuf::from).unwrap_or_default();
        Ok(Self {
            kind,
            name: name.to_owned(),
            section,
            package: package.name.to_string(),
            library,
            folder: folder(package),
            manifest: package.manifest_path.clone().into(),
            system: sections(package, "systems").into_keys().next(),
            needed: folder(needed),
            workspace: metadata.workspace_root.clone().into(),
            target: metadata.target_directory.clone().into(),
        })
    }
}

impl<S> Found<S> {
    /// Builds a program, beside the plain build of a system of the package, if it has one: what was compiled for that is
    /// not compiled again.
    pub(crate) fn build(
        &self,
        named: Named<'_>,
        main: &str,
        progress: &mut dyn FnMut(BuildEvent),
    ) -> Result<Program, ProgramError> {
        let system = self.system.as_ref().and_then(|system| {
            let manifest_path = Some(self.manifest.clone());
            // What is wrong with a system is no matter of the program.
            SystemRequest { manifest_path, ..SystemRequest::new(system) }.find().ok()
        });
        let mut build = |system: Option<&BuildRequest<'_>>| {
            let request = ProgramRequest {
                name: &self.name,
                named,
                main,
                manifest: &self.manifest,
                dependencies: [(&self.package, &self.folder), (self.kind.needs(), &self.needed)],
                lock: &self.workspace.join("Cargo.lock"),
                products: &self.target.join("simutant"),
                system,
            };
            build_program(&request, progress)
        };
        let built = match &system {
            Some(system) => system.with_request(|request| build(Some(request))),
            None => build(None),
        };
        let (kind, name) = (self.kind, self.name.clone());
        let executable = built.map_err(|error| match error {
            MutatorError::NoCargo(error) => ProgramError::NoCargo(kind, error),
            error => ProgramError::Build { kind, name: name.clone(), source: Box::new(error) },
        })?;
        Ok(Program { kind, name, executable })
    }
}

impl Program {
    /// Returns the program's answer to a request: its last line.
    pub(crate) fn ask<R: DeserializeOwned>(
        &self,
        request: &impl serde::Serialize,
        from: Stdio,
    ) -> Result<R, ProgramError> {
        let request = serde_json::to_string(request).map_err(|error| self.no_answer(error.to_string()))?;
        let output = Command::new(&self.executable).arg(request).stdin(from).output();
        self.answer(&output.map_err(|error| self.no_answer(error.to_string()))?)
    }

    /// Returns the program's answer to a request, which is the first line of its standard input. Once `stop` is set, that ends,
    /// and it should answer soon.
    pub(crate) fn ask_until<R: DeserializeOwned>(
        &self,
        request: &impl serde::Serialize,
        stop: &AtomicBool,
    ) -> Result<R, ProgramError> {
        let failed = |error: std::io::Error| self.no_answer(error.to_string());
        // What asks this process to end, such as Ctrl-C, does not ask the program.
        let request = serde_json::to_string(request).map_err(|error| self.no_answer(error.to_string()))?;
        let mut command = Command::new(&self.executable);
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut program = command.spawn().map_err(failed)?;
        let mut input = program.stdin.take();
        let output = thread::scope(|scope| {
            let output = scope.spawn(|| program.wait_with_output());
            // A program that ends before it has read it all says why.
            _ = input.as_mut().map(|input| writeln!(input, "{request}"));
            while !output.is_finished() {
                if stop.load(Ordering::SeqCst) {
                    input = None;
                }
                thread::sleep(PAUSE);
            }
            output.join()
        });
        drop(input);
        self.answer(&output.expect("waiting does not panic").map_err(failed)?)
    }

    fn answer<R: DeserializeOwned>(&self, output: &Output) -> Result<R, ProgramError> {
        let text = String::from_utf8_lossy(&output.stdout);
        // What the package itself prints comes before, be it on the same line.
        let last = text.lines().next_back().unwrap_or_default();
        let reply = last.match_indices('{').find_map(|(begin, _)| serde_json::from_str(&last[begin..]).ok());
        reply.ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            self.no_answer(if said.is_empty() { format!("it ended with {}", output.status) } else { said })
        })
    }

    fn no_answer(&self, message: String) -> ProgramError {
        ProgramError::NoAnswer { kind: self.kind, name: self.name.clone(), message }
    }
}

/// Returns the sections of a package's systems, specifications or nets, by their names.
fn sections(package: &Package, kind: &str) -> BTreeMap<String, Value> {
    let sections = package.metadata.get("simutant").and_then(|section| section.get(kind));
    let sections = sections.and_then(Value::as_object);
    sections.into_iter().flatten().map(|(name, section)| (name.clone(), section.clone())).collect()
}
