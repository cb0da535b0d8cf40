//! The private folder of a test case: gone afterwards, or kept for people to look at.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::HarnessError;
use crate::report::{EndedProcess, is_first};

/// The private folder of a test case.
#[derive(Debug)]
pub(crate) enum CaseFolder {
    /// It is removed when this is dropped.
    Temporary(TempDir),
    /// It stays.
    Kept(PathBuf),
}

impl CaseFolder {
    /// Makes a folder in `run_folder` that is removed afterwards.
    pub(crate) fn temporary(run_folder: &Path) -> Result<Self, HarnessError> {
        let folder = tempfile::Builder::new().prefix("case-").tempdir_in(run_folder);
        folder.map(Self::Temporary).map_err(HarnessError::file("make a folder in", run_folder))
    }

    /// Makes an empty folder in `kept`, which has the name of the test case and, if it is not the first, the repetition.
    pub(crate) fn kept(kept: &Path, name: &str, repetition: u32) -> Result<Self, HarnessError> {
        let path = kept.join(file_name(name, repetition));
        match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(HarnessError::file("empty", path)(error));
            }
            _ => {}
        }
        std::fs::create_dir_all(&path).map_err(HarnessError::file("make the folder", &path))?;
        // Programs that run elsewhere are told of it.
        path.canonicalize().map(Self::Kept).map_err(HarnessError::file("find", &path))
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Temporary(folder) => folder.path(),
            Self::Kept(path) => path,
        }
    }

    /// Returns where it stays, if it does.
    pub(crate) fn into_kept(self) -> Option<PathBuf> {
        match self {
            Self::Temporary(_) => None,
            Self::Kept(path) => Some(path),
        }
    }
}

/// Returns the test case's name as that of a file, with the repetition if it is not the first.
fn file_name(name: &str, repetition: u32) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
    let mut file: String = name.chars().map(|character| if is_plain(character) { character } else { '_' }).collect();
    if file.is_empty() || file.starts_with('.') {
        file.insert(0, '_');
    }
    if !is_first(&repetition) {
        file.push_str(&format!(".{repetition}"));
    }
    file
}

/// Writes what the processes of a test case printed to a file in `folder`, and returns its path; `None` if they printed
/// nothing.
pub(crate) fn write_log(
    folder: &Path,
    (name, repetition): (&str, u32),
    processes: &[EndedProcess],
) -> Result<Option<PathBuf>, HarnessError> {
    let text: String = processes.iter().flat_map(EndedProcess::printed).flatten().map(|line| line + "\n").collect();
    if text.is_empty() {
        return Ok(None);
    }
    std::fs::create_dir_all(folder).map_err(HarnessError::file("make the folder", folder))?;
    let path = folder.join(format!("{}.log", file_name(name, repetition)));
    std::fs::write(&path, text).map_err(HarnessError::file("write", &path))?;
    Ok(Some(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, repetition: u32, expect: &str) {
        let kept = tempfile::tempdir().expect("a temporary folder");
        let make = || CaseFolder::kept(kept.path(), name, repetition).expect("it is made");
        std::fs::write(make().path().join("old"), "").expect("it can be written to");
        let again = make();
        assert_eq!(again.path().file_name().expect("it has a name"), expect);
        assert_eq!(again.path().parent(), kept.path().canonicalize().ok().as_deref());
        assert_eq!(again.path().read_dir().expect("it is there").count(), 0, "what was there is replaced");
    }

    #[test]
    fn a_kept_folder_has_the_name_of_the_test_case_and_is_empty() {
        check("arq-0001", 1, "arq-0001");
        check("arq-0001", 12, "arq-0001.12");
        check("../a b", 1, "_.._a_b");
        check("..", 1, "_..");
        check("", 1, "_");
    }
}
