//! The system that is studied: where its package is, and how it is built.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use simutant_engine_source::Engine;
use simutant_mutator::{
    Build, BuildEvent, BuildRequest, EngineOrigin, Equivalence, MutatorError, OtherValue, Package, Selection, build,
    build_plain, build_testbed, compiler_equivalence, read_judgements,
};
use simutant_outcomes::{Judgement, quoted};

use crate::event::{Observer, StageEnd, StudyEvent, StudyStage};
use crate::{StudyError, event};

/// A request to study a system: its name, its manifest and its mutation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemRequest {
    /// The system's name, as the manifest of its package has it.
    pub system: String,
    /// The manifest of the package or workspace that has the system; `None` for that of the current folder, or else
    /// Simutant's own.
    pub manifest_path: Option<PathBuf>,
    /// The mutation operators; `None` for those that the manifest asks for.
    pub operators: Option<Selection>,
    /// How many replacements an operator makes.
    pub replacements: ReplacementSet,
    /// Constants of the specification that have other values than in its files.
    pub constants: Vec<OtherValue>,
}

/// The set of replacements that a mutation operator makes, where it has several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplacementSet {
    /// Those that subsume the others: three for a relation.
    #[default]
    Reduced,
    /// All: seven for a relation, four for an arithmetic operator.
    All,
}

/// A system whose package was found.
#[derive(Debug)]
pub struct StudiedSystem {
    /// What was asked for.
    pub request: SystemRequest,
    /// The package that has it.
    pub package: Package,
    /// The engine that it is built with: the copy that the package depends on.
    pub engine: Engine,
}

impl SystemRequest {
    /// Returns the request for a system of the current folder's workspace or of Simutant's, mutated as its manifest
    /// asks for.
    pub fn new(system: impl Into<String>) -> Self {
        Self {
            system: system.into(),
            manifest_path: None,
            operators: None,
            replacements: ReplacementSet::default(),
            constants: Vec::new(),
        }
    }

    /// Finds the package in the workspace of the given manifest, of the current folder, or of Simutant itself.
    ///
    /// # Errors
    /// [`StudyError::Package`] if no package has the system, or its manifest cannot be used, and
    /// [`StudyError::NoPackage`] if there is no manifest to look in; [`StudyError::Engine`] if no worker can be built of
    /// the engine that it depends on.
    pub fn find(&self) -> Result<StudiedSystem, StudyError> {
        let package = self.find_as_written()?.with_values(&self.constants)?;
        let engine = engine_of(&package)?;
        Ok(StudiedSystem { request: self.clone(), package, engine })
    }

    fn find_as_written(&self) -> Result<Package, StudyError> {
        if let Some(manifest) = &self.manifest_path {
            return find_package(manifest, &self.system);
        }
        let own = || Ok(Package::find(&Engine::own()?.manifest(), &self.system)?);
        let Some(manifest) = nearest_manifest() else {
            return own().map_err(|error| match error {
                StudyError::Package(MutatorError::UnknownSystem { system, mut known, .. }) => {
                    known.sort_unstable();
                    StudyError::NoPackage { system, known }
                }
                error => error,
            });
        };
        match find_package(&manifest, &self.system) {
            // Where neither has it, the user's own workspace is the one to name.
            Err(here @ StudyError::Package(MutatorError::UnknownSystem { .. })) => match own() {
                Err(StudyError::Package(_)) => Err(here),
                result => result,
            },
            result => result,
        }
    }

    /// Returns the arguments that ask the `simutant` command for this system, as a shell takes them.
    pub fn command_line(&self) -> String {
        let mut words = vec![self.system.clone()];
        if let Some(path) = &self.manifest_path {
            words.extend(["--manifest-path".into(), path.display().to_string()]);
        }
        if let Some(operators) = &self.operators {
            words.extend(["--operators".into(), operators.to_string()]);
        }
        if self.replacements == ReplacementSet::All {
            words.extend(["--replacements".into(), "all".into()]);
        }
        for constant in &self.constants {
            words.extend(["--constant".into(), constant.to_string()]);
        }
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    fn operators(&self, manifest: &Selection) -> Selection {
        let operators = self.operators.as_ref().unwrap_or(manifest).clone();
        match self.replacements {
            ReplacementSet::Reduced => operators,
            ReplacementSet::All => operators.with_all_replacements(),
        }
    }
}

impl StudiedSystem {
    /// Returns what people say of the system's mutants, by identity.
    ///
    /// # Errors
    /// [`StudyError::Judgements`] if the file cannot be used.
    pub fn judgements(&self) -> Result<BTreeMap<String, Judgement>, StudyError> {
        Ok(read_judgements(&self.package.judgements(), &self.request.system)?)
    }

