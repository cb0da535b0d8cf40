//! From a trie to a graph.

use std::collections::BTreeMap;

use super::{Abstractions, Choices, Edge, Graph, Kind, Node, NodeKind, Selection, Style};
use crate::machine::{Shape, TransitionShape};
use crate::path::StepResult;
use crate::trie::{Choice, Key, PathTrie, TrieNode};

/// How many `trc : tpc` a label has at most.
const LABEL_MAX: usize = 6;

/// The transitions of a trie that are one in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// All with this machine, transition and result.
    Same(Key),
    /// All with this machine and transition: what has choices in common.
    SameTransition(u32, u32),
    /// That of one node.
    Node(usize),
}

/// A choice in the graph: after these options, of a group.
type ChoiceKey = (Group, Vec<u32>);

pub(super) fn graph(
    kind: Kind,
    trie: &PathTrie,
    machines: &[&Shape],
    abstractions: Abstractions,
    selection: &Selection,
) -> Graph {
    let mut building = Building {
        kind,
        trie,
        machines,
        abstractions,
        nodes: Vec::new(),
        points: 0,
        states: BTreeMap::new(),
        choices: BTreeMap::new(),
        edges: Vec::new(),
        places: BTreeMap::new(),
    };
    building.all(selection);
    let Building { nodes, edges, .. } = building;
    let title = machines.iter().map(|machine| machine.name.as_str()).collect::<Vec<_>>().join(", ");
    let edges = edges.into_iter().map(|edge| edge.finish(trie.tests())).collect();
    Graph { kind, title, tests: trie.tests(), nodes, edges }
}

struct Building<'a> {
    kind: Kind,
    trie: &'a PathTrie,
    machines: &'a [&'a Shape],
    abstractions: Abstractions,
    nodes: Vec<Node>,
    points: usize,
    states: BTreeMap<(u32, u32), usize>,
    choices: BTreeMap<ChoiceKey, usize>,
    edges: Vec<Drawn>,
    /// The edges, by their nodes and what is one.
    places: BTreeMap<(usize, usize, Group), usize>,
}

/// An edge that is not yet complete.
struct Drawn {
    edge: Edge,
    name: String,
    chose: bool,
    repetitions: Vec<(u32, u64)>,
}

/// A transition of a node of the trie, between nodes of the graph.
#[derive(Clone, Copy)]
struct Drawing<'a> {
    node: usize,
    key: Key,
    described: &'a TransitionShape,
    from: usize,
    to: usize,
    is_loop: bool,
}

