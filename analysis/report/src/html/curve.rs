//! Suite size against score, and the cost effectiveness: figure 4.2 and tables 4.9 to 4.11 of the thesis.

use maud::{Markup, html};
use simutant_analysis::{Analysis, CriterionAnalysis, RandomSize, Relation};

use super::Page;
use super::names::{Area, names};
use super::svg::{Scale, label, polyline, px};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 46.0;
const BOTTOM: f64 = 36.0;
const TOP: f64 = 14.0;

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.analysis;
    html! {
        p {
            "The line is the expected mutant score of random suites of each size, computed exactly; the band is one "
            "standard deviation around it. Points are the means of the criteria: above the line, a criterion is better "
            "than its size alone."
        }
        (figure(analysis))
        details {
            summary { "Cost (C) and score (E) of each criterion against random suites of each size" }
            p.note {
                "+ better, = no significant difference, − worse. The cost is " code { "C = c_a + M · c_e" } " with M = "
                (analysis.options.cost_multiplier) ", in events of the simulation; random suites and black-box criteria "
                "need no analysis."
            }
            (relations(analysis))
        }
    }
}

pub(super) fn figure(analysis: &Analysis) -> Markup {
    figure_of(&analysis.criteria, &analysis.cost_effectiveness.random, "mutant score")
}

/// Draws the size of the suites of criteria against what they score, which is called `score`.
pub(super) fn figure_of(criteria: &[CriterionAnalysis], random: &[RandomSize], score: &str) -> Markup {
    let random: Vec<(f64, f64, f64)> =
        random.iter().filter_map(|size| size.score.map(|score| (size.size as f64, score.mean, score.sd))).collect();
    let points: Vec<(&str, f64, f64)> = criteria
        .iter()
        .filter_map(|criterion| Some((criterion.name.as_str(), criterion.size?.mean, criterion.score?.mean)))
        .collect();
    let right = random.iter().map(|point| point.0).chain(points.iter().map(|point| point.1)).fold(2.0, f64::max);
    let x = Scale::new((0.0, right), (LEFT, WIDTH - 14.0));
    let y = Scale::new((0.0, 1.0), (HEIGHT - BOTTOM, TOP));
    let bound =
        |sign: f64| random.iter().map(move |(size, mean, sd)| (x.at(*size), y.at((mean + sign * sd).clamp(0.0, 1.0))));
    let step = (right / 10.0).ceil() as usize;
    html! {
        @if points.is_empty() {
            p { "No mutant counts, so there are no scores to show." }
        } @else {
            svg.wide viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label={ "Suite size against " (score) } {
                @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    line.rule x1=(px(LEFT)) x2=(px(WIDTH - 14.0)) y1=(px(y.at(tick))) y2=(px(y.at(tick))) {}
                    text x=(px(LEFT - 6.0)) y=(px(y.at(tick) + 4.0)) text-anchor="end" { (format!("{:.0} %", 100.0 * tick)) }
                }
                @for tick in (0..=right as usize).step_by(step.max(1)) {
                    (label(x.at(tick as f64), HEIGHT - BOTTOM + 16.0, &tick.to_string()))
                }
                (label((LEFT + WIDTH) / 2.0, HEIGHT - 4.0, "test cases in the suite"))
                @let band: Vec<(f64, f64)> = bound(1.0).chain(bound(-1.0).collect::<Vec<_>>().into_iter().rev()).collect();
                polygon.band points=(polyline(band)) {}
                polyline.curve points=(polyline(bound(0.0))) {}
                @for (name, size, score) in &points {
                    circle.point cx=(px(x.at(*size))) cy=(px(y.at(*score))) r="5" { title { (name) } }
                }
                @let drawn: Vec<(&str, f64, f64)> = points.iter().map(|(name, size, score)| (*name, x.at(*size), y.at(*score))).collect();
                (names(&drawn, Area { left: LEFT, top: 0.0, right: WIDTH, bottom: HEIGHT - BOTTOM }))
            }
        }
    }
}

fn relations(analysis: &Analysis) -> Markup {
    let cells = |relations: &[Relation]| {
        html! {
            @for relation in relations {
                @let class = match relation {
                    Relation::Better => "better",
                    Relation::Equivalent => "equal",
                    Relation::Worse => "worse",
                };
                td.(class) { (relation) }
            }
        }
    };
    html! {
        div.scroll {
            table.numbers.compact {
                thead {
                    tr {
                        th scope="col" { "random size" }
                        th {}
                        @for size in &analysis.cost_effectiveness.random { th scope="col" { (size.size) } }
                    }
                }
                tbody {
                    @for row in &analysis.cost_effectiveness.criteria {
                        tr { th scope="row" { (analysis.criteria[row.criterion].name) } td { "C" } (cells(&row.cost)) }
                        @if !row.score.is_empty() { tr { th {} td { "E" } (cells(&row.score)) } }
                    }
                }
            }
        }
    }
}
