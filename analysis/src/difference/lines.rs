//! Which line of an edited file is which line of the file before.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// For each line of the first text, from 0, the line of the second that it is; `None` for those that are changed or
/// gone.
///
/// The longest common subsequence, by Myers' algorithm (Algorithmica 1986).
pub(super) fn same_lines(before: &str, after: &str) -> Vec<Option<usize>> {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let mut same = vec![None; before.len()];
    for change in capture_diff_slices(Algorithm::Myers, &before, &after) {
        if let DiffOp::Equal { old_index, new_index, len } = change {
            (0..len).for_each(|line| same[old_index + line] = Some(new_index + line));
        }
    }
    same
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str, expect: &[Option<usize>]) {
        let lines = |text: &str| text.chars().map(|line| format!("{line}\n")).collect::<String>();
        assert_eq!(same_lines(&lines(before), &lines(after)), expect);
    }

    #[test]
    fn lines_are_found_again() {
        check("", "ab", &[]);
        check("abc", "abc", &[Some(0), Some(1), Some(2)]);
        check("abc", "xabc", &[Some(1), Some(2), Some(3)]);
        check("abc", "ac", &[Some(0), None, Some(1)]);
        check("abc", "axc", &[Some(0), None, Some(2)]);
        check("abc", "", &[None, None, None]);
        check("aaaa", "aa", &[Some(0), Some(1), None, None]);
        check("abcde", "xbydz", &[None, Some(1), None, Some(3), None]);
    }

    /// The length of a longest common subsequence by the textbook's table.
    fn length(before: &[char], after: &[char]) -> usize {
        let mut row = vec![0; after.len() + 1];
        for one in before {
            let mut diagonal = 0;
            for (index, other) in after.iter().enumerate() {
                let above = row[index + 1];
                row[index + 1] = if one == other { diagonal + 1 } else { above.max(row[index]) };
                diagonal = above;
            }
        }
        row[after.len()]
    }

    proptest! {
        #[test]
        fn as_many_lines_as_possible_are_found_again_in_their_order(before in "[abc]{0,24}", after in "[abc]{0,24}") {
            let lines = |text: &str| text.chars().map(|line| format!("{line}\n")).collect::<String>();
            let same = same_lines(&lines(&before), &lines(&after));
            let (before, after): (Vec<char>, Vec<char>) = (before.chars().collect(), after.chars().collect());
            let pairs: Vec<(usize, usize)> =
                same.iter().enumerate().filter_map(|(one, other)| Some((one, (*other)?))).collect();
            prop_assert!(pairs.windows(2).all(|pair| pair[0].1 < pair[1].1), "{pairs:?}");
            prop_assert!(pairs.iter().all(|(one, other)| before[*one] == after[*other]), "{pairs:?}");
            prop_assert_eq!(pairs.len(), length(&before, &after));
        }
    }
}