impl Building<'_> {
    fn all(&mut self, selection: &Selection) {
        let start = match self.kind {
            Kind::Paths => Some(self.point()),
            Kind::States => (!self.machines.is_empty()).then(|| self.state(0, 0)),
        };
        let Some(start) = start else { return };
        if self.kind == Kind::Paths {
            self.nodes[start].is_initial = true;
        }
        let root = &self.trie.nodes()[0];
        if selection.is_all() {
            self.nodes[start].ends += root.ends;
        }
        // Each with its place in the path, and where it is drawn from: nowhere, if it is not selected.
        let mut open: Vec<(usize, usize, usize, Option<usize>)> = Vec::new();
        open.extend(root.children.iter().rev().map(|&child| (child, 0, 1, None)));
        while let Some((number, parent, level, from)) = open.pop() {
            let node = &self.trie.nodes()[number];
            let before = self.trie.nodes()[parent].key;
            let from = from.or_else(|| selects(selection, node, before, level).then_some(start));
            let at = from.and_then(|from| self.transition(number, node, from));
            open.extend(node.children.iter().rev().map(|&child| (child, number, level + 1, at)));
        }
    }

    /// Draws a node of the trie, in a graph of paths from a point; returns where what follows is drawn from.
    fn transition(&mut self, number: usize, node: &TrieNode, point: usize) -> Option<usize> {
        let key = node.key?;
        let (machine, transition, result) = key;
        let shape = self.machines.get(machine as usize)?;
        let described = shape.transitions.get(transition as usize)?;
        let target = match result {
            StepResult::Backtracked => described.origin,
            StepResult::Exceptional(place) => described.exceptional.get(place as usize)?.1,
            StepResult::Succeeded | StepResult::Failed => described.target,
        };
        let is_loop = result != StepResult::Failed && target == described.origin;
        let (from, to) = match self.kind {
            Kind::States => (self.state(machine, described.origin), self.state(machine, target)),
            Kind::Paths if is_loop => (point, point),
            Kind::Paths => (point, self.point()),
        };
        self.nodes[to].ends += node.ends;
        self.draw(Drawing { node: number, key, described, from, to, is_loop });
        Some(if self.kind == Kind::Paths { to } else { point })
    }

    fn draw(&mut self, drawing: Drawing<'_>) {
        let trie = self.trie;
        let node = &trie.nodes()[drawing.node];
        let is_merged = self.kind == Kind::States && self.abstractions.transitions;
        let group = if is_merged { Group::Same(drawing.key) } else { Group::Node(drawing.node) };
        let choices = match self.abstractions.choices {
            Choices::Hidden => Vec::new(),
            Choices::Apart | Choices::Merged => trie.choices(node),
        };
        if choices.is_empty() {
            let place = self.edge(&drawing, drawing.from, group, node.paths(), false);
            self.edges[place].repetitions.extend(&node.repetitions);
            return;
        }
        let (machine, transition, _) = drawing.key;
        let scope = match self.abstractions.choices {
            Choices::Merged if is_merged => Group::SameTransition(machine, transition),
            _ => group,
        };
        let mut chose = 0;
        for (place, choice) in choices.iter().enumerate() {
            chose += choice.ends;
            let is_drawn = self.abstractions.choices == Choices::Merged || choice.ends > 0;
            if is_drawn {
                self.sequence(&drawing, &choices, place, scope, group);
            }
        }
        let without = node.tried().saturating_sub(chose);
        if without > 0 {
            self.edge(&drawing, drawing.from, group, without, true);
        }
    }

    /// Draws the choices up to one: this one alone, if those before it are nodes already, or all, if each sequence is
    /// apart.
    fn sequence(&mut self, drawing: &Drawing<'_>, choices: &[Choice], last: usize, scope: Group, group: Group) {
        let chain: Vec<usize> = std::iter::successors(Some(last), |&at| choices[at].parent).collect();
        let options: Vec<u32> = chain.iter().rev().map(|&at| choices[at].option).collect();
        let choice = choices[last];
        let mut at = drawing.from;
        for length in 1..=options.len() {
            // A chain of its own is told from others by all of its options.
            let (known, made) = match self.abstractions.choices {
                Choices::Apart => {
                    let mut known = options.clone();
                    known.push(length as u32);
                    (known, choice.ends)
                }
                _ => (options[..length].to_vec(), if length == options.len() { choice.count } else { 0 }),
            };
            let nodes = &mut self.nodes;
            let next = *self.choices.entry((scope, known)).or_insert_with(|| {
                let label = options[length - 1].to_string();
                nodes.push(Node {
                    kind: NodeKind::Choice,
                    label,
                    detail: String::new(),
                    count: Some(0),
                    is_initial: false,
                    ends: 0,
                });
                nodes.len() - 1
            });
            self.nodes[next].count = self.nodes[next].count.map(|count| count + made);
            self.part(at, next, scope, made);
            at = next;
        }
        if choice.ends > 0 {
            self.edge(drawing, at, group, choice.ends, true);
        }
    }

    /// Adds to the part of a transition that leads to a choice.
    fn part(&mut self, from: usize, to: usize, scope: Group, count: u64) {
        let edges = &mut self.edges;
        let place = *self.places.entry((from, to, scope)).or_insert_with(|| {
            let (label, thickness) = (String::new(), 0.0);
            let edge = Edge { from, to, style: Style::Part, is_loop: false, label, count: 0, thickness };
            edges.push(Drawn { edge, name: String::new(), chose: true, repetitions: Vec::new() });
            edges.len() - 1
        });
        self.edges[place].edge.count += count;
    }

    /// Adds to the edge of a transition, or to its last part, which leaves a choice.
    fn edge(&mut self, drawing: &Drawing<'_>, from: usize, group: Group, count: u64, chose: bool) -> usize {
        let &Drawing { key: (machine, _, result), described, to, is_loop, .. } = drawing;
        let (edges, machines) = (&mut self.edges, self.machines);
        let place = *self.places.entry((from, to, group)).or_insert_with(|| {
            let style = style(result, is_loop);
            let of = match machines {
                [_] => String::new(),
                _ => format!("{}: ", machines[machine as usize].name),
            };
            let name = format!("{of}{}{}", described.name, mark(result, described));
            let edge = Edge { from, to, style, is_loop, label: String::new(), count: 0, thickness: 0.0 };
            edges.push(Drawn { edge, name, chose, repetitions: Vec::new() });
            edges.len() - 1
        });
        self.edges[place].edge.count += count;
        place
    }

    fn state(&mut self, machine: u32, state: u32) -> usize {
        let (nodes, machines) = (&mut self.nodes, self.machines);
        *self.states.entry((machine, state)).or_insert_with(|| {
            let shape = machines[machine as usize];
            let name = &shape.states[state as usize];
            let label = if machines.len() == 1 { name.clone() } else { format!("{}: {name}", shape.name) };
            nodes.push(Node {
                kind: NodeKind::State,
                label,
                detail: String::new(),
                count: None,
                is_initial: state == 0,
                ends: 0,
            });
            nodes.len() - 1
        })
    }

    fn point(&mut self) -> usize {
        let (kind, label) = (NodeKind::Point, self.points.to_string());
        self.points += 1;
        self.nodes.push(Node { kind, label, detail: String::new(), count: None, is_initial: false, ends: 0 });
        self.nodes.len() - 1
    }
}

