//! What is wrong with a file, where, and what to do about it.

use std::io;

/// The greatest length of a line, or of an element of a file whose elements are no lines, in bytes: 64 MiB.
pub const LINE_MAX: u64 = 64 << 20;

/// A file that is not a history, or cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A line is not a call, or not a part of one.
    #[error("line {line}, column {column}: {message}; {cure}")]
    NotACall {
        /// The line, counted from 1.
        line: usize,
        /// The column in bytes, counted from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// What to do about it.
        cure: String,
    },
    /// The line is longer than [`LINE_MAX`].
    #[error("line {line} is longer than {LINE_MAX} bytes; a call is one line of its own")]
    TooLong {
        /// The line, counted from 1.
        line: usize,
    },
    /// The line could not be read.
    #[error("line {line} cannot be read: {source}")]
    Unreadable {
        /// The line, counted from 1.
        line: usize,
        /// What went wrong.
        source: io::Error,
    },
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Counted from 1.
    pub(super) line: usize,
    /// In bytes, counted from 1.
    pub(super) column: usize,
}

impl Place {
    /// Returns the error that something is wrong here.
    pub(super) fn error(self, message: impl Into<String>, cure: impl Into<String>) -> HistoryError {
        HistoryError::NotACall { line: self.line, column: self.column, message: message.into(), cure: cure.into() }
    }
}
