//! Settles which of the changes that operators propose become candidates: of equal ones, the one with the most telling
//! name.

use std::collections::BTreeSet;
use std::ops::Range;

use super::candidate::Candidate;
use crate::text::compact::CompactText;
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
    let original = CompactText::new(text, function);
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
