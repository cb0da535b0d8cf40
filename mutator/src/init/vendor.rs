//! The engine's source in a user's workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::Metadata;
use toml::Table;

use super::changes::Changes;
use super::{InitError, below, io, manifest};
use crate::package::ENGINE_SECTION;

/// The folder in the user's workspace. `vendor` would be that of `cargo vendor`, which removes what it does not know.
const FOLDER: &str = "third_party/simutant";

/// A copy of the engine's workspace in the user's.
#[derive(Debug)]
pub(super) struct Vendored<'a> {
    workspace: PathBuf,
    files: &'a [(&'a str, &'a [u8])],
    /// The folders of the packages in the copy, by name.
    packages: BTreeMap<String, PathBuf>,
}

/// A copy that is to be written.
#[derive(Debug)]
pub(super) struct Copy<'a> {
    /// The folder, which is there as a whole or as it was before.
    pub(super) folder: PathBuf,
    /// Whether there is one that it replaces.
    pub(super) replaces: bool,
    files: &'a [(&'a str, &'a [u8])],
}

impl<'a> Vendored<'a> {
    pub(super) fn new(workspace: PathBuf, files: &'a [(&'a str, &'a [u8])]) -> Result<Self, InitError> {
        let mut packages = BTreeMap::new();
        for (path, bytes) in files {
            let Some(folder) = path.strip_suffix("/Cargo.toml") else { continue };
            let syntax = |message: String| InitError::Syntax { path: path.into(), message };
            let text = std::str::from_utf8(bytes).map_err(|error| syntax(error.to_string()))?;
            let manifest: Table = text.parse().map_err(|error: toml::de::Error| syntax(error.to_string()))?;
            let name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
            packages.extend(name.map(|name| (name.to_owned(), workspace.join(FOLDER).join(folder))));
        }
        Ok(Self { workspace, files, packages })
    }

    /// Returns the folder of a package in the copy.
    pub(super) fn package(&self, name: &str) -> Result<PathBuf, InitError> {
        let message = || format!("the engine's source has no package `{name}`");
        let missing = || InitError::Syntax { path: FOLDER.into(), message: message() };
        self.packages.get(name).cloned().ok_or_else(missing)
    }

    /// Returns the copy that is to be written, if it is not there as it should be.
    pub(super) fn plan(&self) -> Result<Option<Copy<'a>>, InitError> {
        let folder = self.workspace.join(FOLDER);
        let replaces = folder.exists();
        if replaces && !is_copy(&folder) {
            return Err(InitError::FolderTaken(folder));
        }
        let copy = Copy { folder, replaces, files: self.files };
        Ok(if replaces && copy.is_there()? { None } else { Some(copy) })
    }

    /// Lets all packages of the workspace that depend on an engine depend on the copy, and keeps the copy out of the
    /// workspace, since it is one of its own.
    pub(super) fn repoint(&self, metadata: &Metadata, changes: &mut Changes<'_>) -> Result<(), InitError> {
        let root = self.workspace.join("Cargo.toml");
        let members = metadata.packages.iter().map(|package| package.manifest_path.clone().into());
        let manifests: BTreeSet<PathBuf> = members.chain([root.clone()]).collect();
        for path in &manifests {
            let path = super::canonical(path)?;
            let folder = path.parent().unwrap_or(&self.workspace);
            let paths: BTreeMap<&str, String> =
                self.packages.iter().map(|(name, package)| (name.as_str(), below(folder, package))).collect();
            changes.edit(&path, |text| manifest::with_engine_at(text, &paths))?;
        }
        changes.edit(&root, |text| manifest::with_excluded(text, FOLDER))?;
        Ok(())
    }
}

impl Copy<'_> {
    /// Whether the folder has these files and no others.
    fn is_there(&self) -> Result<bool, InitError> {
        let mut files = BTreeSet::new();
        add_files(&self.folder, &mut files).map_err(|error| io("list", &self.folder, error))?;
        let expected: BTreeSet<PathBuf> = self.files.iter().map(|(path, _)| self.folder.join(path)).collect();
        let has = |(path, bytes): &(&str, &[u8])| std::fs::read(self.folder.join(path)).is_ok_and(|own| own == *bytes);
        Ok(files == expected && self.files.iter().all(has))
    }

    pub(super) fn write(&self) -> Result<(), InitError> {
        let write = || {
            let parent = self.folder.parent().unwrap_or(Path::new("/"));
            std::fs::create_dir_all(parent)?;
            let aside = tempfile::Builder::new().prefix(".simutant-").tempdir_in(parent)?;
            let new = aside.path().join("new");
            for (path, bytes) in self.files {
                let path = new.join(path);
                std::fs::create_dir_all(path.parent().unwrap_or(&new))?;
                std::fs::write(path, bytes)?;
            }
            if self.replaces {
                std::fs::rename(&self.folder, aside.path().join("old"))?;
            }
            std::fs::rename(new, &self.folder)
        };
        write().map_err(|error| io("write", &self.folder, error))
    }
}

/// Adds the files below a folder, without what cargo makes there.
fn add_files(folder: &Path, files: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.ends_with("Cargo.lock") || path.join("CACHEDIR.TAG").exists() {
            continue;
        }
        if path.is_dir() {
            add_files(&path, files)?;
        } else {
            files.insert(path);
        }
    }
    Ok(())
}

/// Whether a folder has a copy of the engine's source.
fn is_copy(folder: &Path) -> bool {
    let manifest = || -> Option<Table> { std::fs::read_to_string(folder.join("Cargo.toml")).ok()?.parse().ok() };
    let mark = || Some(manifest()?.get("workspace")?.get("metadata")?.get(ENGINE_SECTION)?.is_table());
    mark().unwrap_or_default()
}
