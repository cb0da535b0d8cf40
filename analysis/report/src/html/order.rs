//! The order of the criteria as graphs, ours and that of the original experiments: figure 4.6 of the thesis.

use maud::{Markup, html};
use simutant_analysis::{Agreement, CriterionAnalysis, Ranking, Reference, SameSizeTest, percent};

use super::Page;
use super::names::Area;
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
/// From an arrow to its text.
const TEXT_DISTANCE: f64 = 8.0;

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
            (analysis.options.alpha) ", Mann-Whitney, corrected by Holm's method for the number of pairs), with its p-value unless that is below 0.001. What follows from other arrows is left out; criteria without a "
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
        // Most are so small: only others are told.
        let text = if p.starts_with('<') { String::new() } else { format!("p = {p}") };
        (place(pair.better), place(pair.worse), text)
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
    let arrow = |(better, worse, _): &(usize, usize, String)| {
        Arrow::between(centres[*better], centres[*worse], graph.nodes[*worse].2 - graph.nodes[*better].2)
    };
    let arrows: Vec<Arrow> = graph.edges.iter().map(arrow).collect();
    let texts = texts(&arrows, graph, &centres);
    // An arrow at the right that bends has its text beyond the nodes.
    let ends =
        texts.iter().zip(&graph.edges).filter_map(|(place, edge)| Some(Area::of_text((*place)?.0, 0.0, &edge.2).right));
    let width = ends.chain(arrows.iter().map(|arrow| arrow.at(0.5).0 + MARGIN)).fold(width, f64::max);
    html! {
        svg.graph viewBox={ "0 0 " (width) " " (height) } style={ "max-width:" (width) "px" } role="img"
            aria-label="Order of the criteria" {
            @for arrow in &arrows { (arrow.draw()) }
            @for ((name, detail, layer), (x, y)) in graph.nodes.iter().zip(&centres) {
                g.node.best[*layer == 0] {
                    rect x=(px(x - NODE_WIDTH / 2.0)) y=(px(y - NODE_HEIGHT / 2.0)) width=(px(NODE_WIDTH))
                        height=(px(NODE_HEIGHT)) rx="8" {}
                    (label(*x, y - 3.0, name))
                    g.detail { (label(*x, y + 14.0, detail)) }
                }
            }
            g.detail {
                @for (place, (_, _, text)) in texts.iter().zip(&graph.edges) {
                    @if let Some((x, y)) = place { text x=(px(*x)) y=(px(*y)) { (text) } }
                }
            }
        }
    }
}

/// An arrow; one that passes other layers bends around the nodes there.
#[derive(Debug, Clone, Copy)]
struct Arrow {
    /// The points of the curve: its start, two that pull it, and its end.
    points: [(f64, f64); 4],
}

impl Arrow {
    fn between(from: (f64, f64), to: (f64, f64), layers: usize) -> Self {
        let (x1, y1) = (from.0, from.1 + NODE_HEIGHT / 2.0);
        let (x2, y2) = (to.0, to.1 - NODE_HEIGHT / 2.0 - 7.0);
        let bend = if layers > 1 { BEND } else { 0.0 };
        let third = (y2 - y1) / 3.0;
        Self { points: [(x1, y1), (x1 + bend, y1 + third), (x2 + bend, y2 - third), (x2, y2)] }
    }

    /// The point at a share of the curve.
    fn at(&self, share: f64) -> (f64, f64) {
        let rest = 1.0 - share;
        let weights = [rest.powi(3), 3.0 * rest * rest * share, 3.0 * rest * share * share, share.powi(3)];
        let points = self.points.iter().zip(weights);
        points.fold((0.0, 0.0), |sum, (point, weight)| (sum.0 + weight * point.0, sum.1 + weight * point.1))
    }

    fn draw(&self) -> Markup {
        let [(x1, y1), (x2, y2), (x3, y3), (x, y)] = self.points;
        let path = format!("M{x1:.1} {y1:.1} C{x2:.1} {y2:.1} {x3:.1} {y3:.1} {x:.1} {y:.1}");
        let tip = format!("M{:.1} {:.1} L{x:.1} {:.1} L{:.1} {:.1} Z", x - 4.5, y - 2.0, y + 7.0, x + 4.5, y - 2.0);
        html! {
            path.edge d=(path) {}
            path.tip d=(tip) {}
        }
    }
}

