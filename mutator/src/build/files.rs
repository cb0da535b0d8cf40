//! Files and folders of a build: what is read, written when it differs, listed and copied.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::MutatorError;
use crate::judgements::FILE_END;
use crate::package::REFERENCE_END;

pub(super) fn read(path: &Path) -> Result<String, MutatorError> {
    std::fs::read_to_string(path).map_err(|error| MutatorError::io("read", path, error))
}

/// Writes a file, unless it is as it should be: cargo compiles again what is newer.
pub(super) fn write(path: &Path, text: &str) -> Result<(), MutatorError> {
    if std::fs::read_to_string(path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|error| MutatorError::io("create", parent, error))?;
    }
    std::fs::write(path, text).map_err(|error| MutatorError::io("write", path, error))
}

/// Returns the files below a folder with their paths from it, in order. Left out are hidden files, judgements on
/// mutants, figures of earlier experiments, and folders that are build products, studies, or other packages.
pub(super) fn list_files(folder: &Path) -> Result<BTreeMap<PathBuf, PathBuf>, MutatorError> {
    let mut files = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(current) = open.pop() {
        let entries = match std::fs::read_dir(&current) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(MutatorError::io("list", &current, error)),
        };
        for entry in entries {
            let path = entry.map_err(|error| MutatorError::io("list", &current, error))?.path();
            let is_left_out = path.file_name().is_some_and(|name| {
                let name = name.to_string_lossy();
                name.starts_with('.') || name.ends_with(FILE_END) || name.ends_with(REFERENCE_END)
            });
            if is_left_out {
                continue;
            }
            if path.is_file() {
                files.insert(path.strip_prefix(folder).unwrap_or(&path).to_owned(), path);
            } else if !["CACHEDIR.TAG", "journal.sqlite", "Cargo.toml"].iter().any(|mark| path.join(mark).exists()) {
                open.push(path);
            }
        }
    }
    Ok(files)
}

/// Makes `to` hold a package's files, but for its manifest and the files that are instrumented.
pub(super) fn copy_package(from: &Path, to: &Path, specification: &[&str]) -> Result<(), MutatorError> {
    let is_generated = |relative: &Path| {
        let is_manifest = relative == Path::new("Cargo.toml") || relative == Path::new("Cargo.lock");
        is_manifest || specification.iter().any(|file| Path::new(file) == relative)
    };
    let files = list_files(from)?;
    for (relative, path) in files.iter().filter(|(relative, _)| !is_generated(relative)) {
        copy_file(path, &to.join(relative))?;
    }
    let stale = list_files(to)?;
    for (_, path) in stale.iter().filter(|(relative, _)| !is_generated(relative) && !files.contains_key(*relative)) {
        std::fs::remove_file(path).map_err(|error| MutatorError::io("remove", path, error))?;
    }
    Ok(())
}

/// Copies a file, unless the copy is as it should be: cargo compiles again what is newer.
pub(super) fn copy_file(from: &Path, to: &Path) -> Result<(), MutatorError> {
    let bytes = std::fs::read(from).map_err(|error| MutatorError::io("read", from, error))?;
    if std::fs::read(to).is_ok_and(|known| known == bytes) {
        return Ok(());
    }
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).map_err(|error| MutatorError::io("create", parent, error))?;
    }
    // Not written over: a worker may run that was started from there.
    _ = std::fs::remove_file(to);
    std::fs::copy(from, to).map_err(|error| MutatorError::io("write", to, error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_source_is_not_listed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path();
        for file in [
            "src/lib.rs",
            "references/toy-reference.toml",
            "simutant-judgements.toml",
            ".hidden",
            "out/journal.sqlite",
            "out/suite.json",
        ] {
            write(&root.join(file), "").expect("room");
        }
        let listed: Vec<PathBuf> = list_files(root).expect("it is there").into_keys().collect();
        assert_eq!(listed, [PathBuf::from("src/lib.rs")]);
    }
}
