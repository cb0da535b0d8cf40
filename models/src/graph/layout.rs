//! Where the nodes of a graph are: columns by their distance from the beginning, and rows in them.

use super::{Edge, Graph, Kind};

/// The height of a row without loops.
const ROW: f64 = 40.0;
/// What a loop above a node adds.
pub(super) const LOOP: f64 = 17.0;
/// The space between columns without labels.
const GAP: f64 = 46.0;
/// How often columns are sorted by what their nodes are joined with.
const SWEEPS: usize = 6;

/// A place in the picture.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Place {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Where the nodes are.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) nodes: Vec<Place>,
    pub(super) columns: Vec<usize>,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Layout {
    /// Places the nodes, whose halves are this wide, with space between columns for labels of this width.
    pub(super) fn new(graph: &Graph, halves: &[f64], label: impl Fn(&Edge) -> f64) -> Self {
        let following = following(graph);
        let columns = match graph.kind {
            Kind::States => by_shortest(graph, &following),
            Kind::Paths => by_longest(graph, &following),
        };
        let mut loops = vec![0_usize; graph.nodes.len()];
        graph.edges.iter().filter(|edge| edge.from == edge.to).for_each(|edge| loops[edge.from] += 1);
        let y = match graph.kind {
            Kind::States => stacked(graph, &columns, &loops),
            Kind::Paths => beneath_each_other(graph, &following, &loops),
        };
        let x = columns_from(graph, &columns, halves, label);
        let nodes: Vec<Place> = columns.iter().zip(y).map(|(&column, y)| Place { x: x[column], y }).collect();
        let most = |of: fn(&Place) -> f64| nodes.iter().map(of).fold(0.0, f64::max);
        let (width, height) = (x.last().copied().unwrap_or(0.0), most(|place| place.y) + ROW / 2.0);
        Self { nodes, columns, width, height }
    }
}

/// Returns where the middle of each column is, and last where the labels at the last one end.
fn columns_from(graph: &Graph, columns: &[usize], halves: &[f64], label: impl Fn(&Edge) -> f64) -> Vec<f64> {
    let count = columns.iter().max().map_or(1, |last| last + 1);
    let (mut widest, mut labels) = (vec![0.0_f64; count + 1], vec![0.0_f64; count]);
    for (&column, &half) in columns.iter().zip(halves) {
        widest[column] = widest[column].max(half);
    }
    for edge in &graph.edges {
        let (from, to) = (columns[edge.from], columns[edge.to]);
        let width = label(edge);
        // A label is near either end; one of an edge that leads back is below.
        let near = if from < to { [from, to - 1] } else { [from, from] };
        for column in near.into_iter().filter(|_| from <= to) {
            labels[column] = labels[column].max(width);
        }
    }
    let mut x = vec![widest[0]];
    for column in 0..count {
        x.push(x[column] + widest[column] + GAP + labels[column] + widest[column + 1]);
    }
    x
}

/// Returns the nodes that edges lead to from each one, loops left out, each once.
fn following(graph: &Graph) -> Vec<Vec<usize>> {
    let mut following = vec![Vec::new(); graph.nodes.len()];
    for edge in graph.edges.iter().filter(|edge| edge.from != edge.to) {
        following[edge.from].push(edge.to);
    }
    for nodes in &mut following {
        let mut seen = std::collections::BTreeSet::new();
        nodes.retain(|node| seen.insert(*node));
    }
    following
}

/// Returns the least number of edges from an initial node to each.
fn by_shortest(graph: &Graph, following: &[Vec<usize>]) -> Vec<usize> {
    let mut columns: Vec<Option<usize>> = graph.nodes.iter().map(|node| node.is_initial.then_some(0)).collect();
    let mut open: std::collections::VecDeque<usize> =
        (0..columns.len()).filter(|&node| columns[node].is_some()).collect();
    while let Some(node) = open.pop_front() {
        let next = columns[node].map_or(0, |column| column + 1);
        for &after in &following[node] {
            if columns[after].is_none() {
                columns[after] = Some(next);
                open.push_back(after);
            }
        }
    }
    columns.into_iter().map(|column| column.unwrap_or(0)).collect()
}

