//! The cost oracle: scores of the criteria without and with its kills.

use maud::{Markup, html};

use super::{Page, expected};
use crate::cost::CostComparison;

pub(super) fn section(page: &Page<'_>, cost: &CostComparison) -> Markup {
    html! {
        @for sentence in cost.sentences(page.analysis) { p { (sentence) } }
        @for note in cost.notes() { p { (note) } }
        (expected::table(cost.rows(page.analysis)))
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
