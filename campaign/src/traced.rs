//! What test cases cover of the criteria that look at traces: from a worker's numbers to labels, and from labels to
//! sets that depend on neither workers nor their order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use simutant_outcomes::BitSet;
use simutant_protocol::TraceCoverage;

/// The labels of the requirements that a test case covers, for each criterion.
pub(crate) type Traced = Vec<Vec<Arc<str>>>;

/// The labels that one worker has said, by criterion and number.
#[derive(Debug, Default)]
pub(crate) struct Labels(Vec<Vec<Arc<str>>>);

impl Labels {
    /// Returns the labels that a worker means; `None` if it has not said one of them.
    pub(crate) fn read(&mut self, traced: Vec<TraceCoverage>) -> Option<Traced> {
        if self.0.len() < traced.len() {
            self.0.resize_with(traced.len(), Vec::new);
        }
        let read = |(labels, TraceCoverage { new_labels, covered }): (&mut Vec<Arc<str>>, _)| {
            labels.extend(new_labels.into_iter().map(Arc::from));
            covered.into_iter().map(|number| labels.get(number as usize).cloned()).collect::<Option<Vec<_>>>()
        };
        self.0.iter_mut().zip(traced).map(read).collect()
    }
}

/// Returns the labels that some test case of the universe covers, which are the first so many of `covered`, in their
/// order, and for each test case, re-seedings included, those that it covers.
pub(crate) fn requirements(covered: &[Vec<Arc<str>>], universe: usize) -> (Vec<String>, Vec<BitSet>) {
    let labels: BTreeSet<&Arc<str>> = covered.iter().take(universe).flatten().collect();
    let indices: BTreeMap<&Arc<str>, usize> = labels.iter().copied().zip(0..).collect();
    let set = |of_case: &Vec<Arc<str>>| {
        let mut set = BitSet::with_capacity(labels.len());
        set.extend(of_case.iter().filter_map(|label| indices.get(label).copied()));
        set
    };
    (labels.iter().map(ToString::to_string).collect(), covered.iter().map(set).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(new_labels: &[&str], covered: &[u32]) -> Vec<TraceCoverage> {
        let new_labels = new_labels.iter().map(|&label| label.to_owned()).collect();
        vec![TraceCoverage { new_labels, covered: covered.to_vec() }]
    }

    #[test]
    fn the_labels_of_two_workers_are_the_same_whatever_their_numbers() {
        let (mut first, mut second) = (Labels::default(), Labels::default());
        let of_first = [coverage(&["b", "a"], &[0, 1]), coverage(&[], &[1]), coverage(&["c"], &[2])];
        let of_second = [coverage(&["a", "b"], &[0, 1]), coverage(&[], &[0]), coverage(&["c"], &[2])];
        let read = |labels: &mut Labels, answers: [Vec<TraceCoverage>; 3]| -> Vec<Vec<Arc<str>>> {
            answers.into_iter().flat_map(|answer| labels.read(answer).expect("all was said")).collect()
        };
        let of_first = read(&mut first, of_first);
        let expected = requirements(&of_first, 3);
        assert_eq!(requirements(&read(&mut second, of_second), 3), expected);
        assert_eq!(requirements(&of_first, 2).0, ["a", "b"], "the last one is a re-seeding");
        assert_eq!(expected.0, ["a", "b", "c"]);
        assert_eq!(
            expected.1.iter().map(|set| set.ones().collect()).collect::<Vec<Vec<_>>>(),
            [vec![0, 1], vec![0], vec![2]]
        );
    }

    #[test]
    fn a_number_without_a_label_is_refused() {
        assert_eq!(Labels::default().read(coverage(&["a"], &[1])), None);
    }
}
