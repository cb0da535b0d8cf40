//! A log: lines in a file, which survive the program.

use std::fmt::{Display, Formatter, Write as _};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// An open log.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    is_synced: bool,
    /// Lines that are not in the file yet.
    pending: String,
}

/// Why a log cannot be used.
#[derive(Debug)]
pub enum LogError {
    /// The file cannot be read or written.
    File(PathBuf, io::Error),
    /// A line is none of such a log.
    Line(PathBuf, String),
}

impl std::error::Error for LogError {}

impl Display for LogError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(path, error) => write!(formatter, "cannot use the log {}: {error}", path.display()),
            Self::Line(path, line) => write!(formatter, "`{line}` is no line of the log {}", path.display()),
        }
    }
}

impl Log {
    /// Returns the log at `path`, which is made if it is not there, and its lines.
    ///
    /// With `is_synced`, what is written survives a crash of the machine, and not of the program alone.
    ///
    /// # Errors
    /// [`LogError::File`] if the file cannot be read or written.
    pub fn open(path: &Path, is_synced: bool) -> Result<(Self, Vec<String>), LogError> {
        let failed = |error| LogError::File(path.to_owned(), error);
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(path).map_err(failed)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        // A crash may have cut the last line off: it was never written, and the next one does not go on with it.
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        file.set_len(text.len() as u64).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        let lines = text.lines().map(str::to_owned).collect();
        Ok((Self { path: path.to_owned(), file, is_synced, pending: String::new() }, lines))
    }

    /// Adds a line, to be written by the next [`Log::flush`].
    pub fn add(&mut self, line: impl Display) {
        writeln!(self.pending, "{line}").expect("memory takes all");
    }

    /// Writes a line that begins with the time, in nanoseconds that all processes of a machine have in common.
    ///
    /// # Errors
    /// Those of [`Log::flush`].
    #[cfg(feature = "clock")]
    pub fn add_now(&mut self, line: impl Display) -> Result<(), LogError> {
        self.add(format_args!("{} {line}", crate::monotonic_nanos()));
        self.flush()
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// [`LogError::File`] if the file cannot be written. It may have got a part.
    pub fn flush(&mut self) -> Result<(), LogError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let written = self.file.write_all(self.pending.as_bytes());
        let written = if self.is_synced { written.and_then(|()| self.file.sync_data()) } else { written };
        self.pending.clear();
        written.map_err(|error| LogError::File(self.path.clone(), error))
    }

    /// Returns the error that a line is none of this log.
    pub fn no_line(&self, line: &str) -> LogError {
        LogError::Line(self.path.clone(), line.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_flushed_is_read_again_and_a_line_without_an_end_is_not() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("log");
        let (mut log, lines) = Log::open(&path, true).expect("the folder can be written");
        assert_eq!(lines, [""; 0]);
        log.add("begun 0");
        log.flush().expect("room");
        log.add("never flushed");
        drop(log);
        let mut file = File::options().append(true).open(&path).expect("it was made");
        file.write_all(b"decided 0 comm").expect("room");
        let (mut log, lines) = Log::open(&path, false).expect("it is there");
        assert_eq!(lines, ["begun 0"]);
        log.add("decided 0 abort");
        log.flush().expect("room");
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "begun 0\ndecided 0 abort\n");
    }
}
