//! The corpus: histories that kill mutants of the oracle, as few as kill what those killed that they were chosen of: the
//! universe of a study of `research/checker`, and histories drawn for what survived one. Its README says how they are chosen
//! again.

use crate::any::Name;
use crate::case::Case;

/// A test case a line.
const CORPUS: &str = include_str!("../corpus/histories.jsonl");

fn cases() -> Vec<Case> {
    let case = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
    CORPUS.lines().map(case).collect()
}

#[test]
fn the_verdicts_of_the_corpus_are_those_of_who_tries_all_orders() {
    for case in cases() {
        assert_eq!(case.judged().expect("it has calls of the specification"), case.possible, "{case:#?}");
    }
}

#[test]
fn each_specification_has_a_history() {
    let cases = cases();
    for name in Name::ALL {
        assert!(cases.iter().any(|case| case.specification == *name), "{name:?}");
    }
}

#[test]
fn all_strategies_agree_with_the_corpus() {
    for case in cases() {
        assert_eq!(case.examine().0, None, "of {case:#?}");
    }
}
