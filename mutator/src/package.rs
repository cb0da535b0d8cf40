//! The package that holds a system, as its manifest describes it, and the dependencies that are specification too.

mod features;
mod files;
mod graph;
mod member;
mod patches;
mod programs;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{Edition, Metadata, MetadataCommand, Target, TargetKind};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use simutant_outcomes::{CostOracle, TestTime};
use toml::Table;

use self::files::specification_files;
use self::graph::DependencyGraph;
use crate::error::MutatorError;
use crate::judgements::{FILE, FILE_END};
use crate::operators::Selection;
use crate::specification::skips::SkipPattern;
use crate::syntax::conditions::Conditions;
use crate::syntax::module_files::ModuleFile;
use crate::syntax::names::Names;
use crate::text::identity::Hash;

pub(crate) use self::features::Features;
pub(crate) use self::member::Member;
pub use self::programs::{Programs, ProgramsSection};
pub use self::values::OtherValue;

/// The package that instrumented copies depend on.
pub(crate) const PROBE_PACKAGE: &str = "simutant-probe";

/// The package that runs testbeds.
pub(crate) const HARNESS_PACKAGE: &str = "simutant-harness";

/// The package that runs simulations.
pub(crate) const ENGINE_PACKAGE: &str = "simutant-sim-core";

/// The section of a manifest's metadata that packages of the engine have, and workspaces that are copies of it. What
/// runs or judges a simulation cannot be what is simulated, unless the section says `specification = true`: of such a
/// package the system has a copy of its own.
pub(crate) const ENGINE_SECTION: &str = "simutant-engine";

/// How the name of a file with the figures of an earlier experiment ends: it is no source of the package.
pub(crate) const REFERENCE_END: &str = "reference.toml";

/// A package with a simulated system.
#[derive(Debug)]
pub struct Package {
    pub(crate) system: String,
    /// The path of the type that implements `System`, from the crate's root.
    pub(crate) type_path: String,
    /// What names are for.
    pub(crate) names: Names,
    /// The features that it is compiled with.
    pub(crate) features: Features,
    /// The mutation operators that the manifest asks for.
    operators: Selection,
    /// What the manifest leaves out of mutation.
    pub(crate) skips: Vec<SkipPattern>,
    /// The cost oracle that studies have by default.
    cost: Option<CostOracle>,
    /// What a test case takes on an implementation.
    test_time: Option<TestTime>,
    /// The program that has the system's testbed.
    testbed: Option<TestbedTarget>,
    /// The file with what an earlier experiment reports about the system, relative to the package's folder.
    reference: Option<String>,
    /// The file of the judgements on mutants, relative to the package's folder.
    judgements: String,
    /// The packages that the generated workspace has copies of: this one first, then the dependencies that are
    /// specification, and the local packages that stand between.
    pub(crate) members: Vec<Member>,
    /// The files that are specification: this package's first.
    pub(crate) files: Vec<SpecificationFile>,
    /// The workspace's folder.
    workspace_root: PathBuf,
    /// The workspace's lock file, if there is one.
    pub(crate) lock: PathBuf,
    /// The folder of the workspace's build products.
    target_directory: PathBuf,
    /// The folders of the packages that this one depends on and that are not from a registry, in order.
    pub(crate) local_dependencies: Vec<PathBuf>,
    /// The engine that it depends on, if it does.
    engine: Option<EnginePackage>,
    /// The folder of the harness that it depends on, if it does.
    harness: Option<PathBuf>,
    /// Where dependencies that are specification are taken from: for each its index among the members, and the keys of
    /// `[patch]` that stand for the sources.
    patched: Vec<(usize, Vec<String>)>,
    /// The texts of files in which constants have other values: see [`Package::with_values`].
    texts: BTreeMap<String, String>,
}

/// A file that is specification.
#[derive(Debug, Clone)]
pub(crate) struct SpecificationFile {
    /// Index among the members.
    pub(crate) member: usize,
    /// The path in its package, with `/`.
    pub(crate) path: String,
    /// The module that it holds, if a declaration leads to it.
    pub(crate) module: ModuleFile,
}

/// The engine that a package depends on, directly or through others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnginePackage {
    /// The folder of `simutant-sim-core`.
    pub folder: PathBuf,
    /// Where it comes from.
    pub source: EngineOrigin,
}

/// Where a package has the engine from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineOrigin {
    /// A folder, by its path.
    Path,
    /// A registry or a repository.
    Elsewhere,
}

