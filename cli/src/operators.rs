//! `simutant operators`: what the mutation operators do, in the words of the reference.

use serde::Serialize;

use crate::arguments::{Common, OperatorsArguments};
use crate::exit::{BadInput, Exit};
use crate::output;

/// The page of the reference, which is written from the operators' own files.
const PAGE: &str = include_str!("../../docs/src/reference/operators.md");

#[derive(Debug, Serialize)]
struct Listing<'a> {
    operators: Vec<Operator<'a>>,
}

/// An operator, as the page has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Operator<'a> {
    name: &'a str,
    tier: &'a str,
    /// The sets that it is in.
    sets: Vec<&'a str>,
    title: &'a str,
    /// What it does, with its source, as Markdown.
    text: &'a str,
}

pub(crate) fn run(arguments: &OperatorsArguments, common: &Common) -> anyhow::Result<Exit> {
    let all = operators(PAGE);
    let asked = arguments.names.iter().map(|name| named(&all, name)).collect::<Result<Vec<_>, _>>()?;
    let is_list = asked.is_empty();
    let operators = if is_list { all } else { asked };
    if common.json {
        output::print(&output::json(&output::Versioned::new(Listing { operators }))?)?;
    } else {
        output::print(&if is_list { list(&operators) } else { details(&operators) })?;
    }
    Ok(Exit::Success)
}

fn named<'a>(all: &[Operator<'a>], name: &str) -> Result<Operator<'a>, BadInput> {
    all.iter().find(|operator| operator.name.eq_ignore_ascii_case(name)).cloned().ok_or_else(|| {
        BadInput(format!("there is no mutation operator `{name}`; `operators` without a name lists them"))
    })
}

/// Returns the operators in the order of the page's table.
fn operators(page: &str) -> Vec<Operator<'_>> {
    page.lines()
        .filter_map(|line| {
            let row: Vec<&str> = line.strip_prefix("| [")?.strip_suffix(" |")?.split(" | ").collect();
            let &[link, tier, sets, title] = &row[..] else { return None };
            let (name, _) = link.split_once(']')?;
            let sets = sets.split(", ").map(|set| set.trim_matches('`')).collect();
            Some(Operator { name, tier, sets, title, text: section(page, name)? })
        })
        .collect()
}

/// Returns the text of the section that is about an operator.
fn section<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    page.split("\n## ").skip(1).find_map(|section| {
        let (heading, text) = section.split_once('\n')?;
        let (names, _) = heading.split_once(": ")?;
        names.split(", ").any(|of_section| of_section == name).then(|| text.trim())
    })
}

fn list(operators: &[Operator<'_>]) -> String {
    let width = operators.iter().map(|operator| operator.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for Operator { name, tier, title, .. } in operators {
        text.push_str(&format!("{name:width$}  {tier}  {title}\n"));
    }
    text.push_str(
        "\nTier A: the literature on adequacy; B: faults of distributed systems; C: on demand.\n\
         `operators NAME` says what an operator does; `--operators LIST` of a study chooses.\n",
    );
    text
}

fn details(operators: &[Operator<'_>]) -> String {
    let detail = |Operator { name, tier, sets, title, text }: &Operator<'_>| {
        format!("{name}: {title}\ntier {tier}, in the sets {}\n\n{text}\n", sets.join(", "))
    };
    operators.iter().map(detail).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_operator_with_its_text() {
        let all = operators(PAGE);
        let rows = PAGE.lines().filter(|line| line.starts_with("| [")).count();
        assert_eq!(all.len(), rows);
        for operator in &all {
            assert!(!operator.text.is_empty() && !operator.title.is_empty(), "{operator:?}");
            assert!(["A", "B", "C"].contains(&operator.tier) && operator.sets.contains(&"all"), "{operator:?}");
        }
        let ror = named(&all, "ror").expect("it is there");
        assert_eq!((ror.name, ror.title), ("ROR", "relational operator replacement"));
        assert_eq!(named(&all, "AORB").expect("it is there").text, named(&all, "AOR").expect("it is there").text);
    }

    #[test]
    fn a_name_that_is_not_there_is_refused() {
        assert!(named(&operators(PAGE), "XYZ").is_err());
    }
}
