//! The mutants that nothing kills, in groups that call for different work, and what people say of mutants.

use maud::{Markup, html};
use simutant_analysis::{MutantClass, Survivor};

use super::Page;
use super::overview::{class_name, prose};
use crate::change::shortened;
use crate::contradiction::contradiction_sentence;
use crate::survivors::{Group, by_place, skip_sentence};

/// How wide the code of a change is.
const CODE: usize = 60;

/// The columns of a group's table.
const COLUMNS: [&str; 9] =
    ["#", "operator", "place", "change", "reached by", "infected by", "other events", "see", "judgement"];

/// The groups, with what can be done about them.
const GROUPS: [(Group, &str); 7] = [
    (
        Group::Of(MutantClass::NeverKilled),
        "Some runs have other events than the original's, and still pass: look at what the expectations and checks leave out.",
    ),
    (
        Group::Of(MutantClass::NotKnown),
        "The code computes something else, and the engine does not see what becomes of it: the events of this system's runs show nothing of what happens inside of its components.",
    ),
    (
        Group::Of(MutantClass::NeverPropagated),
        "The code computes something else, and every run has the events of the original's all the same: it may be equivalent.",
    ),
    (
        Group::Of(MutantClass::NeverInfected),
        "The code is executed, but never computes anything else: find a test case that tells the two apart, or show that none can.",
    ),
    (
        Group::Of(MutantClass::NeverReached),
        "No test case executes the code: find one that does, or show that none can.",
    ),
    (
        Group::Tuning,
        "Some runs have other events than the original's, since something takes longer or shorter, or a constant differs, and still pass.",
    ),
    (
        Group::Of(MutantClass::Equivalent),
        "No test case can kill them, as a person judged or as their machine code shows: scores leave them out.",
    ),
];

pub(super) fn section(page: &Page<'_>) -> Markup {
    let survivors = &page.analysis.survivors;
    html! {
        @for wrong in &page.analysis.contradictions {
            p.wrong { (contradiction_sentence(wrong, &page.analysis.system, page.analysis.campaign.cases)) }
        }
        @if survivors.is_empty() { p { "Every mutant is killed by some test case." } }
        @for (group, advice) in GROUPS {
            @let functions = by_place(page.analysis, group);
            @let class = match group { Group::Of(class) => class, Group::Tuning => MutantClass::NeverKilled };
            @let is_open = matches!(group, Group::Of(MutantClass::NeverKilled | MutantClass::Equivalent));
            @if !functions.is_empty() {
                details open[is_open] {
                    summary { span.badge.(class_name(class)) { (group) } " " b { (functions.iter().flat_map(|(_, places)| places).map(Vec::len).sum::<usize>()) } " " (advice) }
                    @if let Some(sentence) = skip_sentence(page.analysis).filter(|_| group == Group::Tuning) { p { (prose(&sentence)) } }
                    div.scroll { (table(page, &functions)) }
                }
            }
        }
        @if !page.analysis.stale_judgements.is_empty() {
            p.note {
                "Judged, and no longer there, since the code has changed: "
                @for identity in &page.analysis.stale_judgements { code { (identity) } " " }
            }
        }
    }
}

/// A row for each survivor, below a row for each function; those first that change most runs.
fn table(page: &Page<'_>, functions: &[(&str, Vec<Vec<&Survivor>>)]) -> Markup {
    html! {
        table.compact.stacked {
            thead {
                tr { @for name in COLUMNS { th scope="col" { (name) } } }
            }
            @for (function, places) in functions {
                tbody {
                    tr { th.group scope="rowgroup" colspan=(COLUMNS.len()) { code { (function) } } }
                    @for survivor in places.iter().flatten() { (row(page, survivor)) }
                }
            }
        }
    }
}

fn row(page: &Page<'_>, survivor: &Survivor) -> Markup {
    let (before, after) = shortened(&survivor.before, &survivor.after, CODE);
    html! {
        tr {
            td { a href={ "#m" (survivor.mutant) } { (survivor.mutant) } }
            td { (page.operators.code(&survivor.operator)) }
            td { (survivor.place) }
            td.change { code { del { (before) } br; ins { (after) } } }
            td data-name="reached by" { (survivor.reached) }
            td data-name="infected by" { (survivor.infected) }
            td data-name="other events" { (survivor.diverged) }
            td data-name="see" { @if let Some(case) = survivor.example { (page.case_link(case)) } }
            td.change {
                @if let Some(judgement) = &survivor.judgement { b { (judgement.judged) } ": " (judgement.reason) }
                @if survivor.compiled.is_some() { b { "equivalent" } ": the machine code of the original" }
            }
        }
    }
}
