//! Texts that are cheap to clone, to compare and to append to.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A text that is shared by its clones and knows its own hash, so that states with long texts are cheap to keep.
///
/// In serde it is a string.
#[derive(Clone)]
pub struct Text {
    text: Arc<str>,
    hash: u64,
}

impl Text {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns how many bytes the text has on the heap, or none if others share it.
    pub fn heap_bytes(&self) -> usize {
        /// The two counts of an `Arc`.
        const COUNTS: usize = 2 * size_of::<usize>();
        if Arc::strong_count(&self.text) > 1 { 0 } else { self.text.len() + COUNTS }
    }

    /// Returns this text with another one at its end.
    #[must_use]
    pub fn with(&self, end: &str) -> Self {
        let text = [self.as_str(), end].concat();
        Self { text: text.into(), hash: extend(self.hash, end) }
    }
}

/// The hash of a text with another one at its end: a polynomial, so that the beginning need not be looked at again.
fn extend(hash: u64, end: &str) -> u64 {
    /// The multiplier of Knuth's MMIX generator.
    const FACTOR: u64 = 6_364_136_223_846_793_005;
    end.bytes().fold(hash, |hash, byte| hash.wrapping_mul(FACTOR).wrapping_add(u64::from(byte) + 1))
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self { text: text.into(), hash: extend(0, text) }
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text)
    }
}

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(formatter)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&*self.text, formatter)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::from(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_grew_is_the_text_as_it_is() {
        for (start, end) in [("", ""), ("", "a"), ("a", ""), ("ab", "c"), ("a", "bc"), ("ä", "\0")] {
            let whole: Text = [start, end].concat().as_str().into();
            let grown = Text::from(start).with(end);
            assert_eq!(grown, whole);
            assert_eq!(grown.hash, whole.hash);
            assert_ne!(whole, whole.with("\0"));
        }
    }
}
