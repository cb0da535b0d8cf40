//! The project's sources, copied, and what studies write, compared.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The content of files by their names.
pub(super) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Puts what is, or could be, under version control in this folder instead of what was there before.
///
/// Files are as old as those that they are copies of: cargo compiles those again that are younger than what it made.
pub(super) fn copy_project(root: &Path, to: &Path) -> anyhow::Result<()> {
    remove(to)?;
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let output = git.output().context("cannot start git, which knows the project's files")?;
    ensure!(output.status.success(), "git does not know the project's files: {}", output.status);
    for file in output.stdout.split(|&byte| byte == 0).filter(|file| !file.is_empty()) {
        let file = Path::new(OsStr::from_bytes(file));
        let (from, to) = (root.join(file), to.join(file));
        // Git still lists what was removed and not committed.
        if from.is_file() {
            copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        }
    }
    Ok(())
}

/// Copies a file with the time when it was changed.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::copy(from, to)?;
    File::options().append(true).open(to)?.set_modified(from.metadata()?.modified()?)
}

/// Deletes a folder, if there is one.
pub(super) fn remove(folder: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Returns all files in a folder and in those in it, but no journals: what is in these tells what was run when.
pub(super) fn results(folder: &Path) -> anyhow::Result<Files> {
    let mut found = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(&inner).with_context(|| format!("cannot read {}", inner.display()))? {
            let entry = entry?;
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if !entry.file_name().to_string_lossy().starts_with("journal.sqlite") {
                found.insert(path.strip_prefix(folder)?.to_owned(), std::fs::read(&path)?);
            }
        }
    }
    Ok(found)
}

/// Returns the names of files that only one of two has, or that are not the same in both.
pub(super) fn differing(first: &Files, second: &Files) -> Vec<PathBuf> {
    let in_first = first.iter().filter(|&(name, content)| second.get(name) != Some(content)).map(|(name, _)| name);
    let in_second = second.keys().filter(|&name| !first.contains_key(name));
    in_first.chain(in_second).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_files_of_the_project_as_old_as_they_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace");
        let folder = tempfile::tempdir().expect("there is room");
        let to = folder.path().join("copy");
        std::fs::create_dir(&to).expect("a folder");
        std::fs::write(to.join("from before"), "").expect("a file");
        copy_project(root, &to).expect("it can be copied");
        assert!(!to.join("from before").exists() && !to.join("target").exists());
        let changed = |folder: &Path| folder.join("xtask/src/main.rs").metadata().and_then(|file| file.modified());
        assert_eq!(changed(&to).expect("it is there"), changed(root).expect("it is there"));
    }

    #[test]
    fn files_differ_by_content_and_by_being_there() {
        let parent = tempfile::tempdir().expect("there is room");
        let folder = parent.path().join("like a journal.sqlite");
        let write = |name: &str, content: &str| {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
            std::fs::write(path, content).expect("a file");
        };
        for (name, content) in [("a/same", "1"), ("a/in/other", "2"), ("a/gone", "3"), ("a/journal.sqlite", "4")] {
            write(name, content);
        }
        for (name, content) in [("b/same", "1"), ("b/in/other", "3"), ("b/new", "3")] {
            write(name, content);
        }
        let [a, b] = ["a", "b"].map(|name| results(&folder.join(name)).expect("files"));
        assert_eq!(differing(&a, &b), ["gone", "in/other", "new"].map(PathBuf::from));
        assert!(differing(&a, &a).is_empty());
        assert_eq!(a.len(), 3, "the journal does not count");
    }
}
