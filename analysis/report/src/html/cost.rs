//! The cost oracle: scores of the criteria without and with its kills.

use maud::{Markup, html};
use simutant_analysis::CostComparison;

use super::{Page, expected};
use crate::cost::{notes, rows, sentences};

pub(super) fn section(page: &Page<'_>, cost: &CostComparison) -> Markup {
    html! {
        @for sentence in sentences(cost, page.analysis) { p { (sentence) } }
        @for note in notes(cost) { p { (note) } }
        (expected::table(rows(cost, page.analysis)))
        @if !cost.survivors_killed.is_empty() {
            p {
                "Mutants that only the cost oracle kills: "
                @for (place, number) in cost.survivors_killed.iter().enumerate() {
                    @if place > 0 { ", " }
                    code { (number) }
                }
                "."
            }
        }
    }
}
