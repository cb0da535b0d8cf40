//! What the operators do, in the words of the reference, which is written from their files.

use serde::Serialize;

/// The page of the reference.
const PAGE: &str = include_str!("../../../docs/src/reference/operators.md");

/// What the reference says of an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OperatorDescription {
    /// Its short name, as `ROR`.
    pub name: &'static str,
    /// Its tier: `A`, `B` or `C`.
    pub tier: &'static str,
    /// The sets that it is in.
    pub sets: Vec<&'static str>,
    /// What the name stands for, as `relational operator replacement`.
    pub title: &'static str,
    /// What it does, with its source, as Markdown.
    pub text: &'static str,
}

/// Returns the descriptions of all operators, in the order of the reference.
pub fn descriptions() -> Vec<OperatorDescription> {
    PAGE.lines()
        .filter_map(|line| {
            let row: Vec<&str> = line.strip_prefix("| [")?.strip_suffix(" |")?.split(" | ").collect();
            let &[link, tier, sets, title] = &row[..] else { return None };
            let (name, _) = link.split_once(']')?;
            let sets = sets.split(", ").map(|set| set.trim_matches('`')).collect();
            Some(OperatorDescription { name, tier, sets, title, text: section(name)? })
        })
        .collect()
}

/// Returns the text of the section that is about an operator.
fn section(name: &str) -> Option<&'static str> {
    PAGE.split("\n## ").skip(1).find_map(|section| {
        let (heading, text) = section.split_once('\n')?;
        let (names, _) = heading.split_once(": ")?;
        names.split(", ").any(|of_section| of_section == name).then(|| text.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::ALL;

    #[test]
    fn every_operator_is_described() {
        let all = descriptions();
        let described: Vec<&str> = all.iter().map(|operator| operator.name).collect();
        let missing: Vec<&str> =
            ALL.iter().map(|operator| operator.name).filter(|name| !described.contains(name)).collect();
        assert!(missing.is_empty() && described.len() == ALL.len(), "{missing:?} {described:?}");
        for operator in &all {
            assert!(!operator.text.is_empty() && !operator.title.is_empty(), "{operator:?}");
            assert!(["A", "B", "C"].contains(&operator.tier) && operator.sets.contains(&"all"), "{operator:?}");
        }
        let named = |name| all.iter().find(|operator| operator.name == name).expect("it is there");
        assert_eq!(named("ROR").title, "relational operator replacement");
        assert_eq!(named("AORB").text, named("AOR").text);
    }
}
