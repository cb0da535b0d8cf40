//! How many of some vectors are linearly independent.

/// A prime: arithmetic is modulo it, so a number of independent vectors can come out too small, with a probability of
/// about one in 2^61 for each.
const PRIME: u64 = (1 << 61) - 1;

/// A basis of the vectors so far, by the place of the first entry that is not zero.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rank {
    rows: Vec<(usize, Vec<u64>)>,
}

impl Rank {
    /// Adds a vector, whose missing entries are zero; returns whether it is independent of those before.
    pub(crate) fn add(&mut self, mut vector: Vec<u64>) -> bool {
        for (pivot, row) in &self.rows {
            let Some(factor) = vector.get(*pivot).copied().filter(|factor| *factor != 0) else { continue };
            if vector.len() < row.len() {
                vector.resize(row.len(), 0);
            }
            for (entry, of_row) in vector.iter_mut().zip(row) {
                *entry = (*entry + PRIME - times(factor, *of_row)) % PRIME;
            }
        }
        let Some(pivot) = vector.iter().position(|entry| *entry != 0) else { return false };
        let inverse = power(vector[pivot], PRIME - 2);
        vector.iter_mut().for_each(|entry| *entry = times(*entry, inverse));
        self.rows.push((pivot, vector));
        true
    }

    /// Returns how many of the vectors are independent.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }
}

fn times(one: u64, other: u64) -> u64 {
    (u128::from(one) * u128::from(other) % u128::from(PRIME)) as u64
}

fn power(base: u64, mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1, base);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = times(result, square);
        }
        square = times(square, square);
        exponent /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_vectors_are_not_independent() {
        let mut rank = Rank::default();
        for (vector, is_independent) in [
            (vec![0, 0, 0], false),
            (vec![0, 2, 1], true),
            (vec![0, 4, 2], false),
            (vec![1, 1], true),
            (vec![3, 5, 1], false),
            (vec![0, 0, 0, 7], true),
            (vec![1, 0, 0, 1], true),
            (vec![9, 8, 7, 6], false),
        ] {
            assert_eq!(rank.add(vector.clone()), is_independent, "{vector:?}");
        }
        assert_eq!(rank.count(), 4);
    }
}