/// `[package.metadata.simutant]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    /// The file of the judgements on mutants, relative to the package's folder.
    judgements: Option<String>,
    #[serde(default)]
    systems: BTreeMap<String, SystemSection>,
    /// Those of the oracle, which are not looked at here.
    #[serde(default)]
    #[expect(dead_code, reason = "it may be there")]
    specifications: serde::de::IgnoredAny,
    /// HTTP services, which are not looked at here either.
    #[serde(default)]
    #[expect(dead_code, reason = "it may be there")]
    http: serde::de::IgnoredAny,
    /// Nets, nor they.
    #[serde(default)]
    #[expect(dead_code, reason = "it may be there")]
    nets: serde::de::IgnoredAny,
    /// What names are for, beside those that are known.
    #[serde(default)]
    names: Names,
}

/// `[package.metadata.simutant.systems.NAME]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct SystemSection {
    /// The path of the type that implements `System`, from the crate's root.
    #[serde(rename = "type")]
    type_path: String,
    /// The files that are specification, relative to the package's folder: names or patterns.
    #[serde(default)]
    specification: Vec<String>,
    /// The same for dependencies, by package name, or `NAME@VERSION` where there are several.
    #[serde(default)]
    dependencies: BTreeMap<String, Vec<String>>,
    /// The package's features that the system needs, and whether those by default are on: what a dependency has under
    /// these names.
    #[serde(default)]
    features: Vec<String>,
    #[serde(default = "yes", rename = "default-features")]
    default_features: bool,
    /// The mutation operators, as [`Selection::parse`] takes them.
    #[serde(default, deserialize_with = "selection")]
    operators: Selection,
    /// What is left out of mutation.
    #[serde(default)]
    skip: Vec<SkipPattern>,
    /// The cost oracle of studies, as `--cost` takes it.
    #[serde(default, deserialize_with = "cost")]
    cost: Option<CostOracle>,
    /// What a test case takes on an implementation.
    #[serde(default, rename = "test-time")]
    test_time: Option<TestTime>,
    /// The program that has the system's testbed.
    #[serde(default)]
    testbed: Option<TestbedTarget>,
    /// The file with what an earlier experiment reports about the system, relative to the package's folder.
    #[serde(default)]
    reference: Option<String>,
}

/// A target of a system's package: a program that has the system's testbed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TestbedTarget {
    /// `examples/NAME.rs`: it may use dependencies that the package itself does not have.
    Example(String),
    /// `src/bin/NAME.rs`.
    Bin(String),
    /// The path of a constant of the library, of the harness's type `Testbeds`. It is compiled with the package's feature
    /// `testbed`, if there is one.
    Library(String),
}

fn cost<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<CostOracle>, D::Error> {
    String::deserialize(deserializer)?.parse().map(Some).map_err(D::Error::custom)
}

fn yes() -> bool {
    true
}

