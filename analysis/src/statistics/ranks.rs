//! Ranks from 1 up; equal values share the mean of the ranks that they take.

/// Returns the ranks of `values`, in their order, and the sizes of the groups of equal values, by rising value.
///
/// Cost O(n log n).
pub(super) fn midranks(values: &[f64]) -> (Vec<f64>, Vec<usize>) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&left, &right| values[left].total_cmp(&values[right]));
    let (mut ranks, mut groups, mut before) = (vec![0.0; values.len()], Vec::new(), 0);
    for group in order.chunk_by(|&left, &right| values[left] == values[right]) {
        let rank = before as f64 + (group.len() as f64 + 1.0) / 2.0;
        group.iter().for_each(|&index| ranks[index] = rank);
        groups.push(group.len());
        before += group.len();
    }
    (ranks, groups)
}

/// Returns the sum of `t^3 - t` over the sizes of groups of equal values: what ties take off the variance of a sum of
/// ranks.
pub(super) fn tie_term(groups: &[usize]) -> f64 {
    groups.iter().map(|&size| (size as f64).powi(3) - size as f64).sum()
}

/// The rank sum of the first of two samples.
#[derive(Debug)]
pub(super) struct Ranks {
    /// Mann-Whitney's `U` of the first sample: the pairs in which its value is higher, equals counting half.
    pub(super) u: f64,
    /// Groups of equal values of both samples, by rising value: how many there are, and how many are of the first
    /// sample.
    pub(super) groups: Vec<(usize, usize)>,
    /// See [`tie_term`].
    pub(super) ties: f64,
}

impl Ranks {
    /// Returns the ranks of two samples together, `None` if one of them is empty.
    pub(super) fn of(a: &[f64], b: &[f64]) -> Option<Self> {
        if a.is_empty() || b.is_empty() {
            return None;
        }
        let mut values: Vec<(f64, bool)> =
            a.iter().map(|&value| (value, true)).chain(b.iter().map(|&value| (value, false))).collect();
        values.sort_by(|left, right| left.0.total_cmp(&right.0));
        let (mut rank_sum, mut groups, mut before) = (0.0, Vec::new(), 0);
        for group in values.chunk_by(|left, right| left.0 == right.0) {
            let of_a = group.iter().filter(|(_, is_a)| *is_a).count();
            rank_sum += of_a as f64 * (before as f64 + (group.len() as f64 + 1.0) / 2.0);
            groups.push((group.len(), of_a));
            before += group.len();
        }
        let count_a = a.len() as f64;
        let sizes: Vec<usize> = groups.iter().map(|(size, _)| *size).collect();
        Some(Self { u: rank_sum - count_a * (count_a + 1.0) / 2.0, ties: tie_term(&sizes), groups })
    }

    /// Returns the variance of `u` if chance deals the values, `n1 n2 / 12 * ((N + 1) - ties / (N (N - 1)))`; 0 if all
    /// values are equal.
    pub(super) fn variance(&self, count_a: usize, count_b: usize) -> f64 {
        if self.groups.len() < 2 {
            return 0.0;
        }
        let (count_a, count_b) = (count_a as f64, count_b as f64);
        let count = count_a + count_b;
        count_a * count_b / 12.0 * (count + 1.0 - self.ties / (count * (count - 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_their_ranks() {
        assert_eq!(midranks(&[3.0, 1.0, 3.0, 2.0]), (vec![3.5, 1.0, 3.5, 2.0], vec![1, 1, 2]));
        assert_eq!(midranks(&[]), (vec![], vec![]));
        assert_eq!(tie_term(&[1, 1, 2, 3]), 30.0);
    }
}
