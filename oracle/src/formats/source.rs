//! Bytes of a file, by lines and one by one, with their places.

use std::io::{self, BufRead, Read};

use super::error::{HistoryError, LINE_MAX, Place};

/// The lines of a file, each of at most [`LINE_MAX`] bytes.
#[derive(Debug)]
pub(super) struct Lines<R> {
    from: R,
    line: usize,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(from: R) -> Self {
        Self { from, line: 0, text: Vec::new() }
    }

    /// Returns the next line with its number, without its end.
    pub(super) fn next(&mut self) -> Result<Option<(usize, &[u8])>, HistoryError> {
        self.line += 1;
        self.text.clear();
        let line = self.line;
        let count = (&mut self.from)
            .take(LINE_MAX + 1)
            .read_until(b'\n', &mut self.text)
            .map_err(|source| HistoryError::Unreadable { line, source })?;
        match count as u64 {
            0 => Ok(None),
            1..=LINE_MAX => Ok(Some((line, self.text.strip_suffix(b"\n").unwrap_or(&self.text)))),
            _ => Err(HistoryError::TooLong { line }),
        }
    }
}

impl<'t> Scanner<&'t [u8]> {
    /// Returns all bytes from here on.
    pub(super) const fn rest(&self) -> &'t [u8] {
        self.from
    }
}

/// The bytes of a file, of which it looks at one at a time.
#[derive(Debug)]
pub(super) struct Scanner<R> {
    from: R,
    place: Place,
    /// How many bytes the element has so far.
    size: u64,
}

impl<R: BufRead> Scanner<R> {
    /// Returns a scanner of bytes that begin at a place of the file.
    pub(super) const fn new(from: R, place: Place) -> Self {
        Self { from, place, size: 0 }
    }

    /// Returns where the next byte is.
    pub(super) const fn place(&self) -> Place {
        self.place
    }

    /// Says that an element begins here.
    pub(super) const fn begin(&mut self) {
        self.size = 0;
    }

    /// Returns some of the next bytes, and stays before them; none at the end of the file.
    fn ahead(&mut self) -> Result<&[u8], HistoryError> {
        while let Err(error) = self.from.fill_buf() {
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(HistoryError::Unreadable { line: self.place.line, source: error });
            }
        }
        let line = self.place.line;
        self.from.fill_buf().map_err(|source| HistoryError::Unreadable { line, source })
    }

    /// Returns the next byte, and stays before it.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, HistoryError> {
        self.ahead().map(|bytes| bytes.first().copied())
    }

    /// Returns the next byte, and goes on behind it.
    pub(super) fn next(&mut self) -> Result<Option<u8>, HistoryError> {
        let next = self.peek()?;
        if let Some(byte) = next {
            self.from.consume(1);
            self.passes(&[byte])?;
        }
        Ok(next)
    }

    /// Counts bytes that were consumed.
    fn passes(&mut self, bytes: &[u8]) -> Result<(), HistoryError> {
        self.size += bytes.len() as u64;
        if self.size > LINE_MAX {
            return Err(HistoryError::TooLong { line: self.place.line });
        }
        match bytes.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => {
                let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
                self.place = Place { line: self.place.line + ends, column: bytes.len() - last };
            }
            None => self.place.column += bytes.len(),
        }
        Ok(())
    }

    /// Takes all bytes as long as they are like this.
    pub(super) fn take_while(&mut self, is_taken: impl Fn(u8) -> bool) -> Result<Vec<u8>, HistoryError> {
        let mut taken = Vec::new();
        loop {
            let bytes = self.ahead()?;
            let count = bytes.iter().position(|byte| !is_taken(*byte)).unwrap_or(bytes.len());
            if count == 0 {
                return Ok(taken);
            }
            let start = taken.len();
            taken.extend_from_slice(&bytes[..count]);
            self.from.consume(count);
            self.passes(&taken[start..])?;
        }
    }

    /// Goes on behind all bytes that are like this.
    pub(super) fn skip_while(&mut self, is_skipped: impl Fn(u8) -> bool) -> Result<(), HistoryError> {
        while self.peek()?.is_some_and(&is_skipped) {
            self.next()?;
        }
        Ok(())
    }
}
