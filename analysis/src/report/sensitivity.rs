//! How the first place stands under other choices.

use maud::{Markup, html};

use super::Page;
use super::expected::table;
use crate::sensitivity::{Sensitivity, notes, rows};

pub(super) fn section(page: &Page<'_>, sensitivity: &Sensitivity) -> Markup {
    html! {
        @if let Some(sentence) = sensitivity.sentence(page.analysis) { p { (sentence) } }
        @if sensitivity.variants.is_empty() {
            p { "No mutant counts." }
        } @else {
            (table(rows(sensitivity, page.analysis)))
            @for note in notes(sensitivity, page.analysis) { p.note { (note) } }
        }
    }
}
