//! What clients and servers say to each other: lines of words, which get the number of a call as their second.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use simutant_programs::{Unreadable, end, word};

/// The time of a write. Writes of one number are ordered by their writers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// How many writes the writer knew of, with its own.
    pub number: u64,
    /// The number of the writer.
    pub writer: u64,
}

/// What a server holds, which it answers to a read: `value NUMBER WRITER VALUE`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Content {
    /// When the value was written.
    pub timestamp: Timestamp,
    /// The value; `None` if nothing was written.
    pub value: Option<u64>,
}

/// What a server is to hold, if it is new: `write NUMBER WRITER VALUE`. That is a line of the log, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) timestamp: Timestamp,
    pub(crate) value: u64,
}

/// A line from a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    Read,
    Write(Write),
}

/// A server's answer to a write: `ack yes` or `ack no`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acknowledgement {
    /// It has what it was sent.
    Yes,
    /// It has something newer.
    No,
}

/// A line from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Content(Content),
    Acknowledgement(Acknowledgement),
}

impl Display for Content {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Timestamp { number, writer } = self.timestamp;
        write!(formatter, "value {number} {writer} {}", ValueText(self.value))
    }
}

impl FromStr for Content {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let mut words = line.split(' ');
        let Some("value") = words.next() else { return Err(Unreadable) };
        let timestamp = timestamp(&mut words)?;
        let value = match words.next() {
            Some("none") => None,
            Some(value) => Some(value.parse().map_err(|_| Unreadable)?),
            None => return Err(Unreadable),
        };
        end(words, Self { timestamp, value })
    }
}

/// A value as it is written: `none` if there is none.
#[derive(Debug)]
pub(crate) struct ValueText(pub(crate) Option<u64>);

impl Display for ValueText {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(value) => value.fmt(formatter),
            None => formatter.write_str("none"),
        }
    }
}

impl Display for Write {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Timestamp { number, writer } = self.timestamp;
        write!(formatter, "write {number} {writer} {}", self.value)
    }
}

impl FromStr for Write {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let mut words = line.split(' ');
        let Some("write") = words.next() else { return Err(Unreadable) };
        let write = Self { timestamp: timestamp(&mut words)?, value: word(&mut words)? };
        end(words, write)
    }
}

impl Display for Request {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read => formatter.write_str("read"),
            Self::Write(write) => write.fmt(formatter),
        }
    }
}

impl FromStr for Request {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        if line == "read" { Ok(Self::Read) } else { line.parse().map(Self::Write) }
    }
}

impl Display for Acknowledgement {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Yes => "ack yes",
            Self::No => "ack no",
        })
    }
}

impl FromStr for Acknowledgement {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        match line {
            "ack yes" => Ok(Self::Yes),
            "ack no" => Ok(Self::No),
            _ => Err(Unreadable),
        }
    }
}

impl Display for Reply {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Content(content) => content.fmt(formatter),
            Self::Acknowledgement(acknowledgement) => acknowledgement.fmt(formatter),
        }
    }
}

/// Returns the timestamp that the next two words are.
fn timestamp<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Timestamp, Unreadable> {
    Ok(Timestamp { number: word(words)?, writer: word(words)? })
}

#[cfg(test)]
mod tests {
    use simutant_programs::quorum::Numbered;

    use super::*;

    #[track_caller]
    fn check<T: FromStr + Display + PartialEq + std::fmt::Debug>(line: &str, content: T) {
        let line_of_call = Numbered { call: 5, content };
        assert_eq!(line_of_call.to_string(), line);
        assert_eq!(line.parse().ok(), Some(line_of_call));
    }

    #[test]
    fn lines_are_read_as_they_were_written() {
        let timestamp = Timestamp { number: 3, writer: 2 };
        check("read 5", Request::Read);
        check("write 5 3 2 7", Request::Write(Write { timestamp, value: 7 }));
        check("value 5 3 2 7", Content { timestamp, value: Some(7) });
        check("value 5 0 0 none", Content::default());
        check("ack 5 yes", Acknowledgement::Yes);
        check("ack 5 no", Acknowledgement::No);
    }

    #[test]
    fn other_lines_are_refused() {
        for line in ["", "read 1", "write 1 2", "write 1 2 none", "write 1 2 3 4", "write 1  2 3", "ack yes"] {
            assert_eq!(line.parse::<Request>(), Err(Unreadable), "{line}");
        }
        for line in ["", "value", "value 1 2", "value 1 2 x", "value 1 2 3 4", "ack yes"] {
            assert_eq!(line.parse::<Content>(), Err(Unreadable), "{line}");
        }
        for line in ["", "ack", "ack maybe", "ack yes yes", "value 0 0 none"] {
            assert_eq!(line.parse::<Acknowledgement>(), Err(Unreadable), "{line}");
        }
    }
}
