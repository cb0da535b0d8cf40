//! The generated workspace: the copies of the package and of dependencies, and what was built there before.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use toml::Table;

use super::files::{copy_file, copy_package, list_files, read, write};
use crate::error::MutatorError;
use crate::instrument::Instrumented;
use crate::package::{Member, Package};
use crate::text::identity::Hash;

/// The folder of a package with the real programs that are tested.
const IMPLEMENTATIONS: &str = "implementations";

/// What marks a folder of build products, for backups and for [`list_files`] (bford.info/cachedir).
const PRODUCTS_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# This folder was made by simutant.\n";

/// For how long after its last build an executable is kept: longer than any campaign runs.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The generated workspace: the instrumented copies of the package and its dependencies, and a main program.
#[derive(Debug)]
pub(super) struct Workspace {
    pub(super) root: PathBuf,
    /// The folders of the copies, as the package has its members.
    pub(super) copies: Vec<PathBuf>,
    /// The files that are instrumented, in order.
    pub(super) files: Vec<PathBuf>,
    pub(super) target_directory: PathBuf,
    /// Tells this folder from others: cargo knows a package by its path from the workspace's root, so equal paths in
    /// two workspaces would be one and the same to it, and so would be what it built of them.
    pub(super) mark: String,
    /// The conditions that the build scripts of members add, by the member, as far as they have run.
    pub(super) conditions: RefCell<BTreeMap<usize, Vec<String>>>,
}

impl Workspace {
    pub(super) fn new(package: &Package, directory: &Path) -> Result<Self, MutatorError> {
        std::fs::create_dir_all(directory).map_err(|error| MutatorError::io("create", directory, error))?;
        // The folder may be one of the package: what is built is no source of it.
        write(&package.products().join("CACHEDIR.TAG"), PRODUCTS_TAG)?;
        let root = directory.canonicalize().map_err(|error| MutatorError::io("find", directory, error))?;
        // The build products of all folders are in one place.
        let mut folder = Hash::default();
        folder.write(root.as_os_str().as_encoded_bytes());
        let mark = format!("{:016x}", folder.0);
        let folder = |member: &Member| match &member.short_name {
            None => root.join(format!("package-{mark}")),
            Some(name) => root.join(format!("dependencies-{mark}")).join(name),
        };
        let copies: Vec<PathBuf> = package.members.iter().map(folder).collect();
        let files = package.files.iter().map(|file| copies[file.member].join(&file.path)).collect();
        let conditions = RefCell::default();
        Ok(Self { root, copies, files, target_directory: package.products(), mark, conditions })
    }

    /// Writes the workspace's manifest with its members, and `rest` after them.
    pub(super) fn write_manifest(&self, members: &[PathBuf], rest: &str) -> Result<(), MutatorError> {
        let relative = |folder: &PathBuf| folder.strip_prefix(&self.root).unwrap_or(folder).display().to_string();
        let members: Vec<String> = members.iter().map(relative).collect();
        write(&self.root.join("Cargo.toml"), &format!("[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n{rest}"))
    }

    /// Waits until no other process builds here, and keeps others out until the file is dropped.
    pub(super) fn lock(&self) -> Result<File, MutatorError> {
        let path = self.root.join("build.lock");
        let lock = || {
            File::options().create(true).write(true).truncate(false).open(&path).and_then(|file| {
                file.lock()?;
                Ok(file)
            })
        };
        lock().map_err(|error| MutatorError::io("lock", &path, error))
    }

    /// Copies the members, but for the files that are instrumented; `manifest` returns that of a member's copy.
    pub(super) fn write_copies(
        &self,
        package: &Package,
        manifest: impl Fn(usize) -> Result<Table, MutatorError>,
    ) -> Result<(), MutatorError> {
        self.write_lock(package)?;
        for (member, copy) in self.copies.iter().enumerate() {
            let manifest = manifest(member)?;
            copy_package(package.members[member].root(), copy, &package.files_of(member))?;
            write(&copy.join("Cargo.toml"), &manifest.to_string())?;
        }
        Ok(())
    }

