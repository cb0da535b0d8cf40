//! The minimal mutants: a suite that kills them kills all the others that can be killed.

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, MutantNumber};

use crate::mutants::{MutantClass, MutantClasses};

/// The dominator mutants of a kill matrix.
///
/// A killed mutant `m` subsumes `n` if every test case that kills `m` kills `n`. The dominators are the mutants that no
/// other strictly subsumes: the minimal rows of the kill matrix (Ammann, Delamaro and Offutt, ICST 2014). The score on
/// them is not inflated by the many mutants that are killed along with others.
///
/// Minimal does not mean hard to kill: all killed mutants take part, so that a pathological mutant whose row holds no
/// other one is a dominator too ([`Dominators::of_class`] counts them).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dominators {
    /// The classes, those with the fewest kills first, then by their first mutant.
    pub classes: Vec<DominatorClass>,
}

/// Mutants that exactly the same test cases kill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DominatorClass {
    /// Their numbers, ascending; never empty.
    pub mutants: Vec<MutantNumber>,
    /// How many test cases kill them.
    pub kills: usize,
}

impl Dominators {
    /// Returns how many classes are of mutants of `class`, which all mutants of a dominator class share.
    ///
    /// # Panics
    /// If `mutants` is of other outcomes.
    pub fn of_class(&self, mutants: &MutantClasses, class: MutantClass) -> usize {
        self.classes.iter().filter(|minimal| mutants.classes[minimal.mutants[0] as usize] == class).count()
    }

    /// Returns one mutant of each class, as a set of mutants.
    pub(crate) fn representatives(&self, mutants: usize) -> BitSet {
        let mut set = BitSet::with_capacity(mutants);
        set.extend(self.classes.iter().map(|class| class.mutants[0] as usize));
        set
    }
}

/// Returns the minimal rows among `kills`, the shape of which is `mutants x cases`; empty rows do not take part.
///
/// Cost O(mutants * dominators * cases / 64).
pub(crate) fn dominators(kills: &[BitSet]) -> Dominators {
    // A row is a strict superset only of rows with fewer kills, so ascending order meets every minimal row first.
    let mut killed: Vec<(usize, MutantNumber, &BitSet)> = (0..)
        .zip(kills)
        .map(|(number, row)| (row.count_ones(..), number, row))
        .filter(|(count, _, _)| *count > 0)
        .collect();
    killed.sort_unstable_by_key(|&(count, number, _)| (count, number));
    let mut classes: Vec<(DominatorClass, &BitSet)> = Vec::new();
    for (count, number, row) in killed {
        match classes.iter_mut().find(|(_, minimal)| minimal.is_subset(row)) {
            Some((class, _)) if class.kills == count => class.mutants.push(number),
            Some(_) => {}
            None => classes.push((DominatorClass { mutants: vec![number], kills: count }, row)),
        }
    }
    Dominators { classes: classes.into_iter().map(|(class, _)| class).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutants::classify;
    use crate::options::AnalysisOptions;
    use simutant_synthetic::from_kills;

    #[track_caller]
    fn check(rows: &[&str], expect: &[(&[u32], usize)]) {
        let found = dominators(&from_kills(rows).kills);
        let found: Vec<(&[u32], usize)> =
            found.classes.iter().map(|class| (class.mutants.as_slice(), class.kills)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn subsumed_and_unkilled_mutants_are_left_out() {
        check(&["kk..", "k...", "..kk", "....", "kkkk"], &[(&[1], 1), (&[2], 2)]);
    }

    #[test]
    fn mutants_with_equal_rows_share_a_class() {
        check(&["k.", "k.", ".k", "kk"], &[(&[0, 1], 1), (&[2], 1)]);
    }

    #[test]
    fn a_pathological_mutant_can_be_minimal() {
        let outcomes = from_kills(&["k...", ".kkk", "kkkk", "..k.", "k..."]);
        let mutants = classify(&outcomes, &AnalysisOptions::default());
        let of_class = |rows: &[BitSet], class| dominators(rows).of_class(&mutants, class);
        assert_eq!(of_class(&outcomes.kills, MutantClass::Analysed), 2);
        assert_eq!(of_class(&outcomes.kills, MutantClass::Pathological), 0);
        // Without the mutant that it holds, `.kkk` is minimal.
        assert_eq!(of_class(&outcomes.kills[..3], MutantClass::Analysed), 1);
        assert_eq!(of_class(&outcomes.kills[..3], MutantClass::Pathological), 1);
    }

    #[test]
    fn nothing_killed_means_no_dominator() {
        check(&["...", "..."], &[]);
        check(&[], &[]);
    }

    /// All matrices of 4 mutants x 3 cases, against the definition.
    #[test]
    fn every_small_matrix_agrees_with_the_definition() {
        for code in 0..1_u32 << 12 {
            let rows: Vec<u32> = (0..4).map(|mutant| code >> (3 * mutant) & 7).collect();
            let sets: Vec<BitSet> = rows
                .iter()
                .map(|row| {
                    let mut set = BitSet::with_capacity(3);
                    set.extend((0..3).filter(|case| row >> case & 1 == 1));
                    set
                })
                .collect();
            let is_minimal =
                |row: u32| row != 0 && !rows.iter().any(|&other| other != 0 && other != row && other & row == other);
            let expect: Vec<u32> =
                (0..).zip(&rows).filter(|(_, row)| is_minimal(**row)).map(|(number, _)| number).collect();
            let found = dominators(&sets);
            let mut members: Vec<u32> = found.classes.iter().flat_map(|class| class.mutants.clone()).collect();
            members.sort_unstable();
            assert_eq!(members, expect, "rows {rows:?}");
            for class in &found.classes {
                assert!(class.mutants.iter().all(|&number| rows[number as usize] == rows[class.mutants[0] as usize]));
            }
        }
    }
}