/// Returns the greatest number of edges from the first point to each node. Edges that lead back to where their
/// transition began are left out: without them, no path comes back.
fn by_longest(graph: &Graph, following: &[Vec<usize>]) -> Vec<usize> {
    let mut columns = vec![0; graph.nodes.len()];
    let order = finished(following);
    let mut rank = vec![0; graph.nodes.len()];
    order.iter().rev().enumerate().for_each(|(place, &node)| rank[node] = place);
    for &node in order.iter().rev() {
        for &after in following[node].iter().filter(|&&after| rank[after] > rank[node]) {
            columns[after] = columns[after].max(columns[node] + 1);
        }
    }
    columns
}

/// Returns the nodes in the order in which a search in depth leaves them.
fn finished(following: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; following.len()];
    let mut finished = Vec::with_capacity(following.len());
    for root in 0..following.len() {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut open = vec![(root, 0)];
        while let Some((node, next)) = open.pop() {
            let Some(&after) = following[node].get(next) else {
                finished.push(node);
                continue;
            };
            open.push((node, next + 1));
            if !std::mem::replace(&mut seen[after], true) {
                open.push((after, 0));
            }
        }
    }
    finished
}

fn height(loops: usize) -> f64 {
    ROW + loops as f64 * LOOP
}

/// Returns the rows of nodes that stand in columns, each column in the middle: nodes are near those that they are joined
/// with.
fn stacked(graph: &Graph, columns: &[usize], loops: &[usize]) -> Vec<f64> {
    let count = columns.iter().max().map_or(0, |last| last + 1);
    let mut in_columns: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (node, &column) in columns.iter().enumerate() {
        in_columns[column].push(node);
    }
    let mut joined = vec![Vec::new(); columns.len()];
    for edge in graph.edges.iter().filter(|edge| columns[edge.from] != columns[edge.to]) {
        joined[edge.from].push(edge.to);
        joined[edge.to].push(edge.from);
    }
    let mut y = vec![0.0; columns.len()];
    let stack = |nodes: &[usize], y: &mut Vec<f64>| {
        let all: f64 = nodes.iter().map(|&node| height(loops[node])).sum();
        let mut at = -all / 2.0;
        for &node in nodes {
            // Loops are above a node.
            at += height(loops[node]);
            y[node] = at - ROW / 2.0;
        }
    };
    in_columns.iter().for_each(|nodes| stack(nodes, &mut y));
    for sweep in 0..SWEEPS {
        for step in 0..count {
            let nodes = &mut in_columns[if sweep % 2 == 0 { step } else { count - 1 - step }];
            let mut keyed: Vec<(f64, usize)> = nodes
                .iter()
                .map(|&node| {
                    let sum: f64 = joined[node].iter().map(|&other| y[other]).sum();
                    let mean = if joined[node].is_empty() { y[node] } else { sum / joined[node].len() as f64 };
                    (mean, node)
                })
                .collect();
            keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
            *nodes = keyed.into_iter().map(|(_, node)| node).collect();
            stack(nodes, &mut y);
        }
    }
    let top = (0..columns.len()).map(|node| y[node] - height(loops[node]) + ROW / 2.0).fold(f64::INFINITY, f64::min);
    y.into_iter().map(|y| y - top).collect()
}

/// Returns the rows of nodes on paths: the first path that goes on from a node stays in its row, and each other one has
/// a row of its own below.
fn beneath_each_other(graph: &Graph, following: &[Vec<usize>], loops: &[usize]) -> Vec<f64> {
    let mut rows: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    let mut next = 0;
    for root in 0..graph.nodes.len() {
        if rows[root].is_some() {
            continue;
        }
        let mut open = vec![(root, None)];
        while let Some((node, row)) = open.pop() {
            if rows[node].is_some() {
                continue;
            }
            let row = row.unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            rows[node] = Some(row);
            let mut first = Some(row);
            let after = following[node].iter().filter(|&&after| rows[after].is_none());
            let after: Vec<_> = after.map(|&after| (after, first.take())).collect();
            open.extend(after.into_iter().rev());
        }
    }
    let mut most = vec![0; next];
    let of_rows: Vec<usize> = rows.into_iter().map(|row| row.unwrap_or(0)).collect();
    of_rows.iter().zip(loops).for_each(|(&row, &loops)| most[row] = loops.max(most[row]));
    let mut y = Vec::with_capacity(next);
    let mut at = 0.0;
    for loops in most {
        at += height(loops);
        y.push(at - ROW / 2.0);
    }
    of_rows.into_iter().map(|row| y[row]).collect()
}
