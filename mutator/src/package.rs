//! The package that holds a system, as its manifest describes it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, PackageId, TargetKind};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::{Table, Value};

use crate::names::Names;
use crate::{MutatorError, Selection};

/// A package with a simulated system.
#[derive(Debug)]
pub struct Package {
    pub(crate) metadata: cargo_metadata::Package,
    pub(crate) system: String,
    pub(crate) section: SystemSection,
    /// What names are for.
    pub(crate) names: Names,
    /// The workspace's lock file, if there is one.
    pub(crate) lock: PathBuf,
    /// The folder of the workspace's build products.
    pub(crate) target_directory: PathBuf,
    /// The folders of the packages that this one depends on and that are not from a registry, in order.
    pub(crate) local_dependencies: Vec<PathBuf>,
}

/// `[package.metadata.simutant]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    systems: BTreeMap<String, SystemSection>,
    /// What names are for, beside those that are known.
    #[serde(default)]
    names: Names,
}

/// `[package.metadata.simutant.systems.NAME]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SystemSection {
    /// The path of the type that implements `System`, from the crate's root.
    #[serde(rename = "type")]
    pub(crate) type_path: String,
    /// The files that are specification, relative to the package's folder.
    pub(crate) specification: Vec<String>,
    /// The mutation operators, as [`Selection::parse`] takes them.
    #[serde(default, deserialize_with = "selection")]
    pub(crate) operators: Selection,
}

