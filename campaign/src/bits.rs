//! Sets of numbers as bytes: how the journal keeps what a test case covers.

use simutant_outcomes::BitSet;

/// Returns a set of `size` bits with those of `numbers`; `None` if one is too large.
pub(crate) fn from_numbers(numbers: &[u32], size: usize) -> Option<BitSet> {
    let mut set = BitSet::with_capacity(size);
    for &number in numbers {
        if number as usize >= size {
            return None;
        }
        set.insert(number as usize);
    }
    Some(set)
}

/// Returns the set as bytes: bit `i` is bit `i % 8` of byte `i / 8`.
pub(crate) fn to_bytes(set: &BitSet) -> Vec<u8> {
    let mut bytes = vec![0; set.len().div_ceil(8)];
    for number in set.ones() {
        bytes[number / 8] |= 1 << (number % 8);
    }
    bytes
}

/// Returns the set of `size` bits that [`to_bytes`] gave; `None` if these are not the bytes of one.
pub(crate) fn from_bytes(bytes: &[u8], size: usize) -> Option<BitSet> {
    if bytes.len() != size.div_ceil(8) {
        return None;
    }
    let mut set = BitSet::with_capacity(size);
    for (index, byte) in bytes.iter().enumerate() {
        for bit in (0..8).filter(|bit| byte >> bit & 1 == 1) {
            if index * 8 + bit >= size {
                return None;
            }
            set.insert(index * 8 + bit);
        }
    }
    Some(set)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_give_the_set_back(size in 0_usize..200, numbers in proptest::collection::vec(0_u32..200, 0..40)) {
            let Some(set) = from_numbers(&numbers, size) else {
                prop_assert!(numbers.iter().any(|&number| number as usize >= size));
                return Ok(());
            };
            prop_assert_eq!(from_bytes(&to_bytes(&set), size), Some(set));
        }
    }

    #[test]
    fn bytes_of_another_size_are_refused() {
        assert_eq!(from_bytes(&[0, 0], 8), None);
        assert_eq!(from_bytes(&[0b100], 2), None);
    }
}
