//! The list of the mutants, each with its diff and what became of it.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use simutant_analysis::{MutantClass, Score, case_name, plural};
use simutant_outcomes::{Cause, Mutant, MutantNumber, RunEnd, Sites, VerdictCounts};

use super::Page;
use super::overview::class_name;
use super::page::file_name;
use crate::change::shortened;

/// Lines of the source before and after a change.
const CONTEXT: usize = 2;

/// How wide the code of a change is.
const CODE: usize = 40;

/// The columns of the list.
const COLUMNS: [&str; 7] = ["#", "operator", "place", "change", "class", "killed by", "suite"];

pub(super) fn section(page: &Page<'_>) -> Markup {
    let mutants = &page.outcomes.sites.mutants;
    html! {
        p {
            "Open a mutant for its change and for how it was killed. Runs that did not terminate are counted apart: they "
            "kill, but say less than a wrong result."
        }
        (legend(page))
        // Shown by the script, since it does nothing without it.
        form #filter hidden {
            input #filter-text type="search" placeholder="operator, file, code, reason …" aria-label="Filter by text";
            select #filter-class aria-label="Filter by class" {
                option value="" { "all classes" }
                @for class in MutantClass::ALL { option value=(class_name(class)) { (class) } }
            }
            label { input #filter-survives type="checkbox"; " survives the chosen suite" }
            output #filter-count for="filter-text filter-class filter-survives" {}
        }
        div.scroll {
            table.stacked #mutant-list {
                thead {
                    tr { @for name in COLUMNS { th scope="col" { (name) } } }
                }
                tbody { @for (number, mutant) in mutants.iter().enumerate() { (row(page, number, mutant)) } }
            }
        }
        @if !page.outcomes.sites.rejected.is_empty() { (rejected(page)) }
    }
}

/// What the codes of the operators here mean: no finger can point without pressing.
fn legend(page: &Page<'_>) -> Markup {
    let mutants = page.outcomes.sites.mutants.iter();
    let codes: BTreeSet<&str> = mutants.map(|mutant| mutant.operator.as_str()).collect();
    let known: Vec<(&str, &str)> =
        codes.into_iter().filter_map(|code| Some((code, page.operators.title(code)?))).collect();
    html! {
        @if !known.is_empty() {
            details {
                summary { "What the operators' codes mean" }
                dl.codes { @for (code, title) in known { div { dt { code { (code) } } dd { (title) } } } }
            }
        }
    }
}

fn row(page: &Page<'_>, number: usize, mutant: &Mutant) -> Markup {
    let class = page.analysis.mutants.classes[number];
    let (old, new) = shortened(&mutant.original, &mutant.replacement, CODE);
    let kills = Score { killed: page.outcomes.verdicts[number].kills() as usize, of: page.analysis.campaign.cases };
    let is_killed = page.killed_by_suite.contains(number);
    html! {
        tr id={ "m" (number) } data-class=(class_name(class)) data-suite=[(!is_killed).then_some("survives")] {
            td { (number) }
            td title={ "tier " (mutant.tier) ", " (mutant.class) } {
                (page.operators.code(&mutant.operator))
                @if let Some(tag) = &mutant.tag { " " small { (tag) } }
                @if let Some([first, second]) = mutant.parts {
                    " " small { a href={ "#m" (first) } { (first) } " and " a href={ "#m" (second) } { (second) } }
                }
            }
            td { a href={ "#f" (mutant.span.file) "l" (mutant.span.line) } { (page.place(mutant.span)) } }
            td.change {
                details {
                    summary {
                        code {
                            del { (old) } " " ins { (new) }
                        }
                    }
                    (details(page, number, mutant))
                }
            }
            td { span.badge.(class_name(class)) { (class) } }
            td data-name="killed by" { (kills) }
            td data-name="suite" { (if is_killed { "kills" } else { "—" }) }
        }
    }
}

fn details(page: &Page<'_>, number: usize, mutant: &Mutant) -> Markup {
    let sites = &page.outcomes.sites;
    let name = |case| case_name(&page.analysis.system, case, page.analysis.campaign.cases);
    html! {
        (diff(sites, mutant, CONTEXT))
        p.note {
            "In " code { (sites.functions[mutant.function].path) } ", tier " (mutant.tier) ", " (mutant.class) ", identity " code { (mutant.identity) } ". "
            (verdicts(page.outcomes.verdicts[number])) (causes(&page.outcomes.causes[number]))
            @if let Some(first) = page.outcomes.kills[number].minimum() {
                " First killed by " code { (name(first)) } "."
            }
            @if page.pages.contains(number) {
                " " a href={ "mutants/" (file_name(sites, number as MutantNumber)) } { "Its page" } " shows where its run leaves the original's."
            }
        }
        @if !page.outcomes.reasons[number].is_empty() {
            ul.reasons {
                @for reason in &page.outcomes.reasons[number] {
                    li {
                        (reason.count) " × " span.verdict { (reason.cause) } ": " (reason.reason)
                        small { "first " (name(reason.first_case)) }
                    }
                }
            }
        }
    }
}

/// Returns a change as lines of the source.
pub(super) fn diff(sites: &Sites, mutant: &Mutant, context: usize) -> Markup {
    let diff = sites.diff(mutant, context);
    html! {
        pre.diff {
            @for line in diff.lines() {
                @let kind = match line.as_bytes().first() {
                    _ if line.starts_with("--- ") || line.starts_with("+++ ") || line.starts_with("@@") => Some("meta"),
                    Some(b'-') => Some("old"),
                    Some(b'+') => Some("new"),
                    _ => None,
                };
                span class=[kind] { (line) "\n" }
            }
        }
    }
}

pub(super) fn verdicts(counts: VerdictCounts) -> String {
    let is_usual = |verdict: &RunEnd| *verdict != RunEnd::Inconclusive || counts.inconclusive > 0;
    let shown = RunEnd::ALL.into_iter().filter(is_usual);
    let parts: Vec<String> = shown.map(|verdict| format!("{} {verdict}", counts.of(verdict))).collect();
    format!("Test cases: {}.", parts.join(", "))
}

pub(super) fn causes(counts: &BTreeMap<Cause, u32>) -> String {
    let parts: Vec<String> = counts.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    if parts.is_empty() { String::new() } else { format!(" Causes: {}.", parts.join(", ")) }
}

fn rejected(page: &Page<'_>) -> Markup {
    let rejected = &page.outcomes.sites.rejected;
    html! {
        details {
            summary { (plural(rejected.len(), "mutant")) " did not compile" }
            ul {
                @for one in rejected {
                    @let (old, new) = shortened(&one.mutant.original, &one.mutant.replacement, CODE);
                    li {
                        (page.operators.code(&one.mutant.operator)) " " (page.place(one.mutant.span)) ": "
                        code { (old) " → " (new) }
                        " " small { (one.reason) }
                    }
                }
            }
        }
    }
}