impl Drawn {
    fn finish(self, tests: u64) -> Edge {
        let Self { mut edge, name, chose, repetitions } = self;
        edge.label = match () {
            () if edge.style == Style::Part => String::new(),
            () if chose => format!("{name} ×{}", edge.count),
            () => format!("{name} {}", counts(repetitions)),
        };
        edge.thickness = (edge.count as f64 * 100.0 / tests.max(1) as f64).ln_1p();
        edge
    }
}

/// Returns `trc : tpc` of each node of the trie, or of all together if they are too many.
fn counts(mut repetitions: Vec<(u32, u64)>) -> String {
    if repetitions.len() > LABEL_MAX {
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        repetitions.into_iter().for_each(|(trc, tpc)| *sums.entry(trc).or_default() += tpc);
        repetitions = sums.into_iter().collect();
    }
    let words = repetitions.iter().take(LABEL_MAX).map(|(trc, tpc)| format!("{trc} : {tpc}"));
    let words = words.collect::<Vec<_>>().join("; ");
    if repetitions.len() > LABEL_MAX { format!("{words}; …") } else { words }
}

fn style(result: StepResult, is_loop: bool) -> Style {
    match result {
        StepResult::Succeeded if is_loop => Style::SelfLoop,
        StepResult::Succeeded => Style::Success,
        StepResult::Backtracked => Style::Backtracked,
        StepResult::Exceptional(_) => Style::Exceptional,
        StepResult::Failed => Style::Failed,
    }
}

fn mark(result: StepResult, described: &TransitionShape) -> String {
    match result {
        StepResult::Failed => " (f)".to_owned(),
        StepResult::Exceptional(place) => {
            let name = described.exceptional.get(place as usize).map_or("", |(name, _)| name);
            format!(" (e) {name}")
        }
        StepResult::Succeeded | StepResult::Backtracked => String::new(),
    }
}

fn selects(selection: &Selection, node: &TrieNode, before: Option<Key>, level: usize) -> bool {
    let Some((machine, transition, result)) = node.key else { return false };
    selection.transition.is_none_or(|selected| selected == (machine, transition))
        && selection.result.is_none_or(|selected| selected == result)
        && selection.level.is_none_or(|selected| selected == level)
        && selection
            .parent
            .is_none_or(|selected| before.is_some_and(|(machine, transition, _)| selected == (machine, transition)))
}
