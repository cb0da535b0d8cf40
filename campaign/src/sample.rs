//! Samples of the runs that a campaign could do without: of the pairs that pruning leaves out, and of those and the
//! recordings that are kept after an edit.

use std::collections::BTreeSet;

use simutant_outcomes::{BitSet, MutantNumber};
use simutant_random::Random;

/// One pair, or one test case, of so many is run.
const ONE_OF: u64 = 200;
/// So many pairs are run at least, if there are as many: fewer would show little.
const PAIRS_MIN: u64 = 200;
/// So many are run at most: more would cost time, and show little more.
const PAIRS_MAX: u64 = 5_000;
/// One recording of so many is made again, and so many at least: one is worth many runs on mutants, since all these
/// follow from it.
const RECORDINGS_ONE_OF: u64 = 50;
const RECORDINGS_MIN: u64 = 20;
/// So many test cases are in two shards at least; one of [`ONE_OF`] is.
const OVERLAP_MIN: u64 = 5;
/// Tells the random numbers of one sample from others that are drawn from the same seed.
const PRUNED: u64 = 0x7072_756e_6564;
const KEPT: u64 = 0x6b65_7074;
const RECORDED: u64 = 0x7265_636f_7264;
const OVERLAP: u64 = 0x006f_7665_726c_6170;

/// Returns the seed for the samples of a round; the first one has that of the campaign.
pub(crate) fn of_round(seed: u64, round: usize) -> u64 {
    seed ^ (round as u64).rotate_right(8)
}

/// Draws pairs of one of `cases` test cases and a mutant that is not among the `selected` ones of that test case; these
/// are in ascending order, and so are the mutants that are returned for each test case.
///
/// The sample depends on the arguments alone, and each pair is as likely as any other.
pub(crate) fn pruned_pairs(
    seed: u64,
    mutants: usize,
    cases: usize,
    selected: impl Fn(usize) -> Vec<MutantNumber>,
) -> Vec<Vec<MutantNumber>> {
    others(seed ^ PRUNED, mutants, cases, selected)
}

/// Draws pairs of a test case and a mutant whose run was kept after an edit, in the same way.
pub(crate) fn kept_pairs(seed: u64, mutants: usize, kept: &[BitSet]) -> Vec<Vec<MutantNumber>> {
    let without = |case: usize| {
        (0..mutants).filter(|&mutant| !kept[case].contains(mutant)).map(|mutant| mutant as MutantNumber).collect()
    };
    others(seed ^ KEPT, mutants, kept.len(), without)
}

/// Draws some of the test cases whose recordings were kept after an edit.
pub(crate) fn kept_recordings(seed: u64, kept: &[usize]) -> BTreeSet<usize> {
    let total = kept.len() as u64;
    let count = (total / RECORDINGS_ONE_OF).max(RECORDINGS_MIN).min(total);
    draw(seed ^ RECORDED, total, count).into_iter().map(|index| kept[index as usize]).collect()
}

/// Draws the test cases of a universe that two shards run.
pub(crate) fn overlap(seed: u64, universe: usize) -> BTreeSet<usize> {
    let total = universe as u64;
    let count = (total / ONE_OF).max(OVERLAP_MIN).min(total);
    draw(seed ^ OVERLAP, total, count).into_iter().map(|case| case as usize).collect()
}

/// Draws from all pairs but those of each test case's mutants in `without`, which is asked again and again: all of them at
/// once may be more than there is memory.
fn others(
    seed: u64,
    mutants: usize,
    cases: usize,
    without: impl Fn(usize) -> Vec<MutantNumber>,
) -> Vec<Vec<MutantNumber>> {
    // How many pairs there are before those of each test case, and in all.
    let mut before = Vec::with_capacity(cases);
    let mut total = 0;
    for case in 0..cases {
        before.push(total);
        total += (mutants - without(case).len()) as u64;
    }
    let mut sample = vec![Vec::new(); cases];
    for pair in draw(seed, total, (total / ONE_OF).clamp(PAIRS_MIN, PAIRS_MAX).min(total)) {
        // The last test case with no more before it: those without any pair are passed over.
        let case = before.partition_point(|&before| before <= pair) - 1;
        sample[case].push(missing(&without(case), (pair - before[case]) as MutantNumber));
    }
    sample
}

