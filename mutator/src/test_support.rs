//! Shared by the unit tests: a body from its text, mutants and requirements as text.

use std::fmt::Write;

use crate::edit::plain_text;
use crate::graph::Graph;
use crate::mutation;
use crate::operators::Replacements;
use crate::source::Source;

/// Returns the mutants of the one function in `text`, one a line: `OPERATOR original -> replacement`.
pub(crate) fn mutants(text: &str, replacements: Replacements) -> String {
    let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
    let mut lines = String::new();
    for candidate in mutation::candidates(&source.functions[0].body, text, replacements) {
        let replacement = plain_text(&candidate.change.replacement, text);
        let original = &text[candidate.range().clone()];
        let shown = if replacement.is_empty() { "(nothing)" } else { &replacement };
        writeln!(lines, "{} {original} -> {shown}", candidate.operator).expect("writing to a string");
    }
    lines
}

/// Returns the blocks and branches of the one function in `text`.
pub(crate) fn requirements(text: &str) -> String {
    let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
    let lowered = Graph::lower(&source.functions[0].body, 0, 0);
    let shown = |range: &std::ops::Range<usize>| text[range.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines = String::new();
    for (number, block) in lowered.graph.blocks.iter().enumerate() {
        let to = lowered.graph.edges.iter().filter(|edge| edge.from == number).map(|edge| match edge.to {
            Some(to) => to.to_string(),
            None => "end".into(),
        });
        let to = to.collect::<Vec<_>>().join(", ");
        let dead = if block.is_entered { "" } else { " (dead)" };
        writeln!(lines, "{number}{dead}: {} => {to}", shown(&block.range)).expect("writing to a string");
    }
    for branch in &lowered.graph.branches {
        writeln!(lines, "{}: {}", shown(&branch.range), branch.outcome).expect("writing to a string");
    }
    lines
}
