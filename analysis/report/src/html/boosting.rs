//! What choosing among several suites brings, step by step.

use maud::{Markup, html};
use simutant_analysis::{Foresight, percent};

use super::Page;
use crate::boosting::caveats;
use crate::text::{NONE, correlation, or_none, p_value, share_summary};

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.analysis;
    let reference = page.reference;
    let Some(held_out) = &analysis.held_out else {
        return html! { p { "There are too few different analysed mutants to hold half of them out as judges." } };
    };
    html! {
        p {
            "Of M suites drawn at random, the one with the highest score on " (held_out.choosing.len())
            " mutants is taken, and judged by the other " (held_out.judging.len()) ", which were held out. "
            "Each number of suites is repeated " (analysis.options.boosting_repetitions) " times, up to the first that is "
            "significantly better than a suite taken at random."
        }
        div.scroll {
            table.numbers {
                thead {
                    tr {
                        th scope="col" { "criterion" }
                        th scope="col" { "any suite" }
                        th scope="col" { "best of M" }
                        th scope="col" { "least M" }
                        th scope="col" { "p by M = 2, 3, …" }
                        th scope="col" title="Kendall's tau-b of choosing and judging scores, and what is left at equal size" { "tau" }
                        th scope="col" title="the tenth with the best choosing scores against a random suite of the same size, by judging score" {
                            "top beats random"
                        }
                        @if let Some(reference) = reference { th scope="col" { (reference.name) ": least M, E → E+" } }
                    }
                }
                tbody {
                    @for criterion in &analysis.criteria {
                        @if let Some(boosting) = &criterion.boosting {
                            tr {
                                th scope="row" { (criterion.name) }
                                td { (percent(boosting.baseline)) }
                                td { (or_none(boosting.steps.last(), |step| share_summary(&step.score))) }
                                td { (or_none(boosting.suites_min, |suites| suites.to_string())) }
                                td {
                                    @for (index, step) in boosting.steps.iter().enumerate() {
                                        @if index > 0 { ", " }
                                        (or_none(step.better, |test| p_value(test.p)))
                                    }
                                }
                                (foresight(boosting.foresight))
                                @if let Some(reference) = reference {
                                    td {
                                        @match reference.criterion(&criterion.name) {
                                            Some(there) => {
                                                (or_none(there.suites_min, |suites| suites.to_string())) ", "
                                                (format!("{:.2} → {:.2}", there.effectiveness, there.boosted))
                                            }
                                            None => (NONE)
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        p.note { (caveats(analysis).join(" ")) }
    }
}

fn foresight(foresight: Foresight) -> Markup {
    html! {
        td {
            (or_none(foresight.correlation, |found| correlation(found.tau)))
            @if let Some(tau) = foresight.correlation_at_size { small { (correlation(tau)) " at equal size" } }
        }
        td {
            @match foresight.top {
                None => (NONE),
                Some(top) => {
                    (format!("{:.2}", top.beats_random))
                    small { "all: " (format!("{:.2}", top.all_beat_random)) }
                    small { (top.suites) " suites, p " (or_none(top.p, p_value)) }
                }
            }
        }
    }
}
