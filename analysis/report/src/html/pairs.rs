//! The definition-use pairs of a file: each leads to its use, and with the script lights up both ends in the source.

use maud::{Markup, html};
use simutant_outcomes::{Pair, SourceFile, Span};

use super::Page;

/// Returns the pairs whose uses are in the file with this index; nothing without the criterion all-uses.
pub(super) fn list(page: &Page<'_>, file: usize) -> Markup {
    let sites = &page.outcomes.sites;
    let here: Vec<(usize, &Pair)> = sites.pairs.iter().enumerate().filter(|(_, pair)| pair.span.file == file).collect();
    let Some((universe, suite)) = page.coverage("all-uses").filter(|_| !here.is_empty()) else { return html! {} };
    let count = |covered: &simutant_outcomes::BitSet| here.iter().filter(|(index, _)| covered.contains(*index)).count();
    let mut by_function: Vec<(usize, Vec<(usize, &Pair)>)> = Vec::new();
    for &(index, pair) in &here {
        match by_function.last_mut() {
            Some((function, pairs)) if *function == pair.function => pairs.push((index, pair)),
            _ => by_function.push((pair.function, vec![(index, pair)])),
        }
    }
    html! {
        details.pairs {
            summary {
                (here.len()) " definition-use pairs, of which the universe covers " (count(&universe)) " and the chosen suite "
                (count(&suite))
            }
            @for (function, pairs) in &by_function {
                p { code { (sites.functions[*function].path) } }
                ul {
                    @for &(index, pair) in pairs {
                        @let (name, title) = match (universe.contains(index), suite.contains(index)) {
                            (false, _) => ("never", "no test case covers it"),
                            (true, false) => ("by-suite", "the chosen suite does not cover it"),
                            (true, true) => ("covered", "covered"),
                        };
                        li.(name) { (link(page, index, pair, title)) }
                    }
                }
            }
        }
    }
}

fn link(page: &Page<'_>, index: usize, pair: &Pair, title: &str) -> Markup {
    let sites = &page.outcomes.sites;
    let definition = &sites.definitions[pair.definition];
    let direction = pair.branch.map(|branch| sites.branches[branch].outcome.to_string());
    html! {
        a href={ "#f" (pair.span.file) "l" (pair.span.line) } title=(title) data-pair=(index)
            data-definition=(place(&sites.files, definition.span)) data-use=(place(&sites.files, pair.span))
        {
            code { (definition.variable) } " " (definition.span.line) " → " (pair.span.line)
            @if let Some(direction) = direction { " (" (direction) ")" }
        }
    }
}

/// Returns `file:line:column-line:column`: lines from 1 on as the listing has them, columns in the units of
/// JavaScript's strings from 0 on.
fn place(files: &[SourceFile], span: Span) -> String {
    let text = &files[span.file].text;
    let at = |offset: usize| {
        let line = 1 + text[..offset].matches('\n').count();
        let start = text[..offset].rfind('\n').map_or(0, |end| end + 1);
        format!("{line}:{}", text[start..offset].encode_utf16().count())
    };
    format!("{}:{}-{}", span.file, at(span.start), at(span.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_as_scripts_do() {
        let file = SourceFile { path: "a.rs".into(), text: "let a = '𝄞';\n  b(\na)".into() };
        let span = |from: &str, to: &str| {
            let start = file.text.find(from).expect("it is there");
            let end = file.text.rfind(to).expect("it is there") + to.len();
            Span { file: 0, start, end, line: 1, column: 1, line_end: 1 }
        };
        let files = std::slice::from_ref(&file);
        assert_eq!(place(files, span("';", "';")), "0:1:11-1:13");
        assert_eq!(place(files, span("b(", "a)")), "0:2:2-3:2");
    }
}