    /// Writes the lock file of the package's workspace, when that has changed: cargo drops the entries that are not
    /// needed here.
    pub(super) fn write_lock(&self, package: &Package) -> Result<(), MutatorError> {
        if !package.lock.exists() {
            return Ok(());
        }
        let lock = read(&package.lock)?;
        let copied = self.root.join("Cargo.lock.copied");
        if !std::fs::read_to_string(&copied).is_ok_and(|known| known == lock) {
            write(&self.root.join("Cargo.lock"), &lock)?;
            write(&copied, &lock)?;
        }
        Ok(())
    }

    pub(super) fn write_sources(&self, instrumented: &Instrumented) -> Result<(), MutatorError> {
        instrumented.outputs.iter().zip(&self.files).try_for_each(|(output, copy)| write(copy, &output.text))
    }

    /// Returns a hash of all local source that goes into what is built, that of the packages in `others` included, but
    /// for the files that are left out: the same wherever the folders are.
    pub(super) fn hash(
        &self,
        package: &Package,
        others: &[&Path],
        left_out: &BTreeSet<PathBuf>,
    ) -> Result<u64, MutatorError> {
        let dependencies = package.local_dependencies.iter().map(PathBuf::as_path);
        let sources = dependencies.chain(others.iter().copied()).map(|folder| folder.join("src"));
        let mut hash = Hash::default();
        for folder in package.members.iter().map(|member| member.root().to_owned()).chain(sources) {
            let files = list_files(&folder)?.into_iter();
            for (relative, path) in files.filter(|(relative, path)| is_read(relative) && !left_out.contains(path)) {
                hash.write(relative.to_string_lossy().as_bytes());
                hash.write(&std::fs::read(&path).map_err(|error| MutatorError::io("read", &path, error))?);
            }
        }
        Ok(hash.0)
    }

    /// Copies an executable to a name that begins with `kind` and is its own, and removes those that nobody has asked
    /// for in a while: a campaign goes on with its executable, whatever is built here meanwhile.
    pub(super) fn keep(&self, executable: &Path, kind: &str, hash: &Hash) -> Result<PathBuf, MutatorError> {
        let copy = self.root.join(format!("{kind}{:016x}", hash.0));
        copy_file(executable, &copy)?;
        self.clear(kind, &copy)?;
        Ok(copy)
    }

    /// Notes that `used` is asked for, a file or a folder whose name begins with `kind`, and removes those that nobody
    /// has asked for in a while.
    pub(super) fn clear(&self, kind: &str, used: &Path) -> Result<(), MutatorError> {
        let now = SystemTime::now();
        // What cannot be touched is made again when it is missing, and what cannot be removed is only in the way.
        _ = File::open(used).and_then(|file| file.set_modified(now));
        let entries = std::fs::read_dir(&self.root).map_err(|error| MutatorError::io("list", &self.root, error))?;
        for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(kind)) {
            let used = entry.metadata().and_then(|metadata| metadata.modified());
            if used.is_ok_and(|used| now.duration_since(used).is_ok_and(|age| age > KEPT)) {
                let path = entry.path();
                _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
            }
        }
        Ok(())
    }
}

/// Returns whether a build may read a file of a package, by its path in there: text for people and the real programs
/// that are tested may change without a new study.
fn is_read(relative: &Path) -> bool {
    let is_of_programs = relative.starts_with(IMPLEMENTATIONS) && relative != Path::new(IMPLEMENTATIONS);
    !is_of_programs && relative.extension().is_none_or(|extension| !extension.eq_ignore_ascii_case("md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_for_people_and_real_programs_are_not_read() {
        for file in ["NOTES.md", "docs/plan.MD", "implementations/arq.toml", "implementations/node/server.js"] {
            assert!(!is_read(Path::new(file)), "{file}");
        }
        for file in ["src/arq.rs", "Cargo.toml", "build.rs", "data/table.txt", "src/implementations/mod.rs"] {
            assert!(is_read(Path::new(file)), "{file}");
        }
    }
}
