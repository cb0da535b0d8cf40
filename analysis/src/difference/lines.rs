//! Which line of an edited file is which line of the file before.

use std::collections::BTreeMap;

/// For each line of the first text, from 0, the line of the second that it is; `None` for those that are changed or
/// gone.
///
/// The longest common subsequence, by Myers' greedy algorithm (Algorithmica 1986); cost O((lines + lines) * changes) in
/// time and O(changes^2) in memory, after what both begin and end with is taken off.
pub(super) fn same_lines(before: &str, after: &str) -> Vec<Option<usize>> {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let first = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let rest = before[first..].iter().rev().zip(after[first..].iter().rev());
    let last = rest.take_while(|(one, other)| one == other).count();
    let mut same = vec![None; before.len()];
    (0..first).for_each(|line| same[line] = Some(line));
    (0..last).for_each(|line| same[before.len() - 1 - line] = Some(after.len() - 1 - line));
    let middle = (&before[first..before.len() - last], &after[first..after.len() - last]);
    for (one, other) in common(middle.0, middle.1) {
        same[first + one] = Some(first + other);
    }
    same
}

/// Returns the pairs of a longest common subsequence, the last one first.
fn common(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let (rows, columns) = (before.len() as isize, after.len() as isize);
    // On each diagonal `x - y`, how far in `before` so many changes can come.
    let mut furthest: BTreeMap<isize, isize> = BTreeMap::from([(1, 0)]);
    let mut steps: Vec<BTreeMap<isize, isize>> = Vec::new();
    let at = |furthest: &BTreeMap<isize, isize>, diagonal: isize| furthest.get(&diagonal).copied().unwrap_or(-1);
    'search: for changes in 0..=rows + columns {
        steps.push(furthest.clone());
        for diagonal in (-changes..=changes).step_by(2) {
            let is_down = diagonal == -changes
                || diagonal != changes && at(&furthest, diagonal - 1) < at(&furthest, diagonal + 1);
            let mut x = if is_down { at(&furthest, diagonal + 1) } else { at(&furthest, diagonal - 1) + 1 };
            while x < rows && x - diagonal < columns && before[x as usize] == after[(x - diagonal) as usize] {
                x += 1;
            }
            furthest.insert(diagonal, x);
            if x >= rows && x - diagonal >= columns {
                break 'search;
            }
        }
    }
    let mut pairs = Vec::new();
    let (mut x, mut y) = (rows, columns);
    for (changes, furthest) in steps.iter().enumerate().rev() {
        let (changes, diagonal) = (changes as isize, x - y);
        let is_down =
            diagonal == -changes || diagonal != changes && at(furthest, diagonal - 1) < at(furthest, diagonal + 1);
        let from = if is_down { diagonal + 1 } else { diagonal - 1 };
        let (x_from, y_from) = (at(furthest, from), at(furthest, from) - from);
        while x > x_from.max(0) && y > y_from.max(0) {
            (x, y) = (x - 1, y - 1);
            pairs.push((x as usize, y as usize));
        }
        (x, y) = (x_from, y_from);
    }
    pairs
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
