//! Domain names.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// An absolute domain name in lower case, with the dot at its end: `www.example.`, and `.` for the root.
///
/// Labels have letters, digits and hyphens, with a letter or digit at both ends (RFC 1123, section 2.1); a service's
/// label begins with an underscore (RFC 2782). Case would not matter (RFC 4343), so there is one form only.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(Arc<str>);

/// A text that is no [`Name`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidName {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Name {
    /// The longest name, in bytes of its wire format (RFC 1035, section 2.3.4).
    pub const WIRE_BYTES_MAX: usize = 255;

    /// Returns the name of the root.
    pub fn root() -> Self {
        Self(".".into())
    }

    /// Returns whether this is the root.
    pub fn is_root(&self) -> bool {
        self.as_str() == "."
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the labels, the most special first. The root has none.
    pub fn labels(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('.').filter(|label| !label.is_empty())
    }

    /// Returns the name with one more label before this one, or with several, which dots separate.
    ///
    /// # Errors
    /// [`InvalidName`] if that is none.
    pub fn child(&self, label: &str) -> Result<Self, InvalidName> {
        if self.is_root() { format!("{label}.").parse() } else { format!("{label}.{self}").parse() }
    }

    /// Returns how many bytes it takes in a packet, uncompressed: a length for each label and for the root, and the
    /// labels.
    pub fn wire_bytes(&self) -> usize {
        if self.is_root() { 1 } else { self.0.len() + 1 }
    }
}

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, InvalidName> {
        let invalid = |reason| Err(InvalidName { text: text.to_owned(), reason });
        if text == "." {
            return Ok(Self::root());
        }
        let Some(labels) = text.strip_suffix('.') else {
            return invalid("it does not end with a dot");
        };
        for label in labels.split('.') {
            let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            let host = label.strip_prefix('_').unwrap_or(label).as_bytes();
            match host {
                [] => return invalid("a label is empty"),
                [b'-', ..] | [.., b'-'] => return invalid("a label begins or ends with a hyphen"),
                _ if label.len() > 63 => return invalid("a label has more than 63 letters"),
                _ if !host.iter().copied().all(is_inner) => {
                    return invalid("a label has other letters than a to z, 0 to 9 and hyphens");
                }
                _ => {}
            }
        }
        let name = Self(text.into());
        if name.wire_bytes() > Self::WIRE_BYTES_MAX { invalid("it has more than 255 bytes") } else { Ok(name) }
    }
}

impl TryFrom<String> for Name {
    type Error = InvalidName;

    fn try_from(text: String) -> Result<Self, InvalidName> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.as_str().to_owned()
    }
}

/// The order of names is that of their texts, so maps can be searched by parts of a name.
impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Display for InvalidName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} is no domain name: {}", self.text, self.reason)
    }
}

impl std::error::Error for InvalidName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_absolute_and_of_letters_that_hosts_have() {
        #[track_caller]
        fn check(text: &str, expect: Result<usize, &str>) {
            let found = text.parse::<Name>();
            assert_eq!(found.as_ref().map(Name::wire_bytes).map_err(|invalid| invalid.reason), expect, "{text}");
            if let Ok(name) = found {
                assert_eq!(name.to_string(), text);
            }
        }
        check(".", Ok(1));
        check("www.example.", Ok(13));
        check("_http._tcp.a-1.", Ok(16));
        check("7.18.198.in-addr.arpa.", Ok(23));
        check(&format!("{}.", "a".repeat(63)), Ok(65));
        check(&"abc.".repeat(63), Ok(253));
        check("", Err("it does not end with a dot"));
        check("www.example", Err("it does not end with a dot"));
        check("a..b.", Err("a label is empty"));
        check("_.", Err("a label is empty"));
        check("-a.", Err("a label begins or ends with a hyphen"));
        check("a-.b.", Err("a label begins or ends with a hyphen"));
        check("WWW.", Err("a label has other letters than a to z, 0 to 9 and hyphens"));
        check("a b.", Err("a label has other letters than a to z, 0 to 9 and hyphens"));
        check(&format!("{}.", "a".repeat(64)), Err("a label has more than 63 letters"));
        check(&"abc.".repeat(64), Err("it has more than 255 bytes"));
    }

    #[test]
    fn a_child_has_its_labels_before_those_of_the_name() {
        let name = Name::root().child("example").expect("it is one").child("a.b").expect("it is one");
        assert_eq!(name.as_str(), "a.b.example.");
        assert_eq!(name.labels().collect::<Vec<_>>(), ["a", "b", "example"]);
        assert_eq!(Name::root().labels().count(), 0);
        assert!(name.child("c d").is_err());
    }
}
