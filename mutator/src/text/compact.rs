//! Texts without what formatting changes, to tell whether two changes are the same one.

use std::ops::Range;

/// A piece of a text without what formatting changes.
#[derive(Debug)]
pub(crate) struct CompactText {
    letters: Vec<u8>,
    /// For each byte of the text, from the piece's start to one past its end: how many letters come before it.
    offsets: Vec<usize>,
    start: usize,
}

/// How a text differs from another one: the same for each way to write the same change.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Difference {
    /// Where they begin to differ.
    start: usize,
    /// How much of the first one does.
    taken: usize,
    /// What the second one has there.
    new: Vec<u8>,
}

impl CompactText {
    /// Returns the piece at `range` of a text.
    pub(crate) fn new(text: &str, range: &Range<usize>) -> Self {
        let mut compact = Self { letters: Vec::new(), offsets: Vec::new(), start: range.start };
        let bytes = &text.as_bytes()[range.clone()];
        for (at, byte) in bytes.iter().enumerate() {
            if !byte.is_ascii_whitespace() {
                // Words do not grow together.
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let is_after_space = at > 0 && bytes[at - 1].is_ascii_whitespace();
                if is_after_space && is_word(byte) && compact.letters.last().is_some_and(is_word) {
                    compact.letters.push(b' ');
                }
                compact.offsets.push(compact.letters.len());
                compact.letters.push(*byte);
            } else {
                compact.offsets.push(compact.letters.len());
            }
        }
        compact.offsets.push(compact.letters.len());
        compact
    }

    /// Returns how the piece differs in which `replacement` stands at `range`; `None` if it does not.
    pub(crate) fn difference(&self, range: &Range<usize>, replacement: &str) -> Option<Difference> {
        let start = self.offsets[range.start - self.start];
        let end = self.offsets[range.end - self.start];
        let new = Self::new(replacement, &(0..replacement.len())).letters;
        let length = self.letters.len() + new.len() - (end - start);
        // The letter at an offset of the changed text.
        let changed = |at: usize| match at.checked_sub(start) {
            None => self.letters[at],
            Some(inside) => new.get(inside).copied().unwrap_or_else(|| self.letters[at + end - start - new.len()]),
        };
        let shorter = length.min(self.letters.len());
        let same_before = (start..shorter).take_while(|&at| changed(at) == self.letters[at]).count() + start;
        let is_same_from_end = |back: &usize| changed(length - 1 - back) == self.letters[self.letters.len() - 1 - back];
        let same_after = (0..shorter - same_before).take_while(is_same_from_end).count();
        let middle: Vec<u8> = (same_before..length - same_after).map(changed).collect();
        let taken = self.letters.len() - same_after - same_before;
        (taken > 0 || !middle.is_empty()).then_some(Difference { start: same_before, taken, new: middle })
    }
}