fn selection<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Selection, D::Error> {
    Selection::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl Package {
    /// Finds the package that has `system`, in the workspace of a manifest.
    ///
    /// # Errors
    /// If there is no such system, the manifest's section for it is damaged, or it names files or dependencies that are
    /// not there or cannot be mutated.
    pub fn find(manifest: &Path, system: &str) -> Result<Self, MutatorError> {
        let metadata = MetadataCommand::new().manifest_path(manifest).exec()?;
        let mut known = Vec::new();
        for package in metadata.workspace_packages() {
            let Some(section) = section_of(package)? else { continue };
            if let Some(of_system) = section.systems.get(system) {
                let judgements = section.judgements.unwrap_or_else(|| FILE.to_owned());
                if !judgements.ends_with(FILE_END) {
                    let manifest = package.manifest_path.clone().into();
                    let message = format!("`judgements` is `{judgements}`: its name must end in `{FILE_END}`");
                    return Err(MutatorError::Manifest { manifest, message });
                }
                let refuse = |field: &str, message: String| MutatorError::Specification {
                    manifest: package.manifest_path.clone().into(),
                    system: system.into(),
                    field: field.into(),
                    message,
                };
                let found = Self::new(&metadata, package, system, of_system, section.names, &refuse)?;
                return Ok(Self { judgements, ..found });
            }
            known.extend(section.systems.into_keys());
        }
        Err(MutatorError::UnknownSystem {
            system: system.into(),
            workspace: metadata.workspace_root.clone().into(),
            known,
        })
    }

    fn new(
        metadata: &Metadata,
        package: &cargo_metadata::Package,
        system: &str,
        section: &SystemSection,
        names: Names,
        refuse: &dyn Fn(&str, String) -> MutatorError,
    ) -> Result<Self, MutatorError> {
        if let Some(reference) = section.reference.as_ref().filter(|reference| !reference.ends_with(REFERENCE_END)) {
            return Err(refuse("reference", format!("is `{reference}`: its name must end in `{REFERENCE_END}`")));
        }
        if section.test_time.is_some_and(|time| !time.is_valid()) {
            return Err(refuse("test-time", "has a number that is negative; give seconds from 0 on".to_owned()));
        }
        let graph = DependencyGraph::new(metadata);
        let features = Features::new(package, &section.features, section.default_features)
            .map_err(|message| refuse("features", message))?;
        // What the section names, with its place there.
        let mut named = vec![(package, "specification".to_owned(), &section.specification)];
        for (name, entries) in &section.dependencies {
            let field = format!("dependencies.{name}");
            let dependency = graph.find(&package.id, name).map_err(|message| refuse("dependencies", message))?;
            if let Some(reason) = obstacle(dependency) {
                return Err(refuse(&field, reason.to_owned()));
            }
            if entries.is_empty() {
                return Err(refuse(&field, "names no files".to_owned()));
            }
            named.push((dependency, field, entries));
        }
        let target = Conditions::of_target()?;
        let mut members = Vec::new();
        let mut files = Vec::new();
        let mut patched = Vec::new();
        for (member, (package, field, entries)) in named.iter().enumerate() {
            let conditions = match member {
                0 => target.of(package, features.enabled().clone()),
                _ => graph.conditions(package, &target),
            };
            let short_name = (member > 0).then(|| graph.short_name(package));
            members.push(match member > 0 && is_of_engine(package) {
                true => Member::apart(package, short_name, conditions),
                false => Member::new(package, short_name, conditions),
            });
            let (root, mut modules) = (members[member].root(), members[member].modules());
            let paths = specification_files(root, entries, &modules).map_err(|message| refuse(field, message))?;
            let mut module = |path: &str| modules.remove(&root.join(path)).unwrap_or_default();
            files.extend(paths.into_iter().map(|path| SpecificationFile { member, module: module(&path), path }));
            if member > 0 && package.source.is_some() {
                patched.push((member, graph.patch_keys(package)));
            }
        }
        if files.is_empty() {
            let message = "names no files, and `dependencies` names no others";
            return Err(refuse("specification", message.to_owned()));
        }
        if package.edition == Edition::E2015 && !section.specification.is_empty() {
            return Err(refuse("specification", EDITION_2015.to_owned()));
        }
        // The engine keeps what it is made of, and does not stand between.
        let of_user = named[1..].iter().filter(|(package, ..)| !is_of_engine(package));
        let instrumented: Vec<_> = of_user.map(|(package, ..)| &package.id).collect();
        for between in graph.local_dependents(&package.id, &instrumented) {
            let conditions = graph.conditions(between, &target);
            members.push(Member::new(between, Some(graph.short_name(between)), conditions));
        }
        Ok(Self {
            system: system.into(),
            type_path: section.type_path.clone(),
            names,
            features,
            operators: section.operators.clone(),
            skips: section.skip.clone(),
            cost: section.cost.clone(),
            test_time: section.test_time,
            testbed: section.testbed.clone(),
            reference: section.reference.clone(),
            judgements: FILE.to_owned(),
            members,
            files,
            workspace_root: metadata.workspace_root.clone().into(),
            lock: metadata.workspace_root.join("Cargo.lock").into(),
            target_directory: metadata.target_directory.clone().into(),
            local_dependencies: graph.local_dependencies(&package.id),
            engine: graph.find(&package.id, ENGINE_PACKAGE).ok().map(EnginePackage::new),
            harness: harness_of(metadata),
            patched,
            texts: BTreeMap::new(),
        })
    }

    /// Returns the mutation operators that the manifest asks for: all of tiers A and B unless it says otherwise.
    pub fn operators(&self) -> &Selection {
        &self.operators
    }

    /// Returns the cost oracle that the manifest asks for: none unless it says otherwise.
    pub fn cost(&self) -> Option<&CostOracle> {
        self.cost.as_ref()
    }

    /// Returns what a test case takes on an implementation, if the manifest says it.
    pub fn test_time(&self) -> Option<TestTime> {
        self.test_time
    }

    /// Returns whether the manifest names a program that has the system's testbed.
    pub fn has_testbed(&self) -> bool {
        self.testbed.is_some()
    }

    /// Returns the program that has the system's testbed, if the manifest names one.
    pub(crate) fn testbed(&self) -> Option<&TestbedTarget> {
        self.testbed.as_ref()
    }

    /// Returns the path of the testbeds in the package's library, if they are there.
    pub(crate) fn testbed_library(&self) -> Option<&str> {
        match &self.testbed {
            Some(TestbedTarget::Library(path)) => Some(path),
            _ => None,
        }
    }

    /// Returns the folder of the harness, if the package depends on it by its path.
    pub(crate) fn harness(&self) -> Option<&Path> {
        self.harness.as_deref()
    }

    /// Returns the name of the package's library in code.
    pub(crate) fn library(&self) -> String {
        let is_library = |target: &&Target| target.kind.contains(&TargetKind::Lib);
        let library = self.members[0].metadata.targets.iter().find(is_library);
        library.map_or(self.name(), |library| &library.name).replace('-', "_")
    }

    /// Returns the features that the system is compiled with, and one more if the package has it.
    pub(crate) fn features_with(&self, feature: &str) -> Features {
        self.features.with(&self.members[0].metadata, feature)
    }

    /// Returns the features that a target of the package asks for.
    pub(crate) fn required_features(&self, target: &str) -> impl Iterator<Item = &str> {
        let targets = self.members[0].metadata.targets.iter().filter(move |known| known.name == target);
        targets.flat_map(|known| known.required_features.iter().map(String::as_str))
    }

    /// Returns the path of the file with what an earlier experiment reports about the system, if the manifest names
    /// one.
    pub fn reference(&self) -> Option<PathBuf> {
        self.reference.as_ref().map(|reference| self.members[0].root().join(reference))
    }

    /// Returns the path of the file with the judgements on mutants, which need not be there.
    pub fn judgements(&self) -> PathBuf {
        self.members[0].root().join(&self.judgements)
    }

    /// Returns the folder for the builds of the system, below that of the workspace's build products: the same for all
    /// studies, so that what is compiled for one serves the others, and an edit costs what it changes.
    pub fn build_directory(&self) -> PathBuf {
        self.directory("systems")
    }

    /// Returns the folder for the builds of this package among those of a kind.
    fn directory(&self, kind: &str) -> PathBuf {
        let mut folder = Hash::default();
        folder.write(self.members[0].root().as_os_str().as_encoded_bytes());
        self.products().join(kind).join(format!("{}-{:016x}", self.system, folder.0))
    }

    /// Returns the folder for what cargo builds: apart from the ordinary builds, whose settings differ, and together
    /// for all systems, which share dependencies.
    pub fn products(&self) -> PathBuf {
        self.target_directory.join("simutant")
    }

    /// Returns the package's folder.
    pub fn folder(&self) -> &Path {
        self.members[0].root()
    }

    /// Returns the path of the package's manifest.
    pub(crate) fn manifest_path(&self) -> &Path {
        self.members[0].metadata.manifest_path.as_std_path()
    }

    /// Returns the engine that the package depends on; `None` if there is none, or several.
    pub fn engine(&self) -> Option<&EnginePackage> {
        self.engine.as_ref()
    }

    /// Returns the package's name.
    pub fn name(&self) -> &str {
        &self.members[0].metadata.name
    }

    /// Returns the paths of a member's specification files in it.
    pub(crate) fn files_of(&self, member: usize) -> Vec<&str> {
        self.files.iter().filter(|file| file.member == member).map(|file| file.path.as_str()).collect()
    }

    /// Returns the source files of the folders that have files of the specification, those of tests left out, by name:
    /// constants of a system may stand beside what is mutated of it.
    pub fn sources(&self) -> Vec<PathBuf> {
        let folder = |file: &SpecificationFile| {
            let path = self.members[file.member].root().join(&file.path);
            path.parent().map(Path::to_path_buf)
        };
        let folders: BTreeSet<PathBuf> = self.files.iter().filter_map(folder).collect();
        let files = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten();
        let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
        files.retain(|file| {
            let is_source = file.extension().is_some_and(|extension| extension == "rs");
            is_source && file.file_stem().is_some_and(|stem| stem != "tests") && file.is_file()
        });
        files.sort();
        files
    }

    /// Returns the path of a specification file as reports have it: in this package, or after the name of another one.
    pub(crate) fn label(&self, file: &SpecificationFile) -> String {
        match &self.members[file.member].short_name {
            Some(name) => format!("{name}/{}", file.path),
            None => file.path.clone(),
        }
    }

    /// Returns a manifest for the copy of a member: nothing inherited, every path absolute, `extra` dependencies (name,
    /// folder) added, development dependencies left out. `folders` are those of the members' copies.
    pub(crate) fn manifest(
        &self,
        member: usize,
        extra: &[(&str, &Path)],
        folders: &[PathBuf],
    ) -> Result<Table, MutatorError> {
        self.members[member].manifest(extra, &|original| self.copy_of(original, folders))
    }

    /// Returns the sections `patch` and `replace` for the generated workspace: the user's, and those that put the
    /// members' copies in the place of packages from registries and repositories.
    pub(crate) fn patches(&self, folders: &[PathBuf]) -> Result<Table, MutatorError> {
        let text = self.workspace_manifest()?;
        let copies = self.patched.iter().map(|(member, keys)| (&self.members[*member], &folders[*member], &keys[..]));
        Ok(patches::patches(&text, &self.workspace_root, &copies.collect::<Vec<_>>(), &|original| {
            self.copy_of(original, folders)
        }))
    }

    /// Returns the user's sections `patch` and `replace`, for a workspace elsewhere.
    pub(crate) fn own_patches(&self) -> Result<Table, MutatorError> {
        Ok(patches::patches(&self.workspace_manifest()?, &self.workspace_root, &[], &|_| None))
    }

    fn workspace_manifest(&self) -> Result<Table, MutatorError> {
        let manifest = self.workspace_root.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).map_err(|error| MutatorError::io("read", &manifest, error))?;
        toml::from_str(&text).map_err(|error| MutatorError::Metadata(error.to_string()))
    }

    /// Returns the folder of the copy of the package in a folder, if there is one.
    fn copy_of(&self, original: &Path, folders: &[PathBuf]) -> Option<PathBuf> {
        let original = original.canonicalize().ok()?;
        let is_it = |member: &Member| member.root().canonicalize().is_ok_and(|root| root == original);
        self.members.iter().position(is_it).map(|member| folders[member].clone())
    }
}

