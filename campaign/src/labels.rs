//! Names for the requirements of the white-box criteria: a place and a piece of the code.

use simutant_outcomes::{Condition, Definition, Pair, Sites, Span};

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

/// Returns a label for each requirement of all-branches, such as ``src/gbn/sender.rs:41: true branch of `base < next`
/// ``.
pub(crate) fn branches(sites: &Sites) -> Vec<String> {
    sites
        .branches
        .iter()
        .map(|branch| {
            format!("{}: {} branch of `{}`", place(sites, branch.span), branch.outcome, code(sites, branch.span))
        })
        .collect()
}

/// Returns a label for each requirement of all-defs, such as `src/gbn/sender.rs: window defined at 21:9`.
pub(crate) fn definitions(sites: &Sites) -> Vec<String> {
    sites.definitions.iter().map(|definition| defined(sites, definition)).collect()
}

/// Returns a label for each requirement of all-uses, such as
/// ``src/gbn/sender.rs: window defined at 21:9, used at 23:11 (true branch of `window.base < segments`)``.
pub(crate) fn pairs(sites: &Sites) -> Vec<String> {
    sites.pairs.iter().map(|pair| label_of(sites, pair)).collect()
}

/// Returns a label for each requirement of all-p-uses.
pub(crate) fn predicate_pairs(sites: &Sites) -> Vec<String> {
    sites.pairs.iter().filter(|pair| pair.branch.is_some()).map(|pair| label_of(sites, pair)).collect()
}

/// Returns a label for each requirement of MC/DC, such as ``src/gbn/sender.rs:88: `news == 0` decides by being true``.
pub(crate) fn conditions(sites: &Sites) -> Vec<String> {
    let label = |condition: &Condition| {
        let coupled = if condition.is_coupled { " (coupled: it occurs twice)" } else { "" };
        let (place, code) = (place(sites, condition.span), code(sites, condition.span));
        format!("{place}: `{code}` decides by being {}{coupled}", condition.value)
    };
    sites.conditions.iter().map(label).collect()
}

fn label_of(sites: &Sites, pair: &Pair) -> String {
    let definition = &sites.definitions[pair.definition];
    let branch = pair.branch.map(|branch| {
        let branch = &sites.branches[branch];
        format!(" ({} branch of `{}`)", branch.outcome, code(sites, branch.span))
    });
    // The fields of a type can be defined in one file and used in another.
    let file = if pair.span.file == definition.span.file {
        String::new()
    } else {
        format!("{}:", sites.files[pair.span.file].path)
    };
    let (line, column) = (pair.span.line, pair.span.column);
    format!("{}, used at {file}{line}:{column}{}", defined(sites, definition), branch.unwrap_or_default())
}

fn defined(sites: &Sites, definition: &Definition) -> String {
    let Definition { variable, span, .. } = definition;
    format!("{}: {variable} defined at {}:{}", sites.files[span.file].path, span.line, span.column)
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
