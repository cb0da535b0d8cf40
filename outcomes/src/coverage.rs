//! What a run covered, for sources that learn from it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What a run of a test case on the original covered: a set of features.
///
/// A feature stands for a requirement of any criterion. It is a hash of both their names, so that a source compares
/// features and knows nothing of criteria, and what runs the test cases may add criteria of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Coverage {
    features: BTreeSet<u64>,
}

impl Coverage {
    /// Adds a requirement of a criterion; to add it again changes nothing.
    ///
    /// ```
    /// use simutant_outcomes::Coverage;
    ///
    /// let mut coverage = Coverage::default();
    /// coverage.insert("all-branches", "12");
    /// coverage.insert("all-branches", "12");
    /// coverage.insert("all-blocks", "12");
    /// // Requirements of two criteria are two, also if they have one label.
    /// assert_eq!(coverage.features().count(), 2);
    /// ```
    pub fn insert(&mut self, criterion: &str, requirement: &str) {
        // FNV-1a over both, which no byte of UTF-8 text separates but this one.
        let bytes = criterion.bytes().chain([0xff]).chain(requirement.bytes());
        let hash = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        self.features.insert(bytes.fold(0xcbf2_9ce4_8422_2325, hash));
    }

    /// Returns the features in ascending order.
    pub fn features(&self) -> impl Iterator<Item = u64> {
        self.features.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_a_criterion_with_a_requirement() {
        let of = |all: &[(&str, &str)]| {
            let mut coverage = Coverage::default();
            all.iter().for_each(|(criterion, requirement)| coverage.insert(criterion, requirement));
            coverage
        };
        let pairs = [("a", "bc"), ("ab", "c"), ("abc", ""), ("", "abc")];
        assert_eq!(of(&pairs).features().count(), 4);
        assert_eq!(of(&[pairs[0], pairs[1], pairs[0]]), of(&[pairs[1], pairs[0]]));
    }

    #[test]
    fn files_keep_every_bit_of_a_feature() {
        let mut coverage = Coverage::default();
        (0..1_000).for_each(|number| coverage.insert("block", &number.to_string()));
        let text = serde_json::to_string(&coverage).expect("a list of numbers");
        assert_eq!(serde_json::from_str::<Coverage>(&text).expect("and back"), coverage);
    }
}