impl EnginePackage {
    fn new(package: &cargo_metadata::Package) -> Self {
        let folder = package.manifest_path.parent().map(PathBuf::from).unwrap_or_default();
        let source = if package.source.is_none() { EngineOrigin::Path } else { EngineOrigin::Elsewhere };
        Self { folder, source }
    }
}

/// Returns the folder of the harness, if a package of the workspace depends on it by its path.
fn harness_of(metadata: &Metadata) -> Option<PathBuf> {
    let is_harness = |package: &&cargo_metadata::Package| package.name == HARNESS_PACKAGE && package.source.is_none();
    Some(metadata.packages.iter().find(is_harness)?.manifest_path.parent()?.into())
}

/// What is wrong with packages whose paths begin at their own root.
const EDITION_2015: &str = "the package is of edition 2015, in which instrumented code cannot name the probes; \
                            `cargo fix --edition` brings it to 2018";

/// Returns whether a package is a part of the engine.
fn is_of_engine(package: &cargo_metadata::Package) -> bool {
    package.metadata.get(ENGINE_SECTION).is_some()
}

/// Returns why a dependency cannot be specification.
fn obstacle(package: &cargo_metadata::Package) -> Option<&'static str> {
    let is_of = |kind: TargetKind| package.targets.iter().any(|target| target.kind.contains(&kind));
    let may_be_specification = |section: &serde_json::Value| section["specification"] == true;
    if is_of_engine(package) && !package.metadata.get(ENGINE_SECTION).is_some_and(may_be_specification) {
        Some("the engine runs the simulation, and cannot be what is simulated")
    } else if is_of_engine(package) && package.source.is_some() {
        Some("it is a part of the engine, of which the system can have a copy of its own if it is taken by its path")
    } else if is_of(TargetKind::ProcMacro) {
        Some("a procedural macro runs in the compiler, not in the simulation")
    } else if package.edition == Edition::E2015 {
        Some(EDITION_2015)
    } else {
        None
    }
}

fn section_of(package: &cargo_metadata::Package) -> Result<Option<Section>, MutatorError> {
    let Some(section) = package.metadata.get("simutant") else { return Ok(None) };
    Section::deserialize(section).map(Some).map_err(|error| MutatorError::Manifest {
        manifest: package.manifest_path.clone().into(),
        message: error.to_string(),
    })
}
