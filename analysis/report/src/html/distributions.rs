//! How the scores of each criterion's suites are spread: figure 4.3 of the thesis.

use maud::{Markup, html};
use simutant_analysis::{CriterionAnalysis, histogram, percent};

use super::Page;
use super::svg::{Scale, label, px};

const BINS: usize = 20;
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 30.0;
const BOTTOM: f64 = 22.0;
const TOP: f64 = 14.0;

pub(super) fn section(page: &Page<'_>) -> Markup {
    grid(&page.analysis.criteria, page.analysis.mutants.counts.analysed, "mutant score")
}

/// Draws what the suites of each criterion score of so many faults; `score` names that.
pub(super) fn grid(criteria: &[CriterionAnalysis], of: usize, score: &str) -> Markup {
    let figures = figures(criteria, of, score);
    html! {
        @if figures.is_empty() {
            p { "No mutant counts, so there are no scores to show." }
        } @else {
            p {
                "The height of a bar is the probability that a suite of the criterion has that " (score) ". The dashed "
                "line is the mean, the dotted one the mean of random suites of the same sizes."
            }
            div.grid {
                @for (_, figure) in &figures { (figure) }
            }
        }
    }
}

/// Returns the criteria that have scores, each with how these are spread.
pub(super) fn figures<'a>(criteria: &'a [CriterionAnalysis], of: usize, score: &str) -> Vec<(&'a str, Markup)> {
    let drawn: Vec<(&CriterionAnalysis, Vec<f64>)> = criteria
        .iter()
        .filter(|criterion| criterion.score.is_some())
        .map(|criterion| {
            let scores = criterion.suites.iter().map(|suite| suite.killed as f64 / of as f64);
            (criterion, histogram(&scores.collect::<Vec<_>>(), BINS))
        })
        .collect();
    // One height for all, so that areas can be compared between criteria.
    let highest = drawn.iter().flat_map(|(_, shares)| shares).fold(0.0_f64, |highest, share| highest.max(*share));
    drawn
        .iter()
        .map(|(criterion, shares)| (criterion.name.as_str(), figure(criterion, shares, highest, score)))
        .collect()
}

fn figure(criterion: &CriterionAnalysis, shares: &[f64], highest: f64, score: &str) -> Markup {
    let x = Scale::new((0.0, 1.0), (LEFT, WIDTH - 8.0));
    let y = Scale::new((0.0, highest), (HEIGHT - BOTTOM, TOP));
    let mean = criterion.score.map_or(0.0, |score| score.mean);
    let random = criterion.same_size.as_ref().map(|same_size| same_size.random_mean);
    let bin = 1.0 / BINS as f64;
    let vertical = |at: f64, class: &str| {
        html! { line.(class) x1=(px(x.at(at))) x2=(px(x.at(at))) y1=(px(TOP - 6.0)) y2=(px(y.at(0.0))) {} }
    };
    html! {
        figure {
            figcaption { b { (criterion.name) } " mean " (percent(mean)) }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img"
                aria-label={ "Suites of " (criterion.name) " by " (score) ", mean " (percent(mean)) } {
                @for share in [highest / 2.0, highest] {
                    line.rule x1=(px(LEFT)) x2=(px(WIDTH - 8.0)) y1=(px(y.at(share))) y2=(px(y.at(share))) {}
                    text x=(px(LEFT - 4.0)) y=(px(y.at(share) + 3.0)) text-anchor="end" { (format!("{share:.2}")) }
                }
                @for (index, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                    rect.fill x=(px(x.at(index as f64 * bin) + 0.5)) width=(px(x.at(bin) - x.at(0.0) - 1.0))
                        y=(px(y.at(*share))) height=(px(y.at(0.0) - y.at(*share))) {
                        title {
                            (format!("{:.0}–{:.0} %: ", 100.0 * index as f64 * bin, 100.0 * (index + 1) as f64 * bin))
                            (percent(*share)) " of the suites"
                        }
                    }
                }
                line.axis x1=(px(LEFT)) x2=(px(WIDTH - 8.0)) y1=(px(y.at(0.0))) y2=(px(y.at(0.0))) {}
                @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    (label(x.at(tick), HEIGHT - 8.0, &format!("{tick}")))
                }
                @if let Some(random) = random { (vertical(random, "dotted")) }
                (vertical(mean, "dashed"))
            }
        }
    }
}
