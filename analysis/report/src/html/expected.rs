//! Expected scores: of the criteria's suites, and of what needs no criterion.

use maud::{Markup, html};
use simutant_analysis::Expected;

use super::Page;
use crate::expected::{baselines_rows, criteria_rows, notes, times_rows};
use crate::terminal::Rows;

pub(super) fn section(page: &Page<'_>, expected: &Expected) -> Markup {
    html! {
        @for note in notes(expected) { p { (note) } }
        (table(criteria_rows(expected, page.analysis)))
        @if let Some(in_time) = &expected.in_time {
            p { "Suites that take the same time: built for it, random ones, and rules of thumb over the inputs alone:" }
            (table(times_rows(in_time)))
        }
        p { "Suites of each size that are built for their expected score, random ones, and rules of thumb over the inputs alone:" }
        (table(baselines_rows(expected)))
    }
}

pub(super) fn table(Rows { head, rows }: Rows) -> Markup {
    html! {
        div.scroll {
            table.numbers {
                thead { tr { @for name in &head { th scope="col" { (name) } } } }
                tbody {
                    @for row in &rows {
                        tr { @for (column, cell) in row.iter().enumerate() {
                            @if column == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                        } }
                    }
                }
            }
        }
    }
}
