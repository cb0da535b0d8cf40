//! The head of the page: what to do, how large the campaign was, what became of the mutants.

use maud::{Markup, html};
use simutant_analysis::{CampaignCounts, MutantClass, Score, ScoreBounds, count, percent, plural};

use super::Page;
use crate::absent::rare_sentence;
use crate::contradiction::contradiction_sentence;
use crate::inconclusive;
use crate::text::NONE;
use crate::words::recommendation_sentences;
use crate::{built, cost, late_faults, survivors};

/// Returns a sentence in which no line break separates a number from its percent sign, and code is set as code.
pub(super) fn prose(sentence: &str) -> Markup {
    let sentence = sentence.replace(" %", "\u{a0}%");
    html! {
        @for (number, part) in sentence.split('`').enumerate() {
            @if number % 2 == 0 { (part) } @else { code { (part) } }
        }
    }
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.analysis;
    let campaign = &analysis.campaign;
    let sites = &page.outcomes.sites;
    html! {
        section #overview {
            h1 { "Which inputs to run on a real " b { (analysis.system) } }
            (scores(page))
            (classes(page))
            div.leads {
                @match built::run_sentence(analysis) {
                    Some(sentence) => { p.lead { (prose(&sentence)) " " a href="#suite" { "Its inputs" } "." } }
                    None => { @for sentence in recommendation_sentences(analysis) { p.lead { (prose(&sentence)) } } }
                }
                @if let Some(sentence) = survivors::headline(analysis) { p.lead { (prose(&sentence)) " " a href="#survivors" { "All survivors" } "." } }
                @for sentence in analysis.built_expected.iter().flat_map(|built| built::expected_sentences(built, analysis, built::FILE)) { p.lead { (prose(&sentence)) } }
                @if let Some(sentence) = rare_sentence(analysis) { p.lead { (prose(&sentence)) " " a href="#suite" { "Their shares" } "." } }
                @if analysis.criteria.iter().all(|criterion| criterion.suites.is_empty()) {
                    p.lead { "No criterion has a requirement that the universe covers, so no suite was drawn." }
                }
                @for sentence in analysis.built.iter().flat_map(|built| built::sentences(built, analysis, built::FILE)) { p.lead { (prose(&sentence)) } }
                @for sentence in analysis.cost.iter().flat_map(|cost| cost::sentences(cost, analysis)) { p.lead { (prose(&sentence)) } }
            }
            dl.tiles {
                (tile("test cases", campaign.cases as u64, &format!("universe seed {}", analysis.universe_seed)))
                (tile("mutants", campaign.mutants as u64, &mutants_note(campaign)))
                (tile("pairs", campaign.pairs, "mutant × test case"))
                (tile("executed", campaign.pairs_executed, &share(campaign.pairs_executed, campaign.pairs)))
                (tile("pruned", campaign.pairs_pruned(), &share(campaign.pairs_pruned(), campaign.pairs)))
                (tile("hit a limit", campaign.verdicts.not_terminated, "of steps, events or time; also kills"))
            }
            @for wrong in &analysis.contradictions { p.wrong { (contradiction_sentence(wrong, &analysis.system, campaign.cases)) } }
            @if let Some(sentence) = inconclusive::sentence(analysis) { p.wrong { (sentence) } }
            @if let Some(sentence) = late_faults::sentence(analysis) { p.wrong { (prose(&sentence)) } }
            p {
                "Of all mutants the universe kills " (analysis.score_bounds)
                @if let Some(bounds) = analysis.suite_score_bounds { ", the chosen suite " (bounds) }
                @if analysis.score_bounds.equivalent > 0 {
                    ": without and with the " (analysis.score_bounds.equivalent) " that are judged equivalent"
                }
                ". Those that survive are " a href="#survivors" { "listed by how far they get" } "."
            }
            p.note {
                "Analysis seed " (analysis.options.seed) ", " (analysis.options.suites) " suites per criterion, α = "
                (analysis.options.alpha) ". Pairs that failed the oracle: " (count(campaign.verdicts.failed))
                ", that crashed: " (count(campaign.verdicts.abnormal)) "."
            }
            @if !sites.uninstrumented.is_empty() {
                details {
                    summary { (plural(sites.uninstrumented.len(), "function")) " without mutants" }
                    ul {
                        @for function in &sites.uninstrumented {
                            li { code { (function.path) } " (" (page.place(function.span)) "): " (function.reason) }
                        }
                    }
                }
            }
            @if !sites.left_out.is_empty() {
                details {
                    summary { (plural(sites.left_out.len(), "function")) " left out of the build" }
                    ul {
                        @for function in &sites.left_out {
                            li { code { (function.path) } " (" (page.place(function.span)) "): " (function.reason) }
                        }
                    }
                }
            }
            @if !sites.skipped.is_empty() {
                details {
                    summary { (plural(campaign.mutants_skipped, "mutant")) " skipped, as comments and the manifest say" }
                    ul {
                        @for skipped in &sites.skipped {
                            li {
                                (plural(skipped.mutants, "mutant"))
                                @if let Some(operators) = &skipped.operators { " of " (operators) }
                                " in " code { (skipped.path) } " (" (page.place(skipped.span)) "): " (skipped.reason)
                            }
                        }
                    }
                }
            }
            @if !sites.macros.is_empty() {
                details {
                    summary { (plural(sites.macros.len(), "macro")) " without mutants" }
                    ul {
                        @for definition in &sites.macros {
                            li { code { (definition.path) } " (" (page.place(definition.span)) ")" }
                        }
                    }
                }
            }
            @if !sites.unmutated.is_empty() {
                details {
                    summary { (plural(sites.unmutated.len(), "constant")) " without mutants" }
                    ul {
                        @for constant in &sites.unmutated {
                            li { code { (constant.path) } " (" (page.place(constant.span)) "): " (constant.reason) }
                        }
                    }
                }
            }
        }
    }
}

