//! How the first place stands under other choices.

use maud::{Markup, html};
use simutant_analysis::Sensitivity;

use super::Page;
use super::expected::table;
use crate::sensitivity::{notes, rows, sentence};

pub(super) fn section(page: &Page<'_>, sensitivity: &Sensitivity) -> Markup {
    html! {
        @if let Some(sentence) = sentence(sensitivity, page.analysis) { p { (sentence) } }
        @if sensitivity.variants.is_empty() {
            p { "No mutant counts." }
        } @else {
            (table(rows(sensitivity, page.analysis)))
            @for note in notes(sensitivity, page.analysis) { p.note { (note) } }
        }
    }
}
