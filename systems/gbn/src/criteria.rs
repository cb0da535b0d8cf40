//! Black-box criteria of go-back-n: partitions of the input domain (after Rutherford, PhD thesis, section 4.4).

use simutant_sim_core::Probability;
use simutant_system::BlackBoxCriterion;

use super::{BYTES_MAX, PROBABILITY_MAX, TestCase};

/// Four partitions of each parameter: small files in two, all others in two halves; probabilities in equal partitions.
pub(super) fn ip_1() -> BlackBoxCriterion<TestCase> {
    let (requirements, quotas) = (IP_1.requirements(), Vec::new());
    BlackBoxCriterion { name: "IP-1", requirements, quotas, covered: |case| IP_1.covered(case) }
}

/// Small files in three partitions, all others in four, and probabilities from 0.1 on more finely than those below:
/// they exercise retransmission most.
pub(super) fn ip_2() -> BlackBoxCriterion<TestCase> {
    let (requirements, quotas) = (IP_2.requirements(), Vec::new());
    BlackBoxCriterion { name: "IP-2", requirements, quotas, covered: |case| IP_2.covered(case) }
}

/// Up to 4197 bytes are three segments: with the end mark they fit into the first window.
const IP_1: Partitions = Partitions { bytes: &[4_197, 11_192, 173_476], probabilities: &[0.05, 0.10, 0.15] };

/// Up to 1399 bytes are one segment. Of the probabilities, `[0, 0.1)` is cut in two, `[0.1, 0.2]` in four.
const IP_2: Partitions = Partitions {
    bytes: &[1_399, 4_197, 11_192, 92_334, 173_476, 254_618],
    probabilities: &[0.05, 0.10, 0.125, 0.15, 0.175],
};

/// How the parameters are partitioned. Requirements are in this order: partitions of `bytes`, `drop`, `duplicate`.
struct Partitions {
    /// The last lengths of all partitions of the file's length but the last one.
    bytes: &'static [u64],
    /// Where the range of both probabilities is cut; a cut belongs to the partition above it.
    probabilities: &'static [f64],
}

impl Partitions {
    fn requirements(&self) -> Vec<String> {
        let bytes = (0..=self.bytes.len()).map(|partition| {
            let first = if partition == 0 { 1 } else { self.bytes[partition - 1] + 1 };
            format!("bytes from {first} to {}", self.bytes.get(partition).unwrap_or(&BYTES_MAX))
        });
        let cuts = self.probabilities;
        let probabilities = |field: &'static str| {
            (0..=cuts.len()).map(move |partition| {
                let low = if partition == 0 { 0.0 } else { cuts[partition - 1] };
                match cuts.get(partition) {
                    Some(high) => format!("{field} from {low} to below {high}"),
                    None => format!("{field} from {low} to {PROBABILITY_MAX}"),
                }
            })
        };
        bytes.chain(probabilities("drop")).chain(probabilities("duplicate")).collect()
    }

    fn covered(&self, case: &TestCase) -> Vec<usize> {
        let bytes = self.bytes.iter().filter(|&&last| last < case.bytes).count();
        let probability = |value: Probability| self.probabilities.iter().filter(|&&cut| cut <= value.get()).count();
        let drop_first = self.bytes.len() + 1;
        let duplicate_first = drop_first + self.probabilities.len() + 1;
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
        let first = ["bytes from 1 to 4197", "drop from 0 to below 0.05", "duplicate from 0.05 to below 0.1"];
        check(ip_1(), 4_197, 0.049, 0.05, first);
        let last = ["bytes from 173477 to 335760", "drop from 0.15 to 0.2", "duplicate from 0.15 to 0.2"];
        check(ip_1(), 335_760, 0.15, 0.2, last);
        check(ip_1(), 173_477, 0.15, 0.2, last);
        let middle = ["bytes from 11193 to 92334", "drop from 0.1 to below 0.125", "duplicate from 0.175 to 0.2"];
        check(ip_2(), 11_193, 0.1, 0.2, middle);
        check(ip_2(), 92_334, 0.12, 0.175, middle);
    }

    #[test]
    fn the_label_of_a_partition_says_which_lengths_are_in_it() {
        for criterion in [ip_1(), ip_2()] {
            for bytes in 1..=BYTES_MAX {
                let case = TestCase { bytes, drop: Probability::ZERO, duplicate: Probability::ZERO, seed: 0 };
                let label = &criterion.requirements[(criterion.covered)(&case)[0]];
                let mut bounds = label.split(' ').filter_map(|word| word.parse::<u64>().ok());
                let (low, high) = (bounds.next().expect("a low bound"), bounds.next().expect("a high bound"));
                assert!((low..=high).contains(&bytes), "{bytes} is counted as {label}");
            }
        }
    }
}
