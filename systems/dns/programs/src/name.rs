//! Domain names (RFC 1034, section 3.1), in lower case, since case does not matter (RFC 4343).

use std::fmt;
use std::str::FromStr;

/// The longest label.
const LABEL_BYTES_MAX: usize = 63;

/// The longest name, with the lengths of its labels and that of the root.
const NAME_BYTES_MAX: usize = 255;

/// The two bits that make a length a pointer to the rest of a name (RFC 1035, section 4.1.4).
const POINTER: u8 = 0b1100_0000;

/// A domain name: its labels, each after its length, without the empty one of the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Vec<u8>);

/// Why a text is no name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidName(String);

impl std::error::Error for InvalidName {}

impl fmt::Display for InvalidName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` is no domain name", self.0)
    }
}

impl Name {
    /// Returns the name of the root.
    pub fn root() -> Self {
        Self(Vec::new())
    }

    /// Returns whether it is the root's.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the name without its first label; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let (&length, rest) = self.0.split_first()?;
        Some(Self(rest[usize::from(length)..].to_vec()))
    }

    /// Returns the name and all those above it, the root last.
    pub fn upwards(&self) -> impl Iterator<Item = Self> {
        std::iter::successors(Some(self.clone()), Self::parent)
    }

    /// Returns whether it is `other`, or below it.
    pub fn is_at_or_below(&self, other: &Self) -> bool {
        self.upwards().any(|name| name == *other)
    }

    /// Appends the name as messages have it, uncompressed.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.0);
        bytes.push(0);
    }

    /// Returns the name at `start` of a message, and where what follows it begins.
    pub fn decode(message: &[u8], start: usize) -> Option<(Self, usize)> {
        let (mut labels, mut place, mut end) = (Vec::new(), start, None);
        loop {
            let length = *message.get(place)?;
            if length & POINTER == POINTER {
                let low = *message.get(place + 1)?;
                let target = usize::from(u16::from_be_bytes([length & !POINTER, low]));
                end = end.or(Some(place + 2));
                // Pointers lead to what was before (section 4.1.4), and so to no loop.
                if target >= place {
                    return None;
                }
                place = target;
            } else if length == 0 {
                return Some((Self(labels), end.unwrap_or(place + 1)));
            } else if usize::from(length) <= LABEL_BYTES_MAX {
                let next = place + 1 + usize::from(length);
                labels.push(length);
                labels.extend(message.get(place + 1..next)?.iter().map(u8::to_ascii_lowercase));
                if labels.len() >= NAME_BYTES_MAX {
                    return None;
                }
                place = next;
            } else {
                return None;
            }
        }
    }
}

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let invalid = || InvalidName(text.to_owned());
        let labels = text.strip_suffix('.').ok_or_else(invalid)?;
        let mut bytes = Vec::new();
        for label in labels.split('.').filter(|_| !labels.is_empty()) {
            let length = u8::try_from(label.len()).map_err(|_| invalid())?;
            if label.is_empty() || label.len() > LABEL_BYTES_MAX {
                return Err(invalid());
            }
            bytes.push(length);
            bytes.extend(label.bytes().map(|byte| byte.to_ascii_lowercase()));
        }
        if bytes.len() < NAME_BYTES_MAX { Ok(Self(bytes)) } else { Err(invalid()) }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return formatter.write_str(".");
        }
        for name in self.upwards().filter(|name| !name.is_root()) {
            let label = &name.0[1..=usize::from(name.0[0])];
            write!(formatter, "{}.", String::from_utf8_lossy(label))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        text.parse().expect("it is a name")
    }

    #[test]
    fn names_are_written_and_read() {
        for text in [".", "oak.", "www.oak."] {
            let mut bytes = vec![7, 7];
            name(text).encode(&mut bytes);
            assert_eq!(Name::decode(&bytes, 2), Some((name(text), bytes.len())));
            assert_eq!(name(text).to_string(), text);
        }
        assert_eq!(name("OAK."), name("oak."));
        for text in ["", "oak", "a..b.", &format!("{}.", "a".repeat(64)), &"abcdefghi.".repeat(26)] {
            assert_eq!(text.parse::<Name>(), Err(InvalidName(text.to_owned())));
        }
    }

    #[test]
    fn pointers_lead_to_the_rest_of_a_name_and_never_round_in_circles() {
        let bytes = b"\x03oak\x00\x03www\xc0\x00\xff";
        assert_eq!(Name::decode(bytes, 5), Some((name("www.oak."), 11)));
        assert_eq!(Name::decode(b"\xc0\x00", 0), None);
        assert_eq!(Name::decode(b"\x01a\xc0\x00", 0), None);
        assert_eq!(Name::decode(b"\x05oak", 0), None);
        assert_eq!(Name::decode(b"\x80oak\x00", 0), None);
    }

    #[test]
    fn a_name_is_below_those_that_it_ends_with_by_whole_labels() {
        assert!(name("www.oak.").is_at_or_below(&name("oak.")));
        assert!(name("oak.").is_at_or_below(&name("oak.")));
        assert!(name("oak.").is_at_or_below(&Name::root()));
        assert!(!name("wwwoak.").is_at_or_below(&name("oak.")));
        assert_eq!(name("a.b.").upwards().map(|name| name.to_string()).collect::<Vec<_>>(), ["a.b.", "b.", "."]);
    }
}
