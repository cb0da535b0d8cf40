//! The chosen suite and the best suite of each criterion side by side: size, cost, scores, and which dominators each misses.

use maud::{Markup, html};
use simutant_analysis::{MutantClass, Score, boosted, count};
use simutant_outcomes::BitSet;

use super::Page;
use crate::words::score_name;

/// So many classes of dominators have a row of their own.
const CLASSES_MAX: usize = 40;

/// One column.
struct Column<'a> {
    name: &'a str,
    cases: &'a [usize],
    killed: BitSet,
    is_chosen: bool,
}

impl<'a> Column<'a> {
    fn new(page: &Page<'a>, name: &'a str, cases: &'a [usize]) -> Self {
        Self { name, cases, killed: page.kills.of_suite(cases), is_chosen: cases == page.suite }
    }
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.analysis;
    let best = |name: &'_ str| {
        let choice = boosted(analysis, name)?;
        Some(analysis.criteria[choice.criterion].suites[choice.suite].cases.as_slice())
    };
    let mut columns: Vec<Column<'_>> = analysis
        .criteria
        .iter()
        .filter_map(|criterion| Some(Column::new(page, &criterion.name, best(&criterion.name)?)))
        .collect();
    if let Some(chosen) = analysis.chosen.as_ref().filter(|_| !columns.iter().any(|column| column.is_chosen)) {
        columns.insert(0, Column::new(page, "suite.json", &chosen.cases));
    }
    if columns.is_empty() {
        return html! { p { "No suite was drawn." } };
    }
    let classes = &analysis.dominators.classes;
    let representatives = classes.iter().map(|class| class.mutants[0] as usize).collect::<BitSet>();
    let analysed = analysis.mutants.of(MutantClass::Analysed);
    let score = |column: &Column<'_>, of: &BitSet| Score {
        killed: column.killed.intersection(of).count(),
        of: of.count_ones(..),
    };
    let events = |column: &Column<'_>| column.cases.iter().map(|&case| page.outcomes.cases[case].events).sum::<u64>();
    html! {
        p {
            "Of each criterion the suite with the highest " (score_name(analysis)) "; the column of the chosen suite stands out. Below, the classes of dominators, those first that the fewest test cases "
            "kill: a dot where the suite kills them."
        }
        div.scroll {
            table.numbers.beside {
                thead {
                    tr {
                        th scope="col" {}
                        @for column in &columns { th.best[column.is_chosen] scope="col" { (column.name) } }
                    }
                }
                tbody {
                    (row(&columns, "test cases", |column| html! { (column.cases.len()) }))
                    (row(&columns, "mutant score", |column| html! { (score(column, &analysed)) }))
                    (row(&columns, "dominators", |column| html! { (score(column, &representatives)) }))
                    (row(&columns, "events", |column| html! { (count(events(column))) }))
                    (row(&columns, "inputs", |column| html! {
                        details { summary { "show" } @for &case in column.cases { (page.case_link(case)) br; } }
                    }))
                    @for class in &classes[..classes.len().min(CLASSES_MAX)] {
                        @let first = class.mutants[0] as usize;
                        @let mutant = &page.outcomes.sites.mutants[first];
                        tr {
                            th scope="row" {
                                a href={ "#m" (first) } { (first) " " (page.operators.code(&mutant.operator)) }
                                small { (page.place(mutant.span)) ", " (class.kills) " test cases" }
                            }
                            @for column in &columns {
                                td {
                                    @if column.killed.contains(first) { span.dot title="killed" { "●" } } @else { span.equal title="survives" { "·" } }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if classes.len() > CLASSES_MAX {
            p.note { "The " (classes.len() - CLASSES_MAX) " other classes are killed by more test cases." }
        }
    }
}

fn row(columns: &[Column<'_>], name: &str, cell: impl Fn(&Column<'_>) -> Markup) -> Markup {
    html! {
        tr {
            th scope="row" { (name) }
            @for column in columns { td { (cell(column)) } }
        }
    }
}
