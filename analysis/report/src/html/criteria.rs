//! The table of the criteria.

use maud::{Markup, html};
use simutant_analysis::{Boosting, CriterionAnalysis, MutantClass, Recommendation, Summary, percent, screened};
use simutant_outcomes::CriterionKind;

use super::Page;
use super::overview::prose;
use crate::text::{NONE, or_none, p_value, points, points_interval, share_summary};
use crate::words::{left_out_sentence, recommendation_sentences};

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.analysis;
    let best = analysis.recommendation.as_ref().map(Recommendation::recommended_criterion);
    html! {
        @if analysis.chosen.is_some() {
            @for sentence in recommendation_sentences(analysis) { p { (prose(&sentence)) } }
        }
        p {
            "Each criterion has " (analysis.options.suites) " suites, drawn at random until they cover what the whole "
            "universe covers. Scores count the " (analysis.mutants.counts.analysed) " analysed mutants; the dominator "
            "score counts the " (analysis.dominators.classes.len()) " classes of minimal mutants among all that are "
            "killed: what kills these kills all the others. Minimal does not mean hard to kill: "
            (analysis.dominators.of_class(&analysis.mutants, MutantClass::Pathological)) " of the classes are "
            "pathological. "
            "“Random” is the expected score of a random suite of exactly the same size, so that “gain” is what the "
            "criterion adds beyond its size."
        }
        @if let Some(sentence) = left_out_sentence(analysis) { p { (sentence) } }
        div.scroll {
            table.numbers {
                thead {
                    tr {
                        th scope="col" { "criterion" }
                        th scope="col" title="requirements that the universe covers, of all" { "feasible" }
                        th scope="col" { "suite size" }
                        th scope="col" title="test cases looked at to find a suite" { "considered" }
                        th scope="col" { "mutant score" }
                        th scope="col" { "dominators" }
                        th scope="col" title="random suites of the same size" { "random" }
                        th scope="col" title="percentage points above random suites of the same size, with the interval were other suites drawn, and the p-value that the mean gain is 0 (t test, corrected by Holm's method)" {
                            "gain"
                        }
                        th scope="col" title="mutants that its suites kill more, and less, often than random suites of the same size, by the method of Benjamini and Hochberg" {
                            "more, less"
                        }
                        th scope="col" title="the best of M suites, judged by mutants held out" { "boosting" }
                    }
                }
                tbody {
                    @for (index, criterion) in analysis.criteria.iter().enumerate() {
                        (row(criterion, best == Some(index), analysis.options.alpha))
                    }
                }
            }
        }
    }
}

fn row(criterion: &CriterionAnalysis, is_best: bool, alpha: f64) -> Markup {
    let same_size = criterion.same_size.as_ref();
    html! {
        tr.best[is_best] {
            th scope="row" {
                (criterion.name)
                small { (match criterion.kind {
                    CriterionKind::WhiteBox => "white box",
                    CriterionKind::BlackBox => "black box",
                    CriterionKind::Trace => "trace",
                }) }
            }
            td {
                (criterion.feasible())
                small { "of " (criterion.requirements) }
                @if criterion.needed < criterion.feasible() { small { (criterion.needed) " needed" } }
            }
            td { (mean(criterion.size)) }
            td { (mean(criterion.considered)) }
            td { (score(criterion.score)) }
            td { (score(criterion.dominator_score)) }
            td { (or_none(same_size, |same_size| percent(same_size.random_mean))) }
            td {
                (or_none(same_size, |same_size| points(same_size.gain.mean)))
                @if let Some(same_size) = same_size {
                    small { (points_interval(same_size.gain_interval)) }
                    small { "p " (or_none(same_size.gain_p, p_value)) }
                }
            }
            @let (more, less) = screened(&criterion.detection, criterion.suites.len(), alpha);
            td { (or_none(same_size, |_| format!("{more}, {less}"))) }
            td { (boosting(criterion.boosting.as_ref())) }
        }
    }
}

fn mean(summary: Option<Summary>) -> String {
    or_none(summary, |summary| format!("{:.1}", summary.mean))
}

fn score(summary: Option<Summary>) -> Markup {
    html! {
        @match summary {
            Some(summary) => {
                // The bar has a column of its own, so that all begin at one place.
                span.measure {
                    span.meter aria-hidden="true" { span style={ "width:" (format!("{:.1}", 100.0 * summary.mean)) "%" } {} }
                    span { (share_summary(&summary)) }
                }
            }
            None => (NONE)
        }
    }
}

fn boosting(boosting: Option<&Boosting>) -> Markup {
    html! {
        @match (boosting, boosting.and_then(Boosting::boosted)) {
            (None, _) => (NONE),
            (Some(_), None) => "not significant",
            (Some(boosting), Some(step)) => {
                "M = " (step.suites) small { (percent(boosting.baseline)) " → " (percent(step.score.mean)) }
            }
        }
    }
}
