//! Graphs in the language of Graphviz.

use std::fmt::Write;

use super::{Edge, Graph, Kind, Node, NodeKind, Style};

/// The thinnest line that can be seen.
const WIDTH_MIN: f64 = 0.4;

pub(super) fn write(graph: &Graph) -> String {
    let mut dot = String::new();
    // Writing to a text never fails.
    _ = lines(graph, &mut dot);
    dot
}

fn lines(graph: &Graph, dot: &mut String) -> std::fmt::Result {
    writeln!(dot, "digraph {} {{", quoted(&graph.title))?;
    let direction = if graph.kind == Kind::Paths { "LR" } else { "TB" };
    writeln!(dot, "    graph [rankdir={direction}];")?;
    writeln!(dot, "    node [fontname=\"Helvetica\", fontsize=11];")?;
    writeln!(dot, "    edge [fontname=\"Helvetica\", fontsize=9];")?;
    for (number, node) in graph.nodes.iter().enumerate() {
        writeln!(dot, "    n{number} [{}];", of_node(node))?;
    }
    for edge in &graph.edges {
        writeln!(dot, "    n{} -> n{} [{}];", edge.from, edge.to, of_edge(edge))?;
    }
    writeln!(dot, "}}")
}

fn of_node(node: &Node) -> String {
    let (shape, label) = match (node.kind, node.count) {
        (NodeKind::State, _) => ("ellipse", node.label.clone()),
        (NodeKind::Transition, _) => ("box", node.label.clone()),
        (NodeKind::Point, _) => ("circle", node.label.clone()),
        (NodeKind::Choice, None) => ("diamond", node.label.clone()),
        (NodeKind::Choice, Some(count)) => ("diamond", format!("{} ×{count}", node.label)),
    };
    let rim = if node.ends > 0 { ", peripheries=2" } else { "" };
    let width = if node.is_initial { ", penwidth=2" } else { "" };
    format!("shape={shape}, label={}{rim}{width}", quoted(&label))
}

fn of_edge(edge: &Edge) -> String {
    let (line, color) = match edge.style {
        Style::Success | Style::SelfLoop | Style::Part => ("solid", "black"),
        Style::Backtracked => ("dotted", "blue"),
        Style::Failed => ("solid", "red"),
        Style::Exceptional => ("dotted", "black"),
    };
    let width = edge.thickness.max(WIDTH_MIN);
    let label = if edge.label.is_empty() { String::new() } else { format!(", label={}", quoted(&edge.label)) };
    format!("style={line}, color={color}, penwidth={width:.2}{label}")
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            // Graphviz takes text as a C string.
            '\0' => quoted.push('\u{2400}'),
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_quoted() {
        assert_eq!(quoted("a \"b\"\\\nc\0"), "\"a \\\"b\\\"\\\\\\nc\u{2400}\"");
    }
}
