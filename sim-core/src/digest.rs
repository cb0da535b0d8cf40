//! A rolling digest of a run: its events, their times, who takes part, what messages hold, and how far generators came.

use std::hash::{Hash, Hasher};

/// 2^64 / golden ratio, odd: multiplication by it is a bijection that carries low bits high.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const OTHER_MULTIPLIER: u64 = 0xd134_2543_de82_ef95;

/// 64 bits over everything that was added, in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// Adds a word.
    #[inline]
    pub(crate) fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    }

    /// Adds two words. They are mixed apart from the digest first, so that only one product waits for the one before.
    #[inline]
    pub(crate) fn add_pair(&mut self, first: u64, second: u64) {
        let product = first.wrapping_mul(OTHER_MULTIPLIER);
        self.add(product ^ (product >> 32) ^ second);
    }

    /// Returns the digest of what was added so far.
    pub(crate) fn value(self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

/// Returns the hash of a value: the same in every run and every build on platforms of one byte order and pointer size.
#[inline]
pub(crate) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DigestHasher(Digest::EMPTY);
    value.hash(&mut hasher);
    hasher.finish()
}

/// A hasher without a random key.
struct DigestHasher(Digest);

impl Hasher for DigestHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.0.add(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.0.add(u64::from(value));
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.0.add(u64::from(value));
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.0.add(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0.add(value);
    }

    #[inline]
    fn write_u128(&mut self, value: u128) {
        self.0.add_pair(value as u64, (value >> 64) as u64);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.0.add(value as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(words: &[u64]) -> u64 {
        let mut digest = Digest::EMPTY;
        words.iter().for_each(|&word| digest.add(word));
        digest.value()
    }

    #[test]
    fn value_order_and_number_of_words_all_count() {
        let all = [digest(&[]), digest(&[0]), digest(&[0, 0]), digest(&[1, 2]), digest(&[2, 1]), digest(&[1 << 63])];
        let distinct: std::collections::BTreeSet<u64> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    #[test]
    fn both_words_of_a_pair_count_and_which_is_which() {
        let mut seen = std::collections::BTreeSet::new();
        for first in [0, 1, 2, 1 << 32, 1 << 63, u64::MAX] {
            for second in [0, 1, 2, 1 << 32, 1 << 63, u64::MAX] {
                let mut digest = Digest::EMPTY;
                digest.add_pair(first, second);
                assert!(seen.insert(digest.value()), "{first} {second}");
            }
        }
    }

    #[test]
    fn equal_values_have_equal_hashes_and_others_have_others() {
        assert_eq!(hash_of(&("abc", 7_u8, [1_u64, 2])), hash_of(&("abc", 7_u8, [1_u64, 2])));
        let all = [hash_of(&"abcdefgh"), hash_of(&"abcdefghi"), hash_of(&""), hash_of(&-1_i32), hash_of(&-1_i64)];
        let distinct: std::collections::BTreeSet<u64> = all.into_iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
