//! The best suite of each criterion side by side: size, cost, scores, and which dominators each misses.

use maud::{Markup, html};
use simutant_analysis::{AdequateSuite, Score, boosted, count};
use simutant_outcomes::BitSet;

use super::Page;

/// So many classes of dominators have a row of their own.
const CLASSES_MAX: usize = 40;

/// One column.
struct Column<'a> {
    name: &'a str,
    suite: &'a AdequateSuite,
    killed: BitSet,
    is_chosen: bool,
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.analysis;
    let chosen = analysis.recommendation.as_ref().map(|recommendation| recommendation.choice);
    let columns: Vec<Column<'_>> = analysis
        .criteria
        .iter()
        .filter_map(|criterion| {
            let choice = boosted(analysis, &criterion.name)?;
            let suite = &criterion.suites[choice.suite];
            let killed = page.kills.of_suite(&suite.cases);
            Some(Column { name: &criterion.name, suite, killed, is_chosen: Some(choice) == chosen })
        })
        .collect();
    if columns.is_empty() {
        return html! { p { "No suite was drawn." } };
    }
    let classes = &analysis.dominators.classes;
    html! {
        p {
            "Of each criterion the suite with the highest mutant score. Below, the classes of dominators, those first that the fewest test cases "
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
                    (row(&columns, "test cases", |column| html! { (column.suite.cases.len()) }))
                    (row(&columns, "mutant score", |column| html! { (Score { killed: column.suite.killed, of: analysis.mutants.counts.analysed }) }))
                    (row(&columns, "dominators", |column| html! { (Score { killed: column.suite.dominators_killed, of: classes.len() }) }))
                    (row(&columns, "events", |column| html! { (count(column.suite.events_selected)) }))
                    (row(&columns, "inputs", |column| html! {
                        details { summary { "show" } @for &case in &column.suite.cases { (page.case_link(case)) br; } }
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
