//! From the numbers of what was recorded before an edit to those after it.

use std::collections::{BTreeMap, BTreeSet};

use simutant_outcomes::{BitSet, Branch, Condition, MutantNumber, Pair, Sites};

use crate::journal::Recording;
use crate::white_box::{MEASURED, measured};

/// How blocks, branches, definition-use pairs, conditions and mutants of functions that stayed the same are numbered:
/// the numbers before an edit, and those after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Renumbering {
    /// For each kind that the probes measure.
    measured: [BTreeMap<usize, usize>; MEASURED],
    mutants: BTreeMap<usize, usize>,
    /// The mutants before the edit that follow from two others.
    pairs: BTreeSet<usize>,
}

impl Renumbering {
    /// Returns how the things in functions that are not changed, as `is_changed` says, are numbered; `mutants` has the
    /// numbers of all mutants that are the same. `None` if such a function has other things in it than before.
    pub(super) fn between(
        old: &Sites,
        new: &Sites,
        mutants: &[(MutantNumber, MutantNumber)],
        is_changed: &dyn Fn(usize) -> bool,
    ) -> Option<Self> {
        let both = [old, new];
        let stayed = |function: usize| (!is_changed(function)).then_some(function);
        let branch = |branch: &Branch| Some((stayed(branch.function)?, branch.outcome.to_string()));
        let pair = |sites: &Sites, pair: &Pair| {
            let definition = sites.definitions.get(pair.definition)?;
            let functions = (stayed(definition.function)?, stayed(pair.function)?);
            Some((functions, definition.variable.clone(), pair.branch.is_some()))
        };
        let condition = |condition: &Condition| {
            Some((stayed(condition.function)?, condition.value, condition.is_coupled, condition.branch.is_some()))
        };
        let measured = [
            matched(both.map(|sites| numbers(sites.blocks.iter().map(|block| stayed(block.function)))))?,
            matched(both.map(|sites| numbers(sites.branches.iter().map(branch))))?,
            matched(both.map(|sites| numbers(sites.pairs.iter().map(|of_sites| pair(sites, of_sites)))))?,
            matched(both.map(|sites| numbers(sites.conditions.iter().map(condition))))?,
        ];
        let pairs = (0..old.mutants.len()).filter(|&number| old.mutants[number].parts.is_some()).collect();
        let of_one_place = |sites: &Sites, number: MutantNumber| sites.mutants[number as usize].parts.is_none();
        let mutants: BTreeMap<usize, usize> = mutants
            .iter()
            .filter(|&&(from, to)| of_one_place(old, from) && of_one_place(new, to))
            .map(|&(from, to)| (from as usize, to as usize))
            .collect();
        let count = |sites: &Sites| {
            let mutants = sites.mutants.iter();
            mutants.filter(|mutant| mutant.parts.is_none() && !is_changed(mutant.function)).count()
        };
        both.into_iter().all(|sites| count(sites) == mutants.len()).then_some(Self { measured, mutants, pairs })
    }

    /// Returns what was recorded of a run that called none of the changed functions in the numbers of `sites`; `None`
    /// if it has something that is in one of them.
    pub(crate) fn apply(&self, recording: Recording, sites: &Sites) -> Option<Recording> {
        let of_mutants = |set: &BitSet| {
            let of_one_place = set.ones().filter(|number| !self.pairs.contains(number));
            let mut set = renumbered(of_one_place, &self.mutants, sites.mutants.len())?;
            sites.add_pairs(&mut set);
            Some(set)
        };
        let (reached, infected) = (of_mutants(&recording.reached)?, of_mutants(&recording.infected)?);
        let mut covered = recording.covered;
        for ((set, numbers), size) in covered.iter_mut().zip(&self.measured).zip(measured(sites)) {
            *set = renumbered(set.ones(), numbers, size)?;
        }
        Some(Recording { reached, infected, covered, ..recording })
    }
}

/// Returns the numbers of the things that have a key, by their keys. Those with the same key are in the order of the
/// source, which is the same within a function that stayed the same.
fn numbers<K: Ord>(keys: impl Iterator<Item = Option<K>>) -> BTreeMap<K, Vec<usize>> {
    let mut numbers: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (number, key) in keys.enumerate() {
        if let Some(key) = key {
            numbers.entry(key).or_default().push(number);
        }
    }
    numbers
}

/// Returns numbers before and after; `None` if there are not as many with each key.
fn matched<K: Ord>([old, new]: [BTreeMap<K, Vec<usize>>; 2]) -> Option<BTreeMap<usize, usize>> {
    fn counts<K>(numbers: &BTreeMap<K, Vec<usize>>) -> impl Iterator<Item = (&K, usize)> {
        numbers.iter().map(|(key, numbers)| (key, numbers.len()))
    }
    counts(&old).eq(counts(&new)).then(|| old.into_values().flatten().zip(new.into_values().flatten()).collect())
}

