//! The order of the criteria as graphs, ours and that of the original experiments: figure 4.6 of the thesis.

use maud::{Markup, html};
use simutant_analysis::{Agreement, CriterionAnalysis, Ranking, Reference, SameSizeTest, percent};

use super::Page;
use super::svg::{label, px};
use crate::reference::sentences;
use crate::text::{NONE, interval, level, or_none, p_value, points, verdict};
use crate::words::{ranking_sentences, score_name};

const NODE_WIDTH: f64 = 150.0;
const NODE_HEIGHT: f64 = 44.0;
const LAYER_HEIGHT: f64 = 92.0;
const MARGIN: f64 = 14.0;
/// How far the ends of an arrow that passes other layers pull it aside.
const BEND: f64 = NODE_WIDTH * 0.85;
/// From an arrow to its text, and how wide that is at most.
const TEXT_DISTANCE: f64 = 8.0;
const TEXT_WIDTH: f64 = 62.0;

/// A graph whose edges go from better to worse.
struct Graph {
    /// Name, second line, and layer from the top.
    nodes: Vec<(String, String, usize)>,
    /// Indices of the better and the worse node, and what stands at the edge.
    edges: Vec<(usize, usize, String)>,
}

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.analysis;
    let there = page.reference;
    html! {
        p {
            "An arrow leads from a criterion to one whose suites score significantly lower (α = "
            (analysis.options.alpha) ", Mann-Whitney, corrected by Holm's method for the number of pairs), with its p-value. What follows from other arrows is left out; criteria without a "
            "path between them are not significantly different."
        }
        @for sentence in ranking_sentences(&analysis.ranking, analysis) { p { (sentence) } }
        div.graphs {
            figure { figcaption { b { "By " (score_name(analysis)) } " here" } (ours(&page.analysis.criteria, &page.analysis.ranking)) }
            @if let Some(reference) = there {
                figure {
                    figcaption { b { "By effectiveness" } " on implementations, in the " (reference.name) }
                    (theirs(reference))
                }
            }
        }
        @if let (Some(comparison), Some(reference)) = (&analysis.comparison, there) {
            @for sentence in sentences(comparison, reference) { p { (sentence) } }
            p.note { (reference.source) "." }
        }
        details {
            summary { "Every pair" }
            (pairs(page, there))
        }
    }
}

/// Returns the graph of the order here, and that of an earlier experiment if there is one.
pub(super) fn graphs(page: &Page<'_>) -> Vec<Markup> {
    let there = page.reference.map(theirs);
    [ours(&page.analysis.criteria, &page.analysis.ranking)].into_iter().chain(there).collect()
}

/// Draws the order of the criteria by what their suites score.
pub(super) fn ours(criteria: &[CriterionAnalysis], ranking: &Ranking) -> Markup {
    let place = |criterion: usize| {
        ranking.order.iter().position(|other| *other == criterion).expect("edges join criteria of the order")
    };
    let scores = ranking.order.iter().zip(&ranking.means).zip(ranking.layers());
    let nodes = scores.map(|((&index, &mean), layer)| (criteria[index].name.clone(), percent(mean), layer));
    let edges = ranking.edges().map(|pair| {
        let p = or_none(pair.rank_sum_p, p_value);
        (place(pair.better), place(pair.worse), if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") })
    });
    draw(&Graph { nodes: nodes.collect(), edges: edges.collect() })
}

/// Every pair of its criteria is significant, so that its graph is a chain.
pub(super) fn theirs(reference: &Reference) -> Markup {
    let best_first: Vec<_> = reference.criteria.iter().rev().collect();
    let edges = best_first.windows(2).enumerate().filter_map(|(index, pair)| {
        let claim =
            reference.claims.iter().find(|claim| claim.better == pair[0].name && claim.worse == pair[1].name)?;
        let p = &claim.effectiveness_p;
        let text = if p.starts_with('<') { format!("p {p}") } else { format!("p = {p}") };
        Some((index, index + 1, text))
    });
    let nodes = best_first
        .iter()
        .enumerate()
        .map(|(layer, criterion)| (criterion.name.to_string(), format!("E = {:.2}", criterion.effectiveness), layer));
    draw(&Graph { nodes: nodes.collect(), edges: edges.collect() })
}

fn draw(graph: &Graph) -> Markup {
    if graph.nodes.is_empty() {
        return html! { p { "No criterion has a score." } };
    }
    let layers = graph.nodes.iter().map(|node| node.2).max().unwrap_or(0) + 1;
    let in_layer = |layer: usize| graph.nodes.iter().filter(|node| node.2 == layer).count();
    let widest = (0..layers).map(in_layer).max().unwrap_or(1);
    let width = (widest as f64) * (NODE_WIDTH + 30.0) + 120.0;
    let height = layers as f64 * LAYER_HEIGHT - (LAYER_HEIGHT - NODE_HEIGHT) + 2.0 * MARGIN;
    let centres: Vec<(f64, f64)> = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let before = graph.nodes[..index].iter().filter(|other| other.2 == node.2).count();
            let share = (before as f64 + 0.5) / in_layer(node.2) as f64;
            (60.0 + share * (width - 120.0), MARGIN + node.2 as f64 * LAYER_HEIGHT + NODE_HEIGHT / 2.0)
        })
        .collect();
    // An arrow at the right that bends has its text beyond the nodes.
    let texts = graph.edges.iter().map(|(better, worse, _)| {
        let is_bent = graph.nodes[*worse].2 - graph.nodes[*better].2 > 1;
        let middle = (centres[*better].0 + centres[*worse].0) / 2.0;
        middle + if is_bent { 0.75 * BEND } else { 0.0 } + TEXT_DISTANCE + TEXT_WIDTH
    });
    let width = texts.fold(width, f64::max);
    html! {
        svg.graph viewBox={ "0 0 " (width) " " (height) } style={ "max-width:" (width) "px" } role="img"
            aria-label="Order of the criteria" {
            @for (better, worse, text) in &graph.edges {
                (edge(centres[*better], centres[*worse], graph.nodes[*worse].2 - graph.nodes[*better].2, text))
            }
            @for ((name, detail, layer), (x, y)) in graph.nodes.iter().zip(&centres) {
                g.node.best[*layer == 0] {
                    rect x=(px(x - NODE_WIDTH / 2.0)) y=(px(y - NODE_HEIGHT / 2.0)) width=(px(NODE_WIDTH))
                        height=(px(NODE_HEIGHT)) rx="8" {}
                    (label(*x, y - 3.0, name))
                    g.detail { (label(*x, y + 14.0, detail)) }
                }
            }
        }
    }
}

