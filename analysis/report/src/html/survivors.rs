//! The mutants that nothing kills, in groups that call for different work, and what people say of mutants.

use maud::{Markup, html};
use simutant_analysis::{MutantClass, Survivor, case_name};

use super::Page;
use super::overview::class_name;
use crate::contradiction::contradiction_sentence;

/// The groups, with what can be done about them.
const GROUPS: [(MutantClass, &str); 5] = [
    (
        MutantClass::NeverKilled,
        "Some runs have other events than the original's, and still pass: look at what the expectations and checks leave out.",
    ),
    (
        MutantClass::NeverPropagated,
        "The code computes something else, and every run has the events of the original's all the same: it may be equivalent.",
    ),
    (
        MutantClass::NeverInfected,
        "The code is executed, but never computes anything else: find a test case that tells the two apart, or show that none can.",
    ),
    (MutantClass::NeverReached, "No test case executes the code: find one that does, or show that none can."),
    (
        MutantClass::Equivalent,
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
        @for (class, advice) in GROUPS {
            @let group: Vec<&Survivor> = survivors.iter().filter(|survivor| survivor.class == class).collect();
            @if !group.is_empty() {
                details open[class == MutantClass::NeverKilled || class == MutantClass::Equivalent] {
                    summary { span.badge.(class_name(class)) { (class) } " " b { (group.len()) } " " (advice) }
                    div.scroll { (table(page, &group)) }
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

fn table(page: &Page<'_>, group: &[&Survivor]) -> Markup {
    html! {
        table.compact {
            thead {
                tr {
                    th scope="col" { "#" }
                    th scope="col" { "operator" }
                    th scope="col" { "place" }
                    th scope="col" { "reached by" }
                    th scope="col" { "infected by" }
                    th scope="col" { "other events" }
                    th scope="col" { "see" }
                    th scope="col" { "judgement" }
                }
            }
            tbody {
                @for survivor in group {
                    tr {
                        td { a href={ "#m" (survivor.mutant) } { (survivor.mutant) } }
                        td { code { (survivor.operator) } }
                        td { (survivor.place) }
                        td { (survivor.reached) }
                        td { (survivor.infected) }
                        td { (survivor.diverged) }
                        td {
                            @if let Some(case) = survivor.example {
                                (case_name(&page.analysis.system, case, page.analysis.campaign.cases))
                            }
                        }
                        td.change {
                            @if let Some(judgement) = &survivor.judgement {
                                b { (judgement.judged) } ": " (judgement.reason)
                            }
                            @if survivor.compiled.is_some() { b { "equivalent" } ": the machine code of the original" }
                        }
                    }
                }
            }
        }
    }
}
