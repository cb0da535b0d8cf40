//! Names for the requirements of the white-box criteria: a place and a piece of the code.

use simutant_outcomes::{Sites, Span};

/// The most characters of code that a label shows.
const CODE_CHARACTERS_MAX: usize = 60;

/// Returns a label for each requirement of all-blocks, such as ``src/gbn/sender.rs:41: block `let next = …` ``.
pub(crate) fn blocks(sites: &Sites) -> Vec<String> {
    sites
        .blocks
        .iter()
        .map(|block| format!("{}: block `{}`", place(sites, block.span), code(sites, block.span)))
        .collect()
}

/// Returns a label for each requirement of all-branches, such as ``src/gbn/sender.rs:41: true branch of `base < next` ``.
pub(crate) fn branches(sites: &Sites) -> Vec<String> {
    sites
        .branches
        .iter()
        .map(|branch| {
            format!("{}: {} branch of `{}`", place(sites, branch.span), branch.outcome, code(sites, branch.span))
        })
        .collect()
}

fn place(sites: &Sites, span: Span) -> String {
    format!("{}:{}", sites.files[span.file].path, span.line)
}

/// The first line of the code, cut where it is long.
fn code(sites: &Sites, span: Span) -> String {
    let text = sites.files[span.file].text.get(span.start..span.end).unwrap_or_default().trim();
    let first_line = text.lines().next().unwrap_or_default();
    let mut code: String = first_line.chars().take(CODE_CHARACTERS_MAX).collect();
    if code.len() < text.len() {
        code.push('…');
    }
    code
}