/// Returns where the texts of arrows begin: beside the arrow, and over no node and no other text. `None` for an arrow
/// without a text, or without room for it: the table of every pair has the number.
fn texts(arrows: &[Arrow], graph: &Graph, centres: &[(f64, f64)]) -> Vec<Option<(f64, f64)>> {
    const SHARES: [f64; 9] = [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.12, 0.88];
    let node = |(x, y): &(f64, f64)| Area {
        left: x - NODE_WIDTH / 2.0,
        top: y - NODE_HEIGHT / 2.0,
        right: x + NODE_WIDTH / 2.0,
        bottom: y + NODE_HEIGHT / 2.0,
    };
    let mut taken: Vec<Area> = centres.iter().map(node).collect();
    let points: Vec<Vec<(f64, f64)>> =
        arrows.iter().map(|arrow| (0..=40).map(|part| arrow.at(f64::from(part) / 40.0)).collect()).collect();
    let mut place = |(number, (arrow, (_, _, text))): (usize, (&Arrow, &(usize, usize, String)))| {
        let width = Area::of_text(0.0, 0.0, text).right;
        let candidates = SHARES.into_iter().flat_map(|share| {
            let (x, y) = arrow.at(share);
            [(x + TEXT_DISTANCE, y + 4.0), (x - TEXT_DISTANCE - width, y + 4.0)]
        });
        let is_free = |place: &(f64, f64)| {
            let area = Area::of_text(place.0, place.1, text);
            area.left >= 0.0 && !taken.iter().any(|other| area.overlaps(other))
        };
        // Of the places that are free, the one over which the fewest other arrows lead.
        let crossed = |place: &(f64, f64)| {
            let area = Area::of_text(place.0, place.1, text);
            let others = points.iter().enumerate().filter(|(other, _)| *other != number);
            others.filter(|(_, points)| points.iter().any(|(x, y)| area.has(*x, *y))).count()
        };
        let found = candidates.filter(|_| !text.is_empty()).filter(is_free).min_by_key(crossed)?;
        taken.push(Area::of_text(found.0, found.1, text));
        Some(found)
    };
    arrows.iter().zip(&graph.edges).enumerate().map(&mut place).collect()
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
            table.numbers.compact.fitted {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn texts_of_arrows_do_not_cross_each_other(
            layers in prop::collection::vec(1..4_usize, 2..5),
            picks in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..20),
        ) {
            let layer_of: Vec<usize> = layers.iter().enumerate().flat_map(|(layer, count)| vec![layer; *count]).collect();
            let nodes = layer_of.iter().map(|layer| (String::from("node"), String::new(), *layer)).collect();
            let pick = |(one, other): &(prop::sample::Index, prop::sample::Index)| {
                let (one, other) = (one.index(layer_of.len()), other.index(layer_of.len()));
                (layer_of[one] < layer_of[other]).then(|| (one, other, "p = 0.012".to_owned()))
            };
            let graph = Graph { nodes, edges: picks.iter().filter_map(pick).collect() };
            let drawn = draw(&graph).into_string();
            let number = |text: &str, name: &str| -> f64 {
                let start = text.split(&format!(" {name}=\"")).nth(1).expect("it has");
                start.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
            };
            let texts = drawn.split("<text").skip(1).filter(|text| text.contains(">p = "));
            let areas: Vec<Area> = texts.map(|text| Area::of_text(number(text, "x"), number(text, "y"), "p = 0.012")).collect();
            // Coordinates are written with one decimal.
            let shrunk = |area: &Area| Area { left: area.left + 0.2, top: area.top + 0.2, right: area.right - 0.2, bottom: area.bottom - 0.2 };
            for (index, area) in areas.iter().enumerate() {
                prop_assert!(!areas[..index].iter().any(|other| shrunk(area).overlaps(&shrunk(other))), "{}", drawn);
            }
            prop_assert!(graph.edges.is_empty() || !areas.is_empty(), "{}", drawn);
        }
    }
}
