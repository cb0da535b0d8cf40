//! Black-box criteria of go-back-n: partitions of the input domain (Rutherford, PhD thesis, section 4.4).

use simutant_sim_core::Probability;
use simutant_system::BlackBoxCriterion;

use super::{BYTES_MAX, PROBABILITY_MAX, TestCase};

/// The range of each parameter in four equal partitions.
pub(super) fn ip_1() -> BlackBoxCriterion<TestCase> {
    let (requirements, quotas) = (IP_1.requirements(), Vec::new());
    BlackBoxCriterion { name: "IP-1", requirements, quotas, covered: |case| IP_1.covered(case) }
}

/// The length in seven equal partitions, and probabilities from 0.1 on more finely than those below: they exercise
/// retransmission most.
pub(super) fn ip_2() -> BlackBoxCriterion<TestCase> {
    let (requirements, quotas) = (IP_2.requirements(), Vec::new());
    BlackBoxCriterion { name: "IP-2", requirements, quotas, covered: |case| IP_2.covered(case) }
}

const IP_1: Partitions = Partitions { bytes: 4, cuts: &[0.05, 0.10, 0.15] };

/// Of the probabilities, `[0, 0.1)` is cut in two, `[0.1, 0.2]` in four.
const IP_2: Partitions = Partitions { bytes: 7, cuts: &[0.05, 0.10, 0.125, 0.15, 0.175] };

/// How the parameters are partitioned. Requirements are in this order: partitions of `bytes`, `drop`, `duplicate`.
struct Partitions {
    /// The number of equal partitions of the file's length.
    bytes: u64,
    /// Where the range of both probabilities is cut; a cut belongs to the partition above it.
    cuts: &'static [f64],
}

impl Partitions {
    fn requirements(&self) -> Vec<String> {
        // The first length of a partition is one more than the last length of the one before.
        let first = |partition: u64| (partition * BYTES_MAX).div_ceil(self.bytes) + 1;
        let bytes =
            (0..self.bytes).map(|partition| format!("bytes from {} to {}", first(partition), first(partition + 1) - 1));
        let probabilities = |field: &'static str| {
            (0..=self.cuts.len()).map(move |partition| {
                let low = if partition == 0 { 0.0 } else { self.cuts[partition - 1] };
                match self.cuts.get(partition) {
                    Some(high) => format!("{field} from {low} to below {high}"),
                    None => format!("{field} from {low} to {PROBABILITY_MAX}"),
                }
            })
        };
        bytes.chain(probabilities("drop")).chain(probabilities("duplicate")).collect()
    }

    fn covered(&self, case: &TestCase) -> Vec<usize> {
        let bytes = ((case.bytes - 1) * self.bytes / BYTES_MAX) as usize;
        let probability = |value: Probability| self.cuts.iter().filter(|&&cut| cut <= value.get()).count();
        let drop_first = self.bytes as usize;
        let duplicate_first = drop_first + self.cuts.len() + 1;
        vec![bytes, drop_first + probability(case.drop), duplicate_first + probability(case.duplicate)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(criterion: BlackBoxCriterion<TestCase>, bytes: u64, drop: f64, duplicate: f64, expect: [&str; 3]) {
        let probability = |value| Probability::new(value).expect("it is one");
        let case = TestCase { bytes, drop: probability(drop), duplicate: probability(duplicate), seed: 0 };
        let covered = (criterion.covered)(&case);
        assert_eq!(covered.into_iter().map(|index| &criterion.requirements[index]).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn there_are_12_and_19_requirements() {
        assert_eq!(ip_1().requirements.len(), 12);
        assert_eq!(ip_2().requirements.len(), 19);
    }

    #[test]
    fn a_cut_belongs_to_the_partition_above() {
        let first = ["bytes from 1 to 83940", "drop from 0 to below 0.05", "duplicate from 0.05 to below 0.1"];
        check(ip_1(), 83_940, 0.049, 0.05, first);
        let last = ["bytes from 251821 to 335760", "drop from 0.15 to 0.2", "duplicate from 0.15 to 0.2"];
        check(ip_1(), 335_760, 0.15, 0.2, last);
        check(ip_1(), 251_821, 0.15, 0.2, last);
        let sevenths = ["bytes from 47967 to 95932", "drop from 0.1 to below 0.125", "duplicate from 0.175 to 0.2"];
        check(ip_2(), 47_967, 0.1, 0.2, sevenths);
        check(ip_2(), 95_932, 0.12, 0.175, sevenths);
    }

    #[test]
    fn the_label_of_a_partition_says_which_lengths_are_in_it() {
        let criterion = ip_2();
        for bytes in 1..=BYTES_MAX {
            let case = TestCase { bytes, drop: Probability::ZERO, duplicate: Probability::ZERO, seed: 0 };
            let label = &criterion.requirements[(criterion.covered)(&case)[0]];
            let mut bounds = label.split(' ').filter_map(|word| word.parse::<u64>().ok());
            let (low, high) = (bounds.next().expect("a low bound"), bounds.next().expect("a high bound"));
            assert!((low..=high).contains(&bytes), "{bytes} is counted as {label}");
        }
    }
}
