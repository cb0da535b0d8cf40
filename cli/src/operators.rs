//! `simutant operators`: what the mutation operators do, in the words of the reference.

use serde::Serialize;
use simutant_mutator::{OperatorDescription, operator_descriptions};

use crate::arguments::{Common, OperatorsArguments};
use crate::exit::{BadInput, Exit};
use crate::output;

#[derive(Debug, Serialize)]
struct Listing {
    operators: Vec<OperatorDescription>,
}

pub(crate) fn run(arguments: &OperatorsArguments, common: &Common) -> anyhow::Result<Exit> {
    let all = operator_descriptions();
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

fn named(all: &[OperatorDescription], name: &str) -> Result<OperatorDescription, BadInput> {
    all.iter().find(|operator| operator.name.eq_ignore_ascii_case(name)).cloned().ok_or_else(|| {
        BadInput(format!("there is no mutation operator `{name}`; `operators` without a name lists them"))
    })
}

fn list(operators: &[OperatorDescription]) -> String {
    let width = operators.iter().map(|operator| operator.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for OperatorDescription { name, tier, title, .. } in operators {
        text.push_str(&format!("{name:width$}  {tier}  {title}\n"));
    }
    text.push_str(
        "\nTier A: the literature on adequacy; B: faults of distributed systems; C: on demand.\n\
         `operators NAME` says what an operator does; `--operators LIST` of a study chooses.\n",
    );
    text
}

fn details(operators: &[OperatorDescription]) -> String {
    let detail = |OperatorDescription { name, tier, sets, title, text }: &OperatorDescription| {
        format!("{name}: {title}\ntier {tier}, in the sets {}\n\n{text}\n", sets.join(", "))
    };
    operators.iter().map(detail).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_there_is_refused() {
        assert!(named(&operator_descriptions(), "XYZ").is_err());
    }
}