/// Returns a set of `size` bits with the new numbers; `None` if one of the old has none.
fn renumbered(old: impl Iterator<Item = usize>, numbers: &BTreeMap<usize, usize>, size: usize) -> Option<BitSet> {
    let mut set = BitSet::with_capacity(size);
    for number in old {
        set.insert(*numbers.get(&number)?);
    }
    Some(set)
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::{Block, BranchOutcome, Class, Definition, Function, Mutant, Span, Tier};

    use super::*;

    const PLACE: Span = Span { file: 0, start: 0, end: 0, line: 1, column: 1, line_end: 1 };

    /// Sites of two functions with so many blocks and mutants each, a mutant of both, and a variable that one defines
    /// and both use.
    fn sites(sizes: [usize; 2]) -> Sites {
        let of_function = |function: usize| std::iter::repeat_n(function, sizes[function]);
        let functions: Vec<usize> = (0..2).flat_map(of_function).collect();
        let mutant = |function, parts| Mutant {
            identity: String::new(),
            operator: "AOR".to_owned(),
            tier: Tier::A,
            class: Class::General,
            tag: None,
            function,
            span: PLACE,
            original: String::new(),
            replacement: String::new(),
            parts,
        };
        let last = (functions.len() - 1) as MutantNumber;
        let mutants = functions.iter().map(|&function| mutant(function, None)).chain([mutant(0, Some([0, last]))]);
        let branch = |outcome| Branch { function: 1, span: PLACE, outcome };
        Sites {
            functions: ["f", "g"].map(|path| Function { path: path.to_owned(), span: PLACE }).to_vec(),
            blocks: functions.iter().map(|&function| Block { function, span: PLACE }).collect(),
            branches: [BranchOutcome::True, BranchOutcome::False].map(branch).to_vec(),
            definitions: vec![Definition { function: 1, variable: "a".to_owned(), span: PLACE }],
            pairs: [0, 1].map(|function| Pair { definition: 0, function, span: PLACE, branch: None }).to_vec(),
            mutants: mutants.collect(),
            ..Sites::default()
        }
    }

    fn set(size: usize, ones: &[usize]) -> BitSet {
        let mut set = BitSet::with_capacity(size);
        set.extend(ones.iter().copied());
        set
    }

    /// Function 0 has changed, and mutants of function 1 are the same from the given numbers on.
    fn renumbering(
        old: &Sites,
        new: &Sites,
        [from, to]: [MutantNumber; 2],
        count: MutantNumber,
    ) -> Option<Renumbering> {
        let mutants: Vec<_> = (0..count).map(|number| (from + number, to + number)).collect();
        Renumbering::between(old, new, &mutants, &|function| function == 0)
    }

    #[test]
    fn what_is_in_other_functions_moves_behind_what_is_new() {
        let (old, new) = (sites([2, 3]), sites([4, 3]));
        let renumbering = renumbering(&old, &new, [2, 4], 3).expect("function 1 has the same things in it");
        let recording = |reached: BitSet, covered| Recording {
            events: 1,
            steps: 2,
            virtual_time_ns: 3,
            messages: Some(6),
            late_faults: Some(7),
            digest: 4,
            memory_bytes: 5,
            entered: 2,
            infected: reached.clone(),
            reached,
            covered,
        };
        let before =
            recording(set(6, &[2, 4, 5]), vec![set(5, &[3]), set(2, &[0]), set(2, &[1]), set(0, &[]), set(9, &[8])]);
        let after =
            recording(set(8, &[4, 6, 7]), vec![set(7, &[5]), set(2, &[0]), set(2, &[1]), set(0, &[]), set(9, &[8])]);
        assert_eq!(renumbering.apply(before, &new), Some(after));
        let elsewhere = recording(set(6, &[]), vec![set(5, &[1]), set(2, &[]), set(2, &[]), set(0, &[])]);
        assert_eq!(renumbering.apply(elsewhere, &new), None, "that block is in the function that has changed");
        let elsewhere = recording(set(6, &[0]), vec![set(5, &[]), set(2, &[]), set(2, &[]), set(0, &[])]);
        assert_eq!(renumbering.apply(elsewhere, &new), None, "that mutant is in the function that has changed");
    }

    #[test]
    fn functions_with_other_things_in_them_are_not_the_same() {
        assert_eq!(renumbering(&sites([2, 3]), &sites([2, 4]), [2, 2], 3), None, "one block more");
        assert_eq!(renumbering(&sites([2, 3]), &sites([2, 3]), [2, 2], 2), None, "one mutant that is new");
        let mut other = sites([2, 3]);
        other.branches[1].outcome = BranchOutcome::Return;
        assert_eq!(renumbering(&sites([2, 3]), &other, [2, 2], 3), None, "a branch that is another");
        other = sites([2, 3]);
        other.definitions[0].variable = "b".to_owned();
        assert_eq!(renumbering(&sites([2, 3]), &other, [2, 2], 3), None, "another variable");
    }
}
