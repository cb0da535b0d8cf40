//! Lines of words: those that arrive, and connections that lines are sent on.

use std::fmt::{Display, Write as _};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::str::FromStr;

use crate::checked::Checked;

/// How much is read at a time.
const PIECE_BYTES: usize = 16 * 1_024;

/// How long a line may be: some have a few words for each of many decrees.
const LINE_BYTES_MAX: usize = 4_096;

/// A text that is no line of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unreadable;

/// Returns the next word, as what it stands for.
///
/// # Errors
/// [`Unreadable`] if there is none, or it is of another kind.
pub fn word<'a, T: FromStr>(words: &mut impl Iterator<Item = &'a str>) -> Result<T, Unreadable> {
    words.next().and_then(|word| word.parse().ok()).ok_or(Unreadable)
}

/// Returns what was read if nothing comes after it.
///
/// # Errors
/// [`Unreadable`] if something does.
pub fn end<'a, T>(mut words: impl Iterator<Item = &'a str>, read: T) -> Result<T, Unreadable> {
    words.next().map_or(Ok(read), |_| Err(Unreadable))
}

/// Gives `take` the lines of each piece that arrives, until the other side ends, says what is no line of this kind, or
/// `take` wants no more.
pub fn read_lines<T: FromStr>(mut input: impl Read, mut take: impl FnMut(Vec<T>) -> bool) {
    let (mut piece, mut text) = (vec![0; PIECE_BYTES], Vec::new());
    loop {
        match input.read(&mut piece) {
            Ok(0) => return,
            Ok(length) => text.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let lines = str::from_utf8(&text[..end]).ok();
        let lines = lines.and_then(|lines| lines.lines().map(str::parse).collect::<Result<Vec<T>, _>>().ok());
        let Some(lines) = lines.filter(|_| text.len() - end <= LINE_BYTES_MAX) else { return };
        if !lines.is_empty() && !take(lines) {
            return;
        }
        text.drain(..end);
    }
}

/// What a reader does with a line that is not as its checksum says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damaged {
    /// It takes no line after it: the connection is to be closed.
    Refused,
    /// It takes the line for what was sent.
    Trusted,
}

/// Gives `take` lines that end in their checksums, as [`read_lines`] does, until one is refused.
pub fn read_checked_lines<T: FromStr>(input: impl Read, damaged: Damaged, mut take: impl FnMut(Vec<T>) -> bool) {
    let read = |line: Checked<T>| match damaged {
        Damaged::Refused => line.intact(),
        Damaged::Trusted => Some(line.trusted()),
    };
    read_lines(input, |lines: Vec<Checked<T>>| {
        lines.into_iter().map(read).collect::<Option<_>>().is_some_and(&mut take)
    });
}

/// A connection, and what is to be sent on it. It is closed when this is dropped, whoever reads from it: the other side
/// connects again if it is alive.
///
/// What a program said before a crash may arrive after it has connected again, so that the connection which comes last
/// need not be the one that works.
#[derive(Debug)]
pub struct Sending {
    stream: TcpStream,
    pending: String,
    /// Whether lines end in their checksums.
    is_checked: bool,
}

impl Sending {
    /// Returns the connection, with nothing to be sent.
    pub fn new(stream: TcpStream) -> Self {
        Self { stream, pending: String::new(), is_checked: false }
    }

    /// Returns the connection, with nothing to be sent, for lines that end in their checksums.
    pub fn checked(stream: TcpStream) -> Self {
        Self { stream, pending: String::new(), is_checked: true }
    }

    /// Adds a line, to be sent by the next [`Sending::flush`].
    pub fn add(&mut self, line: impl Display) {
        let added = match self.is_checked {
            true => writeln!(self.pending, "{}", Checked::new(line)),
            false => writeln!(self.pending, "{line}"),
        };
        added.expect("memory takes all");
    }

    /// Sends what was added.
    ///
    /// # Errors
    /// What the connection says. The lines may have arrived in part, so it is of no use any more.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let sent = self.stream.write_all(self.pending.as_bytes());
        self.pending.clear();
        sent
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        _ = self.stream.shutdown(Shutdown::Both);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces that arrive one after the other.
    struct Pieces(Vec<&'static str>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0).as_bytes();
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        }
    }

    #[track_caller]
    fn check(pieces: &[&'static str], expect: &[&[u64]]) {
        let mut taken = Vec::new();
        read_lines(Pieces(pieces.to_vec()), |lines: Vec<u64>| {
            taken.push(lines);
            true
        });
        assert_eq!(taken, expect);
    }

    #[test]
    fn lines_are_taken_when_they_are_whole() {
        check(&["1\n2\n", "3", "4\n5", "\n"], &[&[1, 2], &[34], &[5]]);
        check(&["1\n2"], &[&[1]]);
        check(&["1\n", "two\n", "3\n"], &[&[1]]);
        let long: &str = "0123456789".repeat(20).leak();
        check(&["1\n", long, "2\n"], &[&[1]]);
    }
}
