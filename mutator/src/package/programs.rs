//! A package whose programs are mutated: no simulation, but what one is a specification of.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cargo_metadata::{MetadataCommand, TargetKind};
use toml::{Table, Value};

use super::{PROBE_PACKAGE, Package, SystemSection, section_of};
use crate::error::MutatorError;
use crate::operators::Selection;

/// The feature by which the probes do as the environment says.
const FEATURE: &str = "program";

/// What of a package's programs is mutated.
#[derive(Debug, Clone, Copy)]
pub struct ProgramsSection<'a> {
    /// What reports call the programs.
    pub name: &'a str,
    /// The files that are mutated, as the section of a system names them.
    pub specification: &'a [String],
    /// The features that the package is compiled with, beside those that are on by default.
    pub features: &'a [String],
    /// Whether those by default are on.
    pub default_features: bool,
}

/// A package with programs, and the files of it that are mutated.
#[derive(Debug)]
pub struct Programs {
    /// Without a type, since no worker runs it; the system is the name of the programs.
    pub(crate) package: Package,
}

impl Programs {
    /// Finds the package of a manifest.
    ///
    /// # Errors
    /// If the manifest is not that of a package with programs, or `section` names what is not there or cannot be
    /// mutated.
    pub fn find(manifest: &Path, section: ProgramsSection<'_>) -> Result<Self, MutatorError> {
        let ProgramsSection { name, specification, features, default_features } = section;
        let refuse = |field: &str, message: String| MutatorError::Programs {
            manifest: manifest.into(),
            field: field.into(),
            message,
        };
        let metadata = MetadataCommand::new().manifest_path(manifest).exec()?;
        let own = manifest.canonicalize().map_err(|error| MutatorError::io("find", manifest, error))?;
        let package = metadata.packages.iter().find(|package| package.manifest_path == own);
        let package = package.ok_or_else(|| refuse("manifest", "is that of a workspace, and of no package".into()))?;
        if !package.targets.iter().any(|target| target.kind.contains(&TargetKind::Bin)) {
            return Err(refuse("manifest", "the package has no programs".into()));
        }
        let section = SystemSection {
            type_path: String::new(),
            specification: specification.to_vec(),
            dependencies: BTreeMap::new(),
            features: features.to_vec(),
            default_features,
            cost: None,
            test_time: None,
            testbed: None,
            reference: None,
            operators: Selection::default(),
            skip: Vec::new(),
        };
        let names = section_of(package)?.map(|section| section.names).unwrap_or_default();
        Ok(Self { package: Package::new(&metadata, package, name, &section, names, &refuse)? })
    }

    /// Returns the folder for the builds of the programs, below that of the workspace's build products: the same for
    /// all studies.
    pub fn build_directory(&self) -> PathBuf {
        self.package.directory("programs")
    }

    /// Returns the manifest of the copy in `folder`, whose probes are the crate at `probe`.
    pub(crate) fn manifest(&self, folder: &Path, probe: &Path) -> Result<Table, MutatorError> {
        let member = &self.package.members[0];
        let mut manifest = member.manifest_of_programs(&[(PROBE_PACKAGE, probe)], &|original| {
            self.package.copy_of(original, &[folder.to_owned()])
        });
        let probes = manifest.get_mut("dependencies").and_then(|dependencies| dependencies.get_mut(PROBE_PACKAGE));
        if let Some(Value::Table(probes)) = probes {
            probes.insert("features".into(), vec![FEATURE].into());
        }
        Ok(manifest)
    }

    /// Returns the workspace's settings for releases, for the workspace of the copy: what the mutants are mutants of is
    /// the release.
    pub(crate) fn profile(&self) -> Result<Table, MutatorError> {
        let mut workspace = self.package.workspace_manifest()?;
        let release = workspace.get_mut("profile").and_then(|profiles| profiles.as_table_mut()?.remove("release"));
        let release = release.map(|release| Table::from_iter([("release".to_owned(), release)]));
        Ok(release.map(|release| Table::from_iter([("profile".to_owned(), release.into())])).unwrap_or_default())
    }
}