fn selection<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Selection, D::Error> {
    Selection::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

impl Package {
    /// Finds the package that has `system`, in the workspace of a manifest.
    ///
    /// # Errors
    /// If there is no such system, or the manifest's section for it is damaged.
    pub fn find(manifest: &Path, system: &str) -> Result<Self, MutatorError> {
        let metadata = MetadataCommand::new().manifest_path(manifest).exec()?;
        let mut known = Vec::new();
        for package in metadata.workspace_packages() {
            let Some(section) = section_of(package)? else { continue };
            if let Some(system_section) = section.systems.get(system) {
                let (section, names) = (system_section.clone(), section.names);
                return Ok(Self::new(&metadata, package.clone(), system, section, names));
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
        package: cargo_metadata::Package,
        system: &str,
        section: SystemSection,
        names: Names,
    ) -> Self {
        let local_dependencies = local_dependencies(metadata, &package.id);
        Self {
            metadata: package,
            system: system.into(),
            section,
            names,
            lock: metadata.workspace_root.join("Cargo.lock").into(),
            target_directory: metadata.target_directory.clone().into(),
            local_dependencies,
        }
    }

    /// Returns the package's folder.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.manifest_path.parent().map_or(Path::new("."), |path| path.as_std_path())
    }

    /// Returns the mutation operators that the manifest asks for: all of tiers A and B unless it says otherwise.
    pub fn operators(&self) -> &Selection {
        &self.section.operators
    }

    /// Returns the package's name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// Returns the package's library.
    pub(crate) fn library(&self) -> Result<&cargo_metadata::Target, MutatorError> {
        let is_library = |target: &&cargo_metadata::Target| {
            target.kind.iter().any(|kind| matches!(kind, TargetKind::Lib | TargetKind::RLib))
        };
        let manifest = self.metadata.manifest_path.clone().into();
        self.metadata.targets.iter().find(is_library).ok_or(MutatorError::NoLibrary { manifest })
    }

    /// Returns a manifest for a copy of the package elsewhere: nothing inherited, every path absolute, `extra`
    /// dependencies (name, folder) added, development dependencies left out.
    pub(crate) fn manifest(&self, extra: &[(&str, &Path)]) -> Result<Table, MutatorError> {
        let library = self.library()?;
        let relative = |path: &Path| path.strip_prefix(self.root()).unwrap_or(path).display().to_string();

        let mut package = Table::new();
        package.insert("name".into(), self.metadata.name.to_string().into());
        package.insert("version".into(), self.metadata.version.to_string().into());
        package.insert("edition".into(), self.metadata.edition.to_string().into());
        package.insert("autobins".into(), false.into());
        for kind in ["autoexamples", "autotests", "autobenches"] {
            package.insert(kind.into(), false.into());
        }
        let is_script = |target: &&cargo_metadata::Target| target.kind.contains(&TargetKind::CustomBuild);
        let script = self.metadata.targets.iter().find(is_script);
        let script = script.map(|script| relative(script.src_path.as_std_path()).into());
        package.insert("build".into(), script.unwrap_or(Value::Boolean(false)));

        let mut lib = Table::new();
        lib.insert("name".into(), library.name.clone().into());
        lib.insert("path".into(), relative(library.src_path.as_std_path()).into());

        let mut manifest = Table::new();
        manifest.insert("package".into(), package.into());
        manifest.insert("lib".into(), lib.into());
        for dependency in &self.metadata.dependencies {
            let section = match dependency.kind {
                DependencyKind::Normal => "dependencies",
                DependencyKind::Build => "build-dependencies",
                _ => continue,
            };
            let table = match &dependency.target {
                Some(platform) => {
                    let targets = subtable(&mut manifest, "target");
                    subtable(subtable(targets, &platform.to_string()), section)
                }
                None => subtable(&mut manifest, section),
            };
            let name = dependency.rename.as_ref().unwrap_or(&dependency.name);
            table.insert(name.clone(), dependency_table(dependency).into());
        }
        let dependencies = subtable(&mut manifest, "dependencies");
        for (name, path) in extra {
            let mut dependency = Table::new();
            dependency.insert("path".into(), path.display().to_string().into());
            dependencies.insert((*name).into(), dependency.into());
        }
        let features: Table =
            self.metadata.features.iter().map(|(name, enables)| (name.clone(), enables.clone().into())).collect();
        manifest.insert("features".into(), features.into());
        Ok(manifest)
    }
}

/// Returns the folders of the local packages that a package depends on, in order.
fn local_dependencies(metadata: &Metadata, package: &PackageId) -> Vec<PathBuf> {
    let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
    let needs: BTreeMap<&PackageId, &[PackageId]> = nodes.map(|node| (&node.id, &node.dependencies[..])).collect();
    let mut found = BTreeSet::new();
    let mut open = vec![package];
    while let Some(id) = open.pop() {
        let next = needs.get(id).copied().unwrap_or_default();
        open.extend(next.iter().filter(|id| found.insert(*id)));
    }
    let is_local = |package: &&cargo_metadata::Package| package.source.is_none() && found.contains(&package.id);
    let folders = metadata.packages.iter().filter(is_local).filter_map(|package| package.manifest_path.parent());
    let mut folders: Vec<PathBuf> = folders.map(PathBuf::from).collect();
    folders.sort();
    folders
}

fn section_of(package: &cargo_metadata::Package) -> Result<Option<Section>, MutatorError> {
    let Some(section) = package.metadata.get("simutant") else { return Ok(None) };
    Section::deserialize(section).map(Some).map_err(|error| MutatorError::Manifest {
        manifest: package.manifest_path.clone().into(),
        message: error.to_string(),
    })
}

fn subtable<'t>(table: &'t mut Table, name: &str) -> &'t mut Table {
    let entry = table.entry(name).or_insert_with(|| Value::Table(Table::new()));
    entry.as_table_mut().expect("only tables are put under these names")
}

fn dependency_table(dependency: &cargo_metadata::Dependency) -> Table {
    let mut table = Table::new();
    if dependency.rename.is_some() {
        table.insert("package".into(), dependency.name.clone().into());
    }
    match (&dependency.path, dependency.source.as_ref().map(|source| source.repr.as_str())) {
        (Some(path), _) => {
            table.insert("path".into(), path.to_string().into());
        }
        (None, Some(source)) if source.starts_with("git+") => {
            let (url, query) = source["git+".len()..].split_once('?').unwrap_or((&source["git+".len()..], ""));
            table.insert("git".into(), url.into());
            if let Some((key, value)) = query.split_once('=') {
                table.insert(key.into(), value.into());
            }
        }
        _ => {
            table.insert("version".into(), dependency.req.to_string().into());
        }
    }
    if let Some(registry) = &dependency.registry {
        table.insert("registry-index".into(), registry.clone().into());
    }
    table.insert("default-features".into(), dependency.uses_default_features.into());
    table.insert("features".into(), dependency.features.clone().into());
    table.insert("optional".into(), dependency.optional.into());
    table
}
