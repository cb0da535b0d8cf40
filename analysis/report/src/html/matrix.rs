//! The kill matrix as a picture to zoom in and to sort: mutants down, test cases across.
//!
//! The script draws it from the matrix itself, a bit for each pair; without the script there is the list of mutants.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use simutant_analysis::{MutantClass, case_name};
use simutant_outcomes::BitSet;

use super::Page;
use super::overview::class_name;

/// What the script is given.
#[derive(Debug, Serialize)]
struct Data<'a> {
    /// The name of the first test case without its number, and how many digits a number has.
    prefix: String,
    digits: usize,
    /// Events of each test case on the original.
    events: Vec<u64>,
    /// Operator, place and class of each mutant; a class is an index into `classes`.
    mutants: Vec<(&'a str, String, usize)>,
    classes: Vec<&'static str>,
    /// The mutants that no other subsumes.
    dominators: Vec<usize>,
    /// The test cases of the chosen suite.
    suite: &'a [usize],
    /// The rows one after the other: for each mutant a bit for each test case, in whole bytes, the lowest bit first;
    /// Base64.
    kills: String,
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let cases = page.outcomes.cases.len();
    if cases == 0 || page.outcomes.kills.is_empty() {
        return html! { p { "There is no pair of a mutant and a test case." } };
    }
    let json = serde_json::to_string(&data(page)).expect("plain data");
    // Nothing in a script's text ends the script.
    let json = json.replace('<', "\\u003c");
    html! {
        p {
            "Each row is a mutant, each column a test case; a cell is filled if the test case kills the mutant, in the colour of the mutant's "
            "class. Dominators, which no other mutant subsumes, have a mark at the left, and test cases of the chosen suite one at the top."
        }
        noscript { p.note { "The picture needs JavaScript. The list of mutants has the number of test cases that kill each." } }
        // Shown by the script, since it does nothing without it.
        form #matrix hidden {
            label { "Mutants by " select #matrix-rows {
                option value="number" { "number" } option value="kills" { "kills" } option value="class" { "class" }
                option value="operator" { "operator" } option value="place" { "place" }
            } }
            label { "Test cases by " select #matrix-columns {
                option value="number" { "number" } option value="kills" { "kills" } option value="events" { "events" }
                option value="suite" { "suite first" }
            } }
            label { input #matrix-killed type="checkbox"; " killed mutants only" }
            label { input #matrix-dominators type="checkbox"; " dominators only" }
            span.buttons {
                button #matrix-in type="button" aria-label="Zoom in" { "+" }
                button #matrix-out type="button" aria-label="Zoom out" { "−" }
                button #matrix-fit type="button" { "whole" }
            }
            canvas #matrix-canvas tabindex="0" role="application"
                aria-label="Kill matrix: arrow keys move, plus and minus zoom, 0 shows all, Enter opens the mutant"
                aria-describedby="matrix-cell" {}
            output #matrix-cell for="matrix-canvas" {}
        }
        script #matrix-data type="application/json" { (PreEscaped(json)) }
    }
}

fn data<'a>(page: &'a Page<'_>) -> Data<'a> {
    let outcomes = page.outcomes;
    let cases = outcomes.cases.len();
    let first = case_name(&page.analysis.system, 0, cases);
    let prefix = first.trim_end_matches('0').to_owned();
    let classes = page.analysis.mutants.classes.iter();
    let place_of = |class: &MutantClass| MutantClass::ALL.iter().position(|other| other == class).unwrap_or_default();
    let mutants = outcomes.sites.mutants.iter().zip(classes);
    Data {
        digits: first.len() - prefix.len(),
        prefix,
        events: outcomes.cases.iter().map(|case| case.events).collect(),
        mutants: mutants
            .map(|(mutant, class)| (mutant.operator.as_str(), page.place(mutant.span), place_of(class)))
            .collect(),
        classes: MutantClass::ALL.iter().map(|class| class_name(*class)).collect(),
        dominators: {
            let classes = &page.analysis.dominators.classes;
            classes.iter().flat_map(|class| &class.mutants).map(|&mutant| mutant as usize).collect()
        },
        suite: &page.suite,
        kills: STANDARD.encode(bytes(&outcomes.kills, cases)),
    }
}

/// Writes rows one after the other, each in whole bytes.
fn bytes(rows: &[BitSet], columns: usize) -> Vec<u8> {
    let width = columns.div_ceil(8);
    let mut bytes = vec![0; rows.len() * width];
    for (row, bytes) in rows.iter().zip(bytes.chunks_mut(width.max(1))) {
        row.ones().for_each(|column| bytes[column / 8] |= 1 << (column % 8));
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_whole_bytes_with_the_lowest_bit_first() {
        let row = |columns: &[usize]| {
            let mut row = BitSet::with_capacity(10);
            row.extend(columns.iter().copied());
            row
        };
        assert_eq!(bytes(&[row(&[0, 9]), row(&[]), row(&[7])], 10), [1, 2, 0, 0, 128, 0]);
        assert_eq!(bytes(&[], 10), [0_u8; 0]);
    }
}
