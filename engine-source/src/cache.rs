//! The carried files in the user's cache.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::EngineSourceError;
use crate::files::{BundledFile, files, hash, write};

/// Returns the folder with the carried files below the user's folder of caches.
///
/// # Errors
/// [`EngineSourceError::NoCache`] or [`EngineSourceError::Io`].
pub(crate) fn unpacked() -> Result<PathBuf, EngineSourceError> {
    let absolute = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    unpack(&caches.ok_or(EngineSourceError::NoCache)?.join("simutant"))
}

/// Returns the folder with the carried files below `cache`, whose name is their version and hash.
fn unpack(cache: &Path) -> Result<PathBuf, EngineSourceError> {
    let folder = cache.join(format!("{}-{:016x}", env!("CARGO_PKG_VERSION"), hash()));
    if folder.exists() {
        files().iter().try_for_each(|file| repair(&folder, file))?;
        return Ok(folder);
    }
    fs::create_dir_all(cache).map_err(|error| io("make", cache, error))?;
    let unpacking = tempfile::Builder::new().prefix(".unpacking-").tempdir_in(cache);
    let unpacking = unpacking.map_err(|error| io("make a folder in", cache, error))?;
    for file in files() {
        write(unpacking.path(), file).map_err(|error| io("write", &unpacking.path().join(file.path), error))?;
    }
    let unpacking = unpacking.keep();
    if let Err(error) = fs::rename(&unpacking, &folder) {
        _ = fs::remove_dir_all(&unpacking);
        // Another process was first.
        if !folder.exists() {
            return Err(io("make", &folder, error));
        }
        files().iter().try_for_each(|file| repair(&folder, file))?;
    }
    Ok(folder)
}

/// Writes a file again if it is not as it was carried, unless it may change. The folder itself stays, with what was
/// built in it.
fn repair(folder: &Path, file: &BundledFile) -> Result<(), EngineSourceError> {
    let path = folder.join(file.path);
    let is_right = match fs::read(&path) {
        Ok(bytes) => bytes == file.bytes || file.may_change(),
        Err(_) => false,
    };
    if is_right {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(folder);
    let replace = || {
        fs::create_dir_all(parent)?;
        let mut whole = tempfile::NamedTempFile::new_in(parent)?;
        whole.write_all(file.bytes)?;
        whole.persist(&path)?;
        Ok(())
    };
    replace().map_err(|error| io("write", &path, error))
}

fn io(action: &'static str, path: &Path, source: std::io::Error) -> EngineSourceError {
    EngineSourceError::Io { action, path: path.into(), source }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::files::LOCK;

    fn unpack_in(cache: &Path) -> PathBuf {
        unpack(cache).expect("the folder is ours")
    }

    #[track_caller]
    fn check_whole(folder: &Path) {
        for file in files() {
            let bytes = fs::read(folder.join(file.path)).expect("it is there");
            assert!(bytes == file.bytes, "{} is not as it was carried", file.path);
        }
    }

    #[test]
    fn files_are_unpacked_once() {
        let cache = tempfile::tempdir().expect("there is room");
        let folder = unpack_in(&cache.path().join("new"));
        check_whole(&folder);
        let times = |folder: &Path| -> BTreeMap<&str, std::time::SystemTime> {
            let modified = |path: &str| fs::metadata(folder.join(path))?.modified();
            files().iter().map(|file| (file.path, modified(file.path).expect("it is there"))).collect()
        };
        let before = times(&folder);
        assert_eq!(unpack_in(&cache.path().join("new")), folder);
        assert_eq!(times(&folder), before, "cargo would compile again what is newer");
    }

    #[test]
    fn damaged_files_are_written_again_and_products_stay() {
        let cache = tempfile::tempdir().expect("there is room");
        let folder = unpack_in(cache.path());
        let sources: Vec<&BundledFile> = files().iter().filter(|file| file.path.ends_with(".rs")).collect();
        fs::write(folder.join(sources[0].path), "fn damaged() {").expect("it can be written");
        fs::remove_file(folder.join(sources[1].path)).expect("it can be removed");
        fs::remove_dir_all(folder.join("sim-core")).expect("it can be removed");
        fs::create_dir(folder.join("target")).expect("it can be made");
        unpack_in(cache.path());
        check_whole(&folder);
        assert!(folder.join("target").exists());
    }

    #[test]
    fn cargo_may_shorten_the_lock_file_and_the_user_may_judge() {
        let cache = tempfile::tempdir().expect("there is room");
        let judgements = |file: &&BundledFile| file.path.ends_with("judgements.toml");
        let judgements = files().iter().find(judgements).expect("mutants of our systems are judged").path;
        for path in [LOCK, judgements] {
            let path = unpack_in(cache.path()).join(path);
            fs::write(&path, "version = 4\n").expect("it can be written");
            unpack_in(cache.path());
            let is_kept = fs::read(&path).expect("it is there") == b"version = 4\n";
            assert!(is_kept, "{} was written again", path.display());
            fs::remove_file(&path).expect("it can be removed");
        }
        check_whole(&unpack_in(cache.path()));
    }

    #[test]
    fn several_may_unpack_at_once() {
        let cache = tempfile::tempdir().expect("there is room");
        let folders: Vec<PathBuf> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| unpack_in(cache.path()))).collect();
            threads.into_iter().map(|thread| thread.join().expect("none fails")).collect()
        });
        assert!(folders.iter().all(|folder| folder == &folders[0]));
        check_whole(&folders[0]);
        let left: Vec<_> = fs::read_dir(cache.path()).expect("it is there").collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }
}
