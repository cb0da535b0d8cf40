//! Shared by the unit tests: a body from its text, mutants and requirements as text.

use std::fmt::Write;

use simutant_outcomes::Span;

use crate::graph::lower;
use crate::instrument::{Instrumenter, Probes};
use crate::mutation::{self, Candidate, Settings};
use crate::operators::Selection;
use crate::specification::Specification;
use crate::specification::verdicts::Verdicts;
use crate::syntax::declarations::Declarations;
use crate::syntax::names::Names;
use crate::syntax::source::Source;
use crate::text::edit::plain_text;

/// Returns the text as a specification file, and the candidates of its last function.
pub(crate) fn candidates(text: &str, operators: &str) -> (Source, Vec<Candidate>) {
    let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
    let declarations = Declarations::of_text(text);
    let selection = Selection::parse(operators).expect("the test's own operators");
    let settings = Settings { selection: &selection, declarations: &declarations, names: &Names::default() };
    let candidates = source.functions.last().map(|function| mutation::candidates(&source, function, &settings).placed);
    (source, candidates.unwrap_or_default())
}

/// Returns the mutants of the last function in `text`, one a line: `OPERATOR original -> replacement`.
pub(crate) fn mutants(text: &str, operators: &str) -> String {
    let mut lines = String::new();
    for candidate in candidates(text, operators).1 {
        let replacement = plain_text(&candidate.change.replacement, text);
        let original = &text[candidate.range().clone()];
        let shown = if replacement.is_empty() { "(nothing)" } else { &replacement };
        let stands_in = if candidate.change.stands_in { " (stands in)" } else { "" };
        let tag = candidate.tag.map(|tag| format!(" [{tag}]")).unwrap_or_default();
        writeln!(lines, "{}{tag} {original} -> {shown}{stands_in}", candidate.operator).expect("writing to a string");
    }
    lines
}

/// Returns the blocks and branches of the one function in `text`.
pub(crate) fn requirements(text: &str) -> String {
    let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
    let function = &source.functions[0];
    let lowered = lower(function);
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

/// Returns the definition-use pairs of the functions in `text`, one a line: `variable definition -> use (branch)`,
/// places as line:column.
pub(crate) fn pairs(text: &str) -> String {
    let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
    let settings =
        Settings { selection: &Selection::default(), declarations: &Declarations::default(), names: &Names::default() };
    let specification = Specification::new("a", "a", vec![source], &settings);
    let sites = Instrumenter::new(&specification, Probes::All).instrument(&Verdicts::default()).sites;
    let place = |span: Span| format!("{}:{}", span.line, span.column);
    let mut lines = String::new();
    for pair in &sites.pairs {
        let definition = &sites.definitions[pair.definition];
        let (from, to) = (place(definition.span), place(pair.span));
        write!(lines, "{} {from} -> {to}", definition.variable).expect("writing to a string");
        if let Some(branch) = pair.branch {
            let branch = &sites.branches[branch];
            let code = &text[branch.span.start..branch.span.end];
            write!(lines, " ({} of {code})", branch.outcome).expect("writing to a string");
        }
        lines.push('\n');
    }
    lines
}
