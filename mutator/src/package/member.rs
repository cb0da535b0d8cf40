//! A package that the generated workspace has a copy of.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::semver::BuildMetadata;
use cargo_metadata::{Dependency, DependencyKind, Target, TargetKind};
use toml::{Table, Value};

use crate::error::MutatorError;
use crate::syntax::conditions::Conditions;
use crate::syntax::module_files::{ModuleFile, module_files};

/// What follows the version of a copy that stands beside the package itself.
const COPY: &str = "specification";

/// A package that is copied.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) metadata: cargo_metadata::Package,
    /// What reports call it; nothing for the package that has the system.
    pub(crate) short_name: Option<String>,
    /// What holds when it is compiled.
    pub(crate) conditions: Conditions,
}

impl Member {
    pub(super) fn new(metadata: &cargo_metadata::Package, short_name: Option<String>, conditions: Conditions) -> Self {
        Self { metadata: metadata.clone(), short_name, conditions }
    }

    /// Returns a member whose copy stands beside the package itself, which others go on with. Cargo tells packages of
    /// one name apart by their versions.
    pub(super) fn apart(
        metadata: &cargo_metadata::Package,
        short_name: Option<String>,
        conditions: Conditions,
    ) -> Self {
        let mut member = Self::new(metadata, short_name, conditions);
        member.metadata.version.build = BuildMetadata::new(COPY).unwrap_or_default();
        member
    }

    /// Returns the package's folder.
    pub(crate) fn root(&self) -> &Path {
        self.metadata.manifest_path.parent().map_or(Path::new("."), |path| path.as_std_path())
    }

    /// Returns what cargo knows the package by.
    pub(crate) fn specifier(&self) -> String {
        format!("{}@{}", self.metadata.name, self.metadata.version)
    }

    /// Returns the package's library.
    pub(crate) fn library(&self) -> Result<&Target, MutatorError> {
        let is_library =
            |target: &&Target| target.kind.iter().any(|kind| matches!(kind, TargetKind::Lib | TargetKind::RLib));
        let manifest = self.metadata.manifest_path.clone().into();
        self.metadata.targets.iter().find(is_library).ok_or(MutatorError::NoLibrary { manifest })
    }

    /// Returns which module each file of the library and the programs holds, and whether it is compiled.
    pub(crate) fn modules(&self) -> BTreeMap<PathBuf, ModuleFile> {
        let mut found: BTreeMap<PathBuf, ModuleFile> = BTreeMap::new();
        let is_library =
            |target: &&Target| target.kind.iter().any(|kind| matches!(kind, TargetKind::Lib | TargetKind::RLib));
        let (libraries, others): (Vec<_>, Vec<_>) = self.metadata.targets.iter().partition(is_library);
        let programs = others.into_iter().filter(|target| target.kind.contains(&TargetKind::Bin));
        let of_library = libraries.into_iter().map(|target| (target, target.name.replace('-', "_")));
        // A program has the library's name, or that of another crate.
        let of_programs = programs.map(|target| (target, format!("program {}", target.name)));
        for (target, name) in of_library.chain(of_programs) {
            for (file, module) in module_files(target.src_path.as_std_path(), &name, &self.conditions) {
                let is_first = found.get(&file).is_none_or(|found| found.left_out.is_some());
                if is_first {
                    found.insert(file, module);
                }
            }
        }
        found
    }

    pub(super) fn manifest(
        &self,
        extra: &[(&str, &Path)],
        copy_of: &dyn Fn(&Path) -> Option<PathBuf>,
    ) -> Result<Table, MutatorError> {
        let mut manifest = self.manifest_without_targets(extra, copy_of);
        manifest.insert("lib".into(), self.target_section(self.library()?).into());
        Ok(manifest)
    }

    /// Returns the same with the package's programs, and its library if it has one.
    pub(super) fn manifest_of_programs(
        &self,
        extra: &[(&str, &Path)],
        copy_of: &dyn Fn(&Path) -> Option<PathBuf>,
    ) -> Table {
        let mut manifest = self.manifest_without_targets(extra, copy_of);
        if let Ok(library) = self.library() {
            manifest.insert("lib".into(), self.target_section(library).into());
        }
        let programs = self.metadata.targets.iter().filter(|target| target.kind.contains(&TargetKind::Bin));
        let programs: Vec<Value> = programs.map(|program| self.target_section(program).into()).collect();
        manifest.insert("bin".into(), programs.into());
        manifest
    }

