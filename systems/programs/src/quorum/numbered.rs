//! Lines that say which call they belong to.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use crate::lines::Unreadable;

/// A request or a reply, with the number of its call as the second word of its line.
///
/// # Examples
/// ```
/// use simutant_programs::quorum::Numbered;
///
/// let line: Numbered<String> = "write 12 3 1 7".parse().expect("the second word is a number");
/// assert_eq!(line, Numbered { call: 12, content: "write 3 1 7".to_owned() });
/// assert_eq!(line.to_string(), "write 12 3 1 7");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered<T> {
    /// The number of the call.
    pub call: u64,
    /// What the line says without it.
    pub content: T,
}

impl<T: Display> Display for Numbered<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let text = self.content.to_string();
        match text.split_once(' ') {
            Some((verb, words)) => write!(formatter, "{verb} {} {words}", self.call),
            None => write!(formatter, "{text} {}", self.call),
        }
    }
}

impl<T: FromStr> FromStr for Numbered<T> {
    type Err = Unreadable;

    fn from_str(line: &str) -> Result<Self, Unreadable> {
        let (verb, rest) = line.split_once(' ').ok_or(Unreadable)?;
        let (call, text) = match rest.split_once(' ') {
            Some((call, words)) => (call, format!("{verb} {words}")),
            None => (rest, verb.to_owned()),
        };
        let call = call.parse().map_err(|_| Unreadable)?;
        Ok(Self { call, content: text.parse().map_err(|_| Unreadable)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_without_a_number_are_refused() {
        assert_eq!("3 1".parse(), Ok(Numbered { call: 1, content: 3 }));
        for line in ["", "3", "3 x", "3 1 2", "x 1", "3  1", "3 1 ", "3 -1"] {
            assert_eq!(line.parse::<Numbered<u64>>(), Err(Unreadable), "{line}");
        }
    }
}