/// An arrow; one that passes other layers bends around the nodes there.
fn edge(from: (f64, f64), to: (f64, f64), layers: usize, text: &str) -> Markup {
    let (x1, y1) = (from.0, from.1 + NODE_HEIGHT / 2.0);
    let (x2, y2) = (to.0, to.1 - NODE_HEIGHT / 2.0 - 7.0);
    let bend = if layers > 1 { BEND } else { 0.0 };
    let (middle, third) = ((y1 + y2) / 2.0, (y2 - y1) / 3.0);
    let path = format!(
        "M{x1:.1} {y1:.1} C{:.1} {:.1} {:.1} {:.1} {x2:.1} {y2:.1}",
        x1 + bend,
        y1 + third,
        x2 + bend,
        y2 - third
    );
    let tip = format!("M{:.1} {:.1} L{x2:.1} {:.1} L{:.1} {:.1} Z", x2 - 4.5, y2 - 2.0, y2 + 7.0, x2 + 4.5, y2 - 2.0);
    html! {
        path.edge d=(path) {}
        path.tip d=(tip) {}
        g.detail {
            text x=(px((x1 + x2) / 2.0 + 0.75 * bend + TEXT_DISTANCE)) y=(px(middle + 4.0)) { (text) }
        }
    }
}

fn pairs(page: &Page<'_>, reference: Option<&Reference>) -> Markup {
    let analysis = page.analysis;
    let claimed = |better: &str, worse: &str| {
        reference?.claims.iter().find(|claim| claim.better == better && claim.worse == worse)
    };
    let agreement = |better: &str, worse: &str| {
        let claims = analysis.comparison.iter().flat_map(|comparison| &comparison.claims);
        let is_same = |(one, other): (&str, &str)| (one, other) == (better, worse) || (other, one) == (better, worse);
        claims.filter(|claim| is_same((&claim.better, &claim.worse))).map(|claim| claim.agreement).next()
    };
    html! {
        div.scroll {
            table.numbers {
                thead {
                    tr {
                        th scope="col" { "claim" }
                        th scope="col" { "difference" }
                        th scope="col" title="probability that a suite of the first scores higher" { "A12" }
                        th scope="col" title="were other suites drawn" { (level(analysis.options.alpha)) }
                        th scope="col" title="were other functions with their mutants drawn too" { "over functions" }
                        th scope="col" title="Mann-Whitney, two-sided, corrected by Holm's method" { "p" }
                        th scope="col" title="A12 within sizes (van Elteren), and how many suites of each are of a size that both have" {
                            "at the same size"
                        }
                        th scope="col" title="van Elteren, corrected by Holm's method" { "p" }
                        th scope="col" title="that the means differ by less than the margin, corrected by Holm's method" {
                            "equivalence p"
                        }
                        th scope="col" { "holds" }
                        th scope="col" title="the test of the thesis, not corrected" { "z" }
                        th scope="col" title="the test of the thesis, not corrected" { "its p" }
                        @if let Some(reference) = reference {
                            th scope="col" { (reference.name) " p: mutants, effectiveness" }
                            th scope="col" { (reference.name) }
                        }
                    }
                }
                tbody {
                    @for pair in analysis.ranking.pairs.iter().filter(|pair| pair.difference > 0.0) {
                        @let (better, worse) = (&analysis.criteria[pair.better].name, &analysis.criteria[pair.worse].name);
                        tr {
                            th scope="row" { (better) " > " (worse) }
                            td { (points(pair.difference)) }
                            td { (format!("{:.2}", pair.effect)) }
                            td { (or_none(pair.effect_interval, interval)) }
                            td { (or_none(pair.effect_interval_over_functions, interval)) }
                            td { (or_none(pair.rank_sum_p, p_value)) }
                            td { (same_size(pair.same_size)) }
                            td { (or_none(pair.same_size, |test| p_value(test.p))) }
                            td { (or_none(pair.equivalent_p, p_value)) }
                            td { (verdict(pair)) }
                            td { (or_none(pair.test, |test| format!("{:.1}", test.z))) }
                            td { (or_none(pair.test, |test| p_value(test.p))) }
                            @if reference.is_some() {
                                td {
                                    (or_none(claimed(better, worse), |claim| {
                                        format!("{}, {}", claim.mutant_p, claim.effectiveness_p)
                                    }))
                                }
                                @let agreement = agreement(better, worse);
                                td.worse[agreement == Some(Agreement::Differs)] { (or_none(agreement, |a| a.to_string())) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn same_size(test: Option<SameSizeTest>) -> Markup {
    html! {
        @match test {
            None => (NONE),
            Some(test) => {
                (format!("{:.2}", test.effect))
                small { (or_none(test.interval, interval)) }
                small { (test.suites_better) " and " (test.suites_worse) }
            }
        }
    }
}