    /// Builds the system once with all its mutants.
    ///
    /// # Errors
    /// [`StudyError::Instrument`] if it does not compile, or a file cannot be read or written.
    pub fn instrument(&self, observer: &Observer<'_>) -> Result<Build, StudyError> {
        let built = event::compiling(StudyStage::Instrument, observer, |progress| {
            self.with_request(|request| build(request, progress))
        });
        let built = built
            .map_err(|error| StudyError::Instrument { system: self.request.system.clone(), source: Box::new(error) })?;
        observer(StudyEvent::Ended(StageEnd::Instrumented(&built)));
        Ok(built)
    }

    /// Builds the system as it is written and returns the executable; what [`StudiedSystem::instrument`] compiled for
    /// both is not compiled again.
    ///
    /// # Errors
    /// [`StudyError::BuildPlain`] if it does not compile, or a file cannot be read or written.
    pub fn build_plain(&self, observer: &Observer<'_>) -> Result<PathBuf, StudyError> {
        let built = event::compiling(StudyStage::BuildPlain, observer, |progress| {
            self.with_request(|request| build_plain(request, progress))
        });
        let built = built
            .map_err(|error| StudyError::BuildPlain { system: self.request.system.clone(), source: Box::new(error) })?;
        observer(StudyEvent::Ended(StageEnd::PlainBuilt));
        Ok(built)
    }

    /// Compiles each mutant of `build` as a function of its own, and returns which have the machine code of the
    /// original, or of another mutant.
    ///
    /// # Errors
    /// [`StudyError::CompareMachineCode`] if they do not compile, or a file cannot be read or written.
    pub fn compare_machine_code(&self, build: &Build, observer: &Observer<'_>) -> Result<Equivalence, StudyError> {
        let compared = event::compiling(StudyStage::CompareMachineCode, observer, |progress| {
            self.with_request(|request| compiler_equivalence(request, build, progress))
        });
        let compared = compared.map_err(|error| StudyError::CompareMachineCode {
            system: self.request.system.clone(),
            source: Box::new(error),
        })?;
        observer(StudyEvent::Ended(StageEnd::MachineCodeCompared(&compared)));
        Ok(compared)
    }

    /// Builds the program that has the system's testbed, and returns its executable; `None` if the manifest names none. Constants
    /// have the values that they have in the files: real programs know of no others.
    ///
    /// # Errors
    /// [`StudyError`] if it does not compile, or is not there.
    pub fn build_testbed(&self, progress: &mut dyn FnMut(BuildEvent)) -> Result<Option<PathBuf>, StudyError> {
        let mut build = |system: &Self| Ok(system.with_request(|request| build_testbed(request, progress))?);
        if self.request.constants.is_empty() {
            return build(self);
        }
        build(&SystemRequest { constants: Vec::new(), ..self.request.clone() }.find()?)
    }

    /// Calls `action` with what the mutator asks for.
    pub(crate) fn with_request<T>(&self, action: impl FnOnce(&BuildRequest<'_>) -> T) -> T {
        action(&BuildRequest {
            package: &self.package,
            operators: &self.request.operators(self.package.operators()),
            directory: &self.package.build_directory(),
            worker: self.engine.worker(),
            probe: self.engine.probe(),
        })
    }
}

/// Finds the package of a user that has a system. It may depend on the engine in the user's cache, which is made again
/// if it is gone.
fn find_package(manifest: &Path, system: &str) -> Result<Package, StudyError> {
    let found = Package::find(manifest, system);
    if found.as_ref().err().and_then(engine_trouble).is_none() {
        return Ok(found?);
    }
    Engine::own()?;
    Package::find(manifest, system).map_err(|error| match engine_trouble(&error) {
        Some(message) => StudyError::EngineUnreadable { message: message.to_owned() },
        None => error.into(),
    })
}

/// Returns what cargo says if it cannot read a package for want of the engine, or because there are two.
fn engine_trouble(error: &MutatorError) -> Option<&str> {
    let MutatorError::Metadata(message) = error else { return None };
    let is_twice = message.contains("package collision") && message.contains("packages simutant-");
    (is_twice || message.contains("for dependency `simutant-")).then_some(message)
}

/// Returns the engine that a package is built with: a worker is linked with the package, and so has the same one.
fn engine_of(package: &Package) -> Result<Engine, StudyError> {
    match package.engine() {
        None => Ok(Engine::own()?),
        Some(engine) if engine.source == EngineOrigin::Path => Ok(Engine::containing(&engine.folder)?.check()?),
        Some(_) => Err(StudyError::EngineOrigin { package: package.name().to_owned() }),
    }
}

/// Returns the manifest of the current folder, or of the nearest one above; `None` if there is none.
pub fn nearest_manifest() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    folder.ancestors().map(|folder| folder.join("Cargo.toml")).find(|manifest| manifest.exists())
}
