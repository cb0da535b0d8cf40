//! Names for mutants that survive edits elsewhere in the file.

use std::collections::BTreeMap;

/// Makes identities, and tells equal ones apart by their order.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    seen: BTreeMap<u64, u32>,
}

impl Identities {
    /// Returns the identity of the next mutant: 16 hexadecimal digits.
    pub(crate) fn next(&mut self, function: &str, original: &str, operator: &str, replacement: &str) -> String {
        let mut hash = Hash::default();
        for part in [function, &normalised(original), operator, &normalised(replacement)] {
            hash.write(part.as_bytes());
            hash.write(&[0]);
        }
        let ordinal = self.seen.entry(hash.0).or_default();
        hash.write(&ordinal.to_le_bytes());
        *ordinal += 1;
        format!("{:016x}", hash.0)
    }
}

/// Returns code without what formatting changes.
fn normalised(code: &str) -> String {
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// FNV-1a with 64 bits: portable, and long enough for the mutants of one package.
#[derive(Debug)]
pub(crate) struct Hash(pub(crate) u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Returns the hash with every bit depending on every byte, so that its order is that of chance (the finalizer of SplitMix; Steele, Lea and
    /// Flood, OOPSLA 2014).
    pub(crate) fn mixed(&self) -> u64 {
        let first = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let second = (first ^ (first >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        second ^ (second >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_does_not_change_an_identity_and_order_tells_equals_apart() {
        let mut identities = Identities::default();
        let first = identities.next("a::f", "x + 1", "AOR", "x - 1");
        let second = identities.next("a::f", "x  +\n1", "AOR", "x - 1");
        assert_ne!(first, second);
        assert_eq!(Identities::default().next("a::f", "x  +\n1", "AOR", "x - 1"), first);
        assert_ne!(identities.next("a::g", "x + 1", "AOR", "x - 1"), first);
    }
}
