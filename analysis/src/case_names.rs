//! What test cases are called, and which of them a suite names.

use std::collections::{BTreeMap, BTreeSet};

use simutant_outcomes::{Outcomes, Suite, SuiteCase, differences};

/// What stands between the name of a test case and the number of a re-seeding of it.
const RESEEDING: char = '+';

/// Returns the name of a test case of a universe, for example `arq-0042`: its index, with as many digits as the last
/// one has, at least four.
pub fn case_name(system: &str, case: usize, universe: usize) -> String {
    let width = universe.saturating_sub(1).to_string().len().max(4);
    format!("{system}-{case:0width$}")
}

/// Returns the name of a re-seeding of a test case, for example `arq-0042+1`; number 0 is the test case itself.
pub fn reseeding_name(name: &str, number: u32) -> String {
    if number == 0 { name.to_owned() } else { format!("{name}{RESEEDING}{number}") }
}

/// Returns the numbers of the test cases of a suite, in its order, those of re-seedings with them; those that the
/// universe does not have are left out.
pub fn suite_cases(outcomes: &Outcomes, suite: &Suite) -> Vec<usize> {
    let universe = outcomes.cases.len();
    let numbers: BTreeMap<String, usize> =
        (0..universe).map(|case| (case_name(&outcomes.system, case, universe), case)).collect();
    let chance: BTreeSet<String> = outcomes.reseeded.iter().flat_map(|reseeded| &reseeded.chance).cloned().collect();
    let number = |case: &SuiteCase| {
        let (name, reseeding) = case.name.split_once(RESEEDING).unwrap_or((&case.name, ""));
        let number = *numbers.get(name)?;
        let differences = differences(&outcomes.cases[number].case, &case.case);
        let is_same = differences.is_empty() || !reseeding.is_empty() && differences.is_subset(&chance);
        is_same.then_some(number)
    };
    suite.cases.iter().filter_map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_as_many_digits_as_the_universe_needs() {
        assert_eq!(case_name("arq", 42, 2500), "arq-0042");
        assert_eq!(case_name("arq", 42, 10_000), "arq-0042");
        assert_eq!(case_name("arq", 42, 10_001), "arq-00042");
        assert_eq!(case_name("arq", 0, 0), "arq-0000");
    }
}