/// Draws `count` different numbers below `total` (Floyd's algorithm: Bentley and Floyd, Communications of the ACM
/// 30(9), 1987).
fn draw(seed: u64, total: u64, count: u64) -> BTreeSet<u64> {
    let mut random = Random::from_seed(seed);
    let mut drawn = BTreeSet::new();
    for last in total - count..total {
        let number = random.uniform(0..=last);
        if !drawn.insert(number) {
            drawn.insert(last);
        }
    }
    drawn
}

/// Returns number `index` of those that are not in `sorted`.
fn missing(sorted: &[MutantNumber], index: MutantNumber) -> MutantNumber {
    let passed = sorted.iter().zip(0..).take_while(|&(&number, before)| number - before <= index).count();
    index + passed as MutantNumber
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn few_pairs_are_all_drawn_and_many_up_to_a_bound() {
        #[track_caller]
        fn check(cases: usize, mutants: usize, selected: &[MutantNumber], expect: u64) {
            let sample = pruned_pairs(1, mutants, cases, |_| selected.to_vec());
            assert_eq!(sample.iter().map(Vec::len).sum::<usize>() as u64, expect);
        }
        check(10, 12, &[0, 3], 100);
        check(10, 12, &(0..12).collect::<Vec<_>>(), 0);
        check(100, 12, &[0, 3], PAIRS_MIN);
        check(1_000, 202, &[0, 3], 1_000);
        check(10_000, 202, &[0, 3], PAIRS_MAX);
        assert_eq!(pruned_pairs(1, 0, 0, |_| Vec::new()), Vec::<Vec<MutantNumber>>::new());
    }

    #[test]
    fn another_seed_draws_other_pairs() {
        let sample = |seed| pruned_pairs(seed, 100, 100, |_| vec![1]);
        assert_eq!(sample(1), sample(1));
        assert_ne!(sample(1), sample(2));
    }

    #[test]
    fn of_what_is_kept_nothing_else_is_drawn() {
        let kept: Vec<BitSet> = vec![(3..7).collect(), BitSet::new(), (0..2).collect()];
        assert_eq!(kept_pairs(1, 8, &kept), [vec![3, 4, 5, 6], vec![], vec![0, 1]], "so few are all drawn");
        let kept: Vec<BitSet> = vec![(0..80).collect(); 10];
        let sample = kept_pairs(1, 100, &kept);
        assert_eq!(sample.iter().map(Vec::len).sum::<usize>() as u64, PAIRS_MIN);
        assert!(sample.iter().flatten().all(|&mutant| mutant < 80), "{sample:?}");
    }

    #[test]
    fn no_part_of_the_pairs_is_preferred() {
        let sample = pruned_pairs(7, 1_001, 1_000, |_| vec![500]);
        let in_first_cases = sample[..500].iter().flatten().count();
        let first_mutants = sample.iter().flatten().filter(|&&mutant| mutant < 500).count();
        // Both are binomial with 5,000 draws: this is five standard deviations from one half.
        for count in [in_first_cases, first_mutants] {
            assert!(count.abs_diff(2_500) < 177, "{count}");
        }
    }

    proptest! {
        #[test]
        fn only_pruned_pairs_are_drawn_each_once_and_in_order(
            seed: u64,
            selected in prop::collection::vec(prop::collection::btree_set(0_u32..40, 0..40), 0..30),
        ) {
            let selected: Vec<Vec<u32>> = selected.into_iter().map(|set| set.into_iter().collect()).collect();
            let sample = pruned_pairs(seed, 40, selected.len(), |case| selected[case].clone());
            prop_assert_eq!(sample.len(), selected.len());
            for (sample, selected) in sample.iter().zip(&selected) {
                prop_assert!(sample.is_sorted_by(|first, second| first < second));
                prop_assert!(sample.iter().all(|mutant| *mutant < 40 && !selected.contains(mutant)));
            }
        }
    }
}