/// The numbers that matter: what is killed, and what is not.
fn scores(page: &Page<'_>) -> Markup {
    let analysis = page.analysis;
    let survive = analysis.survivors.iter().filter(|survivor| survivor.class != MutantClass::Equivalent);
    // As the sentence below has it: those that only tune are counted apart.
    let changing = analysis.survivors.iter().filter(|survivor| survivor.class == MutantClass::NeverKilled);
    let (tuning, unseen): (Vec<_>, Vec<_>) = changing.partition(|survivor| survivor.is_tuning());
    let tuning = match tuning.len() {
        0 => String::new(),
        tuning => format!("; {tuning} more only in time, or a constant"),
    };
    let score = |name: &str, bounds: ScoreBounds| {
        let Score { killed, of } = bounds.upper();
        let note = format!("{killed} of {}", plural(of, "mutant"));
        html! { div { dt { (name) } dd { (bounds.upper().value().map_or_else(|| NONE.into(), percent)) } dd.note { (note) } } }
    };
    html! {
        dl.tiles.large {
            (score("the universe kills", analysis.score_bounds))
            @if let Some(bounds) = analysis.suite_score_bounds { (score("the chosen suite kills", bounds)) }
            (tile("survive", survive.count() as u64, "no test case kills them"))
            (tile("change what happens", unseen.len() as u64, &format!("and pass: no check looks at it{tuning}")))
        }
    }
}

/// What there is beside the mutants that run.
fn mutants_note(campaign: &CampaignCounts) -> String {
    let skipped = match campaign.mutants_skipped {
        0 => String::new(),
        skipped => format!(", {skipped} skipped"),
    };
    format!("{} did not compile{skipped}", campaign.mutants_rejected)
}

fn tile(name: &str, value: u64, note: &str) -> Markup {
    html! { div { dt { (name) } dd { (count(value)) } dd.note { (note) } } }
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "of none".into() } else { percent(part as f64 / whole as f64) }
}

/// One bar for all mutants, with its legend.
fn classes(page: &Page<'_>) -> Markup {
    let counts = page.analysis.mutants.counts;
    let shown = || MutantClass::ALL.into_iter().filter(|class| counts.of(*class) > 0);
    html! {
        div.bar aria-hidden="true" {
            @for class in shown() {
                span class=(class_name(class)) style={ "flex-grow:" (counts.of(class)) } {}
            }
        }
        ul.legend {
            @for class in shown() {
                li { i.(class_name(class)) {} b { (counts.of(class)) } " " (class) }
            }
            li { b { (page.analysis.dominators.classes.len()) } " dominator classes" }
            li title="analysed mutants, and those that nothing kills unless they are equivalent" {
                b { (counts.used_in_thesis()) } " in the thesis's N_u"
            }
        }
    }
}

/// The CSS class of a class of mutants.
pub(super) fn class_name(class: MutantClass) -> &'static str {
    match class {
        MutantClass::Equivalent => "equivalent",
        MutantClass::Duplicate => "duplicate",
        MutantClass::NeverReached => "never-reached",
        MutantClass::NeverInfected => "never-infected",
        MutantClass::NeverPropagated => "never-propagated",
        MutantClass::NotKnown => "not-known",
        MutantClass::NeverKilled => "never-killed",
        MutantClass::Pathological => "pathological",
        MutantClass::Analysed => "analysed",
    }
}
