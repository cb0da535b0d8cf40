//! A rolling digest of a run: its events, their times and who takes part. What messages hold is not in it.

/// 64 bits over everything that was added, in order. One rotation, one exclusive or and one product a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Digest(u64);

impl Digest {
    pub(crate) const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// Adds a word.
    pub(crate) fn add(&mut self, word: u64) {
        // 2^64 / golden ratio, odd: multiplication by it is a bijection that carries low bits high.
        const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    }

    /// Returns the digest of what was added so far.
    pub(crate) fn value(self) -> u64 {
        self.0 ^ (self.0 >> 32)
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
}
