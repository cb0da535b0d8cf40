//! The criteria that look at the code of the simulation, whatever the system: one line of [`ALL`] each.

use simutant_outcomes::{BitSet, Sites};

use crate::labels;

/// A white-box criterion.
pub(crate) struct WhiteBox {
    pub(crate) name: &'static str,
    /// A label for each requirement.
    pub(crate) labels: fn(&Sites) -> Vec<String>,
    /// The requirements that a run covers, from what was measured.
    pub(crate) covered: fn(&Sites, &Measured<'_>) -> BitSet,
}

/// What the probes measured in one run, by its index in [`measured`].
pub(crate) type Measured<'a> = [&'a BitSet; MEASURED];

/// How many kinds of things the probes measure.
pub(crate) const MEASURED: usize = 4;

/// What they are called, by their index.
pub(crate) const NAMES: [&str; MEASURED] = ["blocks", "branches", "pairs", "conditions"];

const BLOCKS: usize = 0;
const BRANCHES: usize = 1;
const PAIRS: usize = 2;
const CONDITIONS: usize = 3;

/// Returns how many of each kind there are, in the order of the protocol.
pub(crate) fn measured(sites: &Sites) -> [usize; MEASURED] {
    [sites.blocks.len(), sites.branches.len(), sites.pairs.len(), sites.conditions.len()]
}

/// The criteria, in the order of reports.
pub(crate) const ALL: [WhiteBox; 6] = [
    WhiteBox { name: "all-blocks", labels: labels::blocks, covered: |_, measured| measured[BLOCKS].clone() },
    WhiteBox { name: "all-branches", labels: labels::branches, covered: |_, measured| measured[BRANCHES].clone() },
    WhiteBox { name: "all-defs", labels: labels::definitions, covered: definitions },
    WhiteBox { name: "all-p-uses", labels: labels::predicate_pairs, covered: predicate_pairs },
    WhiteBox { name: "all-uses", labels: labels::pairs, covered: |_, measured| measured[PAIRS].clone() },
    WhiteBox { name: "mc-dc", labels: labels::conditions, covered: conditions },
];

/// Returns the criteria of a system: all, but for those that ask for nothing of it.
pub(crate) fn of(sites: &Sites) -> impl Iterator<Item = (&'static WhiteBox, Vec<String>)> {
    ALL.iter().map(|criterion| (criterion, (criterion.labels)(sites))).filter(|(_, labels)| !labels.is_empty())
}

/// A definition is covered when one of its uses has seen it.
fn definitions(sites: &Sites, measured: &Measured<'_>) -> BitSet {
    let mut covered = BitSet::with_capacity(sites.definitions.len());
    covered.extend(measured[PAIRS].ones().map(|pair| sites.pairs[pair].definition));
    covered
}

fn predicate_pairs(sites: &Sites, measured: &Measured<'_>) -> BitSet {
    let of_predicates = (0..sites.pairs.len()).filter(|&pair| sites.pairs[pair].branch.is_some());
    let mut covered = BitSet::with_capacity(of_predicates.clone().count());
    covered
        .extend((0..).zip(of_predicates).filter(|(_, pair)| measured[PAIRS].contains(*pair)).map(|(index, _)| index));
    covered
}

/// A condition that is the whole decision decides when its branch is taken.
fn conditions(sites: &Sites, measured: &Measured<'_>) -> BitSet {
    let mut covered = measured[CONDITIONS].clone();
    covered.extend((0..sites.conditions.len()).filter(|&condition| {
        sites.conditions[condition].branch.is_some_and(|branch| measured[BRANCHES].contains(branch))
    }));
    covered
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::{Branch, BranchOutcome, Condition, Definition, Function, Pair, SourceFile, Span};

    use super::*;

    const TEXT: &str = "fn f(a: u32) { if a > 1 { g(a) } }";

    fn at(code: &str) -> Span {
        let start = TEXT.find(code).expect("a part of the text");
        Span { file: 0, start, end: start + code.len(), line: 1, column: start + 1, line_end: 1 }
    }

    fn sites() -> Sites {
        let definition = |code| Definition { function: 0, variable: "a".to_owned(), span: at(code) };
        let pair = |definition, code, branch| Pair { definition, function: 0, span: at(code), branch };
        let outcomes = [BranchOutcome::True, BranchOutcome::False];
        Sites {
            package: "a".to_owned(),
            system: "a".to_owned(),
            files: vec![SourceFile { path: "src/a.rs".to_owned(), text: TEXT.to_owned() }],
            functions: vec![Function { path: "a::f".to_owned(), span: at(TEXT) }],
            blocks: Vec::new(),
            branches: outcomes.map(|outcome| Branch { function: 0, span: at("a > 1"), outcome }).to_vec(),
            definitions: vec![definition("a: u32"), definition("a > 1")],
            pairs: vec![pair(0, "a > 1", Some(0)), pair(1, "a > 1", Some(1)), pair(0, "a) }", None)],
            conditions: vec![
                Condition { function: 0, span: at("a > 1"), value: true, is_coupled: false, branch: Some(0) },
                Condition { function: 0, span: at("a > 1"), value: false, is_coupled: true, branch: None },
            ],
            mutants: Vec::new(),
            rejected: Vec::new(),
            uninstrumented: Vec::new(),
            left_out: Vec::new(),
            without_flow: Vec::new(),
            unmutated: Vec::new(),
            macros: Vec::new(),
            ambiguous: Vec::new(),
            skipped: Vec::new(),
        }
    }

    fn set(size: usize, ones: &[usize]) -> BitSet {
        let mut set = BitSet::with_capacity(size);
        set.extend(ones.iter().copied());
        set
    }

    #[test]
    fn criteria_are_derived_from_what_is_measured() {
        let sites = sites();
        let sets = [set(0, &[]), set(2, &[0]), set(3, &[1, 2]), set(2, &[])];
        let measured = sets.each_ref();
        let covered = of(&sites).map(|(criterion, labels)| {
            let covered = (criterion.covered)(&sites, &measured);
            assert_eq!(covered.len(), labels.len(), "{}", criterion.name);
            (criterion.name, covered.ones().collect())
        });
        let expect: [(&str, Vec<usize>); 5] = [
            ("all-branches", vec![0]),
            ("all-defs", vec![0, 1]),
            ("all-p-uses", vec![1]),
            ("all-uses", vec![1, 2]),
            ("mc-dc", vec![0]),
        ];
        assert_eq!(covered.collect::<Vec<_>>(), expect, "without blocks there is no all-blocks");
    }

    #[test]
    fn a_person_can_read_the_labels() {
        let sites = sites();
        let label = |name: &str, index: usize| {
            let (_, labels) = of(&sites).find(|(criterion, _)| criterion.name == name).expect("it is one of them");
            labels[index].clone()
        };
        assert_eq!(label("all-defs", 1), "src/a.rs: a defined at 1:19");
        assert_eq!(label("all-uses", 0), "src/a.rs: a defined at 1:6, used at 1:19 (true branch of `a > 1`)");
        assert_eq!(label("all-p-uses", 1), "src/a.rs: a defined at 1:19, used at 1:19 (false branch of `a > 1`)");
        assert_eq!(label("all-uses", 2), "src/a.rs: a defined at 1:6, used at 1:29");
        assert_eq!(label("mc-dc", 0), "src/a.rs:1: `a > 1` decides by being true");
        assert_eq!(label("mc-dc", 1), "src/a.rs:1: `a > 1` decides by being false (coupled: it occurs twice)");
    }
}
