//! What all pages have around their content.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::diagram::Caption;
use crate::text::lines;

/// Returns a page with a caption, a sentence on how much it shows, and what is to be shown.
pub(crate) fn page(style: &str, caption: &Caption, summary: &str, content: &Markup) -> String {
    let title = lines(&caption.title);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(style)) }
            }
            body {
                header {
                    h1 { (title) }
                    p {
                        @if !caption.verdict.is_empty() {
                            b.verdict.(caption.outcome.class()) { (lines(&caption.verdict)) }
                        }
                        span { (summary) }
                    }
                }
                (content)
            }
        }
    }
    .into_string()
}
