//! Graphs as pictures.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::layout::{LOOP, Layout, Place};
use super::{Edge, Graph, Kind, Node, NodeKind, Style};

const CSS: &str = include_str!("svg.css");
const MARGIN: f64 = 24.0;
/// The space for the title.
const HEAD: f64 = 58.0;
/// The width of a letter of a label, and of one in a node.
const LETTER: f64 = 5.6;
const LETTER_IN: f64 = 6.4;
/// How many letters of a label are shown; a tooltip has all.
const LABEL_MAX: usize = 44;
/// The space between curves that join the same nodes, and how many are told apart.
const BESIDE: f64 = 22.0;
const BESIDE_MAX: usize = 16;
/// Half the height of a state, and the radius of other nodes.
const HALF: f64 = 14.0;
const RADIUS: f64 = 11.0;
const WIDTH_MIN: f64 = 0.7;
const WIDTH_MAX: f64 = 7.0;

pub(super) fn write(graph: &Graph) -> String {
    let mut svg = String::new();
    // Writing to a text never fails.
    _ = Drawing::new(graph).all(&mut svg);
    svg
}

struct Drawing<'a> {
    graph: &'a Graph,
    layout: Layout,
    /// Half the width of each node.
    halves: Vec<f64>,
    leaving: Vec<usize>,
    arriving: Vec<usize>,
    width: f64,
    height: f64,
    top: f64,
}

/// A curve, as its ends and what it bends to.
#[derive(Clone, Copy)]
struct Curve([Place; 4]);

impl Curve {
    fn at(&self, t: f64) -> Place {
        let rest = 1.0 - t;
        let parts = [rest * rest * rest, 3.0 * rest * rest * t, 3.0 * rest * t * t, t * t * t];
        let sum = |of: fn(&Place) -> f64| self.0.iter().zip(parts).map(|(place, part)| of(place) * part).sum();
        Place { x: sum(|place| place.x), y: sum(|place| place.y) }
    }
}