    fn target_section(&self, target: &Target) -> Table {
        let mut section = Table::new();
        section.insert("name".into(), target.name.clone().into());
        section.insert("path".into(), self.relative(target.src_path.as_std_path()).into());
        if !target.required_features.is_empty() {
            section.insert("required-features".into(), target.required_features.clone().into());
        }
        section
    }

    fn manifest_without_targets(&self, extra: &[(&str, &Path)], copy_of: &dyn Fn(&Path) -> Option<PathBuf>) -> Table {
        let mut manifest = Table::new();
        manifest.insert("package".into(), self.package_section().into());
        let kept = |dependency: &&Dependency| dependency.kind != DependencyKind::Development;
        for dependency in self.metadata.dependencies.iter().filter(kept) {
            let section = match dependency.kind {
                DependencyKind::Build => "build-dependencies",
                _ => "dependencies",
            };
            let table = match &dependency.target {
                Some(platform) => {
                    let targets = subtable(&mut manifest, "target");
                    subtable(subtable(targets, &platform.to_string()), section)
                }
                None => subtable(&mut manifest, section),
            };
            table.insert(name_of(dependency).into(), dependency_table(dependency, copy_of).into());
        }
        let dependencies = subtable(&mut manifest, "dependencies");
        for (name, path) in extra {
            let mut dependency = Table::new();
            dependency.insert("path".into(), path.display().to_string().into());
            dependencies.insert((*name).into(), dependency.into());
        }
        manifest.insert("features".into(), self.features().into());
        manifest
    }

    fn package_section(&self) -> Table {
        let metadata = &self.metadata;
        let mut package = Table::new();
        package.insert("name".into(), metadata.name.to_string().into());
        package.insert("version".into(), metadata.version.to_string().into());
        package.insert("edition".into(), metadata.edition.to_string().into());
        package.insert("publish".into(), false.into());
        for kind in ["autobins", "autoexamples", "autotests", "autobenches"] {
            package.insert(kind.into(), false.into());
        }
        let script = metadata.targets.iter().find(|target| target.kind.contains(&TargetKind::CustomBuild));
        let script = script.map(|script| self.relative(script.src_path.as_std_path()).into());
        package.insert("build".into(), script.unwrap_or(Value::Boolean(false)));
        // Code reads some of these by `env!`.
        let texts = [
            ("description", &metadata.description),
            ("license", &metadata.license),
            ("repository", &metadata.repository),
            ("homepage", &metadata.homepage),
            ("links", &metadata.links),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                package.insert(key.into(), text.clone().into());
            }
        }
        package.insert("authors".into(), metadata.authors.clone().into());
        package
    }

    /// Returns the features, without what they say of packages that only tests need.
    fn features(&self) -> Table {
        let kept =
            self.metadata.dependencies.iter().filter(|dependency| dependency.kind != DependencyKind::Development);
        let kept: BTreeSet<&str> = kept.map(name_of).collect();
        let is_kept = |enabled: &&String| match enabled.split_once('/') {
            Some((dependency, _)) => kept.contains(dependency.trim_end_matches('?')),
            None => true,
        };
        let enables = |enabled: &[String]| enabled.iter().filter(is_kept).cloned().collect::<Vec<_>>();
        self.metadata.features.iter().map(|(name, enabled)| (name.clone(), enables(enabled).into())).collect()
    }

    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(self.root()).unwrap_or(path).display().to_string()
    }
}

/// Returns the name that code and features have for a dependency.
fn name_of(dependency: &Dependency) -> &str {
    dependency.rename.as_deref().unwrap_or(&dependency.name)
}

fn subtable<'t>(table: &'t mut Table, name: &str) -> &'t mut Table {
    let entry = table.entry(name).or_insert_with(|| Value::Table(Table::new()));
    entry.as_table_mut().expect("only tables are put under these names")
}

fn dependency_table(dependency: &Dependency, copy_of: &dyn Fn(&Path) -> Option<PathBuf>) -> Table {
    let mut table = Table::new();
    if dependency.rename.is_some() {
        table.insert("package".into(), dependency.name.clone().into());
    }
    match (&dependency.path, dependency.source.as_ref().map(|source| source.repr.as_str())) {
        (Some(path), _) => {
            let folder = copy_of(path.as_std_path()).unwrap_or_else(|| path.clone().into());
            table.insert("path".into(), folder.display().to_string().into());
        }
        (None, Some(source)) if source.starts_with("git+") => {
            let source = source["git+".len()..].split('#').next().unwrap_or_default();
            let (url, query) = source.split_once('?').unwrap_or((source, ""));
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
