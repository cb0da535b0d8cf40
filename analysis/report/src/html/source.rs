//! The specification files, with what is not covered and where the mutants are.

use std::collections::BTreeMap;

use maud::{Markup, html};
use simutant_outcomes::{BitSet, SourceFile, Span};

use super::Page;
use super::overview::class_name;
use super::pairs;

/// How many mutants a line shows before it only counts them.
const MARKS_MAX: usize = 12;

/// What a byte of the source belongs to, as bits.
const BLOCK_UNCOVERED: u8 = 1;
const BLOCK_UNCOVERED_BY_SUITE: u8 = 2;
const BRANCH_UNCOVERED: u8 = 4;
const BRANCH_UNCOVERED_BY_SUITE: u8 = 8;
const USE_UNCOVERED: u8 = 16;
const USE_UNCOVERED_BY_SUITE: u8 = 32;

/// What is not covered in one file.
struct Uncovered {
    /// One set of bits per byte of the file.
    flags: Vec<u8>,
    /// For each line the branches that are not taken: the text, and whether the universe as a whole does not take it.
    branches: BTreeMap<usize, Vec<(String, bool)>>,
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let mut by_line: Vec<BTreeMap<usize, Vec<usize>>> = vec![BTreeMap::new(); page.outcomes.sites.files.len()];
    for (number, mutant) in page.outcomes.sites.mutants.iter().enumerate() {
        by_line[mutant.span.file].entry(mutant.span.line).or_default().push(number);
    }
    html! {
        p {
            "Squares are mutants, coloured by class; each leads to its entry in the list. Highlighted are blocks, branches (wavy) and uses "
            "that do not see one of their definitions (dotted); below each file are its definition-use pairs."
        }
        fieldset.switch {
            legend { "Highlight" }
            label { input #by-universe type="radio" name="by" checked; " what no test case covers" }
            label { input #by-suite type="radio" name="by"; " what the chosen suite does not cover" }
            label { input #by-none type="radio" name="by"; " nothing" }
        }
        p.pair-shown role="status" hidden {}
        @for (index, file) in page.outcomes.sites.files.iter().enumerate() {
            @let uncovered = uncovered(page, index, file);
            details.file open {
                summary { code { (file.path) } }
                div.scroll { (listing(page, index, file, &uncovered, &by_line[index])) }
                (pairs::list(page, index))
            }
        }
    }
}

/// Returns what the universe and what the chosen suite leave uncovered in one file.
fn uncovered(page: &Page<'_>, index: usize, file: &SourceFile) -> Uncovered {
    let mut flags = vec![0; file.text.len()];
    let mut branches: BTreeMap<usize, Vec<(String, bool)>> = BTreeMap::new();
    let mut mark = |span: Span, flag: u8| {
        flags[span.start..span.end].iter_mut().for_each(|byte| *byte |= flag);
    };
    let is_there = |span: Span| span.file == index;
    let missing = |covered: &BitSet, requirement: usize| !covered.contains(requirement);
    if let Some((universe, suite)) = page.coverage("all-blocks") {
        for (requirement, block) in page.outcomes.sites.blocks.iter().enumerate().filter(|(_, b)| is_there(b.span)) {
            if missing(&suite, requirement) {
                mark(block.span, BLOCK_UNCOVERED_BY_SUITE);
            }
            if missing(&universe, requirement) {
                mark(block.span, BLOCK_UNCOVERED);
            }
        }
    }
    if let Some((universe, suite)) = page.coverage("all-branches") {
        let here = page.outcomes.sites.branches.iter().enumerate().filter(|(_, branch)| is_there(branch.span));
        for (requirement, branch) in here.filter(|(requirement, _)| missing(&suite, *requirement)) {
            let by_universe = missing(&universe, requirement);
            mark(branch.span, BRANCH_UNCOVERED_BY_SUITE);
            if by_universe {
                mark(branch.span, BRANCH_UNCOVERED);
            }
            branches.entry(branch.span.line).or_default().push((branch.outcome.to_string(), by_universe));
        }
    }
    if let Some((universe, suite)) = page.coverage("all-uses") {
        for (requirement, pair) in page.outcomes.sites.pairs.iter().enumerate().filter(|(_, pair)| is_there(pair.span))
        {
            if missing(&suite, requirement) {
                mark(pair.span, USE_UNCOVERED_BY_SUITE);
            }
            if missing(&universe, requirement) {
                mark(pair.span, USE_UNCOVERED);
            }
        }
    }
    Uncovered { flags, branches }
}

fn listing(
    page: &Page<'_>,
    index: usize,
    file: &SourceFile,
    uncovered: &Uncovered,
    mutants: &BTreeMap<usize, Vec<usize>>,
) -> Markup {
    let mut start = 0;
    let lines: Vec<(usize, &str)> = file
        .text
        .split_inclusive('\n')
        .map(|line| {
            let at = start;
            start += line.len();
            (at, line.trim_end_matches(['\n', '\r']))
        })
        .collect();
    html! {
        table.source {
            tbody {
                @for (number, (at, line)) in (1..).zip(lines) {
                    tr id={ "f" (index) "l" (number) } {
                        td.number { (number) }
                        td.marks { (marks(page, mutants.get(&number).map_or(&[], Vec::as_slice))) }
                        td.code { pre { (code(line, &uncovered.flags[at..at + line.len()])) } }
                        td.branches {
                            @for (outcome, by_universe) in uncovered.branches.get(&number).into_iter().flatten() {
                                span class=(if *by_universe { "never" } else { "never by-suite" }) {
                                    "never " (outcome)
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// One line of code, cut where what it belongs to changes.
fn code(line: &str, flags: &[u8]) -> Markup {
    let is_comment = line.trim_start().starts_with("//");
    let (indent, line) = line.split_at(line.len() - line.trim_start().len());
    let flags = &flags[indent.len()..];
    let mut start = 0;
    let runs: Vec<(&str, u8)> = flags
        .chunk_by(|left, right| left == right)
        .map(|run| {
            let text = &line[start..start + run.len()];
            start += run.len();
            (text, run[0])
        })
        .collect();
    html! {
        (indent)
        @for (text, flag) in runs {
            @match (classes(flag), is_comment) {
                (None, false) => (text),
                (None, true) => span.comment { (text) },
                (Some(class), _) => span class=(class) { (text) },
            }
        }
    }
}

fn classes(flags: u8) -> Option<String> {
    let names: Vec<&str> = [
        (BLOCK_UNCOVERED, "block"),
        (BLOCK_UNCOVERED_BY_SUITE, "block-suite"),
        (BRANCH_UNCOVERED, "branch"),
        (BRANCH_UNCOVERED_BY_SUITE, "branch-suite"),
        (USE_UNCOVERED, "use"),
        (USE_UNCOVERED_BY_SUITE, "use-suite"),
    ]
    .into_iter()
    .filter(|(flag, _)| flags & flag != 0)
    .map(|(_, name)| name)
    .collect();
    (!names.is_empty()).then(|| names.join(" "))
}

fn marks(page: &Page<'_>, mutants: &[usize]) -> Markup {
    let shown = mutants.len().min(MARKS_MAX);
    html! {
        @for &number in &mutants[..shown] {
            @let mutant = &page.outcomes.sites.mutants[number];
            @let class = page.analysis.mutants.classes[number];
            @let title = format!("{number} {}: {} → {}, {class}", mutant.operator, mutant.original, mutant.replacement);
            a.(class_name(class)) href={ "#m" (number) } title=(title) aria-label=(title) {}
        }
        @if mutants.len() > shown { small { "+" (mutants.len() - shown) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, flags: &[u8], expect: &str) {
        assert_eq!(code(line, flags).into_string(), expect);
    }

    #[test]
    fn code_is_cut_where_coverage_changes() {
        check("a<b", &[0, 1, 1], "a<span class=\"block\">&lt;b</span>");
        check("ab", &[12, 2], "<span class=\"branch branch-suite\">a</span><span class=\"block-suite\">b</span>");
        check("", &[], "");
        check("  a", &[1; 3], "  <span class=\"block\">a</span>");
    }

    #[test]
    fn comments_are_told_apart() {
        check(" // no", &[0; 6], " <span class=\"comment\">// no</span>");
    }
}