impl<'a> Drawing<'a> {
    fn new(graph: &'a Graph) -> Self {
        let halves: Vec<f64> = graph.nodes.iter().map(half_width).collect();
        let layout = Layout::new(graph, &halves, |edge| letters(&edge.label).min(LABEL_MAX) as f64 * LETTER);
        let (mut leaving, mut arriving) = (vec![0; graph.nodes.len()], vec![0; graph.nodes.len()]);
        for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
            leaving[edge.from] += 1;
            arriving[edge.to] += 1;
        }
        // Curves that lead back pass below, those that pass over a column above.
        let span = |is_it: fn(isize) -> bool| {
            let columns = |edge: &Edge| layout.columns[edge.to] as isize - layout.columns[edge.from] as isize;
            graph.edges.iter().map(columns).filter(|&columns| is_it(columns)).map(isize::unsigned_abs).max()
        };
        let below = span(|columns| columns < 0).map_or(0.0, |span| 60.0 + span as f64 * 14.0);
        let above = span(|columns| columns > 1).map_or(0.0, |span| span as f64 * 16.0);
        let top = HEAD + above;
        let width = (layout.width + 2.0 * MARGIN).max(letters(&graph.title) as f64 * 9.0 + 48.0);
        let height = top + layout.height + below + MARGIN;
        Self { graph, layout, halves, leaving, arriving, width: width.max(360.0), height, top }
    }

    fn place(&self, node: usize) -> Place {
        let Place { x, y } = self.layout.nodes[node];
        Place { x: MARGIN + x, y: self.top + y }
    }

    fn all(&self, svg: &mut String) -> std::fmt::Result {
        let Self { graph, width, height, .. } = self;
        let title = escaped(&graph.title);
        writeln!(svg, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\" role=\"img\" aria-label=\"{title}\">"
        )?;
        writeln!(svg, "<title>{title}</title>\n<style>\n{CSS}</style>\n<defs>")?;
        for style in ["", "part", "backtracked", "failed"] {
            writeln!(
                svg,
                "<marker id=\"tip{style}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" \
                 markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip {style}\" \
                 d=\"M0 0.5 8 4 0 7.5Z\"/></marker>"
            )?;
        }
        writeln!(svg, "</defs>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>")?;
        writeln!(svg, "<text class=\"title\" x=\"{MARGIN}\" y=\"26\">{title}</text>")?;
        writeln!(svg, "<text class=\"soft\" x=\"{MARGIN}\" y=\"43\">{}</text>", self.subtitle())?;
        let mut beside: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for edge in &graph.edges {
            let number = beside.entry((edge.from, edge.to)).or_insert(0);
            self.edge(svg, edge, *number)?;
            *number += 1;
        }
        for (number, node) in graph.nodes.iter().enumerate() {
            self.node(svg, node, number)?;
        }
        writeln!(svg, "</svg>")
    }

    fn subtitle(&self) -> String {
        let Graph { kind, tests, nodes, edges, .. } = self.graph;
        let size = format!("{} nodes, {} edges", nodes.len(), edges.len());
        match (kind, tests) {
            (_, 0) => size,
            (Kind::Paths, _) => format!("paths of {tests} tests: {size}"),
            (Kind::States, _) => format!("states of {tests} tests: {size}"),
        }
    }

    fn node(&self, svg: &mut String, node: &Node, number: usize) -> std::fmt::Result {
        let (Place { x, y }, half) = (self.place(number), self.halves[number]);
        let class = if node.is_initial { "node initial" } else { "node" };
        let is_of_tests = node.ends > 0 && self.graph.tests > 0;
        let ended = if is_of_tests { format!("; {} tests ended here", node.ends) } else { String::new() };
        let made = node.count.map_or(String::new(), |count| format!(", chosen {count} times"));
        let detail = if node.detail.is_empty() { String::new() } else { format!(": {}", node.detail) };
        writeln!(svg, "<g><title>{}{}{made}{ended}</title>", escaped(&node.label), escaped(&detail))?;
        match node.kind {
            NodeKind::State | NodeKind::Point => {
                let tall = if node.kind == NodeKind::State { HALF } else { half };
                let ellipse = |class: &str, less: f64| {
                    let (rx, ry) = (half - less, tall - less);
                    format!("<ellipse class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" rx=\"{rx:.1}\" ry=\"{ry:.1}\"/>")
                };
                writeln!(svg, "{}", ellipse(class, 0.0))?;
                if node.ends > 0 {
                    writeln!(svg, "{}", ellipse("rim", 2.6))?;
                }
            }
            NodeKind::Transition => {
                let (left, up, wide, high) = (x - half, y - HALF, 2.0 * half, 2.0 * HALF);
                writeln!(
                    svg,
                    "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{up:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"/>"
                )?;
            }
            NodeKind::Choice => {
                let (up, down) = (y - RADIUS, y + RADIUS);
                let (left, right) = (x - half, x + half);
                writeln!(
                    svg,
                    "<path class=\"{class}\" d=\"M{left:.1} {y:.1} {x:.1} {up:.1} {right:.1} {y:.1} {x:.1} {down:.1}Z\"/>"
                )?;
            }
        }
        writeln!(svg, "<text class=\"in\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y + 4.0, escaped(&node.label))?;
        if let Some(count) = node.count {
            writeln!(svg, "<text class=\"small in\" x=\"{x:.1}\" y=\"{:.1}\">×{count}</text>", y + RADIUS + 8.0)?;
        }
        writeln!(svg, "</g>")
    }

    fn edge(&self, svg: &mut String, edge: &Edge, beside: usize) -> std::fmt::Result {
        let class = match edge.style {
            Style::Success | Style::SelfLoop => "",
            Style::Part => "part",
            Style::Backtracked => "backtracked",
            Style::Failed => "failed",
            Style::Exceptional => "exceptional",
        };
        let tip = if edge.style == Style::Exceptional { "" } else { class };
        let width = edge.thickness.clamp(WIDTH_MIN, WIDTH_MAX);
        let curve = self.curve(edge, beside);
        let [from, one, other, to] = curve.0;
        let label = if edge.label.is_empty() { format!("×{}", edge.count) } else { escaped(&edge.label) };
        writeln!(svg, "<g class=\"edge {class}\"><title>{label}</title>")?;
        writeln!(
            svg,
            "<path d=\"M{:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {:.1} {:.1}\" stroke-width=\"{width:.2}\" \
             marker-end=\"url(#tip{tip})\"/>",
            from.x, from.y, one.x, one.y, other.x, other.y, to.x, to.y
        )?;
        if !edge.label.is_empty() {
            let shown = escaped(&cut(&edge.label));
            let (Place { x, y }, anchor) = self.label(edge, curve);
            writeln!(svg, "<text class=\"label\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{shown}</text>")?;
        }
        writeln!(svg, "</g>")
    }

    /// Returns where a label is: near the end that fewer edges have in common.
    fn label(&self, edge: &Edge, curve: Curve) -> (Place, &'static str) {
        if edge.from == edge.to {
            let Place { x, y } = curve.at(0.6);
            return (Place { x: x + 5.0, y: y + 5.0 }, "");
        }
        if self.layout.columns[edge.from] == self.layout.columns[edge.to] {
            let Place { x, y } = curve.at(0.5);
            return (Place { x: x + 6.0, y: y + 3.0 }, "");
        }
        let t = match self.leaving[edge.from].cmp(&self.arriving[edge.to]) {
            std::cmp::Ordering::Less => 0.3,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Greater => 0.7,
        };
        let Place { x, y } = curve.at(t);
        (Place { x, y: y - 4.0 }, " text-anchor=\"middle\"")
    }

    /// Returns the curve of an edge, which is one of several between these nodes.
    fn curve(&self, edge: &Edge, beside: usize) -> Curve {
        let number = beside % BESIDE_MAX;
        let (from, to) = (self.place(edge.from), self.place(edge.to));
        let (left, right) = (self.halves[edge.from], self.halves[edge.to]);
        let point = |x: f64, y: f64| Place { x, y };
        if edge.from == edge.to {
            let up = (beside + 1) as f64 * LOOP / 0.75;
            let wide = 15.0 + (number as f64 * 5.0);
            let y = from.y - tall(self.graph.nodes[edge.from].kind);
            let ends = [point(from.x - 4.0, y + 1.0), point(from.x + 4.0, y + 1.0)];
            return Curve([ends[0], point(from.x - wide, y - up), point(from.x + wide, y - up), ends[1]]);
        }
        let columns = self.layout.columns[edge.to] as isize - self.layout.columns[edge.from] as isize;
        let shift = number as f64 * BESIDE;
        match columns {
            1.. => {
                let (start, end) = (point(from.x + left, from.y), point(to.x - right - 1.0, to.y));
                let bend = (end.x - start.x) / 2.0;
                let away = -shift - (columns - 1) as f64 * 24.0;
                Curve([start, point(start.x + bend, start.y + away), point(end.x - bend, end.y + away), end])
            }
            0 => {
                let (start, end) = (point(from.x + left, from.y), point(to.x + right + 1.0, to.y));
                let out = start.x.max(end.x) + 34.0 + shift;
                Curve([start, point(out, start.y), point(out, end.y), end])
            }
            _ => {
                let tall = |node: usize| tall(self.graph.nodes[node].kind);
                let (start, end) = (point(from.x, from.y + tall(edge.from)), point(to.x, to.y + tall(edge.to) + 1.0));
                let down = start.y.max(end.y) + 34.0 + shift + columns.unsigned_abs() as f64 * 12.0;
                Curve([start, point(start.x, down), point(end.x, down), end])
            }
        }
    }
}

/// Returns half the height of a node.
fn tall(kind: NodeKind) -> f64 {
    match kind {
        NodeKind::State | NodeKind::Transition => HALF,
        NodeKind::Point | NodeKind::Choice => RADIUS,
    }
}

fn half_width(node: &Node) -> f64 {
    let label = letters(&node.label) as f64 * LETTER_IN / 2.0;
    match node.kind {
        NodeKind::State | NodeKind::Transition => label + 12.0,
        NodeKind::Point | NodeKind::Choice => (label + 5.0).max(RADIUS),
    }
}

fn letters(text: &str) -> usize {
    text.chars().count()
}

fn cut(text: &str) -> String {
    if letters(text) <= LABEL_MAX {
        return text.to_owned();
    }
    text.chars().take(LABEL_MAX - 1).chain(['…']).collect()
}

/// Returns a text as XML has it; what XML has no place for stands as a replacement character.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(' '),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_text_in_xml() {
        assert_eq!(escaped("a <b> & \"c\"\n\u{1}"), "a &lt;b&gt; &amp; &quot;c&quot; \u{fffd}");
        assert_eq!(cut(&"a".repeat(50)).chars().count(), LABEL_MAX);
    }
}
