//! A file of JSON lines that grows while something runs, and that one process works with at a time.
//!
//! A process that is killed leaves at most half a line at the end, which the next one drops.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// An error in a file of trials or results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialLogError {
    /// It cannot be read or written.
    #[error("cannot {what} {path}: {source}; make room, or give another folder")]
    File {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another process works with it.
    #[error("{path}: another process adds trials to it; wait until it has ended, or give another folder")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A line is not one that was written.
    #[error("{path}, line {line}: {source}; delete the line to run that test case again, or the file to run all")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// Trials of another machine cannot be taken.
    #[error(
        "{path}: its trials of {implementation} are with another {fact} than those here; run them again, or leave the file out"
    )]
    OtherTerms {
        /// The file.
        path: PathBuf,
        /// The implementation.
        implementation: String,
        /// What differs.
        fact: &'static str,
    },
}

/// Gives all whole lines of the file at `path` to `take`, and leaves the file as it is.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, take: &mut dyn FnMut(T)) -> Result<(), TrialLogError> {
    let file = File::open(path).map_err(|source| TrialLogError::File { what: "read", path: path.into(), source })?;
    whole_lines(path, &file, take).map(drop)
}

/// Gives all whole lines to `take`, and returns how many bytes they have.
fn whole_lines<T: DeserializeOwned>(path: &Path, file: &File, take: &mut dyn FnMut(T)) -> Result<u64, TrialLogError> {
    let mut reader = BufReader::new(file);
    let (mut text, mut whole_bytes) = (Vec::new(), 0);
    for line in 1.. {
        text.clear();
        let bytes = reader.read_until(b'\n', &mut text);
        let bytes = bytes.map_err(|source| TrialLogError::File { what: "read", path: path.into(), source })?;
        if text.last() != Some(&b'\n') {
            break;
        }
        whole_bytes += bytes as u64;
        let parsed = serde_json::from_slice(&text);
        take(parsed.map_err(|source| TrialLogError::Malformed { path: path.into(), line, source })?);
    }
    Ok(whole_bytes)
}

/// An open file of lines.
#[derive(Debug)]
pub(crate) struct LineFile {
    path: PathBuf,
    file: File,
}

impl Drop for LineFile {
    fn drop(&mut self) {
        // To close the file is not enough: a process that another thread is just starting has a copy until it begins
        // its program. If this fails, the end of the process does it.
        _ = self.file.unlock();
    }
}

impl LineFile {
    /// Opens the file at `path`, which is made if need be, and keeps all other processes from it.
    pub(crate) fn open(path: &Path) -> Result<Self, TrialLogError> {
        let failed = |what| move |source| TrialLogError::File { what, path: path.into(), source };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed("make the folder of"))?;
        }
        let mut options = OpenOptions::new();
        let file = options.read(true).append(true).create(true).open(path).map_err(failed("open"))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path: path.into(), file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(TrialLogError::InUse { path: path.into() }),
            Err(std::fs::TryLockError::Error(source)) => Err(failed("lock")(source)),
        }
    }

    /// Gives all whole lines to `take`, and cuts off half of one.
    pub(crate) fn read<T: DeserializeOwned>(&mut self, take: &mut dyn FnMut(T)) -> Result<(), TrialLogError> {
        let path = self.path.clone();
        let failed = |what| {
            let path = path.clone();
            move |source| TrialLogError::File { what, path, source }
        };
        self.file.seek(SeekFrom::Start(0)).map_err(failed("read"))?;
        let whole_bytes = whole_lines(&path, &self.file, take)?;
        self.file.set_len(whole_bytes).map_err(failed("write"))
    }

    /// Adds a line, as a whole or not at all.
    pub(crate) fn write(&mut self, line: &impl Serialize) -> Result<(), TrialLogError> {
        let mut text = serde_json::to_string(line).expect("a line is plain data");
        text.push('\n');
        let failed = |source| TrialLogError::File { what: "write", path: self.path.clone(), source };
        let whole_bytes = self.file.metadata().map_err(failed)?.len();
        self.file.write_all(text.as_bytes()).map_err(|error| {
            // A part of a line would run into the next one. If it cannot be taken away, that is found when the file is
            // read.
            _ = self.file.set_len(whole_bytes);
            failed(error)
        })
    }

    /// Takes all lines away.
    pub(crate) fn clear(&mut self) -> Result<(), TrialLogError> {
        let path = &self.path;
        self.file.set_len(0).map_err(|source| TrialLogError::File { what: "write", path: path.clone(), source })
    }
}
