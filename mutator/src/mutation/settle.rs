//! Settles which of the changes that operators propose become candidates: of equal ones, the one with the most telling
//! name.

use std::collections::BTreeSet;
use std::ops::Range;

use super::candidate::Candidate;
use crate::text::edit::plain_text;

/// A candidate, and how telling the name of its operator is.
pub(super) struct Found {
    pub(super) candidate: Candidate,
    /// Less is more telling.
    pub(super) rank: (bool, u8, usize),
}

/// Leaves out what is made already, under a more telling name.
pub(super) fn settle(found: &mut Vec<Found>, function: &Range<usize>, text: &str) {
    found.sort_by_key(|found| found.rank);
    let original = Squeezed::new(text, function);
    let mut seen = BTreeSet::new();
    found.retain(|found| {
        let replacement = plain_text(&found.candidate.change.replacement, text);
        original.difference(found.candidate.range(), &replacement).is_some_and(|difference| seen.insert(difference))
    });
    let negated: Vec<Range<usize>> = found
        .iter()
        .filter(|found| found.candidate.operator == "COI")
        .map(|found| found.candidate.range().clone())
        .collect();
    found.retain(|found| {
        let range = found.candidate.range();
        let is_condition = |condition: &Range<usize>| {
            condition.end == range.end && condition.start <= range.start && {
                text[condition.start..range.start].chars().all(|letter| letter == '!' || letter.is_whitespace())
            }
        };
        !(found.candidate.change.is_negation && negated.iter().any(is_condition))
    });
}

/// A function's text without what formatting changes.
struct Squeezed {
    letters: Vec<u8>,
    /// For each byte of the text, from the function's start to one past its end: how many letters come before it.
    offsets: Vec<usize>,
    start: usize,
}

/// Where two texts begin to differ, how much of the first one does, and what the second one has there: the same for
/// each way to write the same change.
type Difference = (usize, usize, Vec<u8>);

impl Squeezed {
    fn new(text: &str, function: &Range<usize>) -> Self {
        let mut squeezed = Self { letters: Vec::new(), offsets: Vec::new(), start: function.start };
        let bytes = &text.as_bytes()[function.clone()];
        for (at, byte) in bytes.iter().enumerate() {
            if !byte.is_ascii_whitespace() {
                // Words do not grow together.
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let is_after_space = at > 0 && bytes[at - 1].is_ascii_whitespace();
                if is_after_space && is_word(byte) && squeezed.letters.last().is_some_and(is_word) {
                    squeezed.letters.push(b' ');
                }
                squeezed.offsets.push(squeezed.letters.len());
                squeezed.letters.push(*byte);
            } else {
                squeezed.offsets.push(squeezed.letters.len());
            }
        }
        squeezed.offsets.push(squeezed.letters.len());
        squeezed
    }

    /// Returns how the function differs in which `replacement` stands at `range`; `None` if it does not.
    fn difference(&self, range: &Range<usize>, replacement: &str) -> Option<Difference> {
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
        (taken > 0 || !middle.is_empty()).then_some((same_before, taken, middle))
    }
}
