//! Files of a study: each is there as a whole, or as it was before.

use std::io::{Error, ErrorKind, Write};
use std::path::Path;

use serde::Serialize;

use crate::StudyError;

/// Writes a file, and makes its folder, so that the file is there as a whole or as it was before.
///
/// # Errors
/// If the folder cannot be made, or there is no room.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Readable as any new file is: the umask takes away what others may not do.
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let mut file = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Returns a value as JSON, one field a line.
///
/// # Errors
/// If the value has something that JSON cannot hold, as a map with keys that are no text.
pub fn to_json(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text)
}

/// Writes a file of a study.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), StudyError> {
    write_whole(path, text.as_bytes()).map_err(|source| StudyError::file("write", path, source))
}

/// Writes a result of a study, which is plain data.
pub(crate) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), StudyError> {
    write(path, &to_json(value).expect("the keys of results are text"))
}

/// Makes the folder of a study, if it is not there.
pub(crate) fn make_folder(path: &Path) -> Result<(), StudyError> {
    std::fs::create_dir_all(path).map_err(|source| StudyError::file("make", path, source))
}

/// Removes a file or a folder with all that is in it, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), StudyError> {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(StudyError::file("remove", path, error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_stays_as_it_was() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("below/results.json");
        write(&path, "first").expect("room");
        write(&path, "second").expect("room");
        assert_eq!(std::fs::read_to_string(&path).expect("it was written"), "second");
        let error = write(&path.join("more"), "third").expect_err("a file is no folder").to_string();
        assert_eq!(error, format!("cannot write {}", path.join("more").display()));
        assert_eq!(std::fs::read_to_string(&path).expect("it was written"), "second");
        assert_eq!(
            std::fs::read_dir(path.parent().expect("a folder")).expect("a folder").count(),
            1,
            "nothing is left"
        );
    }

    #[test]
    fn what_is_not_there_is_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pages = folder.path().join("mutants");
        remove(&pages).expect("nothing is there");
        write(&pages.join("1.html"), "page").expect("room");
        remove(&pages).expect("it is ours");
        assert!(!pages.exists());
    }
}
