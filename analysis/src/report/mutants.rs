//! The list of the mutants, each with its diff and what became of it.

use maud::{Markup, html};
use simutant_outcomes::{Mutant, Verdict, VerdictCounts};

use super::Page;
use super::overview::class_name;
use crate::chosen::case_name;
use crate::mutants::MutantClass;
use crate::score::Score;

/// Lines of the source before and after a change.
const CONTEXT: usize = 2;

pub(super) fn section(page: &Page<'_>) -> Markup {
    let mutants = &page.outcomes.sites.mutants;
    html! {
        p {
            "Open a mutant for its change and for how it was killed. Runs that did not terminate are counted apart: they "
            "kill, but say less than a wrong result."
        }
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
            table #mutant-list {
                thead {
                    tr {
                        th scope="col" { "#" }
                        th scope="col" { "operator" }
                        th scope="col" { "place" }
                        th scope="col" { "change" }
                        th scope="col" { "class" }
                        th scope="col" { "killed by" }
                        th scope="col" { "suite" }
                    }
                }
                tbody { @for (number, mutant) in mutants.iter().enumerate() { (row(page, number, mutant)) } }
            }
        }
        @if !page.outcomes.sites.rejected.is_empty() { (rejected(page)) }
    }
}

fn row(page: &Page<'_>, number: usize, mutant: &Mutant) -> Markup {
    let class = page.analysis.mutants.classes[number];
    let kills = Score { killed: page.outcomes.verdicts[number].kills() as usize, of: page.analysis.campaign.cases };
    let is_killed = page.killed_by_suite.contains(number);
    html! {
        tr id={ "m" (number) } data-class=(class_name(class)) data-suite=[(!is_killed).then_some("survives")] {
            td { (number) }
            td { code { (mutant.operator) } }
            td { a href={ "#f" (mutant.span.file) "l" (mutant.span.line) } { (page.place(mutant.span)) } }
            td.change {
                details {
                    summary {
                        code {
                            del { (shortened(&mutant.original)) } " "
                            ins { (if mutant.replacement.is_empty() { "(deleted)".into() } else { shortened(&mutant.replacement) }) }
                        }
                    }
                    (details(page, number, mutant))
                }
            }
            td { span.badge.(class_name(class)) { (class) } }
            td { (kills) }
            td { (if is_killed { "kills" } else { "—" }) }
        }
    }
}

/// The first line of code, cut to what fits a row.
fn shortened(code: &str) -> String {
    const LENGTH_MAX: usize = 40;
    let line = code.lines().next().unwrap_or_default();
    if code.lines().count() <= 1 && line.chars().count() <= LENGTH_MAX {
        return line.into();
    }
    line.chars().take(LENGTH_MAX).chain(" …".chars()).collect()
}

fn details(page: &Page<'_>, number: usize, mutant: &Mutant) -> Markup {
    let sites = &page.outcomes.sites;
    let diff = mutant.diff(&sites.files[mutant.span.file], CONTEXT);
    let name = |case| case_name(&page.analysis.system, case, page.analysis.campaign.cases);
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
        p.note {
            "In " code { (sites.functions[mutant.function].path) } ", identity " code { (mutant.identity) } ". "
            (verdicts(page.outcomes.verdicts[number]))
            @if let Some(first) = page.outcomes.kills[number].minimum() {
                " First killed by " code { (name(first)) } "."
            }
        }
        @if !page.outcomes.reasons[number].is_empty() {
            ul.reasons {
                @for reason in &page.outcomes.reasons[number] {
                    li {
                        (reason.count) " × " span.verdict { (reason.verdict) } ": " (reason.reason)
                        small { "first " (name(reason.first_case)) }
                    }
                }
            }
        }
    }
}

fn verdicts(counts: VerdictCounts) -> String {
    let count_of = |verdict| match verdict {
        Verdict::Reasonable => counts.reasonable,
        Verdict::Unreasonable => counts.unreasonable,
        Verdict::NotTerminated => counts.not_terminated,
        Verdict::Abnormal => counts.abnormal,
    };
    let parts: Vec<String> =
        Verdict::ALL.into_iter().map(|verdict| format!("{} {verdict}", count_of(verdict))).collect();
    format!("Test cases: {}.", parts.join(", "))
}

fn rejected(page: &Page<'_>) -> Markup {
    let rejected = &page.outcomes.sites.rejected;
    html! {
        details {
            summary { (rejected.len()) " mutants did not compile" }
            ul {
                @for one in rejected {
                    li {
                        code { (one.mutant.operator) } " " (page.place(one.mutant.span)) ": "
                        code { (shortened(&one.mutant.original)) " → " (shortened(&one.mutant.replacement)) }
                        " " small { (one.reason) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, expect: &str) {
        assert_eq!(shortened(code), expect);
    }

    #[test]
    fn long_code_is_cut_at_a_character() {
        check("a < b", "a < b");
        check("", "");
        check("one {\n  two\n}", "one { …");
        check(&"ä".repeat(50), &format!("{} …", "ä".repeat(40)));
    }
}
